"""Compact models: prepare rows, embed, regress, decode.

The public estimators are in :mod:`compactlearn`; this module adds the classifier of
published tables.
"""

from typing import TYPE_CHECKING

from compactlearn.core._lazy import names_on_demand

if TYPE_CHECKING:
    from compactlearn.compact._paper import PaperClassifier

__getattr__, __dir__ = names_on_demand(__name__, {"_paper": ("PaperClassifier",)})

__all__ = ["PaperClassifier"]
