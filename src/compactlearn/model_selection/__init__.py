"""Choosing parameters: cross-validation for about the price of one pass over the rows."""

from typing import TYPE_CHECKING

from compactlearn.core._lazy import names_on_demand

if TYPE_CHECKING:
    from compactlearn.model_selection._cmll_cv import CMLLClassifierCV
    from compactlearn.model_selection._engine import SplitScores
    from compactlearn.model_selection._grid_search import GridSearchMoments
    from compactlearn.model_selection._one_split import scores_on_split
    from compactlearn.model_selection._splits import IterativeStratification

__getattr__, __dir__ = names_on_demand(
    __name__,
    {
        "_cmll_cv": ("CMLLClassifierCV",),
        "_engine": ("SplitScores",),
        "_one_split": ("scores_on_split",),
        "_grid_search": ("GridSearchMoments",),
        "_splits": ("IterativeStratification",),
    },
)

__all__ = [
    "CMLLClassifierCV",
    "GridSearchMoments",
    "IterativeStratification",
    "SplitScores",
    "scores_on_split",
]
