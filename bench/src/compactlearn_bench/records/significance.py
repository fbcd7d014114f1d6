"""Comparison of two methods by their scores on a few folds, and the power of the tests.

Every function is pure: scores in, numbers out. In a comparison the *reference* is the method that a
table is about; "better" always means that the reference is.

References
----------
C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning 52, 2003.
S. Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statistics 6, 1979.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, stats

__all__ = [
    "LEVEL",
    "SIGNS",
    "Comparison",
    "Mark",
    "corrected_t_test",
    "detectable_difference",
    "holm",
    "mean_and_std",
    "paired_t_test",
    "t_test_power",
]

#: The paper's level.
LEVEL = 0.10

#: "better": the reference is significantly better; "worse": significantly worse.
Mark = Literal["better", "worse", "none"]
SIGNS: dict[str, str] = {"better": "●", "worse": "○", "none": ""}

# Below this share of the scores themselves, a deviation is what rounding left of zero.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Comparison:
    """A reference against another method on the same folds, by a two-sided test."""

    gain: float  # mean of the differences, positive where the reference is better
    deviation: float  # standard deviation of the differences
    statistic: float
    p_value: float  # NaN where a score is
    mark: Mark


def mean_and_std(scores: ArrayLike) -> tuple[float, float]:
    """Mean and standard deviation (n - 1) of fold scores; of one score the deviation is NaN.

    >>> mean_and_std([1.0, 2.0, 3.0])
    (2.0, 1.0)
    """
    values = _scores(scores)
    mean = float(values.mean()) if values.size else math.nan
    return mean, float(values.std(ddof=1)) if values.size > 1 else math.nan


def paired_t_test(
    reference: ArrayLike,
    other: ArrayLike,
    *,
    greater_is_better: bool = True,
    level: float = LEVEL,
) -> Comparison:
    """The paper's mark: a two-sided t-test of the differences, fold by fold.

    Equal scores on all folds give no mark. Differences that are all the same and not zero leave
    no variation: p = 0.

    >>> paired_t_test([0.8, 0.8, 0.9], [0.5, 0.6, 0.6]).mark
    'better'
    >>> paired_t_test([0.8, 0.8, 0.9], [0.5, 0.6, 0.6], greater_is_better=False).mark
    'worse'
    """
    gains = _gains(reference, other, greater_is_better)
    return _t_test(gains, 1 / gains.size, level)


def corrected_t_test(
    reference: ArrayLike,
    other: ArrayLike,
    *,
    n_train: float,
    n_test: float,
    greater_is_better: bool = True,
    level: float = LEVEL,
) -> Comparison:
    """Nadeau's and Bengio's test: folds share training rows, so their scores are not independent.

    The variance of the mean is taken as (1/k + n_test/n_train) times that of the differences,
    instead of 1/k. Only the ratio of the two counts matters; k folds of equal size have 1/(k - 1).
    """
    if not (n_train > 0 and n_test > 0):
        raise ValueError(
            "The corrected t-test needs the numbers of training and test rows, both above 0; got "
            f"{n_train} and {n_test}. Give the rows of one fold."
        )
    gains = _gains(reference, other, greater_is_better)
    return _t_test(gains, 1 / gains.size + n_test / n_train, level)


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """p-values adjusted for how many there are; NaN stays NaN and is not counted.

    Holm's step-down: the smallest times n, the next times n - 1, and so on, never falling. To
    reject what is at most `level` then bounds the probability of any false rejection by it.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    given = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(given.shape, np.nan)
    places = np.flatnonzero(np.isfinite(given))
    order = places[np.argsort(given[places], kind="stable")]
    factors = np.arange(order.size, 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(given[order] * factors), 1)
    return adjusted


