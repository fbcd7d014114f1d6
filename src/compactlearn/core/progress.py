"""A progress bar for people at a terminal, and silence for everybody else."""

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import Any, TypeVar

from compactlearn.core.optional import require

__all__ = ["track"]

T = TypeVar("T")


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
            yield item
            step = () if size is None else (size(item),)
            if bar is not None and not _safely(bar.advance, bar.task_ids[0], *step):
                bar = None
    finally:
        if bar is not None:
            _safely(bar.stop)


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


def _safely(call: Any, *args: Any) -> bool:
    with contextlib.suppress(Exception):
        call(*args)
        return True
    return False
