"""Rows "label,label index:value index:value": multi-label text of LIBSVM, and that of the Extreme
Classification Repository, which counts features from 0 and may begin with "rows features labels".
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from compactlearn.core._atomic import atomic
from compactlearn.datasets._dataset import DataFileError, Dataset, Matrix, short
from compactlearn.datasets._parsing.assemble import LabelledPart, by_rows, whole_or_parts
from compactlearn.datasets._parsing.lines import Limits, LineBlock, Lines, decoded
from compactlearn.datasets._parsing.number_blocks import INDEX, LABEL, SKIP, VALUE, Grammar

_HEADER = re.compile(rb"\s*(\d{1,18})\s+(\d{1,18})\s+(\d{1,18})\s*")
_REMARK = re.compile(rb"#[^\n]*")
_GRAMMAR = Grammar(
    {
        "\n0,": LABEL, ",0,": LABEL, "\n0 ": LABEL, ",0 ": LABEL, "\n0\n": LABEL, ",0\n": LABEL,
        "\n0:": INDEX, " 0:": INDEX, ":0 ": VALUE, ":0\n": VALUE,
        "\n ": SKIP, "  ": SKIP, " \n": SKIP, "\n\n": SKIP,
    }
)  # fmt: skip
_TAB_TO_BLANK = bytes.maketrans(b"\t\r", b"  ")
_MOST_COLUMNS = 2**31 - 1


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
        first = lines.line() or b""
        header, n_rows = _HEADER.fullmatch(first), None
        if header is not None:
            n_rows, n_features, n_labels = (int(number) for number in header.groups())
        elif lines.number:
            lines.push_back(first)
        reader = _PairReader(lines, n_features, n_labels, keep_blank=header is not None)
        seen = 0
        for part in reader.parts(size):
            if n_rows is not None and seen + part.Y.shape[0] > n_rows:
                part = _without_end(part, n_rows - seen)
            seen += part.Y.shape[0]
            if size is None or part.Y.shape[0]:
                yield part
        if n_rows is not None and seen != n_rows:
            raise DataFileError(
                lines.path,
                f"the first line promises {n_rows} rows, but {seen} follow. Check that the file "
                "is whole.",
                line=lines.number,
            )


def _without_end(part: LabelledPart, n_rows: int) -> LabelledPart:
    """Return the first rows, if those after them are only empty lines."""
    X = sparse.csr_array(part.X)
    if X[n_rows:].nnz + part.Y[n_rows:].nnz:
        return part
    return LabelledPart(part.X[:n_rows], part.Y[:n_rows])


def rows_declared(path: str | os.PathLike[str], limits: Limits | None = None) -> int | None:
    """Return the number of rows in the first line; None if it has none."""
    with Lines(path, limits) as lines:
        header = _HEADER.fullmatch(lines.line() or b"")
    return None if header is None else int(header[1])


def libsvm_parts(
    path: str | os.PathLike[str],
    size: int | None,
    *,
    n_features: int | None = None,
    n_labels: int | None = None,
    limits: Limits | None = None,
) -> Iterator[LabelledPart]:
    """Yield ``size`` rows at a time or somewhat more, or all of them (None)."""
    with Lines(path, limits) as lines:
        yield from _PairReader(lines, n_features, n_labels, first_index=1, remarks=True).parts(size)


@dataclass(frozen=True)
class _PairReader:
    """Reader of a file with rows of pairs."""

    lines: Lines
    n_features: int | None  # as far as they are known
    n_labels: int | None
    first_index: int = 0  # the index of the first feature in the file
    keep_blank: bool = False  # whether an empty line is a row
    remarks: bool = False  # whether "#" begins a remark

    def parts(self, size: int | None) -> Iterator[LabelledPart]:
        """Yield ``size`` rows or somewhat more, or all; in parts all columns must be known."""
        if size is not None and (self.n_features is None or self.n_labels is None):
            raise DataFileError(
                self.lines.path,
                "a file that is read in parts must say how many columns there are, and this one "
                "does not. Pass n_features and n_labels, or write 'rows features labels' in its "
                "first line.",
            )
        shape = (self.n_features or 0, self.n_labels or 0)
        if max(shape) > _MOST_COLUMNS:
            raise DataFileError(
                self.lines.path,
                f"a file may have {_MOST_COLUMNS} columns at most, but declares {max(shape)}. "
                "Check its first line.",
                line=1,
            )
        for X, Y in whole_or_parts(self._blocks(), size, *shape):
            if not (X.shape[1] and Y.shape[1]):
                raise DataFileError(
                    self.lines.path,
                    f"a multi-label data set has features and labels, but this file has "
                    f"{X.shape[1]} features and {Y.shape[1]} labels. Check that it is whole, and "
                    "its format.",
                    line=self.lines.number,
                )
            yield LabelledPart(X, Y)

    def _blocks(self) -> Iterator[tuple[Matrix, sparse.csr_array]]:
        for block in self.lines.blocks():
            rows = self._rows(block.text)
            if rows is None:
                raise self._fault(block)
            yield rows

    def _rows(self, text: bytes) -> tuple[sparse.csr_array, sparse.csr_array] | None:
        """Return features and labels of some lines; None if one of them is no row."""
        if self.remarks and b"#" in text:
            text = _REMARK.sub(b"", text)
        scan = _GRAMMAR.scan(text.translate(_TAB_TO_BLANK))
        if scan is None:
            return None
        index = _columns(scan.of(INDEX) - self.first_index, self.n_features)
        label = _columns(scan.of(LABEL), self.n_labels)
        if index is None or label is None:
            return None
        n_pairs, n_labels = scan.per_row(INDEX), scan.per_row(LABEL)
        if not self.keep_blank:
            filled = n_pairs + n_labels > 0
            n_pairs, n_labels = n_pairs[filled], n_labels[filled]
        values = scan.of(VALUE).astype(np.float64)
        X = by_rows(index, values, n_pairs, int(index.max(initial=-1)) + 1)
        Y = by_rows(label, np.ones(len(label)), n_labels, int(label.max(initial=-1)) + 1)
        return None if X is None or Y is None else (X, Y)

    def _fault(self, block: LineBlock) -> DataFileError:
        """Return the error of the first line of a block that is no row."""
        number, line = next(
            (number, line) for number, line in block.lines() if self._rows(line + b"\n") is None
        )
        known = "" if self.n_labels is None else f" (0 to {self.n_labels - 1})"
        first, last = self.first_index, (self.n_features or 0) - 1 + self.first_index
        range_ = f"from {first}" if self.n_features is None else f"{first} to {last}"
        return DataFileError(
            self.lines.path,
            f"a row must be 'label,label index:value index:value', with labels that are whole "
            f"numbers{known}, indices {range_}, each of them once, and finite values; got "
            f"{short(decoded(line))!r}. Correct that line of the file.",
            line=number,
        )


def _columns(numbers: np.ndarray, count: int | None) -> np.ndarray | None:
    """Return numbers of columns; None if one is out of bounds."""
    last = (_MOST_COLUMNS if count is None else count) - 1
    if len(numbers) and not 0 <= numbers.min() <= numbers.max() <= last:
        return None
    return numbers.astype(np.int32)


def write_xmlrepo(dataset: Dataset, path: str | os.PathLike[str]) -> None:
    """Write the text format of the Extreme Classification Repository, whole or not at all.

    The format has no names; they are lost. Numbers are written so that they are read back bit
    by bit.

    Parameters
    ----------
    dataset : Dataset
        Data set to write.
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
    """Return the shortest text that is read back as the same number.

    >>> number(3.0), number(0.1 + 0.2), number(1e300)
    ('3', '0.30000000000000004', '1e+300')
    """
    return repr(float(value)).removesuffix(".0")
