"""Tables with a column of texts and one of tags: CSV, TSV, JSON lines, Parquet, plain lines."""

import csv
import json
import os
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compactlearn.core._params import nearest
from compactlearn.datasets._errors import DataFileError, short
from compactlearn.datasets._formats.delimited import (
    first_line,
    split_rows,
    text_lines,
    wrong_width,
)
from compactlearn.datasets._formats.parquet import open_parquet, parquet_rows
from compactlearn.datasets._parsing.assemble import stem
from compactlearn.datasets._parsing.unpacking import (
    Limits,
    Lines,
    check_encoding,
    decoded,
    plain_ending,
    present,
)

__all__ = ["TEXT_FORMATS", "Texts", "read_columns", "read_texts", "tags_of"]

TEXT_FORMATS = ("csv", "tsv", "jsonl", "parquet", "lines")
_BY_ENDING = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".json": "jsonl", ".parquet": "parquet", ".pq": "parquet",
}  # fmt: skip
_LONGEST_CELL = 1 << 28
_cell_limit = threading.Lock()
_URI = r"<[A-Za-z][A-Za-z0-9+.-]*:[^<>\s]*>"
_URIS = re.compile(rf"\s*{_URI}(?:\s+{_URI})*\s*")
_HALF_PAIR = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, eq=False, repr=False)
class Texts:
    """Texts and the tags of each.

    Parameters
    ----------
    texts : tuple of str
    tags : tuple of tuple of str, or None
        The names of each text's tags; None where no column of tags was asked for.
    name, source : str
        What the file is called, and where it is.
    """

    texts: tuple[str, ...]
    tags: tuple[tuple[str, ...], ...] | None = None
    name: str = "unnamed"
    source: str = ""

    def __repr__(self) -> str:
        if self.tags is None:
            return f"Texts {self.name!r}: {len(self.texts)} rows"
        distinct = {tag for row in self.tags for tag in row}
        return f"Texts {self.name!r}: {len(self.texts)} rows, {len(distinct)} different tags"


def read_texts(
    path: str | os.PathLike[str],
    text: str | None,
    tags: str | None = None,
    *,
    sep: str = ";",
    format: str | None = None,
    delimiter: str | None = None,
    header: bool = True,
    encoding: str | None = None,
    limits: Limits | None = None,
) -> Texts:
    """Read a column of texts, and of tags where one is named, from a table.

    Parameters
    ----------
    path : str or path
        The file, plain or compressed by xz, bz2 or gzip. The first line of CSV and TSV has the
        names of the columns; a row of JSON lines is an object.
    text : str or None
        The column of the texts. None is for plain lines, each of which is a text.
    tags : str, optional
        The column of the tags: names with `sep` between them, in JSON lines and Parquet also lists
        of names. A cell that is empty or null has none. A cell of addresses in angle brackets,
        ``<https://example.org/1> <https://example.org/2>``, as Annif has them, holds these
        addresses, whatever `sep` is.
    sep : str
        What stands between the names of a cell.
    format : {"csv", "tsv", "jsonl", "parquet", "lines"}, optional
        By default the file's name tells.
    delimiter : str, optional
        Between cells; by default a tab for TSV, and for CSV whichever of comma, semicolon, tab and
        bar is most frequent in the first line.
    header : bool
        Whether the first line of CSV and TSV has the names of the columns; if not, these are called
        "0", "1" and so on, and cells of TSV hold quotes as they are.
    encoding : str, optional
        The encoding of the file, such as "latin-1" or "utf-16". By default UTF-8, and Latin-1 for
        lines that are not in UTF-8.
    limits : Limits, optional
        How far a compressed file may expand.

    Returns
    -------
    Texts

    Raises
    ------
    DataFileError
        A ValueError that names the file, the line where there are lines, and the reason.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "notes.csv")
    ...     _ = path.write_text("id,body,topics\\n7,bake the bread,food; bread\\n8,rain,\\n")
    ...     notes = read_texts(path, "body", "topics")
    >>> notes
    Texts 'notes': 2 rows, 2 different tags
    >>> notes.texts, notes.tags
    (('bake the bread', 'rain'), (('food', 'bread'), ()))
    """
    path = present(path)
    if not sep:
        raise ValueError("sep stands between the names of a cell and must be a text, got ''.")
    chosen = _chosen_format(path, format, text)
    encoding = None if encoding is None else check_encoding(encoding)
    if chosen == "lines":
        return _plain_lines(path, tags, encoding, limits)
    if text is None:
        raise ValueError(
            f"A table of the format {chosen!r} has columns, and text must be the name of the one "
            "with the texts, got None; pass its name (--text on the command line)."
        )
    asked = {"text": text} if tags is None else {"text": text, "tags": tags}
    with _long_cells():
        rows = _table_rows(path, asked, chosen, delimiter, header, encoding, limits)
        return _gathered(path, rows, text, tags, sep)


