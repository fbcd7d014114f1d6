"""The best model without arguments: what must hold whatever is tried."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.model_selection import KFold

from compactlearn import AutoCompactClassifier, CMLLClassifier
from compactlearn.auto import _candidates as portfolio
from compactlearn.auto import _choice, _searches
from compactlearn.auto._blend import Blend, Member, Reading, join, read_scores
from compactlearn.auto._candidates import Candidate, candidates, try_forest
from compactlearn.auto._choice import best_choice
from compactlearn.auto._forest import LabelForest
from compactlearn.auto._trials import Trial, try_by_folds
from compactlearn.compact import _preparation
from compactlearn.core import _targets
from compactlearn.datasets import load
from compactlearn.embeddings import _base
from compactlearn.metrics import _judges, average_precision, calibration_error
from tests.auto.problems import problem_of

SMALL = {"time_budget": 0.01, "random_state": 0}  # the first model only


@pytest.fixture(scope="module")
def emotions():
    data = load("emotions")
    return data.X[:391], data.Y[:391], data.X[391:], data.Y[391:]


@pytest.fixture(scope="module")
def fitted(emotions):
    X, Y, _, _ = emotions
    return AutoCompactClassifier(random_state=0).fit(X, Y)


def counting(monkeypatch, module, name):
    """Return a list that grows by one with each call of a function."""
    calls, function = [], getattr(module, name)

    def counted(*given, **more):
        calls.append(name)
        return function(*given, **more)

    monkeypatch.setattr(module, name, counted)
    return calls


# ---- the estimator -------------------------------------------------------------------------------


def test_better_than_the_default_and_calibrated(emotions, fitted):
    X, Y, X_new, Y_new = emotions
    plain = CMLLClassifier().fit(X, Y)
    found = fitted.evaluate(X_new, Y_new)
    assert found["average_precision"] > plain.evaluate(X_new, Y_new)["average_precision"]
    p = fitted.predict_proba(X_new)
    assert ((p >= 0) & (p <= 1)).all()
    assert np.abs(p.mean(axis=0) - Y_new.mean(axis=0)).max() < 0.12
    assert calibration_error(Y_new, p) < 0.06  # of 202 rows: their own noise is .03


@pytest.mark.parametrize(
    ("name", "metric", "most_plans"),
    [("emotions", "average_precision", 2), ("emotions", "micro_f1", 2), ("enron", "log_loss", 6)],
)
def test_a_search_reads_checks_and_plans_a_bounded_number_of_times(
    monkeypatch, name, metric, most_plans
):
    """Whatever the metric, and however many settings and blends are scored.

    The truth of a fold is read once for all rows, once for the part that settings are searched on,
    and by each grid search. Labels are checked once, and once by each fit of a linear model, a
    kernel and the reference. A route is planned twice at most for each of these.
    """
    read = counting(monkeypatch, _judges, "read_truth")
    checked = counting(monkeypatch, _targets, "_read_array")
    plans = [counting(monkeypatch, module, "plan_route") for module in (_preparation, _base)]
    grids = counting(monkeypatch, _searches, "cross_validate_grid")
    data = load(name)
    model = AutoCompactClassifier(cv=4, scoring=metric, random_state=0)
    model.fit(data.X[:520], data.Y[:520])
    tried = {row["name"].split(",")[0] for row in model.leaderboard_}
    assert tried >= {"linear model", "kernel"}
    assert len(model.references_) == 1
    assert 0 < len(read) <= 4 * (2 + len(grids))
    assert 0 < len(checked) <= 1 + 3
    assert 0 < sum(map(len, plans)) <= most_plans


def test_what_is_fitted_agrees_with_itself(emotions, fitted):
    X, Y, X_new, _ = emotions
    scores = [row["score"] for row in fitted.leaderboard_]
    assert scores == sorted(scores, reverse=True)
    assert fitted.best_score_ == scores[0]
    assert f"{fitted.best_score_:.3f}" in fitted.why_
    assert len(fitted.leaderboard_) >= 4
    assert set(fitted.weights_) <= {row["name"] for row in fitted.leaderboard_}
    problem = problem_of(X, Y)
    shown = [one.name for one in candidates(problem)]
    for row in fitted.leaderboard_:
        name = row["name"].split(", ")[0]
        assert name in shown or name.startswith("blend of ")
    again = clone(fitted).set_params(threshold=0.2).fit(X, Y)
    np.testing.assert_array_equal(again.decision_function(X_new), fitted.decision_function(X_new))
    assert np.array_equal(again.predict(X_new), again.predict_proba(X_new) > 0.2)
    models = fitted.best_estimator_
    models = models if isinstance(models, list) else [models]
    assert len(models) == len(fitted.weights_)
    p = fitted.predict_proba(X_new)
    np.testing.assert_allclose(np.log(p) - np.log1p(-p), fitted.decision_function(X_new), atol=1e-8)
    assert np.array_equal(
        fitted.predict(X_new), fitted.decision_function(X_new) > fitted.threshold_
    )
    best, value = fitted.predict_topk(X_new, k=2)
    np.testing.assert_allclose(value[:, 0], fitted.decision_function(X_new).max(axis=1))
    assert np.array_equal(best[:, 0], fitted.decision_function(X_new).argmax(axis=1))


def test_noise_scores_no_better_than_label_frequencies():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((200, 20)), (rng.random((200, 8)) < 0.25).astype(int)
    model = AutoCompactClassifier(random_state=0).fit(X, Y)
    # Ranking by label frequency is a stricter baseline than random scores.
    baseline = average_precision(Y, np.tile(Y.mean(axis=0), (200, 1)))
    best = next(row for row in model.leaderboard_ if row["score"] == model.best_score_)
    assert model.best_score_ <= baseline + best["deviation"]


def test_sparse_rows_give_what_dense_ones_give():
    data = load("enron")
    X, Y = data.X[:300, :200], sp.csr_array(data.Y[:300, :6])
    dense = AutoCompactClassifier(**SMALL).fit(X.toarray(), Y)
    sparse = AutoCompactClassifier(**SMALL).fit(sp.csr_array(X), Y)
    new = data.X[300:400, :200]
    new = new[new.sum(axis=1) > 0]  # a row of zeros is one like others among dense rows only
    np.testing.assert_allclose(
        sparse.decision_function(new), dense.decision_function(new.toarray()), atol=1e-5
    )


@pytest.mark.parametrize("metric", ["micro_f1", "ranking_loss", "precision_at_1", "log_loss"])
def test_any_metric_may_be_the_best(emotions, metric):
    X, Y, _, _ = emotions
    model = AutoCompactClassifier(scoring=metric, **SMALL).fit(X[:120], Y[:120])
    assert np.isfinite(model.best_score_)
    assert metric.replace("_", " ") in model.why_


def test_splits_may_be_given(emotions):
    X, Y, X_new, _ = emotions
    splits = list(KFold(3, shuffle=True, random_state=1).split(X))
    one = AutoCompactClassifier(cv=splits, **SMALL).fit(X, Y)
    two = AutoCompactClassifier(cv=KFold(3, shuffle=True, random_state=1), **SMALL).fit(X, Y)
    np.testing.assert_array_equal(one.decision_function(X_new), two.decision_function(X_new))
    weights = (np.arange(391) % 4 > 0).astype(float)
    problem = one._read(X, Y, weights, None, None, None)[1]
    of_rows = np.zeros(391, dtype=int)
    for k, (_, test) in enumerate(splits):
        of_rows[test] = k
    np.testing.assert_array_equal(problem.fold, of_rows[weights > 0])
    with pytest.raises(ValueError, match="must be all 391 rows once"):
        AutoCompactClassifier(cv=splits[:1], **SMALL).fit(X, Y)


def first_and(error):
    """Return a source of the first candidate, and one that raises an error."""

    def fail():
        raise error

    def source(problem):
        yield next(portfolio.candidates(problem))
        yield Candidate("the large one", 0.0, fail)

    return source


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (KeyboardInterrupt(), "was interrupted: 1 model finished"),
        (MemoryError("It needs 9 TiB."), "the large one was left out: It needs 9 TiB"),
    ],
)
def test_what_is_interrupted_or_fails_is_left_out_and_said(emotions, monkeypatch, error, words):
    X, Y, X_new, _ = emotions
    monkeypatch.setattr("compactlearn.auto._classifier.candidates", first_and(error))
    with pytest.warns(UserWarning, match=words):
        model = AutoCompactClassifier(random_state=0).fit(X, Y)
    assert model.interrupted_ == isinstance(error, KeyboardInterrupt)
    assert len(model.leaderboard_) == 1
    if not model.interrupted_:
        assert model.skipped_[0]["reason"] == "failed: It needs 9 TiB."
    assert ("interrupted" in model.why_) == model.interrupted_
    assert model.predict(X_new).shape == (202, 6)


def test_a_metric_that_is_not_defined_is_said(emotions):
    X, _, _, _ = emotions
    with pytest.warns(UserWarning, match="is not defined on any fold"):
        model = AutoCompactClassifier(**SMALL).fit(X[:60], np.zeros((60, 3), dtype=int))
    assert model.predict(X[:5]).sum() == 0


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"time_budget": 0}, "time_budget"),
        ({"time_budget": "soon"}, "time_budget"),
        ({"cv": 1}, "at least 2 folds"),
        ({"cv": "many"}, "at least 2 folds"),
        ({"size_budget": 0}, "size_budget must be"),
        ({"size_budget": 1.5}, "size_budget must be"),
        ({"size_budget": "2 elephants"}, "size_budget must be"),
        ({"size_budget": 12}, "the smallest model of 6 labels"),
        ({"scoring": "averge_precision"}, "average_precision"),
        ({"threshold": 2.0}, "between 0 and 1"),
    ],
)
def test_bad_parameters_get_a_sentence(emotions, parameters, words):
    X, Y, _, _ = emotions
    with pytest.raises((ValueError, KeyError), match=words):
        AutoCompactClassifier(**parameters).fit(X, Y)


# ---- sizes ---------------------------------------------------------------------------------------


def test_a_blend_is_stored_in_smaller_numbers(emotions, fitted):
    X_new, Y_new = emotions[2:]
    small = fitted.compress("float32", X_new, Y_new)
    p = fitted.predict_proba(X_new)
    np.testing.assert_allclose(small.predict_proba(X_new), p, atol=1e-4)
    assert small.compression_["after"] == pytest.approx(small.compression_["before"], abs=1e-3)
    kernels = [row for row in fitted.leaderboard_ if row["name"].startswith("kernel")]
    assert small.nbytes_ <= fitted.nbytes_ - kernels[0]["bytes"] / 3


# ---- out-of-fold scores --------------------------------------------------------------------------


def test_rows_are_scored_by_trees_that_have_not_met_them():
    rng = np.random.default_rng(2)
    X, Y = rng.standard_normal((150, 6)), sp.csr_array((rng.random((150, 3)) < 0.4).astype(float))
    forest = LabelForest(40, random_state=0)
    scores = forest.fit_scored(X, Y, None)
    # One row by hand, from the trees whose sample it is not in.
    new = [
        tree.predict(X[:1])[0]
        for tree, sample in zip(
            forest.forest_.estimators_, forest.forest_.estimators_samples_, strict=True
        )
        if 0 not in sample
    ]
    p = (40 * np.mean(new, axis=0) + forest.frequency_) / 41
    np.testing.assert_allclose(scores[0], np.log(p / (1 - p)), atol=1e-8)
    # Labels that are noise are not known out of the bag, and are by heart inside it.
    truth = Y.toarray().ravel() > 0
    inside = forest.decision_function(X).ravel()
    assert scores.ravel()[truth].mean() - scores.ravel()[~truth].mean() < 0.3
    assert inside[truth].mean() - inside[~truth].mean() > 0.7


def test_any_classifier_by_folds():
    data = load("emotions")
    problem = problem_of(data.X[:150], data.Y[:150])
    tried = try_by_folds(problem, "one", CMLLClassifier(alpha=5.0, threshold=0.5))
    for k, (train, test) in enumerate(problem.splits):
        model = CMLLClassifier(alpha=5.0, threshold=0.5).fit(problem.X[train], problem.Y[train])
        scores = model.decision_function(problem.X[test])
        reading = tried.blend.members[0].reading
        own = (tried.log_odds[test] - reading.intercept) / reading.slope
        np.testing.assert_allclose(own, scores, atol=1e-4)
        assert tried.by_fold[k] == pytest.approx(average_precision(problem.Y[test], scores))


def literal(columns, Y, weights):
    Z = np.column_stack([column.ravel() for column in columns]).astype(np.float64)
    t, w = Y.ravel(), np.repeat(weights, Y.shape[1])

    def loss(b):
        margins = Z @ b[:-1] + b[-1]
        return w @ (np.logaddexp(0, margins) - t * margins)

    start = np.append(np.full(len(columns), 0.5), 0.0)
    bounds = [(0, None)] * len(columns) + [(None, None)]
    return minimize(loss, start, bounds=bounds, tol=1e-14, options={"maxiter": 2000})


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 3))
def test_weights_are_of_largest_likelihood(seed, count):
    rng = np.random.default_rng(seed)
    Y = (rng.random((60, 5)) < 0.3).astype(float)
    parts = [rng.standard_normal(Y.shape) + rng.uniform(-1, 2) * Y for _ in range(count)]
    weights = rng.uniform(0.5, 2.0, 60)
    w, added = join(parts, sp.csr_array(Y), weights, seed=0)
    assert (w >= 0).all()
    best = literal(parts, Y, weights)
    Z = np.column_stack([part.ravel() for part in parts])
    margins = Z @ w + added
    t, each = Y.ravel(), np.repeat(weights, 5)
    own = each @ (np.logaddexp(0, margins) - t * margins)
    assert own <= best.fun + 1e-3 * 0.5 * (w @ w + 10)  # the ridge that bounds it


def test_a_row_of_weight_two_is_that_row_twice():
    rng = np.random.default_rng(3)
    Y = (rng.random((40, 3)) < 0.4).astype(float)
    S = rng.standard_normal(Y.shape) + Y
    weights = rng.integers(1, 4, 40)
    once = read_scores(S, sp.csr_array(Y), weights.astype(float), 0)
    rows = np.repeat(np.arange(40), weights)
    often = read_scores(S[rows], sp.csr_array(Y[rows]), None, 0)
    assert once.slope == pytest.approx(often.slope, rel=1e-6)
    assert once.intercept == pytest.approx(often.intercept, abs=1e-6)


def tried_of(problem, name, scores):
    scores = scores.astype(np.float32)
    rows = np.arange(problem.n_rows)
    blend = Blend((Member(name, None, Reading()),))
    return Trial(name, blend, problem.score_folds(rows, scores), rows, scores, 10)


def test_models_are_blended_where_they_know_different_things(monkeypatch):
    rng = np.random.default_rng(5)
    Y = (rng.random((300, 6)) < 0.3).astype(float)
    problem = problem_of(rng.standard_normal((300, 2)), Y)
    one, two = (
        tried_of(problem, name, 1.5 * Y + rng.standard_normal(Y.shape)) for name in ("one", "two")
    )
    rows = set()
    monkeypatch.setattr(
        _choice, "join", lambda parts, *more: rows.add(len(parts[0])) or join(parts, *more)
    )
    chosen = best_choice(problem, [one, two])
    assert rows == {240, 300}  # weights of a fold's score come from the others
    assert len(chosen.blend.members) == 2
    assert chosen.score > max(one.score, two.score) + 0.01
    assert chosen.numbers == 20
    assert len(best_choice(problem, [one, two], 19).blend.members) == 1  # of so many parameters
    noise = tried_of(problem, "noise", rng.standard_normal(Y.shape))
    assert [m.name for m in best_choice(problem, [noise, one]).blend.members] == ["one"]
    halves = np.arange(150), np.arange(150, 300)
    apart = [
        replace(trial, rows=rows, log_odds=trial.log_odds[rows])
        for trial, rows in zip((one, two), halves, strict=True)
    ]
    assert len(best_choice(problem, apart).blend.members) == 1  # no row that both have scored


def test_the_rows_that_judge_are_bounded(monkeypatch):
    monkeypatch.setattr("compactlearn.auto._problem.JUDGED_SCORES", 1)
    rng = np.random.default_rng(0)
    problem = problem_of(rng.standard_normal((500, 2)), (rng.random((500, 3)) < 0.5).astype(float))
    rows = problem.kept_rows(np.arange(100, 500))
    assert rows.size == 200
    assert (np.diff(rows) > 0).all()
    assert rows.min() >= 100
    forest = try_forest(problem, 10)
    assert forest.log_odds.shape == (200, 3)
