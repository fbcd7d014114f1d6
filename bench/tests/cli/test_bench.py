"""`compactlearn bench`: what it shows, its exit statuses, and its sentences."""

import errno
import functools
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from compactlearn.cli import main
from compactlearn_bench.cli import bench
from compactlearn_bench.methods import finding
from compactlearn_bench.records import Store
from tests.makers import heed_ctrl_c

HELPERS = Path(__file__).resolve().parents[1] / "harness" / "helpers"


@pytest.fixture(autouse=True)
def quick_workers(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(HELPERS), *sys.path])
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    from forked import fork_worker

    monkeypatch.setattr(bench, "run", functools.partial(bench.run, launcher=fork_worker))
    yield
    finding.own_entry.cache_clear()


@pytest.fixture
def write(tmp_path):
    def make(method="method", **keys):
        lines = {
            "name": '"small"',
            "folds": "2",
            "selections": '["paper"]',
            "datasets": '["emotions"]',
            "methods": f'[{{name = "M", estimator = "plugged:{method}", pause = 0.0}}]',
        } | keys
        path = tmp_path / "small.toml"
        path.write_text("".join(f"{key} = {value}\n" for key, value in lines.items()))
        return str(path)

    return make


def command(spec, tmp_path, *more):
    return main(["bench", spec, "--store", str(tmp_path / "store"), *more])


def test_it_prints_each_cell_and_its_result(write, tmp_path, capsys):
    assert command(write(), tmp_path) == 0
    out = capsys.readouterr().out
    assert re.search(r"^\[1/2\] emotions M paper fold 0: done in 0\.\d\d s$", out, re.MULTILINE)
    assert "2 cells computed, 0 found; in all 2 done." in out
    assert command(write(), tmp_path, "--workers", "3") == 0
    assert "0 cells computed, 2 found; in all 2 done." in capsys.readouterr().out


