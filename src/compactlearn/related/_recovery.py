"""Sparse vectors from a few measurements of them: orthogonal matching pursuit and CoSaMP.

For every row z (m,) a vector y (M,) with at most k entries is sought whose measurements A y come
near z. Many rows go on together; each has a support of its own.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Places = NDArray[np.intp]

#: Residuals this short, relative to the row, are zero: what was sought is found.
FOUND = 1e-10

_CELLS = 1 << 22  # numbers of the measured columns of supports that are held at a time


def recovered(A: Array, Z: Array, k: int, way: str) -> Array:
    """Rows (n, M) with at most k entries, by "omp" or "cosamp", from measurements (n, m)."""
    solve: Callable[[Array, Array, int], Array] = omp if way == "omp" else cosamp
    k = min(k, *A.shape)
    Y = np.zeros((Z.shape[0], A.shape[1]))
    step = max(1, _CELLS // (3 * k * A.shape[0] + A.shape[1]))
    for start in range(0, Z.shape[0], step):
        Y[start : start + step] = solve(A, Z[start : start + step], k)
    return Y


def omp(A: Array, Z: Array, k: int) -> Array:
    """Orthogonal matching pursuit: k times the column that goes best with what is left, and least
    squares on all columns so far. A row that is met exactly takes no more.

    >>> A = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    >>> omp(A, np.array([[3.0, 0.0]]), 1)
    array([[3., 0., 0.]])
    """
    unit = _unit_columns(A)
    Y = np.zeros((Z.shape[0], A.shape[1]))
    support = np.empty((Z.shape[0], 0), dtype=np.intp)
    rest, lengths = Z.copy(), np.linalg.norm(Z, axis=1)
    rows = np.flatnonzero(lengths > 0)
    for _ in range(k):
        fit = _graded(rest[rows] @ unit)
        np.put_along_axis(fit, support[rows], -1.0, axis=1)
        best = np.zeros((Z.shape[0], 1), dtype=np.intp)
        best[rows, 0] = fit.argmax(axis=1)
        support = np.hstack([support, best])
        own = support[rows]
        weights = _least_squares(A, Z[rows], own, np.ones(own.shape, dtype=bool))
        Y[rows] = 0.0
        Y[rows[:, None], own] = weights
        rest[rows] = Z[rows] - Y[rows] @ A.T
        rows = rows[np.linalg.norm(rest[rows], axis=1) > FOUND * lengths[rows]]
        if not rows.size:
            break
    return Y


def cosamp(A: Array, Z: Array, k: int) -> Array:
    """CoSaMP: k times, the 2k columns that go best with what is left join those in use, least
    squares on all of them, and the k largest entries stay.

    >>> A = np.array([[1.0, 1.0], [1.0, -1.0]])
    >>> cosamp(A, np.array([[2.0, 2.0]]), 1)
    array([[2., 0.]])
    """
    n, n_labels = Z.shape[0], A.shape[1]
    unit, width = _unit_columns(A), min(2 * k, n_labels)
    Y, rest = np.zeros((n, n_labels)), Z.copy()
    for _ in range(k):
        joined = Y != 0
        np.put_along_axis(joined, _largest(rest @ unit, width), True, axis=1)
        counts = joined.sum(axis=1)
        support = np.argsort(~joined, axis=1, kind="stable")[:, : counts.max(initial=1)]
        used = np.arange(support.shape[1]) < counts[:, None]
        weights = _least_squares(A, Z, support, used)
        kept = _largest(weights, min(k, support.shape[1]))
        Y = np.zeros((n, n_labels))
        places = np.take_along_axis(support, kept, axis=1)
        np.put_along_axis(Y, places, np.take_along_axis(weights, kept, axis=1), axis=1)
        rest = Z - Y @ A.T
    return Y


def _unit_columns(A: Array) -> Array:
    lengths = np.linalg.norm(A, axis=0)
    return A / np.where(lengths > 0, lengths, 1.0)


def _largest(values: Array, count: int) -> Places:
    """The places (n, count) of the entries of largest magnitude; of equal ones the first."""
    return np.argsort(-_graded(values), axis=1, kind="stable")[:, :count]


def _graded(values: Array) -> Array:
    """Magnitudes in units of the largest of their row, to nine digits: entries of -1 and +1 make
    many of them equal, and rounding must not decide between these."""
    sizes = np.abs(values)
    largest = sizes.max(axis=1, keepdims=True, initial=0.0)
    return np.round(sizes / np.where(largest > 0, largest, 1.0), 9)


def _least_squares(A: Array, Z: Array, support: Places, used: NDArray[np.bool_]) -> Array:
    """Coefficients (n, s) of least squares, of least norm where columns depend on each other; 0
    for places that are not used."""
    columns = A.T[support] * used[:, :, None]  # (n, s, m)
    gram, cross = columns @ columns.transpose(0, 2, 1), columns @ Z[:, :, None]
    largest = np.einsum("nss->ns", gram).max(axis=1)
    places = np.arange(support.shape[1])
    gram[:, places, places] += ~used * largest[:, None]
    sound = _sound(gram) & (support.shape[1] <= A.shape[0])
    found = np.empty(cross.shape)
    found[sound] = np.linalg.solve(gram[sound], cross[sound])
    # Several times slower, and needed only where columns depend on each other.
    inverse = np.linalg.pinv(gram[~sound], rcond=1e-11, hermitian=True)
    found[~sound] = inverse @ cross[~sound]
    return found[:, :, 0]


def _sound(gram: Array) -> NDArray[np.bool_]:
    """Which Gram matrices (n, s, s) can be divided by without losing more than ten digits."""
    try:
        pivots = np.einsum("nss->ns", np.linalg.cholesky(gram))
    except np.linalg.LinAlgError:  # at least one is singular
        return np.zeros(gram.shape[0], dtype=bool)
    return pivots.min(axis=1) > 1e-5 * pivots.max(axis=1)
