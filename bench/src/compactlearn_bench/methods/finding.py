"""Which methods there are: the library's, those that installed packages bring, the user's own.

A package brings a method by an entry point of the group "compactlearn.methods"; a user by the line
``estimator = "package.module:object"`` of a spec. Either object is an `Entry`, or a callable that
returns an unfitted scikit-learn classifier, with its parameter grid as the attribute ``grid`` if
it has one. Code is imported only if an installed package or a line of the spec names it.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, cast

from compactlearn.utils import nearest
from compactlearn_bench.methods.classifier_entry import ClassifierEntry
from compactlearn_bench.methods.entry import Entry
from compactlearn_bench.methods.library_entries import ENTRIES

__all__ = ["GROUP", "entry", "entry_names", "entry_of", "own_entry"]

GROUP = "compactlearn.methods"


def entry_names() -> list[str]:
    """Every name that `entry` knows: the library's first."""
    return [*ENTRIES, *(name for name in sorted(_plugins()) if name not in ENTRIES)]


def entry(name: str) -> Entry:
    """A method by its name; the library's own names cannot be taken by a plug-in."""
    if name in ENTRIES:
        return ENTRIES[name]
    plugins = _plugins()
    if name not in plugins:
        raise ValueError(
            f"A method must be one of {', '.join(entry_names())}; got {name!r}. Use one of these, "
            'or say by estimator = "package.module:object" where your own is.'
            f"{nearest(name, entry_names())}"
        )
    try:
        found = plugins[name].load()
    except Exception as error:  # a module that is imported may do anything
        raise ValueError(
            f"The plug-in {name!r} cannot be imported ({type(error).__name__}: {error}); repair or "
            "remove the package that brings it."
        ) from error
    return _as_entry(found, f"the plug-in {name!r}")


@cache
def own_entry(path: str, folder: Path | None = None) -> Entry:
    """A method of the user's own, "package.module:object"; its module may lie in `folder`."""
    module, _, attributes = path.partition(":")
    # At the end of the list: a module next to the spec must not hide an installed one.
    if folder is not None and str(folder) not in sys.path:
        sys.path.append(str(folder))
    try:
        found: Any = importlib.import_module(module)
        for attribute in attributes.split("."):
            found = getattr(found, attribute)
    except Exception as error:  # a module that is imported may do anything
        raise ValueError(
            f"The estimator {path!r} cannot be imported ({type(error).__name__}: {error}); write "
            '"package.module:object", and install the package or put the module next to the spec.'
        ) from error
    return _as_entry(found, f"the estimator {path!r}")


def entry_of(method: str, settings: Mapping[str, Any], folder: Path | None = None) -> Entry:
    """The method that a cell means, by its name and settings alone."""
    if "estimator" in settings:
        return own_entry(settings["estimator"], folder)
    return entry(settings.get("entry", method))


@cache
def _plugins() -> dict[str, Any]:
    return {point.name: point for point in entry_points(group=GROUP)}


def _as_entry(found: Any, what: str) -> Entry:
    if all(callable(getattr(found, name, None)) for name in ("settings", "answer")):
        if isinstance(found, type):
            raise TypeError(
                f"A method must be an Entry, but {what} is a class of entries, {found!r}; make one "
                "of it, and name that."
            )
        return cast(Entry, found)
    if callable(found):
        return ClassifierEntry(found, getattr(found, "grid", {}))
    raise TypeError(
        f"A method must be an Entry, or a callable that returns a scikit-learn classifier, but "
        f"{what} is {found!r}; name such an object."
    )
