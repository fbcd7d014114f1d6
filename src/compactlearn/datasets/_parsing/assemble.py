"""Blocks of rows into one `Dataset`: what all readers end with."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from compactlearn.core._compress import compress_rows
from compactlearn.datasets._dataset import Dataset, Matrix
from compactlearn.datasets._errors import DataFileError

__all__ = [
    "SPARSE_BELOW",
    "GatheredRows",
    "LabelledPart",
    "LabelledRows",
    "parts_of",
    "stem",
    "take_columns",
    "whole",
]

# Below this share of non-zero values a matrix is kept sparse.
SPARSE_BELOW = 0.25
_ENDINGS = (
    *(".xz", ".bz2", ".gz", ".arff", ".mat", ".csv", ".tsv", ".txt", ".parquet", ".svm"),
    *(".jsonl", ".ndjson"),
)


class GatheredRows:
    """A matrix that arrives in blocks, each kept in the smaller of its two forms.

    Where the number of columns is known only at the end, set `n_columns` then.

    >>> rows = GatheredRows(3)
    >>> rows.add(np.array([[0.0, 0, 5], [0, 0, 0]]))
    >>> rows.add(sparse.csr_array([[0.0, 0, 0]]))
    >>> rows.matrix().toarray()
    array([[0., 0., 5.], [0., 0., 0.], [0., 0., 0.]])
    """

    def __init__(self, n_columns: int) -> None:
        self.n_columns = n_columns
        self.n_rows = 0
        self._n_values = 0
        self._blocks: list[Matrix] = []

    def add(self, block: Matrix) -> None:
        """Append the rows of a block."""
        if sparse.issparse(block):
            if not block.data.all():
                block = block.copy()
                block.eliminate_zeros()
            n_values = block.nnz
            # Twelve bytes a value against eight: beyond two thirds the dense form is smaller.
            if 3 * n_values > 2 * block.shape[0] * block.shape[1]:
                block = block.toarray()
        else:
            n_values = int(np.count_nonzero(block))
            if n_values < SPARSE_BELOW * block.size:
                block = compress_rows(block)
        self.n_rows += block.shape[0]
        self._n_values += n_values
        self._blocks.append(block)

    def matrix(self) -> Matrix:
        """All rows: a csr_array if fewer than a quarter of the values are not 0, else an ndarray.

        The blocks are given up one by one as they are copied; this can be called once.
        """
        if self._n_values < SPARSE_BELOW * max(1, self.n_rows * self.n_columns):
            return self.csr()
        dense = np.zeros((self.n_rows, self.n_columns))
        row = 0
        for block in self._release():
            stop = row + block.shape[0]
            part = block.toarray() if sparse.issparse(block) else block
            dense[row:stop, : part.shape[1]] = part
            row = stop
        return dense

    def csr(self, dtype: type = np.float64) -> sparse.csr_array:
        """All rows as a csr_array; this can be called once."""
        wide = max(self._n_values, self.n_columns) >= 2**31
        index_type = np.int64 if wide else np.int32
        data = np.empty(self._n_values, dtype)
        indices = np.empty(self._n_values, index_type)
        ends = np.zeros(self.n_rows + 1, index_type)
        row = start = 0
        for block in self._release():
            part = block if sparse.issparse(block) else compress_rows(block)
            stop = start + part.nnz
            data[start:stop], indices[start:stop] = part.data, part.indices
            ends[row + 1 : row + 1 + part.shape[0]] = start + part.indptr[1:]
            row, start = row + part.shape[0], stop
        result = sparse.csr_array((data, indices, ends), shape=(self.n_rows, self.n_columns))
        result.sort_indices()
        return result

    def _release(self) -> Iterator[Matrix]:
        self._blocks.reverse()
        while self._blocks:
            yield self._blocks.pop()


@dataclass(frozen=True, eq=False)
class LabelledPart:
    """Some rows of a file, the names of the columns, and that of the data where the file has it."""

    X: Matrix
    Y: sparse.csr_array
    feature_names: tuple[str, ...] | None = None
    label_names: tuple[str, ...] | None = None
    name: str | None = None


class LabelledRows:
    """Rows of a table with features and labels side by side."""

    def __init__(
        self,
        path: Path,
        names: Sequence[str],
        feature_columns: np.ndarray,
        label_columns: np.ndarray,
        *,
        expand: Callable[[Matrix], Matrix] | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        self.path = path
        self._names = names
        self._feature_columns, self._label_columns = feature_columns, label_columns
        self._expand = expand
        self._feature_names = (
            [names[j] for j in feature_columns] if feature_names is None else feature_names
        )
        self._X = GatheredRows(len(self._feature_names))
        self._Y = GatheredRows(len(label_columns))

    def add(self, block: Matrix, line_of: Callable[[int], int] | None = None) -> None:
        """Append rows that hold all columns; `line_of` tells the line of a row of the block."""
        features = take_columns(block, self._feature_columns)
        self._X.add(features if self._expand is None else self._expand(features))
        labels = sparse.csr_array(take_columns(block, self._label_columns))
        wrong = np.flatnonzero((labels.data != 1) & (labels.data != 0))
        if wrong.size:
            first = wrong[0]
            row = int(np.searchsorted(labels.indptr, first, side="right")) - 1
            name = self._names[self._label_columns[labels.indices[first]]]
            raise DataFileError(
                self.path,
                f"a label must be 0 or 1 in every row, but {name!r} holds "
                f"{_worded(labels.data[first])}; check which columns are labels.",
                line=None if line_of is None else line_of(row),
            )
        self._Y.add(labels)

    @property
    def n_rows(self) -> int:
        """How many rows there are so far."""
        return self._X.n_rows

    def take(self) -> LabelledPart:
        """The rows so far, which are forgotten: for those who want a file in parts."""
        names = tuple(self._feature_names), tuple(self._names[j] for j in self._label_columns)
        part = LabelledPart(self._X.matrix(), self._Y.csr(np.int64), *names)
        self._X = GatheredRows(len(self._feature_names))
        self._Y = GatheredRows(len(self._label_columns))
        return part


def parts_of(
    table: LabelledRows,
    blocks: Iterable[tuple[Matrix, Callable[[int], int] | None]],
    size: int | None,
) -> Iterator[LabelledPart]:
    """Yield the rows of a table ``size`` at a time or somewhat more, or all of them (None)."""
    for values, line_of in blocks:
        table.add(values, line_of)
        if size is not None and table.n_rows >= size:
            yield table.take()
    if size is None or table.n_rows:
        yield table.take()


def whole(path: str | os.PathLike[str], parts: Iterable[LabelledPart]) -> Dataset:
    """Return the data set of a file that was read as one part."""
    (part,) = parts
    path = Path(path)
    name = stem(path) if part.name is None else part.name
    return Dataset(part.X, part.Y, part.feature_names, part.label_names, name, os.fspath(path))


def stem(path: Path) -> str:
    """The file's name without the endings of formats and of compression.

    >>> stem(Path("data/enron.arff.xz")), stem(Path("tmc2007-500.v2.csv"))
    ('enron', 'tmc2007-500.v2')
    """
    name = path.name
    head, found, _ = name.partition(".arff")
    if found and head:  # whatever follows: "toy.arff.packed"
        return head
    while True:
        ending = next((end for end in _ENDINGS if name.lower().endswith(end)), "")
        if not ending or len(name) == len(ending):
            return name
        name = name[: -len(ending)]


def take_columns(block: Matrix, columns: np.ndarray) -> Matrix:
    """Some columns, given in ascending order.

    >>> take_columns(sparse.csr_array([[1, 0, 2], [0, 3, 0]]), np.array([1, 2])).toarray()
    array([[0, 2], [3, 0]])
    """
    if not sparse.issparse(block):
        return block[:, columns]
    target = np.full(block.shape[1], -1, dtype=np.int32)
    target[columns] = np.arange(len(columns), dtype=np.int32)
    moved = target[block.indices]
    kept = moved >= 0
    ends = np.concatenate([[0], np.cumsum(kept)])[block.indptr]
    parts = (block.data[kept], moved[kept], ends.astype(np.int32))
    return sparse.csr_array(parts, shape=(block.shape[0], len(columns)))


def _worded(value: float) -> str:
    return "a missing value" if np.isnan(value) else f"{value:g}"
