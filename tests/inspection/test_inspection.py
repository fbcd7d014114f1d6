"""The contents of the page about a model agree with the model and the metrics."""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline

from compactlearn import (
    AutoCompactClassifier,
    CMLLClassifier,
    CompactClassifier,
    ShortlistClassifier,
)
from compactlearn.inspection import inspect_model, model_report
from compactlearn.metrics import reliability_table
from tests.makers import make_data

NAMES = ["animals", "boats", "cities", "dances", "engines"]


@pytest.fixture(scope="module")
def data():
    X, Y = make_data(120)
    Y = pd.DataFrame(Y, columns=NAMES)
    return X[:80], Y[:80], X[80:], Y[80:]


@pytest.fixture(scope="module")
def model(data):
    X, Y, *_ = data
    return CMLLClassifier(decoder="logistic", alpha=2.0).fit(X, Y)


@pytest.fixture(scope="module")
def facts(model, data):
    return inspect_model(model, *data[2:], n_mistakes=10)


def test_counts_and_metrics(model, data, facts):
    _, _, X, Y = data
    given, true = model.predict(X) > 0, Y.to_numpy() > 0
    for j, label in enumerate(facts.labels):
        assert label.name == NAMES[j]
        assert label.n_present == true[:, j].sum()
        assert label.n_given == given[:, j].sum()
        assert label.n_right == (given & true)[:, j].sum()
    found = model.evaluate(X, Y)
    assert facts.metrics == found
    assert "calibration_error" not in found  # of all pairs, which says nothing of suggestions
    both = facts.n_given + facts.n_present
    assert 2 * facts.n_right / both == pytest.approx(found["micro_f1"])
    assert (facts.n_parameters, facts.n_bytes) == (model.n_parameters_, model.nbytes_)
    assert facts.settings == {"decoder": "'logistic'", "alpha": "2.0"}


def test_probabilities_are_those_of_suggested_labels(model, data, facts):
    _, _, X, Y = data
    P, labels = model.predict_proba(X), model.predict(X)
    asked = {
        "predicted labels": {"labels": labels},
        "first label of each row": {"k": 1},
    }  # the best five are all labels here
    assert list(facts.suggested) == list(asked)
    for name, found in facts.suggested.items():
        table = reliability_table(Y, P, **asked[name])
        for column in ("count", "probability_sum", "present"):
            np.testing.assert_allclose(getattr(found, column), getattr(table, column))


@pytest.mark.parametrize("n_candidates", [3, "auto"])
def test_the_page_of_a_shortlist_has_probabilities_of_candidates(data, n_candidates):
    X, Y, new, true = data
    model = ShortlistClassifier(n_candidates=n_candidates, random_state=0).fit(X, Y)
    facts = inspect_model(model, new, true)
    first = facts.suggested["first label of each row"]
    assert first.total == len(new)
    assert first.present.sum() / first.total == pytest.approx(facts.metrics["precision_at_1"])


def test_words_are_features_of_largest_mean_contribution(model, data, facts):
    _, _, X, Y = data
    for j, label in enumerate(facts.labels):
        rows = X[np.flatnonzero(Y.iloc[:, j])[:30]]
        mean = (rows * model.coef_[:, j]).mean(axis=0)
        best = [f"x{k}" for k in np.argsort(-np.abs(mean)) if mean[k] > 0][:6]
        assert list(label.words) == best
        assert list(label.near) == [name for name, _ in model.label_neighbours(label.name, 3)]


def test_mistakes_are_the_surest(model, data, facts):
    _, _, X, Y = data
    margins = model.decision_function(X) - model.threshold_
    true = Y.to_numpy() > 0
    sure = np.sort(margins[(margins > 0) & ~true])[::-1][:5]
    missed = np.sort(margins[(margins <= 0) & true])[:5]
    assert [one.margin for one in facts.mistakes] == pytest.approx([*sure, *missed])
    for one in facts.mistakes:
        j = NAMES.index(one.label)
        assert one.margin == margins[one.row, j]
        assert one.given == (not true[one.row, j])
        (why,) = model.explain(X[one.row : one.row + 1], one.label, k=6)
        assert one.speaks_for == tuple(term.name for term in why.speaks_for)
    assert inspect_model(model, X, Y, n_mistakes=0).mistakes == ()


