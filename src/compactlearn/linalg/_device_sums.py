"""Sums over rows that are on a device, a few hundred megabytes of them at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from compactlearn.core._device_array import DeviceArray

BLOCK_BYTES = 1 << 28


def device_sums(
    left: DeviceArray, right: DeviceArray, weights: Any = None
) -> tuple[float, Any, Any]:
    """Weight, mean and centred scatter of the columns ``[left, right]``.

    Rows are less the mean before they are multiplied, and what rounding has left of that mean is
    taken off afterwards, so that no offset costs digits.
    """
    count = float(left.shape[0]) if weights is None else float(weights.sum())
    width = left.shape[1] + right.shape[1]
    if count <= 0:
        return 0.0, left.filled(width, 0.0), left.filled((width, width), 0.0)
    if weights is not None:
        weights = left.beside(weights)
    means = [device_total(block, weights) / count for block in (left, right)]
    mean = np.concatenate(means)
    scatter, drift = left.filled((width, width), 0.0), left.filled(width, 0.0)
    for rows in _blocks(left.shape[0], width):
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


def device_columns(matrix: DeviceArray, weights: Any = None) -> tuple[Any, Any, float]:
    """Weighted mean and variance of every column, and the total weight."""
    count = float(matrix.shape[0]) if weights is None else float(weights.sum())
    mean = device_total(matrix, weights) / count
    total = matrix.filled(matrix.shape[1], 0.0)
    for rows in _blocks(*matrix.shape):
        squares = (matrix[rows] - mean) ** 2
        total += squares.sum(axis=0) if weights is None else weights[rows] @ squares
    return mean, total / count, count


def device_total(block: DeviceArray, weights: Any) -> Any:
    """The sum of the rows, each times its weight."""
    return block.sum(axis=0) if weights is None else weights @ block


def _blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    step = max(1, BLOCK_BYTES // (8 * max(1, n_columns)))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))
