"""Tests of the objective reached, of the constraints and of the iterations."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from compactlearn import CMLL
from tests.makers import modest

from .helpers import (
    alternate,
    assert_orthonormal,
    assert_same_span,
    dependence,
    joint_matrix,
    literal_cmll,
    n_positive,
    objective,
    problem,
    recovery,
    spectrum,
    top,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

SOLVERS = ["auto", "moments", "dual", "krylov"]

# n, D, M, m, d, beta: problems where the projection is narrower than the codes.
NARROW = [
    (30, 8, 6, 4, 2, 0.3),
    (18, 25, 7, 6, 3, 0.05),
    (40, 6, 9, 9, 1, 1.0),
    (25, 10, 5, 5, 4, 5.0),
]


def closed_objective(X, Y, beta, m):
    return float(np.sum(spectrum(joint_matrix(X, Y, beta))[0][:m]))


@pytest.mark.parametrize("solver", SOLVERS)
@modest
@given(
    n=st.integers(10, 30),
    n_features=st.integers(1, 12),
    n_labels=st.integers(2, 7),
    share=st.floats(0.1, 1.0),
    extra=st.integers(0, 4),
    beta=st.sampled_from([0.0, 0.01, 0.5, 1.0, 20.0]),
    seed=st.integers(0, 10_000),
)
def test_wide_projection_reaches_the_sum_of_leading_eigenvalues(
    solver, n, n_features, n_labels, share, extra, beta, seed
):
    X, Y = problem(n, n_features, n_labels, seed)
    m = max(1, round(share * n_labels))
    d = min(n_features, m + extra)
    values = spectrum(joint_matrix(X, Y, beta))[0]
    assume(m <= n_positive(values) and values[m - 1] > 1e-8 * values[0])
    model = CMLL(n_feature_components=d, n_label_components=m, beta=beta, solver=solver).fit(X, Y)
    np.testing.assert_allclose(model.objective_, values[:m].sum(), rtol=1e-9)
    assert_orthonormal(model.codes_, atol=max(1e-9, 1e-13 * values[0] / values[m - 1]))
    assert_orthonormal(model.projection_)


@pytest.mark.parametrize("solver", SOLVERS)
def test_codes_and_projection_span_the_literal_solution(solver):
    X, Y = problem(35, 9, 6, seed=5)
    model = CMLL(n_feature_components=5, n_label_components=4, beta=0.2, solver=solver).fit(X, Y)
    literal = literal_cmll(X, Y, 0.2, 4, 5)
    assert_same_span(model.codes_, literal.codes)
    assert_same_span(model.projection_, literal.projection)


@pytest.mark.parametrize("solver", SOLVERS)
def test_codes_are_ordered_eigenvectors_with_a_fixed_sign(solver):
    X, Y = problem(35, 9, 6, seed=6)
    model = CMLL(n_label_components=5, beta=0.2, solver=solver).fit(X, Y)
    quadratic = model.codes_.T @ joint_matrix(X, Y, 0.2) @ model.codes_
    expected = spectrum(joint_matrix(X, Y, 0.2))[0][:5]
    np.testing.assert_allclose(quadratic, np.diag(expected), atol=1e-8 * expected[0])
    peak = np.argmax(np.abs(model.decoder_), axis=1)
    assert np.all(model.decoder_[np.arange(5), peak] > 0)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("d", [2, 4, None])
def test_objective_is_the_weighted_sum_of_its_parts(solver, d):
    X, Y = problem(35, 9, 6, seed=7)
    beta = 0.4
    model = CMLL(
        n_feature_components=d, n_label_components=4, beta=beta, solver=solver, random_state=0
    ).fit(X, Y)
    assert model.beta_ == beta
    V, P = model.codes_, model.projection_
    np.testing.assert_allclose(model.dependence_, dependence(X, V, P), rtol=1e-9)
    np.testing.assert_allclose(model.recovery_, recovery(Y, V), rtol=1e-9)
    np.testing.assert_allclose(model.objective_, objective(X, Y, beta, V, P), rtol=1e-9)
    np.testing.assert_allclose(
        model.objective_, beta * model.dependence_ + model.recovery_, rtol=1e-12
    )


@pytest.mark.parametrize("d", [4, 6, 9, None])
def test_value_does_not_depend_on_a_wide_enough_d(d):
    X, Y = problem(35, 9, 6, seed=9)
    options = {"n_label_components": 4, "beta": 0.3, "completion": "krylov"}
    model = CMLL(n_feature_components=d, **options).fit(X, Y)
    assert (model.projection_ is None) if d is None else (model.projection_.shape == (9, d))
    np.testing.assert_allclose(model.objective_, closed_objective(X, Y, 0.3, 4), rtol=1e-10)


@pytest.mark.parametrize(("n", "n_features", "n_labels", "m", "d", "beta"), NARROW)
def test_half_steps_never_lower_the_objective(n, n_features, n_labels, m, d, beta):
    X, Y = problem(n, n_features, n_labels, seed=12)
    model = CMLL(n_feature_components=d, n_label_components=m, beta=beta).fit(X, Y)
    path = np.asarray(model.objective_path_)
    assert path.ndim == 1
    assert len(path) >= 2
    assert np.all(np.diff(path) >= -1e-10 * path[-1])
    np.testing.assert_allclose(path[-1], model.objective_, rtol=1e-9)
    assert model.objective_ <= closed_objective(X, Y, beta, m) * (1 + 1e-10)
    assert model.n_iter_ >= 1
    assert_orthonormal(model.codes_)
    assert_orthonormal(model.projection_)
    assert model.codes_.shape == (n, m)
    assert model.projection_.shape == (n_features, d)


@modest
@given(
    n=st.integers(10, 24),
    n_features=st.integers(2, 9),
    n_labels=st.integers(2, 6),
    beta=st.sampled_from([0.01, 0.5, 10.0]),
    seed=st.integers(0, 10_000),
    data=st.data(),
)
def test_constraints_hold_for_every_pair_of_sizes(n, n_features, n_labels, beta, seed, data):
    m = data.draw(st.integers(1, n_labels))
    d = data.draw(st.integers(1, n_features))
    X, Y = problem(n, n_features, n_labels, seed)
    model = CMLL(n_feature_components=d, n_label_components=m, beta=beta).fit(X, Y)
    assert_orthonormal(model.codes_)
    assert_orthonormal(model.projection_)
    path = np.asarray(model.objective_path_)
    assert np.all(np.diff(path) >= -1e-9 * path[-1])
    assert model.objective_ <= closed_objective(X, Y, beta, m) * (1 + 1e-9)


@pytest.mark.parametrize(("n", "n_features", "n_labels", "m", "d", "beta"), NARROW)
def test_auto_is_at_least_as_high_as_twenty_random_starts(n, n_features, n_labels, m, d, beta):
    X, Y = problem(n, n_features, n_labels, seed=13)
    sizes = {"n_feature_components": d, "n_label_components": m, "beta": beta}
    ours = CMLL(**sizes, tol=1e-12, max_iter=5000).fit(X, Y)
    best = max(alternate(X, Y, beta, m, d, seed, tol=1e-11)[0] for seed in range(20))
    assert ours.objective_ >= best * (1 - 1e-8)
    np.testing.assert_allclose(
        ours.objective_, objective(X, Y, beta, ours.codes_, ours.projection_)
    )


def test_narrow_solution_is_a_fixed_point_of_both_half_steps():
    X, Y = problem(30, 8, 6, seed=15)
    model = CMLL(
        n_feature_components=2, n_label_components=4, beta=0.3, tol=1e-14, max_iter=20_000
    ).fit(X, Y)
    Xc = X - X.mean(axis=0)
    V, P = model.codes_, model.projection_
    G = Xc.T @ V
    assert_same_span(P, top(G @ G.T, 2), atol=1e-4)
    XP = Xc @ P
    assert_same_span(V, top(0.3 * XP @ XP.T + Y @ Y.T, 4), atol=1e-4)


@pytest.mark.parametrize("m", [3, 12, 20, 39])
@pytest.mark.parametrize("solver", SOLVERS)
def test_forty_equal_eigenvalues(solver, m):
    """More copies than a block of an iterative search has columns, and the next value close by."""
    Y = np.kron(np.eye(40), np.ones((3, 1)))
    X = np.random.default_rng(0).normal(size=(120, 60))
    model = CMLL(n_label_components=m, beta=0.0, solver=solver).fit(X, Y)
    np.testing.assert_allclose(model.objective_, 3.0 * m, rtol=1e-10)
    assert_orthonormal(model.codes_)
    assert_orthonormal(model.projection_)
    np.testing.assert_allclose(recovery(Y, model.codes_), 3.0 * m, rtol=1e-10)
