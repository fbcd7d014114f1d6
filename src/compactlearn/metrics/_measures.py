"""Metrics that are computed from sums over blocks of rows.

The conventions of rankings are those of the code that goes with Zhang and Zhou's review: a row
counts only if it has a present and an absent label, since without both there is nothing to rank.
Of equal scores the higher index ranks first. Metrics of the best k labels count all rows with a
known label, and the lowest index ranks first.

References
----------
M.-L. Zhang, Z.-H. Zhou, "A review on multi-label learning algorithms", IEEE Transactions on
Knowledge and Data Engineering 26(8), 1819-1837, 2014, section 2.2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from compactlearn.metrics._ranks import LabelRanks

Array = np.ndarray


@dataclass(frozen=True)
class Rule:
    """Condition on the rows that count: its text for messages, and its function."""

    wanted: str
    holds: Callable[[Array, Array], Array]  # numbers of present and known labels in, booleans out


RANKABLE = Rule(
    "a present and an absent label",
    lambda n_present, n_known: (n_present > 0) & (n_present < n_known),
)
PRESENT = Rule("a present label", lambda n_present, n_known: n_present > 0)
# A row of which nothing is known says nothing, whatever the convention.
KNOWN = Rule("a known label", lambda n_present, n_known: n_known > 0)
MARKED = Rule("a present or a predicted label", KNOWN.holds)
SUGGESTED = Rule("a suggested label that is known", KNOWN.holds)


@dataclass(frozen=True)
class Measure:
    """A quotient of two sums over rows; for a mean, the second counts them."""

    rule: Rule
    numerator: Callable[[Any], Array]  # the value of each row of a block
    denominator: Callable[[Any], Array] | None = None  # the weight of each row, by default 1
    undefined: float = float("nan")  # the value where no row counts

    def sums(self, block: Any) -> Array:
        """Return the two sums over the rows of a block that count."""
        kept = self.rule.holds(block.truth.n_present, block.truth.n_known)
        weights = kept if self.denominator is None else self.denominator(block)[kept]
        return np.array([self.numerator(block)[kept].sum(), weights.sum()], dtype=np.float64)

    def value(self, sums: Array) -> float:
        """Return the quotient."""
        return float(sums[0] / sums[1])


# ---- rankings -----------------------------------------------------------------------------------


def average_precision() -> Measure:
    def purity(rows: LabelRanks) -> Array:
        place, hits = rows.ordered(rows.highest_first)
        return rows.sum_by_row(hits / place) / np.maximum(rows.truth.n_present, 1)

    return Measure(RANKABLE, purity)


def ranking_loss() -> Measure:
    def loss(rows: LabelRanks) -> Array:
        n_present, n_known = rows.truth.n_present, rows.truth.n_known
        # Of the labels at or above a present one, those that are not present themselves.
        place, hits = rows.ordered(rows.upto)
        lost = rows.sum_by_row(place - hits)
        return lost / np.maximum(n_present * (n_known - n_present), 1)

    return Measure(RANKABLE, loss)


def one_error() -> Measure:
    return Measure(RANKABLE, lambda rows: np.where(rows.sum_by_row(rows.above == 0) > 0, 0.0, 1.0))


def coverage() -> Measure:
    return Measure(KNOWN, lambda rows: rows.max_by_row(rows.highest_first) - 1)


# ---- the best k labels --------------------------------------------------------------------------


def precision(k: int = 5) -> Measure:
    return Measure(KNOWN, lambda rows: rows.sum_by_row(rows.lowest_first <= k) / k)


def r_precision(k: int = 5) -> Measure:
    def share(rows: LabelRanks) -> Array:
        most = np.clip(rows.truth.n_present, 1, k)
        return rows.sum_by_row(rows.lowest_first <= k) / most

    return Measure(KNOWN, share)


def ndcg(k: int = 5) -> Measure:
    def gain(rows: LabelRanks) -> Array:
        return rows.sum_by_row(_discounts(rows.lowest_first, k)) / _ideal_gain(rows, k)

    return Measure(KNOWN, gain)


def f1(k: int = 5) -> Measure:
    def f1_of_row(rows: LabelRanks) -> Array:
        return 2 * rows.sum_by_row(rows.lowest_first <= k) / (k + rows.truth.n_present)

    return Measure(KNOWN, f1_of_row)


def psp(k: int = 5, *, weights: Array) -> Measure:
    """Return the two sums of `psp_at_k`; the common factor 1 / k is left out."""
    return _weighted(weights, lambda place: place <= k, lambda rows: 1.0)


def psndcg(k: int = 5, *, weights: Array) -> Measure:
    return _weighted(weights, lambda place: _discounts(place, k), lambda rows: _ideal_gain(rows, k))


def _weighted(
    weights: Array, gain: Callable[[Array], Array], norm: Callable[[LabelRanks], Any]
) -> Measure:
    """Return the weighted gains of the present labels, over those of a ranking by weight."""

    def found(rows: LabelRanks) -> Array:
        return rows.sum_by_row(weights[rows.label] * gain(rows.lowest_first)) / norm(rows)

    def best(rows: LabelRanks) -> Array:
        row, place, weight = _by_weight(rows, weights)
        gains = np.bincount(row, weights=weight * gain(place), minlength=rows.truth.shape[0])
        return gains / norm(rows)

    return Measure(PRESENT, found, best)


def _discounts(place: Array, k: int) -> Array:
    """Return 1 / log2(place + 1) for the first k places, 0 below them."""
    return np.where(place <= k, 1 / np.log2(place + 1), 0.0)


def _ideal_gain(rows: LabelRanks, k: int) -> Array:
    """Return the gain of a perfect ranking of each row; 1 for rows without present labels."""
    gained = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, k + 2)))])
    return np.where(rows.truth.n_present > 0, gained[np.minimum(rows.truth.n_present, k)], 1.0)


def _by_weight(rows: LabelRanks, weights: Array) -> tuple[Array, Array, Array]:
    """Return row, place and weight of all present labels if each row ranked them by weight."""
    weight = weights[rows.truth.present.columns]
    row = rows.truth.present.row_numbers()
    order = np.lexsort((-weight, row))
    start = np.cumsum(rows.truth.n_present) - rows.truth.n_present
    return row, np.arange(1, len(row) + 1) - start[row], weight[order]
