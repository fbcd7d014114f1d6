"""The literal Algorithm 1 reproduces numbers computed by hand-sized independent means."""

from itertools import pairwise

import numpy as np
import pytest

from tests.reference.literal import algorithm_1, dependence_and_recovery, ridge, scores

X = np.array([[1, 0, 2], [0, 1, 1], [2, 1, 0], [1, 3, 1], [0, 2, 3], [3, 1, 1]], dtype=float)
Y = np.array(
    [[1, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0], [0, 1, 1, 0], [0, 1, 0, 1], [1, 0, 1, 1]],
    dtype=float,
)
BETA = 0.5
# Leading eigenvalues of beta HXX'H + YY' (CMLL_y): the bound on the objective is their sum.
FULL = np.array([7.653717, 5.809713, 3.011585, 1.953149, 1.101920])

# m, d, Gamma, dependence, recovery; from a separate computation, rounded to six decimals.
ORACLE = [
    (2, 1, 13.306981, 9.221058, 8.696452),
    (2, 2, 13.463429, 9.629931, 8.648464),
    (2, 3, 13.463429, 9.629931, 8.648464),
    (3, 1, 14.610381, 9.216748, 10.002007),
    (3, 2, 16.318864, 14.601196, 9.018266),
]


@pytest.mark.parametrize("eigen", ["full", "arpack"])
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(("m", "d", "objective", "dependence", "recovery"), ORACLE)
def test_oracle_rows(m, d, objective, dependence, recovery, seed, eigen):
    solution = algorithm_1(X, Y, m, d, beta=BETA, tol=1e-15, max_iter=5000, seed=seed, eigen=eigen)
    assert solution.objective == pytest.approx(objective, abs=2e-6)
    assert dependence_and_recovery(solution.V, solution.P, X, Y) == pytest.approx(
        (dependence, recovery), abs=2e-5
    )


@pytest.mark.parametrize(("m", "d"), [(2, 1), (3, 2), (2, 3), (4, 3)])
@pytest.mark.parametrize("seed", range(5))
def test_constraints_monotone_path_and_bound(m, d, seed):
    solution = algorithm_1(X, Y, m, d, beta=BETA, seed=seed)
    np.testing.assert_allclose(solution.V.T @ solution.V, np.eye(m), atol=1e-12)
    np.testing.assert_allclose(solution.P.T @ solution.P, np.eye(d), atol=1e-12)
    np.testing.assert_allclose(solution.W, solution.V.T @ Y, atol=1e-12)
    assert all(after >= before - 1e-9 for before, after in pairwise(solution.path))
    assert solution.objective <= FULL[:m].sum() + 1e-5
    assert len(solution.path) == solution.n_iter + 1
    assert solution.n_iter <= 50


def test_the_stopping_rule_is_relative_change_below_tol():
    path = algorithm_1(X, Y, 3, 1, beta=BETA, tol=1e-5).path
    changes = np.abs(np.diff(path)) / np.array(path[:-1])
    assert changes[-1] < 1e-5
    assert (changes[:-1] >= 1e-5).all()


def test_decoder_ridge_only_shrinks_the_scores():
    plain = algorithm_1(X, Y, 2, 2, beta=BETA)
    shrunk = algorithm_1(X, Y, 2, 2, beta=BETA, lam=0.1)
    np.testing.assert_allclose(shrunk.W * 1.1, plain.W, atol=1e-12)
    np.testing.assert_allclose(
        scores(shrunk, X, X, 0.1) * 1.1, scores(plain, X, X, 0.1), atol=1e-12
    )


def test_ridge_with_a_free_intercept_matches_the_oracle():
    model = ridge(X, Y, 0.1)
    predicted = np.ones(3) @ model.coef + model.intercept
    np.testing.assert_allclose(predicted, [0.534389, 0.465611, 0.359309, 0.092822], atol=1e-6)


def test_scores_with_every_component_and_no_dependence_are_plain_ridge():
    # beta = 0 and m = rank(Y) make VV'Y = Y; d = D makes XP a rotation of X.
    solution = algorithm_1(X, Y, 4, 3, beta=0.0)
    model = ridge(X, Y, 0.1)
    np.testing.assert_allclose(
        scores(solution, X, X, 0.1), X @ model.coef + model.intercept, atol=1e-10
    )
