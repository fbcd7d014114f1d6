"""Rows "label,label index:value index:value": LIBSVM's text with several labels per row, and the
text of the Extreme Classification Repository.

A block of plain numbers is parsed at once, and any other line by line.
"""

import math
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from scipy import sparse

from compactlearn.core._atomic import atomic
from compactlearn.datasets._dataset import Dataset
from compactlearn.datasets._errors import DataFileError, short
from compactlearn.datasets._parsing.assemble import SPARSE_BELOW, GatheredRows, LabelledPart, whole
from compactlearn.datasets._parsing.number_blocks import INDEX, LABEL, SKIP, VALUE, Grammar
from compactlearn.datasets._parsing.unpacking import Block, Limits, Lines, decoded

__all__ = [
    "libsvm_parts",
    "number",
    "read_libsvm",
    "read_xmlrepo",
    "row_of",
    "rows_declared",
    "write_xmlrepo",
    "xmlrepo_parts",
]

_HEADER = re.compile(rb"\s*(\d{1,18})\s+(\d{1,18})\s+(\d{1,18})\s*")
_GRAMMAR = Grammar(
    {
        "\n0,": LABEL, ",0,": LABEL, "\n0 ": LABEL, ",0 ": LABEL, "\n0\n": LABEL, ",0\n": LABEL,
        "\n0:": INDEX, " 0:": INDEX, ":0 ": VALUE, ":0\n": VALUE,
        "\n ": SKIP, "  ": SKIP, " \n": SKIP, "\n\n": SKIP,
    }
)  # fmt: skip
_TAB_TO_BLANK = bytes.maketrans(b"\t\r", b"  ")
_LARGEST = 2**31 - 2


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
    return _dense_if_smaller(
        path, xmlrepo_parts(path, None, n_features=n_features, n_labels=n_labels, limits=limits)
    )


def xmlrepo_parts(
    path: str | os.PathLike[str],
    size: int | None,
    *,
    n_features: int | None = None,
    n_labels: int | None = None,
    limits: Limits | None = None,
) -> Iterator[LabelledPart]:
    """Yield ``size`` rows at a time or somewhat more, or all of them (None)."""
    with Lines(path, limits) as lines:
        first = lines.line()
        header = _HEADER.fullmatch(first or b"")
        n_rows = None
        if header is not None:
            n_rows, n_features, n_labels = (int(number) for number in header.groups())
            if max(n_features, n_labels) > _LARGEST + 1:
                raise DataFileError(
                    lines.path,
                    f"a file may have {_LARGEST + 1} columns at most, but declares "
                    f"{max(n_features, n_labels)}. Check its first line.",
                    line=1,
                )
        elif first is not None:
            lines.push_back(first)
        rows = _PairReader(
            lines, n_features=n_features, n_labels=n_labels, keep_blank=header is not None
        )
        seen = 0
        for X, Y in rows.parts(size):
            if n_rows is not None and seen + X.shape[0] > n_rows:
                beyond = n_rows - seen
                if X[beyond:].nnz + Y[beyond:].nnz:
                    raise _other_number(lines, n_rows, seen + X.shape[0])
                X, Y = X[:beyond], Y[:beyond]  # empty lines at the end
            seen += X.shape[0]
            if size is None or X.shape[0]:
                yield LabelledPart(X, Y)
        if n_rows is not None and seen != n_rows:
            raise _other_number(lines, n_rows, seen)


def _other_number(lines: Lines, promised: int, found: int) -> DataFileError:
    return DataFileError(
        lines.path,
        f"the first line promises {promised} rows, but {found} follow. Check that the file "
        "is whole.",
        line=lines.number,
    )


def rows_declared(path: str | os.PathLike[str], limits: Limits | None = None) -> int | None:
    """How many rows the first line promises; None where it does not say."""
    with Lines(path, limits) as lines:
        header = _HEADER.fullmatch(lines.line() or b"")
    return None if header is None else int(header[1])


