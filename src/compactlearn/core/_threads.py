"""How many threads the BLAS works with during a fit.

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
    if limit is None and _own.depth > 0:
        yield
        return
    if any(os.environ.get(name) for name in VARIABLES):
        yield
        return
    entry = _Entry(free_cores() if limit is None else limit, counted=_own.depth == 0)
    local = _Changed(_libraries(per_thread=True))
    outer = _own.looking
    _own.depth += 1
    _own.looking = _Looking(entry, local) if limit is None else None
    _shared.enter(entry)
    try:
        local.lower(entry.wanted)
        yield
    finally:
        local.restore()
        _shared.leave(entry)
        _own.depth -= 1
        _own.looking = outer


def look_again() -> None:
    """Go on with as many threads as there are free cores by now.

    For loops of some seconds: another process may have begun, or ended, since the fit began. Has
    no effect outside :func:`blas_threads`, and looks no more often than every ``PAUSE`` seconds.
    """
    looking, now = _own.looking, time.monotonic()
    if looking is None or now - looking.last < PAUSE:
        return
    looking.last = now
    wanted = free_cores()
    if wanted != looking.entry.wanted:
        looking.entry.wanted = wanted
        looking.local.lower(wanted)
        _shared.renew()


def free_cores() -> int:
    """How many cores this process may use that no other process is using now; at least one.

    Where the system does not say what is running, all that it may use.
    """
    # Something that runs for a moment is no rival: it is gone a millisecond later.
    others = _others_running()
    for _ in range(2):
        if others == 0:
            break
        time.sleep(0.001)
        others = min(others, _others_running())
    return max(1, min(own_cores(), (os.cpu_count() or 1) - others))


def free_cores_to_use() -> int:
    """How many threads of our own to work with: one where the user has set one of ``VARIABLES``,
    who has decided then, and otherwise as many as there are free cores."""
    return 1 if any(os.environ.get(name) for name in VARIABLES) else free_cores()


def own_cores() -> int:
    """How many cores this process may use at all."""
    if not hasattr(os, "sched_getaffinity"):
        return _allowed_cores()
    return min(_allowed_cores(), len(os.sched_getaffinity(0)))  # which may change at any time


@cache
def _allowed_cores() -> int:
    return cpu_count()  # with the limits of control groups, whose files take a while to read


def _others_running() -> int:
    """How many tasks of other processes have, or wait for, a core at this moment."""
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
        # The state follows the name, which stands in brackets and may hold any character.
        return _bytes(stat).rpartition(b")")[2].split()[0] == b"R"
    except (OSError, IndexError):
        return False  # it ended just now


def _bytes(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:  # small files, read once for every fit
        return file.read()


class _Entry:
    """One block that is under way."""

    def __init__(self, wanted: int, *, counted: bool) -> None:
        self.wanted = max(1, wanted)
        self.counted = counted  # whether it stands for a computation of its own
        self.thread = threading.get_ident()


class _Own(threading.local):
    depth = 0  # blocks of this thread that are under way
    looking: _Looking | None = None  # the innermost one, unless its number is given


class _Changed:
    """The number of threads of some libraries, and what it was before."""

    def __init__(self, libraries: list[Any]) -> None:
        self.libraries = libraries
        self.before = [library.get_num_threads() for library in libraries]
        self.now = list(self.before)

    def lower(self, wanted: int) -> None:
        """Let every library work with ``wanted`` threads, or with fewer if it did so before."""
        for place, library in enumerate(self.libraries):
            self._set(place, library, min(self.before[place], wanted))

    def restore(self) -> None:
        for place, library in enumerate(self.libraries):
            self._set(place, library, self.before[place])

    def _set(self, place: int, library: Any, number: int) -> None:
        if number == self.now[place] or library.get_num_threads() != self.now[place]:
            return  # as wanted, or changed by someone else since
        library.set_num_threads(number)
        # threadpoolctl lets one thread alone set the number from its first call on, until this.
        getattr(library, "clear_controlling_thread", bool)()
        # What was set may have had no effect: such a thread of the user's has the say.
        self.now[place] = library.get_num_threads()


class _Looking:
    """A block whose number of threads follows the free cores."""

    def __init__(self, entry: _Entry, local: _Changed) -> None:
        self.entry, self.local = entry, local
        self.last = time.monotonic()


class _Shared:
    """All blocks of the process, and what the libraries had before the first of them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.active: list[_Entry] = []
        self.changed: _Changed | None = None

    def enter(self, entry: _Entry) -> None:
        with self.lock:
            self.active.append(entry)
            self._set()

    def leave(self, entry: _Entry) -> None:
        with self.lock:
            self.active.remove(entry)
            self._set()

    def renew(self) -> None:
        with self.lock:
            self._set()

    def after_fork(self) -> None:
        """Keep the blocks of the thread that forked: a forked process has no other.

        Another thread may have held the lock.
        """
        self.lock = threading.Lock()
        self.active = [entry for entry in self.active if entry.thread == threading.get_ident()]
        self._set()

    def _set(self) -> None:
        if self.active:
            sharing = max(1, sum(entry.counted for entry in self.active))
            wanted = min(own_cores() // sharing, *(entry.wanted for entry in self.active))
            self.changed = self.changed or _Changed(_libraries(per_thread=False))
            self.changed.lower(max(1, wanted))
        elif self.changed is not None:
            self.changed.restore()
            self.changed = None


@cache
def _libraries(*, per_thread: bool) -> list[Any]:
    """Every BLAS of this process whose number of threads is, or is not, each thread's own.

    Looking for them takes as long as a small fit.
    """
    found = ThreadpoolController().select(user_api="blas").lib_controllers
    layers = [getattr(library, "threading_layer", None) for library in found]
    return [
        library
        for library, layer in zip(found, layers, strict=True)
        if (layer == "openmp") == per_thread
    ]


_own, _shared = _Own(), _Shared()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_shared.after_fork)
