"""Small tools for programs that extend the library: methods, commands, benchmarks.

Constraints say what a parameter may be, see the page on writing a method; the others are what a
program needs around a computation: files that are written whole, optional packages, warnings,
words for messages.
"""

from compactlearn.core._atomic import atomic
from compactlearn.core._machine import host
from compactlearn.core._memory import human_bytes
from compactlearn.core._optional import NotInstalled, require
from compactlearn.core._params import (
    Choice,
    Constraint,
    Flag,
    Integer,
    Nothing,
    Real,
    Seed,
    Text,
    nearest,
)
from compactlearn.core._plain import python_value
from compactlearn.core._shown import shown
from compactlearn.core._threads import free_cores
from compactlearn.core._warn import warn_user
from compactlearn.core._weight import n_parameters_in

__all__ = [
    "Choice",
    "Constraint",
    "Flag",
    "Integer",
    "NotInstalled",
    "Nothing",
    "Real",
    "Seed",
    "Text",
    "atomic",
    "free_cores",
    "host",
    "human_bytes",
    "n_parameters_in",
    "nearest",
    "python_value",
    "require",
    "shown",
    "warn_user",
]
