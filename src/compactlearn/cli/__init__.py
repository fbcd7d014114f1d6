"""The command `compactlearn`: the one place that turns errors into exit statuses.

0 is success; 2 is a user's mistake, told in one plain sentence; anything else ends with
status 1. Typer and rich are loaded only when a command runs.
"""

import sys
from collections.abc import Sequence

from compactlearn.core.optional import require

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows the program's name; by default what the shell gave.
    """
    try:
        for package in ("typer", "rich"):
            require(package, extra="cli", purpose="the command line")
    except ImportError as error:
        return _refuse(str(error))
    app = require("compactlearn.cli.app", extra="cli", purpose="the command line")
    try:
        return app.run(sys.argv[1:] if arguments is None else list(arguments))
    except app.MISTAKES as mistake:
        return _refuse(app.sentence(mistake))
    except (KeyboardInterrupt, BrokenPipeError):
        return 1


def _refuse(sentence: str) -> int:
    print(f"compactlearn: {sentence}", file=sys.stderr)
    return 2
