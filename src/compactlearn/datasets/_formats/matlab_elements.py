"""The elements of a MATLAB 5 file: tags, sizes, and the arrays of numbers behind them."""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np
from scipy import sparse

from compactlearn.datasets._dataset import Matrix
from compactlearn.datasets._errors import DataFileError
from compactlearn.datasets._parsing.unpacking import Limits, read_bytes

__all__ = ["read_matrices"]

_STORED = {
    1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8",
}  # fmt: skip
_MATRIX, _COMPRESSED = 14, 15
_SPARSE, _NUMERIC = 5, range(6, 16)
_COMPLEX = 0x0800


def read_matrices(path: Path, limits: Limits | None = None) -> dict[str, Matrix]:
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
                if found is not None:
                    matrices[found.name] = found.values
    except (struct.error, IndexError) as error:
        raise reader.damaged("it ends in the middle of an element") from error
    return matrices


@dataclass(frozen=True)
class _Matrix:
    name: str
    values: Matrix


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

    def matrix(self, body: memoryview) -> _Matrix | None:
        parts = list(self.elements(body))
        if len(parts) < 4:
            return None  # functions and other odd things
        (flags,) = struct.unpack_from(self._order + "I", parts[0][1])
        kind, shape = flags & 0xFF, self._array(*parts[1])
        if kind not in (_SPARSE, *_NUMERIC) or flags & _COMPLEX or len(shape) != 2:
            return None
        n_rows, n_columns = (int(size) for size in shape)
        if min(n_rows, n_columns) < 0 or max(n_rows, n_columns) > 2**31 - 2:
            raise self.damaged(f"a matrix claims the shape {n_rows} by {n_columns}")
        # Rows that hold nothing take no bytes in the file, but they will in memory.
        self._limits.check(self._path, 8 * (n_rows + n_columns), self._stored)
        name = bytes(parts[2][1]).decode("latin-1")
        data = parts[3:]
        if kind == _SPARSE:
            return _Matrix(name, self._sparse(data, n_rows, n_columns))
        values = self._array(*data[0])
        if len(values) != prod((n_rows, n_columns)):
            raise self.damaged(f"{name!r} holds {len(values)} numbers, not {n_rows} x {n_columns}")
        return _Matrix(name, values.reshape(n_columns, n_rows).T.astype(np.float64, order="C"))

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
