"""Ridge by conjugate gradients against the normal equations, preconditioned and cut short."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

from compactlearn.linalg import _gradients as gradients
from compactlearn.linalg import _rows_ridge as rows_ridge
from compactlearn.linalg._gradients import solve_ridge_iteratively
from compactlearn.linalg._learning import learn
from compactlearn.linalg._operators import Operator, Plain, centred
from compactlearn.linalg._ridge import BIASES
from compactlearn.linalg._routes import Plan, Shape, needed_bytes, ridge_by_products
from compactlearn.linalg._rows_pair import RowsPair
from tests.makers import literal_ridge

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 6)) * [1, 2, 0.5, 1, 3, 1]
T = rng.normal(size=(30, 4)) + 2


class Counted(Operator):
    """Rows that count how many columns they are multiplied by."""

    def __init__(self, rows):
        self.rows, self.shape, self.columns = rows, rows.shape, 0

    def _multiply(self, block):
        self.columns += block.shape[1]
        return self.rows @ block

    def _multiply_transposed(self, block):
        return self.rows.T @ block


def text(n, p, seed=0):
    """Sparse rows with frequent and rare columns."""
    draw = np.random.default_rng(seed)
    probabilities = np.minimum(1.0, 3.0 / (1 + np.arange(p)))
    return sp.csr_array((draw.random((n, p)) < probabilities) * draw.exponential(size=(n, p)))


@pytest.mark.parametrize("rank", [0, 3])
@pytest.mark.parametrize("sparse", [False, True])
def test_they_reach_the_solution(sparse, rank):
    mean = X.mean(axis=0)
    rows = centred(sp.csr_array(X), mean) if sparse else Plain(X - mean)
    cross = (X - mean).T @ T
    B, solved = solve_ridge_iteratively(rows, cross, 0.5, rank=rank)
    assert solved
    np.testing.assert_allclose(B, Ridge(alpha=0.5).fit(X, T).coef_.T, atol=1e-10)


def test_without_a_penalty_the_solution_of_least_norm():
    Z = rng.normal(size=(12, 40))
    cross = Z.T @ rng.normal(size=(12, 3))
    B, solved = solve_ridge_iteratively(Plain(Z), cross, 0.0, rank=5)
    assert solved
    np.testing.assert_allclose(B, np.linalg.pinv(Z.T @ Z) @ cross, atol=1e-9)


@pytest.mark.parametrize("enough", [1e-3, 1e-6])
@pytest.mark.parametrize("alpha", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("rank", [0, 20])
def test_enough_is_what_it_says(rank, alpha, enough):
    """The error, in the norm of the problem, of every column, which is estimated; and it is not
    solved to the end."""
    Z = text(300, 200).toarray()
    cross = Z.T @ np.random.default_rng(1).normal(size=(300, 6))
    A = Z.T @ Z + alpha * np.eye(200)
    exact = np.linalg.solve(A, cross)
    rows, to_the_end = Counted(Plain(Z)), Counted(Plain(Z))
    B, solved = solve_ridge_iteratively(rows, cross, alpha, enough=enough, rank=rank)
    assert solved
    error = np.einsum("ij,ij->j", B - exact, A @ (B - exact))
    assert np.all(error <= (2 * enough) ** 2 * np.einsum("ij,ij->j", exact, cross))
    solve_ridge_iteratively(to_the_end, cross, alpha, rank=rank)
    assert rows.columns <= to_the_end.columns


def test_leading_directions_save_products():
    Z = text(900, 400)
    cross = Z.T @ np.random.default_rng(1).normal(size=(900, 60))
    plain, helped = Counted(Plain(Z)), Counted(Plain(Z))
    B, _ = solve_ridge_iteratively(plain, cross, 0.1, enough=1e-6)
    same, _ = solve_ridge_iteratively(helped, cross, 0.1, enough=1e-6, rank=30)
    assert helped.columns < 0.7 * plain.columns
    np.testing.assert_allclose(Z @ same, Z @ B, atol=1e-4)


def test_columns_that_have_settled_are_left_alone():
    """One column is an eigenvector, found in a step; the other is not."""
    Z = Plain(np.diag(np.sqrt(np.arange(1.0, 101))))
    cross = np.column_stack([np.eye(100, 1)] * 9 + [np.ones(100)])
    rows = Counted(Z)
    B, solved = solve_ridge_iteratively(rows, cross, 0.0)
    assert solved
    np.testing.assert_allclose(B, cross / np.arange(1.0, 101)[:, None], atol=1e-10)
    alone = Counted(Z)
    solve_ridge_iteratively(alone, cross[:, 9:], 0.0)
    assert rows.columns <= alone.columns + 2 * 9


@pytest.mark.parametrize("threads", [1, 3])
def test_columns_in_parts(threads, monkeypatch):
    monkeypatch.setattr(gradients, "WIDTH", 2)
    monkeypatch.setattr(gradients, "free_cores_to_use", lambda: threads)
    cross = X.T @ rng.normal(size=(30, 7))
    B, solved = solve_ridge_iteratively(Plain(X), cross, 0.5)
    assert solved
    np.testing.assert_allclose(B, np.linalg.solve(X.T @ X + 0.5 * np.eye(6), cross), atol=1e-11)
    assert not solve_ridge_iteratively(Plain(X), cross, 1e-3, max_iter=1)[1]


# --- in place of a factorisation -----------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(2, 60),
    p=st.integers(1, 60),
    weighted=st.booleans(),
    bias=st.sampled_from(BIASES),
    alpha=st.sampled_from([1e-2, 1.0, 30.0]),
    seed=st.integers(0, 100),
)
def test_scores_are_those_of_the_dense_way(n, p, weighted, bias, alpha, seed):
    draw = np.random.default_rng(seed)
    rows = text(n, p, seed).toarray()
    rows[draw.random(n) < 0.2] = 0.0  # rows without a feature
    rows[:, draw.random(p) < 0.2] = 1.0  # constant columns, and others that are never there
    rows[:, draw.random(p) < 0.2] = 0.0
    Y = (draw.random((n, 3)) < 0.4).astype(float)
    w = draw.uniform(0.2, 2, size=n) if weighted else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows_ridge, "ridge_by_products", lambda shape, n_targets: True)
        patch.setattr(rows_ridge, "PRODUCT_TOLERANCE", 1e-11)
        pair = RowsPair.of_rows(sp.csr_array(rows), sp.csr_array(Y), w)
        learned = learn(pair, None, pair.right_codes(), alpha, bias)
    B, intercept = literal_ridge(rows, Y, alpha, w, bias)
    scores = rows @ learned.coefficients + learned.intercept
    assert learned.solved
    np.testing.assert_allclose(scores, rows @ B + intercept, atol=1e-8)


def test_when_products_take_the_place_of_a_factorisation():
    """Never for dense rows or a small order, always beyond the order that is proven, and between
    the two by cost; and then no square matrix is counted with."""
    long = Shape(100_000, 13_000, 50, 800_000, 10**5, left_sparse=True)
    assert ridge_by_products(long, 10**6)
    assert not ridge_by_products(Shape(100_000, 13_000, 50, 10**9, 10**5, left_sparse=False), 1)
    middle = Shape(100_000, 8_000, 50, 800_000, 10**5, left_sparse=True)
    assert ridge_by_products(middle, 5)
    assert not ridge_by_products(middle, 5_000)
    assert not ridge_by_products(Shape(3_000, 10**6, 50, 30_000, 10**4, left_sparse=True), 1)
    kept = Plan(20, keeps_features=True, n_codes=20)
    assert needed_bytes(long, kept)["krylov"] < 8 * 13_000**2
