"""`compactlearn datasets`: what there is, where it lies, and how to bring and convert files."""

import contextlib
import csv
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from compactlearn import datasets
from compactlearn.cli._mistakes import Mistake, refusals_are_mistakes
from compactlearn.cli._tables import console, fitted
from compactlearn.cli._targets import beside, check_target, files_read
from compactlearn.core._params import nearest
from compactlearn.core._shown import shown
from compactlearn.datasets._formats.reading import FORMATS

__all__ = [
    "Delimiter",
    "Format",
    "Home",
    "Ignore",
    "Labels",
    "app",
    "character",
    "find",
    "listed",
    "reading",
]

app = typer.Typer(
    help="Multi-label data sets: list, describe, fetch, add, convert.",
    add_completion=False,
    no_args_is_help=False,
    pretty_exceptions_enable=False,
)

Home = Annotated[
    Path | None,
    typer.Option(
        "--data-home",
        file_okay=False,
        help="The data folder; by default COMPACTLEARN_DATA or the user's cache.",
    ),
]
Name = Annotated[str, typer.Argument(help="A name from `compactlearn datasets list`.")]
Labels = Annotated[
    str | None,
    typer.Option(
        help="Which columns are labels, where the file does not say: their names with commas "
        "between them, a prefix of their names, a Mulan XML file, or a count: the first N, or "
        "with -N the last."
    ),
]
Ignore = Annotated[
    str | None,
    typer.Option(help="Names of columns to leave out, with commas between them."),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format", help=f"The format, where the file does not tell: {', '.join(FORMATS)}."
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(help="What stands between the cells of a CSV file, where that is not clear."),
]


@app.callback(invoke_without_command=True)
def _common(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("list")
def list_(data_home: Home = None) -> None:
    """List the sets known by name, and which of them are on this machine."""
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
    here = "yes" if datasets.is_available(name, data_home) else _how(entry)
    told = "yes; yours" if entry.own else here
    return [name, *("?" if value is None else str(value) for value in values), told]


@app.command()
def info(name: Name, data_home: Home = None) -> None:
    """Say what is known of a set: counts, files, checksums, origin, citation, terms."""
    with refusals_are_mistakes():
        entry = datasets.describe(name, data_home)
    base = entry if entry.of is None else datasets.describe(entry.of)
    here = "yes" if datasets.is_available(entry.name, data_home) else _how(entry)
    counts = entry.expected
    lines = [
        ("name", entry.name),
        ("also called", ", ".join(entry.aliases)),
        ("variant of", entry.of),
        ("here", here),
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
    """Make sure that the files of a set are in the data folder, fetching what is not."""
    with refusals_are_mistakes():
        for path in datasets.fetch(name, data_home):
            typer.echo(shown(path))


@app.command()
def add(
    name: Annotated[
        str, typer.Argument(help="A name of your own, or that of a set that cannot be fetched.")
    ],
    files: Annotated[list[Path], typer.Argument(help="Rows, and the XML file if there is one.")],
    labels: Labels = None,
    ignore: Ignore = None,
    form: Format = None,
    overwrite: Annotated[
        bool,
        typer.Option("--overwrite", help="Replace what a name of your own has meant so far."),
    ] = False,
    data_home: Home = None,
) -> None:
    """Copy files into the data folder under a name of your own, or as the set of that name."""
    with refusals_are_mistakes():
        data = datasets.add(
            name,
            files,
            labels=_labels(labels),
            ignore=listed(ignore),
            format=form,
            overwrite=overwrite,
            data_home=data_home,
        )
    typer.echo(shown(data))


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
    ignore: Ignore = None,
    form: Format = None,
    delimiter: Delimiter = None,
    force: Annotated[bool, typer.Option("--force", help="Replace DST if it is there.")] = False,
    data_home: Home = None,
) -> None:
    """Read SRC, in whatever form it is, and write it in the form that the name of DST says."""
    write = _writer(target)
    written = [target, *([beside(target)] if target.suffix.lower() == ".arff" else [])]
    for path in written:
        check_target(path, "DST", force=force, inputs=files_read(source, labels))
    data = find(source, data_home, labels, ignore, form, delimiter)
    with refusals_are_mistakes():
        write(data, target)
    typer.echo(shown(f"{data} -> {target}"))


def find(
    source: str,
    data_home: Path | None,
    labels: str | None = None,
    ignore: str | None = None,
    form: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
) -> datasets.Dataset:
    """A data set by the name of a file, or by its own."""
    with refusals_are_mistakes():
        if Path(source).is_file():
            said, options = reading(labels, ignore, delimiter, header)
            return datasets.read(source, said, format=form, **options)
        known = _spellings(data_home)
        if source.lower() in known:
            given = {"--labels": labels, "--ignore": ignore, "--format": form}
            given |= {"--delimiter": delimiter, "--no-header": None if header else header}
            for option, value in given.items():
                if value is not None:
                    raise Mistake(
                        f"{option} says how to read a file, but no file {source} is here, and "
                        f"{source} is a data set that is known by its name; leave {option} out, or "
                        "check the path."
                    )
            return datasets.load(source, data_home)
    if Path(source).is_dir():
        raise Mistake(
            f"DATA must be a file or the name of a data set, but {source} is a folder; name a file "
            "in it."
        )
    raise Mistake(
        f"There is no file {source} here, and no data set of that name; check the path, or see "
        f"'compactlearn datasets list'.{nearest(source, known)}"
    )


def reading(
    labels: str | None, ignore: str | None, delimiter: str | None, header: bool | None = None
) -> tuple[str | int | list[str] | None, dict[str, Any]]:
    """What `read` is told: which columns are labels, and its further options."""
    options: dict[str, Any] = {"ignore": listed(ignore)} if ignore else {}
    options |= {} if delimiter is None else {"delimiter": character(delimiter)}
    options |= {"header": False} if header is False else {}
    return _labels(labels), options


def _how(entry: datasets.Entry) -> str:
    """How to bring a set here that is not."""
    base = entry if entry.of is None else datasets.describe(entry.of)
    if not base.files:
        return "no; to be added"
    can = all(file.address for file in base.files)
    return "no; can be fetched" if can else "no; to be added"


def _spellings(data_home: Path | None) -> set[str]:
    known = set(datasets.list_datasets(data_home))
    for name in list(known):
        with contextlib.suppress(ValueError):  # a damaged one has a name nevertheless
            known |= set(datasets.describe(name, data_home).aliases)
    return known


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


def _labels(text: str | None) -> str | int | list[str] | None:
    """A count if it looks like one, names if there are commas, otherwise a file or a prefix."""
    with contextlib.suppress(ValueError):
        return int(text or "")
    return listed(text) if text is not None and "," in text else text


def listed(text: str | None) -> list[str]:
    """Names with commas between them; a name that holds a comma stands in double quotes."""
    if text is None:
        return []
    (names,) = csv.reader([text], skipinitialspace=True)
    return [name.strip() for name in names if name.strip()]


def character(text: str) -> str:
    """One that a shell can hardly say."""
    return {"\\t": "\t", "tab": "\t"}.get(text.lower(), text)
