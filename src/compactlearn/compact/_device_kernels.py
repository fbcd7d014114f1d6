"""The named kernels of rows that are on a device, by the formulas of scikit-learn's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from compactlearn.core._device_array import DeviceArray


def _squared_distances(A: DeviceArray, B: DeviceArray) -> Any:
    """``|a|² + |b|² - 2ab``; those of rows to themselves are exactly zero."""
    squares = (A * A).sum(axis=1)
    found = A @ B.T
    found *= -2.0
    found += squares[:, None]
    found += (squares if A is B else (B * B).sum(axis=1))[None, :]
    found = np.maximum(found, 0.0)
    return found * (1.0 - A.identity(A.shape[0])) if A is B else found


def device_distances(A: DeviceArray) -> Any:
    """(n, n) Euclidean distances of the rows of A."""
    return np.sqrt(_squared_distances(A, A))


def _rbf(A: DeviceArray, B: DeviceArray, gamma: float) -> Any:
    values = _squared_distances(A, B)
    values *= -gamma
    return np.exp(values)


def _linear(A: DeviceArray, B: DeviceArray) -> Any:
    return A @ B.T


def _poly(A: DeviceArray, B: DeviceArray, gamma: float, degree: int, coef0: float) -> Any:
    return (gamma * (A @ B.T) + coef0) ** degree


def _cosine(A: DeviceArray, B: DeviceArray) -> Any:
    return _unit_rows(A) @ _unit_rows(B).T


def _unit_rows(A: DeviceArray) -> Any:
    """Rows of length one; those of zeros stay."""
    lengths = np.linalg.norm(A, axis=1)
    return A / np.where(lengths == 0, 1.0, lengths)[:, None]


ON_DEVICE: dict[str, Callable[..., Any]] = {
    "rbf": _rbf,
    "linear": _linear,
    "poly": _poly,
    "cosine": _cosine,
}
