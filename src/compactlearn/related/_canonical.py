"""Canonical variates of the labels: combinations of labels that the features predict best.

    maximise  t' Yc' Hat Yc t   with  t' Yc'Yc t = n   and all of them uncorrelated

Hat is the hat matrix of a ridge with a free intercept; without penalty this is canonical
correlation analysis, and the values are squared correlations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.linalg._codes import peak_signs
from compactlearn.linalg._eigen import all_eigenpairs, numerical_rank
from compactlearn.linalg._learning import learn
from compactlearn.linalg._pairs import Pair

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Variates:
    """Canonical variates ``T'(y - mean)`` and their ridge regression on the features."""

    directions: Array  # T (M, m)
    squares: Array  # (m,) squared correlations, shrunk by the penalty
    coef: Array  # (m, D)
    intercept: Array  # (m,)
    freedom: float  # effective parameters of each regression, the intercept among them


def canonical_variates(pair: Pair, size: int, alpha: float) -> Variates:
    """The leading variates, as many as are asked for or exist, and their regressions."""
    T, squares = canonical_directions(pair, size, alpha)
    codes = pair.combined_codes(T, -pair.mean_right)
    learned = learn(pair, None, codes, alpha)
    freedom = float(pair.ridge.hat(alpha).trace)
    return Variates(T, squares, learned.coefficients.T, learned.intercept, freedom)


def canonical_directions(pair: Pair, size: int, alpha: float) -> tuple[Array, Array]:
    """T (M, m) with ``T'Yc'Yc T = n I``, and ``t'Yc'Hat Yc t / n`` of each."""
    whole = np.eye(pair.n_right)
    values, vectors = all_eigenpairs(_symmetric(pair.right_gram(centre=True) @ whole))
    rank = numerical_rank(values, values.size, scale=pair.right_energy)
    root = vectors[:, :rank] / np.sqrt(values[:rank])
    inner = root.T @ _symmetric(pair.ridge.hat_gram(alpha) @ whole) @ root
    squares, turn = all_eigenpairs(_symmetric(inner))
    T = root @ turn[:, :size] * np.sqrt(pair.count)
    return T * peak_signs(T), squares[:size]


def _symmetric(matrix: Any) -> Array:
    return (matrix + matrix.T) / 2
