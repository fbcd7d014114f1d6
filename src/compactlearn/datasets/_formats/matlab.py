"""MATLAB 5 files (.mat): two matrices, one of features and one of labels.

Only numeric and sparse matrices are ever made. Cells, structures, objects and functions are
passed over unread, so that nothing in a file can ask for more than arrays of numbers. SciPy's
reader makes all of them, and unpacks without a limit.
"""

import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy import sparse

from compactlearn.datasets._dataset import Dataset, Matrix
from compactlearn.datasets._errors import DataFileError, short
from compactlearn.datasets._parsing.assemble import GatheredRows, LabelledPart, whole
from compactlearn.datasets._parsing.unpacking import Limits, read_bytes

__all__ = ["read_mat"]

_STORED = {
    1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8",
}  # fmt: skip
_MATRIX, _COMPRESSED = 14, 15
_SPARSE, _NUMERIC = 5, range(6, 16)
_COMPLEX = 0x0800
# In the order in which they are looked for; letter case does not matter.
_PAIRS = (
    ("data", "target"), ("data", "targets"), ("data", "labels"), ("data", "label"),
    ("x", "y"), ("features", "labels"), ("fea", "gnd"), ("feature", "label"),
    ("inputs", "targets"), ("train_data", "train_target"), ("x_train", "y_train"),
)  # fmt: skip


def read_mat(
    path: str | os.PathLike[str],
    *,
    features: str | None = None,
    labels: str | None = None,
    labels_are: str | None = None,
    limits: Limits | None = None,
) -> Dataset:
    """Read features and labels from a MATLAB 5 file.

    Labels may be 0 and 1, or -1 and +1.

    Parameters
    ----------
    path : str or path
        The file.
    features, labels : str, optional
        The names of the two variables. By default a customary pair is looked for, such as data
        and target, or X and Y.
    labels_are : {"rows", "columns"}, optional
        Whether a label is a row or a column of its matrix. By default whichever fits the number
        of rows of the features; needed where both fit.
    limits : Limits, optional
        How far compressed variables may expand.

    Returns
    -------
    Dataset
        Without names, which such files do not carry.

    Raises
    ------
    DataFileError
        A ValueError that names the file and the reason.
    """
    if labels_are not in (None, "rows", "columns"):
        raise ValueError(f"labels_are must be 'rows', 'columns' or None, got {labels_are!r}.")
    path = Path(path)
    matrices = _read_matrices(path, limits)
    features, labels = _choose(path, matrices, features, labels)
    X = matrices[features]
    Y = _labels(path, labels, _oriented(path, matrices, (features, labels), labels_are))
    rows = GatheredRows(X.shape[1])
    rows.add(X)
    return whole(path, [LabelledPart(rows.matrix(), Y)])


def _choose(
    path: Path, matrices: dict[str, Matrix], features: str | None, labels: str | None
) -> tuple[str, str]:
    shapes = {name: "x".join(map(str, m.shape)) for name, m in matrices.items()}
    holds = ", ".join(f"{short(name)!r} ({shapes[name]})" for name in shapes) or "none"
    for name in (features, labels):
        if name is not None and name not in matrices:
            raise DataFileError(
                path, f"there is no numeric matrix {name!r}. The matrices in the file: {holds}."
            )
    lower = {name.lower(): name for name in matrices}
    for x, y in _PAIRS:
        x, y = features or lower.get(x), labels or lower.get(y)
        if x is not None and y is not None and x != y:
            return x, y
    raise DataFileError(
        path,
        "no customary pair of names (data and target, X and Y) tells features and labels. Pass "
        f"features=... and labels=...; the numeric matrices in the file: {holds}.",
    )


