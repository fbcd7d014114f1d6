"""ThresholdTuner against a literal cross-validation, for several kinds of classifier."""

import copy

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    ShuffleSplit,
    cross_val_predict,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier

from compactlearn import CMLLClassifier, CompactClassifier, Original, ThresholdTuner
from compactlearn.decoding._thresholds import tune
from tests.makers import maker

STRATEGIES = ["f1", "per-label", "cardinality"]


make_data = maker(80, 6, 4, mean=0, share=np.linspace(0.6, 0.85, 4), dtype=int)


class Labels(ClassifierMixin, BaseEstimator):
    """Has no scores to offer."""

    def fit(self, X, Y):
        self.shape_ = np.shape(Y)
        return self

    def predict(self, X):
        return np.zeros((len(X), self.shape_[1]), dtype=int)


class Given(ClassifierMixin, BaseEstimator):
    """Its scores are the features, its probabilities other numbers; it remembers its rows."""

    def fit(self, X, Y, sample_weight=None):
        self.rows_, self.weights_ = np.array(X), sample_weight
        self.n_features_in_ = X.shape[1]
        return self

    def decision_function(self, X):
        return np.array(X)

    def predict_proba(self, X):
        return 1 / (1 + np.exp(-np.array(X))) / 2


BASES = {
    "one-vs-rest": OneVsRestClassifier(LogisticRegression()),
    "multi-output": MultiOutputClassifier(LogisticRegression()),
    "ridge": RidgeClassifier(),
    "neighbours": KNeighborsClassifier(9),
    "compact": CompactClassifier(Original()),
    "compact logistic": CMLLClassifier(decoder="logistic"),
}


def scores_of(model, X):
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    answer = model.predict_proba(X)
    return np.column_stack([p[:, 1] for p in answer]) if isinstance(answer, list) else answer


def held_out(base, X, Y, cv):
    method = "decision_function" if hasattr(clone(base).fit(X, Y), "decision_function") else None
    answer = cross_val_predict(base, X, Y, cv=cv, method=method or "predict_proba")
    return np.column_stack([p[:, 1] for p in answer]) if isinstance(answer, list) else answer


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", BASES)
def test_equals_a_literal_cross_validation(name, strategy):
    X, Y = make_data(seed=1)
    base = BASES[name]
    tuner = ThresholdTuner(base, strategy=strategy, random_state=3).fit(X, Y)
    S = held_out(base, X, Y, KFold(5, shuffle=True, random_state=3))
    expected = tune(strategy, lambda labels: S[:, labels], sp.csr_array(Y.astype(float)))
    np.testing.assert_allclose(tuner.threshold_, expected, atol=1e-12)
    scores = scores_of(clone(base).fit(X, Y), X)
    np.testing.assert_allclose(scores_of(tuner.estimator_, X), scores, atol=1e-9)
    labels = tuner.predict(X)
    np.testing.assert_array_equal(labels, scores_of(tuner.estimator_, X) > tuner.threshold_)
    assert labels.dtype.kind == "i"
    assert labels.shape == Y.shape
    assert not hasattr(base, "classes_"), "the given estimator must be cloned"


def test_scores_are_of_rows_not_seen():
    """One nearest neighbour knows every row that it has seen; on others it errs."""
    X, Y = make_data(seed=2)
    Y = np.random.default_rng(2).permutation(Y)  # labels that features say nothing of
    tuner = ThresholdTuner(KNeighborsClassifier(1), random_state=0).fit(X, Y)
    assert tuner.threshold_ < 0.0  # seen rows would give 0.5; of others all labels is best


@pytest.mark.parametrize("k", [1, 2, 9])
def test_top_k(k):
    X, Y = make_data(seed=4)
    tuner = ThresholdTuner(BASES["compact"], strategy="top-k", k=k).fit(X, Y)
    assert tuner.threshold_ is None
    assert tuner.k_ == min(k, 4)
    labels = tuner.predict(X)
    assert (labels.sum(axis=1) == tuner.k_).all()
    S = tuner.decision_function(X)
    if k < 4:
        lowest = np.where(labels == 1, S, np.inf).min(axis=1)
        assert (np.where(labels == 0, S, -np.inf).max(axis=1) <= lowest).all()


