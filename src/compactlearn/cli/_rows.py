"""The rows of DATA and the model in MODEL, as commands read them."""

import contextlib
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import typer

from compactlearn import datasets
from compactlearn.auto._fields import check_fields
from compactlearn.cli._mistakes import Mistake, refusals_are_mistakes, refuse_options
from compactlearn.cli._options import LabelledOptions, RowOptions, TableOptions, listed
from compactlearn.compact._any_classifier import names_of
from compactlearn.core._joined import find_joined
from compactlearn.core._params import nearest
from compactlearn.core._shown import shown
from compactlearn.core._warn import warn_user
from compactlearn.datasets import BlockFiles, Dataset, ModelColumns, TextColumns, Texts
from compactlearn.datasets._formats.mixed import MixedColumns, MixedTable, read_mixed
from compactlearn.datasets._formats.texts import read_columns
from compactlearn.io._columns import columns_of, encoded_names, last_step, strange_values
from compactlearn.io._model_file import load_model

__all__ = [
    "InputRows",
    "find",
    "known_labels",
    "name_of",
    "notify",
    "open_model",
    "rows_for",
    "text_columns",
    "training_blocks",
    "training_data",
]


@dataclass(frozen=True)
class InputRows:
    """Rows in the form that a model needs, with labels where these are needed."""

    X: Any
    Y: Any
    name: str
    features: tuple[str, ...] | None = None
    kept: Mapping[str, list[Any]] = field(default_factory=dict)
    unknown_tags: int = 0

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.X) if isinstance(self.X, list) else self.X.shape[0]


def find(source: str, options: TableOptions) -> Dataset:
    """Return the data set in a file, or the known data set of a name."""
    with refusals_are_mistakes():
        if Path(source).is_file():
            return datasets.read(source, **options.table(), **options.columns())
        known = set(datasets.list_datasets(options.data_home))
        for name in list(known):
            with contextlib.suppress(ValueError):  # a damaged one still has a name
                known |= set(datasets.describe(name, options.data_home).aliases)
        if source.lower() in known:
            refuse_options(
                replace(options, data_home=None).given(),
                f"is for reading a file, but there is no file {source}, and {source} is a known "
                "data set",
            )
            return datasets.load(source, options.data_home)
    if Path(source).is_dir():
        raise Mistake(
            f"DATA must be a file or the name of a data set; got the folder {source}. Name a file "
            "in it."
        )
    raise Mistake(
        f"DATA must be a file or the name of a data set; got {source}. Check the path, or see "
        f"'compactlearn datasets list'.{nearest(source, known)}"
    )


def training_blocks(source: str, options: LabelledOptions) -> BlockFiles:
    """Open files of any size that are read block by block."""
    refuse_options(
        options.given(),
        "is for texts, and --blocks reads numeric tables",
        among=("--text", "--tags", "--encoding"),
    )
    if source == "-":
        raise Mistake(
            "--blocks needs a file or a folder, which it may read several times; DATA is standard "
            "input. Name a file."
        )
    with refusals_are_mistakes():
        return datasets.open_blocks(source, **options.table(), **options.columns())


def training_data(
    source: str, options: LabelledOptions, categories: str | None
) -> tuple[Dataset | Texts | MixedTable, TextColumns | None]:
    """Return the training data, and for texts the columns of texts and tags."""
    with _present(source) as path:
        if categories is not None:
            return _training_table(path, options, categories), None
        if options.text is None and options.tags is None:
            _refuse_encoding(options)
            return find(path, options), None
        if options.text is None or options.tags is None:
            given, other = ("--text", "--tags") if options.tags is None else ("--tags", "--text")
            raise Mistake(
                f"A table of texts needs --text and --tags, the columns of texts and tags; only "
                f"{given} was given. Add {other}."
            )
        refuse_options(
            options.given(),
            "is for numeric tables, and --text was given",
            among=("--labels", "--ignore"),
        )
        named = text_columns(options.text)
        columns = TextColumns(
            named if isinstance(named, str) else tuple(named),
            options.tags,
            options.sep or ";",
            options.header is not False,
        )
        found = _texts(path, replace(options, text=None), columns, with_labels=True)
        _doubt_separator(found.tags or (), columns.sep)
        return found, columns


