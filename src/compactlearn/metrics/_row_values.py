"""The value of each row under the ranking metrics, and which rows count, convention by convention.

All are read off the ranks of the present labels. The conventions are told in the docstrings of
the public functions, which stand in `ranking`, `top` and `propensity`.
"""

from typing import Any

import numpy as np

from compactlearn.metrics._averages import KNOWN, PRESENT, RANKABLE, Measure
from compactlearn.metrics._checks import check_convention
from compactlearn.metrics._label_ranks import LabelRanks

__all__ = [
    "average_precision_measure",
    "coverage_measure",
    "f1_measure",
    "ndcg_measure",
    "one_error_measure",
    "precision_measure",
    "psndcg_measure",
    "psp_measure",
    "ranking_loss_measure",
]


def average_precision_measure(convention: Any) -> Measure:
    """What `average_precision` averages."""
    check_convention(convention)
    rule = {"zhang": RANKABLE, "sklearn": KNOWN, "mulan": PRESENT}[convention]

    def purity(rows: LabelRanks) -> np.ndarray:
        place, hits = rows.ordered(rows.upto if convention == "sklearn" else rows.highest_first)
        total = rows.sum_by_row(hits / place)
        # Only scikit-learn counts a row without labels, and as perfect.
        return np.where(rows.n_present > 0, total / np.maximum(rows.n_present, 1), 1.0)

    return Measure(rule, purity)


def ranking_loss_measure(convention: Any) -> Measure:
    """What `ranking_loss` averages."""
    check_convention(convention)

    def loss(rows: LabelRanks) -> np.ndarray:
        # Of the labels at or above a present one, those that are not present themselves. Where
        # places differ, the numbers of present ones are 1, 2, ..., n and need no sorting.
        if convention == "mulan" or rows.untied:
            hits = rows.n_present * (rows.n_present + 1) // 2
            lost = rows.sum_by_row(rows.highest_first) - hits
        else:
            place, hits = rows.ordered(rows.upto)
            lost = rows.sum_by_row(place - hits)
        return lost / np.maximum(rows.n_present * (rows.n_known - rows.n_present), 1)

    return Measure(RANKABLE if convention == "zhang" else KNOWN, loss)


def one_error_measure(convention: Any) -> Measure:
    """What `one_error` averages."""
    check_convention(convention)

    def missed(rows: LabelRanks) -> np.ndarray:
        on_top = rows.highest_first == 1 if convention == "mulan" else rows.above == 0
        return np.where(rows.sum_by_row(on_top) > 0, 0.0, 1.0)

    return Measure(KNOWN if convention == "mulan" else RANKABLE, missed)


def coverage_measure(convention: Any, normalize: bool = False) -> Measure:
    """What `coverage` averages."""
    check_convention(convention)

    def depth(rows: LabelRanks) -> np.ndarray:
        if convention == "sklearn":
            values = rows.max_by_row(rows.upto)
        else:
            values = rows.max_by_row(rows.highest_first) - 1
        if convention == "mulan":
            values = np.maximum(values, 0)
        # A row of which nothing is known is not counted, but divided all the same.
        return values / np.maximum(rows.n_known, 1) if normalize else values

    return Measure(KNOWN, depth)


def precision_measure(k: int, drop_empty: bool = False) -> Measure:
    """What `precision_at_k` averages."""

    def precision(rows: LabelRanks) -> np.ndarray:
        return rows.sum_by_row(rows.lowest_first <= k) / k

    return Measure(PRESENT if drop_empty else KNOWN, precision)


def f1_measure(k: int, drop_empty: bool = False) -> Measure:
    """Return the F1 of each row that `f1_at_k` averages."""

    def f1(rows: LabelRanks) -> np.ndarray:
        return 2 * rows.sum_by_row(rows.lowest_first <= k) / (k + rows.n_present)

    return Measure(PRESENT if drop_empty else KNOWN, f1)


def ndcg_measure(k: int, convention: Any, drop_empty: bool = False) -> Measure:
    """What `ndcg_at_k` averages."""
    check_convention(convention)
    gained = _gains(k)

    def gain(rows: LabelRanks) -> np.ndarray:
        if convention == "sklearn":  # the mean of the discounts of all places of the group
            whole = gained[np.minimum(rows.upto, k)] - gained[np.minimum(rows.above, k)]
            gains = whole / (rows.upto - rows.above)
        else:
            gains = _discounts(rows.lowest_first, k)
        return rows.sum_by_row(gains) / _ideal(rows, gained)

    return Measure(PRESENT if drop_empty else KNOWN, gain)


def psp_measure(k: int, weights: np.ndarray) -> Measure:
    """The two sums of `psp_at_k`; the common factor 1 / k is left out."""

    def found(rows: LabelRanks) -> np.ndarray:
        return rows.sum_by_row(weights[rows.label] * (rows.lowest_first <= k))

    def best(rows: LabelRanks) -> np.ndarray:
        row, place, weight = _by_weight(rows, weights)
        return np.bincount(row, weights=weight * (place <= k), minlength=rows.truth.shape[0])

    return Measure(PRESENT, found, best)


def psndcg_measure(k: int, weights: np.ndarray) -> Measure:
    """The two sums of `psndcg_at_k`."""
    gained = _gains(k)

    def found(rows: LabelRanks) -> np.ndarray:
        gains = weights[rows.label] * _discounts(rows.lowest_first, k)
        return rows.sum_by_row(gains) / _ideal(rows, gained)

    def best(rows: LabelRanks) -> np.ndarray:
        row, place, weight = _by_weight(rows, weights)
        gains = weight * _discounts(place, k)
        return np.bincount(row, weights=gains, minlength=rows.truth.shape[0]) / _ideal(rows, gained)

    return Measure(PRESENT, found, best)


def _gains(k: int) -> np.ndarray:
    """What t present labels on the first t places gain, for t = 0 to k."""
    return np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, k + 2)))])


def _discounts(place: np.ndarray, k: int) -> np.ndarray:
    """1 / log2(place + 1) for the first k places, 0 below them."""
    return np.where(place <= k, 1 / np.log2(place + 1), 0.0)


def _ideal(rows: LabelRanks, gained: np.ndarray) -> np.ndarray:
    """The gain of a row whose present labels come first; 1 where it has none."""
    best = gained[np.minimum(rows.n_present, len(gained) - 1)]
    return np.where(rows.n_present > 0, best, 1.0)


def _by_weight(rows: LabelRanks, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row, place and weight of all present labels if each row ranked them by weight."""
    weight = weights[rows.truth.present.columns]
    row = rows.truth.present.row_numbers()
    order = np.lexsort((-weight, row))
    start = np.cumsum(rows.n_present) - rows.n_present
    return row, np.arange(1, len(row) + 1) - start[row], weight[order]
