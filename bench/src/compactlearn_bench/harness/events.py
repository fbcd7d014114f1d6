"""Events of a run, and their summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from compactlearn_bench.records import Cell

__all__ = ["Event", "OnEvent", "RunError", "Summary", "Tally"]


class RunError(RuntimeError):
    """A failure that ends a run and is no mistake of the user; what is recorded stays."""


@dataclass(frozen=True)
class Event:
    """Something happened to a cell.

    Parameters
    ----------
    kind : "found", "started" or "ended"
        "found": its record was there.
    cell : Cell
    status : str or None
        Of its record, for "found" and "ended".
    seconds : float
        The time of the cell, for "ended".
    reason : str or None
        Why it is not "done".
    """

    kind: Literal["found", "started", "ended"]
    cell: Cell
    status: str | None = None
    seconds: float = 0.0
    reason: str | None = None


OnEvent = Callable[[Event], None]


@dataclass(frozen=True)
class Summary:
    """Numbers of computed cells, of records that were found, and of cells by status."""

    computed: int
    found: int
    statuses: Mapping[str, int]


class Tally:
    """Counts events and passes them on."""

    def __init__(self, on_event: OnEvent | None = None) -> None:
        self._on_event = on_event
        self._kinds: Counter[str] = Counter()
        self._statuses: Counter[str] = Counter()

    def __call__(self, event: Event) -> None:
        """Count the event."""
        self._kinds[event.kind] += 1
        if event.status is not None:
            self._statuses[event.status] += 1
        if self._on_event is not None:
            self._on_event(event)

    def summary(self) -> Summary:
        """Return the numbers of events so far."""
        return Summary(self._kinds["ended"], self._kinds["found"], dict(self._statuses))
