"""The dual and Krylov regimes: rows at hand, sparse blocks stay sparse."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.linalg.eigen import EigenSolution, Status, leading_eigenpairs
from compactlearn.linalg.moments import (
    Moments,
    scale_rows,
    weighted_sum,
)
from compactlearn.linalg.operators import (
    ColumnScaled,
    Gram,
    Operator,
    Plain,
    Stacked,
    centred,
    weighted,
)
from compactlearn.linalg.pairs import Codes, Pair
from compactlearn.linalg.regimes import GRAM_LIMIT
from compactlearn.linalg.ridge import solve_ridge, solve_ridge_iteratively

Array = NDArray[np.float64]


class RowsPair(Pair):
    """Rows at hand: the dual regime for few of them, products only otherwise."""

    def __init__(
        self, left: Any, right: Any, weights: Array | None = None, *, regime: str = "krylov"
    ) -> None:
        self.regime = regime
        self.left, self.right = left, right
        self.n_left, self.n_right = left.shape[1], right.shape[1]
        self.weights = weights
        self.roots = None if weights is None else np.sqrt(weights)
        self.count = float(left.shape[0]) if weights is None else float(weights.sum())
        self.mean_left = weighted_sum(left, weights) / self.count
        self.mean_right = weighted_sum(right, weights) / self.count
        if not scipy.sparse.issparse(left):
            # A dense block is centred once: the copy costs one pass and saves a correction,
            # and the digits that a large offset would take, in every later product.
            left = left - self.mean_left
            drift = weighted_sum(left, weights) / self.count  # the mean was rounded once
            left -= drift
            self.mean_left = self.mean_left + drift
            if self.roots is not None:
                left *= self.roots[:, None]
            self._dense_Xc = left
            self.Xc: Operator = Plain(left)
        else:
            self.Xc = centred(left, self.mean_left, self.roots)
        self.Y: Operator = weighted(right, self.roots)

    @cached_property
    def left_energy(self) -> float:  # type: ignore[override]
        if not scipy.sparse.issparse(self.left):
            return float(np.vdot(self._dense_Xc, self._dense_Xc))
        squares = _weighted_square_sum(self.left, self.weights)
        return float(squares - self.count * (self.mean_left @ self.mean_left))

    @cached_property
    def right_energy(self) -> float:  # type: ignore[override]
        return _weighted_square_sum(self.right, self.weights)

    @property
    def right_gram_energy(self) -> float:
        Y = scale_rows(self.right, self.roots)
        return float(np.sum((Y.T @ Y).data ** 2))

    @cached_property
    def _left_kernel(self) -> Array:
        """XcXc', formed once in the dual regime and shared by every balance."""
        if not scipy.sparse.issparse(self.left):
            return self._dense_Xc @ self._dense_Xc.T
        kernel = np.asarray((self.left @ self.left.T).todense())
        shift = self.left @ self.mean_left
        kernel -= shift
        kernel -= shift[:, None]
        kernel += self.mean_left @ self.mean_left
        return _row_weighted(kernel, self.roots)

    def leading_codes(self, size: int, balance: float, projection: Array | None = None) -> Codes:
        root = float(np.sqrt(balance))
        XcP = None if projection is None else self.Xc @ projection
        if self.regime == "dual":
            kernel = balance * (self._left_kernel if XcP is None else XcP @ XcP.T)
            kernel += _row_weighted(np.asarray((self.right @ self.right.T).todense()), self.roots)
            solution = self._pairs(kernel, size, overwrite=True)
            return self._from_rows(solution.vectors, solution.status)
        scaled = ColumnScaled(self.Xc if XcP is None else Plain(XcP), root)
        Z = Stacked((scaled, self.Y))
        if Z.shape[0] <= Z.shape[1]:
            solution = self._pairs(Gram(Z.T), size)
            return self._from_rows(solution.vectors, solution.status)
        solution = self._pairs(Gram(Z), size)
        return self._from_columns(solution, root, projection)

    def _pairs(self, matrix: Any, size: int, *, overwrite: bool = False) -> EigenSolution:
        order = self.n_left + self.n_right
        return leading_eigenpairs(matrix, size, rank_size=order, overwrite=overwrite)

    def _from_rows(self, V: Array, status: Status) -> Codes:
        return Codes(
            left=self.Xc.T @ V,
            right=self.Y.T @ V,
            total=V.sum(axis=0) if self.roots is None else self.roots @ V,
            status=status,
            rows=V if self.roots is None else V / self.roots[:, None],
        ).oriented()

    def _from_columns(
        self, solution: EigenSolution, root: float, projection: Array | None
    ) -> Codes:
        w = np.sqrt(solution.values)
        inner = self.n_left if projection is None else projection.shape[1]
        q = solution.vectors
        b = q[inner:] / w
        a = root * q[:inner] / w
        if projection is not None:
            a = projection @ a
        # [root Xc'V; Y'V] = Z'V = q w costs nothing, but where a block hardly takes part in a code
        # its rounding would be magnified.
        share = np.einsum("ij,ij->j", q[:inner], q[:inner])
        if projection is None and share.size and 1e-6 < share.min() <= share.max() < 1 - 1e-6:
            left, right = q[:inner] * (w / root), q[inner:] * w
        else:
            V = self.Xc @ a + self.Y @ b
            left, right = self.Xc.T @ V, self.Y.T @ V
        return Codes(
            left=left,
            right=right,
            total=self.count * (self.mean_right @ b),
            status=solution.status,
            left_weights=a,
            right_weights=b,
        ).oriented()

    def code_rows(self, codes: Codes) -> Array:
        """V itself (N, k), with rows not multiplied by the roots of their weights."""
        if codes.rows is not None:
            return codes.rows
        if codes.left_weights is None or codes.right_weights is None:
            return np.asarray(self.right.todense())
        V = self.Xc @ codes.left_weights
        if self.roots is not None:
            V /= self.roots[:, None]
        return V + self.right @ codes.right_weights

    def right_codes(self) -> Codes:
        Y = scale_rows(self.right, self.roots)
        if scipy.sparse.issparse(self.left):
            cross = (Y.T @ scale_rows(self.left, self.roots)).toarray()
            left = cross.T - np.outer(self.count * self.mean_left, self.mean_right)
        else:
            left = np.asarray(Y.T @ self._dense_Xc).T
        return Codes(left, None, self.count * self.mean_right)

    def projected_gram(self, projection: Array) -> Array:
        XcP = self.Xc @ projection
        return XcP.T @ XcP

    def solve_unprojected(self, codes: Codes, alpha: float) -> tuple[Array, bool]:
        n_rows, n_left = self.Xc.shape
        if n_left <= min(n_rows, GRAM_LIMIT):
            nothing = scipy.sparse.csr_array((n_rows, 0))
            moments = Moments.from_arrays(self.left, nothing, self.weights)
            return solve_ridge(moments.left_left, codes.left, alpha), True
        if n_rows <= GRAM_LIMIT:
            V = self.code_rows(codes)
            V = V - codes.total / self.count
            if self.roots is not None:
                V = V * self.roots[:, None]
            return self.Xc.T @ solve_ridge(self._left_kernel, V, alpha), True
        return solve_ridge_iteratively(self.Xc, codes.left, alpha)

    def left_gram_product(self) -> Any:
        return Gram(self.Xc)


def _weighted_square_sum(matrix: Any, weights: Array | None) -> float:
    """Sum of squares of a CSR matrix's entries, each times the weight of its row."""
    if weights is None:
        return float(matrix.data @ matrix.data)
    per_entry = np.repeat(weights, np.diff(matrix.indptr))
    return float(per_entry @ (matrix.data * matrix.data))


def _row_weighted(kernel: Array, roots: Array | None) -> Array:
    if roots is not None:
        kernel *= roots
        kernel *= roots[:, None]
    return kernel
