"""Held-out predictions in closed form are those of a ridge that is fitted without each fold."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

from compactlearn.crossfit._leave_out import held_out_predictions


def one_by_one(X, T, fold, alpha, weights=None, held_out=None):
    new = X if held_out is None else held_out
    predicted = np.empty_like(T)
    for k in np.unique(fold):
        rest = fold != k
        own = None if weights is None else weights[rest]
        predicted[~rest] = (
            Ridge(alpha=alpha)
            .fit(X[rest], T[rest], own)
            .predict(new[~rest])
            .reshape(-1, T.shape[1])
        )
    return predicted


@given(
    n=st.integers(4, 30),
    d=st.integers(1, 12),
    m=st.integers(1, 4),
    n_folds=st.integers(2, 4),
    alpha=st.sampled_from([0.01, 1.0, 100.0]),
    weighted=st.booleans(),
    seed=st.integers(0, 2**16),
)
def test_predictions_equal_fits_without_each_fold(n, d, m, n_folds, alpha, weighted, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + rng.normal(scale=3.0, size=d)
    T = rng.normal(size=(n, m)) + 5.0
    fold = rng.permutation(np.arange(n) % n_folds)
    weights = rng.uniform(0.2, 3.0, size=n) if weighted else None
    (predicted,) = held_out_predictions(X @ X.T, T, fold, [alpha], weights)
    expected = one_by_one(X, T, fold, alpha, weights)
    np.testing.assert_allclose(predicted, expected, rtol=1e-7, atol=1e-7)
    new = X + rng.normal(size=(n, d))  # the rows as they are where they are held out
    (predicted,) = held_out_predictions(X @ X.T, T, fold, [alpha], weights, new @ X.T)
    expected = one_by_one(X, T, fold, alpha, weights, new)
    # Two numbers of the size of 1 / alpha are subtracted.
    np.testing.assert_allclose(predicted, expected, rtol=1e-7, atol=1e-7 * max(1, 1 / alpha))


def test_the_targets_of_a_fold_do_not_change_its_predictions():
    rng = np.random.default_rng(2)
    X, T, fold = rng.normal(size=(15, 4)), rng.normal(size=(15, 2)), np.arange(15) % 3
    (before,) = held_out_predictions(X @ X.T, T, fold, [0.3])
    T = T.copy()
    T[fold == 1] += 100.0
    (after,) = held_out_predictions(X @ X.T, T, fold, [0.3])
    np.testing.assert_allclose(after[fold == 1], before[fold == 1], atol=1e-9)
    assert np.abs(after[fold != 1] - before[fold != 1]).max() > 1.0
