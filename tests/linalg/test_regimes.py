"""The choice of a regime follows shape, density and memory."""

import numpy as np
import pytest
import scipy.sparse as sp

from compactlearn import Moments
from compactlearn.linalg.arrays import working_form
from compactlearn.linalg.build import build_pair
from compactlearn.linalg.moments_pair import MomentsPair
from compactlearn.linalg.regimes import (
    GRAM_LIMIT,
    REGIMES,
    Demand,
    Shape,
    choose,
    needed_bytes,
    seconds,
)
from compactlearn.linalg.rows_pair import RowsPair

TALL = Shape(40_000, 120, 100, 40_000 * 120, 170_000, left_sparse=False)
WIDE = Shape(60, 5_000, 10, 60 * 5_000, 100, left_sparse=False)
SPARSE = Shape(7_400, 1_836, 159, 508_000, 17_800, left_sparse=True)
HUGE = Shape(10**6, 10**6, 10**4, 10**8, 10**7, left_sparse=True)


@pytest.mark.parametrize(
    ("shape", "components", "expected"),
    [(TALL, 50, "moments"), (WIDE, 5, "dual"), (SPARSE, 80, "krylov"), (HUGE, 100, "krylov")],
)
def test_shape_decides(shape, components, expected):
    assert choose(shape, Demand(components), None) == expected


@pytest.mark.parametrize("shape", [TALL, WIDE, SPARSE, HUGE])
def test_the_fastest_that_fits_or_else_the_leanest(shape):
    needs, costs = needed_bytes(shape, Demand(20)), seconds(shape, Demand(20))
    for room in (0, *needs.values(), 10**30):
        fitting = [regime for regime in REGIMES if needs[regime] <= room]
        expected = min(fitting, key=costs.get) if fitting else min(needs, key=needs.get)
        assert choose(shape, Demand(20), room) == expected


@pytest.mark.parametrize("keeps_left", [False, True])
@pytest.mark.parametrize("shape", [TALL, WIDE, SPARSE, HUGE])
def test_estimates_are_positive_and_complete(shape, keeps_left):
    demand = Demand(20, keeps_left)
    for estimate in (seconds(shape, demand), needed_bytes(shape, demand)):
        assert set(estimate) == set(REGIMES)
        assert min(estimate.values()) > 0


def test_moments_need_no_more_memory_for_more_rows():
    many = Shape(10**9, 120, 100, 10**11, 10**9, left_sparse=False)
    few, more = needed_bytes(TALL, Demand(50)), needed_bytes(many, Demand(50))
    assert few["moments"] == more["moments"]


def problem(n=50, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 9)) * (rng.random((n, 9)) < 0.5) + (seed == 1)
    return X, sp.csr_array((rng.random((n, 5)) < 0.4).astype(float))


def pairs(X, Y, weights=None):
    yield MomentsPair(Moments.from_arrays(X, Y, weights))
    for form in (np.asarray, sp.csr_array):
        for regime in ("dual", "krylov"):
            yield RowsPair(form(X), Y, weights, regime=regime)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", [0, 1])
def test_every_regime_answers_alike(seed, weighted):
    X, Y = problem(seed=seed)
    w = np.random.default_rng(3).uniform(0.2, 2, size=50) if weighted else None
    P = np.linalg.qr(np.random.default_rng(4).normal(size=(9, 2)))[0]
    reference, *others = pairs(X, Y, w)
    for other in others:
        for name in ("count", "left_energy", "right_energy", "mean_left", "mean_right"):
            np.testing.assert_allclose(getattr(other, name), getattr(reference, name), rtol=1e-10)
        np.testing.assert_allclose(other.projected_gram(P), reference.projected_gram(P), atol=1e-9)
        for make in (
            lambda pair: pair.leading_codes(3, 0.7),
            lambda pair: pair.leading_codes(3, 0.7, P),
            lambda pair: pair.leading_codes(3, 1e-12),
            lambda pair: pair.right_codes(),
        ):
            mine, theirs = make(other), make(reference)
            for part in ("left", "right", "total"):
                if getattr(theirs, part) is None:  # labels as their own codes
                    continue
                np.testing.assert_allclose(
                    getattr(mine, part), getattr(theirs, part), atol=1e-8, err_msg=part
                )
            np.testing.assert_allclose(
                other.learn(P, mine, 0.3).coefficients,
                reference.learn(P, theirs, 0.3).coefficients,
                atol=1e-8,
            )
            np.testing.assert_allclose(
                other.learn(None, mine, 0.3).coefficients,
                reference.learn(None, theirs, 0.3).coefficients,
                atol=1e-8,
            )
        mine, theirs = (pair.principal_directions(4, P) for pair in (other, reference))
        np.testing.assert_allclose(mine, theirs, atol=1e-8)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_codes_are_orthonormal_rows_included(form):
    X, Y = problem()
    for regime in ("dual", "krylov"):
        pair = RowsPair(form(X), Y, regime=regime)
        codes = pair.leading_codes(4, 0.5)
        V = pair.code_rows(codes)
        np.testing.assert_allclose(V.T @ V, np.eye(4), atol=1e-10)
        np.testing.assert_allclose(pair.Xc.T @ V, codes.left, atol=1e-9)
        np.testing.assert_allclose(Y.T @ V, codes.right, atol=1e-9)
        np.testing.assert_allclose(V.sum(axis=0), codes.total, atol=1e-9)


@pytest.mark.parametrize("n", [50, 6])
def test_ridge_without_any_gram_matrix(monkeypatch, n):
    """Both sides too large: conjugate gradients give what the Gram matrix and the kernel give."""
    X, Y = problem(n=n)
    pair = RowsPair(sp.csr_array(X), Y)
    codes = pair.right_codes()
    direct = pair.ridge_directions(codes, 0.3)[0]
    assert GRAM_LIMIT > 50
    monkeypatch.setattr("compactlearn.linalg.rows_pair.GRAM_LIMIT", 2)
    iterated, solved = pair.ridge_directions(codes, 0.3)
    assert solved
    np.testing.assert_allclose(iterated, direct, atol=1e-10)


def test_build_pair_takes_the_regime_asked_for():
    X, Y = problem()
    for regime in REGIMES:
        pair = build_pair(X, Y, demand=Demand(3), regime=regime)
        assert pair.regime == regime


def test_mostly_zero_matrices_are_compressed():
    dense = np.random.default_rng(0).normal(size=(100, 30))
    assert working_form(dense) is dense
    thin = dense * (np.random.default_rng(1).random((100, 30)) < 0.05)
    np.testing.assert_array_equal(working_form(thin).toarray(), thin)
    assert sp.issparse(working_form(thin))
