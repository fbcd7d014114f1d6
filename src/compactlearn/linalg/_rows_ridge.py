"""Ridge regressions where rows are at hand: from a Gram matrix, from a kernel, or by products.

What a block is asked goes to the smaller of ``Xc'Xc`` and ``XcXc'``, and where neither fits, or
would have to be decomposed at an order at which that is refused, to conjugate gradients.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.core._devices import is_array
from compactlearn.linalg import _routes as routes
from compactlearn.linalg._codes import Codes
from compactlearn.linalg._dense import EIGEN_LIMIT, self_product, symmetrise
from compactlearn.linalg._eigen import krylov_pays
from compactlearn.linalg._gradients import iterative_rank, solve_ridge_iteratively
from compactlearn.linalg._operators import Operator, Plain, Sum, Updated, gram, sandwich
from compactlearn.linalg._ridge import (
    SMALL_PENALTY,
    LearnedPath,
    RidgePath,
    ridge_inverse,
    solve_ridge,
)
from compactlearn.linalg._routes import Shape, ridge_by_products
from compactlearn.linalg._rows_pair import RowsPair, codes_of_eigenvectors, row_eigenpairs

Array = NDArray[np.float64]

# Up to this order leverages are taken from all eigenvalues of the smaller Gram matrix: some ten
# seconds. Beyond, models of some folds predict the others in less time.
LEVERAGE_LIMIT = 5_000

# Predictions for the training rows by conjugate gradients where a factorisation would be slower:
# the error relative to their length.
PRODUCT_TOLERANCE = 1e-6

# Up to this order a hat matrix comes from eigenvectors, which are exact to rounding; beyond, from
# an inverse, four times faster, whose rounding grows with the condition.
SPECTRAL_HAT = 1_000


@dataclass(frozen=True)
class HatMatrix:
    """A hat matrix of order N: an array, or something that multiplies."""

    pair: RowsPair
    matrix: Any
    trace: float

    @property
    def operator(self) -> Operator:
        return Plain(self.matrix) if is_array(self.matrix) else self.matrix

    def codes(self, size: int, balance: float) -> Codes:
        """Return the leading eigenvectors of ``balance Hat + YY'``."""
        pair, matrix, Y = self.pair, self.matrix, self.pair.Y
        if is_array(matrix) and not krylov_pays(len(matrix), size, is_array=True):
            A = balance * matrix
            A += Y @ (Y.T @ np.eye(A.shape[0]))
            A = (A + A.T) / 2
            solution = row_eigenpairs(pair, A, size, overwrite=True)
        else:
            both = Sum(((balance, self.operator), (1.0, gram(Y.T))))
            solution = row_eigenpairs(pair, both, size)
        return codes_of_eigenvectors(pair, solution)

    def energies(self, codes: Codes) -> Array:
        """Return ``v' Hat v`` of every code."""
        V = self.pair.weighted(self.pair.code_rows(codes))
        return np.sum(V * (self.matrix @ V), axis=0)


@dataclass(frozen=True)
class IterativeInverse(Operator):
    """``(Z'Z + alpha I)^-1`` by conjugate gradients, where no Gram matrix fits."""

    rows: Operator
    alpha: float
    variances: Array | None = None

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return self.rows.shape[1], self.rows.shape[1]

    def _multiply(self, block: Array) -> Array:
        return solve_ridge_iteratively(self.rows, block, self.alpha, variances=self.variances)[0]

    _multiply_transposed = _multiply


