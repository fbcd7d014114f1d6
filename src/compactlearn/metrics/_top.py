"""Metrics of the k best-scored labels of each row.

Equal scores are ranked lowest index first. All rows count that have a known label, a row without
present labels with the value 0.
"""

from typing import Any

import numpy as np

from compactlearn.metrics._averages import KNOWN, Measure, average
from compactlearn.metrics._checks import check_k
from compactlearn.metrics._ranks import LabelRanks, ranked_blocks
from compactlearn.metrics._truth import read_truth

__all__ = [
    "discounts",
    "f1_at_k",
    "f1_measure",
    "ideal_gain",
    "ndcg_at_k",
    "ndcg_measure",
    "precision_at_k",
    "precision_measure",
]


def precision_at_k(Y_true: Any, scores: Any, k: int = 5, *, mask: Any = None) -> float:
    """Share of present labels among the k best-scored ones; 1 is best.

    Averaged over rows. The division is by k even where a row has fewer present labels.

    Parameters
    ----------
    Y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        0 and 1; NaN where unknown: such a label is left out of its row's ranking.
    scores : array-like or sparse matrix of shape (n_samples, n_labels), or (labels, scores)
        Finite; higher means more likely. Of a sparse matrix only the stored entries are ranked,
        stored zeros too; where a row stores fewer than k, the missing places count as wrong. A
        tuple is taken for what `predict_topk` returns: the columns of the best labels and their
        scores, each of shape (n_samples, at least k). Neither is made dense.
    k : int
        From 1 to the number of labels.
    mask : boolean array-like or sparse matrix of shape (n_samples, n_labels), optional
        True where the label is known; another way to mark unknown ones.

    Returns
    -------
    float
        NaN, with an UndefinedMetricWarning, if no row counts.

    Examples
    --------
    >>> precision_at_k([[1, 0, 1, 0]], [[0.9, 0.8, 0.7, 0.1]], k=2)
    0.5
    """
    truth = read_truth(Y_true, mask)
    k = check_k(k, truth.shape[1])
    blocks = ranked_blocks(truth, scores, k)
    return average("precision_at_k", precision_measure(k), blocks, truth.shape[0])


def precision_measure(k: int) -> Measure:
    """Return what `precision_at_k` averages."""
    return Measure(KNOWN, lambda rows: rows.sum_by_row(rows.lowest_first <= k) / k)


def ndcg_at_k(Y_true: Any, scores: Any, k: int = 5, *, mask: Any = None) -> float:
    """Discounted gain of the k best-scored labels over that of a perfect ranking; 1 is best.

    With y_t = 1 where the label of rank t is present, and the n present labels of a row,

        sum over t <= k of y_t / log2(t + 1)   over   sum over t <= min(k, n) of 1 / log2(t + 1),

    averaged over rows.

    Parameters
    ----------
    Y_true, scores, k, mask
        As in `precision_at_k`.

    Returns
    -------
    float
        NaN, with an UndefinedMetricWarning, if no row counts.

    Examples
    --------
    1 / log2(2) against 1 / log2(2) + 1 / log2(3):

    >>> ndcg_at_k([[1, 0, 1, 0]], [[0.9, 0.8, 0.7, 0.1]], k=2)
    0.613147...
    """
    truth = read_truth(Y_true, mask)
    k = check_k(k, truth.shape[1])
    blocks = ranked_blocks(truth, scores, k)
    return average("ndcg_at_k", ndcg_measure(k), blocks, truth.shape[0])


def ndcg_measure(k: int) -> Measure:
    """Return what `ndcg_at_k` averages."""

    def gain(rows: LabelRanks) -> np.ndarray:
        return rows.sum_by_row(discounts(rows.lowest_first, k)) / ideal_gain(rows, k)

    return Measure(KNOWN, gain)


def f1_at_k(Y_true: Any, scores: Any, k: int = 5, *, mask: Any = None) -> float:
    """F1 of the k best-scored labels of each row, averaged over rows; 1 is best.

    Of a row with n present labels, of which h are among the k best, it is 2 h / (k + n), the
    harmonic mean of h / k (`precision_at_k`) and h / n (recall). A row with fewer or more than k
    labels cannot reach 1. This is the sample average of scikit-learn's `f1_score` for the sets of
    the k best labels, and with k = 5 what Annif calls "F1@5" (averaged over documents).

    Parameters
    ----------
    Y_true, scores, k, mask
        As in `precision_at_k`.

    Returns
    -------
    float
        NaN, with an UndefinedMetricWarning, if no row counts.

    Examples
    --------
    Of two labels, one is among the two best:

    >>> f1_at_k([[1, 0, 1, 0]], [[0.9, 0.8, 0.7, 0.1]], k=2)
    0.5
    """
    truth = read_truth(Y_true, mask)
    k = check_k(k, truth.shape[1])
    blocks = ranked_blocks(truth, scores, k)
    return average("f1_at_k", f1_measure(k), blocks, truth.shape[0])


def f1_measure(k: int) -> Measure:
    """Return what `f1_at_k` averages."""

    def f1(rows: LabelRanks) -> np.ndarray:
        return 2 * rows.sum_by_row(rows.lowest_first <= k) / (k + rows.n_present)

    return Measure(KNOWN, f1)


def discounts(place: np.ndarray, k: int) -> np.ndarray:
    """Return 1 / log2(place + 1) for the first k places, 0 below them."""
    return np.where(place <= k, 1 / np.log2(place + 1), 0.0)


def ideal_gain(rows: LabelRanks, k: int) -> np.ndarray:
    """Return the gain of rows whose present labels come first; 1 where there is none."""
    gained = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, k + 2)))])
    return np.where(rows.n_present > 0, gained[np.minimum(rows.n_present, k)], 1.0)