def read_libsvm(
    path: str | os.PathLike[str],
    *,
    zero_based: bool = False,
    n_features: int | None = None,
    n_labels: int | None = None,
    label_names: Sequence[str] | None = None,
    limits: Limits | None = None,
) -> Dataset:
    """Read a multi-label LIBSVM (svmlight) file, plain or compressed.

    A row is "label,label index:value index:value"; "#" begins a remark, and a row that starts
    with a blank, or at once with a pair, has no label. Labels that are all whole numbers are
    columns of Y as they stand, from 0 to the largest. Otherwise all are names, and the columns
    of Y are these in alphabetical order.

    Parameters
    ----------
    path : str or path
        The file.
    zero_based : bool
        Whether features are counted from 0. LIBSVM counts them from 1.
    n_features : int, optional
        By default the largest index decides.
    n_labels : int, optional
        The number of labels where they are whole numbers; by default the largest decides.
    label_names : list of str, optional
        The names that may occur, in the order of the columns they get.
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
    ...     path = pathlib.Path(folder, "toy.svm")
    ...     _ = path.write_text("sad,funny 1:0.5 2:2\\nsad 1:1\\n")
    ...     data = read_libsvm(path)
    >>> data.label_names, data.Y.toarray(), data.X
    (('funny', 'sad'), array([[1, 1], [0, 1]]), array([[0.5, 2. ], [1. , 0. ]]))
    """
    options = {"zero_based": zero_based, "n_features": n_features, "limits": limits}
    try:
        parts = libsvm_parts(path, None, n_labels=n_labels, label_names=label_names, **options)
        return _dense_if_smaller(path, parts)
    except DataFileError as error:
        if not isinstance(error.__cause__, _UnknownLabel):
            raise
    names: dict[str, int] = {}
    with Lines(path, limits) as lines:
        ((X, Y),) = _libsvm_rows(lines, zero_based, n_features, None, names).parts(None)
    ordered = tuple(sorted(names))
    Y = sparse.csr_array(Y[:, [names[name] for name in ordered]])
    Y.sort_indices()
    return _dense_if_smaller(path, [LabelledPart(X, Y, None, ordered)])


def libsvm_parts(
    path: str | os.PathLike[str],
    size: int | None,
    *,
    zero_based: bool = False,
    n_features: int | None = None,
    n_labels: int | None = None,
    label_names: Sequence[str] | None = None,
    limits: Limits | None = None,
) -> Iterator[LabelledPart]:
    """Yield ``size`` rows at a time or somewhat more, or all of them (None)."""
    listed = None if label_names is None else tuple(label_names)
    named = None if listed is None else {name: j for j, name in enumerate(listed)}
    with Lines(path, limits) as lines:
        n_labels = n_labels if listed is None else len(listed)
        for X, Y in _libsvm_rows(lines, zero_based, n_features, n_labels, named).parts(size):
            if named is not None and len(named) > len(listed or ()):
                raise DataFileError(
                    lines.path,
                    f"label_names must hold every label of the file, but {list(named)[-1]!r} is "
                    "not among them. Add it.",
                )
            yield LabelledPart(X, Y, None, listed)


def _libsvm_rows(
    lines: Lines,
    zero_based: bool,
    n_features: int | None,
    n_labels: int | None,
    named: dict[str, int] | None,
) -> "_PairReader":
    return _PairReader(
        lines,
        first_index=0 if zero_based else 1,
        n_features=n_features,
        n_labels=n_labels,
        keep_blank=False,
        named=named,
        comments=True,
    )


def _dense_if_smaller(path: str | os.PathLike[str], parts: Iterable[LabelledPart]) -> Dataset:
    found = whole(path, parts)
    dense = found.X.nnz >= SPARSE_BELOW * max(1, found.X.shape[0] * found.X.shape[1])
    return replace(found, X=found.X.toarray()) if dense else found


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
            text = ",".join(str(label) for label, one in row_of(Y, row) if one)
            text += "".join(
                f" {column}:{number(value)}" for column, value in row_of(X, row) if value
            )
            stream.write(text.encode() + b"\n")


