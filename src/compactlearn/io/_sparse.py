"""Sparse matrices in model files. Compiled code believes their indices, so that these are checked
before it sees them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._tensor_file import ModelFileError
from compactlearn.io._codec import Codec, State

_TYPES = {
    "csr_array": scipy.sparse.csr_array,
    "csc_array": scipy.sparse.csc_array,
    "csr_matrix": scipy.sparse.csr_matrix,
    "csc_matrix": scipy.sparse.csc_matrix,
}
SPARSE = {type_: name for name, type_ in _TYPES.items()}


def checked_parts(
    type_: type, shape: Any, n_stored: int, indices: Any, indptr: Any
) -> tuple[int, int]:
    """The shape, where indices and their starts fit it and each other.

    >>> starts, places = np.array([0, 1, 2]), np.array([0, 2])
    >>> checked_parts(scipy.sparse.csr_array, (2, 3), 2, places, starts)
    (2, 3)
    """
    known = isinstance(shape, tuple) and len(shape) == 2
    if not known or not all(type(n) is int and 0 <= n < 2**62 for n in shape):
        raise ModelFileError("a sparse matrix has no shape")
    n_major, n_minor = shape if "csr" in SPARSE[type_] else shape[::-1]
    for array in (indices, indptr):
        if not isinstance(array, np.ndarray) or array.dtype not in (np.int32, np.int64):
            raise ModelFileError("the indices of a sparse matrix are no integers")
    if indices.dtype != indptr.dtype or max(shape) > np.iinfo(indices.dtype).max:
        raise ModelFileError("the indices of a sparse matrix are of the wrong type")
    if indices.shape != (n_stored,) or indptr.shape != (n_major + 1,):
        raise ModelFileError("the parts of a sparse matrix are of different lengths")
    if indptr[0] != 0 or indptr[-1] != n_stored or (np.diff(indptr) < 0).any():
        raise ModelFileError("the rows of a sparse matrix do not follow one another")
    if n_stored and not (0 <= indices.min() and indices.max() < n_minor):
        raise ModelFileError("a sparse matrix has an entry outside of its shape")
    return shape


def assembled(type_: type, shape: tuple[int, int], data: Any, indices: Any, indptr: Any) -> Any:
    """A sparse matrix of checked parts, which it neither copies nor converts."""
    matrix = type_(shape, dtype=data.dtype)
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
    return matrix


def _encode(matrix: Any) -> dict[str, Any]:
    return {
        "shape": tuple(int(n) for n in matrix.shape),
        "data": matrix.data,
        "indices": matrix.indices,
        "indptr": matrix.indptr,
    }


def _sparse_codec(type_: type) -> Codec:
    def decode(state: State) -> Any:
        data: NDArray[Any] = state["data"]
        if not isinstance(data, np.ndarray) or data.ndim != 1 or data.dtype.kind not in "biuf":
            raise ModelFileError("the entries of a sparse matrix are no numbers")
        indices, indptr = state["indices"], state["indptr"]
        shape = checked_parts(type_, state["shape"], data.size, indices, indptr)
        return assembled(type_, shape, data, indices, indptr)

    return Codec(_encode, decode)


CODECS = dict.fromkeys(_TYPES, _sparse_codec)
