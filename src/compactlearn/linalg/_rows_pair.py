"""The regimes in which the left block is rows, too, and sparse blocks stay sparse."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._device_array import DeviceArray
from compactlearn.linalg._arrays import right_beside, zeros_beside
from compactlearn.linalg._codes import Codes
from compactlearn.linalg._dense import EIGEN_LIMIT, qr, self_product
from compactlearn.linalg._eigen import EPS, krylov_pays, leading_eigenpairs, leading_range
from compactlearn.linalg._graded import column_floor
from compactlearn.linalg._moments import Moments
from compactlearn.linalg._operators import Gram, Operator, Plain, Product, centred
from compactlearn.linalg._ridge import SMALL_PENALTY, GramSystem
from compactlearn.linalg._routes import (
    CROSS_LIMIT,
    ENOUGH,
    ENOUGH_OF_PARTS,
    GRAM_LIMIT,
    Shape,
    ridge_by_products,
)
from compactlearn.linalg._row_sums import (
    row_blocks,
    scale_rows,
    sparse_squared_deviations,
    weighted_square_sum,
    weighted_sum,
)
from compactlearn.linalg._rows_ridge import RowsRidge, coordinates
from compactlearn.linalg._rowwise_pair import RowwisePair, row_weighted

Array = NDArray[np.float64]


class RowsPair(RowwisePair):
    """Rows on both sides: the dual regime for few of them, products only otherwise.

    ``floor`` is given where the left block is coordinates of rows that were condensed: they are
    few, and it is what cancellation has left of one that no row has.
    """

    of_right = ("right_energy", "_cross", "_condensations")

    def __init__(
        self,
        left: Any,
        right: Any,
        weights: Array | None = None,
        *,
        regime: str = "krylov",
        given_left: int | None = None,
        floor: Array | None = None,
    ) -> None:
        n_left = left.shape[1]
        super().__init__(right, weights, n_left, n_left if given_left is None else given_left)
        self.regime, self.left, self._floor = regime, left, floor
        self.multiplies = regime in ("krylov", "randomized")
        self.enough = ENOUGH if regime == "randomized" else 1.0
        self.mean_left = weighted_sum(left, weights) / self.count
        if not scipy.sparse.issparse(left):
            self._rounded_mean = self.mean_left
            self._drift = _mean_of_centred(left, self.mean_left, weights, self.count)
            self.mean_left = self.mean_left + self._drift

    @cached_property
    def _condensations(self) -> dict[bool, tuple[Array, RowsPair]]:
        return {}

    @property
    def ridge(self) -> RowsRidge:
        return RowsRidge(self)

    # ---- the left block -----------------------------------------------------------------------

    @cached_property
    def _dense_Xc(self) -> Array:
        """A dense block is centred once: the copy costs one pass and saves a correction, and the
        digits that a large offset would take, in every later product. It is made when it is
        needed: rows that are only there to be divided into parts need none."""
        Xc = self.left - self._rounded_mean
        Xc -= self._drift
        if self.roots is not None:
            Xc *= self.roots[:, None]
        return Xc

    @cached_property
    def Xc(self) -> Operator:  # type: ignore[override]
        """The centred rows, times the roots of their weights."""
        if scipy.sparse.issparse(self.left):
            return centred(self.left, self.mean_left, self.roots)
        return Plain(self._dense_Xc)

    @cached_property
    def left_energy(self) -> float:  # type: ignore[override]
        if not scipy.sparse.issparse(self.left):
            return float(np.vdot(self._dense_Xc, self._dense_Xc))
        squares = weighted_square_sum(self.left, self.weights)
        return float(squares - self.count * (self.mean_left @ self.mean_left))

    @cached_property
    def variances(self) -> Array | None:  # type: ignore[override]
        if not scipy.sparse.issparse(self.left):
            Xc = self._dense_Xc
            if isinstance(Xc, DeviceArray):
                return (Xc * Xc).sum(axis=0)
            return np.einsum("ij,ij->j", Xc, Xc)
        return sparse_squared_deviations(self.left, self.mean_left, self.weights, self.count)

    @property
    def taken(self) -> float:  # type: ignore[override]
        is_sparse = scipy.sparse.issparse(self.left)
        return self.count * float(self.mean_left @ self.mean_left) if is_sparse else 0.0

    @cached_property
    def rounding_scale(self) -> float:  # type: ignore[override]
        return self.left_energy + self.taken if scipy.sparse.issparse(self.left) else 0.0

    @property
    def narrow(self) -> bool:  # type: ignore[override]
        n_rows, n_left = self.shape
        return self._floor is not None or n_left <= min(n_rows, GRAM_LIMIT)

    @cached_property
    def gram_system(self) -> GramSystem:  # type: ignore[override]
        nothing = right_beside(scipy.sparse.csr_array((self.right.shape[0], 0)), self.left)
        gram = Moments.from_arrays(self.left, nothing, self.weights).left_left
        mean, count, floor = self.mean_left, self.count, self._floor
        if floor is None:
            return GramSystem(gram, mean, count, column_floor(mean, count))
        return GramSystem(gram, mean, count, floor, floor)

    @cached_property
    def kernel(self) -> Array:  # type: ignore[override]
        """XcXc', formed once in the dual regime and shared by every balance."""
        if not scipy.sparse.issparse(self.left):
            return self_product(self._dense_Xc)
        kernel = np.asarray((self.left @ self.left.T).todense())
        shift = self.left @ self.mean_left
        kernel -= shift
        kernel -= shift[:, None]
        kernel += self.mean_left @ self.mean_left
        return row_weighted(kernel, self.roots)

    def iterates(self, penalty: float) -> bool:
        if min(self.shape) <= EIGEN_LIMIT:
            return False
        trace = self.left_energy + self.count * float(self.mean_left @ self.mean_left)
        return penalty <= SMALL_PENALTY * trace

    def solves_by_products(self, n_targets: int) -> bool:
        return ridge_by_products(Shape.of(self.left, self.right), n_targets)

    def combined_rows(self, c: Array, share: float) -> Array:
        return self.Xc.T @ c + np.sqrt(share) * np.outer(self.mean_left, self.ones @ c)

    def rows_times(self, coefficients: Array) -> Array:
        return self.left @ coefficients

    def part(self, rest: Any, held: Any) -> tuple[RowsPair, Any]:
        weights = None if self.weights is None else self.weights[rest]
        left, right = self.left[rest], self.right[rest]
        part = RowsPair(left, right, weights, regime=self.regime, given_left=self.given_left)
        if part.regime == "randomized":
            part.enough = ENOUGH_OF_PARTS
        return part, self.left[held]

    def condensed(self, *, centred: bool) -> tuple[Array, RowsPair]:
        if centred not in self._condensations:
            if scipy.sparse.issparse(self.left):
                rows = self.weighted(self.left.toarray() - self.mean_left)
            else:
                rows = self._dense_Xc
            Q, own, floor = coordinates(self, rows, centred=centred)
            pair = RowsPair(own, self.right, self.weights, floor=floor)
            self._condensations[centred] = Q, pair
        return self._condensations[centred]

    # ---- both blocks --------------------------------------------------------------------------

    @property
    def cross_energy(self) -> float:
        if self._cross_fits:
            return float(np.sum(self._cross**2))
        step = max(1, CROSS_LIMIT // self.n_left)
        starts = range(0, self.n_right, step)
        parts = (self.Xc.T @ (self.Y @ np.eye(self.n_right, step, -start)) for start in starts)
        return float(sum(np.vdot(part, part) for part in parts))

    @property
    def _cross_fits(self) -> bool:
        return self.n_left * self.n_right <= CROSS_LIMIT

    @cached_property
    def _cross(self) -> Array:
        """Xc'Y, multiplied out."""
        Y = self.weighted_right
        if not scipy.sparse.issparse(self.left):
            return (Y.T @ self._dense_Xc).T
        cross = (Y.T @ scale_rows(self.left, self.roots)).toarray()
        cross -= np.outer(self.mean_right, self.count * self.mean_left)
        return cross.T

    def cross_range(self, size: int) -> tuple[Array, Array]:
        rounding = 16 * EPS * self.rounding_scale * self.right_energy
        order = min(self.n_left, self.n_right)
        if self._cross_fits and not (order >= 300 and krylov_pays(order, size, is_array=False)):
            basis, squares = leading_range(self._cross, scale=rounding)
            return basis[:, :size], squares[:size]
        solution = leading_eigenpairs(self.cross_gram(), size, scale=rounding)
        images = self.cross_times(solution.vectors / np.sqrt(solution.values))
        return qr(images)[0], solution.values

    def cross_gram(self) -> Operator:
        return Gram(Plain(self._cross) if self._cross_fits else Product(self.Xc.T, self.Y))

    def right_codes(self, *, dense: bool = True) -> Codes:
        forms = dense or self._cross_fits
        left = self._cross if forms else Product(self.Xc.T, self.Y)
        return Codes(left, None, self.count * self.mean_right)


def _mean_of_centred(left: Array, mean: Array, weights: Array | None, count: float) -> Array:
    """What is left of the mean after ``mean``, which was rounded once, has been taken off."""
    total = zeros_beside((left.shape[1],), left)
    for rows in row_blocks(*left.shape):
        block = left[rows] - mean
        total += block.sum(axis=0) if weights is None else weights[rows] @ block
    return total / count
