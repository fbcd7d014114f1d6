"""CMLLClassifierCV: what it tries, what it keeps, and that it is an estimator like the others."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV, ShuffleSplit, cross_validate

import compactlearn.model_selection._cmll_cv as cmll_cv
import compactlearn.model_selection._crossval as crossval
from compactlearn import CMLLClassifier, CMLLClassifierCV
from compactlearn.metrics import average_precision, scorer
from compactlearn.model_selection import GridSearchMoments
from compactlearn.model_selection._outcome import Outcome

from .helpers import folds, make_data

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

X, Y = make_data(36, 8, 6)
SPLITS = folds(36)
QUICK = {
    "alphas": (0.1, 10.0),
    "n_label_components": (0.5, 1.0),
    "cv": 3,
    "decoders": ("linear",),
}


@pytest.fixture(scope="module")
def fitted():
    return CMLLClassifierCV(**QUICK).fit(X, Y)


# --- what is tried -------------------------------------------------------------------------------


def test_without_arguments(monkeypatch):
    """Five label sizes and eleven penalties, five folds, one eigenproblem on each; then the
    logistic decoder in the best of these settings."""
    monkeypatch.setattr(cmll_cv, "ROUNDS", 0)
    model = CMLLClassifierCV().fit(X, Y)
    assert len(model.cv_results_["params"]) == 56
    assert model.n_splits_ == 5
    decoders = model.cv_results_["param_decoder"].tolist()
    assert decoders == ["linear"] * 55 + ["logistic"]
    *linear, logistic = model.cv_results_["params"]
    best = int(np.argmax(outcome_of(model).merits[:-1]))
    assert logistic == {**linear[best], "decoder": "logistic"}
    assert set(model.best_params_) == {
        "alpha",
        "beta",
        "completion",
        "decoder",
        "n_feature_components",
        "n_label_components",
    }
    assert model.best_params_["beta"] == "auto"
    assert model.best_params_["completion"] == "krylov"
    assert model.best_score_ == model.cv_results_["mean_test_score"][model.best_index_]
    assert model.best_score_ == outcome_of(model).merits.max()
    assert isinstance(model.best_estimator_, CMLLClassifier)
    assert model.best_estimator_.threshold == "f1"


def outcome_of(model):
    scores = [model.cv_results_[f"split{k}_test_score"] for k in range(model.n_splits_)]
    return Outcome(np.column_stack(scores), 0)


@pytest.mark.parametrize("factor", [1e3, 1e-3])
def test_the_penalties_are_in_the_units_of_the_rows(factor):
    options = {"threshold": 0.5, "decoders": ("linear",)}
    plain, other = (CMLLClassifierCV(**options).fit(c * X, Y) for c in (1.0, factor))
    alphas = [model.cv_results_["param_alpha"].data.astype(float) for model in (plain, other)]
    np.testing.assert_allclose(alphas[1], factor**2 * alphas[0])
    unit = CMLLClassifier(alpha="auto").fit(X, Y).regressor_.alpha
    assert alphas[0][:55].min() == pytest.approx(1e-3 * unit)
    assert alphas[0][:55].max() == pytest.approx(100 * unit)
    np.testing.assert_allclose(
        other.decision_function(factor * X), plain.decision_function(X), atol=1e-6
    )


def test_a_long_search_has_one_split(monkeypatch):
    monkeypatch.setattr(cmll_cv, "JUDGES", 7)
    monkeypatch.setattr(cmll_cv, "ROUNDS", 0)
    options = {"alphas": (1.0, 10.0), "threshold": 0.5, "decoders": ("linear",)}
    assert CMLLClassifierCV(**options).fit(X, Y).n_splits_ == 5
    monkeypatch.setattr(cmll_cv, "LARGE_SEARCH", 0.0)
    model = CMLLClassifierCV(**options).fit(X, Y)
    assert model.n_splits_ == 1
    train, test = next(ShuffleSplit(1, test_size=0.2, random_state=0).split(X))
    best = CMLLClassifier(**model.best_params_, threshold=0.5).fit(X[train], Y[train])
    expected = average_precision(Y[test], best.decision_function(X[test]))
    assert model.best_score_ == pytest.approx(expected)
    options.pop("alphas")
    assert len(CMLLClassifierCV(**options).fit(X, Y).cv_results_["params"]) == 18
    assert CMLLClassifierCV(**options, cv=3).fit(X, Y).n_splits_ == 3
    monkeypatch.setattr(cmll_cv, "JUDGES", 8)  # too few rows to be judged by a part of them
    assert CMLLClassifierCV(**options).fit(X, Y).n_splits_ == 5


def test_one_solution_per_balance_and_completion(monkeypatch):
    seen = []
    original = crossval._score_group

    def noted(group, fold, *args):
        seen.append((fold.number, group.model.beta, group.model.completion, len(group.wanted)))
        return original(group, fold, *args)

    monkeypatch.setattr(crossval, "_score_group", noted)
    options = {**QUICK, "betas": (0.1, "auto"), "completions": ("none", "krylov")}
    CMLLClassifierCV(**options, refit=False, racing=False).fit(X, Y)
    assert sorted(seen, key=repr) == sorted(
        ((k, b, c, 4) for k in range(3) for b in (0.1, "auto") for c in ("none", "krylov")),
        key=repr,
    )


def test_the_table_is_that_of_a_grid():
    options = {
        "betas": (0.2, "auto"),
        "n_feature_components": ("auto", 3, None),
        "completions": ("none", "krylov"),
    }
    whole = {**QUICK, "cv": SPLITS, "refit": False, "racing": False}
    model = CMLLClassifierCV(**options, **whole).fit(X, Y)
    grid = {
        "beta": [0.2, "auto"],
        "n_feature_components": ["auto", 3, None],
        "completion": ["none", "krylov"],
        "alpha": [0.1, 10.0],
        "n_label_components": [0.5, 1.0],
    }
    other = GridSearchMoments(CMLLClassifier(), grid, cv=SPLITS, refit=False).fit(X, Y)
    mean = dict(
        zip(
            map(repr, map(sorted_items, other.cv_results_["params"])),
            other.cv_results_["mean_test_score"],
            strict=True,
        )
    )
    assert len(model.cv_results_["params"]) == len(mean) == 48
    for params, score in zip(
        model.cv_results_["params"], model.cv_results_["mean_test_score"], strict=True
    ):
        assert score == pytest.approx(mean[repr(sorted_items(params))], abs=1e-10)


def sorted_items(params):
    return sorted(params.items())


def test_the_refit_is_the_classifier_with_the_best_setting(fitted):
    explicit = CMLLClassifier(threshold="f1", **fitted.best_params_).fit(X, Y)
    np.testing.assert_array_equal(fitted.decision_function(X), explicit.decision_function(X))
    np.testing.assert_array_equal(fitted.predict(X), explicit.predict(X))
    assert fitted.best_estimator_.threshold_ == explicit.threshold_


def test_the_seed_reaches_the_classifier():
    search = CMLLClassifierCV(**QUICK, random_state=5).fit(X, Y)
    assert search.best_estimator_.random_state == 5


def test_scoring_by_labels_uses_the_tuned_threshold():
    """Each setting is then fitted by itself, with a threshold of its own."""
    options = {"alphas": (1.0,), "n_label_components": (0.5,), "cv": SPLITS}
    model = CMLLClassifierCV(**options, scoring="micro_f1").fit(X, Y)
    theirs = GridSearchCV(
        CMLLClassifier(threshold="f1", completion="krylov", n_label_components=0.5),
        {"alpha": [1.0]},
        cv=SPLITS,
        scoring=scorer("micro_f1"),
    ).fit(X, Y)
    assert model.best_score_ == pytest.approx(theirs.best_score_, abs=1e-10)


# --- decoders ------------------------------------------------------------------------------------


def test_further_decoders_are_tried_on_a_shortlist():
    decoders = ("linear", "logistic")
    plain = CMLLClassifierCV(**QUICK).fit(X, Y)
    model = CMLLClassifierCV(**{**QUICK, "decoders": decoders}).fit(X, Y)
    table = pd.DataFrame(model.cv_results_)
    count = table["param_decoder"].value_counts()
    assert count.to_dict() == {"linear": 4, "logistic": 3}
    linear = table[table["param_decoder"] == "linear"]
    np.testing.assert_array_equal(linear["mean_test_score"], plain.cv_results_["mean_test_score"])
    own = ["param_alpha", "param_n_label_components"]
    best_three = linear.nlargest(3, "mean_test_score")[own]
    for decoder in decoders[1:]:
        tried = table[table["param_decoder"] == decoder]
        assert sorted(map(tuple, tried[own].to_numpy())) == sorted(
            map(tuple, best_three.to_numpy())
        )
    assert model.best_index_ == int(np.argmax(table["mean_test_score"]))
    assert model.best_estimator_.decoder == model.best_params_["decoder"]


AUTO = {**QUICK, "cv": SPLITS, "decoders": "auto"}


def test_a_slow_decoder_is_judged_by_its_gain_on_the_first_split(monkeypatch):
    every = CMLLClassifierCV(**AUTO).fit(X, Y)
    seconds = iter([1.0, 2.0])  # of a trial, and of the last fit
    monkeypatch.setattr(cmll_cv, "_logistic_seconds", lambda *_: next(seconds))
    monkeypatch.setattr(cmll_cv, "AUTO_SECONDS_OF_ALL", 4.9)
    monkeypatch.setattr(cmll_cv, "AUTO_SECONDS", 3.0)
    model = CMLLClassifierCV(**AUTO).fit(X, Y)
    table = model.cv_results_
    scores = np.array([table[f"split{k}_test_score"] for k in range(3)])
    np.testing.assert_array_equal(np.isnan(scores[:, -1]), [False, True, True])
    assert scores[0, -1] == every.cv_results_["split0_test_score"][-1]
    (own,) = [
        k
        for k, params in enumerate(table["params"][:-1])
        if {**params, "decoder": "logistic"} == table["params"][-1]
    ]
    expected = scores[:, own].mean() + scores[0, -1] - scores[0, own]
    assert table["mean_test_score"][-1] == pytest.approx(expected)
    assert table["std_test_score"][-1] == 0
    assert model.best_index_ == int(np.argmax(table["mean_test_score"]))
    assert model.best_score_ == table["mean_test_score"].max()
    assert (model.best_params_["decoder"] == "logistic") == (scores[0, -1] > scores[0, own])


def test_a_very_slow_decoder_is_not_tried(monkeypatch):
    monkeypatch.setattr(cmll_cv, "AUTO_SECONDS_OF_ALL", 0.0)
    monkeypatch.setattr(cmll_cv, "AUTO_SECONDS", 0.0)
    model, plain = (CMLLClassifierCV(**options).fit(X, Y) for options in (AUTO, {**AUTO, **QUICK}))
    assert model.best_params_ == plain.best_params_
    assert "param_decoder" not in model.cv_results_


# --- penalties beyond the range ------------------------------------------------------------------


def searched_along(monkeypatch, best, **options):
    """A search in which a setting's score is how near its penalty is to ``best`` of its range."""
    unit = CMLLClassifier(alpha="auto").fit(X, Y).regressor_.alpha
    calls = []

    def score(self, problem, candidates):
        calls.append([params["alpha"] / unit for params in candidates])
        near = [-abs(np.log10(alpha / best)) for alpha in calls[-1]]
        return Outcome(np.tile(np.array(near)[:, None], len(problem.splits)), len(near))

    monkeypatch.setattr(CMLLClassifierCV, "_score", score)
    options = {"decoders": ("linear",), "refit": False, "n_label_components": (1.0,), **options}
    model = CMLLClassifierCV(**options).fit(X, Y)
    assert len(model.cv_results_["params"]) == sum(map(len, calls))
    assert model.best_score_ == model.cv_results_["mean_test_score"].max()
    return model.best_params_["alpha"] / unit, calls[1:]


