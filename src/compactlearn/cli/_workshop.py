"""Commands of the distribution compactlearn-bench, found by its entry points."""

from importlib.metadata import entry_points
from typing import Any

from compactlearn.cli._mistakes import Mistake

__all__ = ["GROUP", "workshop_command"]

#: The group of entry points; the name of an entry is that of the command.
GROUP = "compactlearn.commands"


def workshop_command(name: str, what: str = "") -> Any:
    """Return the function that compactlearn-bench gives for a command.

    Parameters
    ----------
    name : str
        The name of the command.
    what : str
        What it was asked for, where only a part of the command needs the package.

    Raises
    ------
    Mistake
        If the package is not installed; the text says how to install it.
    """
    for found in entry_points(group=GROUP, name=name):
        return found.load()
    raise Mistake(
        f"The command {name!r}{what} needs the package 'compactlearn-bench', which is not "
        "installed; install it with: pip install compactlearn-bench, or from a clone of the "
        "repository: pip install ./bench."
    )
