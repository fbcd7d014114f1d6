"""The scripts in bench/ find what they import; what they measure is theirs."""

import ast
import importlib
import importlib.util
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[1]
REFERENCE = BENCHMARKS.parent / "tests" / "reference"  # the literal algorithm is there
SCRIPTS = sorted(BENCHMARKS.rglob("*.py"))
PEERS = {"arff", "iterstrat", "skmultilearn"}  # that some are compared with, if they are there


def imported(path):
    """(module, name or None) for each import of a script."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module, alias.name) for alias in node.names)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_imports_of_a_script_are_there(path):
    folders = (path.parent, BENCHMARKS, REFERENCE)
    beside = {other.stem for folder in folders for other in folder.iterdir()}
    for module, name in imported(path):
        top = module.partition(".")[0]
        if top == "compactlearn":
            found = importlib.import_module(module)
            assert (
                name is None or hasattr(found, name) or importlib.util.find_spec(f"{module}.{name}")
            ), f"{module} has no {name}"
        elif top not in beside | PEERS:
            assert importlib.util.find_spec(top) is not None, module
