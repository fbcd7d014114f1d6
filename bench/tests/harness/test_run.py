"""Running a benchmark: each cell once, whatever happens to it, and the same scores always."""

import errno
import os
import subprocess
import sys
import tempfile
import time
from multiprocessing import Pipe
from pathlib import Path

import numpy as np
import pytest

import compactlearn_bench
from compactlearn_bench import SpecError
from compactlearn_bench.harness.execute import fold_rows
from compactlearn_bench.records import Cell, Store, StoreError
from compactlearn_bench.report import render_html, to_csv


def answers(store):
    return {record.cell.name: record.answer() for record in store.records()}


def single(spec, method, **keys):
    return spec(method, selections=["paper"], datasets=["emotions"], **keys)


def test_each_cell_is_run_once_and_recorded(run, spec, store, log, expected):
    asked = spec()
    summary = run(asked, store, workers=2)
    assert (summary.computed, summary.found, summary.statuses) == (4, 0, {"done": 4})
    assert log() == expected(asked)
    nested, *_, record = store.records()
    assert record.metrics == ["average_precision", "micro_f1"]
    assert (record.cell.selection, record.values.shape) == ("paper", (2, 2))
    assert (nested.cell.selection, nested.values.shape) == ("nested", (1, 2))
    assert list(record.sizes) == [1, 2]
    assert record.cell.settings["estimator"] == "plugged:method"
    assert set(record.circumstances) == {"seconds", "memory", "host", "written"}
    assert set(record.circumstances["seconds"]) == {"fit", "predict", "total"}
    assert set(record.circumstances["host"]) == {"cpu", "cores", "system"}
    assert record.circumstances["memory"] > 2**20
    assert {"python", "numpy", "scipy", "scikit-learn", "compactlearn"} <= set(record.versions)


def test_only_what_changed_is_run(run, spec, store, log):
    run(spec(), store)
    log()
    assert run(spec(folds=2, selections=["paper"]), store).computed == 0
    assert run(spec(inner_folds=3), store).computed == 2  # it matters to "nested" alone
    assert run(spec(seed=1), store).computed == 4
    assert len(log()) == 6


def test_two_runs_give_the_same_tables_to_the_byte(run, spec, tmp_path):
    """The library's own methods, in both selections, for any number of workers."""
    grid = {
        "betas": [0.1, 1.0],
        "label_ratios": [0.5, 1.0],
        "feature_ratios": [0.5],
        "alphas": [1.0],
    }
    methods = [{"name": name, **grid} for name in ("ORI", "CMLL_y", "CMLL", "k-CMLL", "Random P")]
    asked = spec(methods=[*methods, {"name": "POP"}])
    pages = []
    for workers in (1, 2):
        store = Store(tmp_path / str(workers))
        summary = run(asked, store, workers=workers)
        assert summary.statuses == {"done": 24}
        records = list(store.records())
        pages.append((to_csv(records, times=False), render_html(records, times=False)))
    assert pages[0] == pages[1]


def test_a_real_worker_gives_the_scores_of_a_forked_one(run, spec, store, tmp_path):
    methods = [
        {"name": "method", "estimator": "plugged:method"},
        {"name": "loud", "estimator": "plugged:loud"},  # what it prints must not get in the way
        {"name": "ridge", "estimator": "plugged:ridge"},
    ]
    assert run(spec(methods=methods), store).statuses == {"done": 12}
    other = Store(tmp_path / "other")
    compactlearn_bench.run(spec(methods=methods), other)
    assert answers(store) == answers(other)


def test_a_failed_cell_is_recorded_and_not_retried_unless_asked(run, spec, store, log, monkeypatch):
    asked = single(spec, "failing")
    assert run(asked, store).statuses == {"failed": 2}
    record = next(store.records())
    assert record.reason == "ValueError: the matrix is blue"
    assert "misbehave" in record.details["traceback"]
    assert 'File "helpers/plugged.py"' in record.details["traceback"]
    assert len(log()) == 2
    assert run(asked, store).found == 2
    assert log() == []
    assert run(asked, store, retry_failed=True).statuses == {"failed": 2}
    assert len(log()) == 2
    monkeypatch.setenv("PLUGGED_WELL", "1")
    assert run(asked, store, retry_failed=True).statuses == {"done": 2}
    assert run(asked, store, retry_failed=True).computed == 0


