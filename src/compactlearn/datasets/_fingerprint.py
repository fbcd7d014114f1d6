"""What a data set holds, in 64 digits, whatever its files are called or packed by."""

import hashlib
from typing import Any

import numpy as np
from scipy import sparse

from compactlearn.datasets._dataset import Dataset, Matrix

__all__ = ["fingerprint"]

_CHUNK = 1 << 18  # values


def fingerprint(data: Dataset) -> str:
    """The SHA-256 of features and labels; names, compression and file format have no part in it.

    Parameters
    ----------
    data : Dataset
        What is to be told from others.

    Examples
    --------
    >>> import numpy as np
    >>> one = Dataset(np.eye(2), np.eye(2, dtype=int), name="one")
    >>> two = Dataset(np.eye(2), sparse.csr_array(np.eye(2, dtype=int)), name="two")
    >>> fingerprint(one) == fingerprint(two)
    True
    >>> fingerprint(one) == fingerprint(Dataset(np.eye(2), 1 - np.eye(2, dtype=int)))
    False
    """
    found = hashlib.sha256(b"compactlearn data 1")
    for matrix, kind in ((data.X, "<f8"), (data.Y, "<i8")):
        rows = _canonical(matrix)
        found.update(repr(tuple(map(int, rows.shape))).encode())
        for part, dtype in ((rows.indptr, "<i8"), (rows.indices, "<i8"), (rows.data, kind)):
            _feed(found, part, dtype)
    return found.hexdigest()


def _canonical(matrix: Matrix) -> sparse.csr_array:
    rows = sparse.csr_array(matrix)
    if not (rows.has_canonical_format and rows.data.all()):
        rows = rows.copy()  # the caller's stays as it is
        rows.sum_duplicates()
        rows.eliminate_zeros()
    return rows


def _feed(found: Any, array: np.ndarray, dtype: str) -> None:
    for start in range(0, len(array), _CHUNK):
        found.update(np.ascontiguousarray(array[start : start + _CHUNK], dtype=dtype).data)
