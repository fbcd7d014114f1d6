"""Classifiers with unknown labels: what they learn, and that nothing else is read."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import Ridge
from sklearn.metrics import roc_auc_score

from compactlearn import (
    CMLL,
    PLST,
    AutoCompactClassifier,
    CMLLClassifier,
    CompactClassifier,
    KernelMap,
    Original,
    ThresholdTuner,
)
from compactlearn.compact import _completing as completing
from compactlearn.compact._completing import Completion
from compactlearn.metrics import average_precision
from tests.unknown.problems import problem, with_nan

DECODERS = ["linear", "logistic"]


@pytest.fixture
def fixed_completion(monkeypatch):
    """Strengths that no label takes part in choosing."""
    chosen = Completion(2.0, share=0.5)
    monkeypatch.setattr(completing, "choose_completion", lambda pair, unknown: chosen)


@pytest.mark.parametrize("weighted", [False, True])
def test_labels_kept_are_ridges_of_the_rows_that_know_them(weighted):
    X, Y, unknown = problem()
    w = np.random.default_rng(3).uniform(0.5, 2.0, len(X)) if weighted else None
    model = CompactClassifier(Original(), alpha=1.7, threshold=0.5)
    scores = model.fit(X, with_nan(Y, unknown), w).decision_function(X)
    for j in range(Y.shape[1]):
        known = ~unknown[:, j]
        ridge = Ridge(alpha=1.7).fit(X[known], Y[known, j], None if w is None else w[known])
        np.testing.assert_allclose(scores[:, j], ridge.predict(X), atol=1e-9)


def test_so_are_they_by_a_kernel():
    X, Y, unknown = problem(40, 4, 3)
    kernel = KernelMap("linear")
    model = CompactClassifier(Original(), feature_map=kernel, alpha=1.7, threshold=0.5)
    plain = CompactClassifier(Original(), alpha=1.7, threshold=0.5)
    Y = with_nan(Y, unknown)
    np.testing.assert_allclose(
        model.fit(X, Y).decision_function(X), plain.fit(X, Y).decision_function(X), atol=1e-8
    )


def test_completed_labels_serve_better_than_zeros():
    X, Y, unknown = problem(600, 10, 8, hidden=0.5, seed=1)
    train, test = slice(0, 300), slice(300, 600)
    model = CMLLClassifier(n_label_components=8)
    found = {
        name: average_precision(Y[test], model.fit(X[train], labels).decision_function(X[test]))
        for name, labels in {
            "all": Y[train],
            "known": with_nan(Y, unknown)[train],
            "zeros": np.where(unknown, 0.0, Y)[train],
        }.items()
    }
    lost = found["all"] - found["zeros"]
    assert lost > 0
    assert found["all"] - found["known"] < 0.5 * lost


# ---- unknown labels are no absent ones ----


class Scored(ClassifierMixin, BaseEstimator):
    """Scores that are its features, whatever it is fitted to."""

    def fit(self, X, Y):
        assert np.isnan(Y).any()
        self.classes_ = np.arange(Y.shape[1])
        return self

    def decision_function(self, X):
        return X


def best_score(scores, Y, known):
    """The largest micro-F1 that a threshold reaches on the known labels, and what one reaches."""

    def reached(threshold):
        predicted, truth = (scores > threshold)[known], Y[known] > 0
        return 2 * (predicted & truth).sum() / (predicted.sum() + truth.sum())

    return max(reached(candidate) for candidate in scores[known]), reached


@pytest.mark.parametrize("decoder", DECODERS)
def test_thresholds_are_the_best_for_the_known_labels(decoder):
    X, Y, unknown = problem(120, 5, 4, hidden=0.6)
    model = CMLLClassifier(n_label_components=3, decoder=decoder, threshold="f1")
    held_out = model.fit_scored(X, with_nan(Y, unknown))
    scores, rows = held_out.columns(slice(0, 4)), held_out.rows
    best, reached = best_score(scores, Y[rows], ~unknown[rows])
    assert reached(model.threshold_) == pytest.approx(best)


def test_so_are_those_of_a_tuner():
    """Most labels with middling scores are unknown: counted as absent, they would not pay."""
    rng = np.random.default_rng(0)
    scores = rng.random((100, 4))
    Y = (scores > 0.5).astype(float)
    unknown = (scores > 0.5) & (scores < 0.75) & (rng.random(Y.shape) < 0.8)
    tuner = ThresholdTuner(Scored(), random_state=0).fit(scores, with_nan(Y, unknown))
    best, reached = best_score(scores, Y, ~unknown)
    assert reached(tuner.threshold_) == pytest.approx(best)
    counted = ThresholdTuner(Scored(), strategy="top-k").fit(scores, with_nan(Y, unknown))
    assert counted.k_ == round(4 * Y[~unknown].mean())


@pytest.mark.parametrize("decoder", DECODERS)
def test_scores_are_as_large_as_the_known_labels_say(decoder):
    X, Y, unknown = problem(300, 5, 4, hidden=0.6)
    model = CMLLClassifier(n_label_components=4, decoder=decoder, threshold=0.5)
    model.fit(X, with_nan(Y, unknown))
    shown = model.predict_proba(X) if decoder == "logistic" else model.decision_function(X)
    known = np.nanmean(with_nan(Y, unknown), axis=0)
    np.testing.assert_allclose(shown.mean(axis=0), known, atol=0.05)


# ---- out-of-fold scores -------------------------------------------------------------------------


@pytest.mark.parametrize("embedding", [Original(), CMLL(n_label_components=3), PLST(3)])
@pytest.mark.usefixtures("fixed_completion")
def test_the_labels_of_a_fold_do_not_take_part_in_its_scores(embedding):
    """Nor does what is filled into rows of other folds."""
    X, Y, unknown = problem(80, 6, 5, hidden=0.5)
    groups = np.arange(80) % 5
    fold = groups == 2
    model = CompactClassifier(embedding, threshold="f1")
    first = model.fit_scored(X, with_nan(Y, unknown), groups=groups)
    Y[fold] = 1.0 - Y[fold]
    second = model.fit_scored(X, with_nan(Y, unknown), groups=groups)
    own = fold[first.rows]
    every = slice(0, 5)
    np.testing.assert_allclose(first.columns(every)[own], second.columns(every)[own], atol=1e-10)
    assert np.abs(first.columns(every) - second.columns(every)).max() > 1e-3


@pytest.mark.parametrize("decoder", ["linear", "logistic"])
def test_scores_of_labels_that_are_noise_are_noise(decoder):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(100, 40)), (rng.random((100, 30)) < 0.4).astype(float)
    unknown = rng.random(Y.shape) < 0.4
    model = CMLLClassifier(decoder=decoder, threshold="f1")
    held_out = model.fit_scored(X, with_nan(Y, unknown))
    scores = held_out.columns(slice(0, 30))
    known = ~unknown[held_out.rows]
    areas = [roc_auc_score(Y[held_out.rows][k, j], scores[k, j]) for j, k in enumerate(known.T)]
    assert np.mean(areas) < 0.52  # a row that is left out leaves others that lean the other way


# ---- row weights --------------------------------------------------------------------------------


def test_weights_of_rows_go_along_and_rows_of_none_are_left_out():
    X, Y, unknown = problem(50, 5, 4)
    given = with_nan(Y, unknown)
    given[0] = np.nan  # nothing is known of it, but it does not count
    w = np.where(np.arange(50) % 4 == 1, 2.0, 1.0)
    w[0] = 0.0
    model = CMLLClassifier(n_label_components=3, threshold=0.5)
    weighted = model.fit(X, given, w).decision_function(X)
    twice = np.repeat(np.arange(50), w.astype(int))
    repeated = model.fit(X[twice], given[twice]).decision_function(X)
    np.testing.assert_allclose(weighted, repeated, atol=1e-3)


# ---- refusals -----------------------------------------------------------------------------------


def test_refusals_leave_the_model_as_it_was():
    X, Y, unknown = problem()
    model = CMLLClassifier(n_label_components=3).fit(X, Y)
    expected = model.decision_function(X)
    for labels, marks, message in (
        (np.full_like(Y, np.nan), None, "nothing to learn from; pass rows with known labels"),
        (Y, unknown[:, :3], "unknown must be a Boolean matrix of the shape of Y, \\(60, 5\\)"),
        (Y, "none", "unknown must be a Boolean matrix"),
        (Y[:, 0], unknown, "unknown says which labels of a matrix are unknown, and y is a vector"),
        (np.where(unknown, np.inf, Y), None, "Y contains inf"),
        (np.where(unknown, np.nan, 2 * Y), None, "Every label must be 0 or 1"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(X, labels, unknown=marks)
        np.testing.assert_array_equal(model.decision_function(X), expected)


def test_a_label_without_any_known_row_is_reported_by_its_name():
    X, Y, _ = problem()
    frame = pd.DataFrame(Y, columns=list("abcde"))
    frame["c"] = np.nan
    with pytest.warns(UserWarning, match="label 2 \\('c'\\) the first of them: nothing is learnt"):
        CMLLClassifier().fit(X, frame)


def test_ways_that_need_all_labels_say_so():
    X, Y, unknown = problem()
    given = with_nan(Y, unknown)
    with pytest.raises(ValueError, match="use CompactClassifier or CMLLClassifier"):
        CMLLClassifier().partial_fit(X, given)
    with pytest.raises(ValueError, match="small models need labels that are all known"):
        AutoCompactClassifier(size_budget=100).fit(X, given)
    blocks = [(X, Y)]
    with pytest.raises(ValueError, match="NaN, which would mean an unknown label"):
        CMLLClassifier().fit_blocks([(X, given)])
    CMLLClassifier().fit_blocks(blocks)
