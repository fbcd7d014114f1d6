"""Scorers in scikit-learn's cross-validation and searches."""

import pickle
import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from compactlearn import CMLLClassifier
from compactlearn.metrics import METRICS, get_metric, scorer

X, Y = make_multilabel_classification(60, 8, n_classes=4, random_state=0)
PLAIN = [name for name in METRICS if not name.startswith("ps")]
MODELS = {
    "CMLLClassifier": CMLLClassifier(),
    "RidgeClassifier": RidgeClassifier(),
    "pipeline": make_pipeline(StandardScaler(), RidgeClassifier()),
    "OneVsRest": OneVsRestClassifier(LogisticRegression()),
    "MultiOutput": MultiOutputClassifier(LogisticRegression()),
    "neighbours": KNeighborsClassifier(3),
    "forest": RandomForestClassifier(3, random_state=0),
}


def matrix_of(model):
    """Return the scores of the fitted model, or its probabilities where it has no scores."""
    return (
        model.decision_function(X)
        if hasattr(model, "decision_function")
        else probabilities_of(model)
    )


def probabilities_of(model):
    """Return the probabilities of the fitted model."""
    probabilities = model.predict_proba(X)
    if isinstance(probabilities, list):
        return np.array([columns[:, 1] for columns in probabilities]).T
    return probabilities


@pytest.mark.parametrize("model", MODELS)
def test_the_value_is_that_of_the_metric_with_the_right_sign(model):
    fitted = MODELS[model].fit(X, Y)
    for name in [*PLAIN, "precision_at_2", "ndcg_at_3"]:
        metric = get_metric(name)
        options = {"k": 2} if name.endswith("_at_k") else {}
        if metric.needs == "probabilities" and not hasattr(fitted, "predict_proba"):
            with pytest.raises(TypeError, match="with the method predict_proba, but"):
                scorer(name)(fitted, X, Y)
            continue
        read = {
            "labels": lambda m: m.predict(X),
            "scores": matrix_of,
            "probabilities": probabilities_of,
        }
        given = read[metric.needs](fitted)
        expected = metric.function(Y, given, **options)
        value = scorer(name, **options)(fitted, X, Y)
        signed = expected if metric.greater_is_better else -expected
        assert value == pytest.approx(signed, rel=1e-13), name  # sums may be in another order


@pytest.mark.parametrize("name", ["ranking_loss", "hamming_loss", "ndcg_at_3"])
def test_a_search_picks_the_better_setting(name):
    """One neighbour of 60 against all of them, whose scores are the same for every row."""
    search = GridSearchCV(
        KNeighborsClassifier(), {"n_neighbors": [40, 3]}, scoring=scorer(name), cv=KFold(3)
    ).fit(X, Y)
    means = search.cv_results_["mean_test_score"]
    assert search.best_params_ == {"n_neighbors": [40, 3][int(np.argmax(means))]}
    assert search.best_params_ == {"n_neighbors": 3}
    assert search.score(X, Y) == scorer(name)(search.best_estimator_, X, Y)


def test_labels_that_training_never_had_or_always_had():
    one_kind = Y.copy()
    one_kind[:, 0], one_kind[:, 1] = 0, 1
    model = KNeighborsClassifier(3).fit(X, one_kind)
    assert [p.shape[1] for p in model.predict_proba(X)] == [1, 1, 2, 2]
    columns = [np.zeros(60), np.ones(60), *(p[:, 1] for p in model.predict_proba(X)[2:])]
    expected = get_metric("average_precision").function(Y, np.array(columns).T)
    assert scorer("average_precision")(model, X, Y) == expected


def test_unknown_and_sparse_truth():
    model = RidgeClassifier().fit(X, Y)
    value = scorer("average_precision")(model, X, Y)
    assert scorer("average_precision")(model, X, sparse.csr_array(Y)) == value
    hidden = np.where(np.arange(4) == 2, np.nan, Y)
    scores = model.decision_function(X)
    expected = get_metric("average_precision").function(Y[:, [0, 1, 3]], scores[:, [0, 1, 3]])
    assert scorer("average_precision")(model, X, hidden) == expected


def test_options_reach_the_metric():
    model = RidgeClassifier().fit(X, Y)
    scores, w = model.decision_function(X), np.array([1, 2, 3, 4])
    expected = get_metric("psp_at_k").function(Y, scores, k=2, weights=w)
    assert scorer("psp_at_2", weights=w)(model, X, Y) == expected
    assert scorer("psp_at_k", k=2, weights=w)(model, X, Y) == expected


def test_repr_and_pickle():
    score = scorer("ndcg_at_k", k=2)
    assert repr(score) == "scorer('ndcg_at_k', k=2)"
    assert repr(scorer("one_error")) == "scorer('one_error')"
    search = clone(GridSearchCV(RidgeClassifier(), {}, scoring=scorer("psp_at_2", weights=[1] * 4)))
    assert repr(search.scoring) == "scorer('psp_at_2', weights=[1, 1, 1, 1])"
    assert {score: "as a key"}[score]
    model = RidgeClassifier().fit(X, Y)
    assert pickle.loads(pickle.dumps(score))(model, X, Y) == score(model, X, Y)


REFUSALS = {
    "name": (lambda: scorer("rankingloss"), ValueError, "Did you mean 'ranking_loss'?"),
    "at x": (lambda: scorer("precision_at_x"), ValueError, "Did you mean 'precision_at_k'?"),
    "none": (lambda: scorer(None), ValueError, "got None. Use one of these."),
    "option": (
        lambda: scorer("calibration_error", bin=9),
        TypeError,
        "takes the options bins, but 'bin' was given; leave it out. Did you mean 'bins'?",
    ),
    "weights": (
        lambda: scorer("psp_at_3"),
        TypeError,
        "The metric 'psp_at_3' needs the option weights, one number for each label, but it was",
    ),
    "k twice": (lambda: scorer("precision_at_3", k=2), TypeError, "takes no options, but 'k'"),
    "regressor": (
        lambda: scorer("one_error")(LinearRegression().fit(X, Y), X, Y),
        TypeError,
        "the method decision_function or predict_proba, but LinearRegression has none; use",
    ),
    "large k": (
        lambda: scorer("precision_at_9")(RidgeClassifier().fit(X, Y), X, Y),
        ValueError,
        "k must be an integer >= 1 and <= 4 (the number of labels is 4); got 9",
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals(case):
    call, error, message = REFUSALS[case]
    with pytest.raises(error, match=re.escape(message)):
        call()
