"""Tables as text: comma, semicolon or tab between the cells, names in the first line."""

import csv
import math
import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path

import numpy as np

from compactlearn.datasets._dataset import Dataset
from compactlearn.datasets._errors import DataFileError, short
from compactlearn.datasets._formats.columns import AnyLabels, KnownColumns, split_columns
from compactlearn.datasets._parsing.assemble import LabelledPart, LabelledRows, parts_of, whole
from compactlearn.datasets._parsing.number_blocks import SKIP, VALUE, Grammar
from compactlearn.datasets._parsing.unpacking import Block, Limits, Lines, decoded

__all__ = [
    "csv_parts",
    "first_line",
    "number_of",
    "read_csv",
    "split_rows",
    "text_lines",
    "wrong_width",
]

_DELIMITERS = ",;\t|"
_MISSING = {"", "?", "na", "n/a", "nan", "null", "none"}
_WORDS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}
_BATCH = 1 << 16  # cells

# Some rows, and what tells the line of each.
_NumberedRows = tuple[np.ndarray, Callable[[int], int]]


def read_csv(
    path: str | os.PathLike[str],
    labels: AnyLabels,
    *,
    delimiter: str | None = None,
    header: bool = True,
    ignore: Sequence[str] = (),
    limits: Limits | None = None,
) -> Dataset:
    """Read a table of numbers from a CSV or TSV file, plain or compressed.

    Cells hold numbers; "true", "yes" and their opposites are 1 and 0. An empty cell, "NA" and the
    like is a missing value: NaN in X, refused in Y. Cells may stand in double quotes.

    Parameters
    ----------
    path : str or path
        The file.
    labels : path, str, list of str or int
        Which columns are labels: a Mulan XML file, the prefix of their names, their names, or
        their number n: the first n columns if n > 0, the last -n if n < 0.
    delimiter : str, optional
        By default whichever of comma, semicolon, tab and bar is most frequent in the first line.
    header : bool
        Whether the first line holds the names; if not, the columns are called "0", "1" and so on.
    ignore : list of str
        Names of columns to leave out.
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
    ...     path = pathlib.Path(folder, "films.csv")
    ...     _ = path.write_text("minutes,is_funny,is_sad\\n96,1,0\\n121,0,1\\n")
    ...     films = read_csv(path, "is_")
    >>> films.feature_names, films.X.ravel(), films.Y.toarray()
    (('minutes',), array([ 96., 121.]), array([[1, 0], [0, 1]]))
    """
    return whole(
        path,
        csv_parts(
            path, None, labels, delimiter=delimiter, header=header, ignore=ignore, limits=limits
        ),
    )


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
        feature_columns, label_columns = split_columns(lines.path, names, labels, ignore)
        table = LabelledRows(lines.path, names, feature_columns, label_columns)
        ignored = np.ones(len(names), dtype=bool)
        ignored[feature_columns] = ignored[label_columns] = False
        yield from parts_of(table, _blocks(lines, names, delimiter, ignored), size)


def _names(lines: Lines, delimiter: str | None, header: bool, least: int) -> tuple[list[str], str]:
    first, delimiter = first_line(lines, delimiter)
    text = decoded(first).rstrip("\r")
    texts = iter([text + "\n"])
    if header:  # a name may hold a line end between quotes
        texts = chain(texts, text_lines(lines))
    cells = next(split_rows(lines, texts, delimiter), (1, []))[1]
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
    """Return the first line of a table, and what is between its cells.

    Raises
    ------
    DataFileError
        If there is none, or it is no text.
    """
    first = lines.line()
    if first is None or not first.strip():
        what = "the file is empty" if first is None else "the first line is empty"
        raise DataFileError(
            lines.path,
            f"a table starts with a line of names or of numbers, but {what}. Check that it is the "
            "right file and that it is whole.",
            line=None if first is None else 1,
        )
    if b"\0" in first:
        raise DataFileError(
            lines.path,
            "a table is text, but its first line holds zero bytes, as no text does. Check that it "
            "is the right file; pass the format of another (--format on the command line), or the "
            "encoding of a text, such as 'utf-16' (--encoding).",
            line=1,
        )
    return first, delimiter or max(_DELIMITERS, key=decoded(first).count)


