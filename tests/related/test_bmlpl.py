"""TopicClassifier: the bound is a bound and never falls, and predictions integrate the model."""

import numpy as np
import pytest
import scipy.sparse
import scipy.special
from hypothesis import given
from hypothesis import strategies as st

from compactlearn.related import TopicClassifier
from compactlearn.related import _bmlpl as topic_model
from tests.makers import labelled, modest


def some_model(X, Y, K, seed=0, rounds=0):
    rng = np.random.default_rng(seed)
    rows = topic_model.TopicRows(X, scipy.sparse.csr_array(Y.astype(float)))
    model = topic_model.begun(rows, rng.dirichlet(np.ones(Y.shape[1]), size=K).T)
    for _ in range(rounds):
        model = topic_model.round_of_em(rows, model, PRIOR)
    return rows, model


PRIOR = topic_model.Prior(alpha=0.7, eta=1.3)


def integral(function, r, scale):
    """The mean of a function of u ~ Gamma(r, scale)."""
    nodes, weights = scipy.special.roots_genlaguerre(60, r - 1)
    return sum(w * function(scale * u) for u, w in zip(nodes, weights, strict=True)) / weights.sum()


def test_probabilities_are_those_of_the_model():
    rng = np.random.default_rng(0)
    T, r, s = rng.dirichlet(np.ones(3), size=2).T, np.array([0.8, 2.5]), np.array([[0.3, -1.0]])
    found = topic_model.probabilities(s, T, r)[0]
    for label in range(3):
        absent = 1.0
        for k in range(2):
            rate = T[label, k]
            absent *= integral(lambda u, rate=rate: np.exp(-rate * u), r[k], np.exp(s[0, k]))
        assert found[label] == pytest.approx(1 - absent, abs=1e-8)


@pytest.mark.parametrize("rounds", [0, 1, 5])
def test_the_bound_is_below_the_log_posterior_and_near_it(rounds):
    """With one topic the likelihood of a row is an integral over one number."""
    X, Y = labelled(12, 2, 4, 0)
    rows, model = some_model(X, Y, 1, rounds=rounds)
    s = X @ model.w + model.b
    exact = 0.0
    for n in range(len(X)):

        def row(u, n=n):
            rates = model.T[:, 0] * u
            return np.exp(-rates[Y[n] == 0].sum()) * np.prod(-np.expm1(-rates[Y[n] == 1]))

        exact += np.log(integral(row, model.r[0], np.exp(s[n, 0])))
    exact += (PRIOR.eta - 1) * np.log(model.T).sum() - PRIOR.alpha / 2 * np.sum(model.w**2)
    exact += np.sum(np.log(model.r) - model.r)
    found = topic_model.bound(rows, model, PRIOR)
    assert found <= exact + 1e-7
    if rounds == 5:
        assert found > exact - 0.1 * len(X)


def literal_counts(Y, model):
    """Every label of every row, in loops."""
    N, M = Y.shape
    K = model.T.shape[1]
    by_row, by_label = np.zeros((N, K)), np.zeros((M, K))
    G = np.exp(model.mean_log)
    for n in range(N):
        for label in range(M):
            shares = model.T[label] * G[n]
            t = shares.sum()
            mean = t / (1 - np.exp(-t)) if Y[n, label] else 0.0
            by_row[n] += mean * shares / t
            by_label[label] += mean * shares / t
    return by_row, by_label


def test_counts_are_the_literal_ones():
    X, Y = labelled(15, 3, 5, 1)
    rows, model = some_model(X, Y, 3, rounds=2)
    for found, literal in zip(
        topic_model.expected_counts(rows, model), literal_counts(Y, model), strict=True
    ):
        np.testing.assert_allclose(found, literal, rtol=1e-10)


@modest
@given(
    n=st.integers(2, 25),
    n_features=st.integers(1, 6),
    n_labels=st.integers(1, 6),
    K=st.integers(1, 4),
    eta=st.sampled_from([1.0, 1.01, 2.0]),
    alpha=st.sampled_from([1e-4, 1.0, 100.0]),
    scale=st.sampled_from([1e-3, 1.0, 1e4]),
    seed=st.integers(0, 1000),
)
def test_the_bound_never_falls(n, n_features, n_labels, K, eta, alpha, scale, seed):
    rng = np.random.default_rng(seed)
    X = scale * rng.normal(size=(n, n_features)) + scale
    Y = (rng.random((n, n_labels)) < 0.4).astype(float)
    rows, model = some_model(X, Y, K, seed)
    prior = topic_model.Prior(alpha, eta)
    last = topic_model.bound(rows, model, prior)
    for _ in range(8):
        model = topic_model.round_of_em(rows, model, prior)
        reached = topic_model.bound(rows, model, prior)
        assert reached >= last - 1e-9 * abs(last)
        last = reached
    np.testing.assert_allclose(model.T.sum(axis=0), 1.0)


def test_each_step_ends_where_its_slope_is_zero():
    X, Y = labelled(40, 4, 6, 0)
    rows, model = some_model(X, Y, 2, rounds=600)
    h = 1e-4
    at = topic_model.bound(rows, model, PRIOR)
    rng = np.random.default_rng(0)
    for name in ("w", "b", "r", "a", "z"):
        step = h * rng.normal(size=getattr(model, name).shape)
        for sign in (1, -1):
            other = topic_model.replace(model, **{name: getattr(model, name) + sign * step})
            assert topic_model.bound(rows, other, PRIOR) < at + 1e-7, name
    moved = model.T * np.exp(h * rng.normal(size=model.T.shape))
    other = topic_model.replace(model, T=moved / moved.sum(axis=0))
    assert topic_model.bound(rows, other, PRIOR) < at + 1e-7


def test_it_learns_the_topics_of_planted_data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    T = np.array([[0.5, 0.0], [0.5, 0.0], [0.0, 0.5], [0.0, 0.5]])
    u = rng.gamma(2.0, np.exp(np.column_stack([2 * X[:, 0], -2 * X[:, 0]])) / 2)
    Y = (rng.poisson(u @ T.T) > 0).astype(int)
    model = TopicClassifier(2, alpha=0.1, random_state=0, tol=1e-4, max_iter=200).fit(X, Y)
    order = np.argsort(-model.topics_[0])
    np.testing.assert_allclose(model.topics_[:, order], T, atol=0.1)
    probabilities = model.predict_proba(X)
    literal = topic_model.probabilities(
        np.column_stack([2 * X[:, 0], -2 * X[:, 0]]) - np.log(2), T, np.full(2, 2.0)
    )
    assert np.abs(probabilities - literal).mean() < 0.05


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_sparse_rows():
    X, Y = labelled(40, 7, 5, 0, density=0.5)
    own = {"n_components": 3, "random_state": 0, "max_iter": 20, "tol": 0.0}
    with pytest.warns(UserWarning, match="stopped after max_iter=20 rounds"):
        plain = TopicClassifier(**own).fit(X, Y)
    columns = [scipy.sparse.csr_array(part) for part in (X, Y)]
    sparse = TopicClassifier(**own).fit(*columns)
    np.testing.assert_allclose(sparse.decision_function(X), plain.decision_function(X), atol=1e-8)


def test_a_label_of_no_row_is_improbable():
    X, Y = labelled(60, 4, 5, 0)
    Y[:, 2] = 0
    model = TopicClassifier(2, random_state=0).fit(X, Y)
    assert model.predict_proba(X)[:, 2].max() < 0.01
