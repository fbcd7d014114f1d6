"""CCA-OC: variates, the mean field and what it is a fixed point of."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, log_expit, logit, xlogy
from sklearn.linear_model import LogisticRegression

from compactlearn.related import OutputCodesClassifier
from compactlearn.related._output_codes import mean_field
from tests.makers import literal_ridge, maker, modest

make_data = maker(60, 7, 5, dtype=int)
X, Y = make_data()
X_new = make_data(15, seed=1)[0]


# --- the mean field -------------------------------------------------------------------------------


def model_of(seed, n=4, n_labels=5, m=3):
    rng = np.random.default_rng(seed)
    odds, T = rng.normal(size=(n, n_labels)), rng.normal(size=(n_labels, m))
    return odds, T, rng.normal(size=(n, m)), rng.uniform(0.5, 2.0, m)


def log_posterior(y, odds, T, mu, s2, w):
    own = np.sum(y * log_expit(odds) + (1 - y) * log_expit(-odds))
    return own - w * np.sum((y @ T - mu) ** 2 / (2 * s2))


def exact(odds, T, mu, s2, w):
    """Marginals of one row by trying all label sets."""
    sets = np.array(list(product([0.0, 1.0], repeat=odds.size)))
    logs = np.array([log_posterior(y, odds, T, mu, s2, w) for y in sets])
    weights = np.exp(logs - logs.max())
    return weights @ sets / weights.sum()


def divergence(q, odds, T, mu, s2, w):
    """KL(q || P) of independent labels, up to the constant of P."""
    spread = np.sum((q * (1 - q)) @ (T**2 / (2 * s2)))
    mean = log_posterior(q, odds, T, mu, s2, w) - w * spread
    return np.sum(xlogy(q, q) + xlogy(1 - q, 1 - q)) - mean


def literal_update(q, j, odds, T, mu, s2, w):
    others = [i for i in range(q.size) if i != j]
    total = odds[j]
    for k in range(mu.size):
        rest = sum(T[i, k] * q[i] for i in others) - mu[k]
        total -= w * (T[j, k] ** 2 + 2 * T[j, k] * rest) / (2 * s2[k])
    return expit(total)


@modest
@given(seed=st.integers(0, 999), w=st.floats(0.05, 1.0))
def test_it_is_a_fixed_point_of_the_update(seed, w):
    odds, T, mu, s2 = model_of(seed)
    Q = expit(mean_field(odds, T, mu, s2, w, enough=1e-12, sweeps=10_000))
    for row, q in enumerate(Q):
        again = [literal_update(q, j, odds[row], T, mu[row], s2, w) for j in range(q.size)]
        np.testing.assert_allclose(again, q, atol=1e-8)


@modest
@given(seed=st.integers(0, 999), w=st.floats(0.05, 3.0), sweeps=st.integers(1, 4))
def test_sweeps_are_literal_and_come_nearer_to_the_posterior(seed, w, sweeps):
    odds, T, mu, s2 = model_of(seed, n=1)
    q = expit(odds[0])
    before = divergence(q, odds[0], T, mu[0], s2, w)
    for _ in range(sweeps):
        for j in range(q.size):
            q[j] = literal_update(q, j, odds[0], T, mu[0], s2, w)
            now = divergence(q, odds[0], T, mu[0], s2, w)
            assert now <= before + 1e-10
            before = now
    found = expit(mean_field(odds, T, mu, s2, w, enough=0.0, sweeps=sweeps))
    np.testing.assert_allclose(found[0], q, atol=1e-10)


def test_labels_that_share_no_variate_have_their_exact_posterior():
    odds, _, mu, s2 = model_of(3, m=5)
    T = np.diag(np.random.default_rng(4).normal(size=5))
    found = expit(mean_field(odds, T, mu, s2, 1.0))
    expected = [exact(odds[row], T, mu[row], s2, 1.0) for row in range(len(odds))]
    np.testing.assert_allclose(found, expected, atol=1e-10)


# --- the classifier -------------------------------------------------------------------------------


def literal_variates(X, Y, m, alpha):
    Xc, Yc = X - X.mean(axis=0), Y - Y.mean(axis=0)
    hat = Xc @ np.linalg.solve(Xc.T @ Xc + alpha * np.eye(X.shape[1]), Xc.T)
    values, vectors = np.linalg.eigh(Yc.T @ Yc)
    root = vectors / np.sqrt(values)
    squares, turn = np.linalg.eigh(root.T @ Yc.T @ hat @ Yc @ root)
    order = np.argsort(-squares)[:m]
    return root @ turn[:, order] * np.sqrt(len(X)), squares[order], np.trace(hat) + 1


def test_parts_are_those_of_the_formula():
    model = OutputCodesClassifier(3, alpha=2.0).fit(X, Y)
    T, squares, freedom = literal_variates(X, Y, 3, 2.0)
    signs = np.sign(np.sum(T * model.directions_, axis=0))
    np.testing.assert_allclose(model.directions_, T * signs, atol=1e-8)
    np.testing.assert_allclose(model.correlations_**2, squares, atol=1e-8)
    V = (Y - Y.mean(axis=0)) @ model.directions_
    np.testing.assert_allclose(V.T @ V / len(X), np.eye(3), atol=1e-8)
    coef, intercept = literal_ridge(X, V, 2.0)
    np.testing.assert_allclose(model.coef_, coef.T, atol=1e-8)
    missed = np.mean((V - X @ coef - intercept) ** 2, axis=0)
    np.testing.assert_allclose(model.noise_, missed / (1 - freedom / len(X)) ** 2, rtol=1e-8)
    odds = X_new @ model.label_coef_.T + model.label_intercept_
    observed = X_new @ coef + intercept + Y.mean(axis=0) @ model.directions_
    expected = mean_field(odds, model.directions_, observed, model.noise_, 1.0)
    np.testing.assert_allclose(model.decision_function(X_new), expected, atol=1e-6)


def test_weight_zero_is_the_independent_classifiers():
    model = OutputCodesClassifier(3, weight=0.0, C=0.7).fit(X, Y)
    for j in range(Y.shape[1]):
        alone = LogisticRegression(C=0.7, solver="liblinear", tol=1e-6, random_state=0)
        expected = alone.fit(X, Y[:, j]).decision_function(X_new)
        np.testing.assert_allclose(model.decision_function(X_new)[:, j], expected, atol=1e-10)
    other = OutputCodesClassifier(3, weight=1.0, C=0.7).fit(X, Y)
    assert not np.allclose(other.decision_function(X_new), model.decision_function(X_new))


def test_predictions_are_probabilities_above_the_threshold():
    model = OutputCodesClassifier(3, threshold=0.3).fit(X, Y)
    probabilities = model.predict_proba(X_new)
    np.testing.assert_array_equal(model.predict(X_new), probabilities > 0.3)
    np.testing.assert_allclose(logit(probabilities), model.decision_function(X_new), atol=1e-6)
    assert model.threshold_ == pytest.approx(logit(0.3))


def test_constant_labels_and_dependent_ones():
    labels = np.column_stack([Y, np.zeros(60), np.ones(60), 1 - Y[:, 0]]).astype(int)
    model = OutputCodesClassifier(1.0).fit(X, labels)
    assert model.n_components_ == 5
    found = model.predict(X_new)
    assert not found[:, 5].any()
    assert found[:, 6].all()
