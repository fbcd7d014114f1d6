"""Rembrandt: uncentred CPLST, exactly where its block is full and nearly where it is not."""

import numpy as np
import pytest

from compactlearn import CompactClassifier, Original
from compactlearn.related import Rembrandt
from tests.makers import make_data, maker, ridge_scores

wide = maker(200, 30, 60, noise=2.0)


def literal_hat(X, ridge):
    return X @ np.linalg.solve(X.T @ X + ridge * np.eye(X.shape[1]), X.T)


def leading(S, m):
    return np.linalg.eigh((S + S.T) / 2)[1][:, ::-1][:, :m]


def test_a_full_block_is_the_exact_decomposition():
    X, Y = make_data(50, 8, 7, seed=1)
    X_new = make_data(9, 8, 7, seed=2)[0]
    ridge = 0.5 * np.sum(X**2) / 8  # in units of the features
    model = CompactClassifier(Rembrandt(3, lam=0.5, random_state=0), alpha=2.0).fit(X, Y)
    S = Y.T @ literal_hat(X, ridge) @ Y
    O = leading(S, 3)
    lost = Y.mean(axis=0) @ (np.eye(7) - O @ O.T)
    expected = ridge_scores(X, Y @ O, 2.0, X_new) @ O.T + lost
    np.testing.assert_allclose(model.decision_function(X_new), expected, atol=1e-8)
    values = np.linalg.eigvalsh((S + S.T) / 2)[::-1][:3]
    np.testing.assert_allclose(model.embedding_.eigenvalues_, values, rtol=1e-9)
    assert model.embedding_.ridge_ == pytest.approx(ridge)


def best_sum(X, Y, m, ridge):
    return np.linalg.eigvalsh(Y.T @ literal_hat(X, ridge) @ Y)[::-1][:m].sum()


@pytest.mark.parametrize(
    ("oversampling", "n_power", "share"), [(20, 0, 0.85), (20, 1, 0.99), (20, 3, 0.9999)]
)
def test_a_small_block_has_a_share_of_the_objective(oversampling, n_power, share):
    X, Y = wide(seed=4)
    for seed in range(5):
        settings = {"oversampling": oversampling, "n_power": n_power, "random_state": seed}
        found = Rembrandt(8, lam=0.05, **settings).fit(X, Y)
        best = best_sum(X, Y, 8, found.ridge_)
        assert share * best <= found.objective_ <= best * (1 + 1e-9)
        O = found.decoder_.T
        np.testing.assert_allclose(O.T @ O, np.eye(8), atol=1e-10)


def test_all_directions_are_plain_ridge():
    X, Y = make_data(50, 8, 7, seed=5)
    found = CompactClassifier(Rembrandt(1.0, offset="none"), alpha=0.7).fit(X, Y)
    expected = CompactClassifier(Original(), alpha=0.7).fit(X, Y)
    np.testing.assert_allclose(found.decision_function(X), expected.decision_function(X), atol=1e-8)
