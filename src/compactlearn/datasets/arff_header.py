"""The first half of an ARFF file: what it says about its columns, and how its text is quoted."""

import math
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

__all__ = [
    "Attribute",
    "Header",
    "parse_header",
    "short",
    "split_cells",
    "strip_comment",
    "unescape",
    "unquote",
]

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

    @cached_property
    def is_plain(self) -> bool:
        """Whether the text of a value is the number it becomes."""
        return not any(math.isnan(_number(value)) for value in self.values)

    @cached_property
    def numbers(self) -> dict[str, float]:
        """What each nominal value becomes; for a one-hot attribute its position."""
        if self.is_plain:
            return {value: _number(value) for value in self.values}
        if (
            len(self.values) == 2
            and _AFFIRMATIVE.get(self.values[0].lower()) == self.values[1].lower()
        ):
            return {self.values[0]: 1.0, self.values[1]: 0.0}
        return {value: float(position) for position, value in enumerate(self.values)}

    @property
    def is_one_hot(self) -> bool:
        """Whether the attribute becomes one column per value."""
        return len(self.values) > 2 and not self.is_plain

    @cached_property
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


@dataclass(frozen=True)
class Header:
    """Everything above the rows."""

    path: Path
    relation: str
    attributes: tuple[Attribute, ...]
    first_line: int  # the number, counted from 1, of the line after @data

    @cached_property
    def columns(self) -> dict[str, list[int]]:
        """Where each name stands; a list, since nothing keeps a file from repeating a name."""
        columns: dict[str, list[int]] = {}
        for column, attribute in enumerate(self.attributes):
            columns.setdefault(attribute.name, []).append(column)
        return columns


def parse_header(path: Path, lines: list[str]) -> Header:
    """Read the lines down to @data.

    Raises
    ------
    ValueError
        If a line is no declaration, or @data or every @attribute is absent.
    """
    relation = ""
    attributes: list[Attribute] = []
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        keyword = text.split(None, 1)[0].lower() if text else ""
        if keyword == "@data" and attributes:
            return Header(path, relation, tuple(attributes), number + 1)
        if keyword == "@relation":
            relation = unquote(text[len(keyword) :])
        elif keyword == "@attribute":
            attributes.append(_parse_attribute(path, number, text))
        elif text and not text.startswith("%"):
            raise ValueError(
                f"{path}, line {number}: an ARFF file declares attributes, one per line that "
                f"starts with @attribute, and then holds a line @data; got {short(text)!r}. Check "
                "that this is an ARFF file and that it is whole."
            )
    raise ValueError(
        f"{path}: an ARFF file must hold a line @data between its attributes and its rows, but it "
        f"ends without one after {len(attributes)} attributes. Check that it is an ARFF file and "
        "that it is whole."
    )


def _parse_attribute(path: Path, number: int, text: str) -> Attribute:
    declaration = _DECLARATION.match(text)
    if declaration is None:
        raise ValueError(
            f"{path}, line {number}: an attribute is declared by a name and a type, got "
            f"{short(text)!r}. Write '@attribute NAME numeric' or '@attribute NAME {{a,b}}'."
        )
    name, kind = unquote(declaration[1]), declaration[2].strip()
    if not kind.startswith("{"):
        word = kind.split()[0].lower()
        return Attribute(name, "numeric" if word in ("numeric", "real", "integer") else word)
    end = kind.rfind("}")
    values = split_cells(kind[1:end]) if end > 0 else []
    if not values or "" in values:
        raise ValueError(
            f"{path}, line {number}: a nominal attribute lists its values between braces, got "
            f"{short(kind)!r}. Write '@attribute NAME {{a,b}}'."
        )
    return Attribute(name, "nominal", tuple(values))


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
    """The text without the backslashes that protect its characters."""
    return re.sub(r"\\(.)", r"\1", text)


def short(text: str) -> str:
    """The text, cut to what a message can carry."""
    return text if len(text) <= 60 else text[:57] + "..."


def _number(text: str) -> float:
    """The finite number a text stands for, NaN if there is none."""
    try:
        value = float(text)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan
