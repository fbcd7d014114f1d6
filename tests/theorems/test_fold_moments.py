"""The ridge decoder is a function of the moments of each fold: no rows are needed to learn it."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone

from compactlearn import (
    CMLL,
    CPLST,
    DMLR,
    MDDM,
    PLST,
    CMLLClassifier,
    CompactClassifier,
    FaIE,
    Moments,
    Original,
)
from compactlearn.compact import PaperClassifier
from compactlearn.linalg._moments_pair import MomentsPair
from compactlearn.linalg._ridge import BIASES
from compactlearn.linalg._rows_pair import RowsPair
from tests.makers import modest

from .helpers import assert_scores, is_well_posed, new_rows, problem

EMBEDDINGS = {
    "Original": Original(),
    "CMLL": CMLL(4, 3),
    "CMLL_y": CMLL(None, 3),
    "labels kept": CMLL(3, None),
    "variance": CMLL(5, 3, completion="variance"),
    "narrow": CMLL(2, 4),
    "PLST": PLST(3),
    "CPLST": CPLST(3),
    "FaIE": FaIE(3),
    "DMLR": DMLR(3),
    "MDDM": MDDM(3),
    "MDDM subspace": MDDM(3, variant="subspace", mixing=0.5),
}


def gathered(X, Y, groups, w=None):
    parts = [groups == group for group in np.unique(groups)]
    return [Moments.from_arrays(X[k], Y[k], None if w is None else w[k]) for k in parts]


def assert_same_decoder(found, expected, X_new, atol=1e-8):
    np.testing.assert_allclose(found.decoding_.penalty, expected.decoding_.penalty, rtol=1e-7)
    assert_scores(found.decision_function(X_new), expected.decision_function(X_new), atol=atol)
    np.testing.assert_array_equal(found.predict(X_new), expected.predict(X_new))


@pytest.mark.parametrize("name", EMBEDDINGS)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("n_folds", [2, 5])
def test_every_embedding(name, weighted, n_folds):
    X, Y = problem(60, 8, 6, seed=200)
    rng = np.random.default_rng(200)
    groups = rng.permutation(60) % n_folds
    w = rng.uniform(0.2, 3.0, size=60) if weighted else None
    model = CompactClassifier(EMBEDDINGS[name], alpha=2.0, decoder="learned", threshold=0.5)
    by_rows = clone(model).fit(X, Y, sample_weight=w, groups=groups)
    by_sums = clone(model).fit_moments(gathered(X, Y, groups, w))
    assert_same_decoder(by_sums, by_rows, new_rows(X))
    linear = clone(model).set_params(decoder="linear").fit(X, Y, sample_weight=w)
    gap = linear.decision_function(X) - by_sums.decision_function(X)
    assert np.abs(gap).max() > 1e-3  # something was learnt


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("scale", [False, True], ids=["as it is", "scaled"])
@pytest.mark.parametrize("embedding", [CMLL(4, 3), CMLL(None, 3)], ids=repr)
def test_every_convention(embedding, scale, bias):
    X, Y = problem(50, 7, 5, seed=201)
    groups = np.arange(50) % 3
    model = PaperClassifier(embedding, bias=bias, scale=scale, decoder="learned", threshold=0.5)
    by_rows = clone(model).fit(X, Y, groups=groups)
    by_sums = clone(model).fit_moments(tuple(gathered(X, Y, groups)))
    assert_same_decoder(by_sums, by_rows, new_rows(X))


@modest
@given(
    n=st.integers(14, 40),
    n_features=st.integers(2, 9),
    n_labels=st.integers(2, 6),
    n_folds=st.integers(2, 5),
    keep=st.booleans(),
    seed=st.integers(0, 10_000),
)
def test_every_shape(n, n_features, n_labels, n_folds, keep, seed):
    X, Y = problem(n, n_features, n_labels, seed)
    m = max(1, n_labels // 2)
    groups = np.random.default_rng(seed).permutation(n) % n_folds
    model = CMLLClassifier(None if keep else "auto", m, decoder="learned", threshold=0.5)
    by_rows = clone(model).fit(X, Y, groups=groups)
    assume(is_well_posed(X, Y, by_rows.embedding_.beta_, m, min(m, n_features)))
    by_sums = clone(model).fit_moments(gathered(X, Y, groups))
    assert_same_decoder(by_sums, by_rows, new_rows(X), atol=1e-7)


def test_folds_of_uneven_size_and_a_far_origin():
    X, Y = problem(60, 6, 5, seed=202)
    groups = np.minimum(np.arange(60) // 5, 3)
    model = CMLLClassifier(4, 3, decoder="learned", threshold=0.5)
    near = clone(model).fit_moments(gathered(X, Y, groups))
    far = clone(model).fit_moments(gathered(X + 1e5, Y, groups))
    assert_scores(far.decision_function(X + 1e5), near.decision_function(X), atol=1e-6)


def test_a_list_is_the_sum_where_nothing_is_held_out():
    X, Y = problem(40, 6, 5, seed=203)
    parts = gathered(X, Y, np.arange(40) % 4)
    listed = CMLLClassifier(4, 3).fit_moments(parts)
    whole = CMLLClassifier(4, 3).fit_moments(sum(parts))
    assert_scores(listed.decision_function(X), whole.decision_function(X))
    learned = CMLLClassifier(4, 3, decoder="learned", threshold=0.5).fit_moments(parts)
    assert_scores(learned.predict_codes(X), whole.predict_codes(X))
    learned.set_params(decoder="linear").partial_fit(X[:9], Y[:9])  # goes on from the sum
    again = CMLLClassifier(4, 3).fit_moments(sum(parts)).partial_fit(X[:9], Y[:9])
    assert_scores(learned.decision_function(X), again.decision_function(X))


def test_refusals():
    X, Y = problem(40, 6, 5, seed=204)
    whole = Moments.from_arrays(X, Y)
    model = CMLLClassifier(decoder="learned", threshold=0.5)
    for too_few in (whole, [whole]):
        with pytest.raises(ValueError, match="pass a list of moments, one for each fold"):
            model.fit_moments(too_few)
    with pytest.raises(ValueError, match="was given no moments"):
        model.fit_moments([])
    with pytest.raises(ValueError, match="hold no rows"):
        model.fit_moments([whole, Moments.from_arrays(X[:0], Y[:0])])
    with pytest.raises(ValueError, match="same columns"):
        model.fit_moments([whole, Moments.from_arrays(X[:, :5], Y)])
    with pytest.raises(TypeError, match="or a list of them, and was given ndarray"):
        model.fit_moments([X, Y])
    assert not hasattr(model, "embedding_")
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError) as caught:
        model.partial_fit(X, Y)
    assert "needs those of each fold" in str(caught.value)


# --- the two pieces it is made of ----------------------------------------------------------------


def test_moments_of_mapped_rows():
    X, Y = problem(30, 6, 5, seed=205)
    rng = np.random.default_rng(205)
    A, c, w = rng.normal(size=(6, 3)), rng.normal(size=3), rng.uniform(0.1, 2.0, 30)
    found = Moments.from_arrays(X, Y, w).mapped(A, c)
    expected = Moments.from_arrays(X @ A + c, Y, w)
    assert found.n_left == 3
    np.testing.assert_allclose(found.mean, expected.mean, atol=1e-12)
    np.testing.assert_allclose(found.scatter, expected.scatter, atol=1e-10)


@pytest.mark.parametrize("name", ["CMLL_y", "PLST", "FaIE", "Original"])
def test_codes_of_some_rows_as_the_rows_give_them(name):
    X, Y = problem(40, 6, 5, seed=206)
    Y = sp.csr_array(Y, dtype=float)
    whole = MomentsPair(Moments.from_arrays(X, Y))
    codes = EMBEDDINGS[name].solve(whole).codes
    some = np.arange(11)
    V = RowsPair.of_rows(X, Y).code_rows(codes)
    expected = RowsPair.of_rows(X[some], Y[some]).codes_of(V[some])
    found = MomentsPair(Moments.from_arrays(X[some], Y[some])).codes_like(codes, whole.mean_left)
    np.testing.assert_allclose(found.left, expected.left, atol=1e-9)
    np.testing.assert_allclose(found.total, expected.total, atol=1e-9)
    if name == "Original":
        assert found.right is None  # V is Y itself
    else:
        np.testing.assert_allclose(found.right, expected.right, atol=1e-9)
