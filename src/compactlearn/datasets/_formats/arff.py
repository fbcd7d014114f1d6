"""Attribute-Relation File Format, as Weka, Mulan and MEKA have it, with Mulan's XML file.

Rows have two routes with one meaning. A block in which every value is a plain number is parsed at
once; any other is read line by line, which knows quotes, remarks, missing and nominal values, and
which alone raises the error of a broken line.
"""

import math
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse

from compactlearn.core._atomic import atomic
from compactlearn.datasets._dataset import DataFileError, Dataset, Matrix, as_dense, short
from compactlearn.datasets._formats.columns import (
    AnyLabels,
    split_columns,
    writable,
    write_label_names,
)
from compactlearn.datasets._formats.index_value import number, row_of
from compactlearn.datasets._parsing.assemble import (
    LabelledPart,
    TableBlock,
    by_rows,
    stem,
    table_parts,
)
from compactlearn.datasets._parsing.lines import Limits, LineBlock, Lines, decoded
from compactlearn.datasets._parsing.number_blocks import (
    INDEX,
    SKIP,
    VALUE,
    Grammar,
    finite_number,
    read_table,
    table_grammar,
)

QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
# Every character is matched by one of the branches, so that this never has to go back.
_CELL = re.compile(rf"((?:{QUOTED}|\\.?|[^,\\])*)(,|$)")
_UNTIL_REMARK = re.compile(rf"(?:{QUOTED}|\\.?|[^%\\])*")
_PLAIN = re.compile(r"[A-Za-z_][\w.\-]*", re.ASCII)
_DECLARATION = re.compile(rf"@attribute\s+({QUOTED}|[^\s{{]+)\s*(.+)", re.IGNORECASE)
_MEKA_COUNT = re.compile(r"-C\s+(-?\d{1,9})(?!\d)")
_AFFIRMATIVE = {"yes": "no", "true": "false", "y": "n", "t": "f", "on": "off"}
_DENSE = table_grammar(",")
_SPARSE = Grammar(
    {
        "{0 ": INDEX, ",0 ": INDEX, " 0,": VALUE, " 0}": VALUE,
        "\n{": SKIP, "{}": SKIP, "}\n": SKIP, "\n\n": SKIP,
    }
)  # fmt: skip
_LOOSE_BLANK = re.compile(rb"[ \t]*([{},\n])[ \t]*")
# How many values a block of lines may have beyond those written in it: "{}" is a row of all
# values that were declared first. So the size of the data is bounded by that of the file.
_MOST_FILLED = 1 << 22


def arff_parts(
    path: str | os.PathLike[str],
    size: int | None,
    labels: AnyLabels = None,
    *,
    ignore: Sequence[str] = (),
    limits: Limits | None = None,
) -> Iterator[LabelledPart]:
    """Yield ``size`` rows at a time or somewhat more, or all of them (None)."""
    with Lines(path, limits) as lines:
        relation, attributes = _header(lines)
        names = [attribute.name for attribute in attributes]
        labels = _declared_labels(lines.path, relation) if labels is None else labels
        features, chosen = split_columns(lines.path, names, labels, ignore, unescape=unescape)
        used = np.zeros(len(names), dtype=bool)
        used[features] = used[chosen] = True
        rows = _RowParser(lines.path, attributes, used)
        blocks = map(rows.read, lines.blocks())
        yield from table_parts(lines.path, names, features, chosen, blocks, size)


@dataclass(frozen=True)
class _Attribute:
    """Column with its name, its type, and the numbers of the declared values of a nominal one."""

    name: str
    kind: str
    values: Mapping[str, float]
    is_plain: bool = True  # whether the text of a value is the number that it becomes

    @property
    def left_out(self) -> float:
        """The number of a value left out of a sparse row."""
        return next(iter(self.values.values()), 0.0)

    def number(self, cell: str) -> float:
        """Return the number that a cell becomes; raise ValueError if it is none."""
        found = self.values.get(cell)
        if found is not None:
            return found
        if cell == "?":
            return math.nan
        value = finite_number(cell)
        if not math.isnan(value) and (
            not self.values or (self.is_plain and value in self.values.values())
        ):
            return value
        wanted = "one of its declared values" if self.values else "a finite number"
        raise ValueError(f"the attribute {self.name!r} must hold {wanted}, got {short(cell)!r}")


