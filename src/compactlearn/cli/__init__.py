"""The command `compactlearn`: the one place that turns errors into exit statuses.

Status 0 is success; 2 is a user's mistake, reported in one sentence; 1 is an error inside
compactlearn, reported in a sentence that names a file with the traceback; 130 is Ctrl-C. Typer and
rich are loaded only when a command runs.
"""

import sys
import warnings
from collections.abc import Sequence

from compactlearn.cli._mistakes import INTERNAL, INTERRUPTED, MISTAKE, report_fault
from compactlearn.core._lazy import load
from compactlearn.core._optional import require
from compactlearn.core._shown import shown

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        The arguments after the program's name; by default those of the shell.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        for package in ("typer", "rich"):
            require(package, extra="cli", purpose="the command line")
    except ImportError as error:
        return _print(str(error), MISTAKE)
    shown = warnings.showwarning
    warnings.showwarning = _warn  # the filters stay as they are
    try:
        return _run(given)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return INTERNAL
    except Exception as error:
        return _print(report_fault(error, given), INTERNAL)
    finally:
        warnings.showwarning = shown


def _run(arguments: list[str]) -> int:
    app = load("compactlearn.cli._app")
    try:
        return app.run(arguments)
    except app.MISTAKES as mistake:
        return _print(app.sentence(mistake), MISTAKE)


def _warn(message: Warning | str, *_where: object, **_more: object) -> None:
    """Print a warning as one sentence, without the place in the source that raised it."""
    _print(" ".join(str(message).split()), 0)


def _print(sentence: str, status: int) -> int:
    print(f"compactlearn: {shown(sentence)}", file=sys.stderr)
    return status