def _oriented(
    path: Path, matrices: dict[str, Matrix], names: tuple[str, str], labels_are: str | None
) -> Matrix:
    X, target = (matrices[name] for name in names)
    n = X.shape[0]
    fits = {"columns": target.shape[0] == n, "rows": target.shape[1] == n}
    if labels_are is None and all(fits.values()):
        raise DataFileError(
            path,
            f"{names[1]!r} is {n} by {n}, so its labels may be rows or columns. Pass "
            "labels_are='rows' or labels_are='columns'.",
        )
    chosen = labels_are or ("rows" if fits["rows"] else "columns")
    if not fits[chosen]:
        raise DataFileError(
            path,
            f"features and labels must be of the same rows, but {names[0]!r} has shape "
            f"{X.shape} and {names[1]!r} {target.shape}. Name other variables.",
        )
    return target.T if chosen == "rows" else target


def _labels(path: Path, name: str, Y: Matrix) -> sparse.csr_array:
    if sparse.issparse(Y):
        Y = sparse.csr_array(Y)
        given = np.unique(Y.data)
    else:
        given = np.unique(Y)
    if not (np.isin(given, [0, 1]).all() or np.isin(given, [-1, 1]).all()):
        shown = ", ".join(f"{value:g}" for value in given[:6])
        raise DataFileError(
            path,
            f"labels must be 0 and 1, or -1 and +1, but {name!r} holds {shown}. Name "
            "another variable.",
        )
    # In a sparse matrix of -1 and +1 what is left out would be a third value.
    if sparse.issparse(Y) and (given == -1).any() and Y.nnz < Y.shape[0] * Y.shape[1]:
        raise DataFileError(path, f"labels of -1 and +1 must not be sparse ({name!r}).")
    rows = GatheredRows(Y.shape[1])
    rows.add(sparse.csr_array(Y > 0, dtype=np.float64))
    return rows.csr(np.int64)


def _read_matrices(path: Path, limits: Limits | None = None) -> dict[str, Matrix]:
    """The real numeric matrices of two dimensions, by name; everything else is passed over.

    Raises
    ------
    DataFileError
        If the file is of another kind, is damaged, or expands beyond the limits.
    """
    content = memoryview(read_bytes(path, limits))
    if bytes(content[:8]) == b"\x89HDF\r\n\x1a\n" or bytes(content[:10]) == b"MATLAB 7.3":
        raise DataFileError(
            path,
            "this is MATLAB 7.3, which is HDF5; only MATLAB 5 files are read. Save it again in "
            "MATLAB with save(..., '-v7').",
        )
    order = {b"IM": "<", b"MI": ">"}.get(bytes(content[126:128]))
    if order is None:
        raise DataFileError(
            path,
            "a MATLAB 5 file has a head of 128 bytes that ends with its byte order, but this has "
            "none. Check that it is a .mat file and that it is whole.",
        )
    reader = _Reader(path, order, limits or Limits(), len(content))
    matrices: dict[str, Matrix] = {}
    try:
        for kind, body in reader.elements(content[128:]):
            if kind == _COMPRESSED:
                inner = reader.elements(reader.inflated(body))
                kind, body = next(inner, (0, body))
            if kind == _MATRIX:
                found = reader.matrix(body)
                matrices.update(found)
    except (struct.error, IndexError) as error:
        raise reader.damaged("it ends in the middle of an element") from error
    return matrices