def _header(lines: Lines) -> tuple[str, list[_Attribute]]:
    """Read the lines down to @data; return the relation's name and the attributes."""
    relation = ""
    attributes: list[_Attribute] = []
    while (line := lines.line()) is not None:
        text = decoded(line).strip()
        keyword = text.split(None, 1)[0].lower() if text else ""
        if keyword == "@data" and attributes:
            return relation, attributes
        if keyword == "@relation":
            relation = unquote(strip_remark(text[len(keyword) :]))
        elif keyword == "@attribute":
            attributes.append(_parse_attribute(lines, text))
        elif text and not text.startswith("%"):
            break
    raise DataFileError(
        lines.path,
        "an ARFF file declares attributes, one per line that starts with @attribute, and then has "
        f"a line @data; after {len(attributes)} attributes it "
        f"{'ends' if line is None else f'has {short(text)!r}'}. Check that this is an ARFF file "
        "and that it is whole.",
        line=lines.number,
    )


def _parse_attribute(lines: Lines, text: str) -> _Attribute:
    declaration = _DECLARATION.match(text)
    kind = "" if declaration is None else strip_remark(declaration[2])
    values = split_cells(kind[1 : kind.rfind("}")]) if kind.startswith("{") else None
    if declaration is None or (
        values is not None and ("}" not in kind or "" in values or len({*values}) < len(values))
    ):
        raise DataFileError(
            lines.path,
            f"an attribute is declared by '@attribute NAME numeric' or, with its different values, "
            f"by '@attribute NAME {{a,b}}'; got {short(text)!r}. Correct that line of the file.",
            line=lines.number,
        )
    name = unquote(declaration[1])
    if values is None:
        word = kind.split()[0].lower() if kind else ""
        return _Attribute(name, "numeric" if word in ("numeric", "real", "integer") else word, {})
    numbers = [finite_number(value) for value in values]
    if not any(map(math.isnan, numbers)):
        return _Attribute(name, "nominal", dict(zip(values, numbers, strict=True)))
    if len(values) > 2:
        return _Attribute(name, f"nominal with {len(values)} values", {})
    reverse = len(values) == 2 and _AFFIRMATIVE.get(values[0].lower()) == values[1].lower()
    places = (1.0, 0.0) if reverse else (0.0, 1.0)
    return _Attribute(name, "nominal", dict(zip(values, places, strict=False)), is_plain=False)


def _declared_labels(path: Path, relation: str) -> int | Path:
    """Return the labels that the relation's name states, or the XML file of the same name."""
    found = _MEKA_COUNT.search(relation)
    # Weka appends what it did to the relation's name. Columns were moved or removed then, and
    # the count no longer determines which columns are labels.
    if found is not None and "weka.filters" not in relation[found.end() :]:
        return int(found[1])
    xml = path.with_name(stem(path) + ".xml")
    if xml.is_file():
        return xml
    raise DataFileError(
        path,
        "without labels=..., the relation's name must say by MEKA's '-C n' which columns are "
        f"labels, and no filter of Weka may follow; it is {short(relation)!r}. Pass labels "
        "(--labels): a Mulan XML file, a list of names, or a count.",
    )


