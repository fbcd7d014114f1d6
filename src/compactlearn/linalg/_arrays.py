"""Working forms of matrices: dense as they came, or compressed because most is zero."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._compress import compress_rows
from compactlearn.core._devices import DeviceArray, dense_on_device_of

# Below this share of non-zeros sparse products beat dense ones on two cores, conversion included
# (measured on enron, 8 %, and bibtex, 4 %; at llog's 19 % dense products are ahead).
SPARSE_BELOW = 0.12


def working_form(matrix: Any) -> Any:
    """Return CSR for a sparse or mostly-zero matrix, and the dense array otherwise.

    >>> type(working_form(np.eye(64))).__name__
    'csr_array'
    >>> type(working_form(np.ones((4, 3)))).__name__
    'ndarray'
    """
    if isinstance(matrix, DeviceArray):
        return matrix
    if scipy.sparse.issparse(matrix):
        return scipy.sparse.csr_array(matrix, dtype=np.float64)
    return compress_rows(matrix) if _mostly_zero(matrix) else matrix


def right_on_device_of(right: Any, left: Any) -> Any:
    """Return the right block, as a dense matrix on the device of the left block if it has one."""
    moves = isinstance(left, DeviceArray) and not isinstance(right, DeviceArray)
    return dense_on_device_of(right, left) if moves else right


def device_in(thing: Any) -> DeviceArray | None:
    """An array on a device that a matrix, or an operator, is made of; None where there is none."""
    if isinstance(thing, DeviceArray):
        return thing
    if isinstance(thing, tuple | list):
        parts = thing
    elif hasattr(thing, "__dict__") and not scipy.sparse.issparse(thing):
        parts = tuple(vars(thing).values())
    else:
        return None
    return next((found for found in map(device_in, parts) if found is not None), None)


def zeros_on_device_of(shape: tuple[int, ...], *neighbours: Any, dtype: Any = np.float64) -> Any:
    """Zeros where the neighbours are: on their device, or on the host.

    >>> zeros_on_device_of((2,), np.ones(3))
    array([0., 0.])
    """
    like = device_in(neighbours)
    return np.zeros(shape, dtype) if like is None else like.filled(shape, 0, dtype)


def diagonal_matrix(values: Any) -> Any:
    """``diag(values)``."""
    if isinstance(values, DeviceArray):
        return values.identity(values.size) * values
    return np.diag(values)


def column_store(shape: tuple[int, int], *neighbours: Any) -> Any:
    """An array to be filled column by column, where the neighbours are."""
    like = device_in(neighbours)
    return np.empty(shape, order="F") if like is None else like.filled(shape[::-1], 0.0).T


def to_device_of(array: Any, *neighbours: Any) -> Any:
    """An array where the neighbours are."""
    like = device_in(neighbours)
    return array if like is None or array is None else like.to_own_device(array)


def scale_columns(X: Any, factors: Any) -> Any:
    """Every column times its factor; sparse rows stay sparse."""
    if not scipy.sparse.issparse(X):
        return X * factors
    X = scipy.sparse.csr_array(X)
    data = X.data * factors[X.indices]
    return scipy.sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)


def _mostly_zero(matrix: Any) -> bool:
    """Judge by some sixty evenly spread rows; a full count would cost a pass."""
    step = max(1, matrix.shape[0] // 64)
    sample = matrix[::step]
    if np.count_nonzero(sample) >= SPARSE_BELOW * sample.size:
        return False
    # A column far from zero and not constant keeps its digits only where it can be centred.
    sample = sample.astype(np.float64, copy=False)
    mean, variance = sample.mean(axis=0), sample.var(axis=0)
    return not np.any((variance > 0) & (mean**2 > 1e4 * variance))


def kept_starts(starts: NDArray[Any], kept: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return where parts start after entries that are not kept have been dropped.

    >>> kept_starts(np.array([0, 2, 3, 4]), np.array([True, False, False, True]))
    array([0, 1, 1, 2])
    """
    kind = np.int32 if kept.size < 2**31 else np.int64  # of millions of entries, so small ones
    before = np.zeros(kept.size + 1, dtype=kind)
    np.cumsum(kept, out=before[1:])
    return before[starts].astype(np.int64)