def _training_table(path: str, options: LabelledOptions, categories: str) -> MixedTable:
    """Read a table of numbers and categories."""
    refuse_options(
        options.given(),
        "cannot be combined with --categories, which reads a table of features whose labels are "
        "columns (--labels) or names in one column (--tags)",
        among=("--text", "--labels") if options.tags is not None else ("--text",),
    )
    _check_table(path, "--categories")
    with refusals_are_mistakes():
        found = read_mixed(
            path,
            **options.columns(),
            **options.table(),
            categories=categories if categories == "auto" else listed(categories),
            tags=options.tags,
            sep=options.sep or ";",
            encoding=options.encoding,
        )
    if options.tags is not None:
        _doubt_separator(found.Y, found.columns.sep)
    return found


def _refuse_encoding(options: RowOptions) -> None:
    refuse_options(
        options.given(),
        "is for tables of texts, and --text, which names the text column, was not given",
        among=("--encoding",),
    )


def _check_table(path: str, option: str) -> None:
    if not Path(path).is_file():
        raise Mistake(
            f"{option} needs a file with columns (CSV, TSV, JSON lines or Parquet), and there is "
            f"no file {path}. Name such a file, or leave {option} out."
        )


def rows_for(
    model: Any,
    source: str,
    options: RowOptions,
    *,
    with_labels: bool,
    keep: Sequence[str] = (),
) -> InputRows:
    """Return the rows of DATA in the form that a fitted model needs."""
    columns = columns_of(model)
    if options.header is None and columns is not None:
        options = replace(options, header=columns.header)
    with _present(source) as path:
        found = _rows(model, path, options, columns, with_labels=with_labels)
        if not keep:
            return found
        _check_table(path, "--keep")
        with refusals_are_mistakes():
            kept = read_columns(path, keep, **options.table(), encoding=options.encoding)
        return replace(found, kept=kept)


def _rows(
    model: Any,
    path: str,
    options: RowOptions,
    columns: ModelColumns | TextColumns | MixedColumns | None,
    *,
    with_labels: bool,
) -> InputRows:
    if options.text is not None or isinstance(columns, TextColumns) or options.form == "lines":
        known = columns if isinstance(columns, TextColumns) else TextColumns(None)
        found = _texts(path, options, known, with_labels=with_labels)
        tags = None if found.tags is None else [list(row) for row in found.tags]
        return InputRows(list(found.texts), tags, found.name)
    if isinstance(columns, MixedColumns):
        _check_table(path, "A model fitted with --categories")
        with refusals_are_mistakes():
            table = read_mixed(
                path,
                known=columns,
                with_labels=with_labels,
                **options.table(),
                encoding=options.encoding,
            )
        strange = strange_values(model, table)
        if strange:
            listing = ", ".join(f"{count} of {shown(name)}" for name, count in strange.items())
            notify(f"Unknown categories are ignored: {listing}.")
        Y = [list(row) for row in table.Y] if isinstance(table.Y, list) else table.Y
        return InputRows(table.X, Y, table.name, encoded_names(model, columns))
    if columns is None:
        raise Mistake(
            "The model file does not name the columns of its training data; if they were texts, "
            "name the text column by --text."
        )
    _refuse_encoding(options)
    is_file = Path(path).is_file()
    data = None if is_file else find(path, replace(options, header=None))
    with refusals_are_mistakes():
        if data is not None:
            X, Y = datasets.arranged(data, columns, with_labels=with_labels)
            return InputRows(X, Y, data.name, columns.features)
        X, Y = datasets.read_for_model(
            path, columns, with_labels=with_labels, **options.table(), **options.columns()
        )
    return InputRows(X, Y, Path(path).name, columns.features)


def _texts(path: str, options: RowOptions, known: TextColumns, *, with_labels: bool) -> Texts:
    """Read texts from the columns in the options, otherwise from those in ``known``."""
    tags = getattr(options, "tags", None) or known.tags
    if with_labels and tags is None:
        raise Mistake(
            "The tags of the texts are needed, and neither the model nor --tags names their "
            "column; pass --tags."
        )
    columns = _columns_in_data(options, known)
    with refusals_are_mistakes():
        found = datasets.read_texts(
            path,
            columns,
            tags if with_labels else None,
            sep=getattr(options, "sep", None) or known.sep,
            **options.table(),
            encoding=options.encoding,
        )
    fields = known.text
    if not isinstance(fields, tuple) or columns == fields:
        return found
    renamed = (dict(zip(fields, row.values(), strict=True)) for row in found.texts)
    return replace(found, texts=tuple(renamed))


