"""Compiled votes of neighbours, and compiled shortlists, are those of the sparse products."""

import numpy as np
import pytest
import scipy.sparse as sp

from compactlearn import ShortlistClassifier
from compactlearn.datasets import make_compact
from compactlearn.linalg import _many_logistic as many_logistic
from compactlearn.metrics import precision_at_k
from compactlearn.shortlist import _neighbours as neighbours
from compactlearn.shortlist._neighbours import Neighbours

pytest.importorskip("numba", reason="the extra 'fast' brings it")


def rows_and_labels(seed, signed=False, ties=False):
    rng = np.random.default_rng(seed)
    X = sp.random_array((90, 40), density=0.15, rng=rng, format="csr", dtype=np.float32)
    if signed:
        X.data -= 0.5
    if ties:
        X.data[:] = 0.5
    return X, sp.csr_array((rng.random((90, 17)) < 0.2).astype(np.float32))


@pytest.mark.parametrize("options", [{}, {"signed": True}, {"ties": True}])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_votes(monkeypatch, seed, own, weighted, options):
    X, Y = rows_and_labels(seed, **options)
    weights = 1.0 + np.arange(90) % 4 if weighted else None
    near = Neighbours.of(X, Y, 7, weights)
    new, groups = (X, np.arange(90) // 2) if own else (X[:30], None)
    expected = near.votes(new, 5, groups=groups)
    monkeypatch.setattr(neighbours, "_COMPILED_WORK", 0)
    found = near.votes(new, 5, groups=groups)
    expected.sort_indices()
    np.testing.assert_array_equal(found.indptr, expected.indptr)
    np.testing.assert_allclose(found.toarray(), expected.toarray(), rtol=1e-5, atol=1e-6)


def test_rows_without_features_have_no_votes(monkeypatch):
    X, Y = rows_and_labels(0)
    monkeypatch.setattr(neighbours, "_COMPILED_WORK", 0)
    votes = Neighbours.of(X, Y, 7).votes(sp.csr_array((4, 40), dtype=np.float32), 5)
    assert votes.shape == (4, 17)
    assert votes.nnz == 0


def test_a_compiled_shortlist_ranks_as_another(monkeypatch):
    data = make_compact(700, 60, 40, random_state=0)
    X = sp.csr_array(np.where(data.X > 1, data.X, 0.0))
    plain = ShortlistClassifier(random_state=0).fit(X[:500], data.Y[:500])
    monkeypatch.setattr(many_logistic, "COMPILED_ENTRIES", 0)
    monkeypatch.setattr(neighbours, "_COMPILED_WORK", 0)
    compiled = ShortlistClassifier(random_state=0).fit(X[:500], data.Y[:500])
    scores, others = (model.decision_function(X[500:]) for model in (plain, compiled))
    assert plain.C_ == compiled.C_
    gap = np.abs((scores - others).toarray())
    assert np.median(gap[gap > 0]) < 0.1
    for k in (1, 3):
        one, two = (precision_at_k(data.Y[500:], found, k=k) for found in (scores, others))
        assert abs(one - two) < 0.02
