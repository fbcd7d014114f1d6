"""Run a benchmark: whatever has no record yet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from compactlearn.datasets import fetch, is_available
from compactlearn.utils import Integer, require
from compactlearn_bench.harness.events import Event, OnEvent, Summary, Tally
from compactlearn_bench.harness.guard import Launch, launch
from compactlearn_bench.harness.job import Job
from compactlearn_bench.harness.pool import Pool
from compactlearn_bench.records import Cell, Store
from compactlearn_bench.spec.cells import cells_of
from compactlearn_bench.spec.reading import Spec, SpecError

__all__ = ["run"]


def run(
    spec: Spec,
    store: Store,
    *,
    workers: int | None = None,
    retry_failed: bool = False,
    on_event: OnEvent | None = None,
    data_home: Path | None = None,
    device: str | None = None,
    launcher: Launch = launch,
) -> Summary:
    """Compute every cell of a benchmark that has no record, and record it.

    It may be stopped at any moment, by whatever means, and called again: cells that have a
    record are not computed again.

    Parameters
    ----------
    spec : Spec
    store : Store
    workers : int, optional
        How many processes; by default what the spec says. The scores do not depend on it.
    retry_failed : bool
        Also compute again what failed or went over its budget in an earlier run.
    on_event : callable, optional
        Receives each `Event`.
    data_home : path, optional
        The folder of the data sets.
    device : str, optional
        Where PyTorch solves the grids of the library's own methods for the selection "paper",
        "cuda" for instance; by default NumPy does so on the CPU. The scores are the same but for
        rounding.
    launcher : callable
        Starts a worker process.

    Returns
    -------
    Summary

    Raises
    ------
    SpecError
        If a method or its settings are wrong, there is no such device, or a data set is not here
        and cannot be fetched.
    StoreError
        If a record cannot be written, or another run is at the same store.
    RunError
        If a worker process cannot start.
    """
    if workers is not None and not Integer(1).accepts(workers):
        raise ValueError(
            f"The number of workers must be {Integer(1).describe()}; got {workers!r}. Leave it out "
            "to have as many as the spec says."
        )
    if device is not None:
        _try(device)
    cells, tally = cells_of(spec), Tally(on_event)
    with store.locked():
        jobs = _jobs(cells, spec, store, retry_failed, data_home, tally)
        jobs = [replace(job, device=device) for job in jobs]
        _fetch({job.cell.dataset: None for job in jobs if job.file is None}, data_home)
        Pool(jobs, store, spec.budget, workers or spec.workers, tally, launcher).run()
    return tally.summary()


def _jobs(
    cells: Iterable[Cell],
    spec: Spec,
    store: Store,
    retry_failed: bool,
    data_home: Path | None,
    tally: Tally,
) -> list[Job]:
    home = None if data_home is None else str(data_home.resolve())
    folder = None if spec.folder is None else str(spec.folder)
    files = {data.name: data.file for data in spec.datasets}
    jobs = []
    for cell in cells:
        record = store.read(cell)
        if record is not None and (record.status == "done" or not retry_failed):
            tally(Event("found", cell, record.status))
        else:
            jobs.append(Job(cell, home, folder, files[cell.dataset]))
    return jobs


def _try(device: str) -> None:
    """Refuse a device that is not there before any cell is begun."""
    torch = require("torch", extra="deep", purpose="computing on a device")
    try:
        place = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise SpecError(
            f"device must be what PyTorch calls one, such as 'cuda' or 'cpu'; got {device!r}."
        ) from error
    if place.type == "cuda" and not torch.cuda.is_available():
        raise SpecError(
            f"device={device!r} was asked for, but PyTorch finds no CUDA device here; use 'cpu', "
            "or leave the device out."
        )


def _fetch(names: Iterable[str], data_home: Path | None) -> None:
    """Have the data here before the processes ask for them all at once."""
    for name in names:
        if not is_available(name, data_home):
            try:
                fetch(name, data_home)
            except (ValueError, OSError) as error:
                raise SpecError(str(error)) from error
