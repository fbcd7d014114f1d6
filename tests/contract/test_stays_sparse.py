"""Sparse features stay sparse: a dense copy would need 1.2 GB, and no step comes near it."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from compactlearn import CMLL, CMLLClassifier, CompactClassifier, Original

N, D, M = 1_500, 100_000, 24
DENSE = 8 * N * D


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = sp.random_array((N, D), density=2e-4, format="csr", rng=rng)
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
    monkeypatch.setattr("compactlearn.core.memory.available_bytes", lambda: 8 * 2**30)
    with pytest.raises(MemoryError, match="Use solver='krylov'"):
        CMLLClassifier(solver="moments").fit(*data)
