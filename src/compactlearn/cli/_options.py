"""Options that several commands share: reading DATA, and writing output."""

import csv
import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from compactlearn.datasets._formats.reading import FORMATS
from compactlearn.datasets._formats.texts import TEXT_FORMATS

__all__ = [
    "AsJson",
    "Data",
    "Force",
    "Home",
    "LabelledOptions",
    "Model",
    "RowOptions",
    "TableOptions",
    "character",
    "grouped",
    "listed",
]

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA", help="A file, the name of a data set, or - for standard input.",
        show_default=False,
    ),
]  # fmt: skip
Model = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model file, written by fit or save.")
]
Home = Annotated[
    Path | None,
    typer.Option(
        "--data-home",
        file_okay=False,
        help="The data folder; by default $COMPACTLEARN_DATA or the user's cache folder.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace the file of --output if it exists.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print a JSON record.")]


@dataclass(frozen=True)
class TableOptions:
    """Options for reading a table; None means not given."""

    labels: Annotated[
        str | None,
        typer.Option(
            help="The label columns, if the file does not say which they are: their names (a,b,c), "
            "a prefix of their names, an XML file with their names (as of Mulan), or a number: N "
            "for the first N columns, -N for the last N."
        ),
    ] = None
    ignore: Annotated[
        str | None,
        typer.Option(help="Names of columns to leave out, separated by commas."),
    ] = None
    form: Annotated[
        str | None,
        typer.Option(
            "--input-format",
            help="The format of DATA, if the file name does not show it: "
            f"{', '.join(FORMATS)}; for texts {', '.join(TEXT_FORMATS)}.",
        ),
    ] = None
    delimiter: Annotated[
        str | None,
        typer.Option(help="The delimiter of a CSV file, if it is not recognised."),
    ] = None
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether the first line of a CSV or TSV file has the column names; otherwise they "
            "are 0, 1, 2, and so on. By default yes, or as in the training data of the model.",
            show_default=False,
        ),
    ] = None
    data_home: Home = None

    def given(self) -> dict[str, Any]:
        """Return the options that were given, by their names in the shell."""
        names = {"form": "--input-format", "header": "--no-header"}
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            names.get(name, f"--{name.replace('_', '-')}"): value
            for name, value in found.items()
            if value is not None
        }

    def table(self) -> dict[str, Any]:
        """Return the arguments of `read` and `read_texts` for a table."""
        options: dict[str, Any] = {"format": self.form}
        options |= {} if self.delimiter is None else {"delimiter": character(self.delimiter)}
        return options | ({"header": False} if self.header is False else {})

    def columns(self) -> dict[str, Any]:
        """Return the arguments of `read` for the columns of a table."""
        options: dict[str, Any] = {"ignore": listed(self.ignore)} if self.ignore else {}
        return options | ({} if self.labels is None else {"labels": _labels(self.labels)})


@dataclass(frozen=True)
class RowOptions(TableOptions):
    """Options for reading rows of features or texts."""

    text: Annotated[
        str | None,
        typer.Option(
            "--text",
            help="The column with the texts, or several, separated by commas, in fit with weights "
            "other than 1 after colons: title:2,body.",
        ),
    ] = None
    encoding: Annotated[
        str | None,
        typer.Option(
            help="The encoding of a table of texts, such as latin-1 or utf-16; by default utf-8, "
            "and latin-1 for lines that are not valid utf-8.",
            show_default=False,
        ),
    ] = None


@dataclass(frozen=True)
class LabelledOptions(RowOptions):
    """Options for reading rows and their labels."""

    tags: Annotated[str | None, typer.Option("--tags", help="The column with the tags.")] = None
    sep: Annotated[
        str | None,
        typer.Option("--sep", help="The separator of the tags of a row; by default ';'."),
    ] = None


def grouped(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command with one option for each field of its dataclass parameter."""
    signature = inspect.signature(command)
    (group,) = [p for p in signature.parameters.values() if is_dataclass(p.annotation)]
    # The help begins with what most users need.
    options = sorted(fields(group.annotation), key=lambda o: o.name not in ("text", "tags"))

    @functools.wraps(command)
    def run(**given: Any) -> Any:
        own = {option.name: given.pop(option.name) for option in options}
        return command(**given, **{group.name: group.annotation(**own)})

    expanded: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        expanded += (
            [parameter]
            if parameter is not group
            else [
                inspect.Parameter(o.name, group.kind, default=o.default, annotation=o.type)
                for o in options
            ]
        )
    run.__signature__ = signature.replace(parameters=expanded)  # type: ignore[attr-defined]
    return run


def _labels(text: str) -> str | int | list[str]:
    """Return an integer if the text is one, a list if it has commas, else the text itself."""
    try:
        return int(text)
    except ValueError:
        return listed(text) if "," in text else text


def listed(text: str | None) -> list[str]:
    """Return the names in a comma-separated list; a name with a comma is in double quotes."""
    if text is None:
        return []
    (names,) = csv.reader([text], skipinitialspace=True)
    return [name.strip() for name in names if name.strip()]


def character(text: str) -> str:
    """Return a delimiter; "tab" or a backslash and a t mean a tab."""
    return {"\\t": "\t", "tab": "\t"}.get(text.lower(), text)
