"""What commands on models share: the rows of DATA, and the model in MODEL."""

import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from compactlearn.cli._datasets import (
    Delimiter,
    Home,
    Ignore,
    Labels,
    character,
    find,
    listed,
    reading,
)
from compactlearn.cli._mistakes import Mistake, refusals_are_mistakes
from compactlearn.compact._any_classifier import names_of
from compactlearn.core._joined import find_joined
from compactlearn.core._shown import shown
from compactlearn.core._warn import warn_user
from compactlearn.datasets import (
    BlockFiles,
    Dataset,
    ModelColumns,
    TextColumns,
    Texts,
    arranged,
    open_blocks,
    read_for_model,
    read_texts,
)
from compactlearn.datasets._formats.mixed import MixedColumns, MixedTable, read_mixed
from compactlearn.datasets._formats.texts import read_columns
from compactlearn.io._columns import columns_of, encoded_names, last_step, strange_values
from compactlearn.io._model_file import load_model

__all__ = [
    "Data",
    "Delimiter",
    "Encoding",
    "Form",
    "Header",
    "Home",
    "Ignore",
    "Labels",
    "Model",
    "Rows",
    "Separator",
    "TagColumn",
    "TextColumn",
    "Unknown",
    "Wanted",
    "known_labels",
    "name_of",
    "open_model",
    "rows_for",
    "tell_unknown",
    "training_blocks",
    "training_data",
]

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA", help="A file, the name of a data set, or - for standard input.",
        show_default=False,
    ),
]  # fmt: skip
Model = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A file that fit or save has written.")
]
TextColumn = Annotated[
    str | None,
    typer.Option("--text", help="The column of the texts, in a table of texts and tags."),
]
TagColumn = Annotated[str | None, typer.Option("--tags", help="The column of the tags.")]
Separator = Annotated[
    str | None, typer.Option("--sep", help="What stands between the tags of a row; by default ';'.")
]
Form = Annotated[
    str | None,
    typer.Option(
        "--input-format",
        help="The format of DATA where its name does not tell: arff, arrow, csv, libsvm, parquet, "
        "xmlrepo; of texts csv, tsv, jsonl, parquet, or lines: one text in each.",
    ),
]


Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of CSV and TSV has the names of the columns; without them "
        "columns are called 0, 1, 2. By default yes, and for a model as in its training data.",
        show_default=False,
    ),
]


