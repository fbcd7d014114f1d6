"""The text format of the Extreme Classification Repository, read and written."""

import os
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np
from scipy import sparse

from compactlearn.core._atomic import atomic
from compactlearn.datasets._dataset import Dataset
from compactlearn.datasets._errors import DataFileError
from compactlearn.datasets._parsing.assemble import LabelledPart, dataset_of
from compactlearn.datasets._parsing.index_value_rows import PairReader
from compactlearn.datasets._parsing.unpacking import Limits, Lines

__all__ = ["known_columns", "read_xmlrepo", "rows_declared", "write_xmlrepo", "xmlrepo_parts"]

_HEADER = re.compile(rb"\s*(\d{1,18})\s+(\d{1,18})\s+(\d{1,18})\s*")
_TOO_MANY = 2**31 - 1


def read_xmlrepo(
    path: str | os.PathLike[str],
    *,
    n_features: int | None = None,
    n_labels: int | None = None,
    limits: Limits | None = None,
) -> Dataset:
    """Read a file of the Extreme Classification Repository, plain or compressed.

    The first line may say "rows features labels". Then each line is a row: its labels, separated
    by commas, and its features as "index:value", all counted from 0. A row that starts with a
    blank, or at once with a pair, has no label.

    Parameters
    ----------
    path : str or path
        The file.
    n_features, n_labels : int, optional
        The numbers of columns, where there is no such first line. Otherwise the largest index
        decides, and files of the same data may differ.
    limits : Limits, optional
        How far a compressed file may expand.

    Raises
    ------
    DataFileError
        A ValueError that names the file, the line and the reason.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "toy.txt")
    ...     _ = path.write_text("3 4 2\\n0,1 0:0.5 3:2\\n 2:1\\n1 1:7\\n")
    ...     data = read_xmlrepo(path)
    >>> data.X, data.Y.toarray()
    (array([[0.5, 0. , 0. , 2. ], [0. , 0. , 1. , 0. ], [0. , 7. , 0. , 0. ]]),
     array([[1, 1], [0, 0], [0, 1]]))
    """
    with Lines(path, limits) as lines:
        rows, n_rows = _begun(lines, n_features, n_labels)
        rows.read()
    return _finished(rows, n_rows)


def xmlrepo_parts(
    path: str | os.PathLike[str],
    size: int,
    *,
    n_features: int | None = None,
    n_labels: int | None = None,
    limits: Limits | None = None,
) -> Iterator[LabelledPart]:
    """The same some rows at a time, ``size`` or somewhat more of them.

    Without a first line that says so, the numbers of columns must be given.
    """
    with Lines(path, limits) as lines:
        rows, n_rows = _begun(lines, n_features, n_labels)
        shape = known_columns(rows)
        seen = 0
        for more in chain((True for _ in rows.steps()), [False]):
            if more and rows.X.n_rows < size:
                continue
            X, Y = rows.take(*shape)
            if n_rows is not None and seen + X.shape[0] > n_rows:
                _refuse_more(rows, n_rows, X, Y, seen)
                X, Y = X[: n_rows - seen], Y[: n_rows - seen]  # empty lines at the end
            seen += X.shape[0]
            if X.shape[0]:
                yield LabelledPart(X, Y)
        if n_rows is not None and seen != n_rows:
            raise _other_number(rows, n_rows, seen)


def rows_declared(path: str | os.PathLike[str], limits: Limits | None = None) -> int | None:
    """How many rows the first line promises; None where it does not say."""
    with Lines(path, limits) as lines:
        header = _HEADER.fullmatch(lines.line() or b"")
    return None if header is None else int(header[1])


def known_columns(rows: PairReader) -> tuple[int, int]:
    """The numbers of columns, without which a file cannot be read in parts."""
    if rows.n_features is None or rows.n_labels is None:
        raise DataFileError(
            rows.lines.path,
            "a file that is read in parts must say how many columns there are, and this one does "
            "not. Pass n_features and n_labels, or write 'rows features labels' in its first line.",
        )
    return rows.n_features, rows.n_labels


