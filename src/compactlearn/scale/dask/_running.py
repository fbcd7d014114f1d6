"""Work on the user's scheduler: a client's cluster, or Dask's threads in this process.

No cluster is started here. Every task is a pure function of its block, so that Dask can repeat the
tasks of a lost worker.
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

# Sums that one task adds. With two there would be as many further tasks as blocks; with many a
# worker would have to fetch and store many sums of 8 (D + M)^2 bytes at once.
FAN_IN = 4


class SchedulerLost(ConnectionError):
    """Loss of the scheduler in the middle of a computation."""


def dask(part: str = "") -> Any:
    """Return the package ``dask``, or a module of it."""
    name = f"dask.{part}" if part else "dask"
    return require(name, extra="dask", purpose="working on Dask collections")


def call(function: Callable[..., Any], *given: Any, what: str) -> Any:
    """Return a delayed call with a unique key, so that its arguments are not hashed."""
    name = f"compactlearn-{what}-{uuid4().hex}"
    delayed = dask().delayed(function, name=name, traverse=False)
    return delayed(*given, dask_key_name=f"{name}-call")


def value(given: Any, what: str) -> Any:
    """Return a delayed value that is sent to each worker once, and again if it is lost."""
    return dask().delayed(given, name=f"compactlearn-{what}-{uuid4().hex}", traverse=False)


def total(parts: Sequence[Any], add: Callable[[T, T], T]) -> T:
    """Return the sum of delayed parts, added in a tree on the workers."""
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
    """Compute delayed objects with the scheduler that Dask is set to use."""
    with lost_scheduler_named():
        return dask().compute(*wanted)


@contextmanager
def lost_scheduler_named() -> Iterator[None]:
    """Raise SchedulerLost if the scheduler is lost."""
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
