"""Many logistic regressions side by side are the same ones as each by itself."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from compactlearn.linalg import _many_logistic as many_logistic
from compactlearn.linalg._many_logistic import Problems, margins_of, solve_many
from tests.makers import modest


def make_problems(n_rows, n_features, n_problems, seed, density=0.3):
    rng = np.random.default_rng(seed)
    X = sp.csr_array(sp.random(n_rows, n_features, density, random_state=seed, format="csr"))
    rows = [
        np.sort(rng.choice(n_rows, rng.integers(0, n_rows + 1), replace=False))
        for _ in range(n_problems)
    ]
    starts = np.concatenate([[0], np.cumsum([len(part) for part in rows])])
    pairs = int(starts[-1])
    rows = np.concatenate([np.zeros(0, dtype=int), *rows])
    return X, Problems(starts, rows, rng.random(pairs) < 0.4, rng.normal(size=pairs))


def gradient(X, problem, w, b, C):
    """Return the gradient of one problem from its dense formula."""
    A = X[problem.rows].toarray()
    residual = C * (expit(problem.offsets + A @ w + b) - problem.positive)
    return np.append(w + A.T @ residual, b + residual.sum())


@modest
@given(st.integers(1, 30), st.integers(1, 8), st.integers(1, 6), st.sampled_from([0.1, 1.0, 20.0]))
def test_every_gradient_vanishes(n_rows, n_features, n_problems, C):
    X, problems = make_problems(n_rows, n_features, n_problems, seed=n_rows + 7 * n_features)
    found = solve_many(X, problems, C, tol=1e-9)
    W = found.coefficients.toarray()
    for k in range(n_problems):
        part = problems.part(k, k + 1)
        g = gradient(X, part, W[k], found.intercepts[k], C)
        start = gradient(X, part, np.zeros(n_features), 0.0, C)
        assert np.linalg.norm(g) <= 1e-6 * max(1.0, np.linalg.norm(start))


def test_the_same_as_scikit_learn_without_offsets():
    X, problems = make_problems(60, 9, 5, seed=0)
    problems = Problems(
        problems.starts, problems.rows, problems.positive, np.zeros(problems.rows.size)
    )
    found = solve_many(X, problems, 3.0, tol=1e-10)
    for k in range(5):
        part = problems.part(k, k + 1)
        A = np.column_stack([X[part.rows].toarray(), np.ones(part.rows.size)])
        model = LogisticRegression(C=3.0, fit_intercept=False, tol=1e-12, max_iter=10_000)
        coef = model.fit(A, part.positive).coef_[0]
        ours = np.append(found.coefficients[[k]].toarray(), found.intercepts[k])
        np.testing.assert_allclose(ours, coef, atol=1e-5)


@pytest.mark.parametrize("entries", [1, 40, 10**6])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_what_lies_side_by_side_does_not_matter(monkeypatch, entries, n_threads):
    X, problems = make_problems(50, 12, 9, seed=1)
    expected = solve_many(X, problems, 2.0, tol=1e-10)
    monkeypatch.setattr(many_logistic, "_BLOCK_ENTRIES", entries)
    found = solve_many(X, problems, 2.0, tol=1e-10, n_threads=n_threads)
    np.testing.assert_allclose(
        found.coefficients.toarray(), expected.coefficients.toarray(), atol=1e-8
    )
    np.testing.assert_allclose(found.intercepts, expected.intercepts, atol=1e-8)


def test_a_row_of_weight_two_is_there_twice():
    X, problems = make_problems(30, 6, 5, seed=8)
    weights = np.random.default_rng(0).integers(0, 3, 30)
    weighed = solve_many(X, problems, 2.0, row_weights=weights, tol=1e-10)
    times = weights[problems.rows]
    starts = np.concatenate([[0], np.cumsum(times)])[problems.starts]
    pairs = np.repeat(np.arange(times.size), times)
    repeated = Problems(
        starts, problems.rows[pairs], problems.positive[pairs], problems.offsets[pairs]
    )
    expected = solve_many(X, repeated, 2.0, tol=1e-10)
    np.testing.assert_allclose(
        weighed.coefficients.toarray(), expected.coefficients.toarray(), atol=1e-8
    )
    np.testing.assert_allclose(weighed.intercepts, expected.intercepts, atol=1e-8)


def test_weights_of_positive_rows_alone():
    """The same as if the other features were not there."""
    X, problems = make_problems(30, 12, 4, seed=2, density=0.15)
    found = solve_many(X, problems, 2.0, positive_only=True, tol=1e-10)
    dropped = 0
    for k in range(4):
        part = problems.part(k, k + 1)
        seen = np.unique(X[part.rows[part.positive]].indices)
        weights = found.coefficients[[k]].toarray()[0]
        assert set(np.flatnonzero(weights)) <= set(seen)
        dropped += 12 - seen.size
        alone = solve_many(sp.csr_array(X[:, seen]), part, 2.0, tol=1e-10)
        np.testing.assert_allclose(weights[seen], alone.coefficients.toarray()[0], atol=1e-8)
    assert dropped > 0


def test_the_start_is_forgotten():
    X, problems = make_problems(50, 12, 9, seed=3)
    part = solve_many(X, problems.among(np.arange(50) % 3 > 0), 2.0, tol=1e-3, positive_only=True)
    cold, warm = (solve_many(X, problems, 2.0, start=s, tol=1e-10) for s in (None, part))
    difference = cold.coefficients.toarray() - warm.coefficients.toarray()
    assert np.abs(difference).max() < 1e-8
    at_once = solve_many(X, problems, 2.0, start=cold, tol=1e-3)  # there already: not a step
    np.testing.assert_array_equal(at_once.coefficients.toarray(), cold.coefficients.toarray())


def test_margins_are_what_the_weights_say():
    X, problems = make_problems(30, 6, 5, seed=4)
    found = solve_many(X, problems, 1.0)
    other = problems.among(np.arange(30) % 2 == 0)
    scores = X.toarray() @ found.coefficients.toarray().T + found.intercepts
    problem = np.repeat(np.arange(5), np.diff(other.starts))
    expected = other.offsets + scores[other.rows, problem]
    np.testing.assert_allclose(margins_of(X, other, found), expected, atol=1e-12)


def test_single_precision_stays_single():
    X, problems = make_problems(30, 6, 5, seed=6)
    found = solve_many(X.astype(np.float32), problems, 1.0)
    exact = solve_many(X, problems, 1.0, tol=1e-10)
    assert found.coefficients.dtype == np.float32 == found.intercepts.dtype
    assert np.abs(found.coefficients.toarray() - exact.coefficients.toarray()).max() < 0.05
