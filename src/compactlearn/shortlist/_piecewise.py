"""Piecewise linear functions of one variable, as columns of a regression."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# As a share of the largest: values are rounded to seven digits, and between corners that are nearer
# than that a function would be as steep as it likes.
_CLOSEST = 1e-4


def corners_of(
    values: NDArray[np.floating],
    quantiles: Sequence[float],
    present: NDArray[np.floating],
    present_quantiles: Sequence[float],
) -> Array:
    """Return increasing corners, two at least: quantiles of all values, and of some of them."""
    if not values.size:
        return np.array([0.0, 1.0])
    inner = np.quantile(present, present_quantiles) if present.size else np.zeros(0)
    corners = np.concatenate([np.quantile(values, quantiles), inner]).astype(np.float64)
    corners = _apart(np.unique(corners))
    return corners if corners.size > 1 else np.array([corners[0], corners[0] + 1.0])


def _apart(corners: Array) -> Array:
    """Return corners without those that differ from the one before by no more than rounding.

    >>> _apart(np.array([0.0, 0.5, 0.99999998, 1.0]))
    array([0.        , 0.5       , 0.99999998])
    """
    least = _CLOSEST * float(np.abs(corners).max())
    kept = corners[:1].tolist()
    for corner in corners[1:].tolist():
        if corner - kept[-1] > least:
            kept.append(corner)
    return np.array(kept)


def hats_of(values: NDArray[np.floating], corners: Array) -> Array:
    """Return the weights of the corners that a value lies between; beyond the ends, of the ends.

    >>> hats_of(np.array([0.0, 0.25, 3.0]), np.array([0.0, 1.0, 2.0]))
    array([[1.  , 0.  , 0.  ],
           [0.75, 0.25, 0.  ],
           [0.  , 0.  , 1.  ]])
    """
    x = np.clip(values.astype(np.float64), corners[0], corners[-1])
    left = np.clip(np.searchsorted(corners, x, side="right") - 1, 0, corners.size - 2)
    part = (x - corners[left]) / (corners[left + 1] - corners[left])
    hats = np.zeros((x.size, corners.size))
    row = np.arange(x.size)
    hats[row, left] = 1.0 - part
    hats[row, left + 1] = part
    return hats
