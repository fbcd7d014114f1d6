"""The first half of an ARFF file: what it says about its columns, and how its text is quoted."""

import math
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from compactlearn.datasets._errors import DataFileError, short
from compactlearn.datasets._parsing.unpacking import Lines, decoded

__all__ = [
    "Attribute",
    "Header",
    "parse_header",
    "quote",
    "split_cells",
    "strip_comment",
    "unescape",
    "unquote",
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
