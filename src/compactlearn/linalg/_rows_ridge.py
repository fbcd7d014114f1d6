"""Ridge regressions where rows are at hand: from a Gram matrix, from a kernel, or by products.

What a block is asked goes to the smaller of ``Xc'Xc`` and ``XcXc'``, and where neither fits, or
would have to be decomposed at an order at which that is refused, to conjugate gradients.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core import _memory as memory
from compactlearn.core._devices import is_array
from compactlearn.linalg._codes import Codes
from compactlearn.linalg._dense import self_product, symmetrise
from compactlearn.linalg._eigen import krylov_pays
from compactlearn.linalg._graded import direction_floor, graded_coordinates
from compactlearn.linalg._gradients import iterative_rank, solve_ridge_iteratively
from compactlearn.linalg._operators import Gram, Operator, Plain, Sandwich, Sum, Updated
from compactlearn.linalg._pairs import Hat, KeptRidge
from compactlearn.linalg._ridge import (
    SMALL_PENALTY,
    LearnedPath,
    RidgePath,
    mean_share,
    ridge_inverse,
    solve_ridge,
)
from compactlearn.linalg._routes import GRAM_LIMIT
from compactlearn.linalg._rowwise_pair import RowwisePair, codes_of_eigenvectors, row_eigenpairs

Array = NDArray[np.float64]

# Sparse rows of up to so many cells (64 MB) may be made dense where their columns are in very
# different units.
DENSE_ROWS = 1 << 23


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
class HatMatrix(Hat):
    """A hat matrix of order N: an array, or something that multiplies."""

    pair: RowwisePair
    matrix: Any
    trace: float  # type: ignore[override]

    @property
    def operator(self) -> Operator:
        return Plain(self.matrix) if is_array(self.matrix) else self.matrix

    def codes(self, size: int, balance: float) -> Codes:
        pair, matrix, Y = self.pair, self.matrix, self.pair.Y
        if is_array(matrix) and not krylov_pays(len(matrix), size, is_array=True):
            A = balance * matrix
            A += Y @ (Y.T @ np.eye(A.shape[0]))
            A = (A + A.T) / 2
            solution = row_eigenpairs(pair, A, size, overwrite=True)
        else:
            both = Sum(((balance, self.operator), (1.0, Gram(Y.T))))
            solution = row_eigenpairs(pair, both, size)
        return codes_of_eigenvectors(pair, solution)

    def energies(self, codes: Codes) -> Array:
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
class RowsRidge(KeptRidge):
    """Ridge regressions on all of the left block of a pair with rows."""

    pair: RowwisePair

    # ---- coefficients -------------------------------------------------------------------------

    def solve(self, codes: Codes, alpha: float, bias: str) -> tuple[Array, bool]:
        pair = self.pair
        by_products = pair.solves_by_products(codes.size)
        few = self._few_rows(alpha) and not by_products
        careful = few and alpha <= SMALL_PENALTY * pair.left_energy and pair.graded
        turned = condensed(pair, alpha, centred=bias == "free") if careful else None
        if turned is not None:
            Q, own = turned
            B, solved = own.ridge.solve(own.codes_of(pair.code_rows(codes)), alpha, bias)
            return Q @ B, solved
        share = mean_share(bias, alpha, pair.count)
        if few and not (careful and alpha > 0):
            return pair.combined_rows(self._dual_coefficients(codes, alpha, bias), share), True
        total = None if bias == "target" else codes.total
        if pair.narrow and not pair.iterates(alpha) and not by_products:
            return pair.gram_system.solve(codes.left, alpha, bias, total), True
        rows, cross, squares = pair.Xc, codes.left, pair.variances
        if share:
            mean = pair.mean_left
            rows = Updated(rows, np.sqrt(share) * pair.ones, mean)
            cross = cross if total is None else cross + share * np.outer(mean, total)
            squares = None if squares is None else squares + share * pair.count * mean**2
        if by_products and not pair.iterates(alpha):
            return solve_ridge_iteratively(
                rows,
                cross,
                alpha,
                variances=squares,
                enough=PRODUCT_TOLERANCE,
                rank=iterative_rank(codes.size),
            )
        return solve_ridge_iteratively(rows, cross, alpha, variances=squares)

    def directions(self, codes: Codes, alpha: float) -> tuple[Array, bool]:
        if self.pair.regime == "kernel":
            return self.pair.Xc.T @ self._dual_coefficients(codes, alpha, "free"), True
        return self.solve(codes, alpha, "free")

    def _few_rows(self, penalty: float) -> bool:
        """Whether a kernel is the smaller matrix, and is there or fits."""
        pair = self.pair
        fits = pair.regime == "kernel" or pair.shape[0] <= GRAM_LIMIT
        return not pair.narrow and fits and not pair.iterates(penalty)

    def _dual_coefficients(self, codes: Codes, alpha: float, bias: str) -> Array:
        """c with ``B = Z'c`` for the rows ``Z = Xc + sqrt(share) 1 mean'``."""
        pair = self.pair
        share = mean_share(bias, alpha, pair.count)
        V = self._centred_codes(codes)
        if share and bias != "target":
            V = V + np.sqrt(share) * np.outer(pair.ones, codes.total / pair.count)
        return solve_ridge(self._kernel(share), V, alpha, pair.rounding_scale)

    def _centred_codes(self, codes: Codes) -> Array:
        """The rows of V, weighted, less their mean."""
        return self.pair.weighted(self.pair.code_rows(codes) - codes.total / self.pair.count)

    def _kernel(self, share: float) -> Array:
        """``ZZ'`` of the rows ``Z = Xc + sqrt(share) 1 mean'``; a new array unless share is 0."""
        pair, kernel = self.pair, self.pair.kernel
        if share == 0:
            return kernel
        z, square = pair.mean_products
        ones, root = pair.ones, float(np.sqrt(share))
        kernel = kernel + np.outer(root * z, ones)
        kernel += np.outer(ones, root * z)
        kernel += np.outer(share * square * ones, ones)
        return kernel

    def path(self, codes: Codes) -> LearnedPath:
        pair = self.pair
        mean_left, mean_code = pair.mean_left, codes.total / pair.count
        turned = condensed(pair)
        if turned is not None:
            Q, own = turned
            found = own.ridge.path(own.codes_of(pair.code_rows(codes)))
            outside = Q if found.outside is None else Q @ found.outside
            return LearnedPath(found.spectrum, outside, found.inside, mean_left, mean_code)
        if pair.narrow:
            return pair.gram_system.learned(codes.left, mean_code)
        path = pair.spectrum
        inside = path.vectors.T @ self._centred_codes(codes)
        outside = pair.expressed(pair.Xc.T @ path.vectors)
        return LearnedPath(path, outside, inside, mean_left, mean_code)

    # ---- hat matrices -------------------------------------------------------------------------

    def hat(self, ridge: float, *, constant: bool = True) -> HatMatrix:
        pair, hat = self.pair, self._hat(ridge, centred=True)
        if not constant:
            return hat
        unit = pair.ones / np.sqrt(pair.count)
        if is_array(hat.matrix):
            return HatMatrix(pair, hat.matrix + np.outer(unit, unit), hat.trace + 1.0)
        return HatMatrix(pair, Updated(hat.matrix, unit, unit), hat.trace + 1.0)

    def hat_gram(self, ridge: float, *, centred: bool = True) -> Operator:
        right = self.pair.centred_right if centred else self.pair.Y
        return Sandwich(right, self._hat(ridge, centred=centred).operator)

    def _hat(self, ridge: float, *, centred: bool) -> HatMatrix:
        """Return the hat matrix of the rows, centred or as they are, without an intercept."""
        pair = self.pair
        turned = condensed(pair, ridge, centred=centred)
        if turned is not None:
            found = RowsRidge(turned[1])._hat(ridge, centred=centred)
            return HatMatrix(pair, found.matrix, found.trace)
        n_rows, iterates = pair.shape[0], pair.iterates(ridge)
        if pair.narrow and (pair.multiplies or pair.graded) and not iterates:
            inverse, trace = pair.gram_system.inverse(ridge, centred=centred)
            return HatMatrix(pair, Sandwich(self._rows(centred=centred).T, Plain(inverse)), trace)
        if n_rows <= GRAM_LIMIT and not iterates:
            return self._hat_from_kernel(ridge, centred=centred)
        Z, squares = self._rows(centred=centred), pair.variances
        if squares is not None and not centred:
            squares = squares + pair.count * pair.mean_left**2
        operator = Sandwich(Z.T, IterativeInverse(Z, ridge, squares))
        # An unbiased estimate (Hutchinson 1990); the trace only scales an automatic balance.
        probes = np.random.default_rng(0).choice([-1.0, 1.0], (n_rows, 16))
        return HatMatrix(pair, operator, float(np.vdot(probes, operator @ probes)) / 16)

    def _rows(self, *, centred: bool) -> Operator:
        pair = self.pair
        return pair.Xc if centred else Updated(pair.Xc, pair.ones, pair.mean_left)

    def _hat_from_kernel(self, ridge: float, *, centred: bool) -> HatMatrix:
        pair = self.pair
        if centred and pair.knows_spectrum:
            path = pair.spectrum
        else:
            kernel = self._kernel(0.0 if centred else 1.0)
            if kernel.shape[0] > SPECTRAL_HAT:
                inverse, trace = ridge_inverse(kernel, ridge, pair.rounding_scale)
                return HatMatrix(pair, symmetrise(kernel @ inverse), trace)
            path = RidgePath.from_gram(kernel, pair.rounding_scale)
        shrinkage = (path.inverse(ridge) * path.values)[: path.rank]
        root = path.vectors[:, : path.rank] * np.sqrt(shrinkage)
        return HatMatrix(pair, self_product(root), float(shrinkage.sum()))

    # ---- leverages ----------------------------------------------------------------------------

    @property
    def has_leverages(self) -> bool:
        """Whether the smaller Gram matrix of the left block is decomposed in a moment."""
        return min(self.pair.shape) <= LEVERAGE_LIMIT

    def leverages(self, alpha: float, bias: str = "free") -> Array:
        """How much each row's own code enters its prediction by a ridge on all of the left block:
        the diagonal of the hat matrix. A weighted row's own is that of all its weight.

        The mean that "target" takes off the codes beforehand does not count.
        """
        pair, ones = self.pair, self.pair.ones
        free, penalised = bias == "free", bias == "penalised"
        turned = condensed(pair, alpha, centred=free)
        if turned is not None:
            return RowsRidge(turned[1]).leverages(alpha, bias)
        own = ones**2 / pair.count if free else np.zeros_like(ones)
        if penalised and pair.narrow:
            # The intercept profiled out, as by the fit: a large mean would cost the digits of X'X.
            share, system = mean_share(bias, alpha, pair.count), pair.gram_system
            own = ones**2 / (pair.count + alpha)
            path = system.path_with(share)
            return own + path.own_shares(Updated(pair.Xc, share * ones, pair.mean_left), alpha)
        if pair.narrow:
            path = pair.gram_system.path_with(0.0 if free else 1.0)
            return own + path.own_shares(self._rows(centred=free), alpha)
        if free:
            path = pair.spectrum
        else:
            kernel = self._kernel(1.0)
            kernel = kernel + np.outer(ones, ones) if penalised else kernel
            path = RidgePath.from_gram(kernel, pair.rounding_scale)
        return own + path.vectors**2 @ (path.inverse(alpha) * path.values)


def condensed(
    pair: RowwisePair, penalty: float = 0.0, *, centred: bool = True
) -> tuple[Array, RowwisePair] | None:
    """Orthonormal directions, and the pair of the rows' coordinates; None where not needed.

    A penalty that is no small part of the rows' squares outweighs what the kernel has lost. The
    mean of the rows has coordinates, too, unless they are ``centred``. Sparse rows are not made
    dense, unless there are few of them.
    """
    if pair.narrow or penalty > SMALL_PENALTY * pair.left_energy or not pair.graded:
        return None
    n_rows, n_left = pair.shape
    if scipy.sparse.issparse(pair.left) and n_rows * n_left > DENSE_ROWS:
        return None
    free = memory.available_bytes()
    if n_rows > GRAM_LIMIT or (free is not None and 8 * 4 * n_rows * n_left > free):
        return None
    return pair.condensed(centred=centred)


def coordinates(pair: RowwisePair, rows: Array, *, centred: bool) -> tuple[Array, Array, Array]:
    """Q that spans Xc, given by its ``rows``, and unless ``centred`` the mean; the rows as they
    came in these coordinates; and what rounding leaves of a coordinate that no row has."""
    variances, mean = pair.variances, pair.mean_left
    assert variances is not None
    Q, found = graded_coordinates(rows if centred else np.vstack([rows, mean]))
    own = pair.unweighted(found[: len(rows)])
    if not centred:
        own = own + found[-1]
    squares = variances if centred else variances + pair.count * mean**2
    return Q, own, direction_floor(Q, squares)
