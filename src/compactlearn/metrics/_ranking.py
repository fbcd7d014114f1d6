"""Metrics of the order in which the scores of a row put its labels.

The conventions are those of the code that goes with Zhang and Zhou's review: a row counts only if
it has a present and an absent label, since without both there is nothing to rank. Of equal scores
the higher index ranks first, unless a metric says otherwise. Others count other rows.

References
----------
M.-L. Zhang, Z.-H. Zhou, "A review on multi-label learning algorithms", IEEE Transactions on
Knowledge and Data Engineering 26(8), 1819-1837, 2014, section 2.2.
"""

from typing import Any

import numpy as np

from compactlearn.metrics._averages import KNOWN, RANKABLE, Measure, average
from compactlearn.metrics._ranks import LabelRanks, label_ranks
from compactlearn.metrics._truth import read_truth

__all__ = [
    "average_precision",
    "average_precision_measure",
    "coverage",
    "coverage_measure",
    "one_error",
    "one_error_measure",
    "rankable_rows",
    "ranking_loss",
    "ranking_loss_measure",
]


def average_precision(Y_true: Any, scores: Any, *, mask: Any = None) -> float:
    """How pure the labels ranked at or above each present label are; 1 is best.

    For a row with the present labels R, and rank(r) = 1 for the best score,

        mean over r in R of  #{r' in R : rank(r') <= rank(r)} / rank(r),

    averaged over the rows that have a present and an absent label. Of equal scores the higher index
    ranks first.

    Parameters
    ----------
    Y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        0 and 1; NaN where unknown: such a label is left out of its row's ranking.
    scores : array-like of shape (n_samples, n_labels)
        Finite; higher means more likely.
    mask : boolean array-like or sparse matrix of shape (n_samples, n_labels), optional
        True where the label is known; another way to mark unknown ones.

    Returns
    -------
    float
        NaN, with an UndefinedMetricWarning, if no row counts.

    Examples
    --------
    The present labels rank first and third: (1/1 + 2/3) / 2.

    >>> average_precision([[1, 0, 1, 0]], [[0.9, 0.8, 0.7, 0.1]])
    0.8333333333333333
    """
    truth = read_truth(Y_true, mask)
    blocks = label_ranks(truth, scores)
    return average("average_precision", average_precision_measure(), blocks, truth.shape[0])


def average_precision_measure() -> Measure:
    """Return what `average_precision` averages."""

    def purity(rows: LabelRanks) -> np.ndarray:
        place, hits = rows.ordered(rows.highest_first)
        return rows.sum_by_row(hits / place) / np.maximum(rows.n_present, 1)

    return Measure(RANKABLE, purity)


def ranking_loss(Y_true: Any, scores: Any, *, mask: Any = None) -> float:
    """Share of (present, absent) pairs in which the absent label scores as high or higher.

    Averaged over the rows that have a present and an absent label; 0 is best.

    Parameters
    ----------
    Y_true, scores, mask
        As in `average_precision`.

    Returns
    -------
    float
        NaN, with an UndefinedMetricWarning, if no row counts.

    Examples
    --------
    Of the four pairs one is in the wrong order:

    >>> ranking_loss([[1, 0, 1, 0]], [[0.9, 0.8, 0.7, 0.1]])
    0.25
    """
    truth = read_truth(Y_true, mask)
    blocks = label_ranks(truth, scores)
    return average("ranking_loss", ranking_loss_measure(), blocks, truth.shape[0])


def ranking_loss_measure() -> Measure:
    """Return what `ranking_loss` averages."""

    def loss(rows: LabelRanks) -> np.ndarray:
        # Of the labels at or above a present one, those that are not present themselves. Where
        # places differ, the numbers of present ones are 1, 2, ..., n and need no sorting.
        if rows.untied:
            hits = rows.n_present * (rows.n_present + 1) // 2
            lost = rows.sum_by_row(rows.highest_first) - hits
        else:
            place, hits = rows.ordered(rows.upto)
            lost = rows.sum_by_row(place - hits)
        return lost / np.maximum(rows.n_present * (rows.n_known - rows.n_present), 1)

    return Measure(RANKABLE, loss)


def one_error(Y_true: Any, scores: Any, *, mask: Any = None) -> float:
    """Share of rows whose best-scored label is absent; 0 is best.

    Of the rows that have a present and an absent label. Where several labels share the best score,
    one present label among them is enough.

    Parameters
    ----------
    Y_true, scores, mask
        As in `average_precision`.

    Returns
    -------
    float
        NaN, with an UndefinedMetricWarning, if no row counts.

    Examples
    --------
    >>> one_error([[1, 0, 1, 0], [0, 1, 0, 0]], [[0.9, 0.8, 0.7, 0.1], [0.9, 0.8, 0.7, 0.1]])
    0.5
    """
    truth = read_truth(Y_true, mask)
    blocks = label_ranks(truth, scores)
    return average("one_error", one_error_measure(), blocks, truth.shape[0])


def one_error_measure() -> Measure:
    """Return what `one_error` averages."""
    return Measure(RANKABLE, lambda rows: np.where(rows.sum_by_row(rows.above == 0) > 0, 0.0, 1.0))


def coverage(Y_true: Any, scores: Any, *, mask: Any = None) -> float:
    """How far down its ranking a row must be read to meet all its present labels; less is better.

    From the rank of the last present label,

        max over r in R of rank(r)  -  1,

    averaged over all rows with a known label. Of equal scores the higher index ranks first. A row
    without labels has the value -1, as in the MATLAB programs of that line: they add 0 for an empty
    row and subtract 1 from the mean.

    Parameters
    ----------
    Y_true, scores, mask
        As in `average_precision`.

    Returns
    -------
    float
        NaN, with an UndefinedMetricWarning, if no row has a known label.

    Examples
    --------
    >>> coverage([[1, 0, 1, 0]], [[0.9, 0.8, 0.7, 0.1]])
    2.0
    """
    truth = read_truth(Y_true, mask)
    return average("coverage", coverage_measure(), label_ranks(truth, scores), truth.shape[0])


def coverage_measure() -> Measure:
    """Return what `coverage` averages."""
    return Measure(KNOWN, lambda rows: rows.max_by_row(rows.highest_first) - 1)


def rankable_rows(Y_true: Any, *, mask: Any = None) -> np.ndarray:
    """Return which rows have a present and an absent label.

    Those are the rows that count in `average_precision`, `ranking_loss` and `one_error`.

    Parameters
    ----------
    Y_true, mask :
        As in `average_precision`.

    Examples
    --------
    >>> rankable_rows([[1, 0, 1], [0, 0, 0], [1, 1, 1]])
    array([ True, False, False])
    """
    truth = read_truth(Y_true, mask)
    return RANKABLE.holds(truth.n_present, truth.n_known)
