"""Two blocks of columns over the same rows, left and right, and what can be computed from them.

A *pair* answers the questions an embedding asks (leading codes for a balance, principal
directions, Gram matrices) without saying how the rows are held. There are three regimes, equal
in their answers:

``moments``  the rows are gone; everything follows from a :class:`Moments`;
``dual``     few rows: the matrix of order N is formed;
``krylov``   products with the two matrices only; sparse blocks stay sparse.

Letters: X and Y are the left and right block with rows multiplied by the square roots of their
weights, Xc the centred X, V the codes. "Codes" are orthonormal columns V in row space, and are
known here by their products Xc'V, Y'V and 1'V, which is all that a linear method needs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.linalg.eigen import Status, leading_eigenpairs
from compactlearn.linalg.operators import Deflated
from compactlearn.linalg.ridge import solve_ridge

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Codes:
    """Columns V in row space, known by their products with the blocks."""

    left: Array  # (n_left, k)   Xc'V
    right: Array | None  # (n_right, k)  Y'V; None where V is Y itself
    total: Array  # (k,)          1'V, weighted
    status: Status = Status.CONVERGED
    # How a row (x, y) gets its code: (x - mean) @ left_weights + y @ right_weights.
    left_weights: Array | None = None
    right_weights: Array | None = None
    rows: Array | None = None  # (N, k) where the regime has them, divided by root weights

    @property
    def size(self) -> int:
        return self.left.shape[1]

    def oriented(self) -> Codes:
        """Fix signs: the largest entry of each column of Y'V, or of Xc'V where that is 0."""
        assert self.right is not None
        scale = np.abs(self.left).max(axis=0, initial=0.0)
        peak = np.abs(self.right).max(axis=0, initial=0.0)
        signs = np.where(
            peak > 1e-10 * (scale + peak), _peak_signs(self.right), _peak_signs(self.left)
        )
        return replace(
            self,
            left=self.left * signs,
            right=self.right * signs,
            total=self.total * signs,
            left_weights=None if self.left_weights is None else self.left_weights * signs,
            right_weights=None if self.right_weights is None else self.right_weights * signs,
            rows=None if self.rows is None else self.rows * signs,
        )


class Pair(ABC):
    """What every regime offers; see the module docstring for the letters."""

    regime: str
    count: float  # total weight
    n_left: int
    n_right: int
    mean_left: Array
    mean_right: Array

    @property
    @abstractmethod
    def left_energy(self) -> float:
        """Squared Frobenius norm of Xc."""

    @property
    @abstractmethod
    def right_energy(self) -> float:
        """Squared Frobenius norm of Y, uncentred."""

    @property
    @abstractmethod
    def right_gram_energy(self) -> float:
        """Squared Frobenius norm of Y'Y."""

    @abstractmethod
    def leading_codes(self, size: int, balance: float, projection: Array | None = None) -> Codes:
        """Leading eigenvectors of ``balance XcPP'Xc' + YY'`` (P = I where None)."""

    @abstractmethod
    def right_codes(self) -> Codes:
        """Y itself as codes (its columns are not orthonormal)."""

    @abstractmethod
    def projected_gram(self, projection: Array) -> Array:
        """``P'Xc'XcP``."""

    @abstractmethod
    def solve_unprojected(self, codes: Codes, alpha: float) -> tuple[Array, bool]:
        """Ridge coefficients of V on Xc, and whether the solver got there."""

    @abstractmethod
    def left_gram_product(self) -> Any:
        """Xc'Xc, as an array or an operator."""

    def solve(self, projection: Array | None, codes: Codes, alpha: float) -> tuple[Array, bool]:
        """Ridge coefficients of V on XcP (on Xc where P is None), intercept left out."""
        if projection is None:
            return self.solve_unprojected(codes, alpha)
        gram = self.projected_gram(projection)
        return solve_ridge(gram, projection.T @ codes.left, alpha), True

    def principal_directions(self, size: int, avoid: Array, *, fill: bool = True) -> Array:
        """Orthonormal directions of largest variance in the complement of ``avoid``.

        Deterministic and nested. With ``fill`` they continue beyond the rank of Xc with
        directions of no variance, so that ``size`` columns always come back.
        """
        gram = self.left_gram_product()
        if isinstance(gram, np.ndarray):
            gram = gram - avoid @ (avoid.T @ gram)
            gram = gram - (gram @ avoid) @ avoid.T
            gram = (gram + gram.T) / 2
        else:
            gram = Deflated(gram, avoid)
        # The trace bounds the largest eigenvalue before deflation, against which rounding counts.
        found = leading_eigenpairs(gram, size, scale=self.left_energy).vectors
        basis = orthonormal_extension(avoid, found)
        missing = size - basis.shape[1]
        if fill and missing > 0:
            both = np.hstack([avoid, basis])
            others = np.random.default_rng(0).standard_normal((self.n_left, missing))
            basis = np.hstack([basis, orthonormal_extension(both, others)])
        peaks = _peak_signs(basis)
        return basis * peaks


def orthonormal_extension(basis: Array, columns: Array) -> Array:
    """Orthonormal basis of what ``columns`` have outside the span of ``basis``."""
    for _ in range(2 if columns.shape[1] else 0):  # once leaves rounding, twice does not
        columns = columns - basis @ (basis.T @ columns)
        columns, R = np.linalg.qr(columns)
        columns = columns * np.where(np.diag(R) < 0, -1.0, 1.0)
    return columns


def _peak_signs(columns: Array) -> Array:
    """The sign of the entry of largest magnitude of each column (+1 for a zero column)."""
    if columns.shape[0] == 0:
        return np.ones(columns.shape[1])
    peak = np.argmax(np.abs(columns), axis=0)
    values = columns[peak, np.arange(columns.shape[1])]
    return np.where(values < 0, -1.0, 1.0)