def _begun(
    lines: Lines, n_features: int | None, n_labels: int | None
) -> tuple[PairReader, int | None]:
    """What reads the rows, and how many the first line promises."""
    first = lines.line()
    header = None if first is None else _HEADER.fullmatch(first)
    n_rows = None
    if header is not None:
        n_rows, n_features, n_labels = (int(number) for number in header.groups())
        if max(n_features, n_labels) > _TOO_MANY:
            raise DataFileError(
                lines.path,
                f"a file may have {_TOO_MANY} columns at most, but declares "
                f"{max(n_features, n_labels)}. Check its first line.",
                line=1,
            )
    elif first is not None:
        lines.push_back(first)
    keep = header is not None
    return PairReader(lines, n_features=n_features, n_labels=n_labels, keep_blank=keep), n_rows


def _refuse_more(
    rows: PairReader, n_rows: int, X: sparse.csr_array, Y: sparse.csr_array, seen: int
) -> None:
    """Refuse rows beyond those that were promised, unless they are empty."""
    beyond = n_rows - seen
    if X[beyond:].nnz + Y[beyond:].nnz:
        raise _other_number(rows, n_rows, seen + X.shape[0])


def _other_number(rows: PairReader, promised: int, found: int) -> DataFileError:
    return DataFileError(
        rows.lines.path,
        f"the first line promises {promised} rows, but {found} follow. Check that the file "
        "is whole.",
        line=rows.lines.number,
    )


def _finished(rows: PairReader, n_rows: int | None) -> Dataset:
    X, Y = rows.X.csr(), rows.Y.csr(np.int64)
    if n_rows is not None and X.shape[0] > n_rows and X[n_rows:].nnz + Y[n_rows:].nnz == 0:
        X, Y = X[:n_rows], Y[:n_rows]  # empty lines at the end
    if n_rows is not None and X.shape[0] != n_rows:
        raise _other_number(rows, n_rows, X.shape[0])
    return pairs_dataset(rows, X, Y)


def pairs_dataset(
    rows: PairReader,
    X: sparse.csr_array,
    Y: sparse.csr_array,
    label_names: list[str] | None = None,
) -> Dataset:
    """Widen to the declared numbers of columns; dense where dense is smaller."""
    n_features = X.shape[1] if rows.n_features is None else rows.n_features
    n_labels = Y.shape[1] if rows.n_labels is None else rows.n_labels
    if not (n_features and n_labels):
        raise DataFileError(
            rows.lines.path,
            f"a multi-label data set has features and labels, but this file has {n_features} "
            f"features and {n_labels} labels. Check that it is whole, and its format.",
            line=rows.lines.number,
        )
    X.resize(X.shape[0], n_features)
    Y.resize(Y.shape[0], n_labels)
    dense = 4 * X.nnz >= max(1, X.shape[0] * n_features)
    return dataset_of(rows.lines.path, X.toarray() if dense else X, Y, None, label_names)


def write_xmlrepo(dataset: Dataset, path: str | os.PathLike[str]) -> None:
    """Write the text format of the Extreme Classification Repository, whole or not at all.

    The format has no names; they are lost. Numbers are written so that they are read back bit
    by bit.

    Parameters
    ----------
    dataset : Dataset
        What is to be written.
    path : str or path
        The file; one of that name is replaced.

    Raises
    ------
    ValueError
        If X holds NaN or infinity, for which the format has no word.
    """
    X, Y = sparse.csr_array(dataset.X), sparse.csr_array(dataset.Y)
    if not np.isfinite(X.data).all():
        raise ValueError(
            f"Extreme-classification text holds finite numbers only, but X of {dataset.name!r} has "
            "NaN or infinite values; replace them first."
        )
    with atomic(Path(path)) as stream:
        stream.write(f"{X.shape[0]} {X.shape[1]} {Y.shape[1]}\n".encode())
        for row in range(X.shape[0]):
            columns, values = _row(X, row)
            labels, present = _row(Y, row)
            text = ",".join(str(label) for label, one in zip(labels, present, strict=True) if one)
            pairs = zip(columns, values, strict=True)
            text += "".join(f" {column}:{number(value)}" for column, value in pairs if value)
            stream.write(text.encode() + b"\n")


def _row(matrix: sparse.csr_array, row: int) -> tuple[list[int], list[float]]:
    part = slice(matrix.indptr[row], matrix.indptr[row + 1])
    return matrix.indices[part].tolist(), matrix.data[part].tolist()


def number(value: float) -> str:
    """The shortest text that is read back as the same number.

    >>> number(3.0), number(0.1 + 0.2), number(1e300)
    ('3', '0.30000000000000004', '1e+300')
    """
    return repr(float(value)).removesuffix(".0")
