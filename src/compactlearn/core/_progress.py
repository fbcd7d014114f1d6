"""A progress bar for people at a terminal, and silence for everybody else."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import Any, TypeVar

from compactlearn.core._deadline import checkpoint
from compactlearn.core._optional import require

__all__ = ["LONG", "RowsBar", "Steps", "announce", "human_seconds", "track"]

T = TypeVar("T")

# Work that is estimated to take longer than this many seconds says so beforehand.
LONG = 10.0


def track(
    iterable: Iterable[T],
    *,
    description: str,
    total: int | None = None,
    size: Callable[[T], int] | None = None,
    disable: bool = False,
) -> Iterator[T]:
    """Yield the items of `iterable`, showing how far along it is.

    The bar goes to stderr, and only if that is a terminal and rich is installed; it vanishes
    when the work ends. A bar that cannot be drawn is left out: it never fails the work.

    Parameters
    ----------
    iterable : iterable
        What is to be done, item by item.
    description : str
        A few words before the bar.
    total : int, optional
        Number of items, or the sum of their sizes; by default `len(iterable)` when it has one.
    size : callable, optional
        How far an item brings the bar; by default each counts 1.
    disable : bool
        Never show a bar.

    Examples
    --------
    >>> [n * n for n in track(range(3), description="squares")]
    [0, 1, 4]
    """
    bar = None if disable or not sys.stderr.isatty() else _start(iterable, description, total)
    try:
        for item in iterable:
            checkpoint()
            yield item
            step = () if size is None else (size(item),)
            if bar is not None and not _safely(bar.advance, bar.task_ids[0], *step):
                bar = None
    finally:
        if bar is not None:
            _safely(bar.stop)


class Steps:
    """A bar for work that is not one loop; ``done()`` is called after each step.

    >>> with Steps("Fitting", 2, verbose=0) as steps:
    ...     steps.done()
    """

    def __init__(
        self, description: str, total: int, *, seconds: float = 0.0, verbose: int = 0
    ) -> None:
        self._description, self._total = description, total
        self._shown = bool(verbose) or seconds > LONG
        self._bar: Any = None

    def __enter__(self) -> "Steps":
        if self._shown and sys.stderr.isatty():
            self._bar = _start((), self._description, self._total)
        return self

    def __exit__(self, *reason: object) -> None:
        if self._bar is not None:
            _safely(self._bar.stop)
            self._bar = None

    def say(self, what: str) -> None:
        """What is being done now, in a few words beside the bar."""
        if self._bar is not None:
            described = f"{self._description}: {what}"
            if not _safely(self._bar.update, self._bar.task_ids[0], description=described):
                self._bar = None

    def done(self) -> None:
        """One step further; raise ``TimeUp`` where the time limit of the work has passed."""
        checkpoint()
        if self._bar is not None and not _safely(self._bar.advance, self._bar.task_ids[0]):
            self._bar = None


class RowsBar:
    """A bar for a pass over rows, with how many there were, how fast, and the time that is left.

    >>> with RowsBar("Fitting", None, verbose=0) as bar:
    ...     bar.advance(100)
    """

    def __init__(self, description: str, total: int | None, *, verbose: int = 0) -> None:
        self._description, self._total = description, total
        self._shown, self._bar = bool(verbose), None
        self._rows, self._fresh, self._began = 0, 0, time.monotonic()

    def __enter__(self) -> "RowsBar":
        self._began = time.monotonic()
        if self._shown and sys.stderr.isatty():
            self._bar = _start((), self._description, self._total)
        return self

    def __exit__(self, *reason: object) -> None:
        if self._bar is not None:
            _safely(self._bar.stop)
            self._bar = None

    def advance(self, rows: int, *, read_before: bool = False) -> None:
        """So many rows further; those that an earlier run had read say nothing of the speed."""
        self._rows += rows
        self._fresh += 0 if read_before else rows
        if self._bar is not None:
            task, text = self._bar.task_ids[0], f"{self._description}: {self.told()}"
            if not _safely(self._bar.update, task, advance=rows, description=text):
                self._bar = None

    def told(self) -> str:
        """How far it is and how fast, in words."""
        rate = self._fresh / max(time.monotonic() - self._began, 1e-9)
        return f"{self._rows:,} rows, {rate:,.0f} a second"


def announce(what: str, seconds: float, verbose: int) -> None:
    """Say on stderr how long something will take, where that is long.

    Asked for by ``verbose``, or unasked to somebody who sits at a terminal and waits.
    """
    if seconds > LONG and (verbose or sys.stderr.isatty()):
        print(f"{what} will take about {human_seconds(seconds)}.", file=sys.stderr, flush=True)


def human_seconds(seconds: float) -> str:
    """A duration as a person would give it, for an estimate.

    >>> human_seconds(14.2), human_seconds(200), human_seconds(9000)
    ('14 seconds', '3 minutes', '2.5 hours')
    """
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


# Both helpers swallow every error on purpose: a bar is decoration, the loop is the work.


def _start(iterable: Iterable[Any], description: str, total: int | None) -> Any:
    bar = None
    with contextlib.suppress(Exception):
        progress = require("rich.progress", extra="cli", purpose="the progress bar")
        console = require("rich.console", extra="cli", purpose="the progress bar")
        if total is None and isinstance(iterable, Sized):
            total = len(iterable)
        bar = progress.Progress(console=console.Console(stderr=True), transient=True)
        bar.add_task(description, total=total)
        bar.start()
    return bar


def _safely(call: Any, *args: Any, **named: Any) -> bool:
    with contextlib.suppress(Exception):
        call(*args, **named)
        return True
    return False