def text_lines(lines: Lines) -> Iterator[str]:
    """Yield the remaining lines as text, each with its line end."""
    while (line := lines.line()) is not None:
        yield decoded(line) + "\n"


def split_rows(
    lines: Lines,
    texts: Iterator[str],
    delimiter: str,
    before: int = 0,
    *,
    quoted: bool = True,
) -> Iterator[tuple[int, list[str]]]:
    """Yield each row of a table that is not empty, after the number of its last line."""
    quoting = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    reader = csv.reader(texts, delimiter=delimiter, strict=True, quoting=quoting)
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise DataFileError(
                lines.path,
                f"its cells cannot be told apart ({error}). Correct that line of the file.",
                line=before + reader.line_num,
            ) from error
        if cells:
            yield before + reader.line_num, cells


def wrong_width(path: Path, line: int, expected: int, got: int) -> DataFileError:
    """Return the refusal of a row with more or fewer cells than columns."""
    return DataFileError(
        path,
        f"a row must hold {expected} cells, one per column, got {got}. Correct that line of the "
        "file; a text that holds the delimiter or a line end stands in double quotes.",
        line=line,
    )


def _blocks(
    lines: Lines, names: list[str], delimiter: str, ignored: np.ndarray
) -> Iterator[_NumberedRows]:
    d = delimiter
    grammar = Grammar(
        {f"\n0{d}": VALUE, f"{d}0{d}": VALUE, f"{d}0\n": VALUE, "\n0\n": VALUE, "\n\n": SKIP}
    )
    blocks = lines.blocks()
    for block in blocks:
        quoted = b'"' in block.text  # a cell may go on in the next block
        values = None if quoted else _at_once(grammar, block, len(names))
        if values is not None:
            yield values, partial(_filled_line, block)
            continue
        taken = chain([block], blocks) if quoted else [block]
        texts = (decoded(line) + "\n" for part in taken for _, line in part.lines())
        yield from _by_lines(lines, texts, names, d, ignored, block.first_line - 1)


def _at_once(grammar: Grammar, block: Block, n_columns: int) -> np.ndarray | None:
    scan = grammar.scan(block.text.replace(b"\r\n", b"\n"))
    if scan is None:
        return None
    per_row = scan.per_row(VALUE)
    if not ((per_row == n_columns) | (per_row == 0)).all():
        return None
    return scan.numbers.astype(np.float64, copy=False).reshape(-1, n_columns)


def _filled_line(block: Block, row: int) -> int:
    return [number for number, line in block.lines() if line.strip()][row]


def _by_lines(
    lines: Lines,
    texts: Iterator[str],
    names: list[str],
    delimiter: str,
    ignored: np.ndarray,
    before: int,
) -> Iterator[_NumberedRows]:
    found = split_rows(lines, texts, delimiter, before)
    rows = (row for row in found if len(row[1]) > 1 or row[1][0].strip())
    size = max(1, _BATCH // len(names))
    while batch := list(islice(rows, size)):
        values = np.empty((len(batch), len(names)))
        for row, (number, cells) in enumerate(batch):
            if len(cells) != len(names):
                raise wrong_width(lines.path, number, len(names), len(cells))
            for column, cell in enumerate(cells):
                values[row, column] = 0.0 if ignored[column] else number_of(cell.strip())
                if np.isinf(values[row, column]):
                    raise DataFileError(
                        lines.path,
                        f"the column {names[column]!r} must hold finite numbers, got "
                        f"{short(cell.strip())!r}. Correct that line, or leave the column out with "
                        f"ignore=[{names[column]!r}] (on the command line --ignore "
                        f"{shlex.quote(names[column])}, or fit --categories auto for a column of "
                        "categories).",
                        line=number,
                    )
        yield values, [number for number, _ in batch].__getitem__


def number_of(cell: str) -> float:
    """The number, NaN if it is missing, infinity if it is none."""
    try:
        value = float(cell) if "_" not in cell and cell.isascii() else math.inf
    except ValueError:
        value = math.inf
    if math.isfinite(value):
        return value
    word = cell.lower()
    return math.nan if word in _MISSING else _WORDS.get(word, math.inf)
