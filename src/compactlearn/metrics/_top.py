"""Metrics of the k best-scored labels of each row.

Equal scores are ranked lowest index first. All rows count that have a known label, a row without
present labels with the value 0.
"""

from typing import Any

from compactlearn.metrics._averages import average
from compactlearn.metrics._checks import Convention, check_k
from compactlearn.metrics._row_values import f1_measure, ndcg_measure, precision_measure
from compactlearn.metrics._sparse_scores import ranked_blocks
from compactlearn.metrics._truth import read_truth

__all__ = ["f1_at_k", "ndcg_at_k", "precision_at_k"]


def precision_at_k(
    Y_true: Any, scores: Any, k: int = 5, *, drop_empty: bool = False, mask: Any = None
) -> float:
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
    drop_empty : bool
        Leave out the rows without a present label instead of counting them as 0.
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
    measure = precision_measure(k, drop_empty)
    return average("precision_at_k", measure, ranked_blocks(truth, scores, k), truth.shape[0])


def ndcg_at_k(
    Y_true: Any,
    scores: Any,
    k: int = 5,
    *,
    convention: Convention = "zhang",
    drop_empty: bool = False,
    mask: Any = None,
) -> float:
    """Discounted gain of the k best-scored labels over that of a perfect ranking; 1 is best.

    With y_t = 1 where the label of rank t is present, and the n present labels of a row,

        sum over t <= k of y_t / log2(t + 1)   over   sum over t <= min(k, n) of 1 / log2(t + 1),

    averaged over rows.

    Parameters
    ----------
    Y_true, scores, k, drop_empty, mask
        As in `precision_at_k`.
    convention : "zhang", "sklearn" or "mulan"
        "sklearn": labels of equal scores share the mean of the gains of their places; of a
        sparse matrix or a pair, only those that it holds. Otherwise the lowest index comes first:
        this metric has no convention of Zhang's or Mulan's.

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
    measure = ndcg_measure(k, convention, drop_empty)
    return average("ndcg_at_k", measure, ranked_blocks(truth, scores, k), truth.shape[0])


def f1_at_k(
    Y_true: Any, scores: Any, k: int = 5, *, drop_empty: bool = False, mask: Any = None
) -> float:
    """F1 of the k best-scored labels of each row, averaged over rows; 1 is best.

    Of a row with n present labels, of which h are among the k best, it is 2 h / (k + n), the
    harmonic mean of h / k (`precision_at_k`) and h / n (recall). A row with fewer or more than k
    labels cannot reach 1. This is the sample average of scikit-learn's `f1_score` for the sets of
    the k best labels, and with k = 5 what Annif calls "F1@5" (averaged over documents).

    Parameters
    ----------
    Y_true, scores, k, drop_empty, mask
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
    measure = f1_measure(k, drop_empty)
    return average("f1_at_k", measure, ranked_blocks(truth, scores, k), truth.shape[0])
