"""The wheels in a new environment: the command is there, with its data and with the workshop's."""

import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NO_NETWORK = re.compile(r"No matching distribution|ConnectionError|name resolution|Connection")


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    """The installed command, in an environment that sees the packages of this one but not ours."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    build = [*pip, "wheel", "--no-deps", "--wheel-dir", str(folder), str(ROOT), str(ROOT / "bench")]
    built = subprocess.run(build, capture_output=True, text=True, check=False)
    if built.returncode and NO_NETWORK.search(built.stderr):
        pytest.skip("wheels are built by hatchling, which no package index could be asked for")
    assert built.returncode == 0, built.stderr
    home = folder / "environment"
    venv.create(home, with_pip=False, symlinks=True)
    install = [*pip, "--python", str(home / "bin" / "python"), "install", "--no-deps", "--no-index"]
    wheels = [str(path) for path in folder.glob("*.whl")]
    subprocess.run([*install, *wheels], capture_output=True, check=True)
    (own,) = home.glob("lib/python*/site-packages")
    # A path that a .pth file adds is searched last, and its own .pth files, such as that of an
    # editable install, are not followed.
    (own / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return home / "bin" / "compactlearn"


@pytest.mark.slow
def test_the_installed_command(command, tmp_path):
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}

    def run(*words):
        done = subprocess.run(
            [str(command), *words],
            cwd=tmp_path,
            env=kept,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    record = json.loads(run("doctor", "--json"))
    assert record["environment"] == str(command.parents[1])
    # enron lies inside the package and needs no network.
    run("fit", "enron", "-o", "e.model", "--method", "cmll")
    record = json.loads(run("evaluate", "e.model", "enron", "--json"))
    assert record["metrics"]["micro_f1"] > 0.6
    # The workshop is a wheel of its own, whose commands are found by their entry points.
    records = ROOT / "bench" / "auto" / "records.jsonl.xz"
    assert run("report", str(records), "-o", "page.html") == "page.html\n"
    assert "SPEC" in run("bench", "--help")
