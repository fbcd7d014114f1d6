"""Assembly of blocks of rows into the parts of a file and into one `Dataset`."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from compactlearn.core._compress import compress_rows
from compactlearn.datasets._dataset import DataFileError, Dataset, Matrix, as_dense
from compactlearn.datasets._parsing.lines import PACKED

# Below this share of non-zero values a matrix is kept sparse.
_SPARSE_BELOW = 0.25
_ENDINGS = (
    *PACKED,
    *(".arff", ".csv", ".tsv", ".txt", ".parquet", ".svm", ".jsonl", ".ndjson"),
)

#: Rows of a table with all columns, and a function from a row to its line number (None without
#: lines).
TableBlock = tuple[Matrix, Callable[[int], int] | None]


@dataclass(frozen=True, eq=False)
class LabelledPart:
    """Rows of a file, with the names of the columns and of the data where the file has them."""

    X: Matrix
    Y: sparse.csr_array
    feature_names: tuple[str, ...] | None = None
    label_names: tuple[str, ...] | None = None
    name: str | None = None


def whole_or_parts(
    blocks: Iterable[tuple[Matrix, sparse.csr_array]],
    size: int | None,
    n_features: int = 0,
    n_labels: int = 0,
) -> Iterator[tuple[Matrix, sparse.csr_array]]:
    """Yield features and labels of ``size`` rows or somewhat more, or of all rows (None).

    Blocks may be narrower than the numbers of columns, which are then those of the widest.
    """
    X: list[Matrix] = []
    Y: list[Matrix] = []
    n_rows = 0
    for features, labels in blocks:
        X.append(_smaller(features))
        Y.append(labels)
        n_rows += labels.shape[0]
        if size is not None and n_rows >= size:
            yield _joined(X, n_features), _joined_sparse(Y, n_labels).astype(np.int64)
            X, Y, n_rows = [], [], 0
    if size is None or n_rows:
        yield _joined(X, n_features), _joined_sparse(Y, n_labels).astype(np.int64)


def _smaller(block: Matrix) -> Matrix:
    """Return a block of rows in the smaller of its two forms."""
    if not sparse.issparse(block):
        few = np.count_nonzero(block) < _SPARSE_BELOW * block.size
        return compress_rows(block) if few else block
    if not block.data.all():
        block.eliminate_zeros()
    # Twelve bytes a value against eight: beyond two thirds the dense form is smaller.
    return block.toarray() if 3 * block.nnz > 2 * block.shape[0] * block.shape[1] else block


def _joined(blocks: list[Matrix], n_columns: int) -> Matrix:
    """Return all rows: sparse if fewer than a quarter of the values are not 0, else dense."""
    n_rows = sum(block.shape[0] for block in blocks)
    n_columns = max([n_columns, *(block.shape[1] for block in blocks)])
    n_values = sum(b.nnz if sparse.issparse(b) else np.count_nonzero(b) for b in blocks)
    if n_values < _SPARSE_BELOW * max(1, n_rows * n_columns):
        return _joined_sparse(blocks, n_columns)
    dense = np.zeros((n_rows, n_columns))
    row = 0
    for block in blocks:
        part = as_dense(block)
        dense[row : row + part.shape[0], : part.shape[1]] = part
        row += part.shape[0]
    return dense


def _joined_sparse(blocks: list[Matrix], n_columns: int) -> sparse.csr_array:
    n_columns = max([n_columns, *(block.shape[1] for block in blocks)])
    parts = [b if sparse.issparse(b) else compress_rows(b) for b in blocks]
    for part in parts:
        part.resize(part.shape[0], n_columns)
    parts = parts or [sparse.csr_array((0, n_columns))]
    rows = sparse.csr_array(sparse.vstack(parts, format="csr"))
    rows.sort_indices()
    return rows


def table_parts(
    path: Path,
    names: Sequence[str],
    feature_columns: np.ndarray,
    label_columns: np.ndarray,
    blocks: Iterable[TableBlock],
    size: int | None,
) -> Iterator[LabelledPart]:
    """Yield the rows of a table with features and labels side by side, as `whole_or_parts`."""

    def divided() -> Iterator[tuple[Matrix, sparse.csr_array]]:
        for values, line_of in blocks:
            Y = sparse.csr_array(values[:, label_columns])
            _check_labels(path, Y, label_names, line_of)
            Y.eliminate_zeros()
            yield values[:, feature_columns], Y

    feature_names = tuple(names[j] for j in feature_columns)
    label_names = tuple(names[j] for j in label_columns)
    for X, Y in whole_or_parts(divided(), size, len(feature_names), len(label_names)):
        yield LabelledPart(X, Y, feature_names, label_names)


def _check_labels(
    path: Path,
    Y: sparse.csr_array,
    names: Sequence[str],
    line_of: Callable[[int], int] | None,
) -> None:
    wrong = np.flatnonzero((Y.data != 1) & (Y.data != 0))
    if wrong.size:
        first = wrong[0]
        row = int(np.searchsorted(Y.indptr, first, side="right")) - 1
        value = Y.data[first]
        raise DataFileError(
            path,
            f"a label must be 0 or 1 in every row, but {names[Y.indices[first]]!r} holds "
            f"{'a missing value' if np.isnan(value) else f'{value:g}'}; check which columns are "
            "labels.",
            line=None if line_of is None else line_of(row),
        )


def by_rows(
    columns: np.ndarray, data: np.ndarray, counts: np.ndarray, n_columns: int
) -> sparse.csr_array | None:
    """Return sparse rows with ``counts`` values each; None if a row has a column twice."""
    ends = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    values = sparse.csr_array((data, columns, ends), shape=(len(counts), n_columns))
    values.sort_indices()
    return values if values.has_canonical_format else None


def whole(path: str | os.PathLike[str], parts: Iterable[LabelledPart]) -> Dataset:
    """Return the data set of a file that was read as one part."""
    (part,) = parts
    path = Path(path)
    name = stem(path) if part.name is None else part.name
    return Dataset(part.X, part.Y, part.feature_names, part.label_names, name, os.fspath(path))


def stem(path: Path) -> str:
    """Return the file's name without the endings of formats and of compression.

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