def test_a_dry_run_computes_and_writes_nothing(write, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["bench", write(), "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "2 cells (2 to do)" in out
    assert "0/2" in out
    assert not (tmp_path / "benchmark-records").exists()
    assert main(["bench", write()]) == 0
    assert len(list(Store(tmp_path / "benchmark-records" / "small").records())) == 2
    capsys.readouterr()
    assert main(["bench", write(), "--dry-run"]) == 0
    assert "2 cells (2 done)" in capsys.readouterr().out


def test_a_dry_run_knows_what_a_packed_file_would_bring(write, tmp_path, capsys, monkeypatch):
    pack, dry = str(tmp_path / "small.jsonl.xz"), ("--dry-run", "--pack")
    other = ["bench", write("failing"), "--store", str(tmp_path / "other"), "--pack", pack]
    assert main(other) == 1
    assert command(write("failing"), tmp_path) == 1
    monkeypatch.setenv("PLUGGED_WELL", "1")
    assert main([*other, "--retry-failed"]) == 0
    capsys.readouterr()
    for options, words in (((dry[0],), "(2 failed)"), ((*dry, pack), "(2 done)")):
        assert command(write("failing"), tmp_path, *options) == 0
        assert words in capsys.readouterr().out
    assert {record.status for record in Store(tmp_path / "store").records()} == {"failed"}
    Path(pack).write_bytes(b"no xz")
    assert command(write("failing"), tmp_path, *dry, pack) == 2
    assert pack in capsys.readouterr().err


def test_failed_cells_end_in_status_1_and_can_be_retried(write, tmp_path, capsys, monkeypatch):
    assert command(write("failing"), tmp_path) == 1
    output = capsys.readouterr()
    assert "failed in" in output.out
    assert "(ValueError: the matrix is blue)" in output.out
    assert "--retry-failed" in output.err
    assert output.err.count("\n") == 1
    monkeypatch.setenv("PLUGGED_WELL", "1")
    assert command(write("failing"), tmp_path) == 1
    assert command(write("failing"), tmp_path, "--retry-failed") == 0
    assert "in all 2 done" in capsys.readouterr().out


def test_a_packed_file_is_written_and_gone_on_from(write, tmp_path, capsys):
    pack = str(tmp_path / "small.jsonl.xz")
    assert command(write(), tmp_path, "--pack", pack) == 0
    first = Path(pack).read_bytes()
    assert main(["bench", write(), "--store", str(tmp_path / "other"), "--pack", pack]) == 0
    out = capsys.readouterr().out
    assert "2 records taken from" in out
    assert "0 cells computed, 2 found" in out
    assert Path(pack).read_bytes() == first


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"fold": "3"}, "Did you mean 'folds'?"),
        ({"methods": '["ORl"]'}, "Did you mean 'ORI'?"),
        ({"name": "small"}, "is not TOML"),
        ({"datasets": '["llog"]'}, "llog"),
    ],
)
def test_a_mistake_in_the_spec_is_one_sentence(write, tmp_path, keys, words, capsys):
    assert command(write(**keys), tmp_path, "--data-home", str(tmp_path)) == 2
    output = capsys.readouterr().err
    assert words in output
    assert re.fullmatch(r"compactlearn: [A-Z][^\n]*[.?]\n", output)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--workers", "0"], "--workers"),
        (["--store", "small.toml/store"], "Nothing can be written to small.toml/store"),
        (["--pack", "nowhere/x.xz"], "nowhere does not exist"),
        (["--pack", "small.toml"], "is not a whole packed file"),
        (["--pack", "."], "cannot be read (Is a directory)"),
    ],
)
def test_a_mistake_in_an_option_is_one_sentence(
    write, tmp_path, arguments, words, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert main(["bench", write(), "--store", "store", *arguments]) == 2
    output = capsys.readouterr().err
    assert words in output
    assert re.fullmatch(r"compactlearn: [A-Z][^\n]*[.?')]\n", output)


def test_a_full_disk_is_one_sentence_and_status_1(write, tmp_path, capsys, monkeypatch):
    def full(*_args):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)  # the forked workers inherit it
    assert command(write(), tmp_path) == 1
    output = capsys.readouterr().err
    assert re.fullmatch(
        r"compactlearn: Nothing can be written [^\n]*; make room there[^\n]*\n", output
    )
    assert os.listdir(tmp_path / "store" / "cells") == []
    monkeypatch.undo()


def test_names_are_shown_as_they_are(write, tmp_path, capsys):
    """Rich would read brackets as styles, or refuse them, and colons as pictures."""
    methods = '[{name = "M", as = "a[/b] [c] :fire:", estimator = "plugged:method"}]'
    folder = tmp_path / "[d]"
    assert main(["bench", write(methods=methods), "--store", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "emotions a[/b] [c] :fire: paper fold 0: done" in out
    assert f"records in {folder}" in out
    assert main(["bench", write(methods=methods), "--store", str(folder), "--dry-run"]) == 0
    assert "a[/b] [c] :fire:" in capsys.readouterr().out


@pytest.mark.slow
def test_ctrl_c_stops_cleanly(write, tmp_path, monkeypatch):
    """The real command, interrupted as a terminal does it."""
    methods = '[{name = "M", estimator = "plugged:method", pause = 0.2}]'
    log, words = tmp_path / "log", [sys.executable, "-m", "compactlearn", "bench"]
    process = subprocess.Popen(
        [*words, write(methods=methods, folds="100"), "--store", str(tmp_path / "store")],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PLUGGED_LOG": str(log)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heed_ctrl_c,
    )
    end = time.monotonic() + 60
    while time.monotonic() < end and (not log.exists() or log.read_text().count("\n") < 3):
        time.sleep(0.05)
    pid = int(log.read_text().split()[0])
    assert os.getpgid(pid) != process.pid  # a terminal interrupts the command, not its workers
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert re.fullmatch(
        r"compactlearn: Stopped; \d+ of 100 cells have a record. The same [^\n]*\n", err
    )
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    written = len(list(Store(tmp_path / "store").records()))
    assert 0 <= written - out.count("done in") <= 1  # one may end while the news is on its way
