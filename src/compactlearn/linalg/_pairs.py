"""Two blocks of columns over the same rows, left and right, and what can be computed from them.

A *pair* answers the questions an embedding asks (leading codes for a balance, principal
directions, Gram matrices) without saying how the rows are held. There are six regimes, equal
in their answers but for the fourth and the last, which are so to a ten-thousandth of the objective:

``moments``  the rows are gone; everything follows from a :class:`Moments`;
``dual``     few rows: the matrix of order N is formed;
``krylov``   products with the two matrices only; sparse blocks stay sparse;
``randomized``  the same, but leading eigenvectors need not be exact;
``kernel``   the left block is known only by its kernel matrix of order N;
``passes``   every product is a pass over rows that are never all at hand.

Letters: X and Y are the left and right block with rows multiplied by the square roots of their
weights, Xc the centred X, V the codes (:mod:`compactlearn.linalg._codes`), 1 the square roots
of the weights. Directions in the space of the left block (columns of P, Xc'V) are arrays with
``n_left`` rows; what they mean is the pair's own business, so their inner products and bases are
taken by its methods. The ridge learner is not a pair's, but made of one:
:mod:`compactlearn.linalg._learning`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.core._devices import is_array
from compactlearn.linalg import _dense as dense
from compactlearn.linalg import _eigen as eigen
from compactlearn.linalg._arrays import zeros_beside
from compactlearn.linalg._codes import Codes, peak_signs
from compactlearn.linalg._eigen import EPS
from compactlearn.linalg._graded import badly_scaled, column_floor
from compactlearn.linalg._operators import Deflated
from compactlearn.linalg._ridge import LearnedPath

Array = NDArray[np.float64]


class Hat(ABC):
    """The hat matrix of a ridge regression on the left block."""

    trace: float

    @abstractmethod
    def codes(self, size: int, balance: float) -> Codes:
        """Return the leading eigenvectors of ``balance Hat + YY'``."""

    @abstractmethod
    def energies(self, codes: Codes) -> Array:
        """``v' Hat v`` of every code."""


class KeptRidge(ABC):
    """Ridge regressions on all of a pair's left block."""

    @abstractmethod
    def solve(self, codes: Codes, alpha: float, bias: str) -> tuple[Array, bool]:
        """Coefficients of V on the rows as they came, intercept left out, and whether the solver
        got there."""

    @abstractmethod
    def directions(self, codes: Codes, alpha: float) -> tuple[Array, bool]:
        """``(Xc'Xc + alpha I)^-1 Xc'V`` as directions, and whether the solver got there."""

    @abstractmethod
    def path(self, codes: Codes) -> LearnedPath:
        """The ridge with a free intercept for every penalty."""

    @abstractmethod
    def hat(self, ridge: float, *, constant: bool = True) -> Hat:
        """Return the hat matrix of the centred rows, and of a free intercept if ``constant``."""

    @abstractmethod
    def hat_gram(self, ridge: float, *, centred: bool = True) -> Any:
        """Return ``Yc' Hat Yc`` of the centred rows, or ``Y' Hat Y`` of the rows as they are, as an
        array or an operator."""


