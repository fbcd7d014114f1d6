"""Cells on this machine: a few long-lived processes, each given one cell after the other."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from multiprocessing.connection import wait
from typing import Any

from compactlearn_bench.harness.events import Event, OnEvent, RunError
from compactlearn_bench.harness.guard import POLL_S, Launch, Worker, launch
from compactlearn_bench.harness.job import Job
from compactlearn_bench.records import Record, Store
from compactlearn_bench.spec.reading import Budget

__all__ = ["Pool"]

_DYING_S = 2.0  # a process whose pipe is closed ends within this, and then we know how


class Pool:
    """Pool of worker processes, which runs jobs until each has a record.

    A record is written the moment its cell ends. `on_event` receives events, `launcher` starts a
    process.
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
        self.store, self.budget, self.launcher = store, budget, launcher
        self.on_event = on_event
        self.n_workers = workers
        self.workers: list[Worker] = []

    def run(self) -> None:
        """Work until nothing is left; whatever ends this, no process stays behind."""
        try:
            while self.waiting or any(w.job for w in self.workers):
                self._deal()
                self._listen()
                self._stop_what_is_over()
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
                job = self.waiting.popleft()
                worker.give(job)
                self.on_event(Event("started", job.cell))

    def _listen(self) -> None:
        by_pipe: dict[Any, Worker] = {worker.pipe: worker for worker in self.workers}
        for pipe in wait(list(by_pipe), timeout=POLL_S):
            worker = by_pipe[pipe]
            message = worker.hear()
            if message["event"] == "dead":
                self._dead(worker)
            elif message["event"] == "computed":
                worker.job = None
                self._record(Record.from_json(message["record"]))

    def _dead(self, worker: Worker) -> None:
        worker.stop(_DYING_S)
        if worker.job is None and not worker.ready:
            raise RunError(
                f"A worker process could not start. {worker.cause()} It said: "
                f"{worker.last_words().strip() or 'nothing'}"
            )
        self._retire(worker, None if worker.job is None else worker.obituary(worker.job.cell))

    def _stop_what_is_over(self) -> None:
        for worker in list(self.workers):
            record = worker.over(self.budget)
            if record is not None:
                worker.stop()
                self._retire(worker, record)

    def _retire(self, worker: Worker, record: Record | None) -> None:
        self.workers.remove(worker)
        worker.errors.close()
        if record is not None:
            self._record(record)

    def _record(self, record: Record) -> None:
        self.store.write(record)
        total = record.circumstances["seconds"]["total"]
        self.on_event(Event("ended", record.cell, record.status, total, record.reason))
