"""An error that is no user's mistake: one sentence, and a file with what a report of it needs."""

import platform
import shlex
import sys
import tempfile
import traceback
from collections.abc import Sequence

from compactlearn import __version__

__all__ = ["INTERNAL", "INTERRUPTED", "MISTAKE", "report_fault"]

#: Exit statuses beside 0: a user's mistake, a fault of ours, and Ctrl-C as shells count it.
MISTAKE, INTERNAL, INTERRUPTED = 2, 1, 130


def report_fault(error: BaseException, arguments: Sequence[str]) -> str:
    """Write the traceback to a file, and say in one sentence what happened and how to report it.

    Parameters
    ----------
    error : exception
        What nobody expected.
    arguments : sequence of str
        What followed the program's name.
    """
    command = shlex.join(["compactlearn", *arguments])
    trace = "".join(traceback.format_exception(error))
    about = (
        f"compactlearn {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
        f"{command}\n\n{trace}"
    )
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="compactlearn-fault-", suffix=".txt", delete=False, encoding="utf-8"
        ) as file:
            file.write(about)
        place = f"the file {file.name}"
    except OSError:  # no room for a file: then here
        sys.stderr.write(about)
        place = "the lines above"
    brief = " ".join(f"{type(error).__name__}: {error}".split())
    return (
        f"An error inside compactlearn {__version__} ended this command ({brief[:300]}); it is not "
        f"your mistake. Please report it with {place}, which has the versions, the command and "
        "the traceback."
    )
