"""Two blocks of columns over the same rows, left and right, and what can be computed from them.

A *pair* answers the questions an embedding asks (leading codes for a balance, principal
directions, Gram matrices) without saying how the rows are held. There are four regimes, equal
in their answers:

``moments``  the rows are gone; everything follows from a :class:`Moments`;
``dual``     few rows: the matrix of order N is formed;
``krylov``   products with the two matrices only; sparse blocks stay sparse;
``kernel``   the left block is known only by its kernel matrix of order N.

Letters: X and Y are the left and right block with rows multiplied by the square roots of their
weights, Xc the centred X, V the codes, 1 the square roots of the weights. "Codes" are columns V
in row space, and are known here by their products Xc'V, Y'V and 1'V, which is all that a linear
method needs. Directions in the space of the left block (columns of P, Xc'V) are arrays with
``n_left`` rows; what they mean is the pair's own business, so their inner products and bases are
taken by its methods.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.linalg import dense, eigen
from compactlearn.linalg.eigen import EPS, Status, leading_eigenpairs
from compactlearn.linalg.graded import (
    badly_scaled,
    column_floor,
    direction_floor,
    graded_rotation,
)
from compactlearn.linalg.moments import row_blocks
from compactlearn.linalg.operators import Deflated
from compactlearn.linalg.ridge import (
    SMALL_PENALTY,
    PenaltyPath,
    mean_share,
    ridge_path,
    solve_ridge,
)

Array = NDArray[np.float64]

HATS = ("intercept", "centred", "raw", "penalised")
BIASES = ("free", "none", "penalised", "target")


@dataclass(frozen=True)
class Codes:
    """Columns V in row space, known by their products with the blocks."""

    left: Any  # (n_left, k)   Xc'V; an operator where that would be too large
    right: Array | None  # (n_right, k)  Y'V; None where V is a combination of Y's columns
    total: Array  # (k,)          1'V, weighted
    status: Status = Status.CONVERGED
    # How a row (x, y) gets its code: (x - mean) @ left_weights + y @ right_weights + constant.
    # Without any weights V is Y itself.
    left_weights: Array | None = None
    right_weights: Array | None = None
    constant: Array | None = None
    rows: Array | None = None  # (N, k) where the regime has them, divided by root weights
    values: Array | None = None  # (k,) eigenvalues, where V are eigenvectors

    @property
    def size(self) -> int:
        return self.left.shape[1]

    def oriented(self) -> Codes:
        """Fix signs: the largest entry of each column of Y'V, or of Xc'V where that is 0."""
        assert self.right is not None
        scale = np.abs(self.left).max(axis=0, initial=0.0)
        peak = np.abs(self.right).max(axis=0, initial=0.0)
        return self.scaled(
            np.where(peak > 1e-10 * (scale + peak), peak_signs(self.right), peak_signs(self.left))
        )

    def _columns(self) -> dict[str, Any]:
        """What is given column by column, but for the eigenvalues."""
        parts = ("left", "right", "total", "left_weights", "right_weights", "constant", "rows")
        given = {name: getattr(self, name) for name in parts}
        return {name: value for name, value in given.items() if value is not None}

    def scaled(self, factors: Array) -> Codes:
        """Every column times its factor."""
        return replace(self, **{name: part * factors for name, part in self._columns().items()})

    def without_products(self) -> Codes:
        """Their number and sums alone, where nothing else will be asked: the rest may be large."""
        if self.right is None and self.right_weights is None:
            return self  # the labels themselves, which are at hand anyway
        nothing = np.empty((0, self.size))
        return Codes(nothing, nothing, self.total, self.status, values=self.values)

    def leading(self, count: int) -> Codes:
        """The first ``count`` columns."""
        first = {name: part[..., :count] for name, part in self._columns().items()}
        return replace(self, **first, values=None if self.values is None else self.values[:count])


@dataclass(frozen=True)
class Learned:
    """A ridge from the left block, projected or not, to codes."""

    coefficients: Array  # (d, k); where nothing was projected, acting on rows as they came
    intercept: Array  # (k,)
    solved: bool = True

    def leading(self, count: int) -> Learned:
        """The same for the first ``count`` codes."""
        return replace(
            self, coefficients=self.coefficients[:, :count], intercept=self.intercept[:count]
        )


class Pair(ABC):
    """What every regime offers; see the module docstring for the letters."""

    regime: str
    count: float  # total weight
    n_left: int  # rows of the arrays that stand for directions
    n_right: int
    given_left: int  # columns of the left block as the user knows it: what ratios refer to
    mean_left: Array
    mean_right: Array

    # ---- sizes --------------------------------------------------------------------------------

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

    @property
    @abstractmethod
    def cross_energy(self) -> float:
        """Squared Frobenius norm of Xc'Y."""

    @property
    def rounding_scale(self) -> float:
        """The size of what Gram matrices and kernels of Xc were computed from, where centring took
        away more than it left; 0 where the rows were centred first."""
        return 0.0

    @property
    def has_variance(self) -> bool:
        """Whether the left block varies by more than rounding."""
        return self.left_energy > 1e-24 * self.count * float(self.mean_left @ self.mean_left)

    @property
    def variances(self) -> Array | None:
        """Squared lengths of the columns of Xc; None where there are no columns to speak of."""
        return None

    @cached_property
    def floor(self) -> Array:
        """What rounding leaves of the squared length of a column that is constant."""
        return column_floor(self.mean_left, self.count)

    @cached_property
    def graded(self) -> bool:
        """Whether columns of the left block are in units so different that what is accurate
        relative to the largest has lost the smallest."""
        return self.variances is not None and badly_scaled(self.variances, self.floor)

    # ---- the space of the left block ----------------------------------------------------------

    def inner(self, P: Array, C: Any) -> Array:
        """Inner products of two sets of directions; C may be an operator."""
        return (C.T @ P).T

    def leading_range(self, C: Array) -> tuple[Array, Array]:
        """Orthonormal basis of the span of C by decreasing singular value, and their squares."""
        return eigen.leading_range(C, scale=16 * EPS * self.rounding_scale)

    def orthonormal(self, C: Array) -> Array:
        """Orthonormal basis of the span of C, in the order of columns that are independent."""
        return dense.qr(C)[0]

    def extension(self, basis: Array, C: Array) -> Array:
        """Orthonormal basis of what C has outside the span of ``basis``."""
        return orthonormal_extension(basis, C)

    def random_directions(self, count: int, rng: Any) -> Array:
        return rng.standard_normal((self.n_left, count))

    def some_direction(self) -> Array:
        """A direction for a learner that must have one, where none has any variance."""
        return np.eye(self.n_left, 1)

    def expressed(self, P: Array) -> Array:
        """Directions as the matrix that rows of the left block, as they came, multiply."""
        return P

    # ---- matrices that methods decompose ------------------------------------------------------

    @abstractmethod
    def leading_codes(self, size: int, balance: float, projection: Array | None = None) -> Codes:
        """Leading eigenvectors of ``balance XcPP'Xc' + YY'`` (P = I where None)."""

    @abstractmethod
    def cross_range(self, size: int) -> tuple[Array, Array]:
        """Leading left singular vectors of Xc'Y and the squares of their singular values."""

    @abstractmethod
    def cross_gram(self) -> Any:
        """``(Xc'Y)'(Xc'Y)``, as an array or an operator."""

    @abstractmethod
    def right_gram(self, *, centre: bool) -> Any:
        """Y'Y, or that of the centred Y, as an array or an operator."""

    @abstractmethod
    def hat(self, kind: str, ridge: float) -> Any:
        """The hat matrix of a ridge regression on the left block; it has a ``trace``.

        ``kind`` is one of ``HATS``: that of the centred rows, of these and a free intercept, of
        the rows as they are, of these and a penalised column of ones.
        """

    @abstractmethod
    def hat_gram(self, kind: str, ridge: float) -> Any:
        """``Yc' Hat Yc``, as an array or an operator."""

    @abstractmethod
    def hat_codes(
        self, size: int, balance: float, hat: Any, scale: float, shift: Array | None
    ) -> Codes:
        """Leading eigenvectors of ``balance Hat + TT'`` with ``T = scale Y + 1 shift'``."""

    @abstractmethod
    def hat_energies(self, hat: Any, codes: Codes) -> Array:
        """``v' Hat v`` of every code."""

    # ---- codes that are combinations of Y -----------------------------------------------------

    @abstractmethod
    def right_codes(self, *, dense: bool = True) -> Codes:
        """Y itself as codes. Unless ``dense``, Xc'Y may be an operator."""

    @abstractmethod
    def _cross_times(self, weights: Array) -> Array:
        """``Xc'Y weights``."""

    def combined_codes(self, weights: Array, shift: Array | None = None) -> Codes:
        """``V = (Y + 1 shift') weights``."""
        mean = self.mean_right if shift is None else self.mean_right + shift
        return Codes(
            left=self._cross_times(weights),
            right=None,
            total=self.count * (mean @ weights),
            right_weights=weights,
            constant=None if shift is None else shift @ weights,
        )

    # ---- the ridge learner --------------------------------------------------------------------

    @abstractmethod
    def projected_gram(self, projection: Array) -> Array:
        """``P'Xc'XcP``."""

    @abstractmethod
    def gram_images(self, projection: Array) -> Array:
        """``Xc'XcP`` as directions."""

    @abstractmethod
    def ridge_directions(self, codes: Codes, alpha: float) -> tuple[Array, bool]:
        """``(Xc'Xc + alpha I)^-1 Xc'V`` as directions, and whether the solver got there."""

    @abstractmethod
    def _solve_kept(self, codes: Codes, alpha: float, bias: str) -> tuple[Array, bool]:
        """Ridge coefficients of V on the rows as they came, intercept left out."""

    def learn(
        self, projection: Array | None, codes: Codes, alpha: float, bias: str = "free"
    ) -> Learned:
        """Ridge of V on XP (on X where P is None), with one of the ``BIASES``."""
        solved = True
        if projection is None:
            B, solved = self._solve_kept(codes, alpha, bias)
            mean = self.mean_left @ B
        else:
            turn, floor, P = None, np.zeros(1), projection
            if alpha <= SMALL_PENALTY * self.left_energy and self.graded:
                turn, P, floor = self._turned(projection)
            centre = self.mean_left @ self.expressed(P)
            share = mean_share(bias, alpha, self.count)
            gram = self.projected_gram(P) + share * self.count * np.outer(centre, centre)
            cross = self.inner(P, codes.left)
            if bias != "target":
                cross = cross + share * np.outer(centre, codes.total)
            B = solve_ridge(gram, cross, alpha, floor=floor)
            mean = centre @ B
            B = B if turn is None else turn @ B
        return Learned(B, self._intercept(codes.total, mean, alpha, bias), solved)

    def _intercept(self, total: Array, mean: Array, alpha: float, bias: str) -> Array:
        if bias == "none":
            return np.zeros_like(total)
        if bias == "target":
            return total / self.count
        weight = self.count + (alpha if bias == "penalised" else 0.0)
        return (total - self.count * mean) / weight

    def path(self, projection: Array | None, codes: Codes) -> LearnedPath:
        """The ridge with a free intercept for every penalty, from one decomposition."""
        if projection is None:
            return self._kept_path(codes)
        turn, floor, P = None, np.zeros(1), projection
        if self.graded:
            turn, P, floor = self._turned(projection)
        path = ridge_path(self.projected_gram(P), floor=floor)
        inside = path.inside(self.inner(P, codes.left))
        centre = self.mean_left @ self.expressed(projection)
        outside = path.outside
        if turn is not None:
            outside = turn if outside is None else turn @ outside
        return LearnedPath(path, outside, inside, centre, codes.total / self.count)

    def _turned(self, projection: Array) -> tuple[Array, Array, Array]:
        """A rotation T, PT, and what rounding leaves of XcPT, where columns are ``graded``."""
        assert self.variances is not None
        turn, P = graded_rotation(projection, self.variances)
        return turn, P, direction_floor(P, self.variances)

    @abstractmethod
    def _kept_path(self, codes: Codes) -> LearnedPath:
        """The same on all of the left block."""

    @abstractmethod
    def principal_directions(
        self, size: int, avoid: Array, *, fill: bool = True
    ) -> tuple[Array, Array]:
        """Orthonormal directions of largest variance in the complement of ``avoid``, and these
        variances (sums of squares over the rows).

        Deterministic and nested. With ``fill`` they continue beyond the rank of Xc with
        directions of no variance, so that ``size`` columns come back where that many exist.
        """

    def _principal_directions(
        self, gram: Any, size: int, avoid: Array, fill: bool
    ) -> tuple[Array, Array]:
        """The same from Xc'Xc, an array or an operator."""
        if isinstance(gram, np.ndarray):
            Z = gram @ avoid
            Z = (Z - avoid @ ((avoid.T @ Z) / 2)) @ avoid.T
            gram = gram - Z  # (I - PP') G (I - PP') = G - Z - Z', one product of that size
            gram -= Z.T
        else:
            gram = Deflated(gram, avoid)
        # The trace bounds the largest eigenvalue before deflation, against which rounding counts.
        scale = max(self.left_energy, 16 * EPS * self.rounding_scale)
        found = leading_eigenpairs(gram, size, scale=scale, overwrite=True)
        # Rounding turns an eigenvector by EPS scale / value towards what was to be avoided. Where
        # the square of that is rounding, a projection repairs it; the others are factorised.
        clear = int(np.count_nonzero(found.values > 1e-8 * scale))
        basis = found.vectors[:, :clear]
        basis = basis - avoid @ (avoid.T @ basis)
        both = np.hstack([avoid, basis])
        basis = np.hstack([basis, orthonormal_extension(both, found.vectors[:, clear:])])
        missing = size - basis.shape[1]
        if fill and missing > 0:
            both = np.hstack([avoid, basis])
            others = np.random.default_rng(0).standard_normal((self.n_left, missing))
            basis = np.hstack([basis, orthonormal_extension(both, others)])
        variances = np.zeros(basis.shape[1])
        variances[: found.values.size] = found.values
        return basis * peak_signs(basis), variances


