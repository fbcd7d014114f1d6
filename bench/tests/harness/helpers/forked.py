"""Worker processes by fork: what they do is the same, but they are there at once.

The real way to start one, a fresh interpreter, takes seconds; a few tests use it too.
"""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from multiprocessing import Pipe

from compactlearn_bench.harness.worker import _end_with_parent, serve


class Forked:
    """As much of `subprocess.Popen` as is needed."""

    def __init__(self, pid, lifeline):
        self.pid, self.stdin, self.code = pid, lifeline, None

    def kill(self):
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)

    def wait(self, timeout=None):
        end = None if timeout is None else time.monotonic() + timeout
        while self.code is None:
            pid, status = os.waitpid(self.pid, 0 if end is None else os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
            elif end is not None and time.monotonic() > end:
                raise subprocess.TimeoutExpired("forked", timeout)
            else:
                time.sleep(0.002)
        return self.code


def fork_worker():
    """Return what `compactlearn_bench.harness.guard.launch` returns."""
    ours, theirs = Pipe()
    reading, writing = os.pipe()
    errors = tempfile.TemporaryFile()  # noqa: SIM115, closed with the worker
    pid = os.fork()
    if pid == 0:
        try:
            os.setpgid(0, 0)
            os.dup2(errors.fileno(), 1)
            os.dup2(errors.fileno(), 2)
            kept = {theirs.fileno(), reading}
            for handle in range(3, 256):  # other workers' pipes must end with our parent too
                if handle not in kept:
                    with contextlib.suppress(OSError):
                        os.close(handle)
            sys.stdout = os.fdopen(1, "w", closefd=False)  # pytest has put its own there
            threading.Thread(target=_end_with_parent, args=(reading,), daemon=True).start()
            serve(theirs)
        finally:
            os._exit(0)
    theirs.close()
    os.close(reading)
    return Forked(pid, os.fdopen(writing, "wb")), ours, errors