@pytest.mark.parametrize(
    ("method", "budget", "status", "reason"),
    [
        ("slow", {"seconds": 0.4}, "timeout", "It took longer than its budget of 0.4 seconds."),
        ("greedy", {"memory": 300 * 2**20}, "memory", "It used more memory than its budget of "),
        ("exhausted", {}, "memory", "not enough memory: ten terabytes were asked for"),
        ("dying", {}, "failed", "ended by the signal SIGKILL"),
        ("misshapen", {}, "failed", "a column for each metric"),
    ],
)
def test_what_comes_to_no_answer_is_recorded(run, spec, store, method, budget, status, reason):
    events = []
    if "memory" in budget:  # beyond what a forked process has from the tests before
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        budget = {"memory": budget["memory"] + pages * os.sysconf("SC_PAGE_SIZE")}
    asked = spec(
        methods=[
            {"name": "bad", "estimator": f"plugged:{method}"},
            {"name": "good", "estimator": "plugged:method"},
        ],
        selections=["paper"],
        budget=budget,
    )
    started = time.monotonic()
    summary = run(asked, store, workers=1, on_event=events.append)
    assert time.monotonic() - started < 20
    assert summary.statuses == {status: 2, "done": 2}
    for record in store.records():
        if record.cell.method == "bad":
            assert record.status == status
            assert reason in record.reason
            assert record.circumstances["seconds"]["total"] < 10
    assert [event.kind for event in events].count("ended") == 4
    assert run(asked, store).computed == 0


def test_memory_of_processes_that_a_method_starts_counts(spec, store):
    """In a fresh process: a forked one has what the tests before it left."""
    asked = spec(
        methods=[
            {"name": "bad", "estimator": "plugged:delegating"},
            {"name": "good", "estimator": "plugged:method"},
        ],
        selections=["paper"],
        budget={"memory": 600 * 2**20},
    )
    summary = compactlearn_bench.run(asked, store, workers=1)
    assert summary.statuses == {"memory": 2, "done": 2}
    for record in store.records():
        assert (record.status == "memory") == (record.cell.method == "bad")


def test_a_data_set_that_is_not_here_is_said_before_anything_runs(run, spec, store, tmp_path):
    with pytest.raises(SpecError, match="llog"):
        run(spec(datasets=["emotions", "llog"]), store, data_home=tmp_path, workers=1)
    assert list(store.records()) == []


@pytest.mark.parametrize("rows", [None, 100])
def test_folds_divide_the_rows_and_are_the_same_for_all(rows):
    first = Cell("enron", "ORI", "paper", 0, 3, rows=rows)
    tested = []
    for fold in range(3):
        cell = Cell("enron", "CMLL", "nested", fold, 3, rows=rows, settings={"alpha": 1})
        used, train, test = fold_rows(cell, 150)
        np.testing.assert_array_equal(used, fold_rows(first, 150)[0])
        assert len(used) == (rows or 150)
        assert sorted([*train, *test]) == list(range(len(used)))
        tested += list(test)
    assert sorted(tested) == list(range(rows or 150))
    np.testing.assert_array_equal(
        fold_rows(first, 150)[2],
        fold_rows(Cell("enron", "CMLL", "nested", 0, 3, rows=rows), 150)[2],
    )


def test_an_interruption_leaves_no_process_and_can_go_on(run, spec, store, log, expected):
    asked = spec(folds=10, methods=[{"name": "m", "estimator": "plugged:method", "pause": 0.05}])
    pids, seen = [], []

    def on_event(event):
        seen.append(event.kind)
        if seen.count("ended") == 5:
            raise KeyboardInterrupt

    from forked import fork_worker

    def launcher():
        started = fork_worker()
        pids.append(started[0].pid)
        return started

    with pytest.raises(KeyboardInterrupt):
        compactlearn_bench.run(asked, store, workers=2, on_event=on_event, launcher=launcher)
    assert len(pids) == 2
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert 5 <= len(list(store.records())) <= 6
    before = log()
    run(asked, store, workers=2)
    again = log()
    assert len(before) + len(again) <= 20 + 2
    assert set(before) | set(again) == set(expected(asked))


def test_a_disk_that_fills_up_stops_the_run(run, spec, store, monkeypatch):
    asked = spec(folds=10)

    def full(*_args):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)  # inherited by the forked workers
    with pytest.raises(StoreError, match="No space left on device") as raised:
        run(asked, store)
    assert raised.value.errno == errno.ENOSPC
    assert os.listdir(store.cells) == []
    monkeypatch.undo()


def test_a_worker_that_cannot_start_says_why(spec, store):
    def launcher():
        ours, theirs = Pipe()
        errors = tempfile.TemporaryFile()  # noqa: SIM115, the pool closes it
        code = "import sys; sys.exit('no such planet')"
        process = subprocess.Popen([sys.executable, "-c", code], stdout=errors, stderr=errors)
        theirs.close()
        return process, ours, errors

    with pytest.raises(RuntimeError, match=r"could not start.*status 1.*no such planet"):
        compactlearn_bench.run(spec(), store, launcher=launcher)


def test_a_device_that_is_not_there_is_refused_before_anything(spec, store, log):
    with pytest.raises(SpecError, match="what PyTorch calls one"):
        compactlearn_bench.run(spec(), store, device="nowhere")
    assert log() == []
    assert not store.folder.exists()


def test_workers_receive_the_device(run, spec, store):
    run(single(spec, "placed"), store, device="cpu")
    assert {record.details["device"] for record in store.records()} == {"cpu"}
