"""Work on the scheduler that the user has: a client's cluster, or Dask's threads in this process.

No cluster is ever started here. Every task is a pure function of its block, so that a worker that
is lost costs what it had, which Dask computes again, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import reduce
from typing import Any, TypeVar
from uuid import uuid4

from compactlearn.core._optional import require
from compactlearn.core._threads import blas_threads

T = TypeVar("T")

# So many sums are added by one task. Two would make as many tasks as blocks again, and with many a
# worker would have to hold and fetch many sums at once; one has 8 (D + M)^2 bytes.
FAN_IN = 4


class SchedulerLost(ConnectionError):
    """The scheduler went away in the middle of a computation."""


def dask(part: str = "") -> Any:
    """The package, or a module of it."""
    name = f"dask.{part}" if part else "dask"
    return require(name, extra="dask", purpose="working on Dask collections")


def call(function: Callable[..., Any], *given: Any, what: str) -> Any:
    """A delayed call, under a key of its own: its arguments need not be hashed."""
    name = f"compactlearn-{what}-{uuid4().hex}"
    delayed = dask().delayed(function, name=name, traverse=False)
    return delayed(*given, dask_key_name=f"{name}-call")


def value(given: Any, what: str) -> Any:
    """A value that goes to each worker once, and is sent again to one that has lost it."""
    return dask().delayed(given, name=f"compactlearn-{what}-{uuid4().hex}", traverse=False)


def total(parts: Sequence[Any], add: Callable[[T, T], T]) -> T:
    """The sum of delayed parts, added up in a tree on the workers; only the sum travels here."""
    level = list(parts)
    while len(level) > 1:
        groups = [level[start : start + FAN_IN] for start in range(0, len(level), FAN_IN)]
        level = [
            group[0] if len(group) == 1 else call(_added, add, *group, what="sum")
            for group in groups
        ]
    return computed(level[0])[0]


def _added(add: Callable[[T, T], T], *parts: T) -> T:
    return reduce(add, parts)


def computed(*wanted: Any) -> tuple[Any, ...]:
    """What delayed objects stand for, by the scheduler that Dask is set to use."""
    with lost_scheduler_named():
        return dask().compute(*wanted)


@contextmanager
def lost_scheduler_named() -> Iterator[None]:
    """Say in a sentence that the scheduler is gone, where that is what happened."""
    try:
        # Threads of this process, if the work comes to them, have a core each.
        with blas_threads(1):
            yield
    except (OSError, CancelledError) as error:
        # A file that a task did not find is an OSError as well, and is the task's own.
        if isinstance(error, OSError) and type(error).__name__ != "CommClosedError":
            raise
        reason = getattr(error, "reason", None) or type(error).__name__
        raise SchedulerLost(
            f"The Dask scheduler was lost, or it cancelled the computation ({reason}); the model "
            "is as it was. Start a scheduler, connect a client to it, and call the method again."
        ) from error


@contextmanager
def block_named(number: int, first_row: int | None) -> Iterator[None]:
    """Say in which block bad values were found; the rows of a message are counted within it."""
    begins = "" if first_row is None else f", whose first row is row {first_row} of all"
    try:
        yield
    except ValueError as error:
        raise ValueError(f"Block {number}{begins}: {error}") from error
