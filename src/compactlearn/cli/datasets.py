"""`compactlearn datasets`: what there is, where it lies, and how to bring and convert files."""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from compactlearn import datasets
from compactlearn.cli.mistakes import Mistake, refusals_are_mistakes
from compactlearn.core.params import nearest

__all__ = ["Home", "Labels", "app", "find"]

app = typer.Typer(
    help="Multi-label data sets: list, describe, fetch, add, convert.",
    no_args_is_help=False,
    pretty_exceptions_enable=False,
)

Home = Annotated[
    Path | None,
    typer.Option(
        "--data-home", help="The data folder; by default COMPACTLEARN_DATA or the user's cache."
    ),
]
Name = Annotated[str, typer.Argument(help="A name from `compactlearn datasets list`.")]
Labels = Annotated[
    str | None,
    typer.Option(
        help="Which columns are labels, where the file does not say: a Mulan XML file, a prefix "
        "of their names, or a count: the first N, or with -N the last."
    ),
]


@app.callback(invoke_without_command=True)
def _common(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("list")
def list_(data_home: Home = None) -> None:
    """List the sets known by name, and which of them are on this machine."""
    table = Table()
    for heading in ("name", "rows", "features", "labels", "labels per row"):
        table.add_column(heading, justify="left" if heading == "name" else "right", no_wrap=True)
    table.add_column("here")
    for name in datasets.list_datasets():
        counts = datasets.describe(name).expected
        values = (counts.samples, counts.features, counts.labels, counts.cardinality)
        here = "yes" if datasets.is_available(name, data_home) else _how(name)
        table.add_row(name, *("?" if value is None else str(value) for value in values), here)
    console = _console()
    console.print(table)
    console.print(f"Data folder: {datasets.data_folder(data_home)}", soft_wrap=True)


@app.command()
def info(name: Name, data_home: Home = None) -> None:
    """Say what is known of a set: counts, files, checksums, origin, citation, terms."""
    with refusals_are_mistakes():
        entry = datasets.describe(name)
    base = entry if entry.of is None else datasets.describe(entry.of)
    here = "yes" if datasets.is_available(entry.name, data_home) else _how(entry.name)
    counts = entry.expected
    lines = [
        ("name", entry.name),
        ("also called", ", ".join(entry.aliases)),
        ("variant of", entry.of),
        ("here", here),
        ("folder", datasets.data_folder(data_home) / base.name),
        ("rows", counts.samples),
        ("features", counts.features),
        ("labels", counts.labels),
        ("labels per row", counts.cardinality),
        ("label sets", counts.distinct),
        ("training rows", f"the first {entry.n_train}" if entry.n_train else None),
        ("note", entry.note),
        ("citation", entry.citation),
        ("terms", entry.licence),
    ]
    for file in base.files:
        lines += [
            ("file", f"{file.name} ({file.bytes} bytes)"),
            ("  SHA-256", file.sha256),
            ("  origin", file.origin),
            *(("  address", address) for address in file.addresses),
        ]
    for heading, value in lines:
        if value not in (None, ""):
            typer.echo(f"{heading + ':':<16} {value}")


@app.command()
def fetch(name: Name, data_home: Home = None) -> None:
    """Make sure that the files of a set are in the data folder, fetching what is not."""
    with refusals_are_mistakes():
        for path in datasets.fetch(name, data_home):
            typer.echo(path)


@app.command()
def add(
    name: Name,
    files: Annotated[list[Path], typer.Argument(help="Rows, and the XML file if there is one.")],
    labels: Labels = None,
    data_home: Home = None,
) -> None:
    """Copy files of a set that cannot be fetched into the data folder, if they are that set."""
    with refusals_are_mistakes():
        data = datasets.add(name, files, labels=_labels(labels), data_home=data_home)
    typer.echo(data)


@app.command()
def convert(
    source: Annotated[str, typer.Argument(metavar="SRC", help="A file, or the name of a set.")],
    target: Annotated[
        Path,
        typer.Argument(
            metavar="DST",
            help="A name that ends in .arff (the labels go to .xml beside it), .parquet or .txt "
            "(the extreme-classification repository's form).",
        ),
    ],
    labels: Labels = None,
    data_home: Home = None,
) -> None:
    """Read SRC, in whatever form it is, and write it in the form that the name of DST says."""
    write = _writer(target)
    data = find(source, labels, data_home)
    with refusals_are_mistakes():
        write(data, target)
    typer.echo(f"{data} -> {target}")


def find(source: str, labels: str | None, data_home: Path | None) -> datasets.Dataset:
    """A data set by the name of a file, or by its own."""
    with refusals_are_mistakes():
        if Path(source).exists():
            return datasets.read(source, _labels(labels))
        if source.lower() in _names():
            return datasets.load(source, data_home)
    raise Mistake(
        f"There is no file {source} here, and no data set of that name; check the path, or see "
        f"'compactlearn datasets list'.{nearest(source, _names())}"
    )


def _how(name: str) -> str:
    """How to bring a set here that is not."""
    entry = datasets.describe(name)
    base = entry if entry.of is None else datasets.describe(entry.of)
    if not base.files:
        return "no; to be added"
    can = all(file.addresses for file in base.files)
    return "no; can be fetched" if can else "no; to be added"


def _names() -> set[str]:
    entries = [datasets.describe(name) for name in datasets.list_datasets()]
    return {word for entry in entries for word in (entry.name, *entry.aliases)}


def _writer(target: Path) -> Callable[..., object]:
    writers = {
        ".arff": datasets.write_arff,
        ".parquet": datasets.write_parquet,
        ".txt": datasets.write_xmlrepo,
    }
    try:
        return writers[target.suffix.lower()]
    except KeyError:
        raise Mistake(
            f"DST must end in {', '.join(writers)}, but is {target}; give such a name, and "
            "compress the file afterwards if you like."
        ) from None


def _labels(text: str | None) -> str | int | None:
    """A count if it looks like one."""
    with contextlib.suppress(ValueError):
        return int(text or "")
    return text


def _console() -> Console:
    # Not a terminal: no wrapping to a guessed width, so that the output can be searched.
    width = None if os.isatty(1) or "COLUMNS" in os.environ else 120
    return Console(highlight=False, width=width)