@pytest.mark.parametrize(("labels", "expected"), [(1, 1), (2, 2), (0.2, 1)])
def test_top_k_of_the_mean_number_of_labels(labels, expected):
    X, _ = make_data(40, seed=5)
    rng = np.random.default_rng(5)
    Y = np.zeros((40, 4), dtype=int)
    for row in range(40 if labels >= 1 else 8):
        Y[row, rng.permutation(4)[: max(1, int(labels))]] = 1
    tuner = ThresholdTuner(BASES["compact"], strategy="top-k").fit(X, Y)
    assert tuner.k_ == expected
    tuner.set_params(strategy="f1").fit(X, Y)
    assert not hasattr(tuner, "k_")


def test_rare_labels_take_the_common_threshold():
    X, Y = make_data(seed=7)
    Y[:, 2] = 0
    Y[:3, 2] = 1
    options = {"random_state": 0, "cv": 4}
    common = ThresholdTuner(BASES["compact"], **options).fit(X, Y).threshold_
    few = ThresholdTuner(BASES["compact"], strategy="per-label", **options).fit(X, Y)
    assert few.threshold_[2] == common
    own = clone(few).set_params(min_positives=3).fit(X, Y)
    assert own.threshold_[2] != common
    np.testing.assert_array_equal(np.delete(own.threshold_, 2), np.delete(few.threshold_, 2))


def test_the_response():
    X, Y = make_data(seed=8)
    X = X[:, :4]
    auto = ThresholdTuner(Given(), random_state=0).fit(X, Y)
    scores = ThresholdTuner(Given(), response="decision_function", random_state=0).fit(X, Y)
    proba = ThresholdTuner(Given(), response="predict_proba", random_state=0).fit(X, Y)
    assert auto.threshold_ == scores.threshold_ != proba.threshold_
    np.testing.assert_array_equal(proba.predict(X), proba.predict_proba(X) > proba.threshold_)
    np.testing.assert_array_equal(auto.predict(X), X > auto.threshold_)
    np.testing.assert_array_equal(auto.decision_function(X), X)


def test_methods_are_those_of_the_estimator():
    assert hasattr(ThresholdTuner(Given()), "predict_proba")
    assert not hasattr(ThresholdTuner(RidgeClassifier()), "predict_proba")
    assert hasattr(ThresholdTuner(RidgeClassifier()), "decision_function")
    assert not hasattr(ThresholdTuner(KNeighborsClassifier()), "decision_function")


def test_weights_reach_the_estimator_and_the_counts():
    X, Y = make_data(seed=9)
    X = X[:, :4]
    w = np.random.default_rng(9).uniform(0.1, 5.0, size=len(X))
    tuner = ThresholdTuner(Given(), random_state=0).fit(X, Y, w)
    np.testing.assert_array_equal(tuner.estimator_.weights_, w)
    expected = tune("f1", lambda labels: X[:, labels], sp.csr_array(Y.astype(float)), w)
    assert tuner.threshold_ == expected
    assert expected != ThresholdTuner(Given(), random_state=0).fit(X, Y).threshold_
    # a model of a fold gets the weights of its rows
    base = BASES["compact"]
    cv = [(np.arange(40), np.arange(40, 80)), (np.arange(40, 80), np.arange(40))]
    S = np.empty(Y.shape)
    for train, test in cv:
        S[test] = clone(base).fit(X[train], Y[train], w[train]).decision_function(X[test])
    expected = tune("f1", lambda labels: S[:, labels], sp.csr_array(Y.astype(float)), w)
    assert ThresholdTuner(base, cv=cv).fit(X, Y, sample_weight=w).threshold_ == expected


def test_weights_that_the_estimator_does_not_take():
    X, Y = make_data(seed=10)
    with pytest.raises(ValueError, match=r"KNeighborsClassifier\.fit does not take one"):
        ThresholdTuner(KNeighborsClassifier()).fit(X, Y, np.ones(80))


def test_splitters_groups_and_rows_that_are_never_held_out():
    X, Y = make_data(seed=11)
    base = BASES["compact"]
    groups = np.arange(80) // 8
    tuner = ThresholdTuner(base, cv=GroupKFold(4)).fit(X, Y, groups=groups)
    S = cross_val_predict(base, X, Y, cv=GroupKFold(4), groups=groups, method="decision_function")
    expected = tune("f1", lambda labels: S[:, labels], sp.csr_array(Y.astype(float)))
    assert tuner.threshold_ == pytest.approx(expected, abs=1e-12)
    split = ShuffleSplit(1, test_size=0.3, random_state=0)
    train, test = next(split.split(X))
    S = clone(base).fit(X[train], Y[train]).decision_function(X[test])
    w = np.random.default_rng(11).uniform(0.5, 2.0, size=80)
    expected = tune("f1", lambda labels: S[:, labels], sp.csr_array(Y[test].astype(float)))
    assert ThresholdTuner(base, cv=split).fit(X, Y).threshold_ == expected
    S = clone(base).fit(X[train], Y[train], w[train]).decision_function(X[test])
    expected = tune("f1", lambda labels: S[:, labels], sp.csr_array(Y[test].astype(float)), w[test])
    assert ThresholdTuner(base, cv=split).fit(X, Y, w).threshold_ == expected


