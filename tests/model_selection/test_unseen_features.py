"""Searches and tuners score held-out rows without features that no training row has."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import Ridge

from compactlearn import (
    CMLL,
    AutoCompactClassifier,
    CMLLClassifier,
    CompactClassifier,
    KernelMap,
    Original,
    POPClassifier,
    ThresholdTuner,
)
from compactlearn.auto import _searches as searches
from compactlearn.auto._preprocessing import UNIT_VARIANCE
from compactlearn.crossfit._held_out_sample import HeldOutSample
from compactlearn.linalg._unseen_features import drop_unseen_features
from compactlearn.metrics import average_precision
from compactlearn.model_selection import GridSearchMoments
from compactlearn.model_selection._folds import Data
from compactlearn.related import _pop as pop
from tests.makers import long_tailed_rows


def problem(seed, n_rows=80, n_features=300):
    X = long_tailed_rows(seed, n_rows, n_features)
    rng = np.random.default_rng(seed)
    scores = X @ rng.normal(size=(n_features, 4)) + 0.3 * rng.normal(size=(n_rows, 4))
    return X, (scores > np.quantile(scores, 0.6, axis=0)).astype(int)


class SeenAlone(ClassifierMixin, BaseEstimator):
    """Scores rows by ridge, and counts those with a feature that no training row has."""

    lost = 0

    def fit(self, X, Y):
        Y = Y.toarray() if scipy.sparse.issparse(Y) else Y
        self.seen_ = X.sum(axis=0) != 0
        self.classes_ = np.arange(Y.shape[1])
        self.model_ = Ridge().fit(X, Y)
        return self

    def decision_function(self, X):
        SeenAlone.lost += X[:, ~self.seen_].nnz
        lengths = np.sqrt(X.multiply(X).sum(axis=1))
        assert np.allclose(lengths[lengths > 0], 1)
        return self.model_.predict(X)


@pytest.fixture
def seen_alone():
    SeenAlone.lost = 0
    return SeenAlone()


@pytest.mark.parametrize("seed", range(3))
def test_threshold_tuner(seed, seen_alone):
    X, Y = problem(seed)
    assert X[:, X[: len(Y) // 5].sum(axis=0) == 0].nnz
    ThresholdTuner(seen_alone, random_state=seed).fit(X, Y)
    assert SeenAlone.lost == 0


GRIDS = {
    "moments": (CMLLClassifier(solver="moments"), {"n_label_components": [2, 4]}),
    "rows": (CMLLClassifier(solver="dual"), {"alpha": [0.1, 1.0]}),
    "kernel": (CompactClassifier(CMLL(None, 3), feature_map=KernelMap(gamma=0.7)), {"alpha": [1]}),
    "regressor": (CompactClassifier(Original(), regressor=Ridge()), {"regressor__alpha": [1]}),
    "logistic": (CMLLClassifier(decoder="logistic"), {"n_label_components": [3]}),
}


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", GRIDS)
def test_scores_of_a_search(name, weighted):
    """Scores equal those of separate fits on rows without features that training rows lack."""
    X, Y = problem(2)
    w = (np.arange(len(Y)) >= 20).astype(float) if weighted else None
    splits = [
        (np.flatnonzero(~test), np.flatnonzero(test))
        for test in np.random.default_rng(0).random((2, len(Y))) < 0.4 * (np.arange(len(Y)) >= 20)
    ]
    model, grid = GRIDS[name]
    model = clone(model).set_params(threshold=0.5)
    search = GridSearchMoments(model, grid, cv=splits, refit=False).fit(X, Y, sample_weight=w)
    for number, (train, test) in enumerate(splits):
        part = None if w is None else w[train]
        new = drop_unseen_features(X[train if w is None else train[part > 0]], X[test])
        assert np.abs(new - X[test]).sum() > 0
        for place, params in enumerate(search.cv_results_["params"]):
            own = model.set_params(**params).fit(X[train], Y[train], sample_weight=part)
            expected = average_precision(Y[test], own.decision_function(new))
            found = search.cv_results_[f"split{number}_test_score"][place]
            assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("passes", [1, 3])
def test_rows_that_came_in_blocks(passes, monkeypatch):
    X, Y = problem(3, 200, 900)
    given = []
    begin = HeldOutSample.__init__

    def noted(self, sample, *others):
        given.append(sample)
        begin(self, sample, *others)

    monkeypatch.setattr(HeldOutSample, "__init__", noted)
    blocks = [(X[start : start + 50], Y[start : start + 50]) for start in range(0, 200, 50)]
    solver = "moments" if passes == 1 else "randomized"
    CMLLClassifier(solver=solver, n_label_components=2, threshold="f1").fit_blocks(blocks)
    (sample,) = given
    rest = np.setdiff1d(np.arange(200), sample.rows.positions)
    expected = drop_unseen_features(X[rest], X[sample.rows.positions])
    assert np.abs(expected - X[sample.rows.positions]).sum() > 0
    assert np.abs(sample.rows.X - expected).max() < 1e-12


def test_widths_and_preparations_are_judged_by_such_rows(monkeypatch):
    given = []
    predict = searches.held_out_predictions

    def noted(K, T, fold, penalties, weights, held_out):
        given.append((K, held_out))
        return predict(K, T, fold, penalties, weights, held_out)

    monkeypatch.setattr(searches, "held_out_predictions", noted)
    X, Y = problem(4, 120)
    AutoCompactClassifier(random_state=0).fit(X, Y)
    assert given
    assert all(held_out is not None and not np.allclose(K, held_out) for K, held_out in given)
    given.clear()
    AutoCompactClassifier(random_state=0).fit(X.toarray(), Y)
    assert given
    assert all(held_out is None for K, held_out in given)


def test_rows_that_decide_how_many_labels_go(monkeypatch):
    X, Y = problem(5)
    dropped = []

    def noted(training, held_out):
        dropped.append(drop_unseen_features(training, held_out))
        assert dropped[-1].nnz < held_out.nnz
        return dropped[-1]

    monkeypatch.setattr(pop, "drop_unseen_features", noted)
    POPClassifier(random_state=0).fit(X, Y)
    assert len(dropped) == 1


@pytest.mark.parametrize("embedding", [Original(), CMLL(n_label_components=2)], ids=repr)
def test_columns_that_were_divided_before(embedding):
    """Rows lose features, and are scaled, in the units that they came in."""
    X, Y = problem(6)
    rows = UNIT_VARIANCE.fit(X, None)
    fold = np.random.default_rng(0).integers(3, size=len(Y))
    model = CompactClassifier(embedding, threshold="f1")
    out_of_fold = model.fit_scored(rows.X, Y, groups=fold, units=rows.units)
    scores = out_of_fold.columns(slice(None))
    data = Data(rows.X, scipy.sparse.csr_array(Y), None, units=rows.units)
    for k in range(3):
        out = fold == k
        new = rows.rows(drop_unseen_features(X[~out], X[out]))
        own = clone(model).set_params(threshold=0.5).fit(rows.X[~out], Y[~out])
        np.testing.assert_allclose(scores[out], own.decision_function(new), atol=1e-8)
        found = data.held_out_rows(np.flatnonzero(~out), np.flatnonzero(out))
        assert np.abs(found - new).max() < 1e-10
