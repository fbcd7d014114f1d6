"""Cells on a Dask cluster. The client claims them and writes their records.

On each machine of the cluster a cell runs in a worker process as it does here, below the Dask
worker's own: one thread for linear algebra, the same budgets, and no harm to Dask if it dies.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections import deque
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from compactlearn.utils import require
from compactlearn_bench.harness.events import Event, OnEvent, RunError
from compactlearn_bench.harness.execute import unanswered
from compactlearn_bench.harness.guard import POLL_S, Worker
from compactlearn_bench.harness.job import Job, written
from compactlearn_bench.records import Record, Store
from compactlearn_bench.spec.reading import Budget

__all__ = ["ClusterError", "compute", "run_on_cluster"]

_AHEAD = 2  # cells under way for each thread of the cluster, so that none waits for us
_LOOK_AGAIN_S = 0.3


class ClusterError(OSError):
    """There is no cluster at an address."""


def run_on_cluster(
    jobs: Sequence[Job], store: Store, budget: Budget, address: str, on_event: OnEvent
) -> None:
    """Run jobs on the cluster of the scheduler at `address`, and write the records here."""
    distributed = require("distributed", extra="dask", purpose="running cells on a Dask cluster")
    try:
        client = distributed.Client(address, timeout=10, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise ClusterError(
            f"No Dask scheduler answers at {address} ({error}); start one, or correct the address."
        ) from error
    with client:
        _Cluster(client, distributed, store, budget, on_event, deque(jobs)).run()


@dataclass(frozen=True)
class _Sent:
    """A job on its way, and our claim on its cell."""

    job: Job
    claim: ExitStack
    future: Any
    at: float = field(default_factory=time.perf_counter)


@dataclass
class _Cluster:
    client: Any
    distributed: Any
    store: Store
    budget: Budget
    on_event: OnEvent
    waiting: deque[Job]
    elsewhere: list[Job] = field(default_factory=list)  # claimed by other processes
    under_way: dict[str, _Sent] = field(default_factory=dict)

    def run(self) -> None:
        stream = self.distributed.as_completed(loop=self.client.loop)
        try:
            while self.waiting or self.under_way or self.elsewhere:
                while self.waiting and len(self.under_way) < self._room():
                    self._submit(self.waiting.popleft(), stream)
                if self.under_way:
                    sent = self.under_way.pop(next(stream).key)
                    with sent.claim:
                        self._keep(sent)
                elif self.elsewhere and not self.waiting:
                    time.sleep(_LOOK_AGAIN_S)
                    self.waiting, self.elsewhere = deque(self.elsewhere), []
        finally:
            for sent in self.under_way.values():
                sent.claim.close()
            # Not awaited: a cell that runs on the cluster ends by itself, and nobody listens.
            with suppress(OSError):  # the scheduler itself may be gone
                self.client.cancel([sent.future for sent in self.under_way.values()])

    def _room(self) -> int:
        try:
            return _AHEAD * max(1, sum(self.client.nthreads().values()))
        except OSError as error:
            raise _lost(error) from error

    def _submit(self, job: Job, stream: Any) -> None:
        """Claim a cell and send it off, unless another process has it or has done it."""
        with ExitStack() as claim:
            mine = claim.enter_context(self.store.claim(job.cell))
            known = self.store.read(job.cell, claimed=mine)
            if known is not None and written(known) != job.stale:
                self.on_event(Event("found", job.cell, known.status))
            elif not mine:
                self.elsewhere.append(job)
                self.on_event(Event("put back", job.cell))
            else:
                text = replace(job, store=None).to_json()
                # A key of its own: the cluster may still know the answer of an earlier run.
                key = f"{job.cell.name}--{uuid.uuid4().hex}"
                future = self.client.submit(
                    compute, text, self.budget, key=key, pure=False, retries=0
                )
                self.under_way[future.key] = _Sent(job, claim.pop_all(), future)
                stream.add(future)
                self.on_event(Event("started", job.cell))

    def _keep(self, sent: _Sent) -> None:
        job = sent.job
        if sent.future.cancelled():  # nobody but a scheduler that ends does that
            raise _lost("it cancelled what it had been sent")
        try:
            record = Record.from_json(sent.future.result())
            if record.cell.name != job.cell.name:
                raise ValueError(f"it answers another question, {record.cell.name}")
        except Exception as error:  # the cluster's failure, whatever its class, is the cell's
            reason = f"The cluster gave no answer ({type(error).__name__}: {error})."
            record = unanswered(job.cell, "failed", reason, sent.at, 0)
        self.store.write(record)
        total = record.circumstances["seconds"]["total"]
        self.on_event(Event("ended", job.cell, record.status, total, record.reason))


def _lost(reason: object) -> RunError:
    return RunError(
        f"The Dask scheduler was lost ({reason}); start one again, and the same command resumes "
        "the run."
    )


def compute(text: str, budget: Budget) -> str:
    """On the cluster: the record of a job, both as text."""
    job, own = Job.from_json(text), _own()
    worker = getattr(own, "worker", None) or Worker()
    own.worker = None
    try:
        record, healthy = _supervised(worker, job, budget)
    except BaseException:
        worker.stop()
        raise
    if healthy:
        own.worker = worker
    return record


@cache
def _own() -> threading.local:
    """For each thread of a Dask worker the process it uses; made there, since it cannot travel."""
    return threading.local()


def _supervised(worker: Worker, job: Job, budget: Budget) -> tuple[str, bool]:
    """Return the record, and whether the worker can be used again."""
    worker.give(job)
    while True:
        message = worker.hear() if worker.pipe.poll(POLL_S) else {"event": "none"}
        if message["event"] == "computed":
            worker.job = None
            return message["record"], True
        record = worker.over(budget)
        if record is not None:
            worker.stop()
            return record.to_json(), False
        if message["event"] == "dead":
            worker.stop(2.0)
            return worker.obituary(job.cell).to_json(), False
