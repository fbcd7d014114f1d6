"""Errors that end a command: a user's mistake, or an internal error with a file for a report."""

import contextlib
import platform
import shlex
import sys
import tempfile
import traceback
from collections.abc import Iterable, Iterator, Sequence

from compactlearn import __version__

__all__ = [
    "INTERNAL",
    "INTERRUPTED",
    "MISTAKE",
    "Mistake",
    "refusals_are_mistakes",
    "refuse_options",
    "report_fault",
]

#: Exit statuses other than 0: a user's mistake, an internal error, and Ctrl-C as in shells.
MISTAKE, INTERNAL, INTERRUPTED = 2, 1, 130
_NO_MEMORY = "There is not enough memory for this; use fewer rows, or fit a smaller model."


class Mistake(Exception):
    """A user's mistake; the text says what is wrong and what to do."""


def refuse_options(given: Iterable[str], why: str, *, among: Iterable[str] | None = None) -> None:
    """Raise a `Mistake` if options (of ``among``, if given) were given that do not apply."""
    names = [name for name in given if among is None or name in among]
    if names:
        them = "it" if len(names) == 1 else "them"
        raise Mistake(f"{' and '.join(names)} {why}; leave {them} out.")


@contextlib.contextmanager
def refusals_are_mistakes() -> Iterator[None]:
    """Turn errors of the library into a `Mistake` with the same message."""
    try:
        yield
    except OSError as error:
        raise Mistake(_worded(error)) from error
    except (ValueError, TypeError, ImportError, MemoryError) as error:
        raise Mistake(str(error) or _NO_MEMORY) from error


def _worded(error: OSError) -> str:
    """Return the message of an error, as a sentence where the system has only a number."""
    if not str(error).startswith("[Errno"):
        return str(error)
    what = "A file" if error.filename is None else f"The file or folder {error.filename}"
    return (
        f"{what} cannot be used ({error.strerror}); check the path, the free space, and the "
        "permissions."
    )


def report_fault(error: BaseException, arguments: Sequence[str]) -> str:
    """Write the traceback to a file, and return a sentence on how to report the error."""
    about = (
        f"compactlearn {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
        f"{shlex.join(['compactlearn', *arguments])}\n\n"
        f"{''.join(traceback.format_exception(error))}"
    )
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="compactlearn-fault-", suffix=".txt", delete=False, encoding="utf-8"
        ) as file:
            file.write(about)
        place = f"the file {file.name}"
    except OSError:  # no file can be written: print the text instead
        sys.stderr.write(about)
        place = "the lines above"
    brief = " ".join(f"{type(error).__name__}: {error}".split())
    return (
        f"An error inside compactlearn {__version__} ended this command ({brief[:300]}); it is not "
        f"your mistake. Please report it with {place}, which has the versions, the command and "
        "the traceback."
    )
