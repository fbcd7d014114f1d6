"""A left block whose rows are at hand; sparse rows stay sparse."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core import _memory as memory
from compactlearn.core._device_array import DeviceArray
from compactlearn.linalg import _routes as routes
from compactlearn.linalg._arrays import right_on_device_of, zeros_on_device_of
from compactlearn.linalg._dense import LU_UP_TO, self_product
from compactlearn.linalg._graded import column_floor
from compactlearn.linalg._left import LeftBlock
from compactlearn.linalg._moments import Moments
from compactlearn.linalg._operators import Operator, Plain, centred, gram
from compactlearn.linalg._ridge import SMALL_PENALTY, GramSystem, RidgePath
from compactlearn.linalg._row_sums import (
    row_blocks,
    sparse_squared_deviations,
    weighted_square_sum,
    weighted_sum,
)

Array = NDArray[np.float64]


class LeftRows(LeftBlock):
    """Rows of features, each with a weight."""

    by_kernel = False  # whether the rows are known by their kernel alone

    def __init__(self, rows: Any, weights: Array | None = None) -> None:
        self.rows, self.weights, self.shape = rows, weights, rows.shape
        self.roots = None if weights is None else np.sqrt(weights)
        self.count = float(rows.shape[0]) if weights is None else float(weights.sum())
        self.mean, self.n = weighted_sum(rows, weights) / self.count, rows.shape[1]
        self._is_sparse = scipy.sparse.issparse(rows)
        if not self._is_sparse:
            self._rounded_mean = self.mean
            self._drift = _mean_of_centred(rows, self.mean, weights, self.count)
            self.mean = self.mean + self._drift

    @cached_property
    def centred_copy(self) -> Array:
        """A dense block is centred once: the copy costs one pass and saves a correction, and the
        digits that a large offset would take, in every later product. It is made when it is
        needed: rows that are only there to be divided into parts need none."""
        Xc = self.rows - self._rounded_mean
        Xc -= self._drift
        if self.roots is not None:
            Xc *= self.roots[:, None]
        return Xc

    @cached_property
    def Xc(self) -> Operator:
        """The centred rows, times the roots of their weights."""
        if self._is_sparse:
            return centred(self.rows, self.mean, self.roots)
        return Plain(self.centred_copy)

    @cached_property
    def kernel(self) -> Array:
        """``XcXc'``, formed once and shared by every balance."""
        if not self._is_sparse:
            return self_product(self.centred_copy)
        kernel = np.asarray((self.rows @ self.rows.T).todense())
        shift = self.rows @ self.mean
        kernel -= shift
        kernel -= shift[:, None]
        kernel += self.mean @ self.mean
        return row_weighted(kernel, self.roots)

    # ---- sizes --------------------------------------------------------------------------------

    @cached_property
    def energy(self) -> float:
        if not self._is_sparse:
            return float(np.vdot(self.centred_copy, self.centred_copy))
        squares = weighted_square_sum(self.rows, self.weights)
        return float(squares - self.count * (self.mean @ self.mean))

    @cached_property
    def variances(self) -> Array | None:  # type: ignore[override]
        if self._is_sparse:
            return sparse_squared_deviations(self.rows, self.mean, self.weights, self.count)
        Xc = self.centred_copy
        if isinstance(Xc, DeviceArray):
            return (Xc * Xc).sum(axis=0)
        return np.einsum("ij,ij->j", Xc, Xc)

    @property
    def mean_energy(self) -> float:
        """The sum of squares that centring subtracts after products of sparse rows; else 0."""
        return self.count * float(self.mean @ self.mean) if self._is_sparse else 0.0

    @cached_property
    def rounding_scale(self) -> float:  # type: ignore[override]
        return self.energy + self.mean_energy if self._is_sparse else 0.0

    @property
    def narrow(self) -> bool:
        """True where the Gram matrix of the columns is the smaller one, and fits."""
        return self.n <= min(self.shape[0], routes.GRAM_LIMIT)

    def takes_gram(self, penalty: float = 0.0) -> bool:
        """Return whether a ridge goes by the Gram matrix: if the block is narrow, or if a kernel
        would lose columns in small units that the penalty does not outweigh."""
        if self.narrow:
            return True
        return self.n <= LU_UP_TO and penalty <= SMALL_PENALTY * self.energy and self.graded

    # ---- products -----------------------------------------------------------------------------

    @property
    def gram(self) -> Operator:  # type: ignore[override]
        return gram(self.Xc)

    def projected_gram(self, projection: Array) -> Array:
        return self_product((self.Xc @ projection).T)

    @cached_property
    def gram_system(self) -> GramSystem:
        """``Xc'Xc`` as an array, with what a ridge needs besides."""
        nothing = right_on_device_of(scipy.sparse.csr_array((self.shape[0], 0)), self.rows)
        matrix = Moments.from_arrays(self.rows, nothing, self.weights).left_left
        floor = column_floor(self.mean, self.count)
        return GramSystem(matrix, self.mean, self.count, floor)

    @cached_property
    def spectrum(self) -> RidgePath:
        """The spectrum of the kernel, shared by every balance, hat matrix and penalty."""
        n_rows = self.shape[0]
        memory.require_memory(
            8 * 3 * n_rows**2,
            what=f"A path of penalties for {n_rows} rows and {self.n} features kept",
            remedy="Project the features, or fit one penalty at a time.",
        )
        return RidgePath.from_gram(self.kernel, self.rounding_scale)

    @cached_property
    def mean_products(self) -> tuple[Array, float]:
        """``Xc mean`` and ``mean'mean``, for kernels of rows that are not wholly centred."""
        return (self.Xc @ self.mean[:, None])[:, 0], float(self.mean @ self.mean)

    def times(self, coefficients: Array) -> Array:
        """Return the rows as they came, times what new rows are multiplied by."""
        return self.rows @ coefficients

    def combined(self, c: Array, total: Array | None) -> Array:
        """Return ``Xc'c``, or ``X'c`` for ``total = 1'c``, as what rows that come multiply."""
        found = self.Xc.T @ c
        return found if total is None else found + np.outer(self.mean, total)

    def part(self, rest: Any, held_out: Any) -> tuple[LeftRows, Any]:
        """Return the block of the rows ``rest``, and the held-out rows."""
        weights = None if self.weights is None else self.weights[rest]
        return LeftRows(self.rows[rest], weights), self.rows[held_out]


def row_weighted(kernel: Array, roots: Array | None) -> Array:
    """Weight a kernel matrix in place."""
    if roots is not None:
        kernel *= roots
        kernel *= roots[:, None]
    return kernel


def _mean_of_centred(rows: Array, mean: Array, weights: Array | None, count: float) -> Array:
    """Return the rounding error of the stored mean."""
    total = zeros_on_device_of((rows.shape[1],), rows)
    for some in row_blocks(*rows.shape):
        block = rows[some] - mean
        total += block.sum(axis=0) if weights is None else weights[some] @ block
    return total / count
