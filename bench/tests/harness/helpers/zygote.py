"""The command line, loaded once and forked for each run: a start costs milliseconds, not seconds.

Reads lines. "start LOG ARGUMENTS..." forks a run in a process group of its own and prints its
number; "wait NUMBER" prints how it ended; "settle" waits until every process that any run started
has ended too, and prints 0. Whoever sent the lines may kill a run in between.
"""

import contextlib
import ctypes
import functools
import os
import shlex
import sys

from forked import fork_worker

from compactlearn.cli import _app as app
from compactlearn.cli import main
from compactlearn_bench.cli import bench

assert app  # loaded before any fork
# Linux: whoever is orphaned below us becomes our child, and can be waited for.
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
bench.run = functools.partial(bench.run, launcher=fork_worker)


def start(log, arguments):
    pid = os.fork()
    if pid:
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)  # here and there: whoever comes first, a shot finds the group
        return pid
    status = 1
    try:
        os.setpgid(0, 0)
        os.environ["PLUGGED_LOG"] = log
        out = os.open(log + ".out", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(out, 2)
        status = main(arguments)
        sys.stdout.flush()
    finally:
        os._exit(status)


def settle():
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()


for line in sys.stdin:
    command, *rest = shlex.split(line)
    if command == "start":
        answer = start(rest[0], rest[1:])
    elif command == "wait":
        answer = os.waitstatus_to_exitcode(os.waitpid(int(rest[0]), 0)[1])
    else:
        answer = settle() or 0
    print(answer, flush=True)