def read_columns(
    path: str | os.PathLike[str],
    names: Sequence[str] | None = None,
    *,
    format: str | None = None,
    delimiter: str | None = None,
    header: bool = True,
    encoding: str | None = None,
    limits: Limits | None = None,
) -> dict[str, list[Any]]:
    """Read columns of a table as they are: strings, or the values of JSON and Parquet.

    Parameters
    ----------
    path : str or path
        The file, as in `read_texts`.
    names : list of str, optional
        The columns; by default all.
    format, delimiter, header, encoding, limits
        As in `read_texts`.

    Returns
    -------
    dict
        The values of each column, None where a row of JSON or Parquet has none.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "notes.csv")
    ...     _ = path.write_text("id,body\\n7,bake the bread\\n8,rain\\n")
    ...     read_columns(path, ["id"])
    {'id': ['7', '8']}
    """
    path = present(path)
    chosen = _chosen_format(path, format, "")
    if chosen == "lines":
        raise ValueError(f"Columns are read from tables, and {path} has plain lines; pass a table.")
    encoding = None if encoding is None else check_encoding(encoding)
    asked = {} if names is None else {f"keep {place}": name for place, name in enumerate(names)}
    rows: list[tuple[Any, ...]] = []
    place: dict[str, int] = {}
    with _long_cells():
        for _, row in _table_rows(path, asked, chosen, delimiter, header, encoding, limits):
            for name in row:
                place.setdefault(name, len(place))
            kept = place if names is None else names
            rows.append(tuple(_whole(row.get(name)) for name in kept))
    absent = next((name for name in names or () if name not in place), None)
    if absent is not None:
        raise _no_column(path, absent, "keep", place, None)
    if not rows:
        raise DataFileError(path, "it holds no row. Check that it is the right file.")
    found = enumerate(place if names is None else names)
    return {name: [row[j] if j < len(row) else None for row in rows] for j, name in found}


def _chosen_format(path: Path, format: str | None, text: str | None) -> str:
    chosen = _format_of(path, text) if format is None else format
    if chosen not in TEXT_FORMATS:
        raise ValueError(
            f"Texts are read from {', '.join(TEXT_FORMATS)}, and the format is {chosen!r}; pass "
            f"one of these.{nearest(chosen, TEXT_FORMATS)}"
        )
    return chosen


def _table_rows(
    path: Path,
    asked: Mapping[str, str],
    chosen: str,
    delimiter: str | None,
    header: bool,
    encoding: str | None,
    limits: Limits | None,
) -> Iterator["_Row"]:
    """Rows of a table of a known format; Parquet has the columns that are asked for."""
    if not header and chosen not in ("csv", "tsv"):
        raise ValueError(
            f"header=False (--no-header on the command line) is for CSV and TSV, and the format of "
            f"{path} is {chosen!r}; leave it out."
        )
    if chosen == "parquet" and encoding is not None:
        raise ValueError(
            f"encoding (--encoding on the command line) is for texts, and the format of {path} is "
            "'parquet', which has an encoding of its own; leave it out."
        )
    if chosen == "parquet":
        return _parquet_rows(path, asked, limits)
    if chosen == "jsonl":
        return _json_rows(path, encoding, limits)
    comma = "\t" if chosen == "tsv" and delimiter is None else delimiter
    return _delimited_rows(path, comma, encoding, limits, header=header)


# A row is a mapping from columns to cells, with its line where there are lines.
_Row = tuple[int | None, Mapping[str, Any]]


def _format_of(path: Path, text: str | None) -> str:
    found = _BY_ENDING.get(plain_ending(path))
    if found is not None:
        return found
    if text is None:
        return "lines"
    raise DataFileError(
        path,
        "the name of the file does not tell the form of the table. Pass format (--format on the "
        f"command line), one of {', '.join(TEXT_FORMATS)}.",
    )


def _gathered(path: Path, rows: Iterator[_Row], text: str, tags: str | None, sep: str) -> Texts:
    texts: list[str] = []
    names: list[tuple[str, ...]] = []
    seen: dict[str, None] = {}
    for line, row in rows:
        seen.update(dict.fromkeys(row))
        body = row.get(text)
        if not isinstance(body, str):
            if text not in row:
                raise _no_column(path, text, "text", row, line)
            raise DataFileError(
                path,
                f"a text must be a string, and {text!r} holds {short(repr(body))}. Correct that "
                "row of the file.",
                line=line,
            )
        texts.append(_whole(body))
        if tags is not None:
            names.append(tags_of(path, row.get(tags), tags, sep, line))
    if not texts:
        raise DataFileError(path, "it holds no row. Check that it is the right file.")
    if tags is None:
        return Texts(tuple(texts), None, stem(path), os.fspath(path))
    if tags not in seen:  # JSON may leave a key out of a row, but not out of all
        raise _no_column(path, tags, "tags", seen, None)
    return Texts(tuple(texts), tuple(names), stem(path), os.fspath(path))