def row_of(matrix: sparse.csr_array, row: int) -> list[tuple[int, float]]:
    """Return the stored values of a row, each after its column."""
    own = slice(matrix.indptr[row], matrix.indptr[row + 1])
    return list(zip(matrix.indices[own].tolist(), matrix.data[own].tolist(), strict=True))


def number(value: float) -> str:
    """The shortest text that is read back as the same number.

    >>> number(3.0), number(0.1 + 0.2), number(1e300)
    ('3', '0.30000000000000004', '1e+300')
    """
    return repr(float(value)).removesuffix(".0")


class _UnknownLabel(ValueError):
    """A label that is no number, or none that was declared."""


@dataclass
class _PairReader:
    """Collects the rows of a file.

    Parameters
    ----------
    lines : Lines
    first_index : int
        0 or 1: how the file numbers its first feature.
    n_features, n_labels : int or None
        Bounds that the file has declared.
    keep_blank : bool
        Whether a line without labels and features is a row, or nothing.
    named : dict from str to int, or None
        Where given, a label that is no number is allowed, and gets the next free number here.
    comments : bool
        Whether "#" begins a remark.
    """

    lines: Lines
    first_index: int = 0
    n_features: int | None = None
    n_labels: int | None = None
    keep_blank: bool = True
    named: dict[str, int] | None = None
    comments: bool = False
    X: GatheredRows = field(default_factory=lambda: GatheredRows(0))
    Y: GatheredRows = field(default_factory=lambda: GatheredRows(0))

    def parts(self, size: int | None) -> Iterator[tuple[sparse.csr_array, sparse.csr_array]]:
        """Yield features and labels of ``size`` rows or somewhat more, or of all (None).

        In parts the numbers of columns must be known; otherwise the largest index decides.
        """
        if size is not None and (self.n_features is None or self.n_labels is None):
            raise DataFileError(
                self.lines.path,
                "a file that is read in parts must say how many columns there are, and this one "
                "does not. Pass n_features and n_labels, or write 'rows features labels' in its "
                "first line.",
            )
        for block in self.lines.blocks():
            rows = self._all_at_once(block.text) if self.named is None else None
            if rows is None:
                rows = self._line_by_line(block)
            for matrix, part in zip((self.X, self.Y), rows, strict=True):
                matrix.n_columns = max(matrix.n_columns, part.shape[1])
                matrix.add(part)
            if size is not None and self.X.n_rows >= size:
                yield self._take()
        if size is None or self.X.n_rows:
            yield self._take()

    def _take(self) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Return the rows so far, which are forgotten."""
        X, Y = self.X.csr(), self.Y.csr(np.int64)
        n_features = X.shape[1] if self.n_features is None else self.n_features
        n_labels = Y.shape[1] if self.n_labels is None else self.n_labels
        if not (n_features and n_labels):
            raise DataFileError(
                self.lines.path,
                f"a multi-label data set has features and labels, but this file has {n_features} "
                f"features and {n_labels} labels. Check that it is whole, and its format.",
                line=self.lines.number,
            )
        X.resize(X.shape[0], n_features)
        Y.resize(Y.shape[0], n_labels)
        self.X, self.Y = GatheredRows(0), GatheredRows(0)
        return X, Y

    def _all_at_once(self, text: bytes) -> tuple[sparse.csr_array, sparse.csr_array] | None:
        scan = _GRAMMAR.scan(text.translate(_TAB_TO_BLANK))
        if scan is None:
            return None
        index = _whole(scan.of(INDEX) - self.first_index, self.n_features)
        label = _whole(scan.of(LABEL), self.n_labels)
        if index is None or label is None:
            return None
        counts = scan.per_row(INDEX), scan.per_row(LABEL)
        if not self.keep_blank:
            filled = (counts[0] + counts[1]) > 0
            counts = counts[0][filled], counts[1][filled]
        X = _csr(scan.of(VALUE).astype(np.float64), index, counts[0])
        Y = _csr(np.ones(len(label)), label, counts[1])
        return None if X is None or Y is None else (X, Y)

    def _line_by_line(self, block: Block) -> tuple[sparse.csr_array, sparse.csr_array]:
        features: list[dict[int, float]] = []
        labels: list[dict[int, float]] = []
        for number, line in block.lines():
            text = decoded(line)
            text = text.partition("#")[0] if self.comments else text
            if not text.strip() and not self.keep_blank:
                continue
            try:
                row_labels, row_features = self._row(text)
            except ValueError as error:
                raise DataFileError(
                    self.lines.path, f"{error}. Correct that line of the file.", line=number
                ) from error
            labels.append(row_labels)
            features.append(row_features)
        return _from_rows(features), _from_rows(labels)

    def _row(self, text: str) -> tuple[dict[int, float], dict[int, float]]:
        words = text.split()
        labels: dict[int, float] = {}
        if words and not text[0].isspace() and ":" not in words[0]:
            for word in words.pop(0).split(","):
                _put(labels, self._label(word), 1.0, f"the label {short(word)}")
        features: dict[int, float] = {}
        for word in words:
            index, colon, value = word.partition(":")
            if not colon:
                raise ValueError(f"features are pairs 'index:value', got {short(word)!r}")
            column = _integer(index, "the index of a feature", self.first_index, self.n_features)
            _put(features, column, _finite(value), f"the feature {short(index)}")
        return labels, features

    def _label(self, word: str) -> int:
        if self.named is None:
            try:
                return _integer(word, "a label", 0, self.n_labels)
            except ValueError as error:
                raise _UnknownLabel(str(error)) from None
        if not word:
            raise ValueError("a label must have a name, got an empty one")
        return self.named.setdefault(word, len(self.named))


def _put(row: dict[int, float], column: int, value: float, what: str) -> None:
    if column in row:
        raise ValueError(f"a row gives each column once, but {what} is given twice")
    row[column] = value


def _integer(word: str, what: str, first: int, count: int | None) -> int:
    last = _LARGEST if count is None else count - 1 + first
    value = int(word) if word.isascii() and word.isdecimal() and len(word) < 19 else -1
    if not first <= value <= last:
        raise ValueError(
            f"{what} must be a whole number from {first} to {last}, got {short(word)!r}"
        )
    return value - first


def _finite(word: str) -> float:
    try:
        value = float(word) if word.isascii() and "_" not in word else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"the value of a feature must be a finite number, got {short(word)!r}")
    return value


def _whole(numbers: np.ndarray, count: int | None) -> np.ndarray | None:
    """As int32, if all are whole numbers within bounds."""
    last = _LARGEST if count is None else count - 1
    if len(numbers) and not 0 <= numbers.min() <= numbers.max() <= last:
        return None
    whole = numbers.astype(np.int32)
    return whole if np.array_equal(whole, numbers) else None


def _csr(data: np.ndarray, columns: np.ndarray, counts: np.ndarray) -> sparse.csr_array | None:
    width = int(columns.max(initial=-1)) + 1
    ends = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    values = sparse.csr_array((data, columns, ends), shape=(len(counts), width))
    values.sort_indices()
    return values if values.has_canonical_format else None  # else a column is given twice


def _from_rows(rows: list[dict[int, float]]) -> sparse.csr_array:
    columns = np.array([column for row in rows for column in row], dtype=np.int32)
    data = np.array([value for row in rows for value in row.values()], dtype=float)
    counts = np.array([len(row) for row in rows], dtype=np.int32)
    values = _csr(data, columns, counts)
    assert values is not None  # a dictionary has each column once
    return values
