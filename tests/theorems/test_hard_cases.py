"""Inputs that once went wrong, or nearly: each states what must hold all the same."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.ensemble import StackingRegressor
from sklearn.linear_model import MultiTaskLasso, Ridge
from sklearn.preprocessing import StandardScaler

from compactlearn import CMLL, CMLLClassifier, CompactClassifier, Moments, Original

from .helpers import alternate, new_rows, problem

SOLVERS = ["moments", "dual", "krylov"]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("solver", [*SOLVERS, "partial_fit"])
def test_a_constant_column_is_not_scaled_up(solver, form):
    """Its variance is rounding; one over its root would drown the other features."""
    X, Y = problem(60, 12, 5)
    X_new = new_rows(X)
    wider, wider_new = np.c_[X, np.full(60, 0.1)], np.c_[X_new, np.full(len(X_new), 0.1)]

    def fitted(X):
        if solver == "partial_fit":
            return CMLLClassifier(scale=True).partial_fit(X, Y)
        return CMLLClassifier(scale=True, solver=solver).fit(X, Y)

    model = fitted(form(wider))
    assert model.scale_[-1] == 1.0
    expected = fitted(form(X)).decision_function(X_new)
    np.testing.assert_allclose(model.decision_function(wider_new), expected, atol=1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
def test_an_offset_column_among_zeros_keeps_its_variance(solver):
    """Mostly zero, so it would be compressed; but then 1e7 could not be taken off the column."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 60)) * (rng.random((200, 60)) < 0.05)
    signal = rng.normal(size=200)
    Y = (signal[:, None] + 0.3 * rng.normal(size=(200, 4)) > 0).astype(int)
    plain, shifted = X.copy(), X.copy()
    plain[:, 0], shifted[:, 0] = signal, signal + 1e7
    expected = CMLLClassifier(solver=solver).fit(plain, Y).decision_function(plain)
    scores = CMLLClassifier(solver=solver).fit(shifted, Y).decision_function(shifted)
    np.testing.assert_allclose(scores, expected, atol=1e-6)


@pytest.mark.parametrize("scale", [1.0, 1e8])
@pytest.mark.parametrize("beta", [1e-12, 1.0, 1e12])
def test_extreme_balances_agree(beta, scale):
    X, Y = problem(60, 40, 3)
    X = X * scale
    scores = [
        CMLLClassifier(None, 3, beta=beta, alpha=scale**2, solver=solver)
        .fit(X, Y)
        .decision_function(X)
        for solver in SOLVERS
    ]
    np.testing.assert_allclose(scores[2], scores[1], atol=1e-8)


@pytest.mark.parametrize("alpha", [0.0, 1e-8, 1e-5, 1e-3])
def test_small_penalties_on_singular_features(alpha):
    """More features than rows: what rounding leaves outside their span must not be divided."""
    X, Y = problem(40, 100, 5)
    X *= 30
    X_new = new_rows(X)
    U, s, Vt = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    U, s, Vt = U[:, :39], s[:39], Vt[:39]
    B = Vt.T @ ((s / (s**2 + alpha))[:, None] * (U.T @ Y))
    expected = Y.mean(axis=0) + (X_new - X.mean(axis=0)) @ B
    for fit in (lambda m: m.partial_fit(X, Y), lambda m: m.fit(X, Y)):
        scores = fit(CompactClassifier(Original(), alpha=alpha)).decision_function(X_new)
        np.testing.assert_allclose(scores, expected, atol=1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
def test_entries_given_twice_count_as_their_sum(solver):
    X, Y = problem(40, 8, 5)
    rows, columns = np.nonzero(X)
    half = X[rows, columns] / 2
    twice = sp.csr_array(
        sp.coo_array((np.r_[half, half], (np.r_[rows, rows], np.r_[columns, columns])), X.shape)
    )
    doubled = sp.csr_matrix(
        (np.repeat(half, 2), np.repeat(columns, 2), 2 * sp.csr_array(X).indptr), X.shape
    )
    assert not doubled.has_canonical_format
    before = doubled.data.copy()
    expected = CMLLClassifier(solver=solver).fit(X, Y).decision_function(X)
    for given in (twice, doubled):
        scores = CMLLClassifier(solver=solver).fit(given, Y).decision_function(given)
        np.testing.assert_allclose(scores, expected, atol=1e-8)
    np.testing.assert_array_equal(doubled.data, before)


def test_moments_after_a_feature_map_forget_the_map():
    X, Y = problem(60, 8, 5)
    model = CompactClassifier(feature_map=StandardScaler()).fit(X, Y)
    model.set_params(feature_map=None).fit_moments(Moments.from_arrays(X, Y))
    expected = CompactClassifier().fit(X, Y).decision_function(X)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-8)


