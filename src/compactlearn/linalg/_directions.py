"""Orthonormal directions in the space of a block's columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.core._devices import is_array
from compactlearn.linalg import _dense as dense
from compactlearn.linalg._arrays import zeros_beside
from compactlearn.linalg._codes import peak_signs
from compactlearn.linalg._eigen import leading_eigenpairs
from compactlearn.linalg._operators import Deflated

Array = NDArray[np.float64]


def orthonormal_extension(basis: Array, columns: Array) -> Array:
    """Orthonormal basis of what ``columns`` have outside the span of ``basis``."""
    for _ in range(2 if columns.shape[1] else 0):  # once leaves rounding, twice does not
        columns = columns - basis @ (basis.T @ columns)
        columns, R = dense.qr(columns)
        columns = columns * np.where(np.diag(R) < 0, -1.0, 1.0)
    return columns


def principal_directions(
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
        others = np.random.default_rng(0).standard_normal((avoid.shape[0], missing))
        basis = np.hstack([basis, orthonormal_extension(both, others)])
    variances = zeros_beside((basis.shape[1],), basis)
    variances[: found.values.size] = found.values
    return basis * peak_signs(basis), variances
