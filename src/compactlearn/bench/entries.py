"""The library's methods as entries. A stand-in: two methods, to be replaced."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

from compactlearn.bench.entry import Entry
from compactlearn.bench.generic import ClassifierEntry
from compactlearn.estimators import method

__all__ = ["ENTRIES"]

_ALPHAS = [1e-3, 1e-2, 1e-1, 1.0, 10.0]

ENTRIES: Mapping[str, Entry] = MappingProxyType(
    {name: ClassifierEntry(partial(method, name), {"alpha": _ALPHAS}) for name in ("ORI", "CMLL_y")}
)