class _RowParser:
    """Parser of blocks of lines into rows of numbers; unused columns are not parsed."""

    def __init__(self, path: Path, attributes: Sequence[_Attribute], used: np.ndarray) -> None:
        self._path, self._attributes, self._used = path, attributes, used
        needed = [a for a, is_used in zip(attributes, used, strict=True) if is_used]
        for attribute in needed:
            if attribute.kind not in ("numeric", "nominal"):
                raise DataFileError(
                    path,
                    "an attribute must be numeric, or nominal with numbers or two values, but "
                    f"{attribute.name!r} is of type {short(attribute.kind)!r}; leave it out with "
                    f"ignore=[{attribute.name!r}] (--ignore {shlex.quote(attribute.name)} on the "
                    "command line).",
                )
        self._is_plain = all(attribute.is_plain for attribute in needed)
        self._left_out = {
            column: attribute.left_out
            for column, attribute in enumerate(attributes)
            if used[column] and attribute.left_out != 0
        }
        columns: dict[tuple[float, ...], list[int]] = {}
        for column, attribute in enumerate(attributes):
            if used[column] and attribute.values:
                columns.setdefault(tuple(attribute.values.values()), []).append(column)
        self._nominal = [(np.array(group), allowed) for allowed, group in columns.items()]

    def read(self, block: LineBlock) -> TableBlock:
        """Return the rows of a block, and a function from a row to its line number."""
        values = self._at_once(block.text) if self._is_plain else None
        rows = self._by_lines(block) if values is None else values
        return rows, partial(block.line_of, content=_content)

    def _at_once(self, text: bytes) -> Matrix | None:
        """Return the rows of a block of plain numbers; None if it holds anything else."""
        if b"\r" in text:
            text = text.replace(b"\r\n", b"\n")
        parse = self._sparse if text.lstrip()[:1] == b"{" else self._dense
        values = parse(text)
        if values is None:  # perhaps for the blanks that liac-arff, for one, writes
            values = parse(re.sub(rb"[ \t]+", b" ", _LOOSE_BLANK.sub(rb"\1", text)))
        return values

    def _dense(self, text: bytes) -> np.ndarray | None:
        values = read_table(_DENSE, text, len(self._attributes))
        if values is None:
            return None
        among = all(_among(values[:, group], allowed).all() for group, allowed in self._nominal)
        return values if among else None

    def _sparse(self, text: bytes) -> sparse.csr_array | None:
        scan = _SPARSE.scan(text)
        if scan is None or self._left_out:
            return None
        n_marks = scan.marks_per_row()  # "{", two for a pair, "}" only in an empty row, newline
        counts = n_marks[n_marks > 1] // 2 - 1
        # By the grammar index and value take turns.
        index, data = scan.numbers[::2], scan.numbers[1::2].astype(np.float64)
        n_columns = len(self._attributes)
        if len(index) and not 0 <= index.min() <= index.max() < n_columns:
            return None
        columns = index.astype(np.int32)
        for group, allowed in self._nominal:
            good = _among(data, allowed)
            if not good.all() and np.isin(columns[~good], group).any():
                return None
        return by_rows(columns, data, counts, n_columns)

    def _by_lines(self, block: LineBlock) -> sparse.csr_array:
        columns: list[int] = []
        data: list[float] = []
        counts = []
        for line, content in block.lines():
            text = _content(content)
            if not text:
                continue
            try:
                row = self._row(text)
            except ValueError as error:
                raise DataFileError(
                    self._path, f"{error}. Correct that line of the file.", line=line
                ) from error
            columns += row.keys()
            data += row.values()
            counts.append(len(row))
            if len(columns) > _MOST_FILLED + len(block.text):
                raise DataFileError(
                    self._path,
                    f"values left out of sparse rows may fill {_MOST_FILLED} places for each block "
                    f"of rows, but {len(self._left_out)} nominal attributes, whose first value is "
                    "not 0, fill more; declare 0 first, or leave them out with ignore (--ignore on "
                    "the command line).",
                    line=line,
                )
        places = np.array(columns, np.int32), np.array(data, float), np.array(counts, np.int32)
        rows = by_rows(*places, len(self._attributes))
        assert rows is not None  # a dictionary has each column once
        return rows

    def _row(self, text: str) -> dict[int, float]:
        attributes, used = self._attributes, self._used
        if text.startswith("{"):
            row = dict(self._left_out)
            for column, cell in _sparse_cells(text, len(attributes)).items():
                row[column] = attributes[column].number(cell) if used[column] else 0.0
            return row
        cells = split_cells(text)
        if len(cells) != len(attributes):
            raise ValueError(
                f"a row must hold {len(attributes)} values, one per attribute, got {len(cells)}"
            )
        numbers = (
            attribute.number(cell) if is_used else 0.0
            for attribute, cell, is_used in zip(attributes, cells, used, strict=True)
        )
        return {column: value for column, value in enumerate(numbers) if value != 0}


def _content(line: bytes) -> str:
    """Return a line of rows without its remark."""
    return strip_remark(decoded(line))


def _among(values: np.ndarray, allowed: Sequence[float]) -> np.ndarray:
    if len(allowed) > 8:
        return np.isin(values, allowed)
    found = values == allowed[0]
    for value in allowed[1:]:
        found |= values == value
    return found