def test_a_feature_map_that_returns_nan_is_named():
    class Spoiler(StandardScaler):
        def transform(self, X, copy=None):
            return super().transform(X) * np.nan

    X, Y = problem(60, 8, 5)
    with pytest.raises(ValueError, match=r"feature_map=Spoiler.*NaN"):
        CompactClassifier(feature_map=Spoiler()).fit(X, Y)


def test_a_low_rank_is_no_failure_to_converge():
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.normal(size=(600, 4)) @ rng.normal(size=(4, 300)))
    Y = np.repeat((rng.random((600, 5)) < 0.3).astype(int), 30, axis=1)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        model = CMLL(solver="krylov").fit(X, Y)
    assert model.n_label_components_ == 9
    assert [str(warning.message)[:2] for warning in seen] == ["75"]  # cut, and nothing else


@pytest.mark.parametrize(
    ("regressor", "m"),
    [  # its predict exists only once it is fitted; it takes matrices only
        (StackingRegressor([("r", Ridge())]), 1),
        (MultiTaskLasso(0.01), 1),
        (MultiTaskLasso(0.01), 3),
    ],
)
def test_regressors_with_ways_of_their_own(regressor, m):
    X, Y = problem(60, 8, 5)
    model = CompactClassifier(CMLL(n_label_components=m), regressor=regressor).fit(X, Y)
    assert model.predict_codes(X).shape == (60, m)


def binding(seed):
    """A problem with fewer feature than label components, of the kind in which local maxima are."""
    rng = np.random.default_rng(seed)
    N, D, M = rng.integers(20, 60), rng.integers(4, 25), rng.integers(4, 15)
    X = rng.normal(size=(N, D))
    signal = X[:, :3] @ rng.normal(size=(3, M)) + rng.normal(size=(N, M))
    Y = (signal > 0.7).astype(int)
    m = int(rng.integers(2, M + 1))
    d = int(rng.integers(1, min(m, D)))
    balance = np.sum(Y**2) / np.sum((X - X.mean(axis=0)) ** 2)
    return X, Y, d, m, float(10.0 ** rng.uniform(-2, 2) * balance)


@pytest.mark.parametrize("seed", [24, 1468, 1584])
def test_local_maxima_are_left_behind(seed):
    """Here the ascent from the closed form alone ends below the best of twenty random starts."""
    X, Y, d, m, beta = binding(seed)
    ours = CMLL(d, m, beta=beta).fit(X, Y).objective_
    theirs = max(alternate(X, Y, beta, m, d, start, tol=1e-11)[0] for start in range(20))
    assert ours >= theirs * (1 - 1e-9)


def test_the_ascent_ends_where_plain_rounds_gain_nothing():
    """A short step with momentum is no proof of convergence; more plain rounds would show it."""
    for seed in range(1, 80):
        X, Y, d, m, beta = binding(seed)
        model = CMLL(d, m, beta=beta).fit(X, Y)
        if not model.solver_.startswith("accelerated"):
            continue
        Xc, P = X - X.mean(axis=0), model.projection_
        for _ in range(200):
            Z = np.hstack([np.sqrt(beta) * Xc @ P, Y])
            V = np.linalg.svd(Z, full_matrices=False)[0][:, :m]
            P = np.linalg.svd(Xc.T @ V, full_matrices=False)[0][:, :d]
        reached = beta * np.sum((P.T @ Xc.T @ V) ** 2) + np.sum((Y.T @ V) ** 2)
        assert reached <= model.objective_ * (1 + 1e-10), seed


def test_a_warning_points_at_the_line_that_asked():
    X, Y = problem(40, 8, 5)
    Y = np.c_[Y, Y]
    rng = np.random.default_rng(0)  # without any signal the ascent is far from its end in time
    noise = rng.normal(size=(200, 80)), (rng.random((200, 40)) < 0.5).astype(int)
    for fit in (
        lambda: CMLLClassifier(n_label_components=10, beta=0.0).fit(X, Y),
        lambda: CMLL(n_label_components=10, beta=0.0).fit(X, Y),
        lambda: CompactClassifier(CMLL(5, 20, beta=1.0, max_iter=1)).fit(*noise),
        lambda: CompactClassifier().fit(X, Y[:, :1]),
    ):
        with pytest.warns() as seen:
            fit()
        assert {warning.filename for warning in seen} == {__file__}
