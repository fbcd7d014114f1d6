"""One method, many routes, where there is no closed form or the route is hard pressed."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from compactlearn import CMLL, CMLLClassifier
from tests.makers import modest, untuned

from .helpers import (
    assert_scores,
    is_well_posed,
    literal_scores,
    new_rows,
    problem,
)
from .routes import ROUTES

BETA = 0.15


@pytest.mark.parametrize("fit", ROUTES.values(), ids=ROUTES.keys())
@pytest.mark.parametrize("shape", [(50, 9, 7), (16, 24, 7)])
def test_every_route_agrees_where_the_projection_binds(fit, shape):
    """d < m: no closed form, but one deterministic start and one fixed point."""
    X, Y = problem(*shape, seed=52)
    X_new = new_rows(X)
    embedding = CMLL(2, 5, beta=BETA, tol=1e-13, max_iter=20_000)
    expected = untuned(embedding).fit(X, Y)
    model = fit(untuned(embedding), X, Y)
    np.testing.assert_allclose(
        model.embedding_.objective_, expected.embedding_.objective_, rtol=1e-10
    )
    # The objective is flat at its top: thirteen digits of it are six or seven of the subspaces.
    assert_scores(model.decision_function(X_new), expected.decision_function(X_new), 1e-6)


@modest
@given(
    n=st.integers(45, 90),
    rank=st.integers(1, 12),
    m=st.integers(1, 6),
    scale=st.sampled_from([1e-3, 1.0, 1e3]),
    solver=st.sampled_from(["moments", "dual", "krylov"]),
    seed=st.integers(0, 10_000),
)
def test_features_of_low_rank(n, rank, m, scale, solver, seed):
    """Forty columns, few of them independent: a search for subspaces runs out of directions."""
    rng = np.random.default_rng(seed)
    low, Y = problem(n, rank, 12, seed=seed)
    X = scale * low @ np.linalg.qr(rng.normal(size=(40, rank)))[0].T
    d = min(m, rank)
    beta = 0.1 * np.sum(Y**2) / np.sum((X - X.mean(axis=0)) ** 2)
    assume(is_well_posed(X, Y, beta, m, d))
    X_new = new_rows(X)
    model = CMLLClassifier(
        n_feature_components=d,
        n_label_components=m,
        beta=beta,
        solver=solver,
        alpha=scale**2,
    ).fit(X, Y)
    expected = literal_scores(X, Y, X_new, beta, m, d, alpha=scale**2)
    assert_scores(model.decision_function(X_new), expected)


@pytest.mark.parametrize("d", ["auto", None])
@pytest.mark.parametrize("solver", ["moments", "dual", "krylov"])
@pytest.mark.parametrize("shape", [(700, 300, 60), (300, 700, 60)], ids=["tall", "wide"])
def test_bags_of_words(shape, solver, d):
    """Large enough that no route falls back on a small dense problem."""
    rng = np.random.default_rng(0)
    n, n_features, n_labels = shape
    topics = rng.random((n, 12)) < 0.15
    words = rng.random((12, n_features)) < 0.08
    labels = rng.random((12, n_labels)) < 0.1
    X = ((topics @ words > 0) & (rng.random((n, n_features)) < 0.5)).astype(float)
    Y = ((topics @ labels > 0) & (rng.random((n, n_labels)) < 0.7)).astype(float)
    m = 14
    beta = 0.1 * np.sum(Y**2) / np.sum((X - X.mean(axis=0)) ** 2)
    assert is_well_posed(X, Y, beta, m, None if d is None else m), "choose another seed"
    model = CMLLClassifier(
        n_feature_components=d, n_label_components=m, beta=beta, solver=solver
    ).fit(sp.csr_array(X), sp.csr_array(Y))
    rows = X[:40]
    expected = literal_scores(X, Y, rows, beta, m, None if d is None else m)
    assert_scores(model.decision_function(rows), expected)
