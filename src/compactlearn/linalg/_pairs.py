"""Two blocks of columns over the same rows, left and right, and what can be computed from them.

A *pair* answers the questions an embedding asks (leading codes for a balance, cross products, Gram
matrices) without saying how the rows are stored. There are six routes, equal
in their answers but for the fourth and the last, which are so to a ten-thousandth of the objective:

``moments``  the rows are gone; everything follows from a :class:`Moments`;
``dual``     few rows: the matrix of order N is formed;
``krylov``   products with the two matrices only; sparse blocks stay sparse;
``randomized``  the same, but leading eigenvectors need not be exact;
``kernel``   the left block is known only by its kernel matrix of order N;
``passes``   every product is a pass over rows that are never all at hand.

Letters: X and Y are the left and right block with rows multiplied by the square roots of their
weights, Xc the centred X, V the codes (:mod:`compactlearn.linalg._codes`), 1 the square roots
of the weights. What concerns the left block alone is asked of ``pair.left``
(:mod:`compactlearn.linalg._left`), and ridge regressions are made of a pair
(:mod:`compactlearn.linalg._learning`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.linalg._codes import Codes
from compactlearn.linalg._left import LeftBlock

Array = NDArray[np.float64]


class Pair:
    """The questions every route answers; passes over blocks of rows offer leading codes alone."""

    solver: str
    left: LeftBlock
    mean_right: Array
    n_right: int
    given_left: int  # columns of the left block as the user knows it: what ratios refer to
    enough: float = 1.0  # of the largest sum of eigenvalues; 1 where these must be exact

    @property
    def count(self) -> float:
        """The total weight."""
        return self.left.count

    @property
    def n_left(self) -> int:
        """The number of rows of arrays of directions."""
        return self.left.n

    @property
    def mean_left(self) -> Array:
        """The mean of the rows of the left block."""
        return self.left.mean

    @property
    def right_energy(self) -> float:
        """Squared Frobenius norm of Y, uncentred."""
        raise NotImplementedError

    @property
    def right_gram_energy(self) -> float:
        """Squared Frobenius norm of Y'Y."""
        raise NotImplementedError

    @property
    def cross_energy(self) -> float:
        """Squared Frobenius norm of Xc'Y."""
        raise NotImplementedError

    def leading_codes(
        self,
        size: int,
        balance: float,
        projection: Array | None = None,
        seed: int = 0,
    ) -> Codes:
        """Return leading eigenvectors of ``balance XcPP'Xc' + YY'`` (P = I where None).

        The ``seed`` is that of a search that need not be exact (``enough``).
        """
        raise NotImplementedError

    def cross_range(self, size: int) -> tuple[Array, Array]:
        """Return leading left singular vectors of Xc'Y and the squares of the singular values."""
        raise NotImplementedError

    def cross_gram(self) -> Any:
        """Return ``(Xc'Y)'(Xc'Y)``, as an array or an operator."""
        raise NotImplementedError

    def right_gram(self, *, centre: bool) -> Any:
        """Return Y'Y, or that of the centred Y, as an array or an operator."""
        raise NotImplementedError

    def right_codes(self, *, dense: bool = True) -> Codes:
        """Return Y itself as codes. Unless ``dense``, Xc'Y may be an operator."""
        raise NotImplementedError

    def cross_times(self, weights: Array) -> Array:
        """Return ``Xc'Y weights``."""
        raise NotImplementedError

    def combined_codes(self, weights: Array, shift: Array | None = None) -> Codes:
        """Return ``V = (Y + 1 shift') weights``."""
        mean = self.mean_right if shift is None else self.mean_right + shift
        return Codes(
            left=self.cross_times(weights),
            right=None,
            total=self.count * (mean @ weights),
            right_weights=weights,
            constant=None if shift is None else shift @ weights,
        )
