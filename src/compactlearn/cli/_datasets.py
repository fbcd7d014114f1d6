"""`compactlearn datasets`: list, describe, fetch, add and convert data sets."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from compactlearn import datasets
from compactlearn.cli._mistakes import Mistake, refusals_are_mistakes
from compactlearn.cli._options import Home, TableOptions, grouped
from compactlearn.cli._rows import find
from compactlearn.cli._tables import console, fitted
from compactlearn.cli._targets import check_target, files_read, xml_file_of
from compactlearn.core._shown import shown

__all__ = ["app"]

app = typer.Typer(
    help="List, describe, fetch, add and convert multi-label data sets.",
    add_completion=False,
    no_args_is_help=False,
    pretty_exceptions_enable=False,
)
Name = Annotated[str, typer.Argument(help="A name from `compactlearn datasets list`.")]


@app.callback(invoke_without_command=True)
def _common(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("list")
def list_(data_home: Home = None) -> None:
    """List the known data sets, and which of them are on this machine."""
    out = console()
    rows = [_listed(name, data_home) for name in datasets.list_datasets(data_home)]
    headings = ("name", "rows", "features", "labels", "labels per row", "here")
    for table in fitted(headings, rows, out.width):
        out.print(table)
    out.print(f"Data folder: {datasets.data_folder(data_home)}", soft_wrap=True)


def _listed(name: str, data_home: Path | None) -> list[str]:
    try:
        entry = datasets.describe(name, data_home)
    except ValueError:
        return [name, *"????", "damaged; to be added again"]
    counts = entry.expected
    values = (counts.samples, counts.features, counts.labels, counts.cardinality)
    here = "yes; yours" if entry.own else _is_here(entry, data_home)
    return [name, *("?" if value is None else str(value) for value in values), here]


def _is_here(entry: datasets.Entry, data_home: Path | None) -> str:
    """Return whether a data set is on this machine, or how to get it."""
    if datasets.is_available(entry.name, data_home):
        return "yes"
    base = entry if entry.of is None else datasets.describe(entry.of)
    fetchable = base.files and all(file.address for file in base.files)
    return "no; can be fetched" if fetchable else "no; to be added"


@app.command()
def info(name: Name, data_home: Home = None) -> None:
    """Show a data set: counts, files, checksums, origin, citation and terms."""
    with refusals_are_mistakes():
        entry = datasets.describe(name, data_home)
    base = entry if entry.of is None else datasets.describe(entry.of)
    counts = entry.expected
    lines = [
        ("name", entry.name),
        ("also called", ", ".join(entry.aliases)),
        ("variant of", entry.of),
        ("here", _is_here(entry, data_home)),
        ("folder", datasets.folder_of(entry.name, data_home)),
        ("rows", counts.samples),
        ("features", counts.features),
        ("labels", counts.labels),
        ("labels per row", counts.cardinality),
        ("label sets", counts.distinct),
        ("training rows", f"the first {entry.n_train}" if entry.n_train else None),
        ("SHA-256", f"{entry.content} (of its values)" if entry.content else None),
        ("note", entry.note),
        ("citation", entry.citation),
        ("terms", entry.licence),
    ]
    for file in base.files:
        lines += [
            ("file", f"{file.name} ({file.bytes} bytes)"),
            ("  SHA-256", file.sha256),
            ("  origin", file.origin),
            ("  address", file.address),
        ]
    for heading, value in lines:
        if value not in (None, ""):
            typer.echo(f"{heading + ':':<16} {shown(value)}")


@app.command()
def fetch(name: Name, data_home: Home = None) -> None:
    """Download the files of a data set that are missing in the data folder."""
    with refusals_are_mistakes():
        for path in datasets.fetch(name, data_home):
            typer.echo(shown(path))


@app.command()
@grouped
def add(
    name: Annotated[
        str, typer.Argument(help="A new name, or that of a data set that cannot be fetched.")
    ],
    files: Annotated[
        list[Path],
        typer.Argument(help="Files with rows, and the XML file with label names if there is one."),
    ],
    options: TableOptions,
    overwrite: Annotated[
        bool,
        typer.Option("--overwrite", help="Replace a data set that you have added under this name."),
    ] = False,
) -> None:
    """Store the content of files in the data folder, as a new or a known data set."""
    home = options.data_home
    with refusals_are_mistakes():
        given = {**options.table(), **options.columns()}
        data = datasets.add(name, files, **given, overwrite=overwrite, data_home=home)
    typer.echo(shown(data))


@app.command()
@grouped
def convert(
    source: Annotated[
        str, typer.Argument(metavar="SRC", help="A file, or the name of a data set.")
    ],
    target: Annotated[
        Path,
        typer.Argument(
            metavar="DST",
            help="A name that ends in .arff (label names go to an .xml file next to it), .parquet "
            "or .txt (format of the extreme classification repository).",
        ),
    ],
    options: TableOptions,
    force: Annotated[bool, typer.Option("--force", help="Replace DST if it exists.")] = False,
) -> None:
    """Read SRC, in any format, and write it in the format of the ending of DST."""
    writers: dict[str, Callable[..., object]] = {
        ".arff": datasets.write_arff,
        ".parquet": datasets.write_parquet,
        ".txt": datasets.write_xmlrepo,
    }
    ending = target.suffix.lower()
    if ending not in writers:
        raise Mistake(
            f"DST must end in {', '.join(writers)}; got {target}. Choose such a name; the file can "
            "be compressed afterwards."
        )
    for path in (target, *([xml_file_of(target)] if ending == ".arff" else [])):
        check_target(path, "DST", force=force, inputs=files_read(source, options.labels))
    data = find(source, options)
    with refusals_are_mistakes():
        writers[ending](data, target)
    typer.echo(shown(f"{data} -> {target}"))
