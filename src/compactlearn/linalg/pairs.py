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
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core import memory
from compactlearn.linalg.eigen import EigenSolution, Status, leading_eigenpairs
from compactlearn.linalg.moments import (
    Moments,
    row_blocks,
    scale_rows,
    sparse_squared_deviations,
)
from compactlearn.linalg.operators import (
    ColumnScaled,
    Deflated,
    Gram,
    Operator,
    Plain,
    Stacked,
    centred,
    weighted,
)
from compactlearn.linalg.regimes import GRAM_LIMIT, Demand, Shape, choose, needed_bytes
from compactlearn.linalg.ridge import solve_ridge, solve_ridge_iteratively

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


class MomentsPair(Pair):
    """Everything from first and second moments."""

    regime = "moments"

    def __init__(self, moments: Moments) -> None:
        self.moments = moments
        self.count = moments.count
        self.n_left, self.n_right = moments.n_left, moments.n_right
        self.mean_left, self.mean_right = moments.mean_left, moments.mean_right

    @cached_property
    def _right_right(self) -> Array:
        return self.moments.right_right

    @cached_property
    def left_energy(self) -> float:  # type: ignore[override]
        return float(np.trace(self.moments.left_left))

    @cached_property
    def right_energy(self) -> float:  # type: ignore[override]
        return float(np.trace(self._right_right))

    @property
    def right_gram_energy(self) -> float:
        return float(np.sum(self._right_right**2))

    def leading_codes(self, size: int, balance: float, projection: Array | None = None) -> Codes:
        Sxx, Sxy, Syy = self.moments.left_left, self.moments.left_right, self._right_right
        P, root = projection, float(np.sqrt(balance))
        inner = self.n_left if P is None else P.shape[1]
        G = np.empty((inner + self.n_right, inner + self.n_right))
        G[:inner, :inner] = Sxx if P is None else P.T @ (Sxx @ P)
        G[:inner, :inner] *= balance
        G[:inner, inner:] = Sxy if P is None else P.T @ Sxy
        G[:inner, inner:] *= root
        G[inner:, :inner] = G[:inner, inner:].T
        G[inner:, inner:] = Syy
        # Transposed, a C-ordered symmetric matrix is the Fortran-ordered one LAPACK works in.
        solution = leading_eigenpairs(
            G.T, size, rank_size=self.n_left + self.n_right, overwrite=True
        )
        del G
        q = solution.vectors / np.sqrt(solution.values)
        a = root * q[:inner]
        if P is not None:
            a = P @ a
        b = q[inner:]
        return Codes(
            left=Sxx @ a + Sxy @ b,
            right=Sxy.T @ a + Syy @ b,
            total=self.count * (self.mean_right @ b),
            status=solution.status,
            left_weights=a,
            right_weights=b,
        ).oriented()

    def right_codes(self) -> Codes:
        return Codes(self.moments.left_right, None, self.count * self.mean_right)

    def projected_gram(self, projection: Array) -> Array:
        return projection.T @ (self.moments.left_left @ projection)

    def solve_unprojected(self, codes: Codes, alpha: float) -> tuple[Array, bool]:
        return solve_ridge(self.moments.left_left, codes.left, alpha), True

    def left_gram_product(self) -> Any:
        return self.moments.left_left


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
        self.mean_left = _weighted_sum(left, weights) / self.count
        self.mean_right = _weighted_sum(right, weights) / self.count
        if not scipy.sparse.issparse(left):
            # A dense block is centred once: the copy costs one pass and saves a correction,
            # and the digits that a large offset would take, in every later product.
            left = left - self.mean_left
            drift = _weighted_sum(left, weights) / self.count  # the mean was rounded once
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


def _weighted_sum(matrix: Any, weights: Array | None) -> Array:
    if scipy.sparse.issparse(matrix):
        sums = matrix.sum(axis=0) if weights is None else matrix.T @ weights
        return np.asarray(sums, dtype=np.float64).ravel()
    total = np.zeros(matrix.shape[1])
    for rows in row_blocks(*matrix.shape):
        block = matrix[rows]
        total += (
            block.sum(axis=0, dtype=np.float64)
            if weights is None
            else weights[rows] @ block.astype(np.float64, copy=False)
        )
    return total


def column_moments(matrix: Any, weights: Array | None = None) -> tuple[Array, Array, float]:
    """Weighted mean and variance of every column, without densifying, and the total weight."""
    count = float(matrix.shape[0] if weights is None else weights.sum())
    mean = _weighted_sum(matrix, weights) / count
    if scipy.sparse.issparse(matrix):
        return mean, sparse_squared_deviations(matrix, mean, weights, count) / count, count
    total = np.zeros(matrix.shape[1])
    for rows in row_blocks(*matrix.shape):
        squares = (matrix[rows] - mean) ** 2
        total += squares.sum(axis=0) if weights is None else weights[rows] @ squares
    return mean, total / count, count


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


def build_pair(
    left: Any,
    right: Any,
    weights: Array | None = None,
    *,
    demand: Demand,
    regime: str = "auto",
) -> Pair:
    """Hold two checked blocks in the regime asked for, or in the one that suits their shape.

    Refuses, before anything is allocated, what would not fit in the memory.
    """
    shape = Shape.of(left, right)
    free = memory.available_bytes()
    if regime == "auto":
        regime = choose(shape, demand, free)
    needs = needed_bytes(shape, demand)
    leanest = min(needs, key=needs.__getitem__)
    memory.require_memory(
        needs[regime],
        what=f"Fitting {shape.n_rows} rows, {shape.n_left} features and {shape.n_right} labels "
        f"in the {regime} regime with {demand.n_codes} label components",
        remedy=(
            f"Use solver={leanest!r}, which needs about "
            f"{memory.human_bytes(needs[leanest])}, or fewer components."
            if needs[leanest] < needs[regime]
            else "Use fewer components or fewer rows, or keep the features sparse."
        ),
        free=free,
    )
    pair: Pair
    with np.errstate(over="ignore", invalid="ignore"):
        if regime == "moments":
            pair = MomentsPair(Moments.from_arrays(left, right, weights))
        else:
            pair = RowsPair(left, right, weights, regime=regime)
        energy = pair.left_energy
    if not np.isfinite(energy):
        raise ValueError(
            "The sum of squares of the features must be a finite number, and overflows; divide "
            "the features by a common factor, for example by np.abs(X).max()."
        )
    return pair


def require_room_for_moments(n_left: int, n_right: int) -> None:
    """Refuse a fit from moments whose matrices of order D + M would not fit in the memory."""
    memory.require_memory(
        8 * 4 * (n_left + n_right) ** 2,
        what=f"Fitting {n_left} features and {n_right} labels from moments",
        remedy="Use fit with solver='krylov', which forms no matrix of that order.",
    )
