"""Names that are loaded when they are asked for: all of them, from where the contract sees them."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import compactlearn

SOURCE = Path(compactlearn.__file__).read_text(encoding="utf-8")


def declared():
    """Return the imports of the block for type checkers, name to module."""
    found = {}
    for node in ast.walk(ast.parse(SOURCE)):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for line in node.body:
                found |= {alias.name: line.module for alias in line.names}
    return found


def test_every_public_name_is_declared_and_found_where_it_is_said_to_be():
    assert set(declared()) == set(compactlearn.__all__) - {"__version__"}
    names = {}
    exec("from compactlearn import *", names)
    assert set(compactlearn.__all__) <= set(names)
    assert {*compactlearn.__all__, "datasets", "metrics"} <= set(dir(compactlearn))
    for name, module in declared().items():
        assert getattr(compactlearn, name) is getattr(import_module(module), name)


def test_a_name_that_is_not_there_is_an_attribute_error_with_a_hint():
    with pytest.raises(AttributeError, match="has no attribute 'CMLLClasifier'") as caught:
        _ = compactlearn.CMLLClasifier
    assert (caught.value.name, caught.value.obj) == ("CMLLClasifier", compactlearn)
    with pytest.raises(ImportError, match="CMLLClasifier"):
        exec("from compactlearn import CMLLClasifier")


def in_new_process(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout


def test_the_import_loads_neither_numpy_nor_scikit_learn():
    code = "import sys, compactlearn; print([n for n in ('numpy', 'sklearn') if n in sys.modules])"
    assert in_new_process(code) == "[]\n"


def test_parts_are_there_without_an_import_of_their_own():
    code = (
        "import compactlearn as c; print(c.datasets.load('emotions').n_labels, c.metrics.__name__)"
    )
    assert in_new_process(code) == "6 compactlearn.metrics\n"


def test_a_model_is_loaded_where_its_type_has_not_been(tmp_path):
    """A program that only loads models has imported no search, and no vectoriser."""
    texts = ["rain and wind", "wind", "bake bread", "bread"] * 2
    tags = [["weather"], ["weather"], ["food"], ["food"]] * 2
    path = tmp_path / "m.model"
    compactlearn.save_model(
        compactlearn.text_classifier(compactlearn.CMLLClassifier()).fit(texts, tags), path
    )
    code = (
        "import sys; from compactlearn import load_model; "
        "print('compactlearn.model_selection' in sys.modules); "
        f"print(type(load_model({str(path)!r})[0]).__name__)"
    )
    assert in_new_process(code) == "False\nTextVectorizer\n"
