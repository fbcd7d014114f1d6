"""A left block that is known only by its kernel matrix.

The dual route never sees more of the features than XcXc'. Put the centred kernel matrix
K = HQH in its place and every method has its kernel version, without a factorisation of Q.
Directions in feature space are combinations Xc'c of the centred rows, and are stored as their
coefficients c (N,): then Xc'V is V itself, Xc times a direction is Kc, and the inner product of
two directions is c'Kc'.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.linalg._arrays import to_device_of, zeros_on_device_of
from compactlearn.linalg._codes import peak_signs
from compactlearn.linalg._dense import cholesky, self_product, solve
from compactlearn.linalg._eigen import (
    EPS,
    all_eigenpairs,
    krylov_pays,
    leading_eigenpairs,
    numerical_rank,
)
from compactlearn.linalg._left_rows import LeftRows, row_weighted
from compactlearn.linalg._operators import Operator, Plain, Sum, gram

Array = NDArray[np.float64]


# Entries of a kernel matrix are off by this many units in the last place: distances come from
# differences of inner products, and exponentials magnify them (rows of 15 samples: some 200).
KERNEL_ROUNDING = 64.0


class KernelRows(Operator):
    """Xc for directions given by their coefficients: ``Xc (Xc'c) = Kc`` and ``Xc'V`` is V.

    The constant part of the coefficients is removed: Xc' maps it to exactly zero, K only nearly,
    and for a direction much shorter than its coefficients the difference would be magnified.
    """

    def __init__(self, kernel: Array, ones: Array) -> None:
        self.kernel, self.shape = kernel, kernel.shape
        self.constant = ones / np.linalg.norm(ones)

    def _multiply(self, block: Array) -> Array:
        return self.kernel @ block

    def _multiply_transposed(self, block: Array) -> Array:
        return block - np.outer(self.constant, self.constant @ block)


class LeftKernel(LeftRows):
    """Rows that are known by their kernel matrix, which is centred in place."""

    by_kernel = True
    narrow = False  # type: ignore[assignment]
    variances = None  # type: ignore[assignment]
    mean_energy = 0.0  # type: ignore[assignment]

    def __init__(self, kernel: Array, weights: Array | None = None) -> None:
        self.rows, self.weights, self.shape = None, weights, kernel.shape
        self.n = kernel.shape[0]
        self.roots = None if weights is None else np.sqrt(weights)
        self.count = float(self.n) if weights is None else float(weights.sum())
        ones = np.ones(self.n)
        # The mean of the rows in feature space, by its coefficients.
        self._shares = share = to_device_of(
            (ones if weights is None else weights) / self.count, kernel
        )
        self.mean = kernel @ share  # the mean kernel row: what q(x) averages to
        self._square = float(self.mean @ share)
        # What rounding is judged against: entries before the mean is taken off them.
        self._raw_energy = max(float(self.count * (np.diag(kernel) @ share)), 0.0)
        kernel -= self.mean
        kernel -= (self.mean - self._square)[:, None]
        self.kernel = row_weighted(kernel, self.roots)
        self._ones = to_device_of(ones, kernel) if self.roots is None else self.roots
        self.Xc = KernelRows(kernel, self._ones)

    @property
    def mean_products(self) -> tuple[Array, float]:  # type: ignore[override]
        return self._ones * (self.mean - self._square), self._square

    @property
    def energy(self) -> float:  # type: ignore[override]
        return float(np.trace(self.kernel))

    @property
    def rounding_scale(self) -> float:  # type: ignore[override]
        return KERNEL_ROUNDING * self._raw_energy

    @property
    def has_variance(self) -> bool:
        return self.energy > self.n * EPS * self.rounding_scale

    def takes_gram(self, penalty: float = 0.0) -> bool:
        return False

    # ---- directions ---------------------------------------------------------------------------

    def inner(self, P: Array, C: Any) -> Array:
        return (self.kernel @ P).T @ C

    def leading_range(self, C: Any) -> tuple[Array, Array]:
        products = C.T @ times_kernel(self.kernel, C)
        squares, U = all_eigenpairs((products + products.T) / 2, overwrite=True)
        rank = self._rank(squares, C)
        P = self.Xc.T @ (C @ (U[:, :rank] / np.sqrt(squares[:rank])))
        return self._normalised(P), squares[:rank]  # a short direction was magnified

    def _rank(self, squares: Array, C: Any) -> int:
        """Count the squared lengths that are more than what the kernel's rounding makes of C."""
        entries = C.multiply(C) if scipy.sparse.issparse(C) else C * C
        largest = float(np.max(entries.sum(axis=0), initial=0.0))
        return numerical_rank(squares, self.n, scale=largest * self.rounding_scale)

    def _normalised(self, C: Array) -> Array:
        """Do one pass of orthonormalisation, in the order of columns that are independent."""
        products = self.inner(C, C)
        products = (products + products.T) / 2
        squares, U = all_eigenpairs(products)
        rank = self._rank(squares, C)
        if rank < C.shape[1]:
            return C @ (U[:, :rank] / np.sqrt(squares[:rank]))
        return solve(cholesky(products), C.T).T

    def orthonormal(self, C: Array) -> Array:
        return self.extension(zeros_on_device_of((self.n, 0), self.kernel), C)

    def extension(self, basis: Array, C: Array) -> Array:
        for _ in range(2 if C.shape[1] else 0):  # once leaves rounding, twice does not
            C = C - basis @ self.inner(basis, C)
            C = self._normalised(C)
        return C

    def some_direction(self) -> Array:
        return zeros_on_device_of(
            (self.n, 1), self.kernel
        )  # any other would show the kernel's rounding

    def expressed(self, P: Array) -> Array:
        """``q(x)'R`` is the product of a row's feature vector with the direction."""
        weighted = P if self.roots is None else P * self.roots[:, None]
        return weighted - np.outer(self._shares, weighted.sum(axis=0))

    def principal_directions(self, size: int, avoid: Array) -> tuple[Array, Array]:
        seen = self.kernel @ avoid
        if krylov_pays(self.n, size, is_array=False):
            matrix: Any = Sum(((1.0, Plain(self.kernel)), (-1.0, gram(Plain(seen.T)))))
        else:  # all at once: multiplying the operator out would be a product of order N
            matrix = self_product(seen)
            matrix = np.subtract(self.kernel, matrix, out=matrix).T  # as LAPACK works in place
        found = leading_eigenpairs(matrix, size, scale=self.rounding_scale, overwrite=True)
        coefficients = found.vectors - avoid @ (seen.T @ found.vectors)
        basis = self.extension(avoid, coefficients / np.sqrt(found.values))
        rows = self.kernel @ basis
        unweighted = rows if self.roots is None else rows / self.roots[:, None]
        return basis * peak_signs(unweighted), np.sum(rows**2, axis=0)

    # ---- rows ---------------------------------------------------------------------------------

    def times(self, coefficients: Array) -> Array:
        R, r = coefficients, self._ones[:, None]
        # Rows of the kernel before it was centred: q_i = k_i + (mean_i - square) 1' + mean'.
        fitted = (self.kernel @ (R / r)) / r
        fitted += np.outer(self.mean - self._square, R.sum(axis=0))
        return fitted + self.mean @ R

    def combined(self, c: Array, total: Array | None) -> Array:
        """Return coefficients that kernel rows q(x) multiply."""
        found = self.expressed(c)
        return found if total is None else found + np.outer(self._shares, total)

    def part(self, rest: Any, held_out: Any) -> tuple[LeftKernel, Any]:
        """Return the block of the rows ``rest``, and the kernel of held-out rows against these.

        The kernel of the part is uncentred and centred again by the mean of the part: the offset of
        the rows matters if the intercept is not free.
        """
        weights = None if self.weights is None else self.weights[rest]
        return LeftKernel(self._uncentred(rest, rest), weights), self._uncentred(held_out, rest)

    def _uncentred(self, rows: Any, columns: Any) -> Array:
        """Return ``q_ij = k_ij + mean_i + mean_j - square``, the kernel as it came."""
        kernel = self.kernel[np.ix_(rows, columns)]
        if isinstance(kernel, np.ndarray):
            kernel = np.ascontiguousarray(kernel)
        if self.roots is not None:
            kernel /= self.roots[rows][:, None]
            kernel /= self.roots[columns]
        kernel += (self.mean[rows] - self._square)[:, None]
        kernel += self.mean[columns]
        return kernel


def times_kernel(kernel: Array, C: Any) -> Array:
    """Return the product of a kernel matrix with columns, which may be sparse."""
    return np.asarray(C.T @ kernel).T if scipy.sparse.issparse(C) else kernel @ C
