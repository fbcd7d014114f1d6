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

from compactlearn.compact._device_kernels import ON_DEVICE, device_distances
from compactlearn.core._devices import (
    DeviceArray,
    library_of,
    unwrap,
    wrap,
)
from compactlearn.linalg._arrays import beside, zeros_beside
from compactlearn.linalg._eigen import eigenvalue_range

Array = NDArray[np.float64]

NAMED: dict[str, Callable[..., Any]] = {
    "rbf": rbf_kernel,
    "linear": linear_kernel,
    "poly": polynomial_kernel,
    "cosine": cosine_similarity,
}

# Rows and columns of a tile: 8 MiB of values, enough for matrix products to run at full speed.
TILE = 1024
DEVICE_TILE = 8192  # half a gigabyte of values: a device has no use for small portions

# How far a kernel matrix may be from symmetric or from positive semi-definite, relative to its
# largest entry or eigenvalue: far above rounding, far below what changes a result.
SLACK = 1e-8


@dataclass(frozen=True)
class Kernel:
    """A kernel whose constants are fixed, as a fit found them."""

    function: str | Callable[[Any, Any], Any]  # a name in NAMED, or (n, D), (k, D) -> (n, k)
    gamma: float | None = None
    degree: int = 3
    coef0: float = 1.0
    # Taken off dense rows before distances (rbf): |a|² + |b|² - 2ab cancels where rows are far
    # from the origin compared to each other.
    origin: Array | None = None

    @property
    def label(self) -> str:
        """The kernel as the user wrote it."""
        return getattr(self.function, "__name__", None) or f"{self.function!r:.60}"

    def values(self, A: Any, B: Any) -> Array:
        """(n, k) kernel values of the rows of A (n, D) and of B (k, D), checked."""
        if not isinstance(self.function, str):
            return self._checked_call(A, B)
        same = A is B  # scikit-learn then makes the distances to itself exactly zero
        if self.origin is not None:
            origin = wrap(self.origin)
            A = A - origin
            B = A if same else B - origin
        constants = {
            "rbf": {"gamma": self.gamma},
            "poly": {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0},
        }.get(self.function, {})
        with np.errstate(all="ignore"):  # an overflow is refused below, in words
            functions: Any = ON_DEVICE if isinstance(A, DeviceArray) else NAMED
            values = functions[self.function](A, B, **constants)
        if not np.isfinite(values).all():
            raise ValueError(
                f"The {self.function} kernel must give finite numbers, and overflows on these "
                "rows; scale X first, for example with sklearn.preprocessing.StandardScaler."
            )
        return values

    def _checked_call(self, A: Any, B: Any) -> Array:
        assert callable(self.function)
        values = self.function(unwrap(A), unwrap(B))
        if isinstance(A, DeviceArray):
            values = self._from_device(values)
        else:
            values = np.asarray(values.toarray() if scipy.sparse.issparse(values) else values)
        expected = (A.shape[0], B.shape[0])
        if values.shape != expected:
            raise ValueError(
                f"The kernel function {self.label} must return one value for each pair of rows, "
                f"here an array of shape {expected}, and returned shape {values.shape}; let it "
                "take two matrices (n, D) and (k, D) and return (n, k), as in A @ B.T."
            )
        if values.dtype.kind not in "biuf":
            raise ValueError(
                f"The kernel function {self.label} must return real numbers, and returned an "
                f"array of type {values.dtype}; convert it to float."
            )
        if not np.isfinite(values).all():
            bad = values[~np.isfinite(values)][0]
            raise ValueError(
                f"The kernel function {self.label} must return finite numbers, and returned "
                f"{bad} for some rows; scale X or repair the function."
            )
        return values.astype(np.float64, copy=False)

    def _from_device(self, values: Any) -> Any:
        if library_of(values) is None:
            raise ValueError(
                f"The kernel function {self.label} must return an array of the library and device "
                f"that it was given, and returned {type(values).__name__}; use operations of that "
                "library, as in A @ B.T, or fit NumPy arrays."
            )
        return DeviceArray(values)

    def fill(self, out: Array, X: Any, landmarks: Any) -> None:
        """Write the kernel values of the rows of X against the landmarks into ``out`` (n, L)."""
        step = tile_of(landmarks)
        for rows in tiles(X.shape[0], step):
            A = alike(X[rows], landmarks)
            for columns in tiles(landmarks.shape[0], step):
                out[rows, columns] = self.values(A, landmarks[columns])

    def gram(self, landmarks: Any) -> Array:
        """(L, L) kernel matrix of the landmarks, exactly symmetric, checked."""
        size = landmarks.shape[0]
        out = zeros_beside((size, size), landmarks)
        uneven = largest = 0.0
        step = tile_of(landmarks)
        for rows in tiles(size, step):
            A = landmarks[rows]
            for columns in tiles(rows.stop, step):
                B = A if columns == rows else landmarks[columns]
                block = self.values(A, B)
                if A is B or not isinstance(self.function, str):
                    mirror = block.T if A is B else self.values(B, A).T
                    uneven = max(uneven, float(np.abs(block - mirror).max()))
                    largest = max(largest, float(np.abs(block).max()))
                    block = (block + mirror) / 2
                out[rows, columns] = block
                out[columns, rows] = block.T
        if not isinstance(self.function, str):
            self._require_symmetric(uneven, largest)
            self._require_definite(out)
        return out

    def _require_symmetric(self, uneven: float, largest: float) -> None:
        if uneven > SLACK * largest:
            raise ValueError(
                f"The kernel function {self.label} must be symmetric, k(a, b) = k(b, a) up to "
                f"{SLACK * largest:.1e} on these rows, and differs by {uneven:.1e}; average "
                "k(a, b) and k(b, a), or use another kernel."
            )

    def _require_definite(self, matrix: Array) -> None:
        low, high = eigenvalue_range(matrix)
        if low < -SLACK * max(high, 0.0):
            raise ValueError(
                f"The kernel function {self.label} must be positive semi-definite, with no "
                f"eigenvalue below {-SLACK * max(high, 0.0):.1e} on these rows, and its matrix "
                f"has one at or below {low:.3g}; use a function that is an inner product of "
                "some features, such as A @ B.T or 'rbf'."
            )