def _sparse_cells(text: str, n_columns: int) -> dict[int, str]:
    """Return the cells of a sparse row by their columns."""
    cells: dict[int, str] = {}
    inner = text[1:-1].strip() if text.endswith("}") else text
    for pair in split_cells(inner, raw=True) if inner else []:
        index, _, cell = pair.replace("\t", " ").partition(" ")
        is_number = index.isdecimal() and index.isascii() and len(index) < 19
        column = int(index) if is_number else n_columns
        if not cell or column >= n_columns or column in cells:
            raise ValueError(
                f"a sparse row holds pairs 'index value' between braces, with indices from 0 to "
                f"{n_columns - 1}, each of them once, got {short(pair)!r}"
            )
        cells[column] = unquote(cell)
    return cells


def write_arff(dataset: Dataset, path: str | os.PathLike[str]) -> None:
    """Write an ARFF file and its Mulan XML file, each whole or not at all.

    Features come first, as numeric attributes, labels last, as {0,1}. The relation's name states
    their number as in MEKA ("-C -n"), and "<path without .arff>.xml" lists their names. Rows
    are sparse where X is. Columns without names are called x0, x1, ... and y0, y1, ... A NaN is
    written as a question mark; numbers are written so that they are read back bit by bit.

    Parameters
    ----------
    dataset : Dataset
        Data set to write.
    path : str or path
        The file; one of that name is replaced.

    Raises
    ------
    ValueError
        If a name holds control characters, or X an infinite value.
    """
    path = Path(path)
    features = dataset.feature_names or tuple(f"x{j}" for j in range(dataset.n_features))
    labels = dataset.label_names or tuple(f"y{j}" for j in range(dataset.n_labels))
    data = dataset.X.data if sparse.issparse(dataset.X) else dataset.X
    if np.isinf(data).any():
        raise ValueError(
            f"ARFF has no word for infinity, but X of {dataset.name!r} holds it; replace it first."
        )
    # A name that looks like the option would be read as the option.
    name = writable(dataset.name).replace("-C", "-c")
    head = [f"@relation {quote(f'{name}: -C -{dataset.n_labels}')}", ""]
    head += [f"@attribute {_quoted(name)} numeric" for name in features]
    head += [f"@attribute {_quoted(name)} {{0,1}}" for name in labels]
    head += ["", "@data", ""]
    write_label_names(labels, path.with_name(stem(path) + ".xml"))
    with atomic(path) as stream:
        stream.write("\n".join(head).encode())
        for row in _written_rows(dataset):
            stream.write(row.encode() + b"\n")


def _quoted(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else quote(writable(name))


def _written_rows(dataset: Dataset) -> Iterator[str]:
    """Yield the rows as text; sparse ones where X is."""
    if sparse.issparse(dataset.X):
        table = sparse.csr_array(sparse.hstack([dataset.X, sparse.csr_array(dataset.Y)]))
        for row in range(dataset.n_samples):
            pairs = (pair for pair in sorted(row_of(table, row)) if pair[1])
            yield "{" + ",".join(f"{column} {_cell(value)}" for column, value in pairs) + "}"
    else:
        for x, y in zip(dataset.X, as_dense(dataset.Y), strict=True):
            yield ",".join(map(_cell, [*x.tolist(), *y.tolist()]))


def _cell(value: float) -> str:
    return "?" if value != value else number(value)


# ---- names and values in the text ---------------------------------------------------------------


def split_cells(text: str, *, raw: bool = False) -> list[str]:
    """Return the parts between commas, unquoted unless `raw`; a comma in quotes parts nothing.

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


def strip_remark(line: str) -> str:
    """Return the line up to the first percent sign outside quotes.

    >>> strip_remark("1,'5 %' % half of it")
    "1,'5 %'"
    """
    found = _UNTIL_REMARK.match(line) if "%" in line else None
    return (found[0] if found else line).strip()


def unquote(text: str) -> str:
    """Return a name or value without its quotes and escapes."""
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    return unescape(text)


def unescape(text: str) -> str:
    """Return the text without backslashes; before n, r and t they mean what they do in C."""
    if "\\" not in text:
        return text
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), text)


def quote(text: str) -> str:
    """Return a name or value as `unquote` reads it back.

    >>> print(quote("it's 5 %"))
    'it\\'s 5 %'
    """
    escaped = re.sub(r"(['\\])", r"\\\1", text)
    for letter, character in _ESCAPES.items():
        escaped = escaped.replace(character, "\\" + letter)
    return f"'{escaped}'"
