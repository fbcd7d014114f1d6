"""Ridge regression from second moments: one decomposition, every penalty.

For centred rows Z (n, p) with Gram matrix S = Z'Z and cross products C = Z'T the coefficients are
B = (S + alpha I)^-1 C. An eigendecomposition of S serves every alpha and the leverages (Hoerl and
Kennard 1970).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.linalg._arrays import zeros_on_device_of
from compactlearn.linalg._dense import add_to_diagonal, inverse_definite, solve_definite
from compactlearn.linalg._eigen import all_eigenpairs, numerical_rank
from compactlearn.linalg._graded import badly_scaled, graded_system
from compactlearn.linalg._row_sums import row_blocks

Array = NDArray[np.float64]

# Eight digits are left of the rounding of a cross product when it is divided by this much of the
# trace.
SMALL_PENALTY = 1e-8

# The intercept of a learner: free, or none.
BIASES = ("free", "none")


def solve_ridge(
    gram: Array, cross: Array, alpha: float, scale: float = 0.0, floor: Array | float = 0.0
) -> Array:
    """Solve ``(gram + alpha I) B = cross`` for one penalty.

    The cross products lie in the range of the Gram matrix but for rounding, which a small penalty
    would divide by. Below ``SMALL_PENALTY`` times the trace, directions without variance are
    therefore left out; for ``alpha = 0`` that is the solution of least norm. ``scale`` is the size
    of what the Gram matrix was computed from, where rounding is to be judged against that.
    Otherwise columns whose units differ by orders of magnitude are weighed one against the other
    first (:mod:`compactlearn.linalg._graded`), less those with no more variance than ``floor``.

    >>> solve_ridge(np.array([[3.0]]), np.array([[8.0]]), alpha=1.0)
    array([[2.]])
    >>> solve_ridge(np.zeros((1, 1)), np.zeros((1, 1)), alpha=0.0)
    array([[0.]])
    """
    graded = scale == 0 and badly_scaled(np.diag(gram), floor)
    if alpha <= SMALL_PENALTY * max(np.trace(gram), scale):
        if graded:
            return graded_system(gram, alpha, floor).solve(cross)
        return RidgePath.from_gram(gram, scale).coefficients(cross, alpha)
    shifted = gram.copy()
    add_to_diagonal(shifted, alpha)
    if graded:
        # Pivots are to be compared in equal units.
        roots = np.sqrt(np.diag(shifted))
        shifted /= np.outer(roots, roots)
        return solve_definite(shifted, cross / roots[:, None], overwrite=True) / roots[:, None]
    return solve_definite(shifted, cross, overwrite=True)


def ridge_inverse(
    gram: Array, alpha: float, scale: float = 0.0, floor: Array | float = 0.0
) -> tuple[Array, float]:
    """``(gram + alpha I)^-1`` as a matrix, for callers who multiply with it many times, and the
    trace of ``gram`` times it. Directions without variance count as in :func:`solve_ridge`.

    >>> inverse, trace = ridge_inverse(np.diag([3.0, 0.0]), 0.0)
    >>> np.diag(inverse), trace
    (array([0.33333333, 0.        ]), 1.0)
    """
    size = gram.shape[0]
    if scale == 0 and badly_scaled(np.diag(gram), floor):
        return graded_system(gram, alpha, floor).inverse()
    if alpha <= SMALL_PENALTY * max(np.trace(gram), scale):
        path = RidgePath.from_gram(gram, scale)
        shrunk = path.inverse(alpha)
        return (path.vectors * shrunk) @ path.vectors.T, float(shrunk @ path.values)
    shifted = gram.copy()
    add_to_diagonal(shifted, alpha)
    inverse = inverse_definite(shifted)
    return inverse, float(size - alpha * np.trace(inverse))


@dataclass(frozen=True)
class GradedPath:
    """A Gram matrix whose columns differ in size by orders of magnitude: a spectrum would lose the
    small ones, so that it is factorised for every penalty."""

    gram: Array
    floor: Array | float = 0.0
    outside: None = None  # coefficients are found in the coordinates given

    def inside(self, cross: Array) -> Array:
        """Return cross products in the coordinates of the path."""
        return cross

    def shrunk(self, inside: Array, alpha: float) -> Array:
        """Return coefficients for cross products, both in the coordinates of the path."""
        return graded_system(self.gram, alpha, self.floor).solve(inside)

    def own_shares(self, rows: Any, alpha: float) -> Array:
        """Return ``diag(Z (S + alpha I)^-1 Z')`` of rows Z, an array or an operator."""
        root, _ = self.hat_root(alpha)
        return np.sum((rows @ root) ** 2, axis=1)

    def hat_root(self, alpha: float) -> tuple[Array, Array]:
        """Return R with ``ZRR'Z'`` the hat matrix of the rows Z, and the squared lengths of the
        columns of ZR, which are orthogonal. Directions without variance have no part in it."""
        return graded_system(self.gram, alpha, self.floor).hat_root()


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
    def outside(self) -> Array:
        """(p, r) the directions of the coordinates in which coefficients are found."""
        return self.vectors

    @property
    def rank(self) -> int:
        """The number of directions with variance."""
        return numerical_rank(self.values, self.values.size, self.scale)

    def inverse(self, alpha: float) -> Array:
        """Return ``1 / (values + alpha)``; 0 for directions without variance if alpha is small."""
        kept = self.values.size
        if alpha <= SMALL_PENALTY * max(self.values.sum(), self.scale):
            kept = self.rank
        inverse = np.zeros_like(self.values)
        inverse[:kept] = 1.0 / (self.values[:kept] + alpha)
        return inverse

    def inside(self, cross: Array) -> Array:
        return self.vectors.T @ cross

    def shrunk(self, inside: Array, alpha: float) -> Array:
        return self.inverse(alpha)[:, None] * inside

    def coefficients(self, cross: Array, alpha: float) -> Array:
        """Return ``(S + alpha I)^-1 cross``, or the least-norm solution for ``alpha = 0``."""
        return self.vectors @ self.shrunk(self.inside(cross), alpha)

    def own_shares(self, rows: Any, alpha: float) -> Array:
        inverse = self.inverse(alpha)
        shares = zeros_on_device_of((rows.shape[0],), self.vectors)
        for columns in row_blocks(self.values.size, rows.shape[0]):
            shares += (rows @ self.vectors[:, columns]) ** 2 @ inverse[columns]
        return shares

    def hat_root(self, alpha: float) -> tuple[Array, Array]:
        kept = self.rank
        shrunk = self.inverse(alpha)[:kept]
        return self.vectors[:, :kept] * np.sqrt(shrunk), self.values[:kept] * shrunk


PenaltyPath = RidgePath | GradedPath


def ridge_path(gram: Array, floor: Array | float = 0.0) -> PenaltyPath:
    """Return the path of a Gram matrix, prepared so that one penalty after the other can be solved
    for."""
    if badly_scaled(np.diag(gram), floor):
        return GradedPath(gram, floor)
    return RidgePath.from_gram(gram)


@dataclass(frozen=True)
class Learned:
    """A ridge from the left block, projected or not, to codes."""

    coefficients: Array  # (d, k); where nothing was projected, acting on rows as they came
    intercept: Array  # (k,)
    solved: bool = True


@dataclass(frozen=True)
class LearnedPath:
    """A ridge learner for every penalty: ``B = outside (S + alpha I)^-1 inside``, where S is
    diagonal if the path is a spectrum."""

    spectrum: PenaltyPath
    outside: Array | None  # (d, r); None: the identity
    inside: Array  # (r, k)
    mean_left: Array  # (d,) of the rows the coefficients act on


@dataclass(frozen=True)
class GramSystem:
    """``Xc'Xc`` and the rows' mean, which are all that a ridge needs whatever its intercept is."""

    gram: Array
    mean: Array
    count: float
    floor: Array  # what rounding leaves of the squared length of a column without variance

    @property
    def uncentred(self) -> Array:
        """``X'X`` of the rows as they are."""
        return self.gram + self.count * np.outer(self.mean, self.mean)

    def solve(self, cross: Array, alpha: float, bias: str, total: Array) -> Array:
        """Return coefficients for targets of products ``Xc'T`` and sums ``total``.

        Without an intercept ``(Xc'Xc + count mean mean' + alpha I) B = Xc'T + mean total'``.
        """
        if bias == "free":
            return solve_ridge(self.gram, cross, alpha, floor=self.floor)
        return solve_ridge(self.uncentred, cross + np.outer(self.mean, total), alpha)

    @cached_property
    def path(self) -> PenaltyPath:
        """The path of the centred rows, shared by every balance, hat matrix and penalty."""
        return ridge_path(self.gram, self.floor)

    def path_of(self, *, centred: bool) -> PenaltyPath:
        """Return the path of the rows, centred or as they are."""
        return self.path if centred else ridge_path(self.uncentred)

    def inverse(self, ridge: float, *, centred: bool) -> tuple[Array, float]:
        """Return ``(Z'Z + ridge I)^-1``, Z the rows, and the trace of their hat matrix."""
        if centred:
            return ridge_inverse(self.gram, ridge, floor=self.floor)
        return ridge_inverse(self.uncentred, ridge)

    def learned(self, cross: Array) -> LearnedPath:
        """Return the learner of every penalty, with a free intercept."""
        path = self.path
        return LearnedPath(path, path.outside, path.inside(cross), self.mean)