def t_test_power(
    difference: float, deviation: float, n_folds: int, *, level: float = LEVEL
) -> float:
    """Return how likely a paired t-test on `n_folds` folds notices a true difference.

    The statistic is noncentral t with k - 1 degrees of freedom and the noncentrality
    difference / (deviation / √k), both being those of the true differences. Folds are taken as
    independent, which flatters the test.
    """
    _check_folds(n_folds)
    if deviation == 0:
        return level if difference == 0 else 1.0
    return _power(abs(difference) / deviation * math.sqrt(n_folds), n_folds, level)


def detectable_difference(
    deviation: float, n_folds: int, *, level: float = LEVEL, power: float = 0.8
) -> float:
    """The smallest true difference that the test notices with probability `power`.

    >>> round(detectable_difference(0.01, 5), 4)
    0.0136
    """
    _check_folds(n_folds)
    if not level < power < 1:
        raise ValueError(
            f"The power must lie above the level of the test, {level}, and below 1; got {power}. "
            "Ask for 0.8, as is usual."
        )
    if not deviation > 0:
        return 0.0 if deviation == 0 else math.nan
    return _noncentrality(n_folds, level, power) * deviation / math.sqrt(n_folds)


@lru_cache(maxsize=64)  # a report asks for the same one at every comparison
def _noncentrality(n_folds: int, level: float, power: float) -> float:
    top = 1.0
    while _power(top, n_folds, level) < power:
        top *= 2
    return float(optimize.brentq(lambda nc: _power(nc, n_folds, level) - power, 0.0, top))


def _power(noncentrality: float, n_folds: int, level: float) -> float:
    freedom = n_folds - 1
    bound = stats.t.isf(level / 2, freedom)
    upper = float(stats.nct.sf(bound, freedom, noncentrality))
    lower = float(stats.nct.cdf(-bound, freedom, noncentrality))
    # Far out the lower tail is nothing, and SciPy may call it NaN.
    return min(upper + (lower if math.isfinite(lower) else 0.0), 1.0)


def _t_test(gains: NDArray[np.float64], factor: float, level: float) -> Comparison:
    """Two-sided t-test of gains around 0, the variance of their mean being `factor` of theirs."""
    if gains.size < 2:
        raise ValueError(
            f"A t-test needs the scores of at least 2 folds; got {gains.size}. Record more folds."
        )
    mean, deviation = mean_and_std(gains)
    if not math.isfinite(mean):
        return Comparison(mean, deviation, math.nan, math.nan, "none")
    if deviation == 0:
        statistic = math.copysign(math.inf, mean) if mean else 0.0
    else:
        statistic = mean / (deviation * math.sqrt(factor))
    p_value = float(2 * stats.t.sf(abs(statistic), gains.size - 1))
    mark: Mark = "none" if p_value > level else ("better" if mean > 0 else "worse")
    return Comparison(mean, deviation, statistic, p_value, mark)


def _gains(reference: Any, other: Any, greater_is_better: bool) -> NDArray[np.float64]:
    """Differences, positive where the reference is better; what is only rounding is made exact."""
    first, second = _scores(reference), _scores(other)
    if first.size != second.size:
        raise ValueError(
            "A paired comparison needs the scores of both methods on the same folds; got "
            f"{first.size} and {second.size} scores. Leave out the folds that one of them lacks."
        )
    gains = first - second if greater_is_better else second - first
    scale = max(np.abs(first).max(initial=0.0), np.abs(second).max(initial=0.0)) * _ROUNDING
    if gains.size and np.ptp(gains) <= scale:
        same = float(gains.mean())
        return np.full(gains.size, same if abs(same) > scale else 0.0)
    return gains


def _scores(scores: ArrayLike | Sequence[float]) -> NDArray[np.float64]:
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(
            f"Fold scores must be a list of numbers, one for each fold; got {values.ndim} "
            "dimensions. Compare one pair of methods at a time."
        )
    return values


def _check_folds(n_folds: int) -> None:
    if n_folds < 2:
        raise ValueError(
            f"A t-test needs at least 2 folds; got {n_folds}. Give the number of folds."
        )
