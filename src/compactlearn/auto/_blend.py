"""Scores as log-odds, and blends of several models.

A model's score s becomes a log-odds a s + b by a logistic regression of all pairs of a row and a
label, a >= 0 (Platt 1999). Several models are joined by weights w >= 0,

    log-odds = sum_k w_k (a_k s_k + b_k) + c,

found by the same regression on the log-odds of all models. These are a few parameters, learnt from
out-of-fold scores of many rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from compactlearn.compact._any_classifier import scores_to_rank
from compactlearn.shortlist._sparse import has_entries

Array = NDArray[np.float64]

PAIRS = 100_000  # pairs of a row and a label that are enough for a few parameters
LARGEST = 30.0  # largest log-odds
_RIDGE = 1e-3  # penalty of standardised slopes, which bounds them if labels are separable
_STEPS, _HALVINGS, _TOLERANCE, _ROUNDING = 50, 30, 1e-11, 1e-13


@dataclass(frozen=True)
class Reading:
    """Log-odds from scores: ``slope * score + intercept``."""

    slope: float = 1.0
    intercept: float = 0.0

    def __call__(self, scores: NDArray[Any]) -> NDArray[Any]:
        return np.clip(self.slope * scores + self.intercept, -LARGEST, LARGEST)


@dataclass(frozen=True)
class Member:
    """A fitted model, the reading of its scores, and its weight."""

    name: str
    model: Any
    reading: Reading
    weight: float = 1.0

    def log_odds(self, X: Any) -> Array:
        """Return (N, M) log-odds of checked rows."""
        return self.reading(scores_to_rank(self.model, X).reshape(X.shape[0], -1))


@dataclass(frozen=True)
class Blend:
    """The weighted sum of several members' log-odds."""

    members: tuple[Member, ...]
    intercept: float = 0.0

    def log_odds(self, X: Any) -> Array:
        """Return (N, M) log-odds of checked rows."""
        total = self.members[0].weight * self.members[0].log_odds(X)
        for member in self.members[1:]:
            total += member.weight * member.log_odds(X)
        return total + self.intercept


def read_scores(
    scores: NDArray[Any], Y: Any, weights: Array | None, seed: int, unknown: Any = None
) -> Reading:
    """Return the reading of scores (N, M) of rows with labels Y, a sparse matrix.

    Pairs that are ``unknown``, a sparse matrix of ones, are left out.
    """
    slope, intercept = join([scores], Y, weights, seed, unknown)
    return Reading(float(slope[0]), intercept)


def join(
    log_odds: Sequence[NDArray[Any]],
    Y: Any,
    weights: Array | None,
    seed: int,
    unknown: Any = None,
) -> tuple[Array, float]:
    """Return the weights of several log-odds of the same rows, and the intercept."""
    size = log_odds[0].size
    if size > PAIRS:
        pairs = np.sort(np.random.default_rng(seed).choice(size, PAIRS, replace=False))
    else:
        pairs = np.arange(size)
    if unknown is not None:
        pairs = pairs[~has_entries(unknown, pairs)]
    present = has_entries(Y, pairs).astype(np.float64)
    counts = np.ones(pairs.size) if weights is None else weights[pairs // Y.shape[1]]
    return _regression([part.ravel()[pairs] for part in log_odds], present, counts)


def _regression(columns: Sequence[NDArray[Any]], t: Array, w: Array) -> tuple[Array, float]:
    """Fit a logistic regression with slopes of at least 0; the intercept is free.

    The solver takes projected Newton steps (Bertsekas 1982): a slope that is 0 and would decrease
    is left out of a step, and a slope that becomes negative is set to 0.
    """
    Z = np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])
    total = w.sum()
    mean = w @ Z / total
    unit = np.sqrt(w @ (Z - mean) ** 2 / total)
    unit[unit == 0] = 1.0
    Z = np.hstack([(Z - mean) / unit, np.ones((len(Z), 1))])
    n = Z.shape[1] - 1
    ridge = np.append(np.full(n, _RIDGE), 0.0)
    share = (w @ t + 0.5) / (total + 1.0)
    b = np.append(np.full(n, 1.0 / n), np.log(share) - np.log1p(-share))
    lowest = np.append(np.zeros(n), -LARGEST)

    def value(b: Array) -> float:
        margins = Z @ b
        return float(w @ (np.logaddexp(0.0, margins) - t * margins) + 0.5 * ridge @ b**2)

    before = value(b)
    for _ in range(_STEPS):
        p = expit(Z @ b)
        g = Z.T @ (w * (p - t)) + ridge * b
        free = (b > lowest) | (g < 0)
        if np.abs(g[free]).max(initial=0.0) <= _TOLERANCE * total:
            break
        H = (Z[:, free].T * (w * np.maximum(p * (1.0 - p), 1e-9))) @ Z[:, free]
        step = np.zeros_like(b)
        step[free] = -np.linalg.solve(H + np.diag(ridge[free]), g[free])
        for _ in range(_HALVINGS):
            new = np.maximum(b + step, lowest)
            after = value(new)
            if after <= before + _ROUNDING * abs(before):
                break
            step /= 2
        else:
            break
        b, before = new, after
    slopes = b[:-1] / unit
    return slopes, float(b[-1] - slopes @ mean)
