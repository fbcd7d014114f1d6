"""Stored entries of sparse matrices by rows: keys, subsets and lookups."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

Places = NDArray[np.integer[Any]]


def kept_starts(starts: Places, kept: NDArray[np.bool_]) -> Places:
    """Return where rows start after entries that are not kept have been dropped."""
    return np.concatenate([[0], np.cumsum(kept)])[starts]


def kept_entries(matrix: Any, kept: NDArray[np.bool_]) -> scipy.sparse.csr_array:
    """Return a matrix with those of its stored entries that are kept."""
    starts = kept_starts(matrix.indptr, kept)
    return scipy.sparse.csr_array(
        (matrix.data[kept], matrix.indices[kept], starts), shape=matrix.shape
    )


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
