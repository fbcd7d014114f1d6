"""The entry point for parts of this package that are loaded when they are asked for.

``import compactlearn`` and ``compactlearn --help`` would otherwise wait for scikit-learn.
"""

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any


def load(module: str) -> ModuleType:
    """Return the module of that full name, imported where it is not yet.

    >>> load("compactlearn.core._lazy").__name__
    'compactlearn.core._lazy'
    """
    return importlib.import_module(module)


def names_on_demand(
    package: str, homes: Mapping[str, Sequence[str]], parts: Sequence[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package whose names are found when asked for.

    ``homes`` has the names that the package shows by module, ``parts`` modules that are found as
    its attributes.

    >>> find, names = names_on_demand("compactlearn.core", {"_lazy": ["load"]}, ["_plain"])
    >>> find("load") is load, find("_plain").__name__
    (True, 'compactlearn.core._plain')
    >>> {"load", "_plain"} <= set(names())
    True
    >>> find("lod")
    Traceback (most recent call last):
        ...
    AttributeError: module 'compactlearn.core' has no attribute 'lod'
    """
    home_of = {name: f"{package}.{module}" for module, names in homes.items() for name in names}

    def find(name: str) -> Any:
        if name in home_of:
            found = getattr(load(home_of[name]), name)
        elif name in parts:
            found = load(f"{package}.{name}")
        else:
            raise AttributeError(
                f"module {package!r} has no attribute {name!r}", name=name, obj=_module()
            )
        setattr(_module(), name, found)  # the next time Python finds it by itself
        return found

    def names() -> list[str]:
        return sorted({*vars(_module()), *home_of, *parts})

    def _module() -> ModuleType:
        return sys.modules[package]

    return find, names
