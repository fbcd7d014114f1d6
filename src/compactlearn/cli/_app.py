"""The commands and their common options; a command's own file is loaded when it is called."""

from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from compactlearn import __version__
from compactlearn.cli._mistakes import Mistake
from compactlearn.core._lazy import load

__all__ = ["COMMANDS", "MISTAKES", "loaded", "run", "sentence", "workshop_command"]

# Typer's class for wrong options and arguments. It carries its own copy of click, so the class
# has no public name; it is the base of the public BadParameter.
_USAGE_ERROR: type[Exception] = typer.BadParameter.__bases__[0]
MISTAKES: tuple[type[Exception], ...] = (_USAGE_ERROR, Mistake)

#: Each command, in the order of the help, with the first sentence of its docstring. The command
#: NAME is the function `NAME` or the group `app` in cli/_NAME.py, or an entry point of
#: compactlearn-bench.
COMMANDS: Mapping[str, str] = {
    "fit": "Fit a model to DATA and write it to a file.",
    "predict": "Predict the labels of the rows of DATA with the model in MODEL.",
    "evaluate": "Measure how well the model in MODEL predicts the labels of DATA.",
    "explain": "Show which features raise and lower the label scores of some rows of DATA.",
    "report": "Write a page about the model in MODEL and its errors on DATA, or about benchmark "
    "records.",
    "tune": "Try many settings of a compact linear model on DATA and show the best.",
    "datasets": "List, describe, fetch, add and convert multi-label data sets.",
    "doctor": "Show versions, threads, devices, memory and the content of a model file.",
    "demo": "Tag e-mails with default settings, compare with tuned baselines, and trade size "
    "for accuracy.",
    "bench": "Run the benchmark that SPEC describes; a stopped run is resumed by the same command.",
}
WORKSHOP = ("demo", "bench")


class Commands(TyperGroup):
    """Group that lists the names of commands, and loads the one that is called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the complete command that the arguments begin with."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if name is None else loaded(name), rest


def loaded(name: str) -> Any:
    """Return the complete command of a name, as Typer runs it."""
    part = None if name in WORKSHOP else load(f"compactlearn.cli._{name}")
    group = getattr(part, "app", None)
    if group is None:
        group = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        group.command(name)(workshop_command(name) if part is None else getattr(part, name))
    return typer.main.get_command(group)


_app = typer.Typer(
    name="compactlearn",
    help="Fit, evaluate, explain and apply models that give each row or text several labels.",
    cls=Commands,
    no_args_is_help=False,
    pretty_exceptions_enable=False,
)
for _name, _help in COMMANDS.items():
    _app.command(_name, help=_help)(
        lambda: None
    )  # only for the list; `loaded` returns the real one


@_app.callback(invoke_without_command=True)
def _common(
    context: typer.Context,
    show_version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)
    ] = False,
) -> None:
    if show_version:
        typer.echo(f"compactlearn {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def run(arguments: list[str]) -> int:
    """Run a command and return its exit status; a user's mistake is one of `MISTAKES`."""
    try:
        status = _app(arguments, prog_name="compactlearn", standalone_mode=False)
    except typer.Abort as stopped:  # some versions of Typer raise this for Ctrl-C
        raise KeyboardInterrupt from stopped
    return status if isinstance(status, int) else 0


def sentence(mistake: Exception) -> str:
    """Return a mistake as one line, with the help command for a misused option."""
    format_message = getattr(mistake, "format_message", None)
    text = " ".join((format_message() if format_message else str(mistake)).split())
    if isinstance(mistake, _USAGE_ERROR):  # a library's message may begin with a file name
        text = text[:1].upper() + text[1:]
    text = text if text.endswith((".", "?", "!")) else f"{text}."
    if isinstance(mistake, _USAGE_ERROR):
        context = getattr(mistake, "ctx", None)
        text += f" See '{context.command_path if context else 'compactlearn'} --help'."
    return text


def workshop_command(name: str, what: str = "") -> Any:
    """Return the function of a command that compactlearn-bench provides by an entry point.

    ``what`` names the part of the command that needs the package, where it is not all of it.
    """
    for found in entry_points(group="compactlearn.commands", name=name):
        return found.load()
    raise Mistake(
        f"The command {name!r}{what} needs the package 'compactlearn-bench', which is not "
        "installed; install it with: pip install compactlearn-bench, or from a clone of the "
        "repository: pip install ./bench."
    )