Encoding = Annotated[
    str | None,
    typer.Option(
        help="The encoding of a table of texts, such as latin-1 or utf-16; by default utf-8, and "
        "latin-1 for lines that are not in it.",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class Wanted:
    """What the options say of DATA."""

    source: str
    text: str | None = None
    tags: str | None = None
    sep: str | None = None
    labels: str | None = None
    ignore: str | None = None
    form: str | None = None
    delimiter: str | None = None
    data_home: Path | None = None
    header: bool | None = None
    encoding: str | None = None
    keep: tuple[str, ...] = ()
    categories: str | None = None


@dataclass(frozen=True)
class Rows:
    """Rows as a model takes them, with labels where these were asked for."""

    X: Any
    Y: Any
    name: str
    features: tuple[str, ...] | None = None
    kept: Mapping[str, list[Any]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.X) if isinstance(self.X, list) else self.X.shape[0]


def training_blocks(wanted: Wanted) -> BlockFiles:
    """The same for files of any size: opened, and read block by block."""
    for option, value in {"--text": wanted.text, "--tags": wanted.tags}.items():
        if value is not None:
            raise Mistake(
                f"--blocks reads tables of numbers, and {option} is for texts; leave one of the "
                "two out."
            )
    if wanted.source == "-":
        raise Mistake(
            "--blocks reads files and folders, some of them several times, and DATA is standard "
            "input; name a file."
        )
    _check_no_encoding(wanted)
    with refusals_are_mistakes(), _advice():
        said, options = reading(wanted.labels, wanted.ignore, wanted.delimiter, wanted.header)
        return open_blocks(wanted.source, said, format=wanted.form, **options)


def _check_no_encoding(wanted: Wanted) -> None:
    if wanted.encoding is not None:
        raise Mistake(
            "--encoding is about tables of texts, and DATA is read as a table of numbers; leave it "
            "out, or name the column of the texts by --text."
        )


def training_data(wanted: Wanted) -> tuple[Dataset | Texts | MixedTable, TextColumns | None]:
    """What a model is fitted to, and of texts the columns that they are in."""
    if wanted.categories is not None:
        return _training_table(wanted), None
    if wanted.text is None and wanted.tags is None:
        _check_no_encoding(wanted)
        with _present(wanted.source) as path, _advice():
            return find(path, wanted.data_home, *_reading(wanted), wanted.header), None
    if wanted.text is None or wanted.tags is None:
        given, other = ("--text", "--tags") if wanted.tags is None else ("--tags", "--text")
        raise Mistake(
            f"A table of texts has a column for the texts and one for the tags, and only {given} "
            f"was given; name the other by {other}."
        )
    if wanted.labels is not None or wanted.ignore is not None:
        raise Mistake(
            "--labels and --ignore are about columns of numbers, and --text was given; leave them "
            "out, or leave --text and --tags out."
        )
    columns = TextColumns(wanted.text, wanted.tags, wanted.sep or ";", wanted.header is not False)
    found = _texts(wanted, columns, with_labels=True)
    _doubt_separator(found.tags or (), columns.sep)
    return found, columns


def _training_table(wanted: Wanted) -> MixedTable:
    """A table of numbers and categories."""
    if wanted.text is not None:
        raise Mistake(
            "--categories is about tables of features, and --text was given; leave one of the two "
            "out."
        )
    if wanted.tags is not None and wanted.labels is not None:
        raise Mistake(
            "Labels are columns, which --labels names, or names in one column, which --tags names, "
            "and both were given; leave one of the two out."
        )
    with _present(wanted.source) as path:
        _check_table(path, "--categories")
        with _advice(), refusals_are_mistakes():
            said, options = reading(wanted.labels, wanted.ignore, wanted.delimiter, wanted.header)
            names = wanted.categories or "auto"
            found = read_mixed(
                path,
                said,
                categories=names if names == "auto" else listed(names),
                tags=wanted.tags,
                sep=wanted.sep or ";",
                format=wanted.form,
                encoding=wanted.encoding,
                **options,
            )
    if wanted.tags is not None:
        _doubt_separator(found.Y, found.columns.sep)
    return found


def _check_table(path: str, option: str) -> None:
    if not Path(path).is_file():
        raise Mistake(
            f"{option} is about columns of a file, and there is no file {path}; name a table (CSV, "
            f"TSV, JSON lines or Parquet), or leave {option} out."
        )


def rows_for(model: Any, wanted: Wanted, *, with_labels: bool) -> Rows:
    """Rows for a model that is there already, whose columns it knows."""
    columns = columns_of(model)
    if wanted.header is None and columns is not None:
        wanted = replace(wanted, header=columns.header)
    with _present(wanted.source) as path:
        found = _rows(model, replace(wanted, source=path), columns, with_labels=with_labels)
        return replace(found, kept=_kept(replace(wanted, source=path))) if wanted.keep else found


def _rows(
    model: Any,
    wanted: Wanted,
    columns: ModelColumns | TextColumns | MixedColumns | None,
    *,
    with_labels: bool,
) -> Rows:
    if wanted.text is not None or isinstance(columns, TextColumns) or wanted.form == "lines":
        known = columns if isinstance(columns, TextColumns) else TextColumns(None)
        asked = TextColumns(
            wanted.text or known.text,
            wanted.tags or known.tags,
            wanted.sep or known.sep,
            wanted.header is not False,
        )
        found = _texts(wanted, asked, with_labels=with_labels)
        tags = None if found.tags is None else [list(row) for row in found.tags]
        return Rows(list(found.texts), tags, found.name)
    if isinstance(columns, MixedColumns):
        _check_table(wanted.source, "DATA of this model, fitted by --categories,")
        with _advice(), refusals_are_mistakes():
            _, options = reading(None, None, wanted.delimiter, wanted.header)
            table = read_mixed(
                wanted.source,
                known=columns,
                with_labels=with_labels,
                format=wanted.form,
                encoding=wanted.encoding,
                **options,
            )
        _tell_strange(strange_values(model, table))
        Y = [list(row) for row in table.Y] if isinstance(table.Y, list) else table.Y
        return Rows(table.X, Y, table.name, encoded_names(model, columns))
    if columns is None:
        raise Mistake(
            "The model does not say what it was fitted to; if these were texts, name their column "
            "by --text."
        )
    _check_no_encoding(wanted)
    with _advice():
        labels, ignore, form, delimiter = _reading(wanted)
        if not Path(wanted.source).is_file():
            data = find(wanted.source, wanted.data_home, labels, ignore, form, delimiter)
            with refusals_are_mistakes():
                X, Y = arranged(data, columns, with_labels=with_labels)
            return Rows(X, Y, data.name, columns.features)
        with refusals_are_mistakes():
            said, options = reading(labels, ignore, delimiter, wanted.header)
            X, Y = read_for_model(
                wanted.source, columns, said, with_labels=with_labels, format=form, **options
            )
        return Rows(X, Y, Path(wanted.source).name, columns.features)


def _tell_strange(counts: Mapping[str, int]) -> None:
    """Say on the error stream how many categories a model does not know."""
    if counts:
        listing = ", ".join(f"{count} of {shown(name)}" for name, count in counts.items())
        typer.echo(
            f"compactlearn: Categories that the model does not know count as none: {listing}.",
            err=True,
        )


def _kept(wanted: Wanted) -> Mapping[str, list[Any]]:
    """Columns of DATA that go into the output as they are."""
    _check_table(wanted.source, "--keep")
    with _advice(), refusals_are_mistakes():
        return read_columns(
            wanted.source,
            wanted.keep,
            format=wanted.form,
            delimiter=None if wanted.delimiter is None else character(wanted.delimiter),
            header=wanted.header is not False,
            encoding=wanted.encoding,
        )


def _doubt_separator(tags: Iterable[Iterable[str]], sep: str) -> None:
    """Warn where tags look like several tags joined by another sign than ``sep``."""
    counts = Counter(tag for row in tags for tag in row)
    joined = find_joined(list(counts), list(counts.values()))
    if joined is not None:
        warn_user(
            f"Tags are separated by {sep!r}, and {joined.n_rows} of {counts.total()} look "
            f"like several joined by {joined.separator!r}, such as {joined.example!r:.60}: each "
            f"combination becomes a label of its own. If they are several, pass --sep "
            f"{joined.separator!r}."
        )


@dataclass(frozen=True)
class Unknown:
    """Tags that a model does not know: how many, and in how many rows there are no others."""

    tags: int = 0
    rows: int = 0


def known_labels(model: Any, rows: Rows) -> tuple[Any, Unknown]:
    """The labels, and what was left out because the model does not know it.

    Where nothing is left, nothing can be measured: a ranking without labels has no depth.
    """
    kept, unknown = rows.Y, Unknown()
    if isinstance(rows.Y, list):
        known = set(names_of(last_step(model)))
        kept = [[tag for tag in row if tag in known] for row in rows.Y]
        lost = sum(map(len, rows.Y)) - sum(map(len, kept))
        emptied = sum(bool(row) and not left for row, left in zip(rows.Y, kept, strict=True))
        unknown = Unknown(lost, emptied)
    if not (any(kept) if isinstance(kept, list) else kept.sum()):
        raise Mistake(
            f"A model is judged by rows that have labels, and none of the {rows.count} rows of "
            f"{rows.name} has one that the model knows; check --tags and --sep, or --labels."
        )
    return kept, unknown


def tell_unknown(unknown: Unknown) -> None:
    """Say on the error stream how many tags were left out."""
    if unknown.tags:
        emptied = f" {unknown.rows} rows have no others." if unknown.rows else ""
        typer.echo(
            f"compactlearn: {unknown.tags} tags that the model does not know were left out."
            f"{emptied}",
            err=True,
        )


def open_model(path: Path) -> Any:
    """The model in a file."""
    with refusals_are_mistakes():
        return load_model(path)


def name_of(model: Any) -> str:
    """What a model is, in a word."""
    return type(last_step(model)).__name__


def _texts(wanted: Wanted, columns: TextColumns, *, with_labels: bool) -> Texts:
    if with_labels and columns.tags is None:
        raise Mistake(
            "The tags of the texts are needed, and nobody has said which column they are in; name "
            "it by --tags."
        )
    with _present(wanted.source) as path, _advice(), refusals_are_mistakes():
        return read_texts(
            path,
            None if wanted.form == "lines" else columns.text,
            columns.tags if with_labels else None,
            sep=columns.sep,
            format=wanted.form,
            delimiter=None if wanted.delimiter is None else character(wanted.delimiter),
            header=columns.header,
            encoding=wanted.encoding,
        )


def _reading(wanted: Wanted) -> tuple[str | None, str | None, str | None, str | None]:
    return wanted.labels, wanted.ignore, wanted.form, wanted.delimiter


@contextmanager
def _present(source: str) -> Iterator[str]:
    """The path of the data; inside, what came by standard input is a file."""
    if source != "-":
        yield source
        return
    with tempfile.TemporaryDirectory(prefix="compactlearn-") as folder:
        path = Path(folder, "stdin")
        with path.open("wb") as stream:
            shutil.copyfileobj(sys.stdin.buffer, stream)
        yield str(path)


@contextmanager
def _advice() -> Iterator[None]:
    """Inside, the library's advice to pass a format is about the format of DATA."""
    try:
        yield
    except Mistake as mistake:
        raise Mistake(re.sub(r"--format\b", "--input-format", str(mistake))) from mistake
