"""Metrics of a model on Dask are those of all rows at once, and no scores are gathered."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from compactlearn import CMLLClassifier
from compactlearn.metrics import evaluate
from compactlearn.metrics._evaluation import Asked, tally, values
from compactlearn.metrics._truth import read_truth
from tests.makers import modest
from tests.scale.on_dask.collections import (
    COLLECTIONS,
    SIZES,
    array,
    make_data,
)

da = pytest.importorskip("dask.array")
pytest.importorskip("dask.dataframe")


@pytest.mark.parametrize("kind", COLLECTIONS)
def test_metrics_are_those_of_rows_in_memory(kind):
    X, Y = make_data()
    rows, labels = COLLECTIONS[kind](X, Y)
    model = CMLLClassifier().fit(X, Y)
    if kind.startswith("frame"):
        model = CMLLClassifier().fit(rows.compute(), Y)
        X = rows.compute()
    asked = {"train_labels": Y, "k": (1, 2, 50)}
    if kind == "frames":
        labels = labels.rename(columns=dict(zip(labels.columns, range(5), strict=True)))
    expected = model.evaluate(X, Y, **asked)
    found = model.evaluate(rows, labels, **asked)
    assert list(found) == list(expected)
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("labels", ["matrix", "vector"])
def test_calibration_of_suggested_labels_is_that_of_rows_in_memory(labels):
    X, Y = make_data()
    y = Y if labels == "matrix" else np.array(["a", "b", "c"])[np.arange(90) % 3]
    model = CMLLClassifier(decoder="logistic").fit(X, y)
    expected = model.evaluate(X, y)
    assert {"predicted_calibration_error", "calibration_error_at_1"} <= set(expected)
    found = model.evaluate(array(X, *SIZES), array(y, 90))
    assert list(found) == list(expected)
    assert found == pytest.approx(expected, abs=1e-12)


@modest
@given(
    n_rows=st.integers(1, 12),
    n_labels=st.integers(1, 4),
    cut=st.integers(0, 12),
    unknown=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_tallies_add_up_to_the_metrics(n_rows, n_labels, cut, unknown, seed):
    rng = np.random.default_rng(seed)
    Y = rng.integers(0, 2, (n_rows, n_labels)).astype(float)
    if unknown:
        Y[rng.random(Y.shape) < 0.3] = np.nan
    scores = rng.integers(0, 4, Y.shape) / 3 + 0.1  # with ties
    labels = rng.integers(0, 2, Y.shape)
    asked = Asked.of((1, 3), None, n_labels)
    parts = [slice(0, min(cut, n_rows)), slice(min(cut, n_rows), n_rows)]
    P = scipy.sparse.csr_array(rng.integers(0, 4, Y.shape) / 3)  # whose zeros are no candidates
    tallies = [
        tally(asked, read_truth(Y[p]), scores[p], labels[p], P[p])
        for p in parts
        if p.stop > p.start
    ]
    total = tallies[0] if len(tallies) == 1 else tallies[0] + tallies[1]
    expected = evaluate(Y, scores, labels=labels, k=(1, 3), probabilities=P)
    found = values(asked, total)
    assert list(found) == list(expected)
    np.testing.assert_allclose(list(found.values()), list(expected.values()), rtol=1e-12)


def test_unknown_labels():
    X, Y = make_data()
    model = CMLLClassifier().fit(X, Y)
    known = np.random.default_rng(0).random(Y.shape) < 0.8
    expected = model.evaluate(X, np.where(known, Y, np.nan))
    rows = array(X, *SIZES)
    gaps = array(np.where(known, Y, np.nan), 90)
    assert model.evaluate(rows, gaps) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("vector", [False, True], ids=["matrix", "vector"])
def test_the_score_is_that_of_rows_in_memory(vector):
    X, Y = make_data()
    y = np.array(["a", "b", "c"])[np.arange(90) % 3] if vector else Y
    model = CMLLClassifier().fit(X, y)
    score = model.score(array(X, *SIZES), array(y, *SIZES))
    assert score == pytest.approx(model.score(X, y), abs=1e-12)


def test_no_scores_are_gathered():
    """The result of a block does not grow with its rows."""
    sizes = []
    for n in (200, 2000):
        X, Y = make_data(n=n)
        scores, labels = X[:, :5], (X[:, :5] > 0.5).astype(int)
        found = tally(Asked((1,)), read_truth(Y), scores, labels, None)
        sizes.append(sum(part.size for parts in found.sums.values() for part in parts.values()))
    assert sizes[0] == sizes[1]


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (lambda Y: array(Y[:80], 80), r"must have as many rows as each other, and have 90 and 80"),
        (lambda Y: array(Y[:, :4], 90), r"one column for each of the 5 labels of fit, and Y has 4"),
        (lambda Y: array(Y + 1, 90), r"Block \d, .*Every label must be 0 or 1"),
    ],
    ids=["rows", "columns", "values"],
)
def test_bad_labels_are_refused(labels, sentence):
    X, Y = make_data()
    model = CMLLClassifier().fit(X, Y)
    with pytest.raises(ValueError, match=sentence):
        model.evaluate(array(X, *SIZES), labels(Y))
