"""The learner's penalty in the units of the data: ``alpha="auto"``.

A ridge with penalty alpha shrinks a direction of the features in which the rows have a sum of
squares s by s / (s + alpha). A penalty of the mean squared length of the centred rows, the sum of
the variances of the columns, halves what a single row can say, whatever the units. Where a few
columns in units of their own make up nearly all of it, it would drown all the others, so the mean
deviation replaces each:

    alpha = D (mean of the D deviations)^2

which is the mean squared length where all columns vary alike, and less where they do not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.linalg._arrays import working_form
from compactlearn.linalg._build import refuse_overflow
from compactlearn.linalg._graded import column_floor
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._row_sums import column_moments

Array = NDArray[np.float64]


def penalty_of_columns(mean: Array, squares: Array, count: float) -> float:
    """Return D times the squared mean deviation, over the D columns that vary; 1 where none does.

    ``squares`` are sums of squared deviations from the ``mean`` over ``count`` rows.

    >>> penalty_of_columns(np.zeros(4), np.array([20.0, 20.0, 20.0, 0.0]), 5.0)
    12.0
    """
    refuse_overflow(float(squares.sum()))
    seen = squares[squares > column_floor(mean, count)]
    return float(np.sqrt(seen).sum() ** 2 / (seen.size * count)) if seen.size else 1.0


def penalty_of_rows(X: Any, weights: Array | None = None) -> float:
    """Return the penalty of ``alpha="auto"`` for rows of features."""
    mean, variances, count = column_moments(working_form(X), weights)
    return penalty_of_columns(mean, count * variances, count)


def resolved_penalty(alpha: Any, pair: Pair) -> float:
    """Return ``alpha`` as a number: "auto" is the unit of a pair's left block.

    A kernel has no columns; there it is the mean squared length of the centred rows.
    """
    if not isinstance(alpha, str):
        return float(alpha)
    if not pair.left.has_variance:
        return 1.0
    if pair.left.variances is None:
        return float(pair.left.energy / pair.count)
    return penalty_of_columns(pair.mean_left, pair.left.variances, pair.count)
