"""Matrices compressed by rows: dense ones in one pass, sparse ones with every cell stored once."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray


def with_cells_once(matrix: Any) -> Any:
    """Return a sparse matrix in CSR form in which a cell that was stored twice is their sum.

    The matrix that was given stays as it is; where it has that form already, it is returned.

    >>> twice = scipy.sparse.csr_array(([1.0, 2.0], [0, 0], [0, 2]), shape=(1, 1))
    >>> with_cells_once(twice).data, twice.data
    (array([3.]), array([1., 2.]))
    """
    rows = scipy.sparse.csr_array(matrix) if matrix.format != "csr" else matrix
    if rows.has_canonical_format:
        return rows
    rows = rows.copy()
    rows.sum_duplicates()
    return rows


_BLOCK_ENTRIES = 1 << 19  # four megabytes of float64: read twice, the second time from cache


def compress_rows(matrix: NDArray[Any]) -> scipy.sparse.csr_array:
    """Return the CSR form, float64, of a dense matrix.

    SciPy's constructor makes coordinates first and sorts them; reading the mask of a block of
    rows is several times faster.

    >>> compress_rows(np.array([[0, 2], [0, 0]])).toarray()
    array([[0., 2.],
           [0., 0.]])
    """
    n_rows, n_columns = matrix.shape
    index_type = np.int32 if matrix.size < 2**31 else np.int64
    counts = np.zeros(n_rows + 1, dtype=index_type)
    indices: list[NDArray[Any]] = [np.empty(0, dtype=index_type)]
    data: list[NDArray[Any]] = [np.empty(0)]
    step = max(1, _BLOCK_ENTRIES // max(1, n_columns))
    for start in range(0, n_rows, step):
        block = np.ascontiguousarray(matrix[start : start + step])
        position = np.flatnonzero(block != 0)
        values = block.ravel()[position]
        row, column = np.divmod(position, n_columns)
        counts[start + 1 : start + 1 + len(block)] = np.bincount(row, minlength=len(block))
        indices.append(column.astype(index_type))
        data.append(values.astype(np.float64))
    pointers = np.cumsum(counts, dtype=index_type)
    return scipy.sparse.csr_array(
        (np.concatenate(data), np.concatenate(indices), pointers), shape=matrix.shape
    )