class Pair(ABC):
    """What every regime offers; see the module docstring for the letters."""

    regime: str
    count: float  # total weight
    n_left: int  # rows of the arrays that stand for directions
    n_right: int
    given_left: int  # columns of the left block as the user knows it: what ratios refer to
    mean_left: Array
    mean_right: Array
    enough: float = 1.0  # of the largest sum of eigenvalues; 1 where these must be exact

    @property
    @abstractmethod
    def ridge(self) -> KeptRidge:
        """Ridge regressions on all of the left block, and their hat matrices."""

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
    def graded(self) -> bool:
        """Whether columns of the left block are in units so different that what is accurate
        relative to the largest has lost the smallest."""
        if self.variances is None:
            return False
        return badly_scaled(self.variances, column_floor(self.mean_left, self.count))

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

    def some_direction(self) -> Array:
        """A direction for a learner that must have one, where none has any variance."""
        return np.eye(self.n_left, 1)

    def expressed(self, P: Array) -> Array:
        """Directions as the matrix that rows of the left block, as they came, multiply."""
        return P

    @abstractmethod
    def projected_gram(self, projection: Array) -> Array:
        """``P'Xc'XcP``."""

    def principal_directions(
        self, size: int, avoid: Array, *, fill: bool = True
    ) -> tuple[Array, Array]:
        """Orthonormal directions of largest variance in the complement of ``avoid``, and these
        variances (sums of squares over the rows).

        Deterministic and nested. With ``fill`` they continue beyond the rank of Xc with
        directions of no variance, so that ``size`` columns come back where that many exist.
        """
        scale = max(self.left_energy, 16 * EPS * self.rounding_scale)
        return _principal_directions(self.left_gram(), size, avoid, scale, fill=fill)

    # ---- matrices that methods decompose ------------------------------------------------------

    @abstractmethod
    def leading_codes(
        self,
        size: int,
        balance: float,
        projection: Array | None = None,
        seed: int = 0,
    ) -> Codes:
        """Leading eigenvectors of ``balance XcPP'Xc' + YY'`` (P = I where None).

        The ``seed`` is that of a search whose outcome depends on its start: of one that need not
        be exact (``enough``).
        """

    @abstractmethod
    def cross_range(self, size: int) -> tuple[Array, Array]:
        """Leading left singular vectors of Xc'Y and the squares of their singular values."""

    @abstractmethod
    def left_gram(self) -> Any:
        """``Xc'Xc``, as an array or an operator: of directions it makes directions."""

    @abstractmethod
    def cross_gram(self) -> Any:
        """``(Xc'Y)'(Xc'Y)``, as an array or an operator."""

    @abstractmethod
    def right_gram(self, *, centre: bool) -> Any:
        """Y'Y, or that of the centred Y, as an array or an operator."""

    # ---- codes that are combinations of Y -----------------------------------------------------

    @abstractmethod
    def right_codes(self, *, dense: bool = True) -> Codes:
        """Y itself as codes. Unless ``dense``, Xc'Y may be an operator."""

    @abstractmethod
    def cross_times(self, weights: Array) -> Array:
        """``Xc'Y weights``."""

    def combined_codes(self, weights: Array, shift: Array | None = None) -> Codes:
        """``V = (Y + 1 shift') weights``."""
        mean = self.mean_right if shift is None else self.mean_right + shift
        return Codes(
            left=self.cross_times(weights),
            right=None,
            total=self.count * (mean @ weights),
            right_weights=weights,
            constant=None if shift is None else shift @ weights,
        )


def orthonormal_extension(basis: Array, columns: Array) -> Array:
    """Orthonormal basis of what ``columns`` have outside the span of ``basis``."""
    for _ in range(2 if columns.shape[1] else 0):  # once leaves rounding, twice does not
        columns = columns - basis @ (basis.T @ columns)
        columns, R = dense.qr(columns)
        columns = columns * np.where(np.diag(R) < 0, -1.0, 1.0)
    return columns


def _principal_directions(
    gram: Any, size: int, avoid: Array, scale: float, *, fill: bool
) -> tuple[Array, Array]:
    """What :meth:`Pair.principal_directions` says, from Xc'Xc, an array or an operator.

    ``scale`` bounds the largest eigenvalue before deflation, against which rounding counts.
    """
    if is_array(gram):
        Z = gram @ avoid
        Z = (Z - avoid @ ((avoid.T @ Z) / 2)) @ avoid.T
        gram = gram - Z  # (I - PP') G (I - PP') = G - Z - Z', one product of that size
        gram -= Z.T
    else:
        gram = Deflated(gram, avoid)
    found = eigen.leading_eigenpairs(gram, size, scale=scale, overwrite=True)
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
        others = np.random.default_rng(0).standard_normal((avoid.shape[0], missing))
        basis = np.hstack([basis, orthonormal_extension(both, others)])
    variances = zeros_beside((basis.shape[1],), basis)
    variances[: found.values.size] = found.values
    return basis * peak_signs(basis), variances
