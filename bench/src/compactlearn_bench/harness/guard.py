"""One worker process as its parent sees it: started, given a job, listened to, stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import IO, Any, Protocol

from compactlearn.utils import human_bytes
from compactlearn_bench.harness.execute import unanswered
from compactlearn_bench.harness.host import resident_bytes
from compactlearn_bench.harness.job import Job
from compactlearn_bench.records import Cell, Record
from compactlearn_bench.spec.reading import Budget

__all__ = ["Launch", "Process", "Worker", "launch"]

_START = "from compactlearn_bench.harness.worker import main; main()"
_THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
POLL_S = 0.05  # how often memory is looked at
_GROUP_S = 1.0  # how long the processes of a group that was killed may take to be gone


class Process(Protocol):
    """The part of `subprocess.Popen` that is used here."""

    pid: int

    def kill(self) -> None: ...
    def wait(self, timeout: float | None = None) -> int: ...


#: Starts a worker: (process, our end of its pipe, the file of its standard error).
Launch = Callable[[], tuple[Process, Connection, IO[bytes]]]


def launch() -> tuple[Process, Connection, IO[bytes]]:
    """A fresh interpreter with one thread for linear algebra, in a process group of its own.

    Its own group: Ctrl-C is for the parent, which then decides. The path of modules is the
    parent's, so that both see the same packages. Hashes of texts, and so the order of sets of
    them, are the same in all workers.
    """
    ours, theirs = Pipe()
    path = os.pathsep.join(place or os.getcwd() for place in sys.path)
    errors = tempfile.TemporaryFile()  # noqa: SIM115, closed with the worker
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", _START, str(theirs.fileno())],
        env=os.environ | dict.fromkeys(_THREADS, "1") | {"PYTHONPATH": path, "PYTHONHASHSEED": "0"},
        stdin=subprocess.PIPE,  # never written to: it closes when we end, and so ends the worker
        stdout=errors,
        stderr=errors,
        pass_fds=[theirs.fileno()],
        process_group=0,
    )
    theirs.close()
    return process, ours, errors


@dataclass(eq=False)
class Worker:
    """A process, and the job it is at."""

    launcher: Launch = launch
    job: Job | None = None
    ready: bool = False
    sent: float = 0.0  # when the job was given
    begun: float | None = None  # when its data were loaded and its time began to count
    peak: int = 0
    process: Process = field(init=False)
    pipe: Connection = field(init=False)
    errors: IO[bytes] = field(init=False)

    def __post_init__(self) -> None:
        self.process, self.pipe, self.errors = self.launcher()

    @property
    def free(self) -> bool:
        """Whether it waits for a job."""
        return self.ready and self.job is None

    def give(self, job: Job) -> None:
        """Start a job."""
        # What earlier cells printed is of no use any more, and would grow without end.
        self.errors.seek(0)
        self.errors.truncate()
        self.job, self.sent, self.begun, self.peak = job, time.perf_counter(), None, 0
        # A worker that has just died is noticed when it is listened to.
        with suppress(BrokenPipeError, ConnectionResetError):
            self.pipe.send_bytes(job.to_json().encode())

    def hear(self) -> dict[str, Any]:
        """The next message; {"event": "dead"} if there will be none."""
        try:
            message = json.loads(self.pipe.recv_bytes())
        except (EOFError, OSError):
            return {"event": "dead"}
        if message["event"] == "ready":
            self.ready = True
        elif message["event"] == "begun":
            self.begun = time.perf_counter()
        return message

    def over(self, budget: Budget) -> Record | None:
        """A record that says so, if the job is over its budget."""
        if self.job is None or self.begun is None:
            return None
        if budget.seconds is not None and time.perf_counter() - self.begun > budget.seconds:
            reason = f"It took longer than its budget of {budget.seconds:g} seconds."
            with suppress(ImportError):
                self.peak = max(self.peak, resident_bytes(self.process.pid))
            return unanswered(self.job.cell, "timeout", reason, self.begun, self.peak)
        if budget.memory is not None:
            self.peak = max(self.peak, resident_bytes(self.process.pid))
            if self.peak > budget.memory:
                reason = f"It used more memory than its budget of {human_bytes(budget.memory)}."
                return unanswered(self.job.cell, "memory", reason, self.begun, self.peak)
        return None

    def obituary(self, cell: Cell) -> Record:
        """The record of a cell during which the worker ended by itself; call after `stop`."""
        started = self.begun if self.begun is not None else self.sent
        details = {"output": self.last_words()}
        return unanswered(cell, "failed", self.cause(), started, self.peak, details)

    def cause(self) -> str:
        """Return a sentence on how the process ended."""
        code = self.process.wait()
        if code >= 0:
            return f"The process that computed it ended by itself, with status {code}."
        named = {number.value: number.name for number in signal.Signals}
        name = named.get(-code, str(-code))
        hint = ", as the system does when memory runs out" if name == "SIGKILL" else ""
        return f"The process that computed it was ended by the signal {name}{hint}."

    def last_words(self, limit: int = 2000) -> str:
        """The end of what the process printed."""
        end = self.errors.seek(0, os.SEEK_END)
        self.errors.seek(max(0, end - limit))
        return self.errors.read().decode("utf-8", errors="replace")

    def stop(self, patience: float = 0.0) -> None:
        """End the process, after `patience` seconds in which it may end by itself.

        With it whatever it has started and left in its group, which would continue to compute.
        """
        if patience:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(patience)
        with suppress(ProcessLookupError):
            self.process.kill()
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        _await_group(self.process.pid)
        stdin = getattr(self.process, "stdin", None)
        if stdin is not None:
            stdin.close()
        self.pipe.close()


def _await_group(group: int) -> None:
    end = time.monotonic() + _GROUP_S
    with suppress(ProcessLookupError, PermissionError):
        while time.monotonic() < end:
            os.killpg(group, 0)
            time.sleep(0.002)
