"""MLC-BMaD: the greedy decomposition against a literal one and against all others."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from compactlearn.related import BooleanClassifier
from compactlearn.related._boolean import boolean_factors, boolean_product, candidate_rows
from tests.makers import literal_ridge, maker, modest

make_data = maker(60, 7, 6, dtype=int)
X, Y = make_data()
X_new = make_data(15, seed=1)[0]


def union(V, W):
    """The Boolean product, entry by entry."""
    return (V.astype(bool)[:, :, None] & W.astype(bool)[None, :, :]).any(axis=1)


def literal_candidates(Y, tau):
    M = Y.shape[1]
    found = np.zeros((M, M), dtype=bool)
    for i, j in product(range(M), range(M)):
        if Y[:, i].any():
            found[i, j] = Y[Y[:, i] > 0, j].mean() >= tau - 1e-9
    return found


def literal_asso(Y, m, tau):
    candidates, covered = literal_candidates(Y, tau), np.zeros(Y.shape, dtype=bool)
    basis, gains = [], []
    for _ in range(m):
        value = np.where(Y > 0, 1.0, -1.0) * ~covered
        own = value @ candidates.T
        totals = np.maximum(own, 0).sum(axis=0)
        best = int(np.argmax(totals >= totals.max() - 1e-9))
        if totals[best] <= 1e-9:
            break
        covered |= (own[:, best] > 1e-9)[:, None] & candidates[best]
        basis.append(candidates[best])
        gains.append(totals[best])
    return np.array(basis).reshape(-1, Y.shape[1]), np.array(gains), covered


def labels(seed, n, n_labels):
    return (np.random.default_rng(seed).random((n, n_labels)) < 0.45).astype(float)


@modest
@given(
    n=st.integers(1, 12),
    n_labels=st.integers(1, 7),
    m=st.integers(1, 7),
    tau=st.sampled_from([0.2, 0.5, 0.8, 1.0]),
    seed=st.integers(0, 999),
)
def test_the_decomposition_is_the_literal_one(n, n_labels, m, tau, seed):
    T = labels(seed, n, n_labels)
    found = boolean_factors(sp.csr_array(T), m, tau)
    basis, gains, covered = literal_asso(T, m, tau)
    np.testing.assert_array_equal(candidate_rows(sp.csr_array(T), tau).toarray() > 0,
                                  literal_candidates(T, tau))  # fmt: skip
    np.testing.assert_array_equal(found.basis.toarray() > 0, basis)
    np.testing.assert_allclose(found.gains, gains)
    product_ = boolean_product(found.usage, found.basis).toarray() > 0
    np.testing.assert_array_equal(product_, covered)
    np.testing.assert_array_equal(product_, union(found.usage.toarray(), found.basis.toarray()))
    # The gains are what the product is better than nothing, in ones less zeros.
    value = np.where(T > 0, 1.0, -1.0)
    assert np.sum(found.gains) == pytest.approx(np.sum(value * product_))


def test_blocks_of_labels_are_found_exactly():
    V = np.array([[1, 0], [0, 1], [1, 1], [1, 0], [0, 1]])
    W = np.array([[1, 1, 0, 0, 0], [0, 0, 1, 1, 1]])
    T = union(V, W).astype(float)
    found = boolean_factors(sp.csr_array(T), 4, 0.9)
    assert found.gains.size == 2
    np.testing.assert_array_equal(boolean_product(found.usage, found.basis).toarray(), T)


@pytest.mark.parametrize("threshold", [0.3, 0.5])
def test_labels_are_the_boolean_product_of_the_predicted_sets(threshold):
    model = BooleanClassifier(4, alpha=2.0, threshold=threshold).fit(X, Y)
    W = model.basis_.toarray()
    found = boolean_factors(sp.csr_array(Y.astype(float)), 4, 0.5)
    coef, intercept = literal_ridge(X, found.usage.toarray(), 2.0)
    used = X_new @ coef + intercept > threshold
    expected = union(used, W)
    np.testing.assert_array_equal(model.predict(X_new), expected)
    binary = BooleanClassifier(4, alpha=2.0, threshold=threshold, scores="binary").fit(X, Y)
    np.testing.assert_array_equal(binary.predict(X_new), expected)
    np.testing.assert_array_equal(binary.decision_function(X_new), expected)


def test_rows_without_labels_and_labels_in_no_set():
    nothing = np.zeros((60, 3), dtype=int)
    assert not BooleanClassifier().fit(X, nothing).predict(X).any()
    rare = np.column_stack([Y[:, 0], Y[:, 1], np.arange(60) == 0]).astype(int)
    model = BooleanClassifier(2).fit(X, rare)
    assert not model.predict(X_new)[:, 2].any()
    assert np.isfinite(model.decision_function(X_new)).all()
