"""Ridge regression from second moments: one decomposition, every penalty.

For centred rows Z (n, p) with Gram matrix S = Z'Z and cross products C = Z'T the coefficients are
B = (S + alpha I)^-1 C. An eigendecomposition of S serves every alpha, the leverages and the
leave-one-out predictions (Hoerl and Kennard 1970; the leave-one-out identity is that of linear
smoothers, v_-i = (v_i - h_i t_i) / (1 - h_i)).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compactlearn.linalg.dense import inverse_definite, solve_definite
from compactlearn.linalg.eigen import all_eigenpairs, numerical_rank
from compactlearn.linalg.operators import Operator

Array = NDArray[np.float64]

# Eight digits are left of the rounding of a cross product when it is divided by this much of the
# trace.
SMALL_PENALTY = 1e-8


def solve_ridge(gram: Array, cross: Array, alpha: float, scale: float = 0.0) -> Array:
    """Solve ``(gram + alpha I) B = cross`` for one penalty.

    The cross products lie in the range of the Gram matrix but for rounding, which a small penalty
    would divide by. Below ``SMALL_PENALTY`` times the trace, directions without variance are
    therefore left out; for ``alpha = 0`` that is the solution of least norm. ``scale`` is the size
    of what the Gram matrix was computed from, where rounding is to be judged against that.

    >>> solve_ridge(np.array([[3.0]]), np.array([[8.0]]), alpha=1.0)
    array([[2.]])
    >>> solve_ridge(np.zeros((1, 1)), np.zeros((1, 1)), alpha=0.0)
    array([[0.]])
    """
    if alpha <= SMALL_PENALTY * max(np.trace(gram), scale):
        return RidgePath.from_gram(gram, scale).coefficients(cross, alpha)
    shifted = gram.copy()
    shifted[np.diag_indices_from(shifted)] += alpha
    return solve_definite(shifted, cross, overwrite=True)


def ridge_inverse(gram: Array, alpha: float, scale: float = 0.0) -> tuple[Array, float]:
    """``(gram + alpha I)^-1`` as a matrix, for callers who multiply with it many times, and the
    trace of ``gram`` times it. Directions without variance count as in :func:`solve_ridge`.

    >>> inverse, trace = ridge_inverse(np.diag([3.0, 0.0]), 0.0)
    >>> np.diag(inverse), trace
    (array([0.33333333, 0.        ]), 1.0)
    """
    size = gram.shape[0]
    if alpha <= SMALL_PENALTY * max(np.trace(gram), scale):
        path = RidgePath.from_gram(gram, scale)
        shrunk = path.inverse(alpha)
        return (path.vectors * shrunk) @ path.vectors.T, float(shrunk @ path.values)
    shifted = gram.copy()
    shifted[np.diag_indices_from(shifted)] += alpha
    inverse = inverse_definite(shifted, overwrite=True)
    return inverse, float(size - alpha * np.trace(inverse))


def with_ones(gram: Array, mean: Array, count: float) -> Array:
    """The Gram matrix of ``[1 X]`` from that of X, uncentred.

    >>> with_ones(np.array([[5.0]]), np.array([1.5]), 2.0)
    array([[2., 3.],
           [3., 5.]])
    """
    edge = count * mean[:, None]
    return np.block([[np.array([[count]]), edge.T], [edge, gram]])


def mean_share(convention: str, penalty: float, count: float) -> float:
    """How much of the rows' mean a convention for the intercept leaves in the problem.

    Ridge with no intercept, with a free one, or with a penalised column of ones all solve
    ``(Xc'Xc + share * count * mean mean' + penalty I) B = Xc'V + share * mean total'`` for the
    centred rows Xc: profile the intercept out. The share is 0 where the intercept is free and 1
    where there is none.

    >>> mean_share("penalised", 1.0, 3.0)
    0.25
    """
    if convention in ("free", "intercept", "centred"):
        return 0.0
    return penalty / (count + penalty) if convention == "penalised" else 1.0


@dataclass(frozen=True)
class RidgePath:
    """An eigendecomposition of a Gram matrix, from which every penalty is cheap.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Z, T = rng.normal(size=(9, 3)), rng.normal(size=(9, 2))
    >>> path = RidgePath.from_gram(Z.T @ Z)
    >>> for alpha in (0.1, 10.0):
    ...     B = path.coefficients(Z.T @ T, alpha)
    ...     assert np.allclose((Z.T @ Z + alpha * np.eye(3)) @ B, Z.T @ T)
    """

    values: Array  # (p,), largest first
    vectors: Array  # (p, p)
    scale: float = 0.0  # of what the Gram matrix was computed from; see solve_ridge

    @classmethod
    def from_gram(cls, gram: Array, scale: float = 0.0) -> RidgePath:
        values, vectors = all_eigenpairs(gram)
        return cls(np.maximum(values, 0.0), vectors, scale)

    @property
    def rank(self) -> int:
        """How many directions have variance."""
        return numerical_rank(self.values, self.values.size, self.scale)

    def inverse(self, alpha: float) -> Array:
        """``1 / (values + alpha)``; 0 for directions without variance where alpha is small."""
        size = self.values.size
        kept = size
        if alpha <= SMALL_PENALTY * max(self.values.sum(), self.scale):
            kept = self.rank
        inverse = np.zeros_like(self.values)
        inverse[:kept] = 1.0 / (self.values[:kept] + alpha)
        return inverse

    def coefficients(self, cross: Array, alpha: float) -> Array:
        """``(S + alpha I)^-1 cross``, or the least-norm solution for ``alpha = 0``."""
        return self.vectors @ (self.inverse(alpha)[:, None] * (self.vectors.T @ cross))

    def leverages(
        self, rows: Array, alpha: float, count: float, weights: Array | None = None
    ) -> Array:
        """How much each row's own target enters its prediction, free intercept included.

        ``rows`` are centred; ``count`` is the total weight; a weighted row counts ``w`` times.
        """
        rotated = rows @ self.vectors
        leverages = 1.0 / count + np.einsum("ij,ij,j->i", rotated, rotated, self.inverse(alpha))
        return leverages if weights is None else leverages * weights

    def leave_one_out(
        self,
        rows: Array,
        targets: Array,
        alpha: float,
        weights: Array | None = None,
    ) -> Array:
        """Predict each row's targets from the ridge fitted to all the other rows.

        ``rows`` are centred and ``targets`` are not; the intercept is free. A weighted row is
        left out whole.
        """
        w = np.ones(len(rows)) if weights is None else weights
        count = float(w.sum())
        mean = (w @ targets) / count
        centred = targets - mean
        cross = rows.T @ (w[:, None] * centred)
        fitted = mean + rows @ self.coefficients(cross, alpha)
        h = self.leverages(rows, alpha, count, w)[:, None]
        return (fitted - h * targets) / (1.0 - h)


def solve_ridge_iteratively(
    rows: Operator, cross: Array, alpha: float, *, tol: float = 1e-13, max_iter: int = 2000
) -> tuple[Array, bool]:
    """Conjugate gradients on ``(Z'Z + alpha I) B = cross``, all columns side by side.

    For shapes where neither Gram matrix fits. Returns the coefficients and whether every
    column's residual fell below ``tol`` times its right-hand side.
    """
    B = np.zeros_like(cross)
    residual = cross.copy()
    direction = residual.copy()
    energy = np.einsum("ij,ij->j", residual, residual)
    target = tol**2 * energy
    for _ in range(max_iter):
        if np.all(energy <= target):
            return B, True
        image = rows.T @ (rows @ direction) + alpha * direction
        curvature = np.einsum("ij,ij->j", direction, image)
        step = np.divide(energy, curvature, out=np.zeros_like(energy), where=curvature > 0)
        B += step * direction
        residual -= step * image
        new_energy = np.einsum("ij,ij->j", residual, residual)
        ratio = np.divide(new_energy, energy, out=np.zeros_like(energy), where=energy > 0)
        direction = residual + ratio * direction
        energy = new_energy
    return B, bool(np.all(energy <= target))
