"""Predictions for Dask collections: the same, lazy, in blocks of known sizes."""

import numpy as np
import pytest
import scipy.sparse

from compactlearn import CMLLClassifier, ShortlistClassifier
from compactlearn.linalg import _many_logistic as many_logistic
from tests.scale.on_dask.collections import (
    COLLECTIONS,
    SIZES,
    array,
    dense,
    frame,
    make_data,
)

da = pytest.importorskip("dask.array")
pytest.importorskip("dask.dataframe")

METHODS = ("decision_function", "predict_proba", "predict", "transform", "predict_codes")


@pytest.fixture(scope="module")
def fitted():
    X, Y = make_data()
    return CMLLClassifier(decoder="logistic").fit(X, Y)


@pytest.mark.parametrize("kind", COLLECTIONS)
@pytest.mark.parametrize("method", METHODS)
def test_predictions_are_those_of_rows_in_memory(fitted, method, kind):
    X, Y = make_data()
    rows, _ = COLLECTIONS[kind](X, Y)
    if kind.startswith("frame"):
        names = [f"x{number}" for number in range(6)]
        fitted = CMLLClassifier(decoder="logistic").fit(rows.compute()[names], Y)
        X = rows.compute()
    expected = getattr(fitted, method)(X)
    lazy = getattr(fitted, method)(rows)
    assert isinstance(lazy, da.Array)
    assert lazy.dtype == expected.dtype
    if not kind.startswith("frame"):
        assert lazy.shape == expected.shape
        assert lazy.chunks[0] == rows.chunks[0]
    np.testing.assert_allclose(lazy.compute(), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", ["dense", "sparse", "frames"])
def test_the_best_labels(fitted, kind):
    X, Y = make_data()
    rows, _ = COLLECTIONS[kind](X, Y)
    if kind == "frames":
        rows = rows.rename(columns=str)
        fitted = CMLLClassifier(decoder="logistic").fit(rows.compute(), Y)
        X = rows.compute()
    indices, scores = fitted.predict_topk(X, 3)
    lazy, lazy_scores = fitted.predict_topk(rows, 3)
    assert np.array_equal(lazy.compute(), indices)
    np.testing.assert_allclose(lazy_scores.compute(), scores, rtol=0, atol=1e-10)
    stored = fitted.predict_topk(rows, 3, sparse=True).compute()
    np.testing.assert_allclose(
        dense(stored), dense(fitted.predict_topk(X, 3, sparse=True)), rtol=0, atol=1e-10
    )
    names, _ = fitted.predict_topk(rows, 2, names=True)
    assert names.compute().tolist() == fitted.predict_topk(X, 2, names=True)[0].tolist()


def test_nothing_is_computed_until_it_is_asked_for(fitted):
    X, _ = make_data()
    made = []

    def noted(block):
        made.append(len(block))
        return block

    rows = array(X, *SIZES).map_blocks(noted, dtype=float, meta=np.empty((0, 0)))
    lazy = fitted.predict(rows)
    assert made == []
    lazy[40:47].compute()
    assert made == [7]


def test_blocks_of_unknown_sizes_can_be_predicted(fitted):
    X, _ = make_data()
    rows = array(X, *SIZES)
    some = fitted.decision_function(rows[rows[:, 0] > 0])
    assert np.isnan(some.shape[0])
    expected = fitted.decision_function(X[X[:, 0] > 0])
    np.testing.assert_allclose(some.compute(), expected, rtol=0, atol=1e-10)


def test_blocks_without_rows_have_empty_answers():
    X, Y = make_data()
    rows = frame(X, "x", 5)
    model = CMLLClassifier().fit(rows.compute(), Y)
    few = rows[rows["x0"] > np.quantile(X[:, 0], 0.97)]
    assert 0 in few.map_partitions(len).compute().tolist()
    kept = few.compute()
    scores = model.decision_function(few).compute()
    np.testing.assert_allclose(scores, model.decision_function(kept), rtol=0, atol=1e-10)
    indices, _ = model.predict_topk(few, 2)
    assert np.array_equal(indices.compute(), model.predict_topk(kept, 2)[0])


def test_invalid_calls_are_refused_at_once(fitted):
    X, _ = make_data()
    with pytest.raises(ValueError, match=r"X has 4 features, but CMLLClassifier is expecting 6"):
        fitted.predict(array(X[:, :4], *SIZES))
    with pytest.raises(ValueError, match=r"predict_topk needs k between 1 and .* \(5\)"):
        fitted.predict_topk(array(X, *SIZES), 9)
    with pytest.raises(ValueError, match=r"not fitted"):
        CMLLClassifier().predict(array(X, *SIZES))
    with pytest.raises(AttributeError, match=r"Probabilities need decoder='logistic'"):
        CMLLClassifier().fit(*make_data()).predict_proba(array(X, *SIZES))


def test_bad_values_are_named_with_their_block(fitted):
    X, _ = make_data()
    X[50, 2] = np.nan
    lazy = fitted.predict(array(X, *SIZES))
    with pytest.raises(ValueError, match=r"Block 2, whose first row is row 47 of all: X must hold"):
        lazy.compute()


def test_the_sums_of_rows_do_not_travel_with_the_model():
    X, Y = make_data()
    model = CMLLClassifier().partial_fit(X, Y)
    lazy = model.predict(array(X, *SIZES))
    models = [
        value
        for key, value in dict(lazy.__dask_graph__()).items()
        if isinstance(key, str) and key.startswith("compactlearn-model")
    ]
    assert len(models) == 1
    assert model._sums.moments is not None  # the model itself still has them
    assert not hasattr(getattr(models[0], "value", models[0]), "_sums")


# ---- shortlists ---------------------------------------------------------------------------------


def test_a_shortlist_is_the_same_on_dask(monkeypatch):
    monkeypatch.setattr(many_logistic, "_BLOCK_PROBLEMS", 3)  # eight labels are three tasks
    X, Y = make_data(n=200, n_features=12, n_labels=8, density=0.3)
    X = scipy.sparse.csr_array(X)
    model = ShortlistClassifier(random_state=0).fit(X, Y)
    rows = array(X.toarray(), 150, 50, sparse=True)
    other = ShortlistClassifier(random_state=0).fit(rows, array(Y, 100, 100))
    scores = other.decision_function(rows)
    assert scipy.sparse.issparse(scores._meta)
    np.testing.assert_array_equal(dense(scores.compute()), dense(model.decision_function(X)))
    np.testing.assert_array_equal(
        dense(other.predict_proba(rows).compute()), dense(model.predict_proba(X))
    )
    assert np.array_equal(other.predict(rows).compute(), model.predict(X))
    assert np.array_equal(other.predict_topk(rows, 3)[0].compute(), model.predict_topk(X, 3)[0])
    assert other.evaluate(rows, Y) == pytest.approx(model.evaluate(X, Y), abs=1e-12)
