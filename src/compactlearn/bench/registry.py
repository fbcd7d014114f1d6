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

from compactlearn.bench.entries import ENTRIES
from compactlearn.bench.entry import Entry
from compactlearn.bench.generic import ClassifierEntry
from compactlearn.core.params import nearest

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
    return _as_entry(plugins[name].load(), f"the plug-in {name!r}")


@cache
def own_entry(path: str, folder: Path | None = None) -> Entry:
    """A method of the user's own, "package.module:object"; its module may lie in `folder`."""
    module, _, attributes = path.partition(":")
    # At the end of the list: a module beside the spec must not hide an installed one.
    if folder is not None and str(folder) not in sys.path:
        sys.path.append(str(folder))
    try:
        found: Any = importlib.import_module(module)
        for attribute in attributes.split("."):
            found = getattr(found, attribute)
    except (ImportError, AttributeError) as error:
        raise ValueError(
            f"The estimator {path!r} cannot be imported ({error}); write "
            '"package.module:object", and install the package or put the module beside the spec.'
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
    methods = ("settings", "answer")
    if not isinstance(found, type) and all(callable(getattr(found, m, None)) for m in methods):
        return cast(Entry, found)
    if callable(found):
        return ClassifierEntry(found, getattr(found, "grid", {}))
    raise TypeError(
        f"A method must be an Entry, or a callable that returns a scikit-learn classifier, but "
        f"{what} is {found!r}; name such an object."
    )
