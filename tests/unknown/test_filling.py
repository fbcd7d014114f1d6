"""Unknown cells filled in: against the problems taken literally, and the objective never rises."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlearn.linalg._filling import (
    complete,
    fill_by_codes,
    fill_by_ridge,
    shrunken,
)
from compactlearn.linalg._rows_pair import RowsPair
from tests.makers import modest
from tests.unknown.problems import problem, sparse


def known_part(Y, unknown):
    return sparse(np.where(unknown, 0.0, Y))


def ridge_of_known_rows(X, y, known, alpha, bias, w):
    """A ridge of one label on the rows that know it, by its normal equations."""
    roots = np.sqrt(w[known])[:, None]
    Z, t = X[known], y[known]
    ones = np.ones((known.sum(), 1))
    if bias == "none":
        A, penalty = Z * roots, np.full(X.shape[1], alpha)
    else:
        A = np.hstack([Z, ones]) * roots
        penalty = np.append(np.full(X.shape[1], alpha), 0.0)
    b = np.linalg.solve(A.T @ A + np.diag(penalty), A.T @ (t * roots[:, 0]))
    return X @ b[: X.shape[1]] + (0.0 if bias == "none" else b[-1])


@pytest.mark.parametrize("bias", ["free", "none"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(60, 7), (20, 40)])
def test_cells_filled_by_the_ridge_are_those_that_the_known_rows_predict(bias, weighted, shape):
    X, Y, unknown = problem(*shape)
    w = np.random.default_rng(1).uniform(0.5, 2.0, len(X)) if weighted else np.ones(len(X))
    pair = RowsPair.of_rows(X, known_part(Y, unknown), w if weighted else None)
    filled = fill_by_ridge(pair, sparse(unknown), 0.7, bias).toarray()
    np.testing.assert_array_equal(filled[~unknown], Y[~unknown])
    for j in range(Y.shape[1]):
        expected = ridge_of_known_rows(X, Y[:, j], ~unknown[:, j], 0.7, bias, w)
        own = unknown[:, j]
        np.testing.assert_allclose(filled[own, j], expected[own], atol=1e-9)


def test_a_label_that_one_row_knows_is_filled_with_what_it_knows():
    X, Y, unknown = problem()
    unknown[1:, 0], unknown[0, 0] = True, False
    pair = RowsPair.of_rows(X, known_part(Y, unknown))
    filled = fill_by_ridge(pair, sparse(unknown), 1.0, "free").toarray()
    np.testing.assert_allclose(filled[:, 0], Y[0, 0], atol=1e-9)


@modest
@given(
    st.integers(5, 40),
    st.integers(1, 12),
    st.integers(2, 8),
    st.floats(0.05, 0.8),
    st.floats(0.01, 50.0),
    st.floats(0.0, 5.0),
    st.integers(0, 100),
)
def test_the_objective_never_rises(n_rows, n_features, n_labels, hidden, alpha, strength, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    Y = (rng.random((n_rows, n_labels)) < 0.4).astype(float)
    unknown = rng.random(Y.shape) < hidden
    w = rng.uniform(0.2, 3.0, n_rows)
    pair = RowsPair.of_rows(X, known_part(Y, unknown), w)
    given = (pair, np.where(unknown, 0.0, Y), unknown, np.zeros(n_labels), alpha, strength)
    objectives = np.array(complete(*given, tol=1e-9, max_iter=40)[1])
    assert (np.diff(objectives) <= 1e-10 * objectives[:-1] + 1e-12).all()


def literal_objective(X, F, B, b, R, alpha, strength, w):
    rest = F - X @ B - b - R
    values = np.linalg.svd(np.sqrt(w)[:, None] * R, compute_uv=False)
    return float((w[:, None] * rest**2).sum() + alpha * (B**2).sum() + 2 * strength * values.sum())


def test_the_objective_is_the_one_that_is_documented_and_its_minimum_is_reached():
    X, Y, unknown = problem(30, 4, 4)
    w = np.random.default_rng(2).uniform(0.5, 2.0, len(X))
    alpha, strength = 2.0, 0.8
    pair = RowsPair.of_rows(X, known_part(Y, unknown), w)
    F, objectives = complete(
        pair, Y, unknown, np.zeros(4), alpha, strength, tol=1e-14, max_iter=3000
    )
    # From F the blocks B, b and R follow by a literal alternation of their own.
    centre = (w @ X) / w.sum()
    Xc = X - centre
    R = np.zeros_like(F)
    for _ in range(3000):
        b = w @ (F - R) / w.sum()
        B = np.linalg.solve(
            Xc.T @ (w[:, None] * Xc) + alpha * np.eye(4), Xc.T @ (w[:, None] * (F - R))
        )
        U, s, V = np.linalg.svd(np.sqrt(w)[:, None] * (F - Xc @ B - b), full_matrices=False)
        R = (U * np.maximum(s - strength, 0)) @ V / np.sqrt(w)[:, None]
    least = literal_objective(Xc, F, B, b, R, alpha, strength, w)
    assert objectives[-1] == pytest.approx(least, rel=1e-8)
    # It is stationary in the unknown cells, and convex, hence least.
    rest = F - Xc @ B - b - R
    np.testing.assert_allclose(rest[unknown], 0.0, atol=1e-5)


def test_without_strength_for_codes_the_two_ways_agree():
    """Codes that are shrunken to nothing leave the ridge."""
    X, Y, unknown = problem()
    pair = RowsPair.of_rows(X, known_part(Y, unknown))
    by_codes = fill_by_codes(pair, sparse(unknown), 3.0, 1e9, tol=-1.0, max_iter=200)
    by_ridge = fill_by_ridge(pair, sparse(unknown), 3.0, "free")
    np.testing.assert_allclose(by_codes.toarray(), by_ridge.toarray(), atol=1e-8)


@pytest.mark.parametrize("shape", [(40, 6), (12, 30)])
def test_sparse_rows_and_linear_kernels_fill_the_same_cells(shape):
    X, Y, unknown = problem(*shape, n_labels=4)
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    right, marks = known_part(Y, unknown), sparse(unknown)
    dense = RowsPair.of_rows(X, right)
    others = [
        RowsPair.of_rows(sparse(X), right),
        RowsPair.of_kernel(X @ X.T, right, given_left=X.shape[1]),
    ]
    for other in others:
        for fill in (
            lambda pair: fill_by_ridge(pair, marks, 1.3, "free"),
            lambda pair: fill_by_codes(pair, marks, 1.3, 0.5),
        ):
            np.testing.assert_allclose(fill(other).toarray(), fill(dense).toarray(), atol=1e-8)


def test_shrunken_is_the_proximal_point_of_the_sum_of_singular_values():
    E = np.random.default_rng(0).normal(size=(9, 5))
    R, least = shrunken(E, 1.5)
    U, s, V = np.linalg.svd(E, full_matrices=False)
    np.testing.assert_allclose(R, (U * np.maximum(s - 1.5, 0)) @ V, atol=1e-10)
    literal = ((E - R) ** 2).sum() + 3.0 * np.linalg.svd(R, compute_uv=False).sum()
    assert least == pytest.approx(literal)
