"""Ranks of many methods over many data sets, and the tests based on them.

Scores are arrays of shape (n_datasets, n_methods), one score for each; rank 1 is the best.

References
----------
J. Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006.
R. L. Iman and J. M. Davenport, "Approximations of the critical region of the Friedman statistic",
Communications in Statistics A9, 1980.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from compactlearn_bench.records.significance import holm

__all__ = [
    "Friedman",
    "WinTieLoss",
    "average_ranks",
    "critical_difference",
    "friedman",
    "iman_davenport",
    "indistinguishable",
    "post_hoc",
    "wilcoxon",
    "win_tie_loss",
]


class WinTieLoss(NamedTuple):
    """On how many data sets the reference is better, equal, worse."""

    wins: int
    ties: int
    losses: int


@dataclass(frozen=True)
class Friedman:
    """Whether the methods differ at all.

    `chi_squared` (corrected for ties) with its p-value, and Iman's and Davenport's less
    conservative F with its own.
    """

    chi_squared: float
    p_value: float
    f_statistic: float
    f_p_value: float
    n_datasets: int
    n_methods: int


def average_ranks(scores: ArrayLike, *, greater_is_better: bool = True) -> NDArray[np.float64]:
    """Mean rank of each method over the data sets; ties share the mean of their ranks.

    >>> average_ranks([[0.9, 0.8, 0.8], [0.7, 0.9, 0.5]]).tolist()
    [1.5, 1.75, 2.75]
    """
    table = _table(scores)
    return stats.rankdata(-table if greater_is_better else table, axis=1).mean(axis=0)


def win_tie_loss(
    reference: ArrayLike,
    other: ArrayLike,
    *,
    greater_is_better: bool = True,
    tolerance: float = 0.0,
) -> WinTieLoss:
    """Count data sets; a difference of at most `tolerance` is a tie.

    >>> win_tie_loss([0.9, 0.5, 0.4], [0.8, 0.5, 0.6])
    WinTieLoss(wins=1, ties=1, losses=1)
    """
    gains = _gains(reference, other, greater_is_better)
    wins, losses = int((gains > tolerance).sum()), int((gains < -tolerance).sum())
    return WinTieLoss(wins, gains.size - wins - losses, losses)


def wilcoxon(reference: ArrayLike, other: ArrayLike) -> float:
    """p-value of the two-sided signed-rank test over data sets.

    The ranks of zero differences are divided between the two sides, as Demšar does; methods that
    are equal everywhere have p = 1. The direction of the metric does not matter.
    """
    gains = _gains(reference, other, True)
    if not gains.any():
        return 1.0
    return float(stats.wilcoxon(gains, zero_method="zsplit").pvalue)


def friedman(scores: ArrayLike) -> Friedman:
    """Friedman's test of the ranks, with Iman's and Davenport's correction."""
    table = _table(scores)
    n_datasets, n_methods = table.shape
    if n_methods < 3 or n_datasets < 2:
        raise ValueError(
            "Friedman's test needs at least 3 methods on at least 2 data sets; got "
            f"{n_methods} methods on {n_datasets}. Two methods are compared by wilcoxon."
        )
    if (table == table[:, :1]).all():
        return Friedman(0.0, 1.0, 0.0, 1.0, n_datasets, n_methods)
    chi_squared, p_value = stats.friedmanchisquare(*table.T)
    f_statistic, f_p_value = iman_davenport(float(chi_squared), n_datasets, n_methods)
    return Friedman(
        float(chi_squared), float(p_value), f_statistic, f_p_value, n_datasets, n_methods
    )


def iman_davenport(chi_squared: float, n_datasets: int, n_methods: int) -> tuple[float, float]:
    """F and its p-value from Friedman's statistic; F is infinite where all rankings agree.

    >>> f_statistic, _ = iman_davenport(9.28, 14, 4)  # Demšar's example
    >>> round(f_statistic, 2)
    3.69
    """
    freedom = n_methods - 1
    left = n_datasets * freedom - chi_squared
    if left <= 1e-9 * n_datasets * freedom:
        return math.inf, 0.0
    statistic = (n_datasets - 1) * chi_squared / left
    return statistic, float(stats.f.sf(statistic, freedom, freedom * (n_datasets - 1)))


def critical_difference(n_methods: int, n_datasets: int, *, level: float = 0.05) -> float:
    """Nemenyi's: two methods differ if their average ranks are further apart than this.

    q √(k(k + 1) / 6N), where q is the upper point of the studentized range for infinite degrees of
    freedom, divided by √2.

    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    if n_methods < 2 or n_datasets < 1:
        raise ValueError(
            "A critical difference needs at least 2 methods and 1 data set; got "
            f"{n_methods} methods and {n_datasets}. Add records."
        )
    return _studentized(n_methods, level) / math.sqrt(2) * _rank_error(n_methods, n_datasets)


@lru_cache(maxsize=64)  # an integral in two dimensions, the same for every metric of a report
def _studentized(n_methods: int, level: float) -> float:
    return float(stats.studentized_range.isf(level, n_methods, np.inf))


def post_hoc(ranks: ArrayLike, n_datasets: int, control: int) -> NDArray[np.float64]:
    """Holm-adjusted p-values of every method against the control; the control's own is NaN."""
    given = np.asarray(ranks, dtype=np.float64)
    z = (given - given[control]) / _rank_error(given.size, n_datasets)
    p_values = 2 * stats.norm.sf(np.abs(z))
    p_values[control] = np.nan
    return holm(p_values)


def indistinguishable(ranks: ArrayLike, difference: float) -> list[tuple[int, ...]]:
    """Maximal groups of two or more methods whose ranks span no more than the difference.

    >>> indistinguishable([1.0, 3.5, 1.8, 2.5], 1.0)
    [(0, 2), (2, 3), (3, 1)]
    """
    given = np.asarray(ranks, dtype=np.float64)
    order = np.argsort(given, kind="stable")
    groups: list[tuple[int, ...]] = []
    reached = 0
    for start in range(order.size):
        inside = given[order] <= given[order[start]] + difference + 1e-12
        end = int(np.flatnonzero(inside).max()) + 1
        if end - start > 1 and end > reached:
            groups.append(tuple(int(place) for place in order[start:end]))
        reached = max(reached, end)
    return groups


def _rank_error(n_methods: int, n_datasets: int) -> float:
    """Standard deviation of a difference of two average ranks where the methods are alike."""
    return math.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets))


def _table(scores: ArrayLike) -> NDArray[np.float64]:
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or not np.isfinite(table).all():
        raise ValueError(
            "Ranks need a table of finite scores with a row for each data set and a column for "
            f"each method; got an array of shape {table.shape}"
            f"{' with gaps' if table.ndim == 2 else ''}. Leave out what is incomplete."
        )
    return table


def _gains(
    reference: ArrayLike | Sequence[float], other: ArrayLike, greater_is_better: bool
) -> NDArray[np.float64]:
    first, second = np.asarray(reference, np.float64), np.asarray(other, np.float64)
    if first.shape != second.shape or first.ndim != 1:
        raise ValueError(
            "Two methods are compared by one score each on the same data sets; got arrays of "
            f"shape {first.shape} and {second.shape}. Leave out what one of them lacks."
        )
    return first - second if greater_is_better else second - first
