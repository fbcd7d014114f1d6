"""A benchmark while it runs: a table that changes at a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.table import Table
from rich.text import Text

from compactlearn.cli.commands import fitted
from compactlearn_bench import Event
from compactlearn_bench.records import Cell

__all__ = ["CellProgress", "human_seconds", "view"]

_BAD = ("failed", "timeout", "memory", "absent")


class CellProgress:
    """Counts of cells by data set and method, and how long the rest may take."""

    def __init__(self, cells: Iterable[Cell]) -> None:
        cells = list(cells)
        self.datasets = list(dict.fromkeys(cell.dataset for cell in cells))
        self.methods = list(dict.fromkeys(cell.method for cell in cells))
        self.total = Counter((cell.dataset, cell.method) for cell in cells)
        self.count = {status: Counter() for status in ("done", *_BAD)}
        self.running: dict[str, tuple[str, str]] = {}
        self.seconds: dict[tuple[str, str], list[float]] = {}
        self.reasons: Counter[str] = Counter()  # why cells came to no answer
        self.started = time.monotonic()

    def __call__(self, event: Event) -> None:
        """Take note of an event."""
        place = event.cell.dataset, event.cell.method
        if event.kind == "started":
            self.running[event.cell.digest] = place
        else:
            self.running.pop(event.cell.digest, None)
        if event.status is not None:
            self.count[event.status][place] += 1
        if event.reason:
            self.reasons[f"{' on '.join(reversed(place))}, {event.status}: {event.reason}"] += 1
        if event.kind == "ended":
            self.seconds.setdefault(place, []).append(event.seconds)

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return sum(self.total.values())

    @property
    def n_ended(self) -> int:
        """Number of cells that have a record."""
        return sum(sum(self.count[status].values()) for status in ("done", *_BAD))

    def remaining(self) -> float | None:
        """An estimate in seconds: cells without a record are assumed to be like those with one."""
        known = [second for seconds in self.seconds.values() for second in seconds]
        if not known:
            return None
        mean = sum(known) / len(known)
        work = 0.0
        for place in self.total:
            own = self.seconds.get(place)
            work += self._left(place) * (sum(own) / len(own) if own else mean)
        return work / max(1, len(self.running))

    def tables(self, width: int) -> list[Table]:
        """Data sets by methods: cells with a record of all, running, and not done."""
        rows = [
            [dataset, *(self._shown(dataset, method) for method in self.methods)]
            for dataset in self.datasets
        ]
        return fitted(["data set", *self.methods], rows, width)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The tables, in the width there is, and a line about the whole."""
        yield from self.tables(options.max_width)
        yield self._caption()  # one of the table would be broken to the table's width

    def _left(self, place: tuple[str, str]) -> int:
        return self.total[place] - sum(self.count[status][place] for status in ("done", *_BAD))

    def _shown(self, dataset: str, method: str) -> Text:
        place = dataset, method
        total, done = self.total[place], self.count["done"][place]
        if not total:
            return Text("")
        text = Text(f"{done}/{total}", style="green" if done == total else "")
        running = sum(where == place for where in self.running.values())
        if running:
            text.append(f" +{running}", style="yellow")
        bad = sum(self.count[status][place] for status in _BAD)
        if bad:
            text.append(f" !{bad}", style="red")
        return text

    def _caption(self) -> str:
        left = self.remaining()
        rest = "" if left is None or not left else f", about {human_seconds(left)} to go"
        bad = ", ".join(
            f"{sum(self.count[status].values())} {status}"
            for status in _BAD
            if sum(self.count[status].values())
        )
        return (
            f"{self.n_ended} of {self.n_cells} cells ended{f' ({bad})' if bad else ''}, "
            f"{len(self.running)} running, {human_seconds(time.monotonic() - self.started)}{rest}"
        )


def view(progress: CellProgress, console: Console) -> tuple[AbstractContextManager[Any], Any]:
    """Return a context for the run of a benchmark, and a function to call with each event."""
    if console.is_terminal:
        return Live(progress, console=console, refresh_per_second=4), progress

    def line(event: Event) -> None:
        progress(event)
        if event.kind == "ended":
            cell = event.cell
            reason = f" ({event.reason})" if event.reason else ""
            console.print(
                f"[{progress.n_ended}/{progress.n_cells}] {cell.dataset} {cell.method} "
                f"{cell.selection} fold {cell.fold}: {event.status} in "
                f"{human_seconds(event.seconds)}{reason}",
                soft_wrap=True,
                markup=False,
            )

    return nullcontext(), line


def human_seconds(seconds: float) -> str:
    """A duration in the units a person would use.

    >>> human_seconds(0.034), human_seconds(75), human_seconds(7400)
    ('0.03 s', '1 min 15 s', '2 h 3 min')
    """
    if seconds < 60:
        return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
