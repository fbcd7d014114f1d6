"""Silence in one thread: warnings of the others are heard as before.

Python's filters belong to the whole process. ``catch_warnings`` puts a copy of them in their place
and later puts the old list back; of two threads that do so at once, one undoes what the other
has done, and either may hear, or not hear, what was meant for the other. Here a single entry is
added to the list instead, which lets a warning pass in every thread but those that asked for quiet;
the last of these takes that one entry away again.
"""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, cast

__all__ = ["quiet"]

_lock = threading.Lock()
_silences: dict[type[Warning], _Silence] = {}


class _Silence:
    """An entry of ``warnings.filters`` for one category, and who wants it."""

    def __init__(self, category: type[Warning]) -> None:
        self._own = threading.local()
        self._asked = 0
        # In the place of a pattern: Python asks whether it matches the text of a warning.
        self._entry: tuple[Any, ...] = ("ignore", self, category, None, 0)

    def match(self, _text: str) -> bool:
        """Whether the thread that warns has asked for quiet."""
        return getattr(self._own, "depth", 0) > 0

    @property
    def pattern(self) -> str:
        """The same in the words of a pattern: scikit-learn copies filters for its workers."""
        return "" if self.match("") else r"(?!)"  # anything, or nothing at all

    def __reduce__(self) -> tuple[Any, ...]:
        # A process that a quiet thread starts is quiet throughout.
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
def quiet(category: type[Warning] = Warning) -> Iterator[None]:
    """Inside, warnings of this category that this thread gives are not shown.

    >>> with quiet():
    ...     warnings.warn("not shown", stacklevel=1)
    """
    with _lock:
        silence = _silences.setdefault(category, _Silence(category))
    silence.enter()
    try:
        yield
    finally:
        silence.leave()
