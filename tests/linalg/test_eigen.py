"""Eigenpairs that are known before any solver runs, ties and rank deficiency included."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compactlearn.linalg import _lanczos as lanczos
from compactlearn.linalg._eigen import (
    Status,
    leading_eigenpairs,
    leading_range,
    symmetric_roots,
)
from compactlearn.linalg._operators import Plain

ROUTES = ["dense", "krylov"]


def planted(n, values, seed=0):
    """A symmetric matrix with the given leading eigenvalues, and its eigenvectors."""
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))[0]
    values = np.asarray(values, dtype=float)
    padded = np.concatenate([values, np.zeros(n - values.size)])
    return (Q * padded) @ Q.T, Q


def check(solution, matrix, expected):
    scale = expected[0]
    np.testing.assert_allclose(solution.values, expected, rtol=0, atol=1e-12 * scale)
    V = solution.vectors
    np.testing.assert_allclose(V.T @ V, np.eye(V.shape[1]), atol=1e-12)
    np.testing.assert_allclose(matrix @ V, V * solution.values, atol=1e-11 * scale)


@pytest.mark.parametrize("as_operator", [False, True])
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("count", [1, 3, 17, 40])
def test_decaying_spectrum(route, count, as_operator):
    values = 0.9 ** np.arange(200)
    matrix, _ = planted(200, values)
    solution = leading_eigenpairs(Plain(matrix) if as_operator else matrix, count, route=route)
    assert solution.status is Status.CONVERGED
    check(solution, matrix, values[:count])


@pytest.mark.parametrize("copies", [2, 7, 8, 9, 20, 40])
@pytest.mark.parametrize("rest", [0.0, 0.5])
def test_krylov_finds_every_copy_of_a_repeated_eigenvalue(copies, rest):
    """More copies than a block has columns; the tail is flat or spread."""
    n = 300
    tail = np.linspace(rest, 0, n - copies - 1) if rest else np.zeros(n - copies - 1)
    values = np.concatenate([[2.0], np.ones(copies), tail])
    matrix, _ = planted(n, values)
    solution = leading_eigenpairs(matrix, copies + 1, route="krylov")
    check(solution, matrix, values[: copies + 1])


class Diagonal:
    """A matrix known by its products, with the given eigenvalues in a random order."""

    def __init__(self, values, seed=0):
        self.values = np.random.default_rng(seed).permutation(values)
        self.shape = (self.values.size, self.values.size)
        self.columns = 0

    def __matmul__(self, block):
        self.columns += block.shape[1]
        return self.values[:, None] * block


def levels(kind, how_many, rng):
    """Distinct eigenvalues, largest first: spread, close together, or falling fast."""
    spread = {
        "uniform": rng.random(how_many),
        "close": 1 + 1e-3 * rng.random(how_many),
        "steep": 10.0 ** np.linspace(0, -8, how_many),
    }[kind]
    return np.sort(spread)[::-1]


def assert_nothing_is_missed(values, count, seed):
    """The trace is the largest there is wherever the search says that it has converged."""
    matrix = Diagonal(values, seed)
    solution = leading_eigenpairs(matrix, count, route="krylov")
    assert solution.status is Status.CONVERGED
    expected = np.sort(values)[::-1][:count]
    np.testing.assert_allclose(solution.values.sum(), expected.sum(), rtol=1e-10)
    V = solution.vectors
    np.testing.assert_allclose(V.T @ V, np.eye(count), atol=1e-11)
    np.testing.assert_allclose(matrix @ V, V * solution.values, atol=1e-13 * expected[0])


@pytest.mark.parametrize("kind", ["uniform", "close", "steep"])
@pytest.mark.parametrize("copies", [5, 12, 40])
@pytest.mark.parametrize("count", [6, 15, 60])
def test_every_value_many_times_over(kind, copies, count):
    """Each eigenvalue more often than a block has columns: residuals are small long before every
    copy of the leading ones has been seen."""
    rng = np.random.default_rng(copies)
    values = np.repeat(levels(kind, 800 // copies, rng), copies)
    assert_nothing_is_missed(values, count, seed=1)


@settings(max_examples=25, deadline=None)
@given(
    repeats=st.lists(st.integers(1, 40), min_size=30, max_size=50),
    kind=st.sampled_from(["uniform", "close"]),
    count=st.integers(1, 30),
    seed=st.integers(0, 1000),
)
def test_values_repeated_as_may_be(repeats, kind, count, seed):
    rng = np.random.default_rng(seed)
    values = np.repeat(levels(kind, len(repeats), rng), repeats)
    if values.size < 4 * count + 100:  # as large as matrices that are searched by products
        values = np.concatenate([values, np.zeros(4 * count + 100 - values.size)])
    assert_nothing_is_missed(values, min(count, sum(repeats)), seed)


@pytest.mark.parametrize("small", [1e-3, 1e-8, 1e-14, 0.0])
def test_a_block_and_its_factor_are_the_product(small):
    """Also where columns nearly depend on each other: a column in which only rounding remains may
    not take parts of later columns with it. Directions below rounding are drawn anew."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((200, 60)))[0]
    W = rng.standard_normal((200, 8))
    W[:, 2] = W[:, 0] + W[:, 1] + small * W[:, 2]  # and later columns depend on nothing
    W = lanczos.orthogonalise(W, Q)[0]
    block, R = lanczos.next_block(W, Q, 1.0, rng)
    np.testing.assert_allclose(block @ R, W, atol=200 * lanczos.EPS * np.sqrt(8))
    both = np.hstack([Q, block])
    np.testing.assert_allclose(both.T @ both, np.eye(68), atol=1e-14)


