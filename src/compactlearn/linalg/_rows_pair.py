"""The routes that have rows: dual, Krylov, randomised, and kernel."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.linalg import _routes as routes
from compactlearn.linalg._arrays import to_device_of
from compactlearn.linalg._codes import Codes, code_rows, offset_scale
from compactlearn.linalg._dense import qr
from compactlearn.linalg._eigen import (
    EPS,
    EigenSolution,
    krylov_pays,
    leading_eigenpairs,
    leading_range,
)
from compactlearn.linalg._left_kernel import LeftKernel, times_kernel
from compactlearn.linalg._left_rows import LeftRows, row_weighted
from compactlearn.linalg._operators import (
    ColumnScaled,
    Operator,
    Plain,
    Product,
    Stacked,
    Sum,
    centred,
    gram,
    sandwich,
    weighted,
)
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._row_sums import scale_rows, weighted_square_sum, weighted_sum

Array = NDArray[np.float64]


class RowsPair(Pair):
    """A left block of rows, or their kernel, and a right block of the same rows."""

    left: LeftRows  # type: ignore[override]

    def __init__(
        self, left: LeftRows, right: Any, *, solver: str = "krylov", given_left: int | None = None
    ) -> None:
        self.left, self.right, self.solver = left, right, solver
        self.weights, self.n_right = left.weights, right.shape[1]
        self.given_left = left.n if given_left is None else given_left
        self.multiplies = solver in ("krylov", "randomized")  # no kernel unless nothing else does
        self.enough = routes.ENOUGH if solver == "randomized" else 1.0
        self.mean_right = weighted_sum(right, left.weights) / left.count
        self.Y: Operator = weighted(right, left.roots)
        self.found_of_right: dict[Any, Any] = {}  # by a method, for its other penalties

    @classmethod
    def of_rows(
        cls,
        rows: Any,
        right: Any,
        weights: Array | None = None,
        *,
        solver: str = "krylov",
        given_left: int | None = None,
    ) -> RowsPair:
        """Return the pair of two blocks of rows."""
        return cls(LeftRows(rows, weights), right, solver=solver, given_left=given_left)

    @classmethod
    def of_kernel(
        cls, kernel: Array, right: Any, weights: Array | None = None, *, given_left: int
    ) -> RowsPair:
        """Return the pair of a kernel matrix, which is centred in place, and rows."""
        return cls(LeftKernel(kernel, weights), right, solver="kernel", given_left=given_left)

    def with_right(self, right: Any) -> RowsPair:
        """Return a pair of this left block, with its cached results, and another right block."""
        twin = RowsPair(self.left, right, solver=self.solver, given_left=self.given_left)
        twin.enough = self.enough
        return twin

    def part(self, rest: Any, held_out: Any) -> tuple[RowsPair, Any]:
        """Return the pair of the rows ``rest``, and the left block of held-out rows for it."""
        left, others = self.left.part(rest, held_out)
        part = RowsPair(left, self.right[rest], solver=self.solver, given_left=self.given_left)
        if part.solver == "randomized":
            part.enough = routes.ENOUGH_OF_PARTS
        return part, others

    @property
    def n_rows(self) -> int:
        return self.right.shape[0]

    @property
    def ones(self) -> Array:
        """The constant row-space vector: the roots of the weights."""
        roots = self.left.roots
        return to_device_of(np.ones(self.n_rows), self.right) if roots is None else roots

    def weighted(self, V: Array) -> Array:
        """Return columns in row space, times the roots of the weights."""
        return V if self.left.roots is None else V * self.left.roots[:, None]

    def unweighted(self, V: Array) -> Array:
        """Return columns in row space, divided by the roots of the weights."""
        return V if self.left.roots is None else V / self.left.roots[:, None]

    def projected_rows(self, projection: Array) -> Array:
        """Return XP of the rows as they came."""
        left = self.left
        return self.unweighted(left.Xc @ projection) + left.mean @ left.expressed(projection)

    # ---- the right block ----------------------------------------------------------------------

    @property
    def weighted_right(self) -> Any:
        """Y as a sparse matrix."""
        return scale_rows(self.right, self.left.roots)

    @property
    def centred_right(self) -> Operator:
        """Yc."""
        return centred(self.right, self.mean_right, self.left.roots)

    @cached_property
    def right_energy(self) -> float:  # type: ignore[override]
        return weighted_square_sum(self.right, self.weights)

    @property
    def right_gram_energy(self) -> float:
        Y = self.weighted_right
        products = Y.T @ Y
        return float(np.sum((products.data if scipy.sparse.issparse(products) else products) ** 2))

    def right_gram(self, *, centre: bool) -> Operator:
        return gram(self.centred_right if centre else self.Y)

    # ---- codes --------------------------------------------------------------------------------

    def leading_codes(
        self,
        size: int,
        balance: float,
        projection: Array | None = None,
        seed: int = 0,
    ) -> Codes:
        """Find them as eigenvectors where the kernel of the rows is formed or there are fewer rows
        than columns, and otherwise by right singular vectors of ``[sqrt(balance) XcP, Y]``."""
        root = float(np.sqrt(balance))
        XcP = None if projection is None else self.left.Xc @ projection
        if not self.multiplies and XcP is None:
            found = kernel_eigenpairs(self, size, balance)
            return codes_of_eigenvectors(self, found)
        scaled = ColumnScaled(self.left.Xc if XcP is None else Plain(XcP), root)
        Z = Stacked((scaled, self.Y))
        # An ascent by codes of projected rows goes by its gains, which are small: these are exact.
        share = self.enough if XcP is None else 1.0
        need = {"scale": code_rounding(self, balance), "share": share, "seed": seed}
        if Z.shape[0] <= Z.shape[1]:
            return codes_of_eigenvectors(self, row_eigenpairs(self, gram(Z.T), size, **need))
        solution = row_eigenpairs(self, gram(Z), size, **need)
        codes = _codes_of_columns(self, solution, root, projection)
        if not self.left.by_kernel:
            return codes
        a, b = codes.left_weights, codes.right_weights
        assert a is not None
        assert b is not None
        V = self.left.kernel @ a + self.Y @ b
        return replace(codes, rows=self.unweighted(V), left_weights=None, right_weights=None)

    def code_rows(self, codes: Codes) -> Array:
        """Return V itself (N, k), with rows not multiplied by the roots of their weights."""
        V = code_rows(codes, self.left.rows, self.right, self.mean_left)
        return V.toarray() if scipy.sparse.issparse(V) else V

    def codes_of(self, V: Array) -> Codes:
        """Return codes given row by row, not multiplied by the roots of the weights."""
        weighted_V = self.weighted(V)
        return Codes(
            left=self.left.Xc.T @ weighted_V,
            right=self.Y.T @ weighted_V,
            total=self.ones @ weighted_V,
            rows=V,
        )

    # ---- both blocks --------------------------------------------------------------------------

    @property
    def _cross_fits(self) -> bool:
        return self.n_left * self.n_right <= routes.CROSS_LIMIT

    @cached_property
    def _cross(self) -> Array:
        """Xc'Y, multiplied out."""
        Y, rows = self.weighted_right, self.left.rows
        if not scipy.sparse.issparse(rows):
            return (Y.T @ self.left.centred_copy).T
        cross = (Y.T @ scale_rows(rows, self.left.roots)).toarray()
        cross -= np.outer(self.mean_right, self.count * self.mean_left)
        return cross.T

    def cross_times(self, weights: Array) -> Array:
        return self.left.Xc.T @ (self.Y @ weights)

    @property
    def cross_energy(self) -> float:
        if self.left.by_kernel:
            Y = self.weighted_right
            images = times_kernel(self.left.kernel, Y)
            return float((Y.multiply(images) if scipy.sparse.issparse(Y) else Y * images).sum())
        if self._cross_fits:
            return float(np.sum(self._cross**2))
        step = max(1, routes.CROSS_LIMIT // self.n_left)
        starts = range(0, self.n_right, step)
        parts = (self.cross_times(np.eye(self.n_right, step, -start)) for start in starts)
        return float(sum(np.vdot(part, part) for part in parts))

    def cross_range(self, size: int) -> tuple[Array, Array]:
        left, rounding = self.left, 16 * EPS * self.left.rounding_scale * self.right_energy
        order = min(self.n_left, self.n_right)
        if left.by_kernel:
            basis, squares = left.leading_range(self.weighted_right)
        elif self._cross_fits and not (order >= 300 and krylov_pays(order, size, is_array=False)):
            basis, squares = leading_range(self._cross, scale=rounding)
        else:
            found = leading_eigenpairs(self.cross_gram(), size, scale=rounding)
            images = self.cross_times(found.vectors / np.sqrt(found.values))
            return qr(images)[0], found.values
        return basis[:, :size], squares[:size]

    def cross_gram(self) -> Operator:
        if self.left.by_kernel:
            return sandwich(self.Y, Plain(self.left.kernel))
        return gram(Plain(self._cross) if self._cross_fits else Product(self.left.Xc.T, self.Y))

    def right_codes(self, *, dense: bool = True) -> Codes:
        left: Any = self.weighted_right
        if not self.left.by_kernel:
            forms = dense or self._cross_fits
            left = self._cross if forms else Product(self.left.Xc.T, self.Y)
        return Codes(left, None, self.count * self.mean_right)


def kernel_eigenpairs(pair: RowsPair, size: int, balance: float) -> EigenSolution:
    """Return leading eigenpairs of ``balance XcXc' + YY'`` from the kernel of order N."""
    offset, kernel = code_rounding(pair, balance), pair.left.kernel
    if krylov_pays(pair.n_rows, size, is_array=True):
        matrix = Sum(((balance, Plain(kernel)), (1.0, gram(pair.Y.T))))
        return row_eigenpairs(pair, matrix, size, scale=offset)
    kernel = balance * kernel
    products = pair.right @ pair.right.T
    if scipy.sparse.issparse(products):
        products = np.asarray(products.todense())
    kernel += row_weighted(products, pair.left.roots)
    return row_eigenpairs(pair, kernel, size, scale=offset, overwrite=True)


def row_eigenpairs(pair: RowsPair, matrix: Any, size: int, **how: Any) -> EigenSolution:
    """Return leading eigenpairs of a matrix whose rank is that of both blocks at most."""
    return leading_eigenpairs(matrix, size, rank_size=pair.n_left + pair.n_right, **how)


def codes_of_eigenvectors(pair: RowsPair, solution: EigenSolution) -> Codes:
    """Return eigenvectors in row space as codes."""
    V, roots = solution.vectors, pair.left.roots
    return Codes(
        left=pair.left.Xc.T @ V,
        right=pair.Y.T @ V,
        total=V.sum(axis=0) if roots is None else roots @ V,
        status=solution.status,
        rows=pair.unweighted(V),
        values=solution.values,
        share=solution.share,
    ).oriented()


def _codes_of_columns(
    pair: RowsPair, solution: EigenSolution, root: float, projection: Array | None
) -> Codes:
    w = np.sqrt(solution.values)
    inner = pair.n_left if projection is None else projection.shape[1]
    q = solution.vectors
    b = q[inner:] / w
    a = root * q[:inner] / w
    if projection is not None:
        a = projection @ a
    # [root Xc'V; Y'V] = Z'V = Z'Z q / w costs nothing, but where a block hardly takes part in a
    # code its rounding would be magnified.
    share = np.sum(q[:inner] * q[:inner], axis=0)
    balanced = share.size and 1e-6 < share.min() <= share.max() < 1 - 1e-6
    if projection is None and balanced and not pair.left.graded:
        images = q * w if solution.images is None else solution.images / w
        left, right = images[:inner] / root, images[inner:]
    else:
        V = pair.left.Xc @ a + pair.Y @ b
        left, right = pair.left.Xc.T @ V, pair.Y.T @ V
    return Codes(
        left=left,
        right=right,
        total=pair.count * (pair.mean_right @ b),
        status=solution.status,
        left_weights=a,
        right_weights=b,
        values=solution.values,
        share=solution.share,
    ).oriented()


def code_rounding(pair: RowsPair, balance: float) -> float:
    """Return the scale of the rounding of codes where rows are multiplied before centring."""
    return offset_scale(balance * pair.left.mean_energy, pair.n_left + pair.n_right)
