"""The layout of the package agrees with pyproject.toml and docs/contributing/architecture.md.

The order of the layers itself is checked by import-linter. The tests here check what it cannot
see: which parts of scikit-learn a layer uses, which modules the import of the package loads, and
whether the page in docs/ is correct.
"""

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from functools import cached_property
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
PACKAGE = SOURCE / "compactlearn"
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
OPTIONAL = (
    *("typer", "rich", "pandas", "polars", "torch", "dask", "cupy", "matplotlib", "plotly"),
    *("onnx", "onnxruntime", "skl2onnx", "numba"),
)


def module_name(path):
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imports_of(name):
    """Full names a module imports anywhere in its source; of `from a import b` also a.b."""
    path = MODULES[name]
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")
                kept = parents[: len(parents) - node.level + 1]
                base = ".".join([*kept, *filter(None, [base])])
            found |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    return found


def in_layer(layer):
    prefix = f"compactlearn.{layer}"
    return [name for name in MODULES if name == prefix or name.startswith(prefix + ".")]


def contract_layers():
    contracts = SETTINGS["tool"]["importlinter"]["contracts"]
    (contract,) = [c for c in contracts if c.get("containers") == ["compactlearn"]]
    return [re.findall(r"\w+", layer) for layer in contract["layers"]]


def test_the_page_gives_the_layers_of_the_contract():
    page = (ROOT / "docs" / "contributing" / "architecture.md").read_text()
    (line,) = re.findall(r"^cli > .*$", page, flags=re.MULTILINE)
    assert [re.findall(r"\w+", layer) for layer in line.split(">")] == contract_layers()


def test_every_file_that_the_page_names_exists():
    page = (ROOT / "docs" / "contributing" / "architecture.md").read_text()
    named = set(re.findall(r"`([\w/]+\.(?:py|toml|csv|css|js))`", page))
    files = [ROOT / "pyproject.toml", *PACKAGE.rglob("*.*"), *(ROOT / "tests").rglob("*.py")]
    ends = [path.relative_to(ROOT.parent).as_posix() for path in files]
    assert not {name for name in named if not any(end.endswith(f"/{name}") for end in ends)}


def test_every_folder_of_the_package_is_a_layer():
    layers = {name for layer in contract_layers() for name in layer}
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert folders <= layers


@pytest.mark.parametrize("layer", ["linalg", "embeddings"])
def test_the_numeric_layers_use_little_of_scikit_learn(layer):
    allowed = ("sklearn.base", "sklearn.utils", "sklearn.exceptions")
    modules = in_layer(layer)
    assert modules
    for name in modules:
        foreign = {
            target
            for target in imports_of(name)
            if target.split(".")[0] == "sklearn"
            and not any(target == module or target.startswith(module + ".") for module in allowed)
        }
        assert not foreign, f"{name} imports {sorted(foreign)}"


def test_required_packages_are_the_only_ones_imported_outright():
    required = {"numpy", "scipy", "sklearn", "joblib", "threadpoolctl"}  # pyproject's dependencies
    allowed = {*sys.stdlib_module_names, "compactlearn", *required}
    for name in MODULES:
        tops = {target.split(".")[0] for target in imports_of(name)}
        extra = {"typer", "rich"} if name.startswith("compactlearn.cli") else set()
        assert tops <= allowed | extra, f"{name} imports {sorted(tops - allowed - extra)}"


BLOCKED = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {packages!r}:
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Absent())
import compactlearn, compactlearn.datasets, compactlearn.metrics
"""


def test_the_package_imports_where_no_optional_one_can_be():
    """Blocked rather than looked for afterwards: scikit-learn itself imports pandas if it can."""
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED.format(packages=OPTIONAL)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_few_packages_are_required():
    """Three, and two that scikit-learn itself requires."""
    names = [re.match(r"[\w-]+", line)[0] for line in SETTINGS["project"]["dependencies"]]
    assert names == ["numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl"]


# Private names of others that are used all the same, and why.
PRIVATE = {
    ("compactlearn.core._targets", "_safe_indexing"): "scikit-learn has no public way to do so",
    ("compactlearn.core._validation", "_num_samples"): "scikit-learn has no public way to do so",
    ("compactlearn.core._warn", "_getframe"): "Python's own, for the frame that a warning is about",
}


def names_defined(tree):
    """Names that a module defines: functions, classes, variables, and attributes of self."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif not isinstance(getattr(node, "ctx", None), ast.Store):
            continue
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("self", "cls"):
            yield node.attr


