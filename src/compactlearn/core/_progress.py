"""Progress bars for people at a terminal, and silence for everybody else."""

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import Any, Self, TypeVar

from compactlearn.core._deadline import checkpoint
from compactlearn.core._memory import human_bytes
from compactlearn.core._optional import require

T = TypeVar("T")

# Work that is estimated to take longer than this many seconds says so beforehand.
LONG = 10.0
MUCH = 2**28  # likewise for bytes of memory


class Steps:
    """A bar on stderr for work in steps; it vanishes at the end.

    It is shown if it is asked for or the work is long, stderr is a terminal and rich is installed.
    A bar that cannot be drawn is left out: every error is swallowed, since the loop is the work.

    >>> with Steps("Fitting", 2, verbose=0) as steps:
    ...     steps.done()
    """

    def __init__(
        self, description: str, total: int | None, *, seconds: float = 0.0, verbose: int = 0
    ) -> None:
        self._description, self._total = description, total
        self._shown = bool(verbose) or seconds > LONG
        self._bar: Any = None

    def __enter__(self) -> Self:
        if self._shown and sys.stderr.isatty():
            with contextlib.suppress(Exception):
                self._bar = _start(self._description, self._total)
        return self

    def __exit__(self, *reason: object) -> None:
        self._try(lambda bar: bar.stop())
        self._bar = None

    def say(self, what: str) -> None:
        """Show a short description of the current step next to the bar."""
        text = f"{self._description}: {what}"
        self._try(lambda bar: bar.update(bar.task_ids[0], description=text))

    def done(self) -> None:
        """Advance by one step; raise ``TimeUp`` where the time limit of the work has passed."""
        checkpoint()
        self.advance(1)

    def advance(self, size: int) -> None:
        """Advance by some steps."""
        self._try(lambda bar: bar.update(bar.task_ids[0], advance=size))

    def _try(self, call: Callable[[Any], object]) -> None:
        try:
            if self._bar is not None:
                call(self._bar)
        except Exception:
            self._bar = None


def track(
    iterable: Iterable[T],
    *,
    description: str,
    total: int | None = None,
    size: Callable[[T], int] | None = None,
    disable: bool = False,
) -> Iterator[T]:
    """Yield the items of `iterable`, showing how far along it is.

    ``total`` is the number of items, or the sum of their sizes if ``size`` says how far an item
    brings the bar.

    >>> [n * n for n in track(range(3), description="squares")]
    [0, 1, 4]
    """
    if total is None and isinstance(iterable, Sized):
        total = len(iterable)
    with Steps(description, total, verbose=int(not disable)) as bar:
        for item in iterable:
            checkpoint()
            yield item
            bar.advance(1 if size is None else size(item))


def announce(what: str, seconds: float, verbose: int, n_bytes: float = 0.0) -> None:
    """Print on stderr how long something will take, and in how much memory, if that is much.

    Asked for by ``verbose``, or unasked to somebody who sits at a terminal and waits.
    """
    if (seconds > LONG or n_bytes > MUCH) and (verbose or sys.stderr.isatty()):
        memory = f" and {human_bytes(n_bytes)} of memory" if n_bytes else ""
        text = f"{what} will take about {human_seconds(seconds)}{memory}."
        print(text, file=sys.stderr, flush=True)


def human_seconds(seconds: float) -> str:
    """Return a duration as a person would give it, for an estimate.

    >>> human_seconds(14.2), human_seconds(200), human_seconds(9000)
    ('14 seconds', '3 minutes', '2.5 hours')
    """
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


def _start(description: str, total: int | None) -> Any:
    progress = require("rich.progress", extra="cli", purpose="the progress bar")
    console = require("rich.console", extra="cli", purpose="the progress bar")
    bar = progress.Progress(console=console.Console(stderr=True), transient=True)
    bar.add_task(description, total=total)
    bar.start()
    return bar
