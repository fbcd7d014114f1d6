"""The two ends of the balance: labels alone, features alone."""

import numpy as np
import pytest

from compactlearn import CMLL, CMLLClassifier, CompactClassifier

from .helpers import assert_orthonormal, assert_same_span, problem

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


def test_automatic_balance_is_free_of_units():
    X, Y = problem(40, 7, 5, seed=106)
    base = CMLL().fit(X, Y).beta_
    assert base > 0
    np.testing.assert_allclose(CMLL().fit(10 * X, Y).beta_, base / 100, rtol=1e-10)
    np.testing.assert_allclose(CMLL().fit(X + 5, Y).beta_, base, rtol=1e-8)
    doubled = CMLL().fit(np.vstack([X, X]), np.vstack([Y, Y])).beta_
    np.testing.assert_allclose(doubled, base, rtol=1e-10)
