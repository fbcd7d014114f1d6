"""Selection of held-out rows, and sums of the other rows without them."""

import operator
from functools import reduce
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from compactlearn.crossfit._held_out_rows import RUN, SetApart
from compactlearn.linalg._moments import Moments
from compactlearn.linalg._row_source import Block
from tests.makers import modest


def moments(block):
    return Moments.from_arrays(block.X, block.Y, block.weights)


def data(n, seed=0):
    rng = np.random.default_rng(seed)
    labels = scipy.sparse.csr_array((rng.random((n, 3)) < 0.3).astype(float))
    return rng.normal(size=(n, 4)), labels


def gathered(X, Y, places, most, weights=None):
    edges = [0, *sorted(places), X.shape[0]]
    apart = SetApart(moments, operator.add, most)
    shares = []
    for index, (a, b) in enumerate(pairwise(edges)):
        w = None if weights is None else weights[a:b]
        shares.append(apart.of_block(Block(X[a:b], Y[a:b], w, index, a)))
    return apart.ended(reduce(apart.both, shares))


@modest
@given(st.integers(1, 3000), st.lists(st.integers(0, 3000), max_size=8), st.sampled_from([64, 320]))
def test_every_row_is_on_one_side_whatever_the_blocks(n, places, most):
    X, Y = data(n)
    rest, held_out = gathered(X, Y, [place for place in places if place <= n], most)
    runs = -(-n // RUN)
    if runs < 2:
        assert held_out is None
        assert rest.count == n
        return
    assert held_out.n_rows <= min(most, RUN * max(1, runs // 5))
    assert held_out.n_rows >= min(most, RUN * max(1, runs // 5)) - RUN + 1
    assert (np.diff(held_out.positions) > 0).all()
    assert np.array_equal(held_out.X, X[held_out.positions])
    others = np.setdiff1d(np.arange(n), held_out.positions)
    own = Moments.from_arrays(X[others], Y[others])
    assert rest.count == own.count
    assert np.allclose(rest.scatter, own.scatter, atol=1e-9)
    assert np.allclose(rest.mean, own.mean, atol=1e-12)
    alone = gathered(X, Y, [], most)[1]
    assert np.array_equal(held_out.positions, alone.positions)


def test_the_bound_limits_the_held_out_rows_of_very_many():
    n, most = 60_000, 320
    X, Y = data(n)
    rest, held_out = gathered(X, Y, range(1000, n, 1000), most)
    assert held_out.n_rows == most
    assert rest.count == n - most
    # The held-out rows are spread over all rows.
    assert np.abs(np.histogram(held_out.positions, 4, (0, n))[0] / most - 0.25).max() < 0.15


def test_a_column_that_varies_in_held_out_rows_alone_is_constant_in_the_others():
    n = 4000
    X, Y = data(n)
    held_out = gathered(X, Y, [], 320)[1]
    X[:, 2] = 0.0
    X[held_out.positions, 2] = np.random.default_rng(1).normal(size=held_out.n_rows) * 1e8
    rest, _ = gathered(X, Y, [700, 2500], 320)
    assert (rest.scatter[2] == 0.0).all()


def test_weights_go_with_their_rows():
    X, Y = data(500)
    weights = np.random.default_rng(2).uniform(0.0, 2.0, 500)
    rest, held_out = gathered(X, Y, [123, 124], 64, weights)
    assert np.array_equal(held_out.weights, weights[held_out.positions])
    assert rest.count == pytest.approx(weights.sum() - held_out.weights.sum())
