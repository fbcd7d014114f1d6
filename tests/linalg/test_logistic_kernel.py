"""Compiled logistic regressions have the solutions of the block-diagonal route."""

import importlib.util
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from compactlearn.core import _compiled as compiled
from compactlearn.linalg import _many_logistic as many_logistic
from compactlearn.linalg._many_logistic import Weights, margins_of, solve_many
from tests.linalg.test_many_logistic import gradient, make_problems

pytest.importorskip("numba", reason="the extra 'fast' brings it")


@pytest.fixture
def every_size(monkeypatch):
    monkeypatch.setattr(many_logistic, "COMPILED_ENTRIES", 0)


def single(n_rows, n_features, n_problems, seed):
    X, problems = make_problems(n_rows, n_features, n_problems, seed)
    return X.astype(np.float32), problems


def objective(X, problems, C, found):
    """Return the sum of all problems' objectives, in double precision."""
    sign = np.where(problems.positive, 1.0, -1.0)
    losses = np.logaddexp(0, -sign * margins_of(X.astype(float), problems, found))
    counts = 1.0 if problems.counts is None else problems.counts
    W, b = found.coefficients.data.astype(float), found.intercepts.astype(float)
    return C * (counts * losses).sum() + (W @ W + b @ b) / 2


@pytest.mark.parametrize("positive_only", [False, True])
@pytest.mark.parametrize("C", [0.1, 1.0, 20.0])
@pytest.mark.parametrize("seed", range(4))
def test_both_routes_find_the_same_minimum(monkeypatch, seed, C, positive_only):
    """The Hessian is at least the identity: a solution is no farther away than its gradient is
    long, and routes that end at ``tol`` times the first gradient differ by twice that."""
    X, problems = single(40, 12, 9, seed)
    options = {"positive_only": positive_only, "tol": 1e-3}
    by_blocks = solve_many(X, problems, C, **options)
    monkeypatch.setattr(many_logistic, "COMPILED_ENTRIES", 0)
    one_by_one = solve_many(X, problems, C, **options)
    np.testing.assert_array_equal(one_by_one.coefficients.indices, by_blocks.coefficients.indices)
    gap = one_by_one.coefficients.toarray() - by_blocks.coefficients.toarray()
    gap = np.column_stack([gap, one_by_one.intercepts - by_blocks.intercepts])
    for k in range(9):
        assert np.linalg.norm(gap[k]) <= 2e-3 * first_length(X, problems.part(k, k + 1), C) + 1e-4


@pytest.mark.parametrize("tol", [0.03, 1e-3])
def test_the_gradient_ends_as_small_as_is_asked(every_size, tol):
    X, problems = single(200, 30, 6, seed=1)
    found = solve_many(X, problems, 2.0, tol=tol)
    for k in range(6):
        part = problems.part(k, k + 1)
        end = gradient(X, part, found.coefficients[[k]].toarray()[0], found.intercepts[k], 2.0)
        assert np.linalg.norm(end) <= 1.01 * tol * first_length(X, part, 2.0) + 1e-4


def first_length(X, part, C):
    """Return the length of the gradient at zero weights and the best intercept for these."""
    nothing = sp.csr_array((X.shape[0], 1), dtype=np.float64)
    b = solve_many(nothing, part, C, tol=1e-9).intercepts[0]
    return np.linalg.norm(gradient(X, part, np.zeros(X.shape[1]), b, C))


def test_a_start_at_the_solution_stays_there(every_size):
    X, problems = single(80, 15, 5, seed=2)
    found = solve_many(X, problems, 1.0, tol=1e-3)
    again = solve_many(X, problems, 1.0, tol=1e-3, start=found)
    np.testing.assert_array_equal(again.coefficients.toarray(), found.coefficients.toarray())
    bounds = [2e-3 * first_length(X, problems.part(k, k + 1), 1.0) + 1e-4 for k in range(5)]
    far = Weights(sp.csr_array(np.full((5, 15), 3, dtype=np.float32)), np.full(5, 2.0))
    back = solve_many(X, problems, 1.0, tol=1e-3, start=far)
    gap = (back.coefficients - found.coefficients).toarray()
    assert (np.linalg.norm(gap, axis=1) <= bounds).all()


def test_a_problem_without_rows_has_no_weights_whatever_it_starts_with(every_size):
    X, problems = single(80, 15, 5, seed=2)
    problems = replace(problems, starts=np.insert(problems.starts, 2, problems.starts[2]))
    far = Weights(sp.csr_array(np.full((6, 15), 3, dtype=np.float32)), np.full(6, 2.0))
    for start in (None, far):
        found = solve_many(X, problems, 1.0, tol=1e-3, start=start)
        assert found.coefficients[[2]].nnz == 0
        assert found.intercepts[2] == pytest.approx(0.0, abs=1e-3)
        assert found.coefficients[[1]].nnz > 0


@pytest.mark.parametrize("compile_all", [False, True])
def test_a_pair_that_counts_four_times_is_four_pairs(monkeypatch, compile_all):
    monkeypatch.setattr(many_logistic, "COMPILED_ENTRIES", 0 if compile_all else 1 << 40)
    X, problems = single(50, 10, 4, seed=3)
    once = replace(problems, counts=np.full(problems.rows.size, 4, dtype=np.float32))
    found = solve_many(X, once, 0.5, tol=1e-4)
    expected = solve_many(X, problems, 2.0, tol=1e-4)
    np.testing.assert_allclose(
        found.coefficients.toarray(), expected.coefficients.toarray(), atol=2e-3
    )


def test_thinned_problems_have_nearly_the_same_minimum():
    """Their objective is an unbiased estimate of that of all pairs."""
    X, problems = single(4000, 20, 3, seed=4)
    problems = replace(problems, offsets=problems.offsets - 3, positive=problems.offsets > 1.5)
    few = problems.thinned(-3.0, 4, 4000, np.random.RandomState(0))
    assert few.rows.size < 0.75 * problems.rows.size
    assert few.positive.sum() == problems.positive.sum()
    assert abs(few.counts.sum() / problems.rows.size - 1) < 0.03
    best = objective(X, problems, 1.0, solve_many(X, problems, 1.0, tol=1e-3))
    other = objective(X, problems, 1.0, solve_many(X, few, 1.0, tol=1e-3))
    assert best <= other * (1 + 1e-6) <= 1.01 * best


def test_the_number_of_threads_does_not_matter(every_size, monkeypatch):
    monkeypatch.setattr(many_logistic, "_BLOCK_ENTRIES", 500)
    X, problems = single(100, 20, 30, seed=5)
    one, two = (solve_many(X, problems, 1.0, n_threads=n) for n in (1, 2))
    np.testing.assert_array_equal(one.coefficients.toarray(), two.coefficients.toarray())


def test_small_sets_of_problems_compile_nothing(monkeypatch):
    monkeypatch.setattr(many_logistic, "kernels", lambda _: pytest.fail("it was looked for"))
    X, problems = single(40, 12, 9, seed=0)
    solve_many(X, problems, 1.0)


def test_without_numba_the_other_route_is_used(monkeypatch, every_size):
    X, problems = single(40, 12, 9, seed=0)
    monkeypatch.setattr(many_logistic, "COMPILED_ENTRIES", 1 << 40)
    expected = solve_many(X, problems, 1.0)
    monkeypatch.setattr(many_logistic, "COMPILED_ENTRIES", 0)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    monkeypatch.setattr(many_logistic, "kernels", compiled.kernels.__wrapped__)
    found = solve_many(X, problems, 1.0)
    np.testing.assert_array_equal(found.coefficients.toarray(), expected.coefficients.toarray())