@dataclass(frozen=True)
class RowsRidge:
    """Ridge regressions on all of the left block of a pair with rows."""

    pair: RowsPair

    # ---- coefficients -------------------------------------------------------------------------

    def solve(self, codes: Codes, alpha: float, bias: str) -> tuple[Array, bool]:
        """Return coefficients of V on the rows as they came, without the intercept, and whether
        the solver got there."""
        pair, left = self.pair, self.pair.left
        by_products = self._solves_by_products(codes.size)
        iterates = self._iterates(alpha)
        if not by_products and not iterates:
            if left.takes_gram(alpha):
                return left.gram_system.solve(codes.left, alpha, bias, codes.total), True
            # A kernel has lost columns in small units; products with scaled columns have not.
            graded = 0 < alpha <= SMALL_PENALTY * left.energy and left.graded
            if left.by_kernel or (pair.n_rows <= routes.GRAM_LIMIT and not graded):
                c = self._dual_coefficients(codes, alpha, bias)
                return left.combined(c, None if bias == "free" else pair.ones @ c), True
        rows, cross, squares = left.Xc, codes.left, left.variances
        if bias == "none":
            rows = Updated(rows, pair.ones, left.mean)
            cross = cross + np.outer(left.mean, codes.total)
            squares = None if squares is None else squares + pair.count * left.mean**2
        quick = by_products and not iterates
        enough, rank = (PRODUCT_TOLERANCE, iterative_rank(codes.size)) if quick else (0.0, 0)
        return solve_ridge_iteratively(
            rows, cross, alpha, variances=squares, enough=enough, rank=rank
        )

    def directions(self, codes: Codes, alpha: float) -> tuple[Array, bool]:
        """Return ``(Xc'Xc + alpha I)^-1 Xc'V`` as directions, and whether the solver got there."""
        if self.pair.left.by_kernel:
            return self.pair.left.Xc.T @ self._dual_coefficients(codes, alpha, "free"), True
        return self.solve(codes, alpha, "free")

    def _iterates(self, penalty: float) -> bool:
        """Return whether a penalty asks for eigenvalues (see :func:`solve_ridge`) of an order at
        which they are refused: conjugate gradients then take the factorisation's place."""
        left = self.pair.left
        if left.by_kernel or min(left.shape) <= EIGEN_LIMIT:
            return False
        trace = left.energy + left.count * float(left.mean @ left.mean)
        return penalty <= SMALL_PENALTY * trace

    def _solves_by_products(self, n_targets: int) -> bool:
        """Return whether conjugate gradients take the place of a factorisation that would be
        possible, because they are faster or because it is not proven at that order."""
        left = self.pair.left
        if left.by_kernel:
            return False
        return ridge_by_products(Shape.of(left.rows, self.pair.right), n_targets)

    def _dual_coefficients(self, codes: Codes, alpha: float, bias: str) -> Array:
        """Return c with ``B = Z'c`` for the rows Z, centred if the intercept is free."""
        pair, free = self.pair, bias == "free"
        V = self._centred_codes(codes)
        if not free:
            V = V + np.outer(pair.ones, codes.total / pair.count)
        return solve_ridge(self._kernel(centred=free), V, alpha, pair.left.rounding_scale)

    def _centred_codes(self, codes: Codes) -> Array:
        """Return the rows of V, weighted, less their mean."""
        return self.pair.weighted(self.pair.code_rows(codes) - codes.total / self.pair.count)

    def _kernel(self, *, centred: bool) -> Array:
        """Return ``ZZ'`` of the rows, centred or as they are; these in a new array."""
        kernel = self.pair.left.kernel
        if centred:
            return kernel
        (z, square), ones = self.pair.left.mean_products, self.pair.ones
        kernel = kernel + np.outer(z, ones)
        kernel += np.outer(ones, z)
        kernel += np.outer(square * ones, ones)
        return kernel

    def path(self, codes: Codes) -> LearnedPath:
        """Return the ridge with a free intercept for every penalty."""
        left = self.pair.left
        if left.takes_gram():
            return left.gram_system.learned(codes.left)
        path = left.spectrum
        inside = path.vectors.T @ self._centred_codes(codes)
        outside = left.expressed(left.Xc.T @ path.vectors)
        return LearnedPath(path, outside, inside, left.mean)

    # ---- hat matrices -------------------------------------------------------------------------

    def hat(self, ridge: float, *, constant: bool = True) -> HatMatrix:
        """Return the hat matrix of the centred rows, and of a free intercept if ``constant``."""
        pair, hat = self.pair, self._hat(ridge, centred=True)
        if not constant:
            return hat
        unit = pair.ones / np.sqrt(pair.count)
        if is_array(hat.matrix):
            return HatMatrix(pair, hat.matrix + np.outer(unit, unit), hat.trace + 1.0)
        return HatMatrix(pair, Updated(hat.matrix, unit, unit), hat.trace + 1.0)

    def hat_gram(self, ridge: float, *, centred: bool = True) -> Operator:
        """Return ``Yc' Hat Yc`` of the centred rows, or ``Y' Hat Y`` of the rows as they are."""
        right = self.pair.centred_right if centred else self.pair.Y
        return sandwich(right, self._hat(ridge, centred=centred).operator)

    def _hat(self, ridge: float, *, centred: bool) -> HatMatrix:
        """Return the hat matrix of the rows, centred or as they are, without an intercept."""
        pair, left, iterates = self.pair, self.pair.left, self._iterates(ridge)
        by_gram = left.takes_gram(ridge) and (pair.multiplies or left.graded)
        if by_gram and not iterates:
            inverse, trace = left.gram_system.inverse(ridge, centred=centred)
            return HatMatrix(pair, sandwich(self._rows(centred=centred).T, Plain(inverse)), trace)
        if pair.n_rows <= routes.GRAM_LIMIT and not iterates:
            return self._hat_from_kernel(ridge, centred=centred)
        Z, squares = self._rows(centred=centred), left.variances
        if squares is not None and not centred:
            squares = squares + left.count * left.mean**2
        operator = sandwich(Z.T, IterativeInverse(Z, ridge, squares))
        # An unbiased estimate (Hutchinson 1990); the trace only scales an automatic balance.
        probes = np.random.default_rng(0).choice([-1.0, 1.0], (pair.n_rows, 16))
        return HatMatrix(pair, operator, float(np.vdot(probes, operator @ probes)) / 16)

    def _rows(self, *, centred: bool) -> Operator:
        Xc = self.pair.left.Xc
        return Xc if centred else Updated(Xc, self.pair.ones, self.pair.mean_left)

    def _hat_from_kernel(self, ridge: float, *, centred: bool) -> HatMatrix:
        pair, left = self.pair, self.pair.left
        if centred and "spectrum" in vars(left):  # a learner has asked for it before
            path = left.spectrum
        else:
            kernel = self._kernel(centred=centred)
            if kernel.shape[0] > SPECTRAL_HAT:
                inverse, trace = ridge_inverse(kernel, ridge, left.rounding_scale)
                return HatMatrix(pair, symmetrise(kernel @ inverse), trace)
            path = RidgePath.from_gram(kernel, left.rounding_scale)
        shrinkage = (path.inverse(ridge) * path.values)[: path.rank]
        root = path.vectors[:, : path.rank] * np.sqrt(shrinkage)
        return HatMatrix(pair, self_product(root), float(shrinkage.sum()))

    # ---- leverages ----------------------------------------------------------------------------

    @property
    def has_leverages(self) -> bool:
        """True where the smaller Gram matrix of the left block is decomposed in a moment."""
        return min(self.pair.left.shape) <= LEVERAGE_LIMIT

    def leverages(self, alpha: float, bias: str = "free") -> Array:
        """Return how much each row's own code enters its prediction by a ridge on all of the left
        block: the diagonal of the hat matrix. A weighted row's own is that of all its weight."""
        left, ones, free = self.pair.left, self.pair.ones, bias == "free"
        own = ones**2 / left.count if free else np.zeros_like(ones)
        if left.takes_gram(alpha):
            path = left.gram_system.path_of(centred=free)
            return own + path.own_shares(self._rows(centred=free), alpha)
        if free:
            spectrum = left.spectrum
        else:
            spectrum = RidgePath.from_gram(self._kernel(centred=False), left.rounding_scale)
        return own + spectrum.vectors**2 @ (spectrum.inverse(alpha) * spectrum.values)