@dataclass(frozen=True)
class LearnedPath:
    """A ridge learner for every penalty: ``B = outside (S + alpha I)^-1 inside``, where S is
    diagonal if the path is a spectrum."""

    spectrum: PenaltyPath
    outside: Array | None  # (d, r); None: the identity
    inside: Array  # (r, k)
    mean_left: Array  # (d,) of the rows the coefficients act on
    mean_code: Array  # (k,)

    def at(self, alpha: float) -> Learned:
        """Coefficients and intercept for one penalty."""
        B = self.spectrum.shrunk(self.inside, alpha)
        B = B if self.outside is None else self.outside @ B
        return Learned(B, self.mean_code - self.mean_left @ B)


def code_rows(codes: Codes, X: Any, Y: Any, mean_left: Array) -> Any:
    """V (N, k) for rows X, Y, not multiplied by the roots of their weights."""
    if codes.rows is not None:
        return codes.rows
    if codes.right_weights is None:
        return Y
    V = np.asarray(Y @ codes.right_weights)
    if codes.constant is not None:
        V = V + codes.constant
    a = codes.left_weights
    if a is None:
        return V
    if scipy.sparse.issparse(X):
        return V + (X @ a - mean_left @ a)
    for rows in row_blocks(*X.shape):  # centred first, so that a large offset costs no digits
        V[rows] += (X[rows] - mean_left) @ a
    return V


