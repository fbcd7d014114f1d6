"""The two ends of the balance: labels alone, features alone."""

import numpy as np
import pytest

from compactlearn import CMLL, CMLLClassifier, CompactClassifier

from .helpers import assert_orthonormal, assert_same_span, assert_scores, new_rows, problem

SOLVERS = ["auto", "moments", "dual", "krylov"]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("m", [1, 3, 5])
@pytest.mark.parametrize("d", ["auto", None])
def test_zero_balance_gives_left_singular_vectors_of_the_labels(d, m, solver):
    X, Y = problem(40, 7, 5, seed=100)
    model = CMLL(n_feature_components=d, n_label_components=m, beta=0.0, solver=solver).fit(X, Y)
    left, s, _ = np.linalg.svd(Y, full_matrices=False)
    assert_same_span(model.codes_, left[:, :m])
    np.testing.assert_allclose(model.recovery_, np.sum(s[:m] ** 2), rtol=1e-10)
    np.testing.assert_allclose(model.objective_, model.recovery_, rtol=1e-12)


def test_zero_balance_and_all_components_recover_the_labels():
    X, Y = problem(40, 7, 5, seed=101)
    model = CMLL(n_label_components=5, beta=0.0, offset="none").fit(X, Y)
    np.testing.assert_allclose(model.decode(model.codes_), Y, atol=1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("m", [1, 3])
def test_huge_balance_gives_left_singular_vectors_of_the_centred_features(m, solver):
    X, Y = problem(40, 7, 5, seed=102)
    model = CMLL(n_label_components=m, beta=1e10, solver=solver).fit(X, Y)
    left = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[0]
    assert_same_span(model.codes_, left[:, :m], 1e-6)
    np.testing.assert_allclose(model.codes_.sum(axis=0), 0, atol=1e-6)
    assert_orthonormal(model.codes_, 1e-8)


def test_huge_balance_keeps_the_label_mean_only_with_the_offset():
    X, Y = problem(40, 7, 5, seed=103)
    mean = CMLLClassifier(n_label_components=3, beta=1e10).fit(X, Y).decision_function(X)
    bare = CompactClassifier(CMLL(n_label_components=3, beta=1e10, offset="none")).fit(X, Y)
    np.testing.assert_allclose(mean.mean(axis=0), Y.mean(axis=0), atol=1e-8)
    np.testing.assert_allclose(bare.decision_function(X).mean(axis=0), 0, atol=1e-6)


def test_small_balance_approaches_the_zero_one():
    X, Y = problem(40, 7, 5, seed=104)
    X_new = new_rows(X)
    options = {"n_feature_components": None, "n_label_components": 3}
    zero = CMLLClassifier(**options, beta=0.0).fit(X, Y).decision_function(X_new)
    small = CMLLClassifier(**options, beta=1e-10).fit(X, Y).decision_function(X_new)
    assert_scores(small, zero, 1e-6)


def test_dependence_rises_and_recovery_falls_with_the_balance():
    X, Y = problem(40, 7, 5, seed=105)
    fitted = [CMLL(n_label_components=2, beta=beta).fit(X, Y) for beta in np.logspace(-4, 3, 12)]
    dep = np.array([model.dependence_ for model in fitted])
    rec = np.array([model.recovery_ for model in fitted])
    assert np.all(np.diff(dep) >= -1e-9 * dep.max())
    assert np.all(np.diff(rec) <= 1e-9 * rec.max())
    assert dep[-1] > 1.01 * dep[0]
    assert rec[0] > 1.01 * rec[-1]


def test_automatic_balance_is_free_of_units():
    X, Y = problem(40, 7, 5, seed=106)
    base = CMLL().fit(X, Y).beta_
    assert base > 0
    np.testing.assert_allclose(CMLL().fit(10 * X, Y).beta_, base / 100, rtol=1e-10)
    np.testing.assert_allclose(CMLL().fit(X + 5, Y).beta_, base, rtol=1e-8)
    doubled = CMLL().fit(np.vstack([X, X]), np.vstack([Y, Y])).beta_
    np.testing.assert_allclose(doubled, base, rtol=1e-10)