class _Reader:
    def __init__(self, path: Path, order: str, limits: Limits, stored: int) -> None:
        self._path, self._order, self._limits, self._stored = path, order, limits, stored
        self._expanded = 0

    def damaged(self, why: str) -> DataFileError:
        return DataFileError(
            self._path, f"the MATLAB file is damaged: {why}. Fetch or copy it again."
        )

    def elements(self, body: memoryview) -> Iterator[tuple[int, memoryview]]:
        """The type and the content of each element."""
        start = 0
        while start + 8 <= len(body):
            kind, size = struct.unpack_from(self._order + "II", body, start)
            if kind >> 16:  # up to four bytes, packed into the tag itself
                kind, size = kind & 0xFFFF, kind >> 16
                if size > 4:
                    raise self.damaged("a short element claims more than four bytes")
                yield kind, body[start + 4 : start + 4 + size]
                start += 8
                continue
            start += 8
            if size > len(body) - start:
                raise self.damaged("an element claims more bytes than there are")
            yield kind, body[start : start + size]
            start += size if kind == _COMPRESSED else size + -size % 8

    def inflated(self, body: memoryview) -> memoryview:
        unpacker, parts, rest = zlib.decompressobj(), [], bytes(body)
        while rest and not unpacker.eof:
            try:
                parts.append(unpacker.decompress(rest, 1 << 20))
            except zlib.error as error:
                raise self.damaged(f"a variable cannot be unpacked ({error})") from error
            rest = unpacker.unconsumed_tail
            self._expanded += len(parts[-1])
            self._limits.check(self._path, self._expanded, self._stored)
        parts.append(unpacker.flush(1 << 10))
        if not unpacker.eof:
            raise self.damaged("a compressed variable is cut off")
        return memoryview(b"".join(parts))

    def matrix(self, body: memoryview) -> dict[str, Matrix]:
        """Return a real numeric matrix of two dimensions by its name; nothing for all else."""
        parts = list(self.elements(body))
        if len(parts) < 4:
            return {}  # functions and other odd things
        (flags,) = struct.unpack_from(self._order + "I", parts[0][1])
        kind, shape = flags & 0xFF, self._array(*parts[1])
        if kind not in (_SPARSE, *_NUMERIC) or flags & _COMPLEX or len(shape) != 2:
            return {}
        n_rows, n_columns = (int(size) for size in shape)
        if min(n_rows, n_columns) < 0 or max(n_rows, n_columns) > 2**31 - 2:
            raise self.damaged(f"a matrix claims the shape {n_rows} by {n_columns}")
        # Rows that hold nothing take no bytes in the file, but they will in memory.
        self._limits.check(self._path, 8 * (n_rows + n_columns), self._stored)
        name = bytes(parts[2][1]).decode("latin-1")
        data = parts[3:]
        if kind == _SPARSE:
            return {name: self._sparse(data, n_rows, n_columns)}
        values = self._array(*data[0])
        if len(values) != n_rows * n_columns:
            raise self.damaged(f"{name!r} holds {len(values)} numbers, not {n_rows} x {n_columns}")
        return {name: values.reshape(n_columns, n_rows).T.astype(np.float64, order="C")}

    def _array(self, kind: int, body: memoryview) -> np.ndarray:
        dtype = _STORED.get(kind)
        if dtype is None:
            raise self.damaged(f"numbers of the unknown type {kind}")
        dtype = np.dtype(self._order + dtype)
        if len(body) % dtype.itemsize:
            raise self.damaged("an array ends in the middle of a number")
        return np.frombuffer(body, dtype=dtype)

    def _sparse(
        self, data: list[tuple[int, memoryview]], n_rows: int, n_columns: int
    ) -> sparse.csr_array:
        if len(data) < 3:
            raise self.damaged("a sparse matrix lacks one of its three arrays")
        rows, ends, values = (self._array(*part) for part in data[:3])
        count = int(ends[-1]) if len(ends) == n_columns + 1 else -1
        good = 0 <= count <= min(len(rows), len(values)) and ends[0] == 0
        good = good and (np.diff(ends.astype(np.int64)) >= 0).all()
        rows, values = rows[: max(count, 0)], values[: max(count, 0)]
        if not good or (count and not 0 <= rows.min() <= rows.max() < n_rows):
            raise self.damaged("the indices of a sparse matrix contradict each other")
        parts = (values.astype(np.float64), rows.astype(np.int32), ends.astype(np.int32))
        by_columns = sparse.csc_array(parts, shape=(n_rows, n_columns))
        by_columns.sum_duplicates()
        return sparse.csr_array(by_columns)
