"""A fit that cannot fit into memory says so beforehand."""

import re
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from compactlearn import (
    CMLL,
    CPLST,
    DMLR,
    MDDM,
    PLST,
    CMLLClassifier,
    CompactClassifier,
    FaIE,
    KernelMap,
    Original,
)
from compactlearn.core import _memory as memory
from tests.makers import make_data

from .state import Unchanged

SIZE = re.compile(r"\d[\d.,]*\s*([KMGT]i?B|B|bytes)\b")
REMEDY = re.compile(r"krylov|moments|dual|partial_fit|sparse|float32|fewer|smaller|lower|instead")
MODELS = [
    CMLLClassifier(solver="moments"),
    CMLLClassifier(solver="dual"),
    CMLLClassifier(),
    CompactClassifier(Original()),
    CMLL(solver="moments"),
    CMLL(solver="dual"),
    CompactClassifier(PLST(solver="moments")),
    CompactClassifier(CPLST(solver="dual")),
    CompactClassifier(DMLR()),
    CompactClassifier(FaIE(solver="moments")),
    CompactClassifier(MDDM()),
    CompactClassifier(PLST(), feature_map=KernelMap()),
    PLST(solver="dual"),
    CPLST(),
    FaIE(solver="dual"),
    DMLR(solver="moments"),
    MDDM(solver="moments"),
]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_refusal_names_estimate_and_remedy(model, monkeypatch):
    X, Y = make_data(60, 30, 20)
    model = clone(model).fit(X, Y)
    with Unchanged(model, X), monkeypatch.context() as patch:
        patch.setattr(memory, "available_bytes", lambda: 1000)
        with pytest.raises(MemoryError) as caught:
            model.fit(X, Y)
    text = str(caught.value)
    assert len(SIZE.findall(text)) >= 2, f"estimate and what is available: {text}"
    assert REMEDY.search(text), f"no remedy: {text}"


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_unknown_memory_refuses_nothing(model, monkeypatch):
    X, Y = make_data(60, 30, 20)
    monkeypatch.setattr(memory, "available_bytes", lambda: None)
    assert clone(model).fit(X, Y).n_features_in_ == 30


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_enough_memory_refuses_nothing(model, monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 2**34)
    assert clone(model).fit(*make_data(60, 30, 20)).n_features_in_ == 30


def test_partial_fit_refuses_too(monkeypatch):
    X, Y = make_data(60, 30, 20)
    model = CMLLClassifier().partial_fit(X, Y)
    with Unchanged(model, X), monkeypatch.context() as patch:
        patch.setattr(memory, "available_bytes", lambda: 1000)
        with pytest.raises(MemoryError, match=SIZE):
            model.partial_fit(X, Y)


def test_wide_sparse_data_need_no_square_matrix(monkeypatch):
    """20000 features: a dense Gram matrix is 3 GB, products with X are nothing."""
    rng = np.random.default_rng(0)
    X = sp.random_array((300, 20_000), density=1e-3, format="csr", rng=rng)
    Y = sp.csr_array((rng.random((300, 8)) < 0.3).astype(float))
    monkeypatch.setattr(memory, "available_bytes", lambda: 200 * 2**20)
    model = CMLLClassifier(n_label_components=4).fit(X, Y)
    assert "moments" not in model.embedding_.solver_
    for embedding in (PLST(4), CPLST(4), DMLR(4), FaIE(4), MDDM(4)):
        model = CompactClassifier(embedding).fit(X, Y)
        assert "moments" not in model.embedding_.solver_
        with pytest.raises(MemoryError, match=r"krylov|dual"):
            CompactClassifier(clone(embedding).set_params(solver="moments")).fit(X, Y)
    with pytest.raises(MemoryError, match=r"krylov|dual|auto"):
        CMLLClassifier(n_label_components=4, solver="moments").fit(X, Y)


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        (CompactClassifier(Original()), (300, 3000, 1500)),
        (CMLLClassifier(solver="krylov"), (2000, 4000, 300)),
        (CMLLClassifier(solver="dual"), (900, 4000, 100)),
        (CMLLClassifier(solver="moments"), (2000, 700, 300)),
        (CMLLClassifier(1200, 20, completion="krylov", solver="krylov"), (400, 2000, 40)),
        (CompactClassifier(PLST(60, solver="krylov")), (900, 4000, 300)),
        (CompactClassifier(PLST(60, solver="dual")), (900, 4000, 300)),
        (CompactClassifier(PLST(60, solver="moments")), (900, 700, 300)),
        (CompactClassifier(CPLST(60, solver="krylov")), (900, 4000, 300)),
        (CompactClassifier(CPLST(60, solver="moments")), (900, 700, 300)),
        (CompactClassifier(DMLR(60, solver="krylov")), (900, 4000, 300)),
        (CompactClassifier(FaIE(60, solver="krylov")), (900, 4000, 300)),
        (CompactClassifier(FaIE(60, solver="krylov")), (3000, 400, 100)),
        (CompactClassifier(FaIE(60, solver="dual")), (900, 4000, 300)),
        (CompactClassifier(FaIE(60, solver="moments")), (900, 700, 300)),
        (CompactClassifier(MDDM(60, solver="krylov")), (900, 4000, 300)),
        (CompactClassifier(MDDM(60, solver="moments")), (900, 700, 300)),
        (MDDM(400, completion="krylov", solver="krylov"), (900, 2000, 100)),
    ],
    ids=str,
)
def test_what_a_fit_takes_was_announced(model, shape, monkeypatch):
    """The estimate that decides about a refusal is not too small."""
    n, n_features, n_labels = shape
    rng = np.random.default_rng(0)
    X = sp.random_array((n, n_features), density=0.01, format="csr", rng=rng)
    Y = sp.csr_array((rng.random((n, n_labels)) < 0.02).astype(int))
    announced = []
    monkeypatch.setattr(
        "compactlearn.core._memory.require_memory",
        lambda needed, **_: announced.append(needed),
    )
    tracemalloc.start()
    try:
        model.fit(X, Y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 1.3 * max(announced) + 8 * 2**20
