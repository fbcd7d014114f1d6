"""Helpers of the command line for commands of other distributions.

A distribution adds a command by an entry point of the group ``compactlearn.commands``; see
compactlearn-bench. A wrong call raises `Mistake`: its text becomes one sentence and status 2.
"""

from compactlearn.cli._mistakes import INTERRUPTED, Mistake, refusals_are_mistakes
from compactlearn.cli._options import Home
from compactlearn.cli._tables import console, fitted
from compactlearn.cli._targets import check_ending, check_target, save
from compactlearn.core._progress import Steps
from compactlearn.core._shown import shown

__all__ = [
    "INTERRUPTED",
    "Home",
    "Mistake",
    "Steps",
    "check_ending",
    "check_target",
    "console",
    "fitted",
    "refusals_are_mistakes",
    "save",
    "shown",
]
