"""Ridge regression where columns are in units that differ by orders of magnitude.

A column 1e8 times larger than its neighbours has a variance of 1e16 times theirs, and whatever is
computed to a precision relative to the largest entry, eigenvectors above all, has lost them. Yet
the Gram matrix itself has not: each entry s_ij is accurate relative to sqrt(s_ii s_jj). With
D = diag(S) + alpha the system

    (S + alpha I) B = C    is    (D^-1/2 (S + alpha I) D^-1/2) D^1/2 B = D^-1/2 C,

whose matrix has a diagonal of ones, and elimination loses only as many digits as the condition of
*that* matrix has (van der Sluis 1969; Demmel 1989), whatever the units. Nothing is penalised
otherwise: alpha means what it means.

Directions without variance are judged on the scaled matrix, too, and left out. Rows that are fewer
than their columns go by the Gram matrix of the columns, too: a kernel would drown the small ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.core._devices import DeviceArray, host
from compactlearn.linalg import _dense as dense
from compactlearn.linalg._arrays import device_in, to_device_of
from compactlearn.linalg._eigen import EPS, all_eigenpairs, numerical_rank

Array = NDArray[np.float64]

# Ratio of variances up to which ten of sixteen digits are left of the smallest column.
WIDEST_RATIO = 1e6

# A scaled matrix no worse than this needs no look at its rank: rounding is magnified by less than
# what would leave eight digits.
SAFE_RECIPROCAL_CONDITION = 1e-8


def badly_scaled(variances: Array, floor: Array | float = 0.0) -> bool:
    """Return whether columns with variance differ in it by more than ``WIDEST_RATIO``.

    ``floor`` is what rounding makes of a column that is constant.

    >>> badly_scaled(np.array([1.0, 1e9, 0.0])), badly_scaled(np.array([1.0, 1e3, 0.0]))
    (True, False)
    >>> badly_scaled(np.array([1.0, 1e-9]), floor=1e-8)
    False
    """
    seen = variances[variances > floor]
    return bool(seen.size and seen.max() > WIDEST_RATIO * seen.min())


def column_floor(mean: Array, count: float) -> Array:
    """The sum of squared deviations up to which a column is constant but for rounding.

    A mean of ``count`` rows may be off by as many roundings, though hardly by more than 1e6; and
    where ``count`` is the weight of the rows, their number is not known.
    """
    share = min(max(count, 1.0), 1e6) * EPS
    return count * (share * mean) ** 2


@dataclass(frozen=True)
class GradedSystem:
    """``gram + alpha I`` for one penalty, scaled to a unit diagonal; see :func:`graded_system`."""

    size: int  # of the Gram matrix
    kept: NDArray[np.intp]  # columns that take part; the others have coefficient 0
    roots: Array  # (k,) square roots of the diagonal D
    basis: Array | None  # (k, r) of the range of the scaled Gram matrix; None: the identity
    matrix: Array  # (r, r) the system in that basis
    gram: Array  # (r, r) the scaled Gram matrix in that basis, without the penalty
    neighbour: Any = None  # the Gram matrix that was given, where it is on a device

    def solve(self, cross: Array) -> Array:
        """Return ``(gram + alpha I)^-1 cross``."""
        cross = host(cross)
        inside = cross[self.kept] / self.roots[:, None]
        if self.basis is None:
            inside = dense.solve_definite(self.matrix, inside)
        else:
            inside = self.basis @ dense.solve_definite(self.matrix, self.basis.T @ inside)
        solution = np.zeros((self.size, cross.shape[1]))
        solution[self.kept] = inside / self.roots[:, None]
        return to_device_of(solution, self.neighbour)

    def inverse(self) -> tuple[Array, float]:
        """Return ``(gram + alpha I)^-1`` as a matrix, and the trace of ``gram`` times it."""
        inner = dense.inverse_definite(self.matrix)
        trace = float(np.sum(inner * self.gram))
        if self.basis is not None:
            inner = self.basis @ inner @ self.basis.T
        inner = inner / np.outer(self.roots, self.roots)
        inverse = np.zeros((self.size, self.size))
        inverse[np.ix_(self.kept, self.kept)] = (inner + inner.T) / 2
        return to_device_of(inverse, self.neighbour), trace

    def hat_root(self) -> tuple[Array, Array]:
        """Return R with ``ZRR'Z'`` the hat matrix of rows Z, ZR having orthogonal columns, and the
        squares of their lengths."""
        values, vectors = all_eigenpairs(self.matrix)
        half = vectors / np.sqrt(np.maximum(values, EPS))
        inner = half.T @ self.gram @ half
        squares, turn = all_eigenpairs((inner + inner.T) / 2)
        half = half @ turn
        root = np.zeros((self.size, half.shape[1]))
        root[self.kept] = (half if self.basis is None else self.basis @ half) / self.roots[:, None]
        return to_device_of(root, self.neighbour), to_device_of(
            np.maximum(squares, 0.0), self.neighbour
        )


def graded_system(gram: Array, alpha: float, floor: Array | float = 0.0) -> GradedSystem:
    """Scale ``gram + alpha I`` to a unit diagonal, and cut it to its rank where that is lower.

    Columns with no more variance than ``floor`` take no part. Of a matrix on a device all this is
    done on the host; what is found goes back.

    >>> gram = np.array([[1e16, 1e7], [1e7, 1.0]])  # two columns, 1e8 and 1, cosine 0.1
    >>> graded_system(gram, 0.0).solve(gram @ np.array([[2e-8], [3.0]]))
    array([[2.e-08],
           [3.e+00]])
    """
    neighbour, gram, floor = device_in(gram), host(gram), host(floor)
    size, diagonal = gram.shape[0], np.diag(gram)
    kept = np.flatnonzero(diagonal > floor)
    if kept.size < diagonal.size:
        gram, diagonal = gram[np.ix_(kept, kept)], diagonal[kept]
    roots = np.sqrt(diagonal + alpha)
    scaled = gram / roots
    scaled /= roots[:, None]
    penalty = alpha / roots**2 if alpha else np.zeros_like(roots)
    matrix = scaled.copy()
    matrix[np.diag_indices_from(matrix)] += penalty
    if dense.reciprocal_condition(matrix) >= SAFE_RECIPROCAL_CONDITION:
        return GradedSystem(size, kept, roots, None, matrix, scaled, neighbour)
    values, vectors = all_eigenpairs(scaled)
    rank = numerical_rank(values, values.size)
    basis = vectors[:, :rank]
    matrix = dense.self_product((basis * np.sqrt(penalty)[:, None]).T)
    matrix[np.diag_indices_from(matrix)] += values[:rank]
    return GradedSystem(size, kept, roots, basis, matrix, np.diag(values[:rank]), neighbour)


def graded_rotation(projection: Array, variances: Array) -> tuple[Array, Array]:
    """An orthogonal T, and PT with as many zeros as can be against the largest columns of X.

    A ridge on XP is one on XPT, and there each column of the Gram matrix has a size of its own,
    where a P that mixes large and small columns of X hides the small ones in all of its own.

    >>> T, turned = graded_rotation(np.array([[0.6, 0.8], [0.8, -0.6]]), np.array([1e16, 1.0]))
    >>> np.round(np.abs(turned), 12)
    array([[1., 0.],
           [0., 1.]])
    """
    neighbour = device_in(projection)
    projection, variances = host(projection), host(variances)
    order = np.argsort(-variances, kind="stable")
    T, R = dense.qr(projection[order].T)
    turned = np.empty((projection.shape[0], T.shape[1]))
    turned[order] = np.triu(R).T
    return to_device_of(T, neighbour), to_device_of(turned, neighbour)


def direction_floor(directions: Any, variances: Array) -> Array:
    """The sum of squares up to which rows along a direction are what cancellation left of them."""
    return directions.shape[0] * EPS * (variances @ directions**2)


def inverse_deviations(means: Array, variances: Array, count: float) -> Array:
    """Return 1 / standard deviation, and 1 for a column that is constant but for rounding."""
    varies = count * variances > column_floor(means, count)
    if isinstance(variances, DeviceArray):
        return np.where(varies, 1.0 / np.sqrt(np.where(varies, variances, 1.0)), 1.0)
    return np.divide(1.0, np.sqrt(variances), out=np.ones_like(variances), where=varies)


def deviations_of(moments: Any) -> Array:
    """Return the standard deviations of the left columns, 1 for a constant one."""
    variances = np.diag(moments.left_left) / moments.count
    return 1.0 / inverse_deviations(moments.mean_left, variances, moments.count)
