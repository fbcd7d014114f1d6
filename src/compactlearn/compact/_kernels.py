"""Kernel values between rows, a tile at a time, so that temporaries stay small."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.metrics.pairwise import (
    cosine_similarity,
    euclidean_distances,
    linear_kernel,
    polynomial_kernel,
    rbf_kernel,
)
from sklearn.utils.sparsefuncs import min_max_axis

from compactlearn.core._devices import DeviceArray, wrap
from compactlearn.linalg._arrays import to_device_of, zeros_on_device_of

Array = NDArray[np.float64]

# Rows and columns of a tile: 8 MiB of values, enough for matrix products to run at full speed.
TILE = 1024
DEVICE_TILE = 8192  # half a gigabyte of values: a device has no use for small portions


# ---- rows on a device, by the formulas of scikit-learn's kernels --------------------------------


def _squared_distances(A: DeviceArray, B: DeviceArray) -> Any:
    """``|a|² + |b|² - 2ab``; those of rows to themselves are exactly zero."""
    squares = (A * A).sum(axis=1)
    found = A @ B.T
    found *= -2.0
    found += squares[:, None]
    found += (squares if A is B else (B * B).sum(axis=1))[None, :]
    found = np.maximum(found, 0.0)
    return found * (1.0 - A.identity(A.shape[0])) if A is B else found


def _rbf(A: DeviceArray, B: DeviceArray, gamma: float) -> Any:
    values = _squared_distances(A, B)
    values *= -gamma
    return np.exp(values)


def _linear(A: DeviceArray, B: DeviceArray) -> Any:
    return A @ B.T


def _poly(A: DeviceArray, B: DeviceArray, gamma: float, degree: int, coef0: float) -> Any:
    return (gamma * (A @ B.T) + coef0) ** degree


def _cosine(A: DeviceArray, B: DeviceArray) -> Any:
    def unit(rows: DeviceArray) -> Any:
        lengths = np.linalg.norm(rows, axis=1)
        return rows / np.where(lengths == 0, 1.0, lengths)[:, None]

    return unit(A) @ unit(B).T


# ---- kernels ------------------------------------------------------------------------------------

# By name: on the host, and on a device.
NAMED: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "rbf": (rbf_kernel, _rbf),
    "linear": (linear_kernel, _linear),
    "poly": (polynomial_kernel, _poly),
    "cosine": (cosine_similarity, _cosine),
}


@dataclass(frozen=True)
class Kernel:
    """A kernel whose constants are fixed, as a fit found them."""

    function: str  # a name in NAMED
    gamma: float | None = None
    degree: int = 3
    coef0: float = 1.0
    # Subtracted from dense rows before distances (rbf): |a|² + |b|² - 2ab cancels where rows are
    # far from the origin compared to each other.
    origin: Array | None = None

    def values(self, A: Any, B: Any) -> Array:
        """Return (n, k) kernel values of the rows of A (n, D) and of B (k, D)."""
        same = A is B  # scikit-learn then makes the distances to itself exactly zero
        if self.origin is not None:
            origin = wrap(self.origin)
            A = A - origin
            B = A if same else B - origin
        constants = {
            "rbf": {"gamma": self.gamma},
            "poly": {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0},
        }.get(self.function, {})
        with np.errstate(all="ignore"):  # an overflow is refused below
            on_host, on_device = NAMED[self.function]
            values = (on_device if isinstance(A, DeviceArray) else on_host)(A, B, **constants)
        if not np.isfinite(values).all():
            raise ValueError(
                f"The {self.function} kernel must give finite numbers, and overflows on these "
                "rows; scale X first, for example with sklearn.preprocessing.StandardScaler."
            )
        return values

    def fill(self, out: Array, X: Any, landmarks: Any) -> None:
        """Write the kernel values of the rows of X against the landmarks into ``out`` (n, L)."""
        step = _tile_of(landmarks)
        for rows in tiles(X.shape[0], step):
            A = alike(X[rows], landmarks)
            for columns in tiles(landmarks.shape[0], step):
                out[rows, columns] = self.values(A, landmarks[columns])

    def gram(self, landmarks: Any) -> Array:
        """Return the (L, L) kernel matrix of the landmarks, exactly symmetric."""
        size, step = landmarks.shape[0], _tile_of(landmarks)
        out = zeros_on_device_of((size, size), landmarks)
        for rows in tiles(size, step):
            A = landmarks[rows]
            for columns in tiles(rows.start, step):
                block = self.values(A, landmarks[columns])
                out[rows, columns] = block
                out[columns, rows] = block.T
            block = self.values(A, A)
            out[rows, rows] = (block + block.T) / 2
        return out


def _tile_of(landmarks: Any) -> int:
    """Return the number of rows of a tile on the device of the landmarks."""
    return DEVICE_TILE if isinstance(landmarks, DeviceArray) else TILE


def tiles(size: int, step: int) -> Iterator[slice]:
    """Yield consecutive slices of at most ``step``.

    >>> list(tiles(5, 3))
    [slice(0, 3, None), slice(3, 5, None)]
    """
    for start in range(0, size, step):
        yield slice(start, min(start + step, size))


def double(X: Any, *, copy: bool = False) -> Any:
    """Return rows as a C-contiguous float64 ndarray, or as a csr_array of float64."""
    if isinstance(X, DeviceArray):
        return X.copy() if copy else X
    if scipy.sparse.issparse(X):
        return scipy.sparse.csr_array(X, dtype=np.float64, copy=copy)
    return np.array(X, dtype=np.float64, order="C", copy=copy or None)


def alike(A: Any, landmarks: Any) -> Any:
    """Return rows in the form of the landmarks: a kernel then sees two matrices of one kind."""
    if scipy.sparse.issparse(landmarks):
        return scipy.sparse.csr_array(A, dtype=np.float64)
    return double(A.toarray() if scipy.sparse.issparse(A) else A)


def centre(X: Any) -> Array | None:
    """Return the mean of dense rows; None where rows are sparse and have to stay so."""
    if scipy.sparse.issparse(X):
        return None
    with np.errstate(over="ignore"):
        mean = X.mean(axis=0) if isinstance(X, DeviceArray) else X.mean(axis=0, dtype=np.float64)
    return np.where(np.isfinite(mean), mean, 0.0)


def mean_distance(X: Any, weights: Array | None = None) -> float:
    """Return the mean Euclidean distance of different rows of X (n, D) over all pairs i < j.

    A row of integer weight w counts as w rows.

    >>> mean_distance(np.array([[0.0], [3.0], [3.0]]))
    2.0
    """
    n = X.shape[0]
    low, high = min_max_axis(X, axis=0) if scipy.sparse.issparse(X) else (X.min(0), X.max(0))
    if (low == high).all():
        return 0.0  # asked first: by way of inner products equal rows are 1e-8 apart, not 0
    origin = centre(X)
    with np.errstate(all="ignore"):
        # In units of the widest column, so that no square leaves the range of numbers.
        unit = float(np.max(high - low))
        shifted = (X if origin is None else X - origin) / unit
        if isinstance(X, DeviceArray):
            distances = np.sqrt(_squared_distances(shifted, shifted))
        else:
            distances = euclidean_distances(shifted)
        if weights is None:
            return float(unit * (distances.sum() / (n * (n - 1))))
        weights = to_device_of(weights, X)
        # Ordered pairs of different rows: of w equal ones there are w (w - 1); below w = 1, none.
        pairs = weights.sum() ** 2 - np.minimum(weights, weights**2).sum()
        return float(unit * (weights @ distances @ weights / pairs)) if pairs > 0 else 0.0
