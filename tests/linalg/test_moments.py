"""Sums that add, subtract and survive large offsets, whatever form the blocks come in."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from compactlearn import CMLLClassifier, Moments
from compactlearn.linalg import _moments as module

rng = np.random.default_rng(0)


def data(n=40, left=6, right=4, seed=0, density=0.4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, left)) * (rng.random((n, left)) < density)
    return X, (rng.random((n, right)) < 0.3).astype(float)


def literal(X, Y, w=None):
    Z = np.hstack([X, Y])
    w = np.ones(len(Z)) if w is None else w
    mean = w @ Z / w.sum()
    return w.sum(), mean, (Z - mean).T @ (w[:, None] * (Z - mean))


def check(moments, X, Y, w=None, atol=1e-11):
    count, mean, scatter = literal(X, Y, w)
    assert moments.count == pytest.approx(count)
    np.testing.assert_allclose(moments.mean, mean, atol=atol)
    np.testing.assert_allclose(moments.scatter, scatter, atol=atol)
    np.testing.assert_array_equal(moments.scatter, moments.scatter.T)


FORMS = {
    "dense": lambda a: a,
    "fortran": np.asfortranarray,
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "matrix": sp.csr_matrix,
}


@pytest.mark.parametrize("weights", [None, "some"])
@pytest.mark.parametrize("right", FORMS)
@pytest.mark.parametrize("left", FORMS)
def test_every_form_gives_the_same_sums(left, right, weights):
    X, Y = data()
    w = None if weights is None else np.random.default_rng(1).uniform(0, 2, size=40)
    check(Moments.from_arrays(FORMS[left](X), FORMS[right](Y), w), X, Y, w)


@pytest.mark.parametrize("threshold", [0.0, 1.0])
@pytest.mark.parametrize("weights", [None, "some"])
def test_both_ways_to_a_sparse_gram(monkeypatch, threshold, weights):
    monkeypatch.setattr(module, "DENSE_BLOCKS_ABOVE", threshold)
    monkeypatch.setattr(module, "BLOCK_BYTES", 500)
    X, Y = data(n=73)
    w = None if weights is None else np.random.default_rng(1).uniform(0, 2, size=73)
    check(Moments.from_arrays(sp.csr_array(X), Y, w), X, Y, w)


@given(
    cuts=st.lists(st.integers(0, 40), max_size=5),
    seed=st.integers(0, 100),
    sparse=st.booleans(),
)
def test_blocks_add_up_and_folds_come_out(cuts, seed, sparse):
    X, Y = data(seed=seed)
    form = sp.csr_array if sparse else np.asarray
    edges = [0, *sorted(cuts), 40]
    blocks = [(form(X[a:b]), form(Y[a:b])) for a, b in itertools.pairwise(edges) if b > a]
    total = Moments.from_blocks(blocks)
    check(total, X, Y)
    first = Moments.from_arrays(*blocks[0])
    kept = edges[np.searchsorted(edges, 0, side="right")]  # end of the first non-empty block
    if kept < 40:
        check(total - first, X[kept:], Y[kept:])
    else:
        assert (total - first).count == 0


@pytest.mark.parametrize("offset", [1e4, 1e8, 1e11])
def test_large_offsets_keep_the_variance(offset):
    """Raw sums of squares would lose all digits at 1e8; here only those of the input are lost."""
    X, Y = data(density=1.0)
    X = np.round(X, 3)
    shifted = X + offset
    exact = shifted - offset  # what survives in float64 rows
    parts = Moments.from_blocks([(shifted[:13], Y[:13]), (shifted[13:], Y[13:])])
    for moments in (Moments.from_arrays(shifted, Y), parts):
        reference = literal(exact, Y)[2]
        error = np.abs(moments.scatter - reference).max()
        # Merging two blocks rounds the difference of their means, one rounding of the offset.
        assert error <= 40 * np.spacing(offset) * np.abs(reference).max() + 1e-12


def test_float32_rows_are_summed_in_float64():
    X, Y = data(n=2000, density=1.0)
    X = (X + 100).astype(np.float32)
    moments = Moments.from_arrays(X, Y)
    assert moments.scatter.dtype == np.float64
    check(moments, X.astype(np.float64), Y, atol=1e-8)


def test_rescaled_is_the_sum_of_rescaled_rows():
    X, Y = data()
    factors = np.random.default_rng(2).uniform(0.1, 3, size=6)
    check(Moments.from_arrays(X, Y).rescaled(factors), X * factors, Y)


def test_refusals():
    X, Y = data()
    with pytest.raises(ValueError, match="40 and 39"):
        Moments.from_arrays(X, Y[:-1])
    with pytest.raises(ValueError, match="matrix"):
        Moments.from_arrays(X[:, 0], Y)
    with pytest.raises(ValueError, match="one number per row"):
        Moments.from_arrays(X, Y, np.ones(3))
    with pytest.raises(ValueError, match="no block"):
        Moments.from_blocks([])
    with pytest.raises(ValueError, match="same columns"):
        Moments.from_arrays(X, Y) + Moments.from_arrays(X[:, 1:], Y)
    with pytest.raises(ValueError, match="subtract only rows"):
        Moments.from_arrays(X[:3], Y[:3]) - Moments.from_arrays(X, Y)


@given(
    seed=st.integers(0, 10_000),
    kept=st.integers(1, 60),
    forgotten=st.integers(1, 200),
    offset=st.sampled_from([0.0, 3.0, -1 / 3, 1e3, 1e8]),
    spread=st.sampled_from([0.01, 5.0, 1e4]),
    sparse=st.booleans(),
    weighted=st.booleans(),
)
def test_a_column_that_is_constant_in_the_rows_left_has_no_variance(
    seed, kept, forgotten, offset, spread, sparse, weighted
):
    """Nor a mean, where all that is left is 0; the other columns keep theirs."""
    rng = np.random.default_rng(seed)
    X, Y = data(n=kept + forgotten, seed=seed, density=1.0)
    X[:kept, 0] = offset
    X[kept:, 0] = offset + spread * X[kept:, 0]
    Y[:kept, 0], Y[:kept, 1] = 0.0, 1.0
    w = rng.uniform(0.1, 3, len(X)) if weighted else np.ones(len(X))
    form = sp.csr_array if sparse else np.asarray
    total = Moments.from_arrays(form(X), Y, w)
    left = total - Moments.from_arrays(form(X[kept:]), Y[kept:], w[kept:])
    for column in (0, 6, 7):
        assert not left.scatter[column].any()
        assert not left.scatter[:, column].any()
    assert left.mean[6] == 0.0
    assert left.mean[0] == pytest.approx(offset, rel=1e-12, abs=1e-9 * spread)
    rest = [1, 2, 3, 4, 5, 8, 9]
    _, mean, scatter = literal(X[:kept], Y[:kept], w[:kept])
    np.testing.assert_allclose(left.mean[rest], mean[rest], atol=1e-11)
    np.testing.assert_allclose(
        left.scatter[np.ix_(rest, rest)], scatter[np.ix_(rest, rest)], atol=1e-10
    )


@pytest.mark.parametrize("seed", range(8))
def test_a_model_of_the_rows_left_is_the_model_of_these_rows(seed):
    """Where a column is constant in them and scaled, which would blow its rounding up."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(47, 4))
    X[:40, 0], X[40:] = 3.0, 5 * X[40:]
    Y = (X[:, 1:] + 0.3 * rng.normal(size=(47, 3)) > 0).astype(int)
    left = Moments.from_arrays(X, Y) - Moments.from_arrays(X[40:], Y[40:])
    expected = CMLLClassifier(threshold=0.5, scale=True).fit(X[:40], Y[:40])
    found = CMLLClassifier(threshold=0.5, scale=True).fit_moments(left)
    new = X[:40] + np.array([0.1, 0, 0, 0])
    np.testing.assert_allclose(
        found.decision_function(new), expected.decision_function(new), atol=1e-10
    )


