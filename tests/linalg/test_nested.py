"""Rows under a ridge learner on growing projections: literal ridge regressions, one by one."""

import numpy as np
import pytest
import scipy.sparse as sp

from compactlearn.linalg._build import build_pair
from compactlearn.linalg._learning import constant_left_over, learn_path
from compactlearn.linalg._nested import NestedRows, RowsOnPath, projected_target
from tests.makers import ridge_scores

ROUTES = ["moments", "dual", "krylov"]


def make(n=30, n_features=9, n_labels=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features)) * rng.uniform(0.5, 3, n_features) + 2
    Y = (X[:, :n_labels] + rng.normal(size=(n, n_labels)) > 2.5).astype(float)
    return X, Y, rng.normal(size=(7, n_features)) + 2


def make_pair(X, Y, solver):
    return build_pair(X, sp.csr_array(Y), solver=solver)


def centred_scores(U, T, alpha, U_new):
    """Predictions less the mean of the targets, with a free intercept."""
    return ridge_scores(U, T, alpha, U_new) - T.mean(axis=0)


def literal_codes(X, Y, beta, m):
    Xc = X - X.mean(axis=0)
    return np.linalg.eigh(beta * Xc @ Xc.T + Y @ Y.T)[1][:, ::-1][:, :m]


def principal(X, H, k):
    """The k leading principal directions of what H leaves over."""
    Xc = X - X.mean(axis=0)
    rest = Xc - Xc @ H @ H.T
    return np.linalg.svd(rest, full_matrices=False)[2][:k].T


@pytest.mark.parametrize("alpha", [1e-6, 0.3, 50.0])
@pytest.mark.parametrize("solver", ROUTES)
def test_every_number_of_extra_directions_is_a_ridge_of_its_own(solver, alpha):
    X, Y, new = make()
    m, beta = 3, 0.2
    pair = make_pair(X, Y, solver)
    codes = pair.leading_codes(m, beta)
    head = pair.left.leading_range(codes.left)[0]
    rows = NestedRows.of(pair, head, 6, new)
    target = projected_target(pair, head, codes, codes.right.T)
    counts = [0, 1, 4, 6]
    V = literal_codes(X, Y, beta, m)
    T = V @ V.T @ Y
    H = np.linalg.svd((X - X.mean(axis=0)).T @ V, full_matrices=False)[0]
    for count, found in zip(counts, rows.scores(target, alpha, counts), strict=True):
        P = np.hstack([H, principal(X, H, count)])
        np.testing.assert_allclose(found, centred_scores(X @ P, T, alpha, new @ P), atol=1e-8)


@pytest.mark.parametrize("solver", ROUTES)
@pytest.mark.parametrize("alpha", [0.01, 1.0, 100.0])
def test_rows_on_a_path(solver, alpha):
    """One decomposition for all penalties; predictions are linear in the targets."""
    X, Y, new = make()
    pair = make_pair(X, Y, solver)
    codes = pair.leading_codes(3, 0.2)
    V = literal_codes(X, Y, 0.2, 3)
    W = codes.right.T
    path = learn_path(pair, None, codes)
    rows = RowsOnPath.of(path, new)
    expected = centred_scores(X, V @ V.T @ Y, alpha, new)
    np.testing.assert_allclose(rows.codes(alpha) @ W, expected, atol=1e-9)
    decoded = rows.with_inside(path.inside @ W)
    np.testing.assert_allclose(decoded.codes(alpha), expected, atol=1e-9)


@pytest.mark.parametrize("alpha", [1e-6, 0.3, 50.0])
@pytest.mark.parametrize("solver", ROUTES)
def test_what_a_ridge_without_an_intercept_leaves_over_of_the_constant(solver, alpha):
    """By a literal ridge of ones; and by so much it is short of the free one's intercept."""
    X, Y, new = make()
    pair = make_pair(X, Y, solver)
    head = pair.left.leading_range(pair.leading_codes(3, 0.2).left)[0]
    rows = NestedRows.of(pair, head, 4, new)
    counts = [0, 2, 4]
    more = pair.left.principal_directions(4, head)[0]
    for count, found in zip(counts, rows.constant_left_over(alpha, counts), strict=True):
        P = np.hstack([head, more[:, :count]])
        np.testing.assert_allclose(found, literal_left_over(X @ P, alpha, new @ P), atol=1e-7)
        again = constant_left_over(pair, P, alpha, new)
        np.testing.assert_allclose(again, found, atol=1e-7)
    left = constant_left_over(pair, None, alpha, new)
    np.testing.assert_allclose(left, literal_left_over(X, alpha, new), atol=1e-7)
    plain = np.linalg.solve(X.T @ X + alpha * np.eye(X.shape[1]), X.T @ Y)
    origin = ridge_scores(X, Y, alpha, np.zeros((1, X.shape[1])))
    free = ridge_scores(X, Y, alpha, new)
    np.testing.assert_allclose(free - left * origin, new @ plain, atol=1e-7)


def literal_left_over(U, alpha, U_new):
    ones = np.ones((len(U), 1))
    return 1 - U_new @ np.linalg.solve(U.T @ U + alpha * np.eye(U.shape[1]), U.T @ ones)
