"""Stored entries of sparse matrices by rows: keys, subsets and lookups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.linalg._arrays import kept_starts

Places = NDArray[np.integer[Any]]

_BLOCK = 1 << 22  # entries of a dense product at a time: 16 MB
_PRODUCTS = 1 << 18  # multiply-adds at a time, of which each needs some numbers of 64 bits


def work_of(left: Any, right: Any) -> NDArray[np.int64]:
    """Return the multiply-adds before each row of a sparse product, and all of them at last."""
    meets = np.diff(right.indptr)[left.indices]
    return np.concatenate([[0], np.cumsum(meets, dtype=np.int64)])[left.indptr]


def slices_of(work: Places, most: int, size: int | None = None) -> Iterator[slice]:
    """Yield slices of rows that need no more than ``most`` work together, and one row at least.

    ``work`` is what the rows before each one need, and at last all rows; no slice has more than
    ``size`` rows.

    >>> list(slices_of(np.array([0, 4, 5, 6, 9]), 5))
    [slice(0, 2, None), slice(2, 4, None)]
    """
    first, n_rows = 0, work.size - 1
    while first < n_rows:
        last = int(np.searchsorted(work, work[first] + most, side="right")) - 1
        last = min(max(last, first + 1), n_rows, first + (size or n_rows))
        yield slice(first, last)
        first = last


def kept_entries(matrix: Any, kept: NDArray[np.bool_]) -> scipy.sparse.csr_array:
    """Return a matrix with those of its stored entries that are kept, in 32 bits if possible."""
    kind = scipy.sparse.get_index_dtype(maxval=max(kept.size, *matrix.shape))
    starts = kept_starts(matrix.indptr, kept).astype(kind, copy=False)
    indices = matrix.indices[kept].astype(kind, copy=False)
    return scipy.sparse.csr_array((matrix.data[kept], indices, starts), shape=matrix.shape)


def side_by_side(left: Any, right: Any) -> scipy.sparse.csr_array:
    """Return the columns of two CSR matrices in one; SciPy makes coordinates in between.

    >>> one = scipy.sparse.csr_array([[1.0, 0.0], [0.0, 2.0]])
    >>> side_by_side(one, one[[1, 0]]).toarray()
    array([[1., 0., 0., 2.],
           [0., 2., 1., 0.]])
    """
    n_rows, n_left = left.shape
    lengths, others = np.diff(left.indptr), np.diff(right.indptr)
    before, after = np.arange(left.data.size), np.arange(right.data.size)
    before += np.repeat(right.indptr[:-1], lengths)
    after += np.repeat(left.indptr[1:], others)
    n_columns = n_left + right.shape[1]
    kind = scipy.sparse.get_index_dtype(maxval=max(n_columns, before.size + after.size))
    data = np.empty(before.size + after.size, np.result_type(left.dtype, right.dtype))
    indices = np.empty(data.size, kind)
    data[before], data[after] = left.data, right.data
    indices[before] = left.indices
    indices[after] = right.indices
    indices[after] += n_left
    starts = left.indptr.astype(kind) + right.indptr.astype(kind)
    return scipy.sparse.csr_array((data, indices, starts), shape=(n_rows, n_columns))


def entry_keys(matrix: scipy.sparse.csr_array) -> NDArray[np.int64]:
    """Return the position of each stored entry, counted row by row."""
    row = np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr))
    return row * matrix.shape[1] + matrix.indices


def has_entries(matrix: scipy.sparse.csr_array, keys: NDArray[Any]) -> NDArray[np.bool_]:
    """Return whether a matrix has a stored entry at each of the positions."""
    stored = np.sort(entry_keys(matrix))
    if not stored.size:
        return np.zeros(keys.size, dtype=bool)
    return stored[np.minimum(np.searchsorted(stored, keys), stored.size - 1)] == keys


def values_at(values: Any, places: scipy.sparse.csr_array) -> NDArray[np.float64]:
    """Return the values of a matrix, 0 or more, at the stored entries of another, sorted one.

    >>> places = scipy.sparse.csr_array([[5, 0], [7, 9]])
    >>> values_at(scipy.sparse.csr_array([[0, 1], [2, 3]]), places)
    array([0., 2., 3.])
    """
    ones = scipy.sparse.csr_array(
        (np.ones(places.indices.size), places.indices, places.indptr), shape=places.shape
    )
    both = scipy.sparse.csr_array(ones + ones.multiply(values))
    both.sort_indices()  # a product's rows are in no order, and sums of such are in none
    return np.asarray(both.data) - 1.0


def stored_entries(starts: Places, rows: Places) -> tuple[Places, Places]:
    """Return whose they are, and which: the stored entries of some rows, row after row."""
    lengths = np.diff(starts)[rows]
    whose = np.repeat(np.arange(rows.size), lengths)
    ends = np.cumsum(lengths)
    return whose, np.arange(whose.size) + np.repeat(starts[rows] - (ends - lengths), lengths)


def products_at(
    rows: scipy.sparse.csr_array, columns: scipy.sparse.csr_array, starts: Places, labels: Places
) -> NDArray[np.float32]:
    """Return entries of ``rows @ columns``: in row i those of ``labels[starts[i]:starts[i + 1]]``.

    >>> one = scipy.sparse.csr_array([[1.0, 2.0], [3.0, 4.0]])
    >>> products_at(one, one, np.array([0, 2, 3]), np.array([0, 1, 1]))
    array([ 7., 10., 22.], dtype=float32)
    """
    n_rows, n_labels = rows.shape[0], columns.shape[1]
    found = np.empty(labels.size, dtype=np.float32)
    step = max(1, _BLOCK // max(1, n_labels))
    kind = np.result_type(rows.dtype, columns.dtype)
    dense = np.empty((min(step, n_rows), n_labels), dtype=kind)
    for first in range(0, n_rows, step):
        own = starts[first : first + step + 1]
        pairs = slice(own[0], own[-1])
        row = np.repeat(np.arange(own.size - 1), np.diff(own))
        part = rows if step >= n_rows else rows[first : first + step]
        product = (part @ columns).toarray(out=dense[: own.size - 1])
        found[pairs] = product[row, labels[pairs]]
    return found


def maxima_at(
    rows: scipy.sparse.csr_array, columns: scipy.sparse.csr_array, starts: Places, labels: Places
) -> NDArray[np.float32]:
    """Return the largest of the products that :func:`products_at` adds up; 0 at least.

    >>> one = scipy.sparse.csr_array([[1.0, 2.0], [3.0, 4.0]])
    >>> maxima_at(one, one, np.array([0, 2, 3]), np.array([0, 1, 1]))
    array([ 6.,  8., 16.], dtype=float32)
    """
    found, n_labels = np.empty(labels.size, dtype=np.float32), columns.shape[1]
    work = work_of(rows, columns) + np.arange(rows.shape[0] + 1) * n_labels
    for some in slices_of(work, _PRODUCTS):
        own = starts[some.start : some.stop + 1]
        pairs, n_rows = slice(own[0], own[-1]), own.size - 1
        row_starts = rows.indptr[some.start : some.stop + 1]
        stored = slice(row_starts[0], row_starts[-1])
        feature, entry = stored_entries(columns.indptr, rows.indices[stored])
        row = np.repeat(np.arange(n_rows), np.diff(row_starts))[feature]
        products = rows.data[stored][feature] * columns.data[entry]
        dense = np.zeros(n_rows * n_labels, dtype=products.dtype)
        np.maximum.at(dense, row * n_labels + columns.indices[entry], products)
        found[pairs] = dense[np.repeat(np.arange(n_rows) * n_labels, np.diff(own)) + labels[pairs]]
    return found