@pytest.mark.parametrize("best", [1e-2, 1.0, 30.0])
def test_penalties_within_the_range_suffice_where_the_best_is_within(monkeypatch, best):
    assert searched_along(monkeypatch, best)[1] == []


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("beyond", "rounds"), [(1.0, 1), (1.5, 1), (2.0, 2), (3.0, 2), (4.0, 2), (99.0, 2)]
)
def test_penalties_beyond_the_range_are_tried_step_by_step(monkeypatch, beyond, rounds, sign):
    """Four steps of the same length, twice at most, towards the side on which the best lies."""
    end = 2.0 if sign > 0 else -3.0
    found, more = searched_along(monkeypatch, 10.0 ** (end + sign * beyond))
    assert len(more) == rounds
    steps = np.log10(np.concatenate(more))
    np.testing.assert_allclose(steps, end + sign * 0.5 * np.arange(1, 1 + len(steps)), atol=1e-9)
    assert np.log10(found) == pytest.approx(end + sign * min(beyond, 4.0), abs=0.26)


def test_penalties_that_were_given_are_all_there_are(monkeypatch):
    assert searched_along(monkeypatch, 1e9, alphas=(1.0, 10.0))[1] == []


def test_scores_beyond_the_range_are_those_of_a_grid(monkeypatch):
    monkeypatch.setattr(cmll_cv, "MULTIPLES", (1e-3, 1e-2))  # the best lies above
    options = {"n_label_components": (1.0,), "cv": SPLITS, "decoders": ("linear",), "refit": False}
    model = CMLLClassifierCV(**options).fit(X, Y)
    alphas = model.cv_results_["param_alpha"].data.astype(float)
    assert len(alphas) > 2
    other = CMLLClassifierCV(**{**options, "alphas": alphas, "racing": False}).fit(X, Y)
    np.testing.assert_allclose(
        model.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"], atol=1e-12
    )
    assert model.best_params_ == other.best_params_


