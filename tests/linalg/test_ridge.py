"""Ridge from moments against the normal equations, and leave-one-out against leaving one out."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import Ridge

from compactlearn.linalg.operators import Plain, centred
from compactlearn.linalg.ridge import RidgePath, solve_ridge, solve_ridge_iteratively

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 6)) * [1, 2, 0.5, 1, 3, 1]
T = rng.normal(size=(30, 4)) + 2
W = rng.integers(1, 4, size=30).astype(float)


@pytest.mark.parametrize("alpha", [1e-6, 0.1, 1.0, 1e4])
def test_every_penalty_from_one_decomposition(alpha):
    Z = X - X.mean(axis=0)
    path = RidgePath.from_gram(Z.T @ Z)
    expected = Ridge(alpha=alpha, solver="svd").fit(X, T).coef_.T
    np.testing.assert_allclose(path.coefficients(Z.T @ T, alpha), expected, atol=1e-10)
    np.testing.assert_allclose(solve_ridge(Z.T @ Z, Z.T @ T, alpha), expected, atol=1e-10)


def test_no_penalty_and_dependent_columns_give_the_least_norm_solution():
    Z = np.hstack([X, X[:, :2]]) - np.hstack([X, X[:, :2]]).mean(axis=0)
    expected = np.linalg.lstsq(Z, T - T.mean(axis=0), rcond=None)[0]
    np.testing.assert_allclose(solve_ridge(Z.T @ Z, Z.T @ T, 0.0), expected, atol=1e-9)


def test_a_penalty_lost_in_rounding_still_answers():
    gram = np.full((2, 2), 1e18)
    solution = solve_ridge(gram, np.full((2, 1), 1e18), 1e-3)
    np.testing.assert_allclose(solution, 0.5, rtol=1e-6)


@pytest.mark.parametrize("weights", [None, W])
@pytest.mark.parametrize("alpha", [0.0, 0.3, 20.0])
def test_leave_one_out_is_leaving_one_out(alpha, weights):
    """The mean that centres the rows moves when a row leaves; the formula knows."""
    w = np.ones(30) if weights is None else weights
    Z = X - (w @ X) / w.sum()
    path = RidgePath.from_gram((w[:, None] * Z).T @ Z)
    fast = path.leave_one_out(Z, T, alpha, weights)
    for i in range(30):
        rest = np.arange(30) != i
        slow = Ridge(alpha=alpha).fit(X[rest], T[rest], sample_weight=w[rest]).predict(X[i : i + 1])
        np.testing.assert_allclose(fast[i], slow[0], atol=1e-9)


def test_leverages_are_the_diagonal_of_the_hat_matrix():
    Z = X - X.mean(axis=0)
    hat = np.full((30, 30), 1 / 30) + Z @ np.linalg.inv(Z.T @ Z + 0.7 * np.eye(6)) @ Z.T
    leverages = RidgePath.from_gram(Z.T @ Z).leverages(Z, 0.7, 30)
    np.testing.assert_allclose(leverages, np.diag(hat), atol=1e-12)


@pytest.mark.parametrize("sparse", [False, True])
def test_conjugate_gradients_reach_the_solution(sparse):
    mean = X.mean(axis=0)
    rows = centred(sp.csr_array(X), mean) if sparse else Plain(X - mean)
    cross = (X - mean).T @ T
    B, solved = solve_ridge_iteratively(rows, cross, 0.5)
    assert solved
    np.testing.assert_allclose(B, Ridge(alpha=0.5).fit(X, T).coef_.T, atol=1e-10)


def test_conjugate_gradients_say_when_they_did_not_arrive():
    Z = Plain(rng.normal(size=(60, 50)) * np.logspace(0, -8, 50))
    assert not solve_ridge_iteratively(Z, rng.normal(size=(50, 2)), 1e-18, max_iter=3)[1]


def test_conjugate_gradients_of_nothing():
    B, solved = solve_ridge_iteratively(Plain(X), np.zeros((6, 2)), 0.1)
    assert solved
    assert not B.any()
