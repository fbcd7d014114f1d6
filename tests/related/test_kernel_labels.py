"""KernelLabelSpace against a kernel canonical correlation of order N, and what it promises."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from compactlearn import CompactClassifier, KernelMap
from compactlearn.core import _memory as memory
from compactlearn.related import CCA, KernelLabelSpace
from compactlearn.related._kernel_labels import (
    DistinctRows,
)
from tests.makers import labelled, maker, modest, ridge_scores

make_data = maker(60, 7, 6)
SHAPES = [(50, 7, 5), (24, 40, 4)]
every_shape = pytest.mark.parametrize("shape", SHAPES, ids=str)


def centred(K, weights):
    """A kernel with the weighted mean taken off in feature space, rows times roots of weights."""
    H = np.eye(len(K)) - np.outer(np.ones(len(K)), weights / weights.sum())
    roots = np.sqrt(weights)
    return roots[:, None] * (H @ K @ H.T) * roots


def literal(Qx, Qy, ridge, penalty):
    """Both sides at once, as Hardoon et al. write it: a generalised eigenproblem of order 2N, on
    the range of its right side. Returns rho^2, and codes Qy b with b'(Qy^2 + penalty Qy)b = 1.
    """
    n = len(Qx)
    nothing = np.zeros((n, n))
    left = np.block([[nothing, Qx @ Qy], [Qy @ Qx, nothing]])
    right = scipy.linalg.block_diag(Qx @ Qx + ridge * Qx, Qy @ Qy + penalty * Qy)
    values, vectors = np.linalg.eigh((right + right.T) / 2)
    kept = vectors[:, values > 1e-9 * values[-1]]
    rho, found = scipy.linalg.eigh(kept.T @ left @ kept, kept.T @ right @ kept)
    best = np.argsort(-rho)
    b = np.sqrt(2) * (kept @ found[:, best])[n:]  # half of the length is a's
    return rho[best] ** 2, Qy @ b


def same_up_to_signs(found, expected, atol=1e-8):
    signs = np.sign(np.sum(found * expected, axis=0))
    np.testing.assert_allclose(found, expected * signs, atol=atol)


@every_shape
@pytest.mark.parametrize(("ridge", "penalty"), [(0.5, 1.0), (3.0, 0.2), (20.0, 5.0)])
def test_codes_are_those_of_kernels_of_all_rows(shape, ridge, penalty):
    X, Y = labelled(*shape, seed=1)
    n, ones = len(X), np.ones(len(X))
    Qx = centred(X @ X.T, ones)
    Qy = centred(rbf_kernel(Y, gamma=0.3), ones)
    values, V = literal(Qx, Qy, ridge, penalty)
    for form in (np.asarray, sp.csr_array):
        embedding = KernelLabelSpace(3, label_gamma=0.3, ridge=ridge, label_penalty=penalty)
        embedding.fit(form(X), sp.csr_array(Y))
        np.testing.assert_allclose(embedding.eigenvalues_, values[:3], atol=1e-8)
        same_up_to_signs(embedding.codes_, np.sqrt(n) * V[:, :3])
        assert embedding.objective_ == pytest.approx(values[:3].sum())


def test_codes_and_scores_of_weighted_rows_and_of_a_kernel_are_the_literal_ones():
    X, Y = make_data(seed=2)
    weights = np.random.default_rng(0).uniform(0.5, 3.0, len(X))
    Qx, Qy = (centred(rbf_kernel(A, gamma=g), weights) for A, g in ((X, 0.1), (Y, 0.4)))
    values, V = literal(Qx, Qy, 2.0, 0.5)
    model = CompactClassifier(
        KernelLabelSpace(3, label_gamma=0.4, label_penalty=0.5, decoder_ridge=0.7),
        feature_map=KernelMap(gamma=0.1),
        alpha=2.0,
    ).fit(X, Y, weights)
    np.testing.assert_allclose(model.embedding_.eigenvalues_, values[:3], atol=1e-8)
    assert model.embedding_.ridge_ == 2.0  # the classifier's
    V = np.sqrt(weights.sum()) * V[:, :3]
    roots = np.sqrt(weights)[:, None]
    Yc = roots * (Y - weights @ Y / weights.sum())
    W = np.linalg.solve(V.T @ V + 0.7 * np.eye(3), V.T @ Yc)
    fitted = Qx @ np.linalg.solve(Qx + 2.0 * np.eye(len(X)), V)
    expected = (fitted @ W) / roots + weights @ Y / weights.sum()
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-8)


@pytest.mark.parametrize("shape", [*SHAPES, (16, 30, 20)], ids=str)
def test_a_linear_kernel_has_the_label_side_of_linear_cca(shape):
    """Ridge coefficients of CCA's label codes are its directions, times correlations."""
    X, Y = labelled(*shape, seed=4)
    found = KernelLabelSpace(3, "linear", ridge=2.0, label_penalty=0.0).fit(X, Y)
    other = CCA(3, ridge=2.0).fit(X, Y)
    np.testing.assert_allclose(found.eigenvalues_, other.eigenvalues_, atol=1e-8)
    Xc, Yc = X - X.mean(axis=0), Y - Y.mean(axis=0)
    B = np.linalg.solve(Xc.T @ Xc + 2.0 * np.eye(X.shape[1]), Xc.T @ found.codes_)
    same_up_to_signs(B, other.projection_ * np.sqrt(other.eigenvalues_))
    np.testing.assert_allclose(found.codes_.T @ found.codes_, len(X) * np.eye(3), atol=1e-8)
    weights = np.linalg.lstsq(Yc, found.codes_, rcond=None)[0]
    np.testing.assert_allclose(Yc @ weights, found.codes_, atol=1e-8)


