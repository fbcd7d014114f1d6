"""Estimates of memory, which decide about refusals, against the peak of a process that fits.

Each fit runs in a process of its own, whose high-water mark is set back before it. The estimate
is the largest of all that are made on the way, each added to the memory in use at that time.
"""

import json
import os
from pathlib import Path

import pytest

from tests.forking import Mother

SOURCE = Path(__file__).resolve().parents[2] / "src"

BEFORE = """
import json, sys, warnings
from pathlib import Path
import numpy as np
import scipy.sparse as sp
from compactlearn import *
from compactlearn.core import _memory as memory

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)

def dense(n, n_features, n_labels):
    Y = sp.csr_array((rng.random((n, n_labels)) < 0.05) * 1.0)
    return rng.normal(size=(n, n_features)), Y

def sparse(n, n_features, n_labels):
    X = sp.random_array((n, n_features), density=60 / n_features, format="csr", rng=rng)
    return X, sp.csr_array((rng.random((n, n_labels)) < 0.02) * 1.0)

def read(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(name))

CMLLClassifier(decoder="logistic").fit(*dense(200, 20, 8))  # imports and pools are not counted
"""

PROGRAM = """
model, (X, Y) = eval(sys.argv[1]), eval(sys.argv[2])
before, announced = read("VmRSS"), []

def note(needed, **_):
    announced.append(needed + read("VmRSS") - before)

real = memory.require_memory
for module in [m for name, m in sys.modules.items() if name.startswith("compactlearn")]:
    if getattr(module, "require_memory", None) is real:
        module.require_memory = note
Path("/proc/self/clear_refs").write_text("5")
start = read("VmHWM")
model.fit(X, Y)
print(json.dumps({"peak": read("VmHWM") - start, "estimate": max(announced)}))
"""


@pytest.fixture(scope="module")
def mother():
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with Mother(BEFORE, PROGRAM, environment | {"PYTHONPATH": str(SOURCE)}) as one:
        yield one


@pytest.fixture
def measured(mother):
    return lambda model, data: json.loads(mother.run(model, data))


needs_linux = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="Linux alone sets high-water marks back"
)

KERNEL = "feature_map=KernelMap()"
ROUTES = {
    "dense rows": ("CMLLClassifier(solver='krylov')", "dense(15_000, 1000, 100)"),
    "dense rows, plain": (
        "CMLLClassifier(solver='krylov', threshold=0.5)",
        "dense(20_000, 900, 60)",
    ),
    "dual": ("CMLLClassifier(solver='dual')", "dense(3500, 3000, 60)"),
    "sparse": ("CMLLClassifier(threshold='f1')", "sparse(20_000, 20_000, 300)"),
    "features kept": ("CMLLClassifier(None, threshold='f1')", "dense(12_000, 1500, 60)"),
    "ridge": ("CompactClassifier(Original(), threshold=0.5)", "sparse(4500, 8000, 200)"),
    "moments": ("CompactClassifier(FaIE(60, solver='moments'))", "dense(6000, 1200, 100)"),
    "hat": (
        "CompactClassifier(CPLST(60, solver='krylov'), threshold=0.5)",
        "sparse(4000, 3000, 400)",
    ),
    "MDDM": ("CompactClassifier(MDDM(solver='krylov'))", "sparse(15_000, 15_000, 300)"),
    "kernel": (f"CMLLClassifier({KERNEL})", "dense(4000, 40, 50)"),
    "kernel hat": (f"CompactClassifier(CPLST(20), {KERNEL}, threshold=0.5)", "dense(3000, 40, 50)"),
    "kernel ridge": (f"CompactClassifier(Original(), {KERNEL})", "dense(3000, 40, 50)"),
    "logistic": ("CMLLClassifier(decoder='logistic')", "dense(15_000, 100, 100)"),
}


@needs_linux
@pytest.mark.slow
@pytest.mark.parametrize("route", ROUTES)
def test_estimates_are_near_the_peak(route, measured):
    found = measured(*ROUTES[route])
    assert found["peak"] > 100 * 2**20  # otherwise nothing is shown
    assert found["estimate"] / 1.5 < found["peak"] < 1.5 * found["estimate"], found


@needs_linux
@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        "CMLLClassifier()",
        "CMLLClassifier(threshold='f1')",
        "CMLLClassifierCV(alphas=[1.0, 10.0], n_label_components=(0.5,), decoders=('linear',))",
    ],
)
def test_many_rows_are_not_copied(model, measured):
    """From 170 MB of rows with few columns, no more than one fold is copied at a time."""
    found = measured(model, "dense(45_000, 500, 30)")
    assert found["peak"] < 0.6 * 8 * 45_000 * 500


@needs_linux
@pytest.mark.slow
def test_a_search_that_tries_the_logistic_decoder_takes_little_more_than_twice_the_rows(
    measured,
):
    """It is fitted to the training rows of a split (0.8 of all) and, without a fifth, again (0.64);
    the regressions have eight matrices of rows and labels (0.4)."""
    model = "CMLLClassifierCV(alphas=[1.0, 10.0], n_label_components=(0.5,))"
    found = measured(model, "dense(45_000, 500, 30)")
    assert found["peak"] < 2.4 * 8 * 45_000 * 500