@pytest.mark.parametrize("seed", [0, np.random.RandomState(0), np.random.default_rng(0)], ids=type)
def test_seeds(seed):
    X, Y = make_data(seed=12)
    fitted = [
        ThresholdTuner(BASES["compact"], random_state=copy.deepcopy(seed)).fit(X, Y).threshold_
        for _ in range(2)
    ]
    assert fitted[0] == fitted[1]
    others = {
        ThresholdTuner(BASES["compact"], random_state=s).fit(X, Y).threshold_ for s in range(5)
    }
    assert len(others) > 1  # rows are shuffled


def test_sparse_labels_and_frames():
    X, Y = make_data(seed=13)
    first = ThresholdTuner(BASES["compact"], random_state=0).fit(X, Y)
    for form in (sp.csr_array(X), pd.DataFrame(X, columns=list("abcdef"))):
        for labels in (sp.csr_array(Y), Y.astype(bool)):
            again = ThresholdTuner(BASES["compact"], random_state=0).fit(form, labels)
            assert again.threshold_ == pytest.approx(first.threshold_, abs=1e-9)
            np.testing.assert_array_equal(again.predict(form), first.predict(X))


def test_tuning_pays():
    X, Y = make_data(300, seed=17)
    train, test = slice(0, 200), slice(200, 300)
    tuner = ThresholdTuner(BASES["compact"], random_state=0).fit(X[train], Y[train])
    S = tuner.decision_function(X[test])

    def micro_f1(labels):
        return 2 * np.sum(labels * Y[test]) / (labels.sum() + Y[test].sum())

    assert micro_f1(tuner.predict(X[test])) > micro_f1(S > 0.5) + 0.03


# --- refusals ------------------------------------------------------------------------------------


def refused(tuner, X, Y, match, **options):
    """Refused in a sentence, and what was learnt before is still there."""
    before = dict(vars(tuner))
    with pytest.raises(ValueError, match=match) as caught:
        tuner.fit(X, Y, **options)
    assert len(str(caught.value).split()) >= 5
    assert list(vars(tuner)) == list(before)
    assert all(vars(tuner)[name] is before[name] for name in before)


@pytest.mark.parametrize("response", ["auto", "decision_function", "predict_proba"])
def test_an_estimator_without_scores(response):
    X, Y = make_data(seed=18)
    refused(ThresholdTuner(Labels(), response=response), X, Y, "needs scores by")


def test_a_vector_of_classes():
    X, Y = make_data(seed=19)
    fitted = ThresholdTuner(BASES["compact"]).fit(X, Y)
    for y in (Y[:, 0], np.argmax(Y, axis=1)):
        refused(fitted, X, y, "TunedThresholdClassifierCV")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("strategy", "f2"),
        ("strategy", 0.3),
        ("k", 0),
        ("min_positives", -1),
        ("response", "predict"),
        ("random_state", "seed"),
        ("cv", 1),
        ("estimator", 3),
    ],
    ids=str,
)
def test_bad_parameters(name, value):
    X, Y = make_data(seed=20)
    fitted = ThresholdTuner(BASES["compact"]).fit(X, Y)
    fitted.set_params(**{name: value})
    match = name if name != "cv" else "cv|n_splits|splits"
    refused(fitted, X, Y, match)


def test_an_estimator_that_fails_after_the_threshold_is_set():
    X, Y = make_data(seed=22)
    fitted = ThresholdTuner(BASES["compact"]).fit(X, Y)
    fitted.set_params(estimator=CompactClassifier(Original(), alpha=-1.0), strategy="top-k")
    refused(fitted, X, Y, "alpha")


def test_bad_data():
    X, Y = make_data(seed=21)
    fitted = ThresholdTuner(BASES["compact"]).fit(X, Y)
    refused(fitted, X, Y[:-1], "79")
    refused(fitted, X, 2 * Y, "0 (or|and) 1|0/1")
    refused(fitted, X, Y, "sample_weight", sample_weight=-np.ones(80))
    refused(fitted, X[:, :0], Y, "feature|column")
    with pytest.raises(ValueError, match="not fitted"):
        ThresholdTuner(BASES["compact"]).predict(X)
