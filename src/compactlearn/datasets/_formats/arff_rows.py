"""The second half of an ARFF file: its rows, block by block, with a column per attribute.

There are two routes with one meaning. A block in which every value is a plain number is parsed
at once; if anything in it is not, that block is read line by line, which knows quotes, comments,
missing and nominal values, and which alone words the complaint about a broken line.
"""

import re
from collections.abc import Iterator

import numpy as np
from scipy import sparse

from compactlearn.datasets._dataset import Matrix
from compactlearn.datasets._errors import DataFileError, short
from compactlearn.datasets._formats.arff_header import Header, split_cells, strip_comment, unquote
from compactlearn.datasets._parsing.number_blocks import INDEX, SKIP, VALUE, Grammar
from compactlearn.datasets._parsing.unpacking import Block, Lines, decoded

__all__ = ["MOST_FILLED", "line_of", "read_rows"]

# How many values a block (a hundred kilobytes, or one line) may have beyond those that stand in it.
# A few bytes can mean thousands of values: "{}" is a row of all that were declared first. So what
# is read stays in proportion to the file.
MOST_FILLED = 1 << 22

_DENSE = Grammar(
    {"\n0,": VALUE, ",0,": VALUE, ",0\n": VALUE, "\n0\n": VALUE, "\n\n": SKIP}
)  # fmt: skip
_SPARSE = Grammar(
    {
        "{0 ": INDEX, ",0 ": INDEX, " 0,": VALUE, " 0}": VALUE,
        "\n{": SKIP, "{}": SKIP, "}\n": SKIP, "\n\n": SKIP,
    }
)  # fmt: skip
_LOOSE_BLANK = re.compile(rb"[ ]*([{},\n])[ ]*")
_TAB_TO_BLANK = bytes.maketrans(b"\t", b" ")


def read_rows(header: Header, lines: Lines, ignored: np.ndarray) -> Iterator[tuple[Matrix, Block]]:
    """The rows as numbers; one-hot attributes still as the position of their value.

    Parameters
    ----------
    header : Header
        What the file says about its columns.
    lines : Lines
        Just behind @data.
    ignored : ndarray of bool, one per attribute
        Columns whose content is never looked at; in the result they mean nothing.

    Yields
    ------
    values : ndarray or csr_array of shape (n_rows, n_attributes)
    block : Block
        The lines they came from.

    Raises
    ------
    DataFileError
    """
    attributes = header.attributes
    plain = all(a.is_plain for a, skip in zip(attributes, ignored, strict=True) if not skip)
    careful = _Careful(header, ignored)
    for block in lines.blocks():
        values = _all_at_once(header, block.text, ignored) if plain else None
        yield careful.read(block) if values is None else values, block


def line_of(block: Block, row: int) -> int:
    """The number of the line in which a row of the block stands."""
    filled = [number for number, line in block.lines() if strip_comment(decoded(line))]
    return filled[row]


# ------------------------------------------------------------------------------ all at once


def _all_at_once(header: Header, text: bytes, ignored: np.ndarray) -> Matrix | None:
    """What the block holds, or None where this cannot be vouched for."""
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n")
    if b"\t" in text:
        text = text.translate(_TAB_TO_BLANK)
    parse = _sparse_block if text.lstrip()[:1] == b"{" else _dense_block
    values = parse(header, text, ignored)
    if values is None and b" " in text:
        tight = re.sub(rb"  +", b" ", _LOOSE_BLANK.sub(rb"\1", text))
        values = parse(header, tight, ignored) if len(tight) < len(text) else None
    return values


def _dense_block(header: Header, text: bytes, ignored: np.ndarray) -> np.ndarray | None:
    scan = _DENSE.scan(text)
    if scan is None:
        return None
    per_row = scan.per_row(VALUE)
    n_columns = len(header.attributes)
    if not ((per_row == n_columns) | (per_row == 0)).all():
        return None
    values = scan.numbers.astype(np.float64, copy=False).reshape(-1, n_columns)
    for columns, allowed in header.nominal_groups:
        looked_at = columns[~ignored[columns]]
        if not _among(values[:, looked_at], allowed).all():
            return None
    return values


def _sparse_block(header: Header, text: bytes, ignored: np.ndarray) -> sparse.csr_array | None:
    pairs = _pairs(text)
    if pairs is None:
        return None
    index, data, counts = pairs
    n_columns = len(header.attributes)
    if len(index) and not 0 <= index.min() <= index.max() < n_columns:
        return None
    columns = index.astype(np.int32)
    if not _declared(header, columns, data, ignored):
        return None
    ends = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    values = sparse.csr_array((data, columns, ends), shape=(len(counts), n_columns))
    values.sort_indices()
    return values if values.has_canonical_format else None  # else a column is given twice


_Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]  # index, value, how many in each row


def _pairs(text: bytes) -> _Pairs | None:
    scan = _SPARSE.scan(text)
    if scan is None:
        return None
    n_marks = scan.marks_per_row()  # "{", two for a pair, "}" only in an empty row, newline
    counts = n_marks[n_marks > 1] // 2 - 1
    # By the grammar index and value take turns.
    return scan.numbers[::2], scan.numbers[1::2].astype(np.float64), counts


def _declared(header: Header, columns: np.ndarray, data: np.ndarray, ignored: np.ndarray) -> bool:
    """Whether nominal columns hold declared values, and one left out means 0."""
    for group, allowed in header.nominal_groups:
        in_group = np.zeros(len(ignored), dtype=bool)
        in_group[group] = True
        in_group &= ~ignored
        # The first declared value is what Weka means by a value left out.
        if in_group.any() and allowed[0] != 0:
            return False
        good = _among(data, allowed)
        if not good.all() and not (good | ~in_group[columns]).all():
            return False
    return True


def _among(values: np.ndarray, allowed: list[float]) -> np.ndarray:
    if len(allowed) > 8:
        return np.isin(values, allowed)
    found = values == allowed[0]
    for value in allowed[1:]:
        found |= values == value
    return found


# ------------------------------------------------------------------------------ line by line


class _Careful:
    def __init__(self, header: Header, ignored: np.ndarray) -> None:
        self._header, self._ignored = header, ignored
        self._left_out = {
            column: attribute.left_out
            for column, attribute in enumerate(header.attributes)
            if not ignored[column] and attribute.left_out != 0
        }

    def read(self, block: Block) -> sparse.csr_array:
        columns: list[int] = []
        data: list[float] = []
        ends = [0]
        for number, line in block.lines():
            text = strip_comment(decoded(line))
            if not text:
                continue
            try:
                row = self._row(text)
            except ValueError as error:
                raise DataFileError(
                    self._header.path, f"{error}. Correct that line of the file.", line=number
                ) from error
            columns += row.keys()
            data += row.values()
            ends.append(len(columns))
            if len(columns) > MOST_FILLED + len(block.text):
                raise DataFileError(
                    self._header.path,
                    f"values left out of sparse rows may fill {MOST_FILLED} places for each block "
                    f"of rows, but {len(self._left_out)} nominal attributes, whose first value is "
                    "not 0, fill more; declare 0 first, or leave them out with ignore (--ignore on "
                    "the command line).",
                    line=number,
                )
        parts = (np.array(data, float), np.array(columns, np.int32), np.array(ends, np.int32))
        values = sparse.csr_array(parts, shape=(len(ends) - 1, len(self._header.attributes)))
        values.sort_indices()
        return values

    def _row(self, text: str) -> dict[int, float]:
        attributes, ignored = self._header.attributes, self._ignored
        if text.startswith("{"):
            row = dict(self._left_out)
            for column, cell in _sparse_cells(text, len(attributes)).items():
                row[column] = 0.0 if ignored[column] else attributes[column].number(cell)
            return row
        cells = split_cells(text)
        if len(cells) != len(attributes):
            raise ValueError(
                f"a row must hold {len(attributes)} values, one per attribute, got {len(cells)}"
            )
        numbers = (
            0.0 if skip else attribute.number(cell)
            for attribute, cell, skip in zip(attributes, cells, ignored, strict=True)
        )
        return {column: value for column, value in enumerate(numbers) if value != 0}


def _sparse_cells(text: str, n_columns: int) -> dict[int, str]:
    if not text.endswith("}"):
        raise ValueError(f"a sparse row must end with a brace, got {short(text[-20:])!r}")
    cells: dict[int, str] = {}
    inner = text[1:-1].strip()
    for pair in split_cells(inner, raw=True) if inner else []:
        words = pair.split(None, 1)
        if len(words) != 2 or not (words[0].isdecimal() and words[0].isascii()):
            raise ValueError(f"a sparse row holds pairs 'index value', got {short(pair)!r}")
        column = int(words[0]) if len(words[0]) < 19 else n_columns
        if column >= n_columns or column in cells:
            fault = "is given twice" if column in cells else "is out of range"
            raise ValueError(
                f"an index in a sparse row must lie between 0 and {n_columns - 1} and occur once, "
                f"but {short(words[0])} {fault}"
            )
        cells[column] = unquote(words[1])
    return cells