def private_uses(name):
    """Private names that a module takes from others: imported, or attributes of other objects."""
    tree = ast.parse(MODULES[name].read_text())
    own = set(names_defined(tree))
    for node in ast.walk(tree):
        used = []
        if isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names]
            used = [one for one in names if f"{node.module}.{one}" not in MODULES]
        elif isinstance(node, ast.Attribute) and node.attr not in own:
            inherited = ast.unparse(node.value) in ("self", "cls", "super()")
            used = [] if inherited else [node.attr]
        yield from (one for one in used if one.startswith("_") and not one.startswith("__"))


def test_modules_keep_to_their_own_private_names():
    found = {(name, used) for name in MODULES for used in private_uses(name)}
    strange, gone = found - PRIVATE.keys(), PRIVATE.keys() - found
    assert not strange, "what others use is public: give it a name without an underscore"
    assert not gone, "it is used no more: take it out of the list"
    assert len(PRIVATE) <= 5


MOST_METHODS = 30


def methods_of(cls):
    """Names of methods and properties of a class and of its bases in this package, each once.

    Special methods (``__init__``) are those of every class, and not counted.
    """
    kinds = (property, classmethod, staticmethod, cached_property, type(lambda: None))
    return {
        name
        for base in cls.__mro__
        if base.__module__.startswith("compactlearn")
        for name, value in vars(base).items()
        if (isinstance(value, kinds) or type(value).__name__ == "_Method")
        and not (name.startswith("__") and name.endswith("__"))
    }


def test_no_class_does_everything():
    found = {}
    for name in MODULES:
        if name.startswith("compactlearn.cli") or name.endswith("__main__"):
            continue
        module = importlib.import_module(name)
        for cls in vars(module).values():
            if isinstance(cls, type) and cls.__module__ == name:
                count = len(methods_of(cls))
                if count > MOST_METHODS:
                    found[cls.__name__] = count
    assert not found, "give what it does to another class"


LOADED = """
import sys
from compactlearn import CMLLClassifier
print(*[name for name in sys.modules if name.partition(".")[0] == "compactlearn"])
"""


def test_the_import_of_a_classifier_loads_what_it_needs():
    done = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, timeout=120, check=True
    )
    loaded = done.stdout.split()
    assert len(loaded) <= 120
    strange = ("related", "io", "inspection", "scale", "metrics", "shortlist", "auto", "cli")
    assert not [name for name in loaded if name.split(".")[1:2] in [[one] for one in strange]]


def test_no_module_is_long():
    lengths = {name: len(path.read_text().splitlines()) for name, path in MODULES.items()}
    assert not {name: lines for name, lines in lengths.items() if lines > 500}, "divide it"


def test_a_class_has_a_name_of_its_own():
    """One name for one thing; a leading underscore makes no other name."""
    names = [
        node.name.lstrip("_")
        for path in MODULES.values()
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef)
    ]
    assert not {name for name in names if names.count(name) > 1}


def test_nothing_imports_the_related_methods():
    related = set(in_layer("related"))
    users = {name for name in MODULES if name not in related and imports_of(name) & related}
    assert users <= {"compactlearn"}  # whose imports are for type checkers, and never run


def test_the_page_is_short():
    page = (ROOT / "docs" / "contributing" / "architecture.md").read_text()
    table = page.partition("## If this changes, touch only")[2]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    assert 5 < len(rows) <= 15
    assert len(page.split()) <= 1100  # two pages
