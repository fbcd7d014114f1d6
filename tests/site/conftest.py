"""The documentation site, built once for all tests about it."""

import fcntl
import importlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


@dataclass(frozen=True)
class Site:
    folder: Path
    status: int
    said: str

    def text(self, page):
        return (self.folder / page).read_text(encoding="utf-8")

    @property
    def pages(self):
        return sorted(self.folder.rglob("*.html"))


def build(folder):
    """Build the site as `make docs` does, into a folder of the tests."""
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
    command += ["-d", str(folder / "doctrees"), str(DOCS), str(folder / "site")]
    path = os.pathsep.join([str(DOCS.parent / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        command, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True
    )
    return {"status": done.returncode, "said": done.stdout + done.stderr}


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """Whichever test process comes first builds it, and the others wait."""
    pytest.importorskip("myst_parser", reason="the site is built with the extra docs")
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    folder = base / "documentation"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        outcome = folder / "outcome.json"
        if not outcome.exists():
            outcome.write_text(json.dumps(build(folder)), encoding="utf-8")
    return Site(folder / "site", **json.loads(outcome.read_text(encoding="utf-8")))


@pytest.fixture(scope="session")
def extension():
    """A module of docs/site by its name, as Sphinx would import it."""
    pytest.importorskip("myst_parser", reason="the site is built with the extra docs")

    def find(name):
        sys.path.insert(0, str(DOCS / "site"))
        try:
            return importlib.import_module(name)
        finally:
            sys.path.remove(str(DOCS / "site"))

    return find
