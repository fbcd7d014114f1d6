"""Tables as text: comma, semicolon, tab or bar between the cells, names in the first line."""

import csv
import math
import os
import shlex
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

import numpy as np

from compactlearn.datasets._dataset import DataFileError, short
from compactlearn.datasets._formats.columns import AnyLabels, KnownColumns, split_columns
from compactlearn.datasets._parsing.assemble import LabelledPart, TableBlock, table_parts
from compactlearn.datasets._parsing.lines import Limits, Lines, decoded
from compactlearn.datasets._parsing.number_blocks import finite_number, read_table, table_grammar

_DELIMITERS = ",;\t|"
_MISSING = {"", "?", "na", "n/a", "nan", "null", "none"}
_WORDS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}
_BATCH = 1 << 16  # cells


def csv_parts(
    path: str | os.PathLike[str],
    size: int | None,
    labels: AnyLabels = None,
    *,
    delimiter: str | None = None,
    header: bool = True,
    ignore: Sequence[str] = (),
    limits: Limits | None = None,
) -> Iterator[LabelledPart]:
    """Yield ``size`` rows at a time or somewhat more, or all of them (None)."""
    if delimiter is not None and (
        len(delimiter) != 1 or ord(delimiter) > 127 or delimiter in '"\n\r'
    ):
        raise ValueError(
            f"delimiter must be one plain character, not a quote or a line end, got {delimiter!r}."
        )
    with Lines(path, limits) as lines:
        least = 1 if isinstance(labels, KnownColumns) else 2
        names, delimiter = _names(lines, delimiter, header, least)
        features, chosen = split_columns(lines.path, names, labels, ignore)
        used = {*features.tolist(), *chosen.tolist()}
        blocks = _blocks(lines, names, delimiter, used)
        yield from table_parts(lines.path, names, features, chosen, blocks, size)


def _names(lines: Lines, delimiter: str | None, header: bool, least: int) -> tuple[list[str], str]:
    first, delimiter = first_line(lines, delimiter)
    texts = iter([decoded(first).rstrip("\r") + "\n"])
    if header:  # a name may hold a line end between quotes
        texts = chain(texts, text_lines(lines))
    cells = next(split_rows(lines.path, texts, delimiter), (1, []))[1]
    if not header:
        lines.push_back(first)
    if len(cells) < least:
        raise DataFileError(
            lines.path,
            f"a table has features and labels, so two columns at least, but splitting the first "
            f"line at {delimiter!r} gives one. Pass delimiter (--delimiter on the command line).",
            line=1,
        )
    return [cell.strip() if header else str(j) for j, cell in enumerate(cells)], delimiter


def first_line(lines: Lines, delimiter: str | None) -> tuple[bytes, str]:
    """Return the first line of a table, and the delimiter of its cells."""
    first = lines.line()
    if first is None or not first.strip() or b"\0" in first:
        what = "holds zero bytes, as no text does" if first and first.strip() else "is empty"
        raise DataFileError(
            lines.path,
            f"a table is text that starts with a line of names or of numbers, but "
            f"{'the file' if first is None else 'its first line'} {what}. Check that it is the "
            "right file and that it is whole; pass the format of another (--input-format on the "
            "command line), or the encoding of a text, such as 'utf-16' (--encoding).",
            line=None if first is None else 1,
        )
    return first, delimiter or max(_DELIMITERS, key=decoded(first).count)


def text_lines(lines: Lines) -> Iterator[str]:
    """Yield the remaining lines as text, each with its line end."""
    while (line := lines.line()) is not None:
        yield decoded(line) + "\n"


def split_rows(
    path: Path,
    texts: Iterator[str],
    delimiter: str,
    *,
    before: int = 0,
    width: int | None = None,
    quoted: bool = True,
) -> Iterator[tuple[int, list[str]]]:
    """Yield each row of a table that is not empty, after the number of its last line.

    All must have ``width`` cells; None is as many as the first one has.
    """
    quoting = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    reader = csv.reader(texts, delimiter=delimiter, strict=True, quoting=quoting)
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            fault = f"its cells cannot be separated ({error})"
            break
        if not cells or (len(cells) == 1 and width != 1 and not cells[0].strip()):
            continue
        width = width or len(cells)
        if len(cells) != width:
            fault = f"a row must hold {width} cells, one per column, got {len(cells)}"
            break
        yield before + reader.line_num, cells
    raise DataFileError(
        path,
        f"{fault}. Correct that line of the file; a text that holds the delimiter or a line end "
        "must be in double quotes.",
        line=before + reader.line_num,
    )


def _blocks(
    lines: Lines, names: Sequence[str], delimiter: str, used: set[int]
) -> Iterator[TableBlock]:
    grammar = table_grammar(delimiter)
    blocks = lines.blocks()
    for block in blocks:
        quoted = b'"' in block.text  # a cell may continue in the next block
        text = block.text.replace(b"\r\n", b"\n")
        values = None if quoted else read_table(grammar, text, len(names))
        if values is not None:
            yield values, block.line_of
            continue
        parts = chain([block], blocks) if quoted else [block]
        texts = (decoded(line) + "\n" for part in parts for _, line in part.lines())
        before, width = block.first_line - 1, len(names)
        rows = split_rows(lines.path, texts, delimiter, before=before, width=width)
        yield from _by_lines(lines.path, rows, names, used)


def _by_lines(
    path: Path, rows: Iterator[tuple[int, list[str]]], names: Sequence[str], used: set[int]
) -> Iterator[TableBlock]:
    size = max(1, _BATCH // len(names))
    while batch := list(islice(rows, size)):
        values = np.array(
            [
                [number_of(cell) if j in used else 0.0 for j, cell in enumerate(cells)]
                for _, cells in batch
            ]
        )
        wrong = np.argwhere(np.isinf(values))
        if wrong.size:
            row, column = wrong[0]
            line, cells = batch[row]
            raise DataFileError(
                path,
                f"the column {names[column]!r} must hold finite numbers, got "
                f"{short(cells[column].strip())!r}. Correct that line, or leave the column out "
                f"with ignore=[{names[column]!r}] (on the command line --ignore "
                f"{shlex.quote(names[column])}, or fit --categories auto for a column of "
                "categories).",
                line=line,
            )
        yield values, [line for line, _ in batch].__getitem__


def number_of(cell: str) -> float:
    """Return the number in a cell, NaN if it is missing, infinity if it is none."""
    value = finite_number(cell)
    if not math.isnan(value):
        return value
    word = cell.strip().lower()
    return math.nan if word in _MISSING else _WORDS.get(word, math.inf)
