"""Specs with methods that take no time, and worker processes that start at once."""

import shutil
import sys
from functools import partial
from pathlib import Path

import pytest

import compactlearn_bench
from compactlearn_bench import cells_of, parse_spec
from compactlearn_bench.methods import finding
from compactlearn_bench.records import Store

HELPERS = Path(__file__).parent / "helpers"


@pytest.fixture
def helpers(monkeypatch):
    """The folder of helper modules, importable by name."""
    monkeypatch.setattr(sys, "path", [str(HELPERS), *sys.path])
    yield HELPERS
    finding.own_entry.cache_clear()


@pytest.fixture
def run(helpers):
    """`compactlearn_bench.harness.run` with forked workers."""
    from forked import fork_worker

    return partial(compactlearn_bench.run, launcher=fork_worker)


@pytest.fixture
def spec(helpers):
    """A function that makes a spec of one of the plugged methods."""

    def make(method="method", *, methods=None, **keys):
        return parse_spec(
            {
                "name": "small",
                "datasets": ["emotions"],
                "methods": methods
                or [{"name": method, "estimator": f"plugged:{method}", "pause": 0.0}],
                "folds": 2,
                "metrics": ["average_precision", "micro_f1"],
            }
            | keys
        )

    return make


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


@pytest.fixture
def log(tmp_path, monkeypatch):
    """Called, it returns what was executed since the last call, sorted."""
    path, seen = tmp_path / "executions.log", [0]
    monkeypatch.setenv("PLUGGED_LOG", str(path))

    def read():
        lines = path.read_text().splitlines() if path.exists() else []
        new, seen[0] = lines[seen[0] :], len(lines)
        return sorted(line.partition(" ")[2] for line in new)

    return read


@pytest.fixture
def expected():
    """Lines of the log if every cell of a spec is executed once."""

    def ids(spec):
        return sorted(f"{cell.selection} {cell.method_seed}" for cell in cells_of(spec))

    return ids


@pytest.fixture
def plugin_folder(tmp_path):
    """A folder with the plugged methods in it, as if next to a spec."""
    folder = tmp_path / "plugins"
    folder.mkdir()
    shutil.copy(HELPERS / "plugged.py", folder)
    return folder
