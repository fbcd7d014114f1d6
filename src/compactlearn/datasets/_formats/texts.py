"""Tables with a column of texts and one of tags: CSV, TSV, JSON lines, Parquet, plain lines."""

import csv
import json
import os
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compactlearn.core._params import nearest
from compactlearn.datasets._dataset import DataFileError, short
from compactlearn.datasets._formats.delimited import first_line, split_rows, text_lines
from compactlearn.datasets._formats.parquet import open_parquet, parquet_rows
from compactlearn.datasets._parsing.assemble import stem
from compactlearn.datasets._parsing.lines import (
    Limits,
    Lines,
    check_encoding,
    decoded,
    plain_ending,
    present,
)

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

# A row is a mapping from columns to cells, with its line where there are lines.
_Row = tuple[int | None, Mapping[str, Any]]


@dataclass(frozen=True, eq=False, repr=False)
class Texts:
    """Texts and the tags of each.

    Parameters
    ----------
    texts : tuple of str, or tuple of dict
        Dicts, from columns to strings, where several columns were asked for.
    tags : tuple of tuple of str, or None
        The names of each text's tags; None where no column of tags was asked for.
    name, source : str
        The name of the file without its endings, and its path.
    """

    texts: tuple[Any, ...]
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
    text: str | Sequence[str] | None,
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
    text : str, list of str, or None
        The column of the texts. A list is for texts in several columns, of which each row is a
        dict; there a null, or a key that a row of JSON lines lacks, is an empty text. None is for
        plain lines, each of which is a text.
    tags : str, optional
        The column of the tags: names with `sep` between them, in JSON lines and Parquet also lists
        of names. A cell that is empty or null has none. A cell of addresses in angle brackets,
        ``<https://example.org/1> <https://example.org/2>``, as Annif has them, holds these
        addresses, whatever `sep` is.
    sep : str
        Separator between the names of a cell.
    format : {"csv", "tsv", "jsonl", "parquet", "lines"}, optional
        By default found from the file's name.
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
        raise ValueError(
            "sep must be a text of at least one character, which separates the names of a cell; "
            "got ''. Pass for instance ';'."
        )
    lines = text is None and (format == "lines" or plain_ending(path) not in _BY_ENDING)
    if text is None and (tags is not None or not lines):
        raise ValueError(
            f"A table has columns, and text must be the name of the one with the texts (--text on "
            f"the command line); got None for {path}. Without it a text is a plain line, of a file "
            "that has no tags."
        )
    names = [] if text is None else [text] if isinstance(text, str) else list(text)
    if text is not None and not names:
        raise ValueError("text must name at least one column; got none. Pass its name.")
    asked = dict.fromkeys(names, "text") | ({} if tags is None else {tags: "tags"})
    options = {"delimiter": delimiter, "header": header, "encoding": encoding, "limits": limits}
    form = "lines" if lines else format
    found = _read_cells(path, asked if text is not None else {"": ""}, form, **options)
    if text is None or isinstance(text, str):
        texts: Sequence[Any] = _strings(path, text or "", found[text or ""])
    else:
        filled = {name: [(n, "" if v is None else v) for n, v in found[name]] for name in names}
        columns = [_strings(path, name, cells) for name, cells in filled.items()]
        texts = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    topics = None
    if tags is not None:
        topics = tuple(tags_of(path, cell, tags, sep, line) for line, cell in found[tags])
    return Texts(tuple(texts), topics, stem(path), os.fspath(path))


def _strings(path: Path, column: str, cells: Iterable[tuple[int | None, Any]]) -> list[str]:
    """Return the cells of a column of texts."""
    texts = []
    for line, body in cells:
        if not isinstance(body, str):
            raise DataFileError(
                path,
                f"a text must be a string, and {column!r} holds {short(repr(body))}. Correct that "
                "row of the file.",
                line=line,
            )
        texts.append(body)
    return texts


def read_columns(
    path: str | os.PathLike[str], names: Sequence[str] | None = None, **options: Any
) -> dict[str, list[Any]]:
    """Read columns of a table as they are: strings, or the values of JSON and Parquet.

    A row of JSON or Parquet may lack one: None. By default all columns are read; ``options`` are
    those of `read_texts`.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "notes.csv")
    ...     _ = path.write_text("id,body\\n7,bake the bread\\n8,rain\\n")
    ...     read_columns(path, ["id"])
    {'id': ['7', '8']}
    """
    path, form = present(path), options.pop("format", None)
    asked = None if names is None else dict.fromkeys(names, "keep")
    found = _read_cells(path, asked, form, **options)
    return {name: [cell for _, cell in cells] for name, cells in found.items()}


def _read_cells(
    path: Path,
    asked: Mapping[str, str] | None,
    form: str | None,
    *,
    delimiter: str | None = None,
    header: bool = True,
    encoding: str | None = None,
    limits: Limits | None = None,
) -> dict[str, list[tuple[int | None, Any]]]:
    """Return the cells of columns as pairs of line number and value.

    ``asked`` maps each column to the parameter that named it; None reads all columns.
    """
    chosen = form or _BY_ENDING.get(plain_ending(path))
    if chosen not in TEXT_FORMATS:
        raise DataFileError(
            path,
            f"texts are read from {', '.join(TEXT_FORMATS)}, and "
            f"{'its name has the ending of none' if chosen is None else f'not from {chosen!r}'}"
            ". Pass format (--input-format on the command line), one of these."
            f"{nearest(chosen or '', TEXT_FORMATS)}",
        )
    if (not header and chosen not in ("csv", "tsv")) or (encoding and chosen == "parquet"):
        raise ValueError(
            f"header=False (--no-header on the command line) is for CSV and TSV, and encoding "
            f"(--encoding) for all but Parquet, which has an encoding of its own; the format of "
            f"{path} is {chosen!r}. Leave it out."
        )
    encoding = None if encoding is None else check_encoding(encoding)
    if chosen == "parquet":
        return _parquet_cells(path, asked, limits)
    with _long_cells(), Lines(path, limits, encoding) as lines:
        if chosen == "lines":
            rows = _plain_lines(lines)
        elif chosen == "jsonl":
            rows = _json_rows(lines)
        else:
            rows = _delimited_rows(lines, "\t" if chosen == "tsv" else None, delimiter, header)
        return _gathered(path, rows, asked)


