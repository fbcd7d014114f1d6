"""A time limit for the work inside a block, checked between the steps of that work.

Long loops call :func:`checkpoint` between their steps. Outside of a :func:`limited` block that does
nothing; inside it raises :class:`TimeUp` once the clock of the block has passed the limit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
Clock = Callable[[], float]


class TimeUp(Exception):
    """The time limit of the work has passed."""


@dataclass(frozen=True)
class _Deadline:
    at: float
    clock: Clock
    outer: _Deadline | None

    def check(self) -> None:
        if self.clock() > self.at:
            raise TimeUp("The time limit has passed.")
        if self.outer is not None:
            self.outer.check()


_current: ContextVar[_Deadline | None] = ContextVar("compactlearn_deadline", default=None)


@contextmanager
def limited(seconds: float | None, clock: Clock = time.perf_counter) -> Iterator[None]:
    """Stop the work of the block at the first :func:`checkpoint` after ``seconds``.

    None sets no limit. A limit around the block stays in force.

    >>> ticks = iter(range(10))
    >>> with limited(3, clock=lambda: next(ticks)):
    ...     checkpoint()
    """
    if seconds is None:
        yield
        return
    token = _current.set(_Deadline(clock() + seconds, clock, _current.get()))
    try:
        yield
    finally:
        _current.reset(token)


def checkpoint() -> None:
    """Raise :class:`TimeUp` if the time limit of the current block has passed."""
    deadline = _current.get()
    if deadline is not None:
        deadline.check()


def watched(function: Callable[P, T]) -> Callable[P, T]:
    """Return the function with a :func:`checkpoint` before each call, in other threads as well."""
    deadline = _current.get()
    if deadline is None:
        return function

    def checked(*args: P.args, **kwargs: P.kwargs) -> T:
        deadline.check()
        token = _current.set(deadline)
        try:
            return function(*args, **kwargs)
        finally:
            _current.reset(token)

    return checked
