"""evaluate and predict_topk: the figures and the labels are the model's own, whatever it is."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError, UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import compactlearn
from compactlearn import (
    C2AEClassifier,
    CMLLClassifier,
    CMLLClassifierCV,
    CompactClassifier,
    Original,
    POPClassifier,
    ShortlistClassifier,
    ThresholdTuner,
    metrics,
)
from compactlearn.datasets import load
from compactlearn.model_selection import GridSearchMoments
from tests.makers import as_dense, maker

pytestmark = pytest.mark.filterwarnings("ignore:.*label components were asked for")


make_data = maker(120, 8, 6, mean=0, share=0.7, dtype=int)


SMALL = {"feature_hidden": (8,), "label_hidden": (8,), "max_epochs": 2, "random_state": 0}
MODELS = {
    "CompactClassifier": CompactClassifier(Original(), threshold="per-label"),
    "CMLLClassifier": CMLLClassifier(decoder="logistic", threshold="f1"),
    "POPClassifier": POPClassifier(threshold=0.3, random_state=0),
    "ShortlistClassifier": ShortlistClassifier(random_state=0),
    "C2AEClassifier": C2AEClassifier(4, threshold=0.45, **SMALL),
    "ThresholdTuner": ThresholdTuner(POPClassifier(random_state=0)),
    "CMLLClassifierCV": CMLLClassifierCV(cv=2, alphas=(1.0, 10.0)),
    "GridSearchMoments": GridSearchMoments(
        CMLLClassifier(decoder="logistic"), {"alpha": [1.0, 9.0]}, cv=2
    ),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())


def expected(model, X, Y):
    """Each metric by itself, from what it is about."""
    found, labels = {}, model.predict(X)
    some = np.linspace(0, 1, Y.size).reshape(Y.shape)
    has_probabilities = hasattr(model, "predict_proba")
    names = metrics.evaluate(Y, some, probabilities=some if has_probabilities else None)
    for name in names:
        metric = metrics.get_metric(name)
        if metric.needs == "probabilities":
            if name not in ("log_loss", "calibration_error"):  # of labels that nobody suggests
                options = {"labels": labels} if name == "predicted_calibration_error" else {}
                found[name] = metric.function(Y, model.predict_proba(X), **options)
            continue
        scores = as_dense(model.decision_function(X))
        found[name] = metric.function(Y, scores if metric.needs == "scores" else labels)
    return found


@every_model
def test_rankings_are_of_scores_and_label_metrics_of_decisions(model):
    X, Y = make_data()
    model.fit(X[:80], Y[:80])
    found = model.evaluate(X[80:], Y[80:])
    assert found == expected(model, X[80:], Y[80:])
    assert list(found) == list(expected(model, X[80:], Y[80:]))
    assert ("calibration_error_at_1" in found) == hasattr(model, "predict_proba")
    assert compactlearn.evaluate(model, X[80:], Y[80:]) == found
    assert model.evaluate(X[80:], sp.csr_array(Y[80:])) == found
    assert model.evaluate(X[80:], pd.DataFrame(Y[80:], columns=list("abcdef"))) == found


def test_the_upgrade_that_is_recommended_looks_like_one():
    """Log-odds cut at 0.5 seemed worse than what the model decides, by 0.15 of micro-F1."""
    data = load("enron")
    train, test = slice(0, 1123), slice(1123, None)
    plain = CMLLClassifier(alpha=10.0, threshold=0.5).fit(data.X[train], data.Y[train])
    better = CMLLClassifier(alpha=10.0, decoder="logistic", threshold="f1")
    better.fit(data.X[train], data.Y[train])
    before, after = (model.evaluate(data.X[test], data.Y[test]) for model in (plain, better))
    assert after["micro_f1"] > before["micro_f1"] + 0.02
    assert after["micro_f1"] == metrics.micro_f1(data.Y[test], better.predict(data.X[test]))


@every_model
def test_nothing_is_predicted_before_fit(model):
    X, Y = make_data()
    with pytest.raises(NotFittedError):
        type(model)(**model.get_params(deep=False)).evaluate(X, Y)


def test_options_reach_the_metrics():
    X, Y = make_data()
    model = CMLLClassifier(threshold="f1").fit(X, Y)
    options = {"k": (2,), "train_labels": Y}
    found = model.evaluate(X, Y, **options)
    S, L = model.decision_function(X), model.predict(X)
    assert found == metrics.evaluate(Y, S, labels=L, **options)
    assert {"precision_at_2", "psp_at_2", "psndcg_at_2"} <= set(found)


def test_unknown_labels_count_for_nothing():
    X, Y = make_data()
    model = CMLLClassifier(threshold="f1").fit(X, Y)
    known = np.random.default_rng(1).random(Y.shape) > 0.3
    partial = np.where(known, Y, np.nan)
    S, L = model.decision_function(X), model.predict(X)
    whole = metrics.evaluate(partial, S, labels=L)
    assert model.evaluate(X, partial) == whole
    assert model.evaluate(X, pd.DataFrame(partial)) == whole
    assert model.evaluate(X, partial) != model.evaluate(X, Y)


def test_a_single_label_is_a_label():
    X, Y = make_data()
    model = CMLLClassifier().fit(X, sp.csr_array(Y[:, :1]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # nothing is ranked
        found = model.evaluate(X, Y[:, :1])
    assert found["micro_f1"] == metrics.micro_f1(Y[:, :1], model.predict(X))


@pytest.mark.parametrize(
    "model", [CMLLClassifier(), POPClassifier(random_state=0), C2AEClassifier(4, **SMALL)], ids=repr
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_vector_of_classes_is_one_label_for_each(model, n_classes):
    X, Y = make_data()
    y = np.array(["no", "yes", "or"])[Y[:, 0] + (Y[:, 1] if n_classes == 3 else 0)]
    model.fit(X, y)
    found = model.evaluate(X, y)
    right = float(np.mean(model.predict(X) == y))
    assert 0 < right < 1
    for name in ("subset_accuracy", "micro_f1", "precision_at_1"):
        assert found[name] == pytest.approx(right), name
    assert found["one_error"] == pytest.approx(1 - right)
    assert found["hamming_loss"] == pytest.approx(2 * (1 - right) / n_classes)
    assert ("precision_at_3" in found) == (n_classes == 3)
    assert model.evaluate(X, y[:, None]) == found
    assert model.evaluate(X, pd.Series(y)) == found
    few = np.flatnonzero(y == "yes")  # a test set may lack classes
    assert model.evaluate(X[few], y[few])["subset_accuracy"] == np.mean(
        model.predict(X[few]) == "yes"
    )


def test_what_is_refused():
    X, Y = make_data()
    model = CMLLClassifier().fit(X, pd.DataFrame(Y, columns=list("abcdef")))
    with pytest.raises(ValueError, match=r"each of the 6 labels of fit, and Y has 5; pass the"):
        model.evaluate(X, Y[:, :5])
    with pytest.raises(ValueError, match=r"0/1 matrix with 6 columns, and was given a vector of 1"):
        model.evaluate(X, Y[:, 0])
    with pytest.raises(ValueError, match=r"as many rows as each other, and have 120 and 119"):
        model.evaluate(X, Y[1:])
    with pytest.raises(ValueError, match=r"Every label must be 0 or 1, and Y contains 2"):
        model.evaluate(X, 2 * Y)
    with pytest.raises(ValueError, match=r"columns that fit had, \['a', .* and Y has \['f', .*Y\["):
        model.evaluate(X, pd.DataFrame(Y, columns=list("fedcba")))
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        model.evaluate(X, None)
    with pytest.raises(ValueError, match="7 features"):
        model.evaluate(X[:, :7], Y)
    vector = CMLLClassifier().fit(X, Y[:, 0])
    with pytest.raises(ValueError, match=r"vector with one class for each row, and Y has the shap"):
        vector.evaluate(X, Y)
    with pytest.raises(ValueError, match=r"classes that fit had, \[0, 1\], and Y holds 3; leave"):
        vector.evaluate(X, np.full(len(Y), 3))
    with pytest.raises(
        TypeError, match=r"needs a fitted classifier .* given ndarray; pass the mod"
    ):
        compactlearn.evaluate(Y, X, Y)


# --- any classifier, in any wrapping -------------------------------------------------------------


def test_pipelines_and_searches_answer_as_the_classifier_in_them():
    X, Y = make_data()
    inner = CMLLClassifier(decoder="logistic", threshold="f1")
    scaled = StandardScaler().fit_transform(X)
    alone = CMLLClassifier(decoder="logistic", threshold="f1").fit(scaled, Y)
    for model in (
        make_pipeline(StandardScaler(), inner),
        Pipeline([("nothing", "passthrough"), ("in", make_pipeline(StandardScaler(), inner))]),
        GridSearchCV(make_pipeline(StandardScaler(), inner), {"cmllclassifier__alpha": [1.0]}),
    ):
        model.fit(X, Y)
        assert compactlearn.evaluate(model, X, Y) == alone.evaluate(scaled, Y)
        for mine, theirs in zip(
            compactlearn.predict_topk(model, X, 3), alone.predict_topk(scaled, 3), strict=True
        ):
            np.testing.assert_array_equal(mine, theirs)
    only = make_pipeline(inner).fit(X, Y)
    assert compactlearn.evaluate(only, X, Y) == only[-1].evaluate(X, Y)


@pytest.mark.parametrize(
    "model",
    [
        OneVsRestClassifier(LogisticRegression()),
        MultiOutputClassifier(LogisticRegression()),
        DecisionTreeClassifier(max_depth=3, random_state=0),
    ],
    ids=repr,
)
def test_classifiers_of_others(model):
    X, Y = make_data()
    model.fit(X, Y)
    found = compactlearn.evaluate(model, X, Y)
    assert found["micro_f1"] == metrics.micro_f1(Y, model.predict(X))
    score = metrics.scorer("average_precision")
    assert found["average_precision"] == score(model, X, Y)
    labels, best = compactlearn.predict_topk(model, X, 2)
    stored = compactlearn.predict_topk(model, X, 2, sparse=True)
    np.testing.assert_array_equal(np.take_along_axis(stored.toarray(), labels, axis=1), best)
    assert stored.nnz == 2 * len(X)


def test_topk_of_a_tuner_is_of_the_scores_it_decides_by():
    X, Y = make_data()
    base = OneVsRestClassifier(LogisticRegression()).fit(X, Y)
    tuner = ThresholdTuner(base, response="predict_proba").fit(X, Y)
    labels, best = tuner.predict_topk(X, 3)
    probabilities = np.sort(tuner.estimator_.predict_proba(X), axis=1)[:, ::-1]
    np.testing.assert_array_equal(best, probabilities[:, :3])
    assert labels.shape == (120, 3)
    with pytest.raises(ValueError, match=r"between 1 and the number of labels \(6\), and was give"):
        tuner.predict_topk(X, 7)


def test_topk_of_two_classes_is_refused():
    X, Y = make_data()
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="two classes have a single score; use predict or"):
        compactlearn.predict_topk(model, X, 1)


# --- names ---------------------------------------------------------------------------------------


@every_model
def test_names_pass_through_every_wrapping(model):
    X, Y = make_data()
    frame = pd.DataFrame(X, columns=[f"word {i}" for i in range(8)])
    labels = pd.DataFrame(Y, columns=[f"tag {i}" for i in range(6)])
    model.fit(frame, labels)
    assert list(model.label_names_) == list(labels.columns)
    assert list(model.feature_names_in_) == list(frame.columns)
    np.testing.assert_array_equal(model.classes_, np.arange(6))
    model.fit(X, Y)
    assert not hasattr(model, "label_names_")
    assert not hasattr(model, "feature_names_in_")


def test_a_tuner_knows_the_labels_of_a_classifier_that_does_not():
    X, Y = make_data()
    names = [f"tag {i}" for i in range(6)]
    tuner = ThresholdTuner(OneVsRestClassifier(LogisticRegression()))
    assert tuner.fit(X, pd.DataFrame(Y, columns=names)).label_names_ == names