def _gathered(
    path: Path, rows: Iterable[_Row], asked: Mapping[str, str] | None
) -> dict[str, list[tuple[int | None, Any]]]:
    seen: dict[str, None] = {}
    kept = []
    for line, row in rows:
        seen.update(dict.fromkeys(row))
        kept.append((line, row if asked is None else {n: row[n] for n in asked if n in row}))
    if not kept:
        raise DataFileError(path, "it holds no row. Check that it is the right file.")
    for name in asked or ():
        if name not in seen:  # JSON may leave a key out of a row, but not out of all
            raise _no_column(path, name, asked or {}, seen)
    names = seen if asked is None else asked
    return {name: [(line, _writable(row.get(name))) for line, row in kept] for name in names}


def _no_column(
    path: Path, name: str, asked: Mapping[str, str], known: Iterable[str]
) -> DataFileError:
    known, asked_by = list(known), asked[name]
    needed = [repr(other) for other, by in asked.items() if by == "text"]
    needs = f"{asked_by} must name a column"
    if asked_by == "text" and len(needed) > 1:
        needs = f"texts are in the {len(needed)} columns {short(', '.join(needed))}"
    return DataFileError(
        path,
        f"{needs}, but none is called {name!r}; there are "
        f"{short(', '.join(map(repr, known)))}. Pass one of them (--{asked_by} on the command "
        f"line).{nearest(name, known)}",
    )


def tags_of(path: Path, cell: Any, column: str, sep: str, line: int | None) -> tuple[str, ...]:
    """Return the names in a cell, each once, in the order they are given."""
    if cell is None:
        return ()
    if isinstance(cell, str):
        listed = _URIS.fullmatch(cell) is not None
        cell = [uri[1:-1] for uri in cell.split()] if listed else cell.split(sep)
    is_list = isinstance(cell, Sequence) and all(isinstance(one, str) for one in cell)
    if not is_list or any(_HALF_PAIR.search(one) for one in cell):
        raise DataFileError(
            path,
            f"the tags of a row must be names with {sep!r} between them, or a list of names, "
            f"without halves of surrogate pairs, and {column!r} holds {short(ascii(cell))}. "
            "Correct that row of the file.",
            line=line,
        )
    return tuple(dict.fromkeys(one.strip() for one in cell if one.strip()))


def _writable(value: Any) -> Any:
    """Return the value; of a text, halves of surrogate pairs are replaced."""
    return _HALF_PAIR.sub("\ufffd", value) if isinstance(value, str) else value


def _plain_lines(lines: Lines) -> Iterator[_Row]:
    while (line := lines.line()) is not None:
        yield lines.number, {"": decoded(line).rstrip("\r")}


def _json_rows(lines: Lines) -> Iterator[_Row]:
    while (line := lines.line()) is not None:
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            fault = "" if isinstance(row, dict) else f"got {short(repr(row))}"
        except (ValueError, RecursionError) as error:
            row, fault = {}, f"this one cannot be read ({error})"
        if fault:
            raise DataFileError(
                lines.path,
                f'a line must be an object of JSON, as {{"text": "..."}}, but {fault}. Correct '
                "that line of the file.",
                line=lines.number,
            )
        yield lines.number, row


def _delimited_rows(
    lines: Lines, usual: str | None, delimiter: str | None, header: bool
) -> Iterator[_Row]:
    first, delimiter = first_line(lines, delimiter or usual)
    lines.push_back(first)
    quoted = header or delimiter != "\t"
    names: list[str] = []
    for number, cells in split_rows(lines.path, text_lines(lines), delimiter, quoted=quoted):
        if names:
            yield number, dict(zip(names, cells, strict=True))
        elif header:
            names = [cell.strip() for cell in cells]
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice is not None:
                raise DataFileError(
                    lines.path,
                    f"each column needs a name of its own, but {names.count(twice)} are called "
                    f"{twice!r}. Rename them.",
                    line=1,
                )
        else:
            names = [str(place) for place in range(len(cells))]
            yield number, dict(zip(names, cells, strict=True))


@contextmanager
def _long_cells() -> Iterator[None]:
    """Let a cell be as long as a line; Python's own limit of 131,072 is for the whole process."""
    with _cell_limit:
        before = csv.field_size_limit(_LONGEST_CELL)
        try:
            yield
        finally:
            csv.field_size_limit(before)


def _parquet_cells(
    path: Path, asked: Mapping[str, str] | None, limits: Limits | None
) -> dict[str, list[tuple[int | None, Any]]]:
    with open_parquet(path) as stored:
        known = stored.schema_arrow.names
    for name in asked or ():
        if name not in known:
            raise _no_column(path, name, asked or {}, known)
    rows = parquet_rows(path, known if asked is None else list(asked), limits)
    return _gathered(path, ((None, row) for row in rows), asked)
