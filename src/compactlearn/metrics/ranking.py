"""Metrics of the order in which the scores of a row put its labels.

The conventions are those of the code that goes with Zhang and Zhou's review. A row counts only
if it has a present and an absent label: without both there is nothing to rank. What equal scores
mean differs from metric to metric and is said in each.

Every row is sorted once (O(M log M) for M labels), and all three metrics are read off that order.

References
----------
M.-L. Zhang, Z.-H. Zhou, "A review on multi-label learning algorithms", IEEE Transactions on
Knowledge and Data Engineering 26(8), 1819-1837, 2014, section 2.2.
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from compactlearn.metrics.checks import check_scores, check_truth, dense_rows, row_blocks

__all__ = [
    "RankedRows",
    "RowMetric",
    "average_precision",
    "one_error",
    "rankable_rows",
    "ranking_loss",
    "ranking_means",
]


def average_precision(Y_true: Any, scores: Any) -> float:
    """How pure the labels ranked at or above each present label are; 1 is best.

    For a row with the present labels R, and rank(r) = 1 for the best score,

        mean over r in R of  #{r' in R : rank(r') <= rank(r)} / rank(r),

    averaged over the rows that have a present and an absent label. Of equal scores, the label
    with the higher index ranks first.

    Parameters
    ----------
    Y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        0 and 1; NaN where unknown: such a label is left out of its row's ranking.
    scores : array-like of shape (n_samples, n_labels)
        Finite; higher means more likely.

    Returns
    -------
    float
        NaN, with an UndefinedMetricWarning, if no row has both a present and an absent label.

    Examples
    --------
    The present labels rank first and third: (1/1 + 2/3) / 2.

    >>> average_precision([[1, 0, 1, 0]], [[0.9, 0.8, 0.7, 0.1]])
    0.8333333333333333
    """
    return ranking_means(Y_true, scores, {"average_precision": average_precision_rows})[
        "average_precision"
    ]


def ranking_loss(Y_true: Any, scores: Any) -> float:
    """Share of (present, absent) pairs in which the absent label scores as high or higher.

    Averaged over the rows that have such a pair; 0 is best. Equal scores count as lost.

    Parameters
    ----------
    Y_true, scores
        As in `average_precision`.

    Returns
    -------
    float
        NaN, with an UndefinedMetricWarning, if no row has both a present and an absent label.

    Examples
    --------
    Of the four pairs one is in the wrong order:

    >>> ranking_loss([[1, 0, 1, 0]], [[0.9, 0.8, 0.7, 0.1]])
    0.25
    """
    return ranking_means(Y_true, scores, {"ranking_loss": ranking_loss_rows})["ranking_loss"]


def one_error(Y_true: Any, scores: Any) -> float:
    """Share of rows whose best-scored label is absent; 0 is best.

    Only rows that have a present and an absent label count. Where several labels share the best
    score, one present label among them is enough.

    Parameters
    ----------
    Y_true, scores
        As in `average_precision`.

    Returns
    -------
    float
        NaN, with an UndefinedMetricWarning, if no row has both a present and an absent label.

    Examples
    --------
    >>> one_error([[1, 0, 1, 0], [0, 1, 0, 0]], [[0.9, 0.8, 0.7, 0.1], [0.9, 0.8, 0.7, 0.1]])
    0.5
    """
    return ranking_means(Y_true, scores, {"one_error": one_error_rows})["one_error"]


def rankable_rows(Y_true: Any) -> np.ndarray:
    """Which rows have a present and an absent label, and so count in the metrics above.

    >>> rankable_rows([[1, 0, 1], [0, 0, 0], [1, 1, 1]])
    array([ True, False, False])
    """
    Y = check_truth(Y_true)
    blocks = [_rankable(dense_rows(Y, rows)) for rows in row_blocks(Y.shape)]
    return np.concatenate([np.empty(0, dtype=bool), *blocks])


@dataclass(frozen=True)
class RankedRows:
    """Rows with a present and an absent label, each sorted by its scores, lowest first.

    Parameters
    ----------
    present, absent : ndarray of bool, shape (n, M)
        The truth in that order; of equal scores, the label with the lower index stands first.
        Unknown labels are neither, and stand before all others.
    tie_start : ndarray of int, shape (n, M)
        Where the run of scores equal to this one starts.
    """

    present: np.ndarray
    absent: np.ndarray
    tie_start: np.ndarray

    @classmethod
    def sort(cls, Y: np.ndarray, scores: np.ndarray) -> "RankedRows":
        """Drop the rows that cannot be ranked, and sort the others."""
        kept = _rankable(Y)
        Y, scores = Y[kept], scores[kept]
        unknown = np.isnan(Y)
        if unknown.any():
            scores = np.where(unknown, -np.inf, scores)  # scores are finite: below all known
        order = np.argsort(scores, axis=1, kind="stable")
        Y = np.take_along_axis(Y, order, axis=1)
        ordered = np.take_along_axis(scores, order, axis=1)
        starts = np.zeros(Y.shape, dtype=np.intp)
        starts[:, 1:] = np.where(
            ordered[:, 1:] != ordered[:, :-1], np.arange(1, Y.shape[1], dtype=np.intp), 0
        )
        return cls(Y == 1, Y == 0, np.maximum.accumulate(starts, axis=1))


RowMetric = Callable[[RankedRows], np.ndarray]


def average_precision_rows(rows: RankedRows) -> np.ndarray:
    """Average precision of each row."""
    # Read from the end, the higher index of equal scores comes first; unknown labels come last
    # and push no known label down.
    best_first = rows.present[:, ::-1]
    hits = np.cumsum(best_first, axis=1)
    precision = hits / np.arange(1, best_first.shape[1] + 1)
    return (precision * best_first).sum(axis=1) / hits[:, -1]


def ranking_loss_rows(rows: RankedRows) -> np.ndarray:
    """Ranking loss of each row."""
    absent_up_to = np.cumsum(rows.absent, axis=1)
    n_absent = absent_up_to[:, -1:]
    # Won against: the absent labels strictly below, which end where the run of ties starts.
    strictly_before = absent_up_to - rows.absent
    won = np.take_along_axis(strictly_before, rows.tie_start, axis=1)
    lost = ((n_absent - won) * rows.present).sum(axis=1)
    return lost / (n_absent[:, 0] * rows.present.sum(axis=1))


def one_error_rows(rows: RankedRows) -> np.ndarray:
    """1 for each row none of whose best-scored labels is present, else 0."""
    on_top = np.arange(rows.present.shape[1]) >= rows.tie_start[:, -1:]
    return np.where((rows.present & on_top).any(axis=1), 0.0, 1.0)


def ranking_means(Y_true: Any, scores: Any, metrics: Mapping[str, RowMetric]) -> dict[str, float]:
    """The means of several row metrics, from one sort of each row, block by block.

    Returns
    -------
    dict
        One number per name in `metrics`; all NaN, with one UndefinedMetricWarning, if no row has
        both a present and an absent label.
    """
    Y = check_truth(Y_true)
    S = check_scores(scores, Y.shape)
    values: dict[str, list[np.ndarray]] = {name: [] for name in metrics}
    for block in row_blocks(Y.shape):
        rows = RankedRows.sort(dense_rows(Y, block), S[block])
        if rows.present.size:
            for name, metric in metrics.items():
                values[name].append(metric(rows))
    if not any(values.values()):
        warnings.warn(
            f"{' and '.join(metrics)} need a row with a present and an absent label, but none of "
            f"the {Y.shape[0]} rows has both; the result is NaN. Evaluate on other rows.",
            UndefinedMetricWarning,
            stacklevel=3,
        )
        return dict.fromkeys(metrics, float("nan"))
    return {name: float(np.concatenate(parts).mean()) for name, parts in values.items()}


def _rankable(Y: np.ndarray) -> np.ndarray:
    return (Y == 1).any(axis=1) & (Y == 0).any(axis=1)
