"""The commands and their common options."""

from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer

from compactlearn.cli import datasets
from compactlearn.cli.bench import bench
from compactlearn.cli.demo import demo
from compactlearn.cli.mistakes import Mistake
from compactlearn.cli.report import report
from compactlearn.cli.tune import tune

__all__ = ["MISTAKES", "run", "sentence"]

# Typer's class for wrong options and arguments. It carries its own copy of click, so the class
# has no public name; it is the base of the public BadParameter.
_USAGE_ERROR: type[Exception] = typer.BadParameter.__bases__[0]
MISTAKES: tuple[type[Exception], ...] = (_USAGE_ERROR, Mistake)

_app = typer.Typer(
    name="compactlearn",
    help="Compact learning for multi-label classification.",
    add_completion=False,
    no_args_is_help=False,
    pretty_exceptions_enable=False,
)
_app.command()(demo)
_app.command()(tune)
_app.command()(report)
_app.command()(bench)
_app.add_typer(datasets.app, name="datasets")


@_app.callback(invoke_without_command=True)
def _common(
    context: typer.Context,
    show_version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", is_eager=True)
    ] = False,
) -> None:
    if show_version:
        typer.echo(f"compactlearn {_version()}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def run(arguments: list[str]) -> int:
    """Run a command and return its exit status; a user's mistake is one of `MISTAKES`."""
    status = _app(arguments, prog_name="compactlearn", standalone_mode=False)
    return status if isinstance(status, int) else 0


def sentence(mistake: Exception) -> str:
    """A mistake in one line, and for a misused option where to read on."""
    format_message = getattr(mistake, "format_message", None)
    text = " ".join((format_message() if format_message else str(mistake)).split())
    if isinstance(mistake, _USAGE_ERROR):  # the library's own may begin with the name of a file
        text = text[:1].upper() + text[1:]
    text = text if text.endswith((".", "?", "!")) else f"{text}."
    if isinstance(mistake, _USAGE_ERROR):
        context = getattr(mistake, "ctx", None)
        text += f" See '{context.command_path if context else 'compactlearn'} --help'."
    return text


def _version() -> str:
    try:
        return version("compactlearn")
    except PackageNotFoundError:
        return "(not installed)"
