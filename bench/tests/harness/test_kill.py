"""Killed at any moment, a benchmark loses at most what was under way, and is resumed from there."""

import os
import random
import shlex
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

from compactlearn_bench import cells_of, read_spec
from compactlearn_bench.records import Store

WORKERS = 2
KILLS = 50
SPEC = """
name = "killed"
folds = 5
workers = {workers}
metrics = ["average_precision"]
datasets = ["emotions", {{name = "enron", rows = 120}}]
methods = [{methods}]
"""
METHOD = '{{name = "m{number}", estimator = "plugged:method", pause = {pause}}}'


@pytest.fixture
def make_spec(plugin_folder, helpers):
    def make(n_methods, pause=0.01):
        methods = ", ".join(METHOD.format(number=n, pause=pause) for n in range(n_methods))
        path = plugin_folder / f"killed-{n_methods}.toml"
        path.write_text(SPEC.format(workers=WORKERS, methods=methods))
        return path

    return make


class Zygote:
    """Starts the command line without its start-up; see helpers/zygote.py."""

    def __init__(self, helpers):
        self.process = subprocess.Popen(
            [sys.executable, str(helpers / "zygote.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, *words):
        self.process.stdin.write(shlex.join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def run(self, log, spec, store):
        return self.ask("start", log, "bench", spec, "--store", store.folder)

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(10)


@pytest.fixture
def zygote(helpers):
    made = Zygote(helpers)
    yield made
    made.end()


def executed(log):
    """(process, what it ran) of every execution so far."""
    lines = log.read_text().splitlines() if log.exists() else []
    return [line.split(" ", 1) for line in lines]


def recorded(store, cells):
    """Return the cells with a whole record; a file that is none fails the test."""
    names = {cell.name: f"{cell.selection} {cell.method_seed}" for cell in cells}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return {names[record.cell.name] for record in store.records()}


def answers(store):
    return {record.cell.name: record.answer() for record in store.records()}


def ended(pids, within=5.0):
    """Whether processes end, which is not to say that they have been waited for."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        states = [Path(f"/proc/{pid}/stat") for pid in pids]
        texts = [path.read_text() if path.exists() else ") Z" for path in states]
        if all(text.rpartition(")")[2].split()[0] in "ZX" for text in texts):
            return True
        time.sleep(0.01)
    return False


@pytest.mark.slow
def test_sigkill_at_fifty_moments(make_spec, zygote, tmp_path):
    """The whole group or the parent alone, from the first milliseconds to the last cells."""
    spec, dice = make_spec(4), random.Random(0)
    cells, log = cells_of(read_spec(spec)), tmp_path / "executions.log"
    whole, started = Store(tmp_path / "whole"), time.monotonic()
    assert zygote.ask("wait", zygote.run(tmp_path / "whole.log", spec, whole)) == 0
    # A quarter of a whole run, however busy the machine is: shots before, at and between cells.
    longest = min(max((time.monotonic() - started) / 4, 0.3), 2.0)
    expected = answers(whole)
    assert len(expected) == len(cells) == 80

    kills, completed, in_the_middle = 0, 0, 0
    while kills < KILLS:
        store, log = Store(tmp_path / f"store-{completed}"), tmp_path / f"{completed}.log"
        while True:
            before, seen = recorded(store, cells), len(executed(log))
            last = kills >= KILLS or len(before) > 70
            pid = zygote.run(log, spec, store)
            if last:
                assert zygote.ask("wait", pid) == 0, Path(f"{log}.out").read_text()
            else:
                time.sleep(dice.uniform(0.0, longest))
                (os.killpg if kills % 2 else os.kill)(pid, signal.SIGKILL)
                if zygote.ask("wait", pid) == 0:
                    last = True  # it was faster than the shot
                else:
                    kills += 1
            # Workers whose parent is dead may get to the beginning of a cell before they notice.
            assert zygote.ask("settle") == 0
            ran = [what for _, what in executed(log)[seen:]]
            after = recorded(store, cells)
            assert not before & set(ran), "a cell with a record was run again"
            assert len(ran) == len(set(ran))
            assert len(set(ran) - after) <= WORKERS, "more was lost than was under way"
            in_the_middle += bool(ran) and not last
            if last:
                break
        assert answers(store) == expected
        assert not store.quarantine.exists()
        completed += 1
    assert in_the_middle > KILLS / 4  # else the shots fell too early to say anything


@pytest.mark.parametrize("real", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_worker_ends_with_its_parent_in_the_middle_of_a_cell(
    plugin_folder, zygote, tmp_path, monkeypatch, real
):
    spec, store, log = (
        plugin_folder / "slow.toml",
        Store(tmp_path / "store"),
        tmp_path / "executions.log",
    )
    spec.write_text(
        'name = "slow"\ndatasets = ["emotions"]\n'
        'methods = [{name = "slow", estimator = "plugged:slow"}]\n'
    )
    monkeypatch.setenv("PLUGGED_LOG", str(log))
    words = ["bench", str(spec), "--store", str(store.folder)]
    if real:
        process = subprocess.Popen([sys.executable, "-m", "compactlearn", *words])
        pid = process.pid
    else:
        pid = zygote.run(log, spec, store)
    end = time.monotonic() + 60
    while not executed(log) and time.monotonic() < end:
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    if real:
        process.wait()
    else:
        zygote.ask("wait", pid)
    assert ended([worker for worker, _ in executed(log)])
    assert len(executed(log)) == 1
    assert list(store.records()) == []
