"""The kernel regime: the left block is known only by its kernel matrix.

The dual regime never sees more of the features than XcXc'. Put the centred kernel matrix
K = HQH in its place and every method has its kernel version, without a factorisation of Q.
Directions in feature space are combinations Xc'c of the centred rows, and are held by their
coefficients c (N,): then Xc'V is V itself, Xc times a direction is Kc, and the inner product of
two directions is c'Kc'.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.linalg._arrays import beside, zeros_beside
from compactlearn.linalg._codes import Codes, peak_signs
from compactlearn.linalg._dense import cholesky, self_product, solve
from compactlearn.linalg._eigen import (
    EPS,
    all_eigenpairs,
    krylov_pays,
    leading_eigenpairs,
    numerical_rank,
)
from compactlearn.linalg._operators import Gram, Operator, Plain, Sandwich, Sum
from compactlearn.linalg._rows_ridge import RowsRidge
from compactlearn.linalg._rowwise_pair import RowwisePair, row_weighted

Array = NDArray[np.float64]


# Entries of a kernel matrix are off by this many units in the last place: distances come from
# differences of inner products, and exponentials magnify them (rows of 15 samples: some 200).
KERNEL_ROUNDING = 64.0


class KernelRows(Operator):
    """Xc for directions held by their coefficients: ``Xc (Xc'c) = Kc`` and ``Xc'V`` is V.

    Less its constant part, to be exact: Xc' makes that zero, K only nearly, and a direction that
    is short beside its coefficients would be magnified with the difference.
    """

    def __init__(self, kernel: Array, ones: Array) -> None:
        self.kernel = kernel
        self.shape = kernel.shape
        self.constant = ones / np.linalg.norm(ones)

    def _multiply(self, block: Array) -> Array:
        return self.kernel @ block

    def _multiply_transposed(self, block: Array) -> Array:
        return block - np.outer(self.constant, self.constant @ block)


class KernelPair(RowwisePair):
    """A kernel matrix on the left, rows on the right. The kernel matrix is centred in place."""

    regime = "kernel"
    left = None

    def __init__(
        self, kernel: Array, right: Any, weights: Array | None = None, *, given_left: int
    ) -> None:
        super().__init__(right, weights, kernel.shape[0], given_left)
        share = (np.ones(self.n_left) if weights is None else weights) / self.count
        share = beside(share, kernel)
        self._shares = share  # the mean of the rows in feature space, by its coefficients
        self.mean_left = kernel @ share  # the mean kernel row: what q(x) averages to
        self._square = float(self.mean_left @ share)
        # What rounding is judged against: entries before the mean is taken off them.
        energy = self.count * (np.diag(kernel) @ share)
        self._raw_energy = max(float(energy), 0.0)
        kernel -= self.mean_left
        kernel -= (self.mean_left - self._square)[:, None]
        self.kernel = row_weighted(kernel, self.roots)
        self.Xc = KernelRows(kernel, self.ones)

    @property
    def ridge(self) -> RowsRidge:
        return RowsRidge(self)

    @property
    def mean_products(self) -> tuple[Array, float]:  # type: ignore[override]
        return self.ones * (self.mean_left - self._square), self._square

    @property
    def left_energy(self) -> float:  # type: ignore[override]
        return float(np.trace(self.kernel))

    @property
    def rounding_scale(self) -> float:  # type: ignore[override]
        return KERNEL_ROUNDING * self._raw_energy

    @property
    def has_variance(self) -> bool:
        return self.left_energy > self.n_left * EPS * self.rounding_scale

    @property
    def cross_energy(self) -> float:
        Y = self.weighted_right
        images = self._times_kernel(Y)
        return float((Y.multiply(images) if scipy.sparse.issparse(Y) else Y * images).sum())

    # ---- the space of the left block ----------------------------------------------------------

    def _times_kernel(self, C: Any) -> Array:
        return np.asarray(C.T @ self.kernel).T if scipy.sparse.issparse(C) else self.kernel @ C

    def inner(self, P: Array, C: Any) -> Array:
        return (self.kernel @ P).T @ C

    def leading_range(self, C: Any) -> tuple[Array, Array]:
        gram = C.T @ self._times_kernel(C)
        squares, U = all_eigenpairs((gram + gram.T) / 2, overwrite=True)
        rank = self._rank(squares, C)
        P = self.Xc.T @ (C @ (U[:, :rank] / np.sqrt(squares[:rank])))
        return self._normalised(P), squares[:rank]  # a short direction was magnified

    def _rank(self, squares: Array, C: Any) -> int:
        """How many of the squared lengths are more than what the kernel's rounding makes of C."""
        entries = C.multiply(C) if scipy.sparse.issparse(C) else C * C
        largest = float(np.max(entries.sum(axis=0), initial=0.0))
        return numerical_rank(squares, self.n_left, scale=largest * self.rounding_scale)

    def _normalised(self, C: Array) -> Array:
        """One pass of orthonormalisation, in the order of columns that are independent."""
        gram = self.inner(C, C)
        gram = (gram + gram.T) / 2
        squares, U = all_eigenpairs(gram)
        rank = self._rank(squares, C)
        if rank < C.shape[1]:
            return C @ (U[:, :rank] / np.sqrt(squares[:rank]))
        return solve(cholesky(gram), C.T).T

    def orthonormal(self, C: Array) -> Array:
        return self.extension(zeros_beside((self.n_left, 0), self.kernel), C)

    def extension(self, basis: Array, C: Array) -> Array:
        for _ in range(2 if C.shape[1] else 0):  # once leaves rounding, twice does not
            C = C - basis @ self.inner(basis, C)
            C = self._normalised(C)
        return C

    def some_direction(self) -> Array:
        return zeros_beside(
            (self.n_left, 1), self.kernel
        )  # any other would show the kernel's rounding

    def expressed(self, P: Array) -> Array:
        """``q(x)'R`` is the product of a row's feature vector with the direction."""
        weighted = self.weighted(P)
        return weighted - np.outer(self._shares, weighted.sum(axis=0))

    def principal_directions(
        self, size: int, avoid: Array, *, fill: bool = True
    ) -> tuple[Array, Array]:
        """As in :class:`Pair`; beyond the rank of the kernel there are no directions."""
        seen = self.kernel @ avoid
        if krylov_pays(self.kernel.shape[0], size, is_array=False):
            matrix = Sum(((1.0, Plain(self.kernel)), (-1.0, Gram(Plain(seen.T)))))
        else:  # all at once: multiplying the operator out would be a product of order N
            matrix = self_product(seen)
            matrix = np.subtract(self.kernel, matrix, out=matrix).T  # as LAPACK works in place
        found = leading_eigenpairs(matrix, size, scale=self.rounding_scale, overwrite=True)
        coefficients = found.vectors - avoid @ (seen.T @ found.vectors)
        basis = self.extension(avoid, coefficients / np.sqrt(found.values))
        rows = self.kernel @ basis
        signs = peak_signs(self.unweighted(rows))
        return basis * signs, np.sum(rows**2, axis=0)

    # ---- codes -------------------------------------------------------------------------------

    def leading_codes(
        self,
        size: int,
        balance: float,
        projection: Array | None = None,
        seed: int = 0,
    ) -> Codes:
        codes = super().leading_codes(size, balance, projection, seed)
        if codes.rows is not None:
            return codes
        assert codes.left_weights is not None
        assert codes.right_weights is not None
        V = self.kernel @ codes.left_weights + self.Y @ codes.right_weights
        return replace(codes, rows=self.unweighted(V), left_weights=None, right_weights=None)

    # ---- what differs where Xc'Y is meant -----------------------------------------------------

    def cross_range(self, size: int) -> tuple[Array, Array]:
        basis, squares = self.leading_range(self.weighted_right)
        return basis[:, :size], squares[:size]

    def cross_gram(self) -> Operator:
        return Sandwich(self.Y, Plain(self.kernel))

    def right_codes(self, *, dense: bool = True) -> Codes:
        return Codes(self.weighted_right, None, self.count * self.mean_right)

    def rows_times(self, coefficients: Array) -> Array:
        R = coefficients
        r = self.ones[:, None]
        # Rows of the kernel before it was centred: q_i = k_i + (mean_i - square) 1' + mean'.
        fitted = (self.kernel @ (R / r)) / r
        fitted += np.outer(self.mean_left - self._square, R.sum(axis=0))
        return fitted + self.mean_left @ R

    def part(self, rest: Any, held: Any) -> tuple[KernelPair, Any]:
        """The kernel before it was centred, of a part of the rows, which is centred again; other
        rows are known by their values against these.

        Where the rows lie counts as soon as the intercept is not free.
        """
        weights = None if self.weights is None else self.weights[rest]
        own = self._uncentred(rest, rest)
        part = KernelPair(own, self.right[rest], weights, given_left=self.given_left)
        return part, self._uncentred(held, rest)

    def _uncentred(self, rows: Any, columns: Any) -> Array:
        """``q_ij = k_ij + mean_i + mean_j - square``, the kernel as it came."""
        kernel = self.kernel[np.ix_(rows, columns)]
        if isinstance(kernel, np.ndarray):
            kernel = np.ascontiguousarray(kernel)
        if self.roots is not None:
            kernel /= self.roots[rows][:, None]
            kernel /= self.roots[columns]
        kernel += (self.mean_left[rows] - self._square)[:, None]
        kernel += self.mean_left[columns]
        return kernel

    def combined_rows(self, c: Array, share: float) -> Array:
        """Coefficients that kernel rows q(x) multiply."""
        return self.expressed(c) + np.sqrt(share) * np.outer(self._shares, self.ones @ c)