# --- training parts of a cross-validation --------------------------------------------------------


@given(
    sizes=st.lists(st.integers(1, 12), min_size=2, max_size=6),
    seed=st.integers(0, 100),
    sparse=st.booleans(),
    weighted=st.booleans(),
)
def test_without_each_is_the_sum_of_the_others(sizes, seed, sparse, weighted):
    X, Y = data(n=sum(sizes), seed=seed)
    w = np.random.default_rng(seed).uniform(0.1, 2, len(X)) if weighted else None
    form = sp.csr_array if sparse else np.asarray
    edges = np.cumsum([0, *sizes])
    rows = [np.arange(a, b) for a, b in itertools.pairwise(edges)]
    parts = [
        module.Moments.from_arrays(form(X[r]), Y[r], None if w is None else w[r]) for r in rows
    ]
    found = list(module.without_each(parts))
    assert len(found) == len(parts)
    for own, moments in zip(rows, found, strict=True):
        kept = np.setdiff1d(np.arange(len(X)), own)
        check(moments, X[kept], Y[kept], None if w is None else w[kept], atol=1e-12)
    for part, r in zip(parts, rows, strict=True):  # what was passed is as it was
        check(part, X[r], Y[r], None if w is None else w[r], atol=1e-12)


def test_without_each_keeps_a_column_that_varies_in_one_fold_only():
    """Where subtraction from the total has no digit left, sums of the others have all of them."""
    X, Y = data(n=40, density=1.0)
    X[:10, 2] *= 1e9
    rows = [np.arange(k, k + 10) for k in range(0, 40, 10)]
    parts = [Moments.from_arrays(X[r], Y[r]) for r in rows]
    kept = np.arange(10, 40)
    check(next(iter(module.without_each(parts))), X[kept], Y[kept], atol=1e-12)
    total = Moments.from_arrays(X, Y)
    exact = literal(X[kept], Y[kept])[2]
    assert abs((total - parts[0]).scatter[2, 2] - exact[2, 2]) > 0.5 * exact[2, 2]