def _columns_in_data(options: RowOptions, known: TextColumns) -> str | tuple[str, ...] | None:
    """Return the columns of the texts: those in --text, or else those of the training data."""
    fields = known.text if isinstance(known.text, tuple) else ()
    listing = ", ".join(fields)
    if options.form == "lines":
        if fields:
            raise Mistake(
                f"The model needs texts with the columns {listing}; got plain lines, which have "
                "none. Pass a table."
            )
        return None
    if options.text is None:
        return known.text
    named = text_columns(options.text)
    if isinstance(named, str) and not fields:
        return named
    names = (named,) if isinstance(named, str) else tuple(named)
    weighted = not isinstance(named, str) and set(named.values()) != {1.0}
    if len(names) == len(fields) and not weighted:
        return names
    wanted = f"the columns {listing}" if fields else "one column of texts"
    remedy = f"{len(fields)} columns in this order" if fields else "one column"
    raise Mistake(
        f"The model was fitted to {wanted}; got --text {options.text}. Name {remedy}, without "
        "weights, or leave --text out if the names are those of the training data."
    )


def text_columns(text: str) -> str | dict[str, float]:
    """Return the column in --text, or the weights of several columns.

    >>> text_columns("body"), text_columns("title:2,body")
    ('body', {'title': 2.0, 'body': 1.0})
    """
    weights: dict[str, float | None] = {}
    for part in listed(text) if "," in text else [text]:
        name, _, ending = part.rpartition(":")
        weight = None
        with contextlib.suppress(ValueError):
            weight = float(ending) if name else None
        name = part if weight is None else name.strip()
        if name in weights:
            raise Mistake(
                f"--text must name each column once; got {text!r:.60}. Leave out the second "
                f"{name!r}; for a larger weight pass for example title:2,body."
            )
        weights[name] = weight
    if list(weights.values()) == [None]:
        return next(iter(weights))
    with refusals_are_mistakes():
        return check_fields({name: 1 if w is None else w for name, w in weights.items()})


def _doubt_separator(tags: Iterable[Iterable[str]], sep: str) -> None:
    """Warn if tags look like several tags joined by another separator than ``sep``."""
    counts = Counter(tag for row in tags for tag in row)
    joined = find_joined(list(counts), list(counts.values()))
    if joined is not None:
        warn_user(
            f"Tags are separated by {sep!r}, and {joined.n_rows} of {counts.total()} look "
            f"like several joined by {joined.separator!r}, such as {joined.example!r:.60}: each "
            f"combination becomes one label. To split them, pass --sep {joined.separator!r}."
        )


def known_labels(model: Any, rows: InputRows) -> InputRows:
    """Return the rows with the labels that the model knows; report how many others there were."""
    kept, n_unknown, emptied = rows.Y, 0, 0
    if isinstance(rows.Y, list):
        known = set(names_of(last_step(model)))
        kept = [[tag for tag in row if tag in known] for row in rows.Y]
        n_unknown = sum(map(len, rows.Y)) - sum(map(len, kept))
        emptied = sum(bool(row) and not left for row, left in zip(rows.Y, kept, strict=True))
    if not (any(kept) if isinstance(kept, list) else kept.sum()):
        raise Mistake(
            f"DATA must have rows with labels that the model knows; none of the {rows.count} rows "
            f"of {rows.name} has one. Check --tags and --sep, or --labels."
        )
    if n_unknown:
        others = f" Rows without other tags: {emptied}." if emptied else ""
        notify(f"Tags that the model does not know were left out: {n_unknown}.{others}")
    return replace(rows, Y=kept, unknown_tags=n_unknown)


def notify(sentence: str) -> None:
    """Print a sentence to the error stream."""
    typer.echo(f"compactlearn: {sentence}", err=True)


def open_model(path: Path) -> Any:
    """Return the model in a file."""
    with refusals_are_mistakes():
        return load_model(path)


def name_of(model: Any) -> str:
    """Return the name of the class of a model."""
    return type(last_step(model)).__name__


@contextmanager
def _present(source: str) -> Iterator[str]:
    """Yield the path of DATA, for standard input that of a temporary copy."""
    if source != "-":
        yield source
        return
    with tempfile.TemporaryDirectory(prefix="compactlearn-") as folder:
        path = Path(folder, "stdin")
        with path.open("wb") as stream:
            shutil.copyfileobj(sys.stdin.buffer, stream)
        yield str(path)
