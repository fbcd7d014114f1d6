"""Warnings: those of the package point at the user's line, and one thread can be without them.

Python's filters belong to the whole process. ``catch_warnings`` puts a copy of them in their place
and later puts the old list back; of two threads that do so at once, one undoes what the other
has done, and either may hear, or not hear, what was meant for the other. Here are two ways round
that: :func:`quiet` for what the package itself would say, :func:`silence` for everybody's warnings.
"""

from __future__ import annotations

import contextvars
import re
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, cast

__all__ = ["quiet", "silence", "warn_user"]

_OURS = ("compactlearn", "joblib", "sklearn")  # a Pipeline calls its steps by joblib

_quiet = contextvars.ContextVar("_quiet", default=False)
_lock = threading.Lock()
_silences: dict[type[Warning], _Silence] = {}


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn with the first caller outside the package (and scikit-learn's wrappers) as the place.

    Python 3.12 has ``skip_file_prefixes`` for this; 3.11 needs the frames counted.
    """
    if _quiet.get():
        return
    level, frame = 1, sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in _OURS:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level + 1)


@contextmanager
def quiet() -> Iterator[None]:
    """Leave out what :func:`warn_user` would say, in this thread only.

    For models that are steps on the way to the user's: what is wrong with them is said of that
    one.
    """
    token = _quiet.set(True)
    try:
        yield
    finally:
        _quiet.reset(token)


class _Silence:
    """An entry of ``warnings.filters`` for one category, and who wants it."""

    def __init__(self, category: type[Warning]) -> None:
        self._own = threading.local()
        self._asked = 0
        # In the place of a pattern: Python asks whether it matches the text of a warning.
        self._entry: tuple[Any, ...] = ("ignore", self, category, None, 0)

    def match(self, _text: str) -> bool:
        """Whether the thread that warns has asked for silence."""
        return getattr(self._own, "depth", 0) > 0

    @property
    def pattern(self) -> str:
        """The same in the words of a pattern: scikit-learn copies filters for its workers."""
        return "" if self.match("") else r"(?!)"  # anything, or nothing at all

    def __reduce__(self) -> tuple[Any, ...]:
        # A process that a silent thread starts is silent throughout.
        return re.compile, (self.pattern,)

    def enter(self) -> None:
        self._own.depth = getattr(self._own, "depth", 0) + 1
        with _lock:
            self._asked += 1
            filters = _filters()
            if self._entry in filters:
                filters.remove(self._entry)
            filters.insert(0, self._entry)  # in front of what others have asked for since

    def leave(self) -> None:
        self._own.depth -= 1
        with _lock:
            self._asked -= 1
            if not self._asked:
                with suppress(ValueError):  # somebody has put an older list in its place
                    _filters().remove(self._entry)


def _filters() -> list[Any]:
    return cast(list[Any], warnings.filters)  # typed as if it could not be changed


@contextmanager
def silence(category: type[Warning] = Warning) -> Iterator[None]:
    """Inside, warnings of this category that this thread gives are not shown.

    A single entry is added to the filters of the process, which lets a warning pass in every
    thread but those that asked for silence; the last of these takes that one entry away again.

    >>> with silence():
    ...     warnings.warn("not shown", stacklevel=1)
    """
    with _lock:
        entry = _silences.setdefault(category, _Silence(category))
    entry.enter()
    try:
        yield
    finally:
        entry.leave()
