"""The best model within a size."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from compactlearn import AutoCompactClassifier, CompactClassifier, Original, load_model
from compactlearn.auto._budgets import SizeBudget, most_codes, smallest
from compactlearn.auto._candidates import Findings
from compactlearn.auto._preprocessing import PREPROCESSINGS, UNIT_VARIANCE
from compactlearn.auto._searches import SearchResult
from compactlearn.auto._small_candidates import small_candidates
from compactlearn.auto._trials import model_numbers
from compactlearn.compact._pruned import KeptFeatures, KeptWeights
from compactlearn.datasets import load, make_compact
from compactlearn.decoding._linear import linear_parameters
from compactlearn.metrics import average_precision
from tests.auto.problems import problem_of
from tests.io.onnx.running import BOUNDS, assert_same


def stories(n_rows=150, n_labels=16, n_words=4, seed=0):
    """Sparse rows in which every label has words of its own."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n_rows, n_labels)) < 0.12).astype(float)
    Y[np.arange(n_rows), rng.integers(0, n_labels, n_rows)] = 1.0
    means = np.kron(Y, np.ones(n_words)) * 0.6 + 0.02
    return sp.csr_array((rng.random(means.shape) < means).astype(float)), Y


def linear_models(X, Y, budget, preprocessing=UNIT_VARIANCE):
    """Return what is tried within a size, with settings that are given."""
    problem = problem_of(X, Y, n_folds=3)
    found = SearchResult(preprocessing, 0.5, {"alpha": 3.0})
    whole = small_candidates(problem, budget, findings=Findings(problem, found=found))
    return [one for one in whole if not one.reference]


def last_part(model):
    """Return the classifier of the selected model."""
    best = model.best_estimator_
    return best[-1] if hasattr(best, "steps") else best


# ---- the budget ----------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [0.1, 3000, "20 kB"])
def test_a_size_is_kept_to(budget):
    data = make_compact(150, 40, 30, random_state=0)
    model = AutoCompactClassifier(size_budget=budget, random_state=0).fit(data.X, data.Y)
    size = SizeBudget.of(budget, 40, 30)
    assert model.n_parameters_ <= size.numbers
    assert all(row["n_parameters"] <= size.numbers for row in model.leaderboard_)
    if size.n_bytes:  # stored in single precision already
        assert model.compress("float32").nbytes_ == model.compress("float64").nbytes_


@given(st.integers(1, 200), st.integers(1, 60), st.integers(1, 100_000))
def test_as_many_codes_as_fit(n_features, n_labels, budget):
    codes = most_codes(budget, n_features, n_labels)
    if codes:
        assert linear_parameters(n_features, n_labels, None, codes) <= budget
    else:
        assert budget < n_labels + n_features + n_labels
    if codes < min(n_features, n_labels):
        assert n_labels + (codes + 1) * (n_features + n_labels) > budget


def test_the_smallest_model_there_is():
    X, Y = stories(n_rows=60, n_labels=8)
    least = smallest(8)  # a place, 8 weights, 8 constants
    assert least == 17
    model = AutoCompactClassifier(size_budget=least, random_state=0).fit(X, Y)
    assert model.n_parameters_ == least
    sentence = (
        "size_budget must allow at least 17 parameters, .* 8 labels with a single feature; got 16"
    )
    with pytest.raises(ValueError, match=sentence):
        AutoCompactClassifier(size_budget=least - 1, random_state=0).fit(X, Y)


# ---- what is tried -------------------------------------------------------------------------------


@settings(max_examples=6, deadline=None)
@given(st.integers(17, 260), st.sampled_from(PREPROCESSINGS))
def test_whatever_is_tried_is_within_the_size(budget, preprocessing):
    X, Y = stories(n_rows=60, n_labels=8)
    tried = [one.run() for one in linear_models(X, Y, budget, preprocessing)]
    assert tried
    for one in tried:
        assert model_numbers(one.model) == one.numbers <= budget
        assert one.log_odds.shape == (60, 8)
        scores = one.model.decision_function(X)
        assert scores.shape == (60, 8)
        assert np.isfinite(scores).all()


def test_as_many_features_as_one_code_may_see():
    X, Y = stories(n_rows=60, n_labels=8)
    found = linear_models(X, Y, 25)
    # Four weights and their places, eight weights of the code, eight constants: 24.
    assert [one.name for one in found] == [
        "compact model of 1 code of 4 features",
        "linear model of 4 weights",
    ]
    # With fewer features there are more codes, and only then are they tried.
    found = linear_models(X, Y, 60)[2:]
    assert [one.name for one in found] == [
        "compact model of 3 codes of 6 features",
        "linear model of 21 weights",
    ]


def test_columns_of_unit_variance_have_no_units():
    """And no scaler of all columns is kept with a few of them."""
    X, Y = stories(n_rows=90, n_labels=8)
    units = np.where(np.arange(32) % 2 == 0, 100.0, 0.1)
    scores = []
    for rows in (X, sp.csr_array(X.multiply(units))):
        tried = linear_models(rows, Y, 60)[-1].run()
        assert isinstance(tried.model, KeptWeights)
        scores.append(tried.model.decision_function(rows))
    np.testing.assert_allclose(*scores, atol=1e-9)


