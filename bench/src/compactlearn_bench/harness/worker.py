"""The process that computes cells, one after the other, and sends back their records.

The process ends when its standard input closes: that is how it learns that its parent is no more.
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
import threading
from multiprocessing.connection import Connection
from typing import Any

from compactlearn_bench.harness.execute import execute
from compactlearn_bench.harness.job import Job

__all__ = ["main", "serve"]


def main() -> None:
    """Serve the pipe whose number is the first argument."""
    faulthandler.enable()
    threading.Thread(target=_end_with_parent, args=(0,), daemon=True).start()
    serve(Connection(int(sys.argv[1])))


def serve(pipe: Connection) -> None:
    """Answer jobs until the other side closes."""
    try:
        _send(pipe, "ready")
        while True:
            job = Job.from_json(pipe.recv_bytes())
            record = execute(job, lambda: _send(pipe, "begun"))
            _send(pipe, "computed", record=record.to_json())
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return


def _send(pipe: Connection, event: str, **more: Any) -> None:
    pipe.send_bytes(json.dumps({"event": event, **more}).encode())


def _end_with_parent(handle: int) -> None:
    """Wait for the end of a stream on which nothing is ever written."""
    while os.read(handle, 1):
        pass
    if os.getpgrp() == os.getpid():  # the group is ours: what the cell has started ends with us
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)
