"""The process that computes cells, one after the other, and writes each record itself.

So a record is safe the moment its cell ends, whatever becomes of whoever asked for it. The
process ends when its standard input closes: that is how it learns that its parent is no more.
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
from compactlearn_bench.harness.job import Job, written
from compactlearn_bench.records import Record, Store, StoreError

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
            _send(pipe, **_handled(job, pipe))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return


def _handled(job: Job, pipe: Connection) -> dict[str, Any]:
    if job.store is None:
        record = execute(job, lambda: _send(pipe, "begun"))
        return _summary("computed", record) | {"record": record.to_json()}
    store = Store(job.store)
    try:
        with store.claim(job.cell) as mine:
            if not mine:
                return {"event": "claimed"}
            # Somebody may have finished it since the parent looked.
            known = store.read(job.cell, claimed=True)
            if known is not None and written(known) != job.stale:
                return _summary("known", known)
            record = execute(job, lambda: _send(pipe, "begun"))
            store.write(record)
            return _summary("written", record)
    except StoreError as error:
        return {"event": "unwritten", "reason": str(error), "errno": error.errno}


def _summary(event: str, record: Record) -> dict[str, Any]:
    total = record.circumstances.get("seconds", {}).get("total", 0.0)
    return {"event": event, "status": record.status, "reason": record.reason, "seconds": total}


def _send(pipe: Connection, event: str, **more: Any) -> None:
    pipe.send_bytes(json.dumps({"event": event, **more}).encode())


def _end_with_parent(handle: int) -> None:
    """Wait for the end of a stream on which nothing is ever written."""
    while os.read(handle, 1):
        pass
    if os.getpgrp() == os.getpid():  # the group is ours: what the cell has started ends with us
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)  # a record that is being written is under a temporary name, and harmless
