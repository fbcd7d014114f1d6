"""One cell: its rows, its method, its record. Nothing here knows of processes or files."""

from __future__ import annotations

import copy
import json
import os
import random
import re
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir, contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import config_context
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

from compactlearn.utils import NotInstalled
from compactlearn_bench.harness.host import (
    accelerator,
    forget_peak,
    host,
    now,
    peak_bytes,
    versions,
)
from compactlearn_bench.harness.job import Job
from compactlearn_bench.methods.entry import Answer, Entry, Task
from compactlearn_bench.methods.finding import entry_of
from compactlearn_bench.methods.rows import drawn, kept_labels, scaled, with_empty_rows
from compactlearn_bench.records import Cell, Record, Status
from compactlearn_bench.spec.datasets import OwnFile, load_data

__all__ = ["answer_of", "execute", "fold_rows", "task_of", "unanswered"]

_WARNINGS = 5  # how many different ones a record keeps


def execute(job: Job, begun: Callable[[], None] = lambda: None) -> Record:
    """The record of a cell, whatever happens.

    `begun` is called when the data are loaded and the method is known, just before it starts.
    """
    cell, started = job.cell, time.perf_counter()
    said: list[warnings.WarningMessage] = []
    try:
        task = task_of(cell, job.data_home, job.file, job.device)
        entry = entry_of(cell.method, cell.settings, Path(job.folder) if job.folder else None)
        begun()
        forget_peak()
        started = time.perf_counter()
        with _alone(cell.method_seed) as said:
            answer = answer_of(entry, task)
    except MemoryError as error:
        reason = f"There was not enough memory: {error}" if str(error) else "Memory ran out."
        return unanswered(cell, "memory", reason, started, peak_bytes())
    except NotInstalled as error:
        return unanswered(cell, "absent", str(error), started, peak_bytes())
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        return unanswered(cell, "failed", reason, started, peak_bytes(), _trace(error))
    seconds = {"fit": answer.fit_seconds, "predict": answer.predict_seconds}
    if answer.search_seconds is not None:
        seconds = {"search": answer.search_seconds, **seconds}
    circumstances = _circumstances(started, peak_bytes(), seconds) | _distinct(said)
    if answer.model_bytes is not None:
        circumstances["model_bytes"] = answer.model_bytes
    return Record(
        cell,
        "done",
        metrics=list(task.metrics),
        configurations=list(answer.configurations),
        values=answer.values,
        sizes=list(answer.sizes),
        details=answer.details,
        versions=versions(),
        circumstances=circumstances,
    )


def unanswered(
    cell: Cell,
    status: Status,
    reason: str,
    started: float,
    memory: int,
    details: Mapping[str, Any] | None = None,
) -> Record:
    """The record of a cell that came to no answer."""
    return Record(
        cell,
        status,
        reason,
        details=details or {},
        versions=versions(),
        circumstances=_circumstances(started, memory),
    )


