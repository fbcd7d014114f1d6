"""Figures of a model show what the model says: products, distances, frequencies and counts."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler

from compactlearn import (
    CMLLClassifier,
    CompactClassifier,
    Original,
    ThresholdTuner,
    plots,
)
from compactlearn.core import _optional as optional
from compactlearn.metrics import micro_f1, reliability_table
from compactlearn.plots import plot_embedding, plot_label_map, plot_reliability, plot_tradeoff
from tests.makers import make_data

NAMES = ["animals", "boats", "cities", "dances", "engines"]


@pytest.fixture(scope="module")
def data():
    X, Y = make_data(90)
    return X[:60], pd.DataFrame(Y[:60], columns=NAMES), X[60:], Y[60:]


@pytest.fixture(scope="module")
def model(data):
    X, Y, *_ = data
    return CMLLClassifier(decoder="logistic", threshold="f1").fit(X, Y)


# ---- rows and labels -----------------------------------------------------------------------------


def test_products_of_places_are_scores_where_two_directions_are_all(data):
    X, Y, new, _ = data
    model = CMLLClassifier(2, 2).fit(X, Y)  # two codes: scores vary in two directions
    rows, labels = plot_embedding(model, new).data
    scores = model.decision_function(new)
    products = np.outer(rows.x, labels.x) + np.outer(rows.y, labels.y)
    np.testing.assert_allclose(products, scores - scores.mean(axis=0), atol=1e-9)
    assert list(labels.text) == NAMES
    assert "best: " + NAMES[scores[0].argmax()] in rows.text[0]


def test_the_two_directions_are_the_best_there_are(model, data):
    new = data[2]
    figure = plot_embedding(model, new)
    rows, labels = figure.data
    scores = model.decision_function(new)
    centred = scores - scores.mean(axis=0)
    missed = centred - np.outer(rows.x, labels.x) - np.outer(rows.y, labels.y)
    singular = np.linalg.svd(centred, compute_uv=False)
    assert np.sum(missed**2) == pytest.approx(np.sum(singular[2:] ** 2))
    shares = singular**2 / np.sum(singular**2)
    assert f"{shares[0]:.0%}" in figure.layout.xaxis.title.text
    assert f"{shares[1]:.0%}" in figure.layout.yaxis.title.text
    assert plot_embedding(model, new).data == figure.data  # always the same


def test_rows_are_marked_by_whether_their_best_label_is_right(model, data):
    _, _, new, true = data
    right, wrong, _ = plot_embedding(model, new, true).data
    best = model.decision_function(new).argmax(axis=1)
    hits = true[np.arange(30), best] > 0
    assert (len(right.x), len(wrong.x)) == (hits.sum(), 30 - hits.sum())
    for text, row in zip(right.text, np.flatnonzero(hits), strict=True):
        names = ", ".join(np.array(NAMES)[true[row] > 0])
        assert text == f"row {row}<br>best: {NAMES[best[row]]}<br>true: {names}"


def test_constant_scores_and_a_single_row(data):
    X, Y, new, _ = data
    model = CompactClassifier(Original(), alpha=1e12, threshold=0.5).fit(X, Y)
    rows, _ = plot_embedding(model, new[:1]).data
    assert np.isfinite([*rows.x, *rows.y]).all()


# ---- labels --------------------------------------------------------------------------------------


def test_near_labels_lie_near(data):
    """Three labels span a plane, so that the map has their very distances."""
    X, Y, *_ = data
    model = CompactClassifier(Original(), threshold=0.5).fit(X, Y[NAMES[:3]])
    (points,) = plot_label_map(model).data
    W = model.coef_.T / np.linalg.norm(model.coef_, axis=0)[:, None]
    for i in range(3):
        for j in range(3):
            drawn = np.hypot(points.x[i] - points.x[j], points.y[i] - points.y[j])
            assert drawn == pytest.approx(np.linalg.norm(W[i] - W[j]), abs=1e-9)
    near = [name for name, _ in model.label_neighbours("animals", 3)]
    assert points.hovertext[0] == f"animals<br>near: {', '.join(near)}"


def test_frequent_labels_are_large(model, data):
    Y = data[1]
    (points,) = plot_label_map(model, Y).data
    counts = Y.sum().to_numpy()
    order = np.argsort(counts)
    assert all(np.diff(np.asarray(points.marker.size)[order]) >= 0)
    assert points.hovertext[2].endswith(f"<br>{counts[2]:.0f} rows")
    assert points.marker.size[counts.argmax()] == 40
    assert plot_label_map(model).data[0].marker.size == 8


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array])
def test_many_labels_are_mapped_by_products(monkeypatch, make):
    """The same places, whether the matrix is decomposed or multiplied by."""
    vectors = np.random.default_rng(0).normal(size=(30, 20)) * np.linspace(3, 0.5, 20)
    expected = plots._leading(vectors)
    monkeypatch.setattr(plots, "_DENSE", 5)
    for found, part in zip(plots._leading(make(vectors)), expected, strict=True):
        np.testing.assert_allclose(np.abs(found), np.abs(part), atol=1e-9)


# ---- how far it can be trusted -------------------------------------------------------------------


@pytest.mark.parametrize("k", [None, 1, 3])
def test_the_diagram_is_that_of_suggested_labels(model, data, k):
    _, _, new, true = data
    probabilities = model.predict_proba(new)
    labels = {"labels": model.predict(new)} if k is None else {"k": k}
    for bins in (1, 4, 15):
        figure = plot_reliability(model, new, true, k=k, bins=bins)
        _, points = figure.data
        cells, present = np.asarray(points.customdata).T
        table = reliability_table(true, probabilities, bins=bins, **labels)
        there = table.count > 0
        np.testing.assert_array_equal(cells, table.count[there])
        np.testing.assert_array_equal(present, table.present[there])
        np.testing.assert_allclose(points.x, table.mean_probability[there])
        np.testing.assert_allclose(points.y, table.precision[there])
        error = f"calibration error {table.expected_calibration_error:.4f} of {table.total} "
        assert error in figure.layout.title.text


def test_unknown_labels_are_left_out(model, data):
    _, _, new, true = data
    hidden = true.astype(float)
    hidden[::2, 1] = np.nan
    _, points = plot_reliability(model, new, hidden).data
    given = (model.predict(new) > 0) & ~np.isnan(hidden)
    assert np.asarray(points.customdata)[:, 0].sum() == given.sum()
    precision, recall, *_ = plot_tradeoff(model, new, hidden).data
    known, scores = ~np.isnan(hidden), model.decision_function(new)
    for place in (0, 100, 300):
        given = (scores > precision.x[place]) & known
        hits = (given & (true > 0)).sum()
        assert precision.y[place] == pytest.approx(hits / given.sum())
        assert recall.y[place] == pytest.approx(hits / true[known].sum())


def test_probabilities_of_classes(data):
    _, _, new, true = data
    model = CMLLClassifier(decoder="logistic").fit(new, true[:, 0])
    _, points = plot_reliability(model, new, true[:, 0]).data
    cells, present = np.asarray(points.customdata).T
    right = (model.predict(new) == true[:, 0]).sum()
    assert (cells.sum(), present.sum()) == (30, right)  # one class is predicted for every row
    _, points = plot_reliability(model, new, true[:, 0], k=2).data
    cells, present = np.asarray(points.customdata).T
    assert (cells.sum(), present.sum()) == (60, 30)  # two classes, of which every row has one


@pytest.mark.parametrize("threshold", ["f1", 0.3, "per-label"])
def test_the_mark_is_what_the_model_decides(data, threshold):
    X, Y, new, true = data
    model = CMLLClassifier(threshold=threshold).fit(X, Y)
    precision, recall, f1, mark = plot_tradeoff(model, new, true).data
    given = model.predict(new)
    hits = np.sum((given > 0) & (true > 0))
    assert list(mark.y) == pytest.approx(
        [hits / given.sum(), hits / true.sum(), micro_f1(true, given)]
    )
    assert mark.x[0] == (0.0 if threshold == "per-label" else model.threshold_)
    assert recall.y[-1] == 0
    assert precision.y[-1] == 1  # nothing is said
    assert all(np.diff(recall.y) <= 0)
    for t in f1.x[::97]:
        scores = model.decision_function(new)
        # The curve's own difference: t is one of these, and the sum with it may be rounded.
        above = scores - model.threshold_ if threshold == "per-label" else scores
        place = list(f1.x).index(t)
        assert f1.y[place] == pytest.approx(micro_f1(true, (above > t).astype(int)), abs=1e-9)


def test_other_classifiers_have_curves_too(data):
    X, Y, new, true = data
    foreign = OneVsRestClassifier(LogisticRegression()).fit(X, Y.to_numpy())
    assert len(plot_tradeoff(foreign, new, true).data) == 3
    tuner = ThresholdTuner(foreign, random_state=0).fit(X, Y)
    *_, mark = plot_tradeoff(tuner, new, true).data
    assert mark.y[2] == pytest.approx(micro_f1(true, tuner.predict(new)))
    (points, *_) = plot_embedding(foreign, new).data
    assert len(points.x) == 30


def test_refusals(model, data):
    X, Y, new, true = data
    with pytest.raises(ValueError, match=r"needs a label matrix, .* use sklearn.metrics.Precision"):
        plot_tradeoff(model, new, true[:, 0])
    with pytest.raises(ValueError, match=r"each of the 30 rows of X .* has the shape \(29, 5\)"):
        plot_tradeoff(model, new, true[1:])
    two = CMLLClassifier().fit(X, Y["boats"])
    with pytest.raises(ValueError, match="scores two labels or more, and CMLLClassifier was fitte"):
        plot_embedding(two, new)
    with pytest.raises(TypeError, match="CMLLClassifier has none as it was fitted; fit it with"):
        plot_reliability(two, new, true[:, 1])
    with pytest.raises(ValueError, match="bins to be an integer >= 1, and was given 0; pass"):
        plot_reliability(model, new, true, bins=0)
    for draw in (plot_embedding, plot_reliability, plot_tradeoff):
        with pytest.raises(TypeError, match=r"pass the model|predict_proba"):
            draw(StandardScaler(), new, true)


@pytest.mark.parametrize("draw", [plot_embedding, plot_label_map, plot_reliability, plot_tradeoff])
def test_without_plotly_the_sentence_says_what_to_install(draw, model, data, monkeypatch):
    def absent(name):
        raise ModuleNotFoundError(name, name=name)

    monkeypatch.setattr(optional.importlib, "import_module", absent)
    arguments = (model,) if draw is plot_label_map else (model, data[2], data[3])
    with pytest.raises(ImportError, match=r"needs the package 'plotly'.*compactlearn\[plot\]"):
        draw(*arguments)


# ---- labels by name ------------------------------------------------------------------------------

BY_ROWS = [plot_embedding, plot_reliability, plot_tradeoff]


@pytest.mark.parametrize("form", [list, pd.Series])
@pytest.mark.parametrize("draw", [*BY_ROWS, plot_label_map])
def test_names_draw_what_the_matrix_draws(draw, form, model, data):
    _, _, X, Y = data
    named = form([[NAMES[j] for j in np.flatnonzero(row)] for row in Y])
    rows = [X] if draw in BY_ROWS else []
    assert draw(model, *rows, named) == draw(model, *rows, Y)


@pytest.mark.parametrize("draw", [*BY_ROWS, plot_label_map])
def test_names_that_fit_did_not_have(draw, model, data):
    rows = [data[2][:2]] if draw in BY_ROWS else []
    with pytest.raises(ValueError, match=f"{draw.__name__} knows the 5 labels .*'trains'; leave"):
        draw(model, *rows, [["boats"], ["trains"]])
