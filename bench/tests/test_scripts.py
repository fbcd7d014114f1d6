"""Imports of the workshop: they are there, and of the library they are public."""

import ast
import importlib
import importlib.util
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[1]
REFERENCE = BENCH.parent / "tests" / "reference"  # the literal algorithm is there
SOURCES = sorted(path for path in BENCH.rglob("*.py") if "tests" not in path.parts)


def imported(path):
    """(module, name or None) for each import of a module."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module, alias.name) for alias in node.names)


def is_public(module, name):
    """Whether a module shows a name, or is itself what is imported."""
    parts = [*module.split("."), *([] if name is None else [name])]
    if any(part.startswith("_") and not part.startswith("__") for part in parts):
        return False
    found = importlib.import_module(module)
    shown = getattr(found, "__all__", None)
    if name is None or shown is None or name in shown:
        return True
    return importlib.util.find_spec(f"{module}.{name}") is not None


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(BENCH).as_posix())
def test_imports_are_there_and_public(path):
    folders = (path.parent, BENCH, REFERENCE)
    siblings = {other.stem for folder in folders for other in folder.iterdir()}
    private = []
    for module, name in imported(path):
        top = module.partition(".")[0]
        if top in ("compactlearn", "compactlearn_bench"):
            found = importlib.import_module(module)
            assert (
                name is None or hasattr(found, name) or importlib.util.find_spec(f"{module}.{name}")
            ), f"{module} has no {name}"
            if top == "compactlearn" and not is_public(module, name):
                private.append(f"{module}.{name}")
        elif top not in siblings:
            assert importlib.util.find_spec(top) is not None, module
    assert not private