# --- attributes and methods ----------------------------------------------------------------------


def test_without_a_refit():
    model = CMLLClassifierCV(**QUICK, refit=False).fit(X, Y)
    assert not hasattr(model, "best_estimator_")
    assert model.best_params_
    for name in ("predict", "decision_function"):
        with pytest.raises(AttributeError, match=r"fitted with refit=False .* best_params_"):
            getattr(model, name)(X)
    model.set_params(refit=True).fit(X, Y)
    model.predict(X)
    model.set_params(refit=False).fit(X, Y)
    assert not hasattr(model, "best_estimator_")
    assert not hasattr(model, "refit_time_")


# --- inside and around scikit-learn's tools ------------------------------------------------------


def test_weights_by_routing():
    """A weight that is asked for reaches the inner fits and the refit; otherwise it is refused."""
    weights = np.random.default_rng(0).integers(1, 4, 36).astype(float)
    with sklearn.config_context(enable_metadata_routing=True):
        model = CMLLClassifierCV(**QUICK).set_fit_request(sample_weight=True)
        found = cross_validate(
            model,
            X,
            Y,
            cv=SPLITS,
            scoring=scorer("average_precision"),
            params={"sample_weight": weights},
            return_estimator=True,
            error_score="raise",
        )
    for (train, _), inner in zip(SPLITS, found["estimator"], strict=True):
        explicit = CMLLClassifierCV(**QUICK).fit(X[train], Y[train], sample_weight=weights[train])
        assert inner.best_params_ == explicit.best_params_
        np.testing.assert_allclose(inner.decision_function(X), explicit.decision_function(X))
        unweighted = CMLLClassifierCV(**QUICK).fit(X[train], Y[train])
        assert not np.allclose(inner.decision_function(X), unweighted.decision_function(X))


def test_interrupted_before_the_second_stage(monkeypatch):
    """The result is that of the first stage, and no further decoder is tried."""
    calls = []
    original = crossval._score_group

    def impatient(*args):
        calls.append(1)
        if len(calls) > 2:
            raise KeyboardInterrupt
        return original(*args)

    monkeypatch.setattr(crossval, "_score_group", impatient)
    model = CMLLClassifierCV(**{**QUICK, "decoders": ("linear", "logistic")})
    with pytest.warns(UserWarning, match="interrupted"):
        model.fit(X, Y)
    assert model.interrupted_
    assert len(model.cv_results_["params"]) == 4
    assert np.isnan(model.cv_results_["split2_test_score"]).all()
    model.predict(X)