def test_a_code_can_say_that_labels_exclude_each_other():
    """One feature is the exclusive or of two labels, which is no weighted sum of labels but is a
    function of the label set."""
    rng = np.random.default_rng(0)
    Y = rng.integers(0, 2, (400, 2))
    X = np.column_stack([Y[:, 0] ^ Y[:, 1], rng.normal(size=400)]) + 0.01 * rng.normal(
        size=(400, 2)
    )
    linear = KernelLabelSpace(1, "linear", label_penalty=0.0, ridge=0.1).fit(X, Y)
    curved = KernelLabelSpace(1, ridge=0.1).fit(X, Y)
    assert linear.eigenvalues_[0] < 0.1
    assert curved.eigenvalues_[0] > 0.9
    of_sets = [curved.codes_[(Y == y).all(axis=1), 0][0] for y in ([0, 0], [1, 1], [0, 1])]
    assert abs(of_sets[0] - of_sets[1]) < 0.2 < abs(of_sets[0] - of_sets[2])


def test_joined_codes_are_those_of_both_kinds_in_turn():
    X, Y = make_data(seed=5)
    curved = KernelLabelSpace(6).fit(X, Y)
    linear = KernelLabelSpace(6, "linear", label_penalty=0.0).fit(X, Y)
    for m in (1, 3, 4):
        both = KernelLabelSpace(m, joined=True).fit(X, Y)
        own = [(linear, curved)[k % 2].codes_[:, k // 2] for k in range(m)]
        np.testing.assert_allclose(both.codes_, np.column_stack(own), atol=1e-8)
        values = [(linear, curved)[k % 2].eigenvalues_[k // 2] for k in range(m)]
        np.testing.assert_allclose(both.eigenvalues_, values, atol=1e-8)


@pytest.mark.parametrize("joined", [False, True])
def test_scores_are_those_of_the_formula(joined):
    X, Y = make_data(seed=7)
    own = KernelLabelSpace(4, ridge=2.0, joined=joined, decoder_ridge=3.0)
    V = clone(own).fit(X, Y).codes_
    Yc = Y - Y.mean(axis=0)
    W = np.linalg.solve(V.T @ V + 3.0 * np.eye(4), V.T @ Yc)
    model = CompactClassifier(own, alpha=2.0).fit(X, Y)
    np.testing.assert_allclose(model.embedding_.decoder_, W, atol=1e-8)
    expected = ridge_scores(X, V, 2.0, X) @ W + Y.mean(axis=0)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-8)


def test_the_width_is_that_of_the_mean_squared_distance():
    X, Y = make_data(seed=9)
    squares = ((Y[:, None] - Y[None]) ** 2).sum(axis=2)
    found = KernelLabelSpace(2).fit(X, Y)
    assert found.label_gamma_ == pytest.approx(0.5 / squares.mean())
    rows = np.arange(len(X)).repeat(1 + np.arange(len(X)) % 2)
    twice = CompactClassifier(KernelLabelSpace(2)).fit(X, Y, 1 + np.arange(len(X)) % 2)
    expected = KernelLabelSpace(2).fit(X[rows], Y[rows]).label_gamma_
    assert twice.embedding_.label_gamma_ == pytest.approx(expected)


@modest
@given(n=st.integers(1, 40), n_labels=st.integers(1, 5), seed=st.integers(0, 999))
def test_distinct_rows_are_those_of_numpy(n, n_labels, seed):
    rng = np.random.default_rng(seed)
    Y, weights = rng.integers(0, 2, (n, n_labels)), rng.uniform(0.1, 2.0, n)
    expected = np.unique(Y, axis=0)
    for form in (np.asarray, sp.csr_matrix):
        found = DistinctRows.of(form(Y), weights)
        sets = found.sets.toarray()
        np.testing.assert_array_equal(np.unique(sets, axis=0), expected)
        assert len(sets) == len(expected)
        np.testing.assert_array_equal(sets[found.places], Y)
        for place, count in enumerate(found.counts):
            assert count == pytest.approx(weights[found.places == place].sum())


def test_many_rows_of_few_label_sets_need_no_kernel_of_all_rows(monkeypatch):
    X, Y = labelled(20_000, 4, 3, seed=10)
    monkeypatch.setattr(memory, "available_bytes", lambda: 200_000_000)  # N^2 numbers are 3.2 GB
    for joined in (False, True):
        found = KernelLabelSpace(3, joined=joined).fit(X, Y)
        assert found.codes_.shape == (20_000, 3)


def test_too_many_label_sets_are_refused(monkeypatch):
    X, Y = labelled(600, 4, 14, seed=11)
    monkeypatch.setattr(memory, "available_bytes", lambda: 5_000_000)
    with pytest.raises(MemoryError, match=r"kernel between \d+ distinct label sets .* CPLST"):
        KernelLabelSpace(3).fit(X, Y)