def tile_of(landmarks: Any) -> int:
    """How many rows of a tile suit where the landmarks are."""
    return DEVICE_TILE if isinstance(landmarks, DeviceArray) else TILE


def tiles(size: int, step: int = TILE) -> Iterator[slice]:
    """Consecutive slices of at most ``step``.

    >>> list(tiles(5, 3))
    [slice(0, 3, None), slice(3, 5, None)]
    """
    for start in range(0, size, step):
        yield slice(start, min(start + step, size))


def double(X: Any, *, copy: bool = False) -> Any:
    """Rows as a C-contiguous float64 ndarray, or as a csr_array of float64."""
    if isinstance(X, DeviceArray):
        return X.copy() if copy else X
    if scipy.sparse.issparse(X):
        return scipy.sparse.csr_array(X, dtype=np.float64, copy=copy)
    return np.array(X, dtype=np.float64, order="C", copy=copy or None)


def centre(X: Any) -> Array | None:
    """The mean of dense rows; None where rows are sparse and have to stay so."""
    if scipy.sparse.issparse(X):
        return None
    with np.errstate(over="ignore"):
        mean = X.mean(axis=0) if isinstance(X, DeviceArray) else X.mean(axis=0, dtype=np.float64)
    return np.where(np.isfinite(mean), mean, 0.0)


def mean_distance(X: Any, weights: Array | None = None) -> float:
    """Mean Euclidean distance of different rows of X (n, D) over all pairs i < j.

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
        on_device = isinstance(X, DeviceArray)
        distances = device_distances(shifted) if on_device else euclidean_distances(shifted)
        if weights is None:
            return float(unit * (distances.sum() / (n * (n - 1))))
        weights = beside(weights, X)
        # Ordered pairs of different rows: of w equal ones there are w (w - 1); below w = 1, none.
        pairs = weights.sum() ** 2 - np.minimum(weights, weights**2).sum()
        return float(unit * (weights @ distances @ weights / pairs)) if pairs > 0 else 0.0


def alike(A: Any, landmarks: Any) -> Any:
    """Rows in the form of the landmarks: a kernel then sees two matrices of one kind."""
    if scipy.sparse.issparse(landmarks):
        return scipy.sparse.csr_array(A, dtype=np.float64)
    return double(A.toarray() if scipy.sparse.issparse(A) else A)
