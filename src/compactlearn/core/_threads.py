"""Number of BLAS threads during a fit.

Threads of a BLAS wait for each other by spinning. Where other processes want the same cores, one of
them is always without a core and the others spin in vain: on a machine with two busy cores a
fit of enron took 2.4 seconds with two threads, and 0.15 with one. So a fit looks how many cores are
free, and asks for no more threads than that; long loops look again (:func:`look_again`).

The number of threads belongs to the whole process. It is changed here and nowhere else, under a
lock: the first fit to begin remembers the number, the last one to end restores it, and those in
between share the cores. It is only ever lowered, and not at all where one of ``VARIABLES`` is set:
then the user has decided.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from joblib import cpu_count
from threadpoolctl import ThreadpoolController

VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)

PAUSE = 0.25

_PROC = "/proc"


@contextmanager
def blas_threads(limit: int | None = None) -> Iterator[None]:
    """Work with at most ``limit`` threads of the BLAS, or with as many as there are free cores.

    Inside another such block of the same thread only a lower limit has any effect.
    """
    nested = _own.depth > 0
    if (limit is None and nested) or user_decided():
        yield
        return
    block = _ThreadLimit(limit, nested, threading.get_ident())
    _own.depth += 1
    _blocks.enter(block)
    try:
        yield
    finally:
        _blocks.leave(block)
        _own.depth -= 1


def look_again() -> None:
    """Continue with as many threads as there are free cores by now.

    For loops of some seconds: another process may have begun, or ended, since the fit began. Has
    no effect outside :func:`blas_threads`, and looks no more often than every ``PAUSE`` seconds.
    """
    if _own.depth and time.monotonic() - _blocks.looked >= PAUSE:
        _blocks.look()


def free_cores() -> int:
    """Return how many cores this process may use that no other is using now; at least one.

    Where the system does not say what is running, all that it may use.
    """
    # Something that runs for a moment does not count: it is gone a millisecond later.
    others = _others_running()
    for _ in range(2):
        if others == 0:
            break
        time.sleep(0.001)
        others = min(others, _others_running())
    return max(1, min(own_cores(), (os.cpu_count() or 1) - others))


def free_cores_to_use() -> int:
    """Return the number of threads of our own: one if the user has set one of ``VARIABLES``."""
    return 1 if user_decided() else free_cores()


def user_decided() -> bool:
    """Return whether the user has set one of ``VARIABLES``."""
    return any(os.environ.get(name) for name in VARIABLES)


def own_cores() -> int:
    """Return how many cores this process may use at all."""
    if not hasattr(os, "sched_getaffinity"):
        return _allowed_cores()
    return min(_allowed_cores(), len(os.sched_getaffinity(0)))  # which may change at any time


@cache
def _allowed_cores() -> int:
    return cpu_count()  # with the limits of control groups, whose files take a while to read


def _others_running() -> int:
    """Return how many tasks of other processes have, or wait for, a core at this moment."""
    try:
        total = int(_bytes(f"{_PROC}/loadavg").split()[3].split(b"/")[0])
        if total <= 1:  # that is the one who asks
            return 0
        own = os.listdir(f"{_PROC}/self/task")
    except (OSError, ValueError, IndexError):
        return 0
    return max(0, total - sum(_is_running(f"{_PROC}/self/task/{task}/stat") for task in own))


def _is_running(stat: str) -> bool:
    try:
        # The state follows the name, which is in brackets and may contain any character.
        return _bytes(stat).rpartition(b")")[2].split()[0] == b"R"
    except (OSError, IndexError):
        return False  # it ended just now


def _bytes(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:  # small files, read once for every fit
        return file.read()


@dataclass(eq=False)
class _ThreadLimit:
    """One block that is under way."""

    limit: int | None  # None: as many threads as there are free cores
    nested: bool  # in another one of its thread, whose cores it shares
    thread: int


class _Own(threading.local):
    depth = 0  # blocks of this thread that are under way


class _Blocks:
    """All blocks of the process, and what the libraries had before the first of them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.active: list[_ThreadLimit] = []
        self.before: list[int] = []
        self.now: list[int] = []
        self.free, self.looked = 1, 0.0

    def enter(self, block: _ThreadLimit) -> None:
        free = None if block.limit is not None else free_cores()
        with self.lock:
            if not self.active:
                self.before = [library.get_num_threads() for library in _libraries()]
                self.now = list(self.before)
            self.active.append(block)
            self._lower(free)

    def look(self) -> None:
        free = free_cores()
        with self.lock:
            self._lower(free)

    def leave(self, block: _ThreadLimit) -> None:
        with self.lock:
            self.active.remove(block)
            self._lower(None)

    def after_fork(self) -> None:
        """Keep only the blocks of the thread that forked: a forked process has no other thread.

        The lock is replaced because another thread may have locked it.
        """
        self.lock = threading.Lock()
        self.active = [block for block in self.active if block.thread == threading.get_ident()]
        self._lower(None)

    def _lower(self, free: int | None) -> None:
        """Let every library work with as many threads as all blocks allow, at most as before."""
        if free is not None:
            self.free, self.looked = free, time.monotonic()
        sharing = max(1, sum(not block.nested for block in self.active))
        limits = [self.free if block.limit is None else block.limit for block in self.active]
        wanted = max(1, min(own_cores() // sharing, *limits)) if limits else None
        for place, before in enumerate(self.before):
            self._set(place, before if wanted is None else min(before, wanted))

    def _set(self, place: int, number: int) -> None:
        library = _libraries()[place]
        if number == self.now[place] or library.get_num_threads() != self.now[place]:
            return  # as wanted, or changed by someone else since
        library.set_num_threads(number)
        # threadpoolctl lets one thread alone set the number from its first call on, until this.
        getattr(library, "clear_controlling_thread", bool)()
        # What was set may have had no effect: such a thread of the user's has the say.
        self.now[place] = library.get_num_threads()


@cache
def _libraries() -> list[Any]:
    """Return every BLAS of this process; looking for them takes as long as a small fit."""
    return ThreadpoolController().select(user_api="blas").lib_controllers


_own, _blocks = _Own(), _Blocks()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_blocks.after_fork)
