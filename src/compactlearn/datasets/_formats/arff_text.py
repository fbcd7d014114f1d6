"""The text of an ARFF file: what it says about its columns, how it is quoted, and its rows.

Rows have two routes with one meaning. A block in which every value is a plain number is parsed at
once; any other is read line by line, which knows quotes, comments, missing and nominal values, and
which alone words the complaint about a broken line.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from scipy import sparse

from compactlearn.datasets._dataset import Matrix
from compactlearn.datasets._errors import DataFileError, short
from compactlearn.datasets._parsing.number_blocks import INDEX, SKIP, VALUE, Grammar
from compactlearn.datasets._parsing.unpacking import Block, Lines, decoded

__all__ = [
    "MOST_FILLED",
    "Attribute",
    "Header",
    "line_of",
    "parse_header",
    "quote",
    "read_rows",
    "split_cells",
    "unescape",
]

_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
# Most columns of a file declare the same few values, which are kept once. Long lists are not kept
# beyond the file they stand in.
_SHARED = 100
_AFFIRMATIVE = {"yes": "no", "true": "false", "y": "n", "t": "f", "on": "off"}

_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
# Every character is matched by one of the branches, so that this never has to go back.
_CELL = re.compile(rf"((?:{_QUOTED}|\\.?|[^,\\])*)(,|$)")
_UNCOMMENTED = re.compile(rf"(?:{_QUOTED}|\\.?|[^%\\])*")
_DECLARATION = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{]+)\s*(.+)", re.IGNORECASE)

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


@dataclass(frozen=True)
class Attribute:
    """A column: its name, its type, and for a nominal one the declared values.

    >>> Attribute("smokes", "nominal", ("YES", "NO")).numbers
    {'YES': 1.0, 'NO': 0.0}
    >>> Attribute("size", "nominal", ("small", "large")).numbers
    {'small': 0.0, 'large': 1.0}
    >>> Attribute("doors", "nominal", ("2", "4")).numbers
    {'2': 2.0, '4': 4.0}
    >>> Attribute("colour", "nominal", ("red", "green", "blue")).is_one_hot
    True
    """

    name: str
    kind: str
    values: tuple[str, ...] = ()

    @cached_property  # asked for with every cell: even to look up thousands of values takes long
    def _meaning(self) -> tuple[bool, dict[str, float]]:
        found = _shared_meaning if len(self.values) <= _SHARED else _meaning
        return found(self.values)

    @property
    def is_plain(self) -> bool:
        """Whether the text of a value is the number it becomes."""
        return self._meaning[0]

    @property
    def numbers(self) -> dict[str, float]:
        """What each nominal value becomes; for a one-hot attribute its position."""
        return self._meaning[1]

    @property
    def is_one_hot(self) -> bool:
        """Whether the attribute becomes one column per value."""
        return len(self.values) > 2 and not self.is_plain

    @property
    def left_out(self) -> float:
        """What a value left out of a sparse row becomes."""
        return self.numbers[self.values[0]] if self.values else 0.0

    def number(self, cell: str) -> float:
        """The number a cell becomes.

        Raises
        ------
        ValueError
            With a complaint that lacks file and line; whoever reads the rows adds them.
        """
        found = self.numbers.get(cell)
        if found is not None:
            return found
        if cell == "?":
            return math.nan
        value = _number(cell)
        if not self.values:
            if math.isnan(value):
                raise ValueError(
                    f"the attribute {self.name!r} must hold a finite number, got {short(cell)!r}"
                )
            return value
        if self.is_plain and value in self.numbers.values():
            return value
        declared = ", ".join(self.values[:8]) + (", ..." if len(self.values) > 8 else "")
        raise ValueError(
            f"the attribute {self.name!r} must hold one of its declared values ({declared}), got "
            f"{short(cell)!r}"
        )


def _meaning(values: tuple[str, ...]) -> tuple[bool, dict[str, float]]:
    numbers = {value: _number(value) for value in values}
    if not any(math.isnan(number) for number in numbers.values()):
        return True, numbers
    if len(values) == 2 and _AFFIRMATIVE.get(values[0].lower()) == values[1].lower():
        return False, {values[0]: 1.0, values[1]: 0.0}
    return False, {value: float(position) for position, value in enumerate(values)}


_shared_meaning = lru_cache(maxsize=256)(_meaning)


@dataclass(frozen=True)
class Header:
    """Everything above the rows."""

    path: Path
    relation: str
    attributes: tuple[Attribute, ...]

    @cached_property
    def names(self) -> list[str]:
        """The name of each column; nothing keeps a file from repeating one."""
        return [attribute.name for attribute in self.attributes]

    @cached_property
    def nominal_groups(self) -> list[tuple[np.ndarray, list[float]]]:
        """Columns with the same declared values, and what these become, in their order."""
        groups: dict[tuple[str, ...], list[int]] = {}
        for column, attribute in enumerate(self.attributes):
            if attribute.values:
                groups.setdefault(attribute.values, []).append(column)
        return [
            (np.array(columns), list(self.attributes[columns[0]].numbers.values()))
            for columns in groups.values()
        ]


def parse_header(lines: Lines) -> Header:
    """Read the lines down to @data.

    Raises
    ------
    DataFileError
        If a line is no declaration, or @data or every @attribute is absent.
    """
    path = lines.path
    relation = ""
    attributes: list[Attribute] = []
    while (line := lines.line()) is not None:
        text = decoded(line).strip()
        keyword = text.split(None, 1)[0].lower() if text else ""
        if keyword == "@data" and attributes:
            return Header(path, relation, tuple(attributes))
        if keyword == "@relation":
            relation = unquote(strip_comment(text[len(keyword) :]))
        elif keyword == "@attribute":
            attributes.append(_parse_attribute(path, lines.number, text))
        elif text and not text.startswith("%"):
            raise DataFileError(
                path,
                "an ARFF file declares attributes, one per line that starts with @attribute, and "
                f"then holds a line @data; got {short(text)!r}. Check that this is an ARFF file "
                "and that it is whole.",
                line=lines.number,
            )
    raise DataFileError(
        path,
        "an ARFF file must hold a line @data between its attributes and its rows, but it ends "
        f"without one after {len(attributes)} attributes. Check that it is an ARFF file and that "
        "it is whole.",
        line=lines.number,
    )


def _parse_attribute(path: Path, number: int, text: str) -> Attribute:
    declaration = _DECLARATION.match(text)
    if declaration is None:
        raise DataFileError(
            path,
            f"an attribute is declared by a name and a type, got {short(text)!r}. Write "
            "'@attribute NAME numeric' or '@attribute NAME {a,b}'.",
            line=number,
        )
    name, kind = unquote(declaration[1]), declaration[2].strip()
    if not kind.startswith("{"):
        word = kind.split()[0].lower()
        return Attribute(name, "numeric" if word in ("numeric", "real", "integer") else word)
    values = (_shared_values if len(kind) <= _SHARED else _declared_values)(kind)
    if not values or "" in values or len(set(values)) < len(values):
        raise DataFileError(
            path,
            "a nominal attribute lists its different values between braces, got "
            f"{short(kind)!r}. Write '@attribute NAME {{a,b}}'.",
            line=number,
        )
    return Attribute(name, "nominal", values)


def _declared_values(kind: str) -> tuple[str, ...]:
    kind = strip_comment(kind)
    end = kind.rfind("}")
    return tuple(split_cells(kind[1:end])) if end > 0 else ()


_shared_values = lru_cache(maxsize=256)(_declared_values)


def split_cells(text: str, *, raw: bool = False) -> list[str]:
    """The comma-separated parts of a line, unquoted unless `raw`.

    A comma between quotes separates nothing.

    >>> split_cells(r"1, 'a, b' ,it\\'s,")
    ['1', 'a, b', "it's", '']
    """
    if not any(mark in text for mark in "'\"\\"):
        return [cell.strip() for cell in text.split(",")]
    cells = []
    for cell in _CELL.finditer(text):
        cells.append(cell[1].strip() if raw else unquote(cell[1]))
        if not cell[2]:
            break
    return cells


def strip_comment(line: str) -> str:
    """The line up to the first percent sign outside quotes.

    >>> strip_comment("1,'5 %' % half of it")
    "1,'5 %'"
    """
    found = _UNCOMMENTED.match(line) if "%" in line else None
    return (found[0] if found else line).strip()


def unquote(text: str) -> str:
    """A name or value without its quotes and escapes."""
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    return unescape(text)


def unescape(text: str) -> str:
    """The text without protecting backslashes; with n, r and t they mean what they do in C."""
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), text)


def quote(text: str) -> str:
    """A name or value as `unquote` reads it back.

    >>> print(quote("it's 5 %"))
    'it\\'s 5 %'
    """
    escaped = re.sub(r"(['\\])", r"\\\1", text)
    for letter, character in _ESCAPES.items():
        escaped = escaped.replace(character, "\\" + letter)
    return f"'{escaped}'"


def _number(text: str) -> float:
    """The finite number a text stands for, NaN if there is none."""
    if "_" in text or not text.isascii():  # Python's own liberties
        return math.nan
    try:
        value = float(text)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan


def read_rows(header: Header, lines: Lines, ignored: np.ndarray) -> Iterator[tuple[Matrix, Block]]:
    """Yield the rows as numbers; one-hot attributes still as the position of their value.

    Content of `ignored` columns is never looked at; in the result it means nothing. With the values
    comes the block of lines that they are from.
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
    scan = _SPARSE.scan(text)
    if scan is None:
        return None
    n_marks = scan.marks_per_row()  # "{", two for a pair, "}" only in an empty row, newline
    counts = n_marks[n_marks > 1] // 2 - 1
    # By the grammar index and value take turns.
    index, data = scan.numbers[::2], scan.numbers[1::2].astype(np.float64)
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
