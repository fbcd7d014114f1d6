"""The wheel in a new environment: the command is there, and fits, predicts, evaluates, explains."""

import csv
import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from tests.cli.notes import NOTES

ROOT = Path(__file__).resolve().parents[2]
NO_NETWORK = re.compile(r"No matching distribution|ConnectionError|name resolution|Connection")


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    """The installed command, in an environment that sees the packages of this one but not ours."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    built = subprocess.run(
        [*pip, "wheel", "--no-deps", "--wheel-dir", str(folder), str(ROOT), str(ROOT / "bench")],
        capture_output=True,
        text=True,
        check=False,
    )
    if built.returncode and NO_NETWORK.search(built.stderr):
        pytest.skip("wheels are built by hatchling, which no package index could be asked for")
    assert built.returncode == 0, built.stderr
    (wheel,), (bench,) = folder.glob("compactlearn-*.whl"), folder.glob("compactlearn_bench-*.whl")
    home = folder / "environment"
    venv.create(home, with_pip=False, symlinks=True)
    python = home / "bin" / "python"
    subprocess.run(
        [
            *pip,
            "--python",
            str(python),
            "install",
            "--no-deps",
            "--no-index",
            str(wheel),
            str(bench),
        ],
        capture_output=True,
        check=True,
    )
    (own,) = home.glob("lib/python*/site-packages")
    # A path that a .pth file adds is searched last, and its own .pth files, such as that of an
    # editable install, are not followed.
    (own / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return home / "bin" / "compactlearn"


@pytest.mark.slow
def test_the_installed_command_goes_all_the_way(command, tmp_path):
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}

    def run(*words):
        done = subprocess.run(
            [str(command), *words],
            cwd=tmp_path,
            env=kept | {"COMPACTLEARN_DATA": str(tmp_path), "COLUMNS": "100"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    told = json.loads(run("doctor", "--json"))
    assert told["environment"] == str(command.parents[1])
    with (tmp_path / "notes.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["text", "tags"], *((x, ";".join(t)) for x, t in NOTES)])
    run("fit", "notes.csv", "--text", "text", "--tags", "tags", "-o", "n.model", "--method", "cmll")
    run("predict", "n.model", "notes.csv", "--topk", "2", "--output", "found.jsonl")
    found = [json.loads(line) for line in (tmp_path / "found.jsonl").read_text().splitlines()]
    best = [row["labels"][0]["name"] for row in found]
    assert sum(name in tags for name, (_, tags) in zip(best, NOTES, strict=True)) >= 7
    figures = json.loads(run("evaluate", "n.model", "notes.csv", "--json"))["metrics"]
    assert figures["average_precision"] > 0.9
    assert "row 0, " in run("explain", "n.model", "notes.csv", "--rows", "0")
    # enron lies inside the package and needs no network.
    run("fit", "enron", "-o", "e.model", "--method", "cmll")
    told = json.loads(run("evaluate", "e.model", "enron", "--json"))
    assert told["metrics"]["micro_f1"] > 0.6
    # The workshop is a wheel of its own, whose commands are found by their entry points.
    records = ROOT / "bench" / "related" / "records.jsonl.xz"
    assert run("report", str(records), "-o", "page.html") == "page.html\n"
    assert "SPEC" in run("bench", "--help")
