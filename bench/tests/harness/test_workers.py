"""Workers that misbehave, and what the parent makes of cells whose worker is gone."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from compactlearn_bench.harness.guard import Worker
from compactlearn_bench.harness.host import _resident_elsewhere, resident_bytes
from compactlearn_bench.harness.job import Job
from compactlearn_bench.records import Cell


def gone(pid):
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] in "ZX"


def eventually(true, within=10.0):
    end = time.monotonic() + within
    while not true() and time.monotonic() < end:
        time.sleep(0.01)
    return true()


def test_what_a_cell_has_started_ends_with_it(run, spec, store, tmp_path, monkeypatch):
    children = tmp_path / "children"
    monkeypatch.setenv("PLUGGED_FILE", str(children))
    asked = spec("forking", selections=["paper"], budget={"seconds": 0.3})
    started = time.monotonic()
    assert run(asked, store).statuses == {"timeout": 2}
    assert time.monotonic() - started < 20
    pids = children.read_text().split()
    assert len(pids) == 2
    assert eventually(lambda: all(map(gone, pids)))


def test_what_a_cell_has_started_ends_when_the_command_does(helpers, tmp_path, monkeypatch):
    from forked import fork_worker

    children = tmp_path / "children"
    monkeypatch.setenv("PLUGGED_FILE", str(children))
    settings = {"estimator": "plugged:forking", "metrics": ["one_error"], "pause": 0.0}
    worker = Worker(fork_worker)
    try:
        worker.give(Job(Cell("emotions", "forking", "paper", 0, settings=settings)))
        assert eventually(lambda: children.exists() and children.read_text().endswith("\n"))
        worker.process.stdin.close()  # as the end of the command does
        assert eventually(lambda: gone(children.read_text().strip()))
    finally:
        worker.stop()
        worker.errors.close()


def test_the_last_words_of_a_process_are_those_of_its_last_cell(
    run, spec, store, tmp_path, monkeypatch
):
    monkeypatch.setenv("PLUGGED_FILE", str(tmp_path / "mark"))
    summary = run(spec("crying", selections=["paper"]), store, workers=1)
    assert summary.statuses == {"done": 1, "failed": 1}
    (record,) = (r for r in store.records() if r.status == "failed")
    assert record.reason == "The process that computed it ended by itself, with status 3."
    assert record.details["output"] == "farewell\n"
    assert set(record.versions) >= {"python", "numpy"}


@pytest.mark.parametrize("workers", [0, -1, True, 1.5])
def test_a_number_of_workers_that_is_none_is_refused(run, spec, store, workers):
    with pytest.raises(ValueError, match=r"workers must be an integer >= 1; got .*Leave it out"):
        run(spec(), store, workers=workers)
    assert not store.folder.exists()


def test_a_worker_has_one_thread_a_group_of_its_own_and_a_fixed_order_of_sets():
    made = Worker()
    try:
        # Popen returns when exec has closed its pipe, a moment before the kernel shows the new
        # process's environment: until then the file is empty.
        file = Path(f"/proc/{made.process.pid}/environ")
        assert eventually(file.read_bytes)
        environment = dict(line.partition("=")[::2] for line in file.read_text().split("\0"))
        assert environment["OMP_NUM_THREADS"] == environment["OPENBLAS_NUM_THREADS"] == "1"
        assert environment["PYTHONHASHSEED"] == "0"
        assert os.getpgid(made.process.pid) == made.process.pid
    finally:
        made.stop()
        made.errors.close()


FAMILY = """
import os, sys, time
memory = b"1" * (50 << 20)
for _ in range(3):
    if not os.fork():
        if sys.argv[1] == "own":
            memory = b"2" * (50 << 20)
            if not os.fork():
                memory = b"3" * (50 << 20)
        break
os.write(1, b".")
time.sleep(60)
"""


@pytest.mark.skipif(
    not Path("/proc/self/smaps_rollup").exists(), reason="only Linux says what is shared"
)
@pytest.mark.parametrize(
    ("kind", "processes", "low", "high"), [("shared", 4, 50, 90), ("own", 7, 350, 450)]
)
def test_memory_of_a_process_is_that_of_its_family_with_shared_pages_once(
    kind, processes, low, high
):
    with subprocess.Popen(
        [sys.executable, "-c", FAMILY, kind], stdout=subprocess.PIPE, process_group=0
    ) as process:
        try:
            assert process.stdout.read(processes) == b"." * processes
            assert low << 20 < resident_bytes(process.pid) < high << 20
            if kind == "own":  # by the route of systems without /proc, which shares nothing out
                assert low << 20 < _resident_elsewhere(process.pid) < high << 20
        finally:
            os.killpg(process.pid, signal.SIGKILL)
    assert resident_bytes(process.pid) == _resident_elsewhere(process.pid) == 0