def _no_column(
    path: Path, name: str, asked_by: str, columns: Mapping[str, Any], line: int | None
) -> DataFileError:
    known = list(columns)
    return DataFileError(
        path,
        f"{asked_by} must name a column, but none is called {name!r}; there are "
        f"{short(', '.join(map(repr, known)))}. Pass one of them (--{asked_by} on the command "
        f"line).{nearest(name, known)}",
        line=line,
    )


def tags_of(path: Path, cell: Any, column: str, sep: str, line: int | None) -> tuple[str, ...]:
    """The names in a cell, each once, in the order they are given."""
    if cell is None:
        return ()
    if isinstance(cell, str):
        listed = _URIS.fullmatch(cell) is not None
        cell = [uri[1:-1] for uri in cell.split()] if listed else cell.split(sep)
    if not isinstance(cell, Sequence) or not all(isinstance(one, str) for one in cell):
        raise DataFileError(
            path,
            f"the tags of a row must be names with {sep!r} between them, or a list of names, and "
            f"{column!r} holds {short(repr(cell))}. Correct that row of the file.",
            line=line,
        )
    half = next((one for one in cell if _HALF_PAIR.search(one)), None)
    if half is not None:
        raise DataFileError(
            path,
            f"a tag must be a text that can be written, and {column!r} holds {short(ascii(half))} "
            "with half a surrogate pair. Correct that row of the file.",
            line=line,
        )
    return tuple(dict.fromkeys(one.strip() for one in cell if one.strip()))


def _whole(value: Any) -> Any:
    """The value; of a text, halves of surrogate pairs, which nothing can write, are replaced."""
    return _HALF_PAIR.sub("\ufffd", value) if isinstance(value, str) else value


def _plain_lines(
    path: Path, tags: str | None, encoding: str | None, limits: Limits | None
) -> Texts:
    if tags is not None:
        raise ValueError(
            f"Plain lines have no columns, and tags asks for the column {tags!r}; pass a table, or "
            "leave tags out."
        )
    texts = []
    with Lines(path, limits, encoding) as lines:
        while (line := lines.line()) is not None:
            texts.append(decoded(line).rstrip("\r"))
    if not texts:
        raise DataFileError(path, "it holds no line. Check that it is the right file.")
    return Texts(tuple(texts), None, stem(path), os.fspath(path))


def _json_rows(path: Path, encoding: str | None, limits: Limits | None) -> Iterator[_Row]:
    with Lines(path, limits, encoding) as lines:
        while (line := lines.line()) is not None:
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise DataFileError(
                    path,
                    f"a line must be an object of JSON, but cannot be read ({error}). Correct that "
                    "line of the file.",
                    line=lines.number,
                ) from error
            if not isinstance(row, dict):
                raise DataFileError(
                    path,
                    f'a line must be an object of JSON, as {{"text": "..."}}, got '
                    f"{short(repr(row))}. Correct that line of the file.",
                    line=lines.number,
                )
            yield lines.number, row


def _delimited_rows(
    path: Path,
    delimiter: str | None,
    encoding: str | None,
    limits: Limits | None,
    *,
    header: bool = True,
) -> Iterator[_Row]:
    with Lines(path, limits, encoding) as lines:
        first, delimiter = first_line(lines, delimiter)
        lines.push_back(first)
        quoted = header or delimiter != "\t"
        names: list[str] = []
        for number, cells in split_rows(lines, text_lines(lines), delimiter, quoted=quoted):
            if not names and header:
                names = [cell.strip() for cell in cells]
                _check_names(path, names)
                continue
            names = names or [str(place) for place in range(len(cells))]
            if len(cells) != len(names):
                raise wrong_width(path, number, len(names), len(cells))
            yield number, dict(zip(names, cells, strict=True))


def _check_names(path: Path, names: Sequence[str]) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataFileError(
            path,
            f"each column needs a name of its own, but {names.count(twice)} are called {twice!r}. "
            "Rename them.",
            line=1,
        )


@contextmanager
def _long_cells() -> Iterator[None]:
    """Inside, a cell may be as long as a line; Python's own limit of 131,072 is for all of it."""
    with _cell_limit:
        before = csv.field_size_limit(_LONGEST_CELL)
        try:
            yield
        finally:
            csv.field_size_limit(before)


def _parquet_rows(path: Path, asked: Mapping[str, str], limits: Limits | None) -> Iterator[_Row]:
    with open_parquet(path) as stored:
        known = stored.schema_arrow.names
    for asked_by, name in asked.items():
        if name not in known:
            raise _no_column(path, name, asked_by.split()[0], dict.fromkeys(known), None)
    names = list(dict.fromkeys(asked.values())) or known
    yield from ((None, row) for row in parquet_rows(path, names, limits))
