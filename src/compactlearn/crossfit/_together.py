"""Rows that are held out together.

If the user passes groups, the rows of a group are held out together. Without groups equal rows are,
whatever their labels: a copy in the training part would leak the label of a held-out row.
"""

from __future__ import annotations

import hashlib
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._devices import (
    DeviceArray,
    compressed,
    host,
    library_of,
    wrap,
)
from compactlearn.core._validation import n_rows_of
from compactlearn.linalg._row_sums import row_blocks

Rows = NDArray[np.intp]


def check_groups(groups: Any, n_rows: int) -> NDArray[Any] | None:
    """Return ``groups`` as an array with an entry for each row, or None."""
    if groups is None:
        return None
    groups = np.asarray(host(groups))
    if groups.shape != (n_rows,):
        raise ValueError(
            f"groups must hold one entry for each of the {n_rows} rows, and has shape "
            f"{groups.shape}; pass a vector of that length."
        )
    return groups


def held_out_together(X: Any, groups: Any = None) -> Rows:
    """Return (n_rows,) a number for each row: rows of the same number are held out together.

    X are rows of any kind, such as texts; those of one of the ``groups`` belong together, or else
    equal ones. Numbers count from 0 in the order of first appearance, so that a row of weight 2 has
    the number of that row twice, and rows that all differ have those of their positions.

    >>> held_out_together([[2.0, 1.0], [0.0, 1.0], [2.0, 1.0]])
    array([0, 1, 0])
    >>> held_out_together(["a text", "another", "a text"], groups=[7, 7, 3])
    array([0, 0, 1])
    """
    keys = check_groups(groups, n_rows_of(X))
    keys = _row_keys(X) if keys is None else keys
    member = numbered(keys)
    if groups is not None and not member.any():
        raise ValueError(
            "groups must name at least 2 groups, of which one can be held out; got 1. Leave groups "
            "out, or divide the rows."
        )
    return member


def numbered(keys: NDArray[Any]) -> Rows:
    """Number equal keys alike, from 0 in the order of first appearance.

    >>> numbered(np.array([7, 3, 7, 5]))
    array([0, 1, 0, 2])
    """
    _, first, member = np.unique(keys, return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.intp)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[member]


def row_hashes(X: Any) -> NDArray[np.uint64]:
    """Return a hash of each row, computed from the columns and values of its nonzero entries."""
    if isinstance(X, DeviceArray):
        return _digests(compressed(X))
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    elif scipy.sparse.issparse(X):
        X = X.tocsr()  # no copy of a CSR matrix: it is sliced only
    parts = []
    for rows in row_blocks(*X.shape):
        block = scipy.sparse.csr_array(X[rows], dtype=np.float64, copy=True)
        block.sum_duplicates()
        block.eliminate_zeros()
        parts.append(_digests(block))
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.uint64)


def _digests(block: Any) -> NDArray[np.uint64]:
    """Return a hash of columns and values of every row of a CSR matrix."""
    pointers = block.indptr.astype(np.int64)
    counts = np.diff(pointers)
    # The columns of a row and then its values, row after row, so that one call hashes both.
    places = np.arange(block.indices.size) + np.repeat(pointers[:-1], counts)
    both = np.empty(2 * block.indices.size, dtype=np.int64)
    both[places] = block.indices
    both[places + np.repeat(counts, counts)] = block.data.view(np.int64)
    view, blake = memoryview(both.tobytes()), hashlib.blake2b
    edges = pairwise((16 * pointers).tolist())
    found = b"".join([blake(view[start:stop], digest_size=8).digest() for start, stop in edges])
    return np.frombuffer(found, dtype="<u8").astype(np.uint64)


def _row_keys(X: Any) -> NDArray[Any]:
    """Return a key for each row that depends on its content alone."""
    if scipy.sparse.issparse(X) or isinstance(X, DeviceArray):
        return row_hashes(X)
    if library_of(X) is not None:
        return row_hashes(wrap(X))
    if hasattr(X, "columns") or (isinstance(X, list | tuple) and not isinstance(X[0], str)):
        X = np.asarray(X)
    if isinstance(X, np.ndarray) and X.dtype.kind in "biuf":
        return row_hashes(X.reshape(len(X), -1))
    known: dict[Any, int] = {}
    keys = (row if isinstance(row, str) else repr(np.asarray(row).tolist()) for row in X)
    return np.array([known.setdefault(key, len(known)) for key in keys])
