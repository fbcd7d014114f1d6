"""Sums over the rows of a matrix, some megabytes of them at a time, on the host or on a device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._device_array import DeviceArray

Array = NDArray[np.float64]

# Rows are visited in blocks of about this many bytes: they fit in a second-level cache share and
# are long enough for a symmetric rank-k update to run at full speed.
BLOCK_BYTES = 4 << 20
DEVICE_BLOCK_BYTES = 1 << 28


def scale_rows(matrix: Any, factors: Array | None) -> Any:
    """``diag(factors) matrix`` of a CSR matrix."""
    if factors is None:
        return matrix
    if isinstance(matrix, DeviceArray):
        return matrix * factors[:, None]
    data = matrix.data * np.repeat(factors, np.diff(matrix.indptr))
    return scipy.sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def sparse_squared_deviations(
    matrix: Any, mean: Array, weights: Array | None, count: float
) -> Array:
    """Return the weighted sum of squared deviations of every column of a CSR matrix.

    Summed over stored entries, plus ``mean ** 2`` for every zero: nothing cancels.
    """
    n_columns = matrix.shape[1]
    per_entry = None if weights is None else np.repeat(weights, np.diff(matrix.indptr))
    squares = (matrix.data - mean[matrix.indices]) ** 2
    if per_entry is not None:
        squares *= per_entry
    total = np.bincount(matrix.indices, weights=squares, minlength=n_columns)
    stored = np.bincount(matrix.indices, weights=per_entry, minlength=n_columns)
    return total + np.maximum(count - stored, 0.0) * mean**2


def row_blocks(n_rows: int, n_columns: int, n_bytes: int = BLOCK_BYTES) -> Iterator[slice]:
    """Yield slices of consecutive rows of about so many bytes each.

    >>> [s.stop - s.start for s in row_blocks(5, 1 << 18)]
    [2, 2, 1]
    """
    step = max(1, n_bytes // (8 * max(1, n_columns)))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def weighted_sum(matrix: Any, weights: Any) -> Array:
    """Return the sum of the rows of a matrix, each times its weight."""
    if isinstance(matrix, DeviceArray):
        return matrix.sum(axis=0) if weights is None else weights @ matrix
    if scipy.sparse.issparse(matrix):
        sums = matrix.sum(axis=0) if weights is None else matrix.T @ weights
        return np.asarray(sums, dtype=np.float64).ravel()
    total = np.zeros(matrix.shape[1])
    for rows in row_blocks(*matrix.shape):
        block = matrix[rows]
        total += (
            block.sum(axis=0, dtype=np.float64)
            if weights is None
            else weights[rows] @ block.astype(np.float64, copy=False)
        )
    return total


def column_moments(matrix: Any, weights: Array | None = None) -> tuple[Array, Array, float]:
    """Return the weighted mean and variance of every column, and the total weight."""
    count = float(matrix.shape[0] if weights is None else weights.sum())
    mean = weighted_sum(matrix, weights) / count
    if scipy.sparse.issparse(matrix):
        return mean, sparse_squared_deviations(matrix, mean, weights, count) / count, count
    on_device = isinstance(matrix, DeviceArray)
    total = matrix.filled(matrix.shape[1], 0.0) if on_device else np.zeros(matrix.shape[1])
    n_bytes = DEVICE_BLOCK_BYTES if on_device else BLOCK_BYTES
    for rows in row_blocks(matrix.shape[0], matrix.shape[1], n_bytes):
        squares = (matrix[rows] - mean) ** 2
        total += squares.sum(axis=0) if weights is None else weights[rows] @ squares
    return mean, total / count, count


def weighted_square_sum(matrix: Any, weights: Array | None) -> float:
    """Return the sum of squares of a CSR matrix's entries, each times the weight of its row."""
    if isinstance(matrix, DeviceArray):
        squares = (matrix * matrix).sum(axis=1)
        return float(squares.sum() if weights is None else weights @ squares)
    if weights is None:
        return float(matrix.data @ matrix.data)
    per_entry = np.repeat(weights, np.diff(matrix.indptr))
    return float(per_entry @ (matrix.data * matrix.data))


def device_sums(
    left: DeviceArray, right: DeviceArray, weights: Any = None
) -> tuple[float, Any, Any]:
    """Return weight, mean and centred scatter of the columns ``[left, right]``.

    Rows are less the mean before they are multiplied, and what rounding has left of that mean is
    taken off afterwards, so that no offset costs digits.
    """
    count = float(left.shape[0]) if weights is None else float(weights.sum())
    width = left.shape[1] + right.shape[1]
    if count <= 0:
        return 0.0, left.filled(width, 0.0), left.filled((width, width), 0.0)
    if weights is not None:
        weights = left.to_own_device(weights)
    means = [weighted_sum(block, weights) / count for block in (left, right)]
    mean = np.concatenate(means)
    scatter, drift = left.filled((width, width), 0.0), left.filled(width, 0.0)
    for rows in row_blocks(left.shape[0], width, DEVICE_BLOCK_BYTES):
        block = np.hstack([left[rows] - means[0], right[rows] - means[1]])
        if weights is not None:
            drift += weights[rows] @ block
            block *= np.sqrt(weights[rows])[:, None]
        else:
            drift += block.sum(axis=0)
        scatter += block.T @ block
    drift = drift / count
    scatter -= np.outer(count * drift, drift)
    return count, mean + drift, (scatter + scatter.T) / 2