def test_what_is_not_known_is_neither_right_nor_wrong(model, data):
    _, _, X, Y = data
    hidden = Y.to_numpy().astype(float)
    hidden[::2, 1] = np.nan
    facts = inspect_model(model, X, hidden, n_mistakes=1000)
    known = ~np.isnan(hidden[:, 1])
    given = model.predict(X)[known, 1]
    assert facts.labels[1].n_given == given.sum()
    assert facts.labels[1].n_right == (given * hidden[known, 1]).sum()
    wrong = {one.row for one in facts.mistakes if one.label == NAMES[1]}
    assert wrong == set(np.flatnonzero(known)[given != hidden[known, 1]])
    best = {name: table.total for name, table in facts.suggested.items()}
    assert best["predicted labels"] == facts.n_given
    assert best["first label of each row"] == len(hidden)


def test_texts_are_shown_and_words_are_words():
    texts = ["a ship at sea", "bread and butter", "a boat", "butter on bread"] * 8
    tags = np.array([[1, 0], [0, 1], [1, 0], [0, 1]] * 8)
    pipe = make_pipeline(TfidfVectorizer(), CMLLClassifier(decoder="logistic")).fit(texts, tags)
    wrong = 1 - tags[:8]
    facts = inspect_model(pipe, texts[:8], wrong)
    assert {one.text for one in facts.mistakes} == set(texts[:4])
    right = inspect_model(pipe, texts[:8], tags[:8])
    assert set(right.labels[1].words) & {"bread", "butter"}
    assert '<td class="wrap">a ship at sea</td>' in model_report(pipe, texts[:8], wrong)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_of_a_vector(data, n_classes):
    X, Y, *_ = data
    y = np.minimum(Y["boats"] + Y["cities"], n_classes - 1).to_numpy()
    model = CMLLClassifier(decoder="logistic").fit(X, y)
    facts = inspect_model(model, X, y)
    assert facts.n_present == facts.n_given == len(y)
    assert facts.n_right == np.sum(model.predict(X) == y)
    assert len(facts.labels) == n_classes
    assert model_report(model, X, y)


def test_a_model_that_cannot_be_explained_has_a_page_all_the_same(data):
    X, Y, new, true = data
    model = CompactClassifier(regressor=KNeighborsRegressor()).fit(X, Y)
    facts = inspect_model(model, new, true)
    assert not any(label.words for label in facts.labels)
    assert "neither linear nor a forest" in facts.unexplained
    assert "neither linear nor a forest" in model_report(model, new, true)


def test_a_search_shows_what_it_tried(data):
    X, Y, new, true = data
    model = AutoCompactClassifier(time_budget=0.5, cv=2, random_state=0).fit(X, Y)
    facts = inspect_model(model, new, true)
    assert facts.tried == model.leaderboard_
    page = model_report(model, new, true)
    assert all(f">{row['name']}<" in page for row in model.leaderboard_)
    assert facts.tried_by == "average_precision"


def test_the_page_is_written_in_one_step(model, data, tmp_path):
    page = model_report(model, *data[2:], tmp_path / "model.html", heading="Ours")
    assert (tmp_path / "model.html").read_text(encoding="utf-8") == page
    assert "<title>Ours</title>" in page
    assert [path.name for path in tmp_path.iterdir()] == ["model.html"]


def test_refusals(model, data):
    with pytest.raises(ValueError, match="n_mistakes must be an integer >= 0, and is -1; "):
        inspect_model(model, *data[2:], n_mistakes=-1)
