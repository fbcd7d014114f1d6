"""Out-of-fold scores of every estimator depend on no model that has seen the row's labels.

Two properties are tested for each estimator. Changing the labels of the rows of one fold leaves the
out-of-fold scores of exactly these rows unchanged, to the bit, and changes others. And copies of a
row are never divided between the training and the held-out part.

Values *selected* by out-of-fold scores (penalties, thresholds, settings that survive racing) depend
on all of them, and are fixed here. Values learnt *from* such scores, a few numbers that all labels
share, come after them: the last stage of a shortlist, and the calibration of probabilities.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multiclass import OneVsRestClassifier

from compactlearn import (
    CMLL,
    CPLST,
    MDDM,
    PLST,
    AutoCompactClassifier,
    CMLLClassifier,
    CMLLClassifierCV,
    CompactClassifier,
    KernelMap,
    Original,
    ThresholdTuner,
)
from compactlearn.auto import _trials as trials
from compactlearn.auto._forest import LabelForest
from compactlearn.auto._preprocessing import AS_THEY_ARE
from compactlearn.auto._svm import try_svm
from compactlearn.compact._pruned import KeptFeatures, KeptWeights
from compactlearn.core._seeds import seeded
from compactlearn.crossfit import _decoder_fitter as decoder_fitter
from compactlearn.crossfit import _plan as plan
from compactlearn.crossfit._folds import shuffled_splits
from compactlearn.crossfit._held_out_rows import RUN
from compactlearn.crossfit._plan import N_FOLDS
from compactlearn.crossfit._scores import OutOfFoldScores
from compactlearn.crossfit._together import held_out_together, row_hashes
from compactlearn.model_selection import GridSearchMoments
from compactlearn.model_selection import _cmll_cv as cmll_cv
from compactlearn.model_selection import _crossval as crossval
from compactlearn.shortlist import _label_reranking as label_reranking
from compactlearn.shortlist._fitting import FoldFit, held_out_folds
from compactlearn.shortlist._generation import GeneratorSettings, Sizes, sparse_rows
from compactlearn.shortlist._rows import ShortlistRows
from tests.makers import labelled

N_LABELS = 5
COPY_OF = np.random.default_rng(0).permutation(np.repeat(np.arange(40), [2, 1] * 20))
X = labelled(40, 6, N_LABELS, 30, scale=True)[0][COPY_OF]
Y = labelled(COPY_OF.size, 6, N_LABELS, 31, scale=True, share=0.65)[1]  # copies differ in labels
NOISE = np.random.default_rng(3).normal(size=X.shape)
SPARSE = sp.csr_array(np.where(np.abs(X) > 0.3, X, 0.0))
ROWS = {"dense": (X, None), "sparse": (SPARSE, None), "groups": (X + 1e-3 * NOISE, COPY_OF)}


def with_other_labels(Y, rows):
    """Return labels changed in these rows alone; every label is still present and absent there."""
    other = np.array(Y)
    other[rows] = np.random.default_rng(1).permuted(1 - other[rows], axis=0)
    return other


def by_fold(rows, scores, fold):
    """Return rows and scores of each fold that has any."""
    return [(rows[fold[rows] == k], scores[fold[rows] == k]) for k in np.unique(fold[rows])]


def assert_out_of_fold(run, labels=Y, copies=COPY_OF):
    """``run`` returns pairs of the rows of a fold and their out-of-fold scores."""
    parts = run(labels)
    changed = set(parts[0][0].tolist())
    again = run(with_other_labels(labels, parts[0][0]))
    own, others = [], []
    for (rows, scores), (same_rows, new) in zip(parts, again, strict=True):
        np.testing.assert_array_equal(same_rows, rows)
        assert np.isin(copies, copies[rows]).sum() == rows.size
        (own if set(rows.tolist()) == changed else others).append((scores, new))
    for scores, new in own:
        np.testing.assert_array_equal(new, scores)
    assert all(np.abs(new - scores).max() > 1e-6 for scores, new in others)


@pytest.fixture(autouse=True)
def fixed_strength(monkeypatch):
    """Fix the penalty of decoders, which is selected by all rows."""
    monkeypatch.setattr(decoder_fitter, "choose_penalty", lambda parts: 3.0)
    monkeypatch.setattr(decoder_fitter, "choose_penalty_at_size", lambda parts: 3.0)


@pytest.fixture
def tuned_on(monkeypatch):
    """Record the out-of-fold scores that thresholds are tuned on."""
    seen, tuned = [], OutOfFoldScores.tuned

    def record(own, *args, **options):
        seen.append(own)
        return tuned(own, *args, **options)

    monkeypatch.setattr(OutOfFoldScores, "tuned", record)
    return seen


# --- decoders and thresholds of the compact classifiers ------------------------------------------

COMPACT = {
    "CMLL": CMLLClassifier(4, 3),
    "CMLL by rows": CMLLClassifier(4, 3, solver="krylov"),
    "labels kept": CMLLClassifier(3, None),
    "PLST": CompactClassifier(PLST(3), alpha=2.0),
    "CPLST": CompactClassifier(CPLST(3), alpha=2.0),
    "MDDM": CompactClassifier(MDDM(3)),
    "kernel": CMLLClassifier(4, 3, feature_map=KernelMap(gamma=0.07)),
    "foreign": CompactClassifier(CMLL(4, 3), regressor=Ridge()),
}


@pytest.mark.parametrize("decoder", ["linear", "logistic"])
@pytest.mark.parametrize("name", COMPACT)
def test_decoders_and_thresholds(name, decoder):
    fold = np.unique(row_hashes(X), return_inverse=True)[1] % N_FOLDS

    def run(Y):
        model = clone(COMPACT[name]).set_params(decoder=decoder, threshold="f1")
        found = model.fit_scored(X, Y)
        return by_fold(found.rows, found.columns(slice(0, N_LABELS)), fold)

    assert_out_of_fold(run)


@pytest.mark.parametrize("enough", [2, 20], ids=["half a fold judges", "a fold judges"])
@pytest.mark.parametrize("decoder", ["linear", "logistic"])
@pytest.mark.parametrize("threshold", ["per-label", "f1"])
def test_large_problems(threshold, decoder, enough, monkeypatch):
    """Three folds, of which one or two are scored, and logistic regressions for large problems."""
    monkeypatch.setattr(plan, "LARGE", dict.fromkeys(plan.LARGE, 0.0))
    monkeypatch.setattr(plan, "ENOUGH_ROWS", enough)
    member = np.unique(row_hashes(X), return_inverse=True)[1]

    def run(Y):
        model = CMLLClassifier(4, 3, decoder=decoder, threshold=threshold)
        found = model.fit_scored(X, Y)
        return by_fold(found.rows, found.columns(slice(0, N_LABELS)), member % 3)

    assert_out_of_fold(run)


@pytest.mark.parametrize("decoder", ["linear", "logistic"])
@pytest.mark.parametrize("name", COMPACT)
def test_unknown_labels(name, decoder):
    """They are completed from the rows of the other folds alone."""
    fold = np.unique(row_hashes(X), return_inverse=True)[1] % N_FOLDS
    unknown = np.random.default_rng(2).random(Y.shape) < 0.2

    def run(Y):
        model = clone(COMPACT[name]).set_params(decoder=decoder, threshold="f1")
        found = model.fit_scored(X, np.where(unknown, np.nan, Y))
        return by_fold(found.rows, found.columns(slice(0, N_LABELS)), fold)

    assert_out_of_fold(run)


@pytest.mark.parametrize("decoder", ["linear", "logistic"])
def test_corrected_labels(decoder):
    """Labels are corrected by rates that are given; the scores are those that "auto" reads, too."""
    fold = np.unique(row_hashes(X), return_inverse=True)[1] % N_FOLDS

    def run(Y):
        model = CompactClassifier(CMLL(4, 3), label_noise=(0.05, 0.1), decoder=decoder)
        found = model.set_params(threshold="f1").fit_scored(X, Y)
        return by_fold(found.rows, found.columns(slice(0, N_LABELS)), fold)

    assert_out_of_fold(run)


@pytest.mark.parametrize("embedding", [Original(), CMLL(None, 3)], ids=repr)
def test_leave_one_out(embedding):
    """The closed form subtracts a row and its copies from all rows, up to rounding."""
    model = CompactClassifier(embedding, decoder="logistic", threshold="f1")
    own = COPY_OF == COPY_OF[7]

    def run(Y):
        return model.fit_scored(X, Y).columns(slice(0, N_LABELS))

    first, again = run(Y), run(with_other_labels(Y, own))
    np.testing.assert_allclose(again[own], first[own], atol=1e-9)
    assert np.abs(again[~own] - first[~own]).max() > 1e-4


@pytest.mark.parametrize("decoder", ["linear", "logistic"])
@pytest.mark.parametrize("solver", ["moments", "randomized"])
def test_held_out_samples_of_streams(solver, decoder, tuned_on):
    """Without a learnt decoder all held-out rows are one fold; with one, every other run is."""
    rows, labels = labelled(900, 12, N_LABELS, 32)

    def run(Y):
        model = CMLLClassifier(6, 4, solver=solver, decoder=decoder, threshold="f1")
        model.fit_blocks([(rows[:500], Y[:500]), (rows[500:], Y[500:])])
        found = tuned_on[-1]
        fold = np.zeros(len(rows), dtype=int)
        if decoder != "linear":
            runs = np.unique(found.rows // RUN, return_inverse=True)[1]
            fold[found.rows] = runs % 2
        scores = found.columns(slice(0, N_LABELS))
        return by_fold(found.rows, scores, fold)

    parts = run(labels)
    again = run(with_other_labels(labels, parts[0][0]))
    np.testing.assert_array_equal(again[0][1], parts[0][1])
    for (_, scores), (_, new) in zip(parts[1:], again[1:], strict=True):
        assert np.abs(new - scores).max() > 1e-6
    others = np.setdiff1d(np.arange(900), tuned_on[0].rows)
    assert np.abs(run(with_other_labels(labels, others))[0][1] - parts[0][1]).max() > 1e-6


# --- thresholds of any classifier ----------------------------------------------------------------


@pytest.mark.parametrize(("rows", "groups"), ROWS.values(), ids=ROWS.keys())
def test_threshold_tuner(rows, groups, tuned_on):
    fold = np.empty(len(Y), dtype=int)
    for k, (_, test) in enumerate(shuffled_splits(held_out_together(rows, groups), 4, seeded(0))):
        fold[test] = k

    def run(Y):
        base = OneVsRestClassifier(LogisticRegression())
        ThresholdTuner(base, cv=4, random_state=0).fit(rows, Y, groups=groups)
        return by_fold(tuned_on[-1].rows, tuned_on[-1].columns(slice(0, N_LABELS)), fold)

    assert_out_of_fold(run)


# --- searches ------------------------------------------------------------------------------------

GRID = {"alpha": [0.1, 10.0], "n_label_components": [2, 4]}
SEARCHES = {
    "moments": GridSearchMoments(CMLLClassifier(solver="moments"), GRID, cv=4, refit=False),
    "rows": GridSearchMoments(CMLLClassifier(solver="krylov"), GRID, cv=4, refit=False),
    "kernel": GridSearchMoments(
        CMLLClassifier(feature_map=KernelMap(gamma=0.1)), GRID, cv=4, refit=False
    ),
    "single fits": GridSearchMoments(
        CMLLClassifier(decoder="logistic"), GRID, cv=4, refit=False, scoring="micro_f1"
    ),
    "CMLLClassifierCV": CMLLClassifierCV(
        alphas=[0.1, 10.0], decoders=("linear",), racing=False, cv=4, refit=False
    ),
    "CMLLClassifierCV, logistic": CMLLClassifierCV(
        alphas=[1.0], n_label_components=[3], decoders=("logistic",), cv=4, refit=False
    ),
}


@pytest.fixture
def judged(monkeypatch):
    """Record the validation rows and their scores in each setting."""
    seen = []

    class Recorded(crossval.FoldJudge):
        def __init__(self, problem, test):
            super().__init__(problem, test)
            self.test = test

        def of_scores(self, scores, threshold):
            seen.extend((self.test, one) for one in scores)
            return super().of_scores(scores, threshold)

        def of_model(self, model, X):
            seen.append((self.test, model.decision_function(X)))
            return super().of_model(model, X)

    monkeypatch.setattr(crossval, "FoldJudge", Recorded)
    return seen


@pytest.mark.parametrize(("rows", "groups"), ROWS.values(), ids=ROWS.keys())
@pytest.mark.parametrize("name", SEARCHES)
def test_searches(name, rows, groups, judged):
    def run(Y):
        judged.clear()
        clone(SEARCHES[name]).fit(rows, Y, groups=groups)
        return list(judged)

    assert_out_of_fold(run)


def test_single_split_of_a_long_search(judged, monkeypatch):
    monkeypatch.setattr(cmll_cv, "JUDGES", 2)
    monkeypatch.setattr(cmll_cv, "LARGE_SEARCH", 0.0)

    def run(Y):
        judged.clear()
        search = CMLLClassifierCV(alphas=[1.0], decoders=("linear",), racing=False, refit=False)
        assert search.fit(X, Y).n_splits_ == 1
        return list(judged)

    assert_out_of_fold(run)


# --- the shortlist and the automatic search ------------------------------------------------------


# Of the inputs of a shortlist's last stage.
SIMILARITY, EVIDENCE = slice(10, 11), slice(11, 13)
SOME_INPUTS = {"all": slice(None), "centroids": SIMILARITY, "evidence": EVIDENCE}


@pytest.mark.parametrize("inputs", SOME_INPUTS.values(), ids=SOME_INPUTS)
@pytest.mark.parametrize("sampled", [False, True])
def test_shortlist(monkeypatch, sampled, inputs):
    """Candidates, prior, margins, centroids, evidence: inputs of a fold's last stage.

    Also where easy pairs are sampled, as they are where there are many.
    """
    if sampled:
        monkeypatch.setattr(label_reranking, "THINNED_PAIRS", 0)
        monkeypatch.setattr(label_reranking, "_EASY", 0.5)
    rng = np.random.default_rng(5)
    rows = sp.csr_array(sp.random(150, 40, 0.15, random_state=5, format="csr"))
    copy_of = rng.permutation(np.repeat(np.arange(150), [2, 1] * 75))
    rows = rows[copy_of]
    labels = (rng.random((copy_of.size, 12)) < 0.2).astype(float)
    inside = held_out_folds(held_out_together(rows), seeded(0))
    settings = GeneratorSettings(None, 8, True, Sizes(8, 4, 4), 1)

    def run(Y):
        parts = []
        for own in inside[:2]:
            data = ShortlistRows(rows, sp.csr_array(Y), copies=row_hashes(rows))
            fold = FoldFit.of(data, sparse_rows(rows, unit=True), own, settings, seeded(1))
            found = fold.held_out(fold.problems.solve(1.0, ~own), 1.0)
            dense = np.zeros((own.sum(), 12, found.inputs.shape[1]))
            dense[found.candidates.rows, found.candidates.labels] = found.inputs
            parts.append((found.rows, dense[:, :, inputs]))
        return parts

    assert_out_of_fold(run, labels, copy_of)


def problem_of(Y, rows=X):
    model = AutoCompactClassifier(cv=4, random_state=0)
    return model._read(rows, Y, None, None, None, None)[1]


TRIALS = {
    "compact": lambda problem: trials.try_compact(
        problem, "compact", AS_THEY_ARE, CMLLClassifier(4, 3, decoder="logistic", threshold="f1")
    ),
    "by folds": lambda problem: trials.try_by_folds(
        problem, "by folds", OneVsRestClassifier(LogisticRegression())
    ),
    "kept features": lambda problem: trials.try_by_folds(
        problem, "kept features", KeptFeatures(CMLLClassifier(2, 2, threshold=0.5), 3)
    ),
    "kept weights": lambda problem: trials.try_by_folds(problem, "weights", KeptWeights(12)),
    "quick SVM": try_svm,
}


@pytest.mark.parametrize("rows", [X, SPARSE], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", TRIALS)
def test_trials_of_the_automatic_search(name, rows, monkeypatch):
    seen = []
    read = trials.read_scores
    monkeypatch.setattr(
        trials, "read_scores", lambda scores, *args: seen.append(scores) or read(scores, *args)
    )

    def run(Y):
        problem = problem_of(Y, rows)
        found = TRIALS[name](problem)
        return by_fold(found.rows, seen[-1], problem.fold)

    assert_out_of_fold(run)


def test_trees():
    """Only trees without the row and its copies vote; frequencies are those of all rows."""
    n_trees = 20

    def run(Y):
        forest = LabelForest(n_trees, random_state=0)
        scores = forest.fit_scored(X, sp.csr_array(Y), None)
        return (expit(scores) * (n_trees + 1.0) - forest.frequency_) / n_trees

    own = COPY_OF == 0  # one of the rows that are there twice
    first, again = run(Y), run(with_other_labels(Y, own))
    np.testing.assert_allclose(again[own], first[own], atol=1e-9)
    assert np.nanmax(np.abs(again[~own] - first[~own])) > 1e-3