def test_looking_for_copies_costs_little_where_there_are_none():
    """Distinct eigenvalues: the probe for copies takes four half blocks at most."""
    matrix = Diagonal(0.97 ** np.arange(1000))
    leading_eigenpairs(matrix, 60, route="krylov")
    assert matrix.columns <= 3 * 60 + 48


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_values_whose_squares_are_no_numbers(unit):
    """Residuals are compared with the largest value, whatever the units of either."""
    values = unit * 0.97 ** np.arange(600)
    matrix = Diagonal(values)
    solution = leading_eigenpairs(matrix, 20, route="krylov")
    np.testing.assert_allclose(solution.values, values[:20], rtol=1e-12)
    assert matrix.columns < 300


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("rank", [1, 2, 5, 11])
def test_rank_is_cut_and_said(route, rank):
    values = np.linspace(2, 1, rank)
    matrix, _ = planted(120, values)
    solution = leading_eigenpairs(matrix, 12, route=route)
    assert solution.status is Status.RANK_DEFICIENT
    check(solution, matrix, values)


@pytest.mark.parametrize("route", ROUTES)
def test_a_zero_matrix_has_no_pairs(route):
    solution = leading_eigenpairs(np.zeros((90, 90)), 3, route=route)
    assert solution.vectors.shape == (90, 0)
    assert solution.status is Status.RANK_DEFICIENT


@given(
    n=st.integers(1, 120),
    count=st.integers(1, 30),
    rank=st.integers(0, 120),
    spread=st.sampled_from([1.0, 1e3, 1e6]),
    seed=st.integers(0, 1000),
)
def test_routes_agree_with_lapack(n, count, rank, spread, seed):
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(n, min(rank, n)))
    factor *= np.logspace(0, -np.log10(spread) / 2, max(1, min(rank, n)))[: factor.shape[1]]
    matrix = factor @ factor.T
    expected = np.linalg.eigvalsh(matrix)[::-1][: min(count, n)]
    for route in ROUTES:
        solution = leading_eigenpairs(matrix, count, route=route)
        found = solution.values
        assert found.size <= expected.size
        np.testing.assert_allclose(found, expected[: found.size], atol=1e-11 * (1 + expected[0]))
        # What was cut is rounding.
        assert np.all(expected[found.size :] <= 2 * n * 2.3e-16 * max(expected[0], 1e-300))
        np.testing.assert_allclose(
            solution.vectors.T @ solution.vectors, np.eye(found.size), atol=1e-11
        )