def test_all_numbers_allow_everything():
    X, Y = stories(n_rows=60, n_labels=8)
    for numbers, name in ((263, "compact model of 6 codes (CMLL)"), (264, "linear model")):
        assert next(small_candidates(problem_of(X, Y, n_folds=3), numbers)).name == name


@pytest.mark.parametrize("preprocessing", PREPROCESSINGS, ids=lambda one: one.name)
def test_labels_of_a_fold_have_no_part_in_its_scores(preprocessing):
    """Nor in the choice of features and weights that these scores come from."""
    X, Y = stories()
    inside = problem_of(X, Y, n_folds=3).fold == 1
    changed = Y.copy()
    changed[inside] = np.random.default_rng(1).permutation(Y[inside], axis=1)

    def raw(Y):
        found = {}
        for candidate in linear_models(X, Y, 300, preprocessing):
            if "weight" in candidate.name or "feature" in candidate.name:
                one = candidate.run()
                log_odds = one.log_odds[inside].astype(float)
                reading = one.blend.members[0].reading
                found[candidate.name] = (log_odds - reading.intercept) / reading.slope
        return found

    one, two = raw(Y), raw(changed)
    assert len(one) == 3
    for name, scores in one.items():
        np.testing.assert_allclose(two[name], scores, atol=2e-4)  # single precision


def test_few_weights_find_labels_that_have_words_of_their_own():
    """Sixteen labels of four words each have no codes that are few."""
    X, Y = stories(n_rows=400)
    train, new = slice(0, 250), slice(250, None)
    numbers = 16 * 4 * 2 + 2 * 16 + 1  # every word of a label, and its position
    model = AutoCompactClassifier(size_budget=numbers, random_state=0).fit(X[train], Y[train])
    assert isinstance(last_part(model), KeptWeights)
    full = CompactClassifier(Original(), alpha="auto", threshold=0.5).fit(X[train], Y[train])
    found = average_precision(Y[new], model.decision_function(X[new]))
    assert found > average_precision(Y[new], full.decision_function(X[new])) - 0.01
    words = last_part(model).weights_.toarray() != 0
    assert (words & (np.kron(np.eye(16), np.ones(4)) > 0)).sum() >= 60  # of 64


@pytest.mark.slow
@pytest.mark.parametrize(("budget", "kind"), [(0.008, KeptWeights), (0.02, KeptFeatures)])
def test_a_small_model_is_stored_explained_and_exported(budget, kind, tmp_path):
    data = load("enron")
    X, Y, new = data.X[:300], data.Y[:300], data.X[300:330]
    model = AutoCompactClassifier(size_budget=budget, random_state=0).fit(X, Y)
    assert isinstance(last_part(model), kind)
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    scores = model.decision_function(new)
    for one in (model, loaded):
        np.testing.assert_array_equal(one.decision_function(new), scores)
        np.testing.assert_array_equal(one.predict_proba(new), model.predict_proba(new))
        for why in one.explain(new, k=None, feature_names=data.feature_names):
            assert why.score == scores[why.row, int(why.label)]
            terms = sum(term.contribution for term in why.terms)
            assert why.base + terms == pytest.approx(why.score, abs=1e-9)
            there = {data.feature_names[j] for j in new[[why.row]].nonzero()[1]}
            assert {term.name for term in why.terms} <= there
        assert all(len(near) == 3 for near in one.label_neighbours(k=3).values())
        assert_same(one, one.to_onnx(topk=3), new, BOUNDS["float32"], topk=3)


# ---- comparison ----------------------------------------------------------------------------------


def test_ridge_is_a_reference_of_what_was_tried():
    data = load("emotions")
    X, Y = data.X[:200], data.Y[:200]
    folds = [(np.flatnonzero(np.arange(200) % 4 != k), np.arange(k, 200, 4)) for k in range(4)]
    model = AutoCompactClassifier(size_budget=0.3, cv=folds, random_state=0).fit(X, Y)
    (ridge,) = model.references_
    assert ridge["n_parameters"] == 72 * 6 + 6 > model.n_parameters_
    assert ridge["name"] == "ridge, columns of unit variance"
    assert ridge["name"] not in {row["name"] for row in model.leaderboard_}
    # Its score is that of a cross-validation: the penalty is the one of the smaller models.
    alpha = last_part(model).alpha
    scale = X.std(axis=0)
    scores = []
    for train, test in folds:
        one = CompactClassifier(Original(), alpha=alpha, threshold=0.5)
        one.fit(X[train] / scale, Y[train])
        scores.append(average_precision(Y[test], one.decision_function(X[test] / scale)))
    assert ridge["score"] == pytest.approx(np.mean(scores), abs=1e-6)
    marked = model.plot_frontier({"mine": (100, 0.5)}).data[-1]
    assert list(marked.text) == [ridge["name"], "mine"]
    assert (marked.x[0], marked.y[0]) == (ridge["n_parameters"], ridge["score"])


def test_no_time_no_comparison():
    data = load("emotions")
    model = AutoCompactClassifier(time_budget=0.01, random_state=0).fit(data.X[:90], data.Y[:90])
    assert model.references_ == []
    assert len(model.plot_frontier().data) == 2
