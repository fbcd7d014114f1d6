"""Codes: columns in row space, and what is known of them.

With the letters of :mod:`compactlearn.linalg._pairs`, codes V are known by their products Xc'V, Y'V
and 1'V, which is all that a linear method needs, and by how a row gets its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._device_array import DeviceArray
from compactlearn.linalg._arrays import zeros_on_device_of
from compactlearn.linalg._eigen import Status
from compactlearn.linalg._row_sums import row_blocks

Array = NDArray[np.float64]


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
    rows: Array | None = None  # (N, k) where the route has them, divided by root weights
    values: Array | None = None  # (k,) eigenvalues, where V are eigenvectors
    share: float = 1.0  # of the largest sum that as many of them can have, at least

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
        """Return the parts given column by column, but for the eigenvalues."""
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
        return Codes(
            nothing, nothing, self.total, self.status, values=self.values, share=self.share
        )

    def leading(self, count: int) -> Codes:
        """The first ``count`` columns."""
        first = {name: part[..., :count] for name, part in self._columns().items()}
        return replace(self, **first, values=None if self.values is None else self.values[:count])


def code_rows(codes: Codes, X: Any, Y: Any, mean_left: Array) -> Any:
    """V (N, k) for rows X, Y, not multiplied by the roots of their weights."""
    if codes.rows is not None:
        return codes.rows
    if codes.right_weights is None:
        return Y
    V = Y @ codes.right_weights
    if codes.constant is not None:
        V = V + codes.constant
    a = codes.left_weights
    if a is None:
        return V
    if isinstance(X, DeviceArray):
        return V + (X - mean_left) @ a
    if scipy.sparse.issparse(X):
        return V + (X @ a - mean_left @ a)
    for rows in row_blocks(*X.shape):  # centred first, so that a large offset costs no digits
        V[rows] += (X[rows] - mean_left) @ a
    return V


def offset_scale(mean_energy: float, order: int) -> float:
    """Return the ``scale`` of an eigenproblem whose matrix was centred after multiplication.

    ``mean_energy`` is the norm of the rank-one matrix that centring subtracts. A rank tolerance is
    the order times the rounding error of the scale, as if all errors had one sign. The errors of a
    rank-one matrix are spread over its entries, and sixteen roundings of its norm exceed their sum.
    """
    return mean_energy * min(1.0, 16.0 / max(order, 1))


def peak_signs(columns: Array) -> Array:
    """The sign of the entry of largest magnitude of each column (+1 for a zero column)."""
    if columns.shape[0] == 0:
        return zeros_on_device_of((columns.shape[1],), columns) + 1.0
    peak = np.argmax(np.abs(columns), axis=0)
    values = columns[peak, np.arange(columns.shape[1])]
    return np.where(values < 0, -1.0, 1.0)