@given(
    n=st.integers(1, 30),
    m=st.integers(1, 30),
    rank=st.integers(0, 10),
    seed=st.integers(0, 1000),
)
def test_leading_range_is_the_left_singular_basis(n, m, rank, seed):
    rng = np.random.default_rng(seed)
    rank = min(rank, n, m)
    C = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, m))
    basis, squares = leading_range(C)
    singular = np.linalg.svd(C, compute_uv=False)
    assert basis.shape == (n, squares.size)
    assert squares.size == rank
    np.testing.assert_allclose(squares, singular[:rank] ** 2, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(basis.T @ basis, np.eye(rank), atol=1e-12)
    np.testing.assert_allclose(basis @ (basis.T @ C), C, atol=1e-9)
    np.testing.assert_allclose(np.sum((basis.T @ C) ** 2, axis=1), squares, rtol=1e-7, atol=1e-10)


def spectrum(kind, n, rng):
    """Eigenvalues of a matrix, largest first."""
    return {
        "power law": 1.0 / np.arange(1.0, n + 1),
        "slow": 1.0 / np.sqrt(np.arange(1.0, n + 1)),
        "flat": np.sort(1 + 0.1 * rng.random(n))[::-1],
        "copies": np.sort(np.repeat(rng.random(n // 50), 50))[::-1],
        "few": np.concatenate([np.full(60, 2.0), np.full(n - 60, 1e-3)]),
        "rank": np.concatenate([np.linspace(2, 1, 30), np.zeros(n - 30)]),
        "nothing": np.zeros(n),
    }[kind]


@pytest.mark.parametrize("share", [0.99, 0.9999])
@pytest.mark.parametrize("count", [1, 12, 40])
@pytest.mark.parametrize("kind", ["power law", "slow", "flat", "copies", "few", "rank", "nothing"])
def test_a_share_of_the_sum_is_reached_and_known(kind, count, share):
    """The reported share is at most the reached share and at least the requested share."""
    values = spectrum(kind, 1200, np.random.default_rng(3))
    matrix = Diagonal(values, seed=4)
    solution = leading_eigenpairs(matrix, count, route="krylov", share=share)
    total = values[:count].sum()
    if not total:
        assert solution.values.size == 0
        return
    assert solution.status in (Status.CONVERGED, Status.RANK_DEFICIENT)
    assert share <= solution.share <= solution.values.sum() / total + 1e-9
    V = solution.vectors
    np.testing.assert_allclose(V.T @ V, np.eye(V.shape[1]), atol=1e-11)
    np.testing.assert_allclose(solution.images, matrix @ V, atol=1e-11)


def test_less_than_all_takes_fewer_products():
    values = spectrum("power law", 4000, np.random.default_rng(0))
    exact, enough = (Diagonal(values) for _ in range(2))
    leading_eigenpairs(exact, 100, route="krylov")
    leading_eigenpairs(enough, 100, route="krylov", share=0.999)
    assert enough.columns < 0.8 * exact.columns


def test_a_share_that_is_not_reached_is_said(monkeypatch):
    """One round of a search that is cut short."""
    monkeypatch.setattr(lanczos, "ROUNDS", 1)
    monkeypatch.setattr(lanczos, "largest_sum", lambda theta, *_: 2 * theta[:20].sum())
    matrix = Diagonal(spectrum("slow", 5000, np.random.default_rng(0)))
    solution = leading_eigenpairs(matrix, 20, route="krylov", share=0.999)
    assert solution.status is Status.MAX_ITER
    assert solution.share == 0.5


# --- symmetric roots -----------------------------------------------------------------------------


@given(n=st.integers(1, 9), rank=st.integers(0, 9), seed=st.integers(0, 99))
@settings(max_examples=40, derandomize=True, deadline=None, database=None)
def test_symmetric_roots(n, rank, seed):
    """The root squared is the matrix, and the inverse undoes the root on its range; both turn with
    the matrix, so that signs of what it was made of go through."""
    A = np.random.default_rng(seed).normal(size=(n, min(n, rank)))
    gram = A @ A.T
    scale = max(1.0, np.abs(gram).max(initial=0.0))
    root, inverse = symmetric_roots(gram)
    np.testing.assert_allclose(root @ root, gram, atol=1e-12 * scale)
    np.testing.assert_allclose(root, root.T, atol=1e-14 * scale)
    np.testing.assert_allclose(root @ inverse @ root, root, atol=1e-7 * scale)
    kept = inverse @ root  # the projection onto the range
    np.testing.assert_allclose(kept @ kept, kept, atol=1e-7)
    assert np.trace(kept) == pytest.approx(min(n, rank), abs=1e-6)
    Q = np.linalg.qr(np.random.default_rng(seed + 1).normal(size=(n, n)))[0]
    turned = symmetric_roots(Q @ gram @ Q.T)[0]
    np.testing.assert_allclose(turned, Q @ root @ Q.T, atol=1e-6 * np.sqrt(scale))
