"""Ridge from moments against the normal equations."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from compactlearn.linalg._ridge import (
    RidgePath,
    ridge_inverse,
    solve_ridge,
)

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


# --- the inverse itself --------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.0, 1e-9, 0.1, 1e4])
def test_the_inverse_of_a_regular_matrix(alpha):
    gram = X.T @ X
    inverse, trace = ridge_inverse(gram, alpha)
    np.testing.assert_allclose(inverse @ (gram + alpha * np.eye(6)), np.eye(6), atol=1e-9)
    np.testing.assert_allclose(trace, np.trace(gram @ inverse), rtol=1e-10)
    np.testing.assert_allclose(inverse, inverse.T, rtol=0, atol=1e-15)


@pytest.mark.parametrize("alpha", [0.0, 1e-12])
def test_the_inverse_of_a_singular_matrix_is_the_pseudo_inverse(alpha):
    Z = np.hstack([X, X[:, :2]])
    inverse, trace = ridge_inverse(Z.T @ Z, alpha)
    np.testing.assert_allclose(inverse, np.linalg.pinv(Z.T @ Z), atol=1e-10)
    np.testing.assert_allclose(trace, 6, rtol=1e-9)  # the rank


def test_the_inverse_of_nothing():
    inverse, trace = ridge_inverse(np.zeros((2, 2)), 0.0)
    assert not inverse.any()
    assert trace == 0
    inverse, trace = ridge_inverse(np.zeros((2, 2)), 4.0)
    np.testing.assert_array_equal(inverse, np.eye(2) / 4)
    assert trace == 0
