"""Sparse features stay sparse: a dense copy would need 600 MB, and no step comes near it."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

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
from compactlearn.compact import PaperClassifier

N, D, M = 1_500, 50_000, 24
DENSE = 8 * N * D


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = sp.random_array((N, D), density=4e-4, format="csr", rng=rng)
    return X, sp.csr_array((rng.random((N, M)) < 0.1).astype(np.int64))


def peak(work):
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "estimator",
    [
        CMLLClassifier(),
        CMLLClassifier(solver="krylov"),
        CMLLClassifier(solver="dual"),
        CMLLClassifier(scale=True),
        CMLLClassifier(n_feature_components=4),
        CMLLClassifier(n_feature_components=None),
        CompactClassifier(Original()),
        CMLL(),
        Original(),
        CompactClassifier(PLST()),
        CompactClassifier(PLST(solver="dual"), scale=True),
        PaperClassifier(CPLST(offset="none")),
        CompactClassifier(DMLR()),
        CompactClassifier(FaIE()),
        CompactClassifier(MDDM()),
        CompactClassifier(MDDM(30, completion="krylov")),
        CompactClassifier(CPLST(), feature_map=KernelMap(kernel="cosine")),
        PLST(solver="krylov"),
        CPLST(),
        DMLR(solver="krylov"),
        FaIE(),
        MDDM(),
    ],
    ids=str,
)
def test_fit_transform_and_predict(estimator, data):
    X, Y = data

    def work():
        estimator.fit(X, Y)
        estimator.transform(X)
        if hasattr(estimator, "predict"):
            estimator.predict(X)

    assert peak(work) < DENSE / 4


def test_the_moments_of_so_many_features_are_refused_not_tried(data, monkeypatch):
    monkeypatch.setattr("compactlearn.core._memory.available_bytes", lambda: 8 * 2**30)
    with pytest.raises(MemoryError, match="Use solver='krylov'"):
        CMLLClassifier(solver="moments").fit(*data)


WIDE = N_WIDE, D_WIDE, M_WIDE = 1_000, 10_000, 200


@pytest.fixture(scope="module")
def wide():
    rng = np.random.default_rng(1)
    X = sp.random_array((N_WIDE, D_WIDE), density=1e-3, format="csr", rng=rng)
    rows, labels = np.arange(N_WIDE).repeat(3), rng.integers(0, M_WIDE, 3 * N_WIDE)
    Y = sp.csr_array((np.ones(3 * N_WIDE), (rows, labels)), shape=(N_WIDE, M_WIDE))
    Y.data[:] = 1
    return X, Y


@pytest.mark.parametrize(
    "embedding",
    [PLST(20), CPLST(20), DMLR(20), FaIE(20), MDDM(20)],
    ids=lambda embedding: type(embedding).__name__,
)
def test_more_features_and_labels_than_rows_ask_for_no_wide_matrix(embedding, wide):
    """Nothing of order D, and no dense N x D: the largest are Xc'Y (D, M) and the kernel (N, N)."""
    used = peak(lambda: CompactClassifier(embedding).fit(*wide))
    assert used < 8 * N_WIDE * D_WIDE
    assert used < 8 * D_WIDE**2 / 10


@pytest.mark.parametrize(
    "embedding",
    [PLST(20, solver="krylov"), DMLR(20, solver="krylov"), MDDM(20, solver="krylov")],
    ids=lambda embedding: type(embedding).__name__,
)
def test_alone_they_form_little_more_than_the_cross_products(embedding, wide):
    """Nothing is learnt, so not even the kernel is needed; PLST does not look at the features."""
    used = peak(lambda: embedding.fit(*wide))
    allowed = 8 * D_WIDE * M_WIDE * (0.5 if isinstance(embedding, PLST) else 3.5)
    assert used < allowed


def test_cross_products_that_would_not_fit_are_not_formed(wide, monkeypatch):
    """MDDM of 200 labels with room for 20 of their cross products."""
    monkeypatch.setattr("compactlearn.linalg._routes.CROSS_LIMIT", 20 * D_WIDE)
    used = peak(lambda: CompactClassifier(MDDM(20, solver="krylov")).fit(*wide))
    assert used < 8 * D_WIDE * M_WIDE * 1.5
