"""The left block of a pair by itself: its directions, their inner products and their variances.

Directions in the space of the left block (columns of P, Xc'V) are arrays with ``n`` rows. What they
mean is the block's own business, so inner products and bases are taken by its methods: here those
of columns of features, in :mod:`compactlearn.linalg._left_kernel` those of a kernel.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.core._devices import is_array
from compactlearn.linalg import _dense as dense
from compactlearn.linalg import _eigen as eigen
from compactlearn.linalg._codes import peak_signs
from compactlearn.linalg._eigen import EPS
from compactlearn.linalg._graded import badly_scaled, column_floor
from compactlearn.linalg._operators import Deflated

Array = NDArray[np.float64]


class LeftBlock:
    """A centred left block Xc, known by ``Xc'Xc`` (an array or an operator) and its columns."""

    def __init__(
        self, count: float, mean: Array, gram: Any, variances: Array, rounding_scale: float = 0.0
    ) -> None:
        self.count, self.mean, self.n = count, mean, mean.shape[0]
        self.gram = gram  # Xc'Xc: of directions it makes directions
        self.variances: Array | None = variances  # squared lengths of the columns of Xc
        # The size of what Gram matrices and kernels of Xc were computed from, where centring took
        # away more than it left; 0 where the rows were centred first.
        self.rounding_scale = rounding_scale

    @cached_property
    def energy(self) -> float:
        """Squared Frobenius norm of Xc."""
        assert self.variances is not None
        return float(self.variances.sum())

    @property
    def has_variance(self) -> bool:
        """True where the block varies by more than rounding."""
        return self.energy > 1e-24 * self.count * float(self.mean @ self.mean)

    @cached_property
    def graded(self) -> bool:
        """True where columns are in units so different that what is accurate relative to the
        largest has lost the smallest."""
        if self.variances is None:
            return False
        return badly_scaled(self.variances, column_floor(self.mean, self.count))

    # ---- directions ---------------------------------------------------------------------------

    def inner(self, P: Array, C: Any) -> Array:
        """Return the inner products of two sets of directions; C may be an operator."""
        return (C.T @ P).T

    def leading_range(self, C: Array) -> tuple[Array, Array]:
        """Return an orthonormal basis of the span of C by decreasing singular value, and the
        squares of these."""
        return eigen.leading_range(C, scale=16 * EPS * self.rounding_scale)

    def orthonormal(self, C: Array) -> Array:
        """Return an orthonormal basis of the span of C, in the order of independent columns."""
        return dense.qr(C)[0]

    def extension(self, basis: Array, C: Array) -> Array:
        """Return an orthonormal basis of what C has outside the span of ``basis``."""
        for _ in range(2 if C.shape[1] else 0):  # once leaves rounding, twice does not
            C = C - basis @ (basis.T @ C)
            C, R = dense.qr(C)
            C = C * np.where(np.diag(R) < 0, -1.0, 1.0)
        return C

    def some_direction(self) -> Array:
        """Return a direction for a learner that must have one, where none has any variance."""
        return np.eye(self.n, 1)

    def expressed(self, P: Array) -> Array:
        """Return directions as the matrix that rows of the left block, as they came, multiply."""
        return P

    def projected_gram(self, projection: Array) -> Array:
        """Return ``P'Xc'XcP``."""
        return projection.T @ (self.gram @ projection)

    def principal_directions(self, size: int, avoid: Array) -> tuple[Array, Array]:
        """Return up to ``size`` orthonormal directions of largest variance in the complement of
        ``avoid``, and these variances (sums of squares over the rows).

        Deterministic and nested; beyond the rank of Xc there are none.
        """
        scale = max(self.energy, 16 * EPS * self.rounding_scale)
        matrix = _without(self.gram, avoid)
        found = eigen.leading_eigenpairs(matrix, size, scale=scale, overwrite=True)
        # Rounding turns an eigenvector by EPS scale / value towards what was to be avoided. Where
        # the square of that is rounding, a projection repairs it; the others are factorised.
        clear = int(np.count_nonzero(found.values > 1e-8 * scale))
        basis = found.vectors[:, :clear]
        basis = basis - avoid @ (avoid.T @ basis)
        rest = self.extension(np.hstack([avoid, basis]), found.vectors[:, clear:])
        basis = np.hstack([basis, rest])
        return basis * peak_signs(basis), found.values


def _without(gram: Any, avoid: Array) -> Any:
    """Return ``(I - PP') G (I - PP')``, for an array by one product of its order."""
    if not is_array(gram):
        return Deflated(gram, avoid)
    Z = gram @ avoid
    Z = (Z - avoid @ ((avoid.T @ Z) / 2)) @ avoid.T
    gram = gram - Z
    gram -= Z.T
    return gram
