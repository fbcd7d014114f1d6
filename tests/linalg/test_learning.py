"""Rows under a ridge learner: literal ridge regressions, one by one."""

import numpy as np
import pytest
import scipy.sparse as sp

from compactlearn.linalg._build import build_pair
from compactlearn.linalg._learning import RowsOnPath, constant_left_over, learn_path
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
    P = pair.left.leading_range(pair.leading_codes(3, 0.2).left)[0]
    found = constant_left_over(pair, P, alpha, new)
    np.testing.assert_allclose(found, literal_left_over(X @ P, alpha, new @ P), atol=1e-7)
    left = constant_left_over(pair, None, alpha, new)
    np.testing.assert_allclose(left, literal_left_over(X, alpha, new), atol=1e-7)
    plain = np.linalg.solve(X.T @ X + alpha * np.eye(X.shape[1]), X.T @ Y)
    origin = ridge_scores(X, Y, alpha, np.zeros((1, X.shape[1])))
    free = ridge_scores(X, Y, alpha, new)
    np.testing.assert_allclose(free - left * origin, new @ plain, atol=1e-7)


def literal_left_over(U, alpha, U_new):
    ones = np.ones((len(U), 1))
    return 1 - U_new @ np.linalg.solve(U.T @ U + alpha * np.eye(U.shape[1]), U.T @ ones)
