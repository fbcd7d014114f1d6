"""A search on Dask is the search in memory, from one pass over the folds."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.model_selection import KFold, RepeatedKFold, ShuffleSplit

from compactlearn import CMLLClassifier, CMLLClassifierCV, CompactClassifier, KernelMap, Original
from compactlearn.crossfit import _fold_sums as summed
from compactlearn.model_selection import GridSearchMoments
from tests.makers import labelled

da = pytest.importorskip("dask.array")

X, Y = labelled(200, 8, 5, 0)
GRID = {"alpha": [0.1, 1.0, 10.0, 100.0], "n_label_components": [2, 5]}
SEARCHES = {
    "grid": GridSearchMoments(CMLLClassifier(threshold=0.5), GRID),
    "scaled": GridSearchMoments(CMLLClassifier(threshold=0.5, scale=True), GRID, cv=3),
    "one split": GridSearchMoments(
        CMLLClassifier(threshold=0.5), GRID, cv=ShuffleSplit(1, test_size=0.3, random_state=0)
    ),
    "labels": GridSearchMoments(
        CompactClassifier(Original(), threshold=0.4), {"alpha": GRID["alpha"]}, scoring="micro_f1"
    ),
    "cmll": CMLLClassifierCV(decoders=("linear",), threshold=0.5),
    "auto": CMLLClassifierCV(threshold=0.5),
}


def on_dask(matrix, *sizes, sparse=False):
    chunks = (sizes or (70, 7, 123), *((size,) for size in matrix.shape[1:]))
    whole = da.from_array(matrix, chunks=chunks)
    return whole.map_blocks(scipy.sparse.csr_array) if sparse else whole


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_on_dask_is_the_search_in_memory(name, sparse):
    expected = clone(SEARCHES[name])
    if name == "auto":  # whose logistic decoder needs rows
        expected.set_params(decoders=("linear",))
    expected.fit(X, Y)
    found = clone(SEARCHES[name]).fit(on_dask(X, sparse=sparse), on_dask(Y, 100, 100))
    assert found.best_index_ == expected.best_index_
    for key in expected.cv_results_:
        if key.endswith("_score"):
            np.testing.assert_allclose(
                found.cv_results_[key], expected.cv_results_[key], rtol=0, atol=1e-8
            )
    rows = on_dask(X, sparse=sparse)
    np.testing.assert_allclose(
        found.decision_function(rows).compute(), expected.decision_function(X), rtol=0, atol=1e-8
    )
    assert np.array_equal(found.predict(rows).compute(), expected.predict(X))
    assert found.evaluate(rows, Y) == pytest.approx(expected.evaluate(X, Y), abs=1e-9)


def test_weights_count():
    weights = np.random.default_rng(0).integers(0, 3, 200).astype(float)
    search = SEARCHES["grid"]
    expected = clone(search).fit(X, Y, sample_weight=weights)
    found = clone(search).fit(on_dask(X), Y, sample_weight=on_dask(weights))
    np.testing.assert_allclose(
        found.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"], atol=1e-8
    )


def test_a_vector_of_classes():
    y = np.array(["a", "b", "c"])[np.arange(200) % 3]
    search = GridSearchMoments(CMLLClassifier(threshold=0.5), {"alpha": [1.0, 10.0]})
    expected, found = clone(search).fit(X, y), clone(search).fit(on_dask(X), on_dask(y))
    assert found.best_score_ == pytest.approx(expected.best_score_, abs=1e-12)
    assert np.array_equal(found.predict(on_dask(X)).compute(), expected.predict(X))


def test_the_folds_are_summed_in_one_pass():
    made = []

    def noted(block, block_id=None):
        made.append(block_id[0])
        return block

    rows = on_dask(X).map_blocks(noted, dtype=float, meta=np.empty((0, 0)))
    search = clone(SEARCHES["grid"]).set_params(refit=False)
    search.fit(rows, on_dask(Y))
    assert sorted(made) == [0, 1, 2]


def test_many_rows_are_judged_by_some_of_them(monkeypatch):
    monkeypatch.setattr(summed, "JUDGING_BYTES", 1)
    monkeypatch.setattr(summed, "FEWEST_JUDGES", 10)
    search = clone(SEARCHES["grid"])
    found = search.fit(on_dask(X), on_dask(Y))
    again = clone(search).fit(on_dask(X, 200), on_dask(Y))
    assert found.best_score_ == pytest.approx(again.best_score_, abs=1e-12)  # a fixed seed
    monkeypatch.undo()
    whole = clone(search).fit(on_dask(X), on_dask(Y))
    assert whole.best_score_ != found.best_score_


@pytest.mark.parametrize(
    ("search", "sentence"),
    [
        (CMLLClassifierCV(decoders=("linear", "logistic")), r"A search on Dask tries settings"),
        (
            GridSearchMoments(CMLLClassifier(), GRID, cv=RepeatedKFold(n_splits=2, n_repeats=2)),
            r"no row may be in the validation part of two splits",
        ),
        (
            GridSearchMoments(CMLLClassifier(solver="krylov"), GRID),
            r"A search on Dask learns from moments, and solver='krylov' needs rows",
        ),
        (
            GridSearchMoments(CMLLClassifier(feature_map=KernelMap()), GRID),
            r"A search on Dask learns from sums of rows as they are, and feature_map",
        ),
        (GridSearchMoments(CMLLClassifier(), GRID, cv=500), r"cv must be at least 2 folds"),
    ],
    ids=["logistic", "splits", "krylov", "kernel", "folds"],
)
def test_parameters_that_need_rows_are_refused(search, sentence):
    with pytest.raises(ValueError, match=sentence):
        search.fit(on_dask(X), on_dask(Y))
    assert not hasattr(search, "best_index_")


def test_splits_without_weight_are_refused():
    weights = np.zeros(200)
    weights[:40] = 1.0
    search = GridSearchMoments(CMLLClassifier(threshold=0.5), GRID, cv=KFold(5))
    with pytest.raises(ValueError, match=r"All sample_weight of the training rows of a split"):
        search.fit(on_dask(X), Y, sample_weight=on_dask(weights))
