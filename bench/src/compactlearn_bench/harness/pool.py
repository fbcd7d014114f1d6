"""Cells on this machine: a few long-lived processes, each given one cell after the other."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable
from multiprocessing.connection import wait
from typing import Any

from compactlearn_bench.harness.events import Event, OnEvent, RunError
from compactlearn_bench.harness.guard import POLL_S, Launch, Worker, launch
from compactlearn_bench.harness.job import Job, written
from compactlearn_bench.records import Record, Store, StoreError
from compactlearn_bench.spec.reading import Budget

__all__ = ["Pool"]

_LOOK_AGAIN_S = 0.3  # how often cells that another process is at are looked at
_DYING_S = 2.0  # a process whose pipe is closed ends within this, and then we know how


class Pool:
    """Pool of worker processes, which runs jobs until each has a record.

    `on_event` receives events, `launcher` starts a process.
    """

    def __init__(
        self,
        jobs: Iterable[Job],
        store: Store,
        budget: Budget,
        workers: int,
        on_event: OnEvent,
        launcher: Launch = launch,
    ) -> None:
        self.waiting = deque(jobs)
        self.elsewhere: list[Job] = []  # claimed by other processes
        self.looked = 0.0
        self.store, self.budget, self.launcher = store, budget, launcher
        self.on_event = on_event
        self.n_workers = workers
        self.workers: list[Worker] = []

    def run(self) -> None:
        """Work until nothing is left; whatever ends this, no process stays behind."""
        try:
            while self.waiting or self.elsewhere or any(w.job for w in self.workers):
                self._deal()
                self._listen()
                self._stop_what_is_over()
                self._look_again()
        finally:
            for worker in self.workers:
                worker.stop()
                worker.errors.close()

    def _deal(self) -> None:
        busy = sum(worker.job is not None for worker in self.workers)
        wanted = min(self.n_workers, busy + len(self.waiting))
        while len(self.workers) < wanted:
            self.workers.append(Worker(self.launcher))
        for worker in self.workers:
            if worker.free and self.waiting:
                self._give(worker)

    def _give(self, worker: Worker) -> None:
        job = self.waiting.popleft()
        worker.give(job)
        self.on_event(Event("started", job.cell))

    def _listen(self) -> None:
        by_pipe: dict[Any, Worker] = {worker.pipe: worker for worker in self.workers}
        for pipe in wait(list(by_pipe), timeout=POLL_S):
            worker = by_pipe[pipe]
            self._heard(worker, worker.hear())

    def _heard(self, worker: Worker, message: dict[str, Any]) -> None:
        event, job = message["event"], worker.job
        if event == "dead":
            self._dead(worker)
        elif event == "unwritten":
            error = StoreError(message["reason"])
            error.errno = message["errno"]
            raise error
        elif job is not None and event in ("written", "known", "claimed"):
            worker.job = None
            if event == "claimed":
                self._put_back(job)
            else:
                kind = "ended" if event == "written" else "found"
                status, reason = message["status"], message["reason"]
                self.on_event(Event(kind, job.cell, status, message["seconds"], reason))
            if self.waiting:  # at once: the next round of _deal may be a poll away
                self._give(worker)

    def _put_back(self, job: Job) -> None:
        self.elsewhere.append(job)
        self.on_event(Event("put back", job.cell))

    def _dead(self, worker: Worker) -> None:
        worker.stop(_DYING_S)
        job = self._retired(worker)
        if job is not None:
            self._record(job, worker.obituary(job.cell))
        elif not worker.ready:
            raise RunError(
                f"A worker process could not start. {worker.cause()} It said: "
                f"{worker.last_words().strip() or 'nothing'}"
            )
        worker.errors.close()

    def _stop_what_is_over(self) -> None:
        for worker in list(self.workers):
            record = worker.over(self.budget)
            if record is not None:
                worker.stop()
                job = self._retired(worker)
                worker.errors.close()
                if job is not None:
                    self._record(job, record)

    def _retired(self, worker: Worker) -> Job | None:
        self.workers.remove(worker)
        job, worker.job = worker.job, None
        return job

    def _record(self, job: Job, record: Record) -> None:
        """Write the record of a cell whose worker is gone, and its claim with it."""
        with self.store.claim(job.cell) as mine:
            known = self.store.read(job.cell, claimed=mine)
            if known is not None and written(known) != job.stale:
                # It had written its own record in the last moment.
                total = known.circumstances.get("seconds", {}).get("total", 0.0)
                self.on_event(Event("ended", job.cell, known.status, total, known.reason))
                return
            if not mine:
                self._put_back(job)
                return
            self.store.write(record)
        total = record.circumstances["seconds"]["total"]
        self.on_event(Event("ended", job.cell, record.status, total, record.reason))

    def _look_again(self) -> None:
        """Take up again what other processes were at, once nothing else is left."""
        if not self.elsewhere or self.waiting or time.monotonic() - self.looked < _LOOK_AGAIN_S:
            return
        self.looked = time.monotonic()
        still = []
        for job in self.elsewhere:
            record = self.store.read(job.cell)
            if record is not None and written(record) != job.stale:
                self.on_event(Event("found", job.cell, record.status))
                continue
            with self.store.claim(job.cell) as mine:
                pass
            (self.waiting if mine else still).append(job)
        self.elsewhere = still
