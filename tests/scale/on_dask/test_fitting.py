"""A fit on Dask is the fit in memory: by Dask's threads here, on a cluster in test_cluster.py."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from compactlearn import CMLL, MDDM, CMLLClassifier, CompactClassifier, Original
from compactlearn.compact import PaperClassifier
from tests.makers import modest
from tests.scale.on_dask.collections import (
    COLLECTIONS,
    SIZES,
    array,
    frame,
    make_data,
)

da = pytest.importorskip("dask.array")
pytest.importorskip("dask.dataframe")

MODELS = {
    "default": CMLLClassifier(threshold=0.5),
    "scaled": CompactClassifier(
        CMLL(n_label_components=3), scale=True, alpha="auto", threshold=0.4
    ),
    "ridge": CompactClassifier(Original(), threshold=0.5),
    "mddm": PaperClassifier(MDDM(3), threshold=0.5),
}


def same(model, other, X, tolerance=1e-8):
    expected = model.decision_function(X)
    np.testing.assert_allclose(other.decision_function(X), expected, rtol=0, atol=tolerance)
    assert np.array_equal(model.classes_, other.classes_)


@pytest.mark.parametrize("kind", COLLECTIONS)
@pytest.mark.parametrize("name", MODELS)
def test_a_fit_on_dask_is_the_fit_in_memory(name, kind):
    X, Y = make_data()
    rows, labels = COLLECTIONS[kind](X, Y)
    model = clone(MODELS[name]).fit(X, Y)
    other = clone(MODELS[name]).fit(rows, labels)
    if hasattr(other, "feature_names_in_"):
        del other.feature_names_in_  # what is asked below has no names
    same(model, other, X)
    assert other.n_features_in_ == 6
    assert other.n_labels_ == 5


@modest
@given(
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=9),
    sparse=st.booleans(),
    weighted=st.booleans(),
    seed=st.integers(0, 5),
)
def test_it_does_not_matter_where_blocks_begin(sizes, sparse, weighted, seed):
    n = sum(sizes)
    X, Y = make_data(n=max(n, 12), seed=seed)
    X, Y = X[:n], Y[:n]
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 3, n).astype(float) + (np.arange(n) == 0) if weighted else None
    model = CompactClassifier(Original(), threshold=0.5)
    expected = clone(model).fit(X, Y, sample_weight=weights)
    rows = array(X, *sizes, sparse=sparse)
    given_weights = None if weights is None else array(weights, *sizes[::-1])
    same(expected, clone(model).fit(rows, array(Y, *sizes), sample_weight=given_weights), X)


LEARNT = {
    "threshold": {"threshold": "auto"},
    "thresholds": {"threshold": "per-label"},
    "logistic decoder": {"decoder": "logistic"},
    "logistic": {"decoder": "logistic", "threshold": "f1"},
    "passes": {"solver": "randomized", "n_label_components": 3},
    "logistic by passes": {
        "solver": "randomized",
        "n_label_components": 3,
        "decoder": "logistic",
    },
}


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("case", LEARNT)
def test_decoder_and_threshold_are_those_of_blocks_in_memory(case, sparse):
    """Which rows are held out is decided by their places, not by who has them."""
    X, Y = make_data(n=600, density=0.6 if sparse else None)
    sizes = (100, 17, 83, 200, 200)
    edges = np.cumsum((0, *sizes))
    matrix = scipy.sparse.csr_array(X) if sparse else X
    blocks = [(matrix[a:b], Y[a:b]) for a, b in pairwise(edges)]
    model = CMLLClassifier(random_state=0, **LEARNT[case])
    expected = clone(model).fit_blocks(blocks)
    found = clone(model).fit(array(X, *sizes, sparse=sparse), array(Y, 300, 300))
    same(expected, found, X)
    np.testing.assert_allclose(found.threshold_, expected.threshold_, rtol=0, atol=1e-8)
    assert found.n_passes_ == expected.n_passes_
    if case != "logistic decoder" and "passes" not in case:
        whole = clone(model).set_params(decoder="linear", threshold=0.5).fit(X, Y)
        linear = clone(model).set_params(decoder="linear", threshold=0.5)
        same(whole, linear.fit(array(X, *sizes, sparse=sparse), Y), X)


def test_names_come_from_frames():
    X, Y = make_data()
    model = CMLLClassifier().fit(frame(X, "x"), frame(Y, "y"))
    assert list(model.feature_names_in_) == [f"x{number}" for number in range(6)]
    assert model.label_names_ == [f"y{number}" for number in range(5)]


def test_labels_in_memory_may_be_names():
    X, _ = make_data()
    names = [["a", "b"] if row % 3 else ["b", "c"] for row in range(90)]
    model = CMLLClassifier(threshold=0.5)
    expected, other = clone(model).fit(X, names), clone(model).fit(array(X, *SIZES), names)
    same(expected, other, X)
    assert other.label_names_ == ["a", "b", "c"]


@pytest.mark.parametrize("classes", [np.array([3, 7]), np.array(["a", "b", "c"])], ids=str)
def test_a_vector_of_classes(classes):
    X, _ = make_data()
    y = np.sort(classes[np.arange(90) % classes.size])  # most blocks have one class alone
    model = CMLLClassifier(threshold=0.5)
    expected, other = clone(model).fit(X, y), clone(model).fit(array(X, *SIZES), array(y, *SIZES))
    same(expected, other, X)
    lazy = other.predict(array(X, *SIZES))
    assert lazy.dtype == classes.dtype
    assert np.array_equal(lazy.compute(), expected.predict(X))
    column = clone(model).fit(array(X, *SIZES), array(y[:, None], *SIZES))
    same(expected, column, X)


def test_blocks_without_rows_are_nothing():
    X, Y = make_data()
    rows, labels = frame(X, "x", 5), frame(Y, "y", 5)
    kept = rows["x0"] > np.quantile(X[:, 0], 0.97)
    few = rows[kept]
    assert 0 in few.map_partitions(len).compute().tolist()
    inside = X[:, 0] > np.quantile(X[:, 0], 0.97)
    model = CompactClassifier(Original(), threshold=0.5)
    other = clone(model).fit(few, labels[kept])
    same(clone(model).fit(X[inside], Y[inside]), other, few.compute())


def test_partial_fit_adds_collections_and_arrays():
    X, Y = make_data()
    whole = CMLLClassifier(threshold=0.5).fit(X, Y)
    model = CMLLClassifier(threshold=0.5).partial_fit(array(X[:50], 20, 30), array(Y[:50], 50))
    model.partial_fit(X[50:60], Y[50:60]).partial_fit(array(X[60:], 30), Y[60:])
    same(whole, model, X)


def test_partial_fit_refuses_other_columns_and_labels():
    X, Y = make_data()
    model = CMLLClassifier(threshold=0.5).partial_fit(array(X, *SIZES), array(Y, *SIZES))
    before = model.decision_function(X)
    with pytest.raises(ValueError, match=r"X has 5 features, but CMLLClassifier is expecting 6"):
        model.partial_fit(array(X[:, :5], *SIZES), array(Y, *SIZES))
    with pytest.raises(ValueError, match=r"partial_fit began with 5 multilabel labels"):
        model.partial_fit(array(X, *SIZES), array(Y[:, :4], *SIZES))
    assert np.array_equal(model.decision_function(X), before)


def test_nothing_is_computed_twice_in_a_fit():
    """One pass over the blocks: each is made once."""
    X, Y = make_data()
    made = []

    def noted(block, block_id=None):
        made.append(block_id)
        return block

    rows = array(X, *SIZES).map_blocks(noted, dtype=float, meta=np.empty((0, 0)))
    CMLLClassifier(threshold=0.5, solver="moments").fit(rows, array(Y, *SIZES))
    assert sorted(made) == [(number, 0) for number in range(4)]


# ---- bad input ----------------------------------------------------------------------------------


def unknown(X):
    whole = array(X, *SIZES)
    return whole[whole[:, 0] > 0]


def with_value(X, row, column, value):
    other = X.astype(float)
    other[row, column] = value
    return other


def lying(X):
    """Blocks that are narrower than they claim to be."""

    def narrow(block, block_id=None):
        return block[:, :4] if block_id[0] == 2 else block

    whole = array(X, *SIZES)
    return whole.map_blocks(narrow, dtype=float, meta=np.empty((0, 0)), chunks=whole.chunks)


X0, Y0 = make_data()
D = array(X0, *SIZES)
BAD = {
    "unknown sizes": (lambda: (unknown(X0), Y0), r"blocks of unknown sizes; call X.compute_chunk"),
    "a vector": (lambda: (D[:, 0], Y0), r"X must be a matrix .* with 1 dimension"),
    "no rows": (lambda: (D[:0], Y0[:0]), r"X needs at least one row"),
    "no rows in a frame": (
        lambda: ((lambda f: f[f["x0"] > 1e9])(frame(X0, "x")), Y0[:0]),
        r"X needs at least one row, and its Dask collection has none",
    ),
    "differing width": (
        lambda: (lying(X0), Y0),
        r"Block 2, whose first row is row 47 of all: X has 4 features, but CMLLClassifier is",
    ),
    "differing width of Y": (
        lambda: (D, lying(Y0)),
        r"Block 2, .*Y must have the same columns in every block, 5 of them, and has 4 here",
    ),
    "NaN": (
        lambda: (array(with_value(X0, 50, 3, np.nan), *SIZES, sparse=True), Y0),
        r"Block 2, whose first row is row 47 of all: X must hold .* NaN, first in row 3, column 3",
    ),
    "labels of 2": (
        lambda: (D, array(with_value(Y0, 41, 0, 2.0), *SIZES)),
        r"Block 1, whose first row is row 40 of all: Every label must be 0 or 1, and Y contains 2",
    ),
    "other lengths": (
        lambda: (D, array(Y0[:80], 80)),
        r"X and Y must have as many rows as each other, and have 90 and 80",
    ),
    "three dimensions": (
        lambda: (D, array(np.zeros((90, 2, 2)), *SIZES)),
        r"Y is a Dask array of shape \(90, 2, 2\)",
    ),
    "no labels": (lambda: (D, None), r"fit requires y to be passed"),
    "one class": (
        lambda: (D, array(np.zeros(90, dtype=int), *SIZES)),
        r"A classifier needs at least 2 classes",
    ),
    "bad weights": (
        lambda: (D, Y0, array(np.where(np.arange(90) == 60, -1.0, 1.0), *SIZES)),
        r"Block 3, .*must hold one finite number >= 0",
    ),
    "no weight": (lambda: (D, Y0, array(np.zeros(90), *SIZES)), r"All sample_weight are zero"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_and_the_model_is_unchanged(case):
    make, sentence = BAD[case]
    model = CMLLClassifier(threshold=0.5).fit(X0, Y0)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=sentence):
        model.fit(*make())
    assert vars(model) == before


@pytest.mark.parametrize("what", ["bag", "delayed"])
def test_other_collections_are_refused(what):
    import dask
    import dask.bag

    X, Y = make_data()
    other = dask.bag.from_sequence([1]) if what == "bag" else dask.delayed(X)
    with pytest.raises(TypeError, match=r"X must be a Dask array or a Dask DataFrame"):
        CMLLClassifier().fit(other, Y)
    with pytest.raises(TypeError, match=r"Y must be a Dask array or a Dask DataFrame"):
        CMLLClassifier().fit(array(X, *SIZES), other)


def test_sparse_blocks_stay_sparse():
    """A block is never made dense: its moments are summed from what is stored."""
    X, Y = make_data(density=0.2)
    seen = []

    class Watched(scipy.sparse.csr_array):
        def toarray(self, *args, **kwargs):
            seen.append(self.shape)
            return super().toarray(*args, **kwargs)

    rows = array(X, *SIZES).map_blocks(Watched, dtype=float, meta=scipy.sparse.csr_array((0, 0)))
    same(
        CMLLClassifier(threshold=0.5).fit(X, Y),
        CMLLClassifier(threshold=0.5).fit(rows, array(Y, *SIZES)),
        X,
    )
    assert not any(shape[0] in SIZES and shape[1] == 6 for shape in seen)
