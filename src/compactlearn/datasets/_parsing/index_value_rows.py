"""Rows "label,label index:value index:value", which two formats share.

As with ARFF, a block of plain numbers is parsed at once, and any other line by line.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from compactlearn.datasets._errors import DataFileError, short
from compactlearn.datasets._parsing.assemble import GatheredRows
from compactlearn.datasets._parsing.number_blocks import INDEX, LABEL, SKIP, VALUE, Grammar
from compactlearn.datasets._parsing.unpacking import Block, Lines, decoded

__all__ = ["PairReader", "UnknownLabel"]

_GRAMMAR = Grammar(
    {
        "\n0,": LABEL, ",0,": LABEL, "\n0 ": LABEL, ",0 ": LABEL, "\n0\n": LABEL, ",0\n": LABEL,
        "\n0:": INDEX, " 0:": INDEX, ":0 ": VALUE, ":0\n": VALUE,
        "\n ": SKIP, "  ": SKIP, " \n": SKIP, "\n\n": SKIP,
    }
)  # fmt: skip
_TAB_TO_BLANK = bytes.maketrans(b"\t\r", b"  ")
_LARGEST = 2**31 - 2


class UnknownLabel(ValueError):
    """A label that is no number, or none that was declared."""


@dataclass
class PairReader:
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

    def read(self) -> None:
        """Read to the end of the file into `X` and `Y`."""
        for _ in self.steps():
            pass

    def steps(self) -> Iterator[None]:
        """The same a little at a time: between two steps the rows so far may be taken away."""
        for block in self.lines.blocks():
            rows = self._all_at_once(block.text) if self.named is None else None
            if rows is None:
                rows = self._line_by_line(block)
            for matrix, part in zip((self.X, self.Y), rows, strict=True):
                matrix.n_columns = max(matrix.n_columns, part.shape[1])
                matrix.add(part)
            yield

    def take(self, n_features: int, n_labels: int) -> tuple[sparse.csr_array, sparse.csr_array]:
        """The rows so far, which are forgotten, with so many columns."""
        X, Y = self.X.csr(), self.Y.csr(np.int64)
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
                raise UnknownLabel(str(error)) from None
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