def fold_rows(
    cell: Cell, n_rows: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Rows of the data set that are used; among these, training and test rows of the fold.

    All of them depend on the cell's `split_seed` alone, so every method and selection of a data
    set has the same.
    """
    if cell.rows is not None and cell.rows > n_rows:
        raise ValueError(
            f"The data set {cell.dataset} has {n_rows} rows, and {cell.rows} were asked for; use "
            "at most as many as there are."
        )
    used = np.arange(n_rows)
    if cell.rows is not None and cell.rows < n_rows:
        drawn = np.random.RandomState(cell.split_seed).permutation(n_rows)
        used = np.sort(drawn[: cell.rows])
    cut = KFold(cell.n_folds, shuffle=True, random_state=cell.split_seed)
    train, test = list(cut.split(np.empty((len(used), 1))))[cell.fold]
    return used, train, test


# One set: the cells come set by set, and two large ones might not fit.
@lru_cache(maxsize=1)
def _loaded(
    name: str, data_home: str | None, file: OwnFile | None, content: str | None
) -> tuple[Any, sparse.csr_array, Any]:
    data = load_data(name, data_home, file, content)
    X = data.X.tocsr() if sparse.issparse(data.X) else data.X
    return X, sparse.csr_array(data.Y), data.label_names


def task_of(
    cell: Cell,
    data_home: str | None = None,
    file: OwnFile | None = None,
    device: str | None = None,
) -> Task:
    """The rows of a cell's fold, and what is asked about them; the parameters are a `Job`'s."""
    X, Y, names = _loaded(cell.dataset, data_home, file, cell.settings.get("data_sha256"))
    labels = kept_labels(names, cell.settings.get("left_out_labels"), cell.dataset)
    Y = Y if labels is None else Y[:, labels]
    used, train, test = fold_rows(cell, X.shape[0])
    train, test = used[train], used[test]
    train = drawn(train, cell.settings.get("train_rows"), cell.split_seed)
    rows, new_rows = scaled(X[train], X[test], cell.settings.get("scaling"))
    return Task(
        rows,
        Y[train],
        new_rows,
        Y[test],
        tuple(cell.settings["metrics"]),
        cell.selection,
        copy.deepcopy(dict(cell.settings)),  # the cell must stay what it is, whatever an entry does
        cell.method_seed,
        cell.inner_seed,
        device,
    )


def answer_of(entry: Entry, task: Task) -> Answer:
    """Return the answer of an entry to a task, checked for what a record can store."""
    return _with_empty_rows(_checked(entry.answer(task), task), task)


@contextmanager
def _alone(seed: int) -> Iterator[list[warnings.WarningMessage]]:
    """One thread, generators set by the cell, warnings kept: nothing of earlier cells is felt.

    All of this is the whole process's. It is the worker's, which computes one cell at a time, and
    what a method says in threads of its own is to be kept too.
    """
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002, some methods draw from NumPy's common generator
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(seed)
    # What a method changes for the whole process, its folder for instance, is put back.
    with (
        chdir(os.curdir),
        np.errstate(),
        config_context(),
        threadpool_limits(1),
        warnings.catch_warnings(record=True) as said,
    ):
        warnings.simplefilter("always")
        yield said


def _checked(answer: Answer, task: Task) -> Answer:
    """The answer, if a record can hold it."""
    if not isinstance(answer, Answer) or not isinstance(answer.details, Mapping):
        raise TypeError(
            "An entry must return an Answer, whose details are a table if it has any; got "
            f"{answer!r:.200}. Correct the entry."
        )
    _check_counts(answer, task)
    values = np.asarray(answer.values, dtype=np.float64)
    if np.isinf(values).any():
        raise ValueError(
            "The values of an answer must be finite, or NaN where a metric is not defined; some "
            "are infinite. Correct the entry."
        )
    try:
        json.dumps([dict(one) for one in answer.configurations], allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(
            "The configurations of an answer must be tables of finite numbers, texts, true or "
            f"false, and lists of these ({error}); got {answer.configurations[0]!r:.200} first. "
            "Correct the entry."
        ) from error
    return replace(answer, values=values, sizes=[int(size) for size in answer.sizes])


def _with_empty_rows(answer: Answer, task: Task) -> Answer:
    """The answer, with the test rows that have no labels counted where the cell asks for that."""
    if task.settings.get("empty_rows") != "counted":
        return answer
    share = float(np.mean(np.diff(task.Y_test.indptr) == 0))
    return replace(answer, values=with_empty_rows(answer.values, task.metrics, share))


def _check_counts(answer: Answer, task: Task) -> None:
    n_configurations = len(answer.configurations)
    if not n_configurations or (task.selection == "nested" and n_configurations > 1):
        raise ValueError(
            "An answer must have at least one configuration, and for the selection 'nested' the "
            f"chosen one alone; got {n_configurations} for {task.selection!r}. Correct the entry."
        )
    shape, wanted = np.shape(answer.values), (n_configurations, len(task.metrics))
    if shape != wanted or len(answer.sizes) not in (0, wanted[0]):
        raise ValueError(
            "An answer must have a row of values for each configuration and a column for each "
            f"metric, {wanted} in all, and a size for each configuration or none; got {shape} and "
            f"{len(answer.sizes)} sizes. Correct the entry."
        )


def _circumstances(
    started: float, memory: int, seconds: Mapping[str, float] | None = None
) -> dict[str, Any]:
    total = time.perf_counter() - started
    return {
        "seconds": {**(seconds or {}), "total": total},
        "memory": memory,
        "host": host() | accelerator(),
        "written": now(),
    }


def _distinct(said: list[warnings.WarningMessage]) -> dict[str, Any]:
    texts = list(dict.fromkeys(f"{item.category.__name__}: {item.message}" for item in said))
    return {"warnings": texts[:_WARNINGS]} if texts else {}


def _trace(error: Exception) -> dict[str, str]:
    """The traceback, with files by their last two names: where they lie is nobody's business."""
    text = "".join(traceback.format_exception(error))
    return {"traceback": re.sub(r'File "(?:[^"]*/)?([^"/]+/[^"/]+)"', r'File "\1"', text)}
