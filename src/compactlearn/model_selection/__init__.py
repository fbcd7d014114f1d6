"""Choosing parameters: cross-validation for about the price of one pass over the rows."""

import compactlearn.model_selection.stored  # noqa: F401, it adds to a table
from compactlearn.model_selection.auto_classifier import AutoCompactClassifier
from compactlearn.model_selection.balance import BalanceCurve, balance_curve
from compactlearn.model_selection.cmll_cv import CMLLClassifierCV
from compactlearn.model_selection.one_split import SplitScores, scores_on_split
from compactlearn.model_selection.ratios import PAPER_GRID, RatioSearchCV
from compactlearn.model_selection.search import GridSearchMoments
from compactlearn.model_selection.splits import (
    IterativeStratification,
    IterativeStratifiedShuffleSplit,
)
from compactlearn.model_selection.texts import TextVectorizer, text_classifier

__all__ = [
    "PAPER_GRID",
    "AutoCompactClassifier",
    "BalanceCurve",
    "CMLLClassifierCV",
    "GridSearchMoments",
    "IterativeStratification",
    "IterativeStratifiedShuffleSplit",
    "RatioSearchCV",
    "SplitScores",
    "TextVectorizer",
    "balance_curve",
    "scores_on_split",
    "text_classifier",
]