def offset_scale(taken: float, order: int) -> float:
    """The ``scale`` of an eigenproblem of that order, off whose matrix centring took ``taken``.

    A rank tolerance is the order times what one rounding makes of the scale, as if all errors had
    one sign. Those of a rank-one matrix are spread over its entries, and some sixteen roundings of
    its norm are more than they ever add up to.
    """
    return taken * min(1.0, 16.0 / max(order, 1))


def recoded_energy(pair: Pair, scale: float, shift: Array | None) -> float:
    """The size of the terms of which ``scale Y + 1 shift'`` is a sum: rounding is judged by it."""
    if shift is None:
        return 0.0
    return scale**2 * pair.right_energy + pair.count * float(shift @ shift)


def orthonormal_extension(basis: Array, columns: Array) -> Array:
    """Orthonormal basis of what ``columns`` have outside the span of ``basis``."""
    for _ in range(2 if columns.shape[1] else 0):  # once leaves rounding, twice does not
        columns = columns - basis @ (basis.T @ columns)
        columns, R = dense.qr(columns)
        columns = columns * np.where(np.diag(R) < 0, -1.0, 1.0)
    return columns


def peak_signs(columns: Array) -> Array:
    """The sign of the entry of largest magnitude of each column (+1 for a zero column)."""
    if columns.shape[0] == 0:
        return np.ones(columns.shape[1])
    peak = np.argmax(np.abs(columns), axis=0)
    values = columns[peak, np.arange(columns.shape[1])]
    return np.where(values < 0, -1.0, 1.0)
