"""Settings that are dropped on the way, and what a search hands on to the fits it makes."""

import numpy as np
import pytest
from sklearn.base import clone

import compactlearn.embeddings._completion as completion
import compactlearn.model_selection._cmll_cv as cmll_cv
import compactlearn.model_selection._crossval as crossval
from compactlearn import CMLLClassifier, CMLLClassifierCV
from compactlearn.model_selection import GridSearchMoments

from .helpers import folds, make_data

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

LINEAR = {"decoders": ("linear",), "refit": False}
X, Y = make_data(60, 8, 6)
SPLITS = folds(60, 5)


def split_scores(search):
    names = [f"split{k}_test_score" for k in range(search.n_splits_)]
    return np.column_stack([search.cv_results_[name] for name in names])


@pytest.fixture
def one_range(monkeypatch):
    """No penalty is tried beyond those of the grid."""
    monkeypatch.setattr(cmll_cv, "ROUNDS", 0)


def test_the_best_third_is_kept(one_range):
    """Against the table of a search that drops nothing."""
    racing = CMLLClassifierCV(cv=SPLITS, **LINEAR).fit(X, Y)
    whole = split_scores(CMLLClassifierCV(cv=SPLITS, racing=False, **LINEAR).fit(X, Y))
    found = split_scores(racing)
    known = ~np.isnan(found)
    assert known.sum(axis=0).tolist() == [55, 19, 7, 5, 5]
    np.testing.assert_allclose(found[known], whole[known], atol=1e-12)
    for split in range(1, 5):
        before = np.flatnonzero(known[:, split - 1])
        merit = whole[before, :split].mean(axis=1)
        kept = known[before, split]
        assert merit[kept].min() >= merit[~kept].max(initial=-np.inf) - 1e-12
    last = np.flatnonzero(known[:, -1])
    assert racing.best_index_ == last[np.argmax(whole[last].mean(axis=1))]
    assert racing.best_score_ == pytest.approx(whole[racing.best_index_].mean())
    ranks = racing.cv_results_["rank_test_score"]
    assert ranks[racing.best_index_] == 1
    assert ranks[last].max() <= 5 < np.delete(ranks, last).min()


def test_on_a_large_first_fold_penalties_fall_until_two_were_no_better(one_range, monkeypatch):
    whole = split_scores(CMLLClassifierCV(cv=SPLITS, racing=False, **LINEAR).fit(X, Y))
    monkeypatch.setattr(crossval, "TOGETHER", 1)
    racing = CMLLClassifierCV(cv=SPLITS, **LINEAR).fit(X, Y)
    found = split_scores(racing)
    params = racing.cv_results_["params"]
    stopped = 0
    for size in (0.1, 0.25, 0.5, 0.75, 1.0):
        line = [i for i, p in enumerate(params) if p["n_label_components"] == size]
        line = sorted(line, key=lambda i: -params[i]["alpha"])
        best, falls, expected = -np.inf, 0, []
        for i in line:
            expected.append(i)
            falls = 0 if whole[i, 0] > best else falls + 1
            best = max(best, whole[i, 0])
            if falls == 2:
                break
        tried = [i for i in line if not np.isnan(found[i, 0])]
        assert tried == expected
        np.testing.assert_allclose(found[tried, 0], whole[tried, 0], atol=1e-12)
        stopped += len(tried) < len(line)
    assert stopped
    n_tried = int(np.sum(~np.isnan(found[:, 0])))
    assert int(np.sum(~np.isnan(found[:, 1]))) == -(-55 // 3)  # a third of all, not of those
    assert n_tried >= 19


def test_a_fold_without_a_score_drops_nobody(one_range):
    labels = Y.copy()
    empty = np.arange(0, 12)
    labels[empty] = 0  # average precision is not defined there
    rest = np.arange(12, 60)
    splits = [(rest, empty), *((np.setdiff1d(rest, t), t) for t in np.array_split(rest, 3))]
    search = CMLLClassifierCV(cv=splits, **LINEAR).fit(X, labels)
    known = ~np.isnan(split_scores(search))
    assert known.sum(axis=0).tolist() == [0, 55, 19, 7]
    assert np.isfinite(search.best_score_)


def test_two_classes_are_parted_where_the_classifier_does():
    """A tuned boundary is part of the scores, so such settings are fitted by themselves."""
    y = X[:, 0] > np.quantile(X[:, 0], 0.7)
    grid = {"alpha": [1.0, 30.0]}
    for threshold in (0.3, "f1"):
        model = CMLLClassifier(threshold=threshold)
        ours = GridSearchMoments(model, grid, cv=SPLITS, refit=False).fit(X, y)
        for place, params in enumerate(ours.cv_results_["params"]):
            for number, (train, test) in enumerate(SPLITS):
                fitted = clone(model).set_params(**params).fit(X[train], y[train])
                right = np.mean(fitted.predict(X[test]) == y[test])
                # Of two labels, of which one is present, it is first or second.
                expected = right + (1 - right) / 2
                found = ours.cv_results_[f"split{number}_test_score"][place]
                assert found == pytest.approx(expected, abs=1e-12)


def test_a_tuned_threshold_belongs_to_the_last_fit(monkeypatch):
    """No setting is fitted by itself because of it."""
    monkeypatch.setattr(crossval, "_score_single", None)
    y = X[:, 0] > 0
    for labels in (y, Y):
        search = CMLLClassifierCV(cv=3, decoders=("linear",)).fit(X, labels)
        assert search.best_estimator_.threshold == "f1"
        again = CMLLClassifier(**search.best_params_, threshold="f1").fit(X, labels)
        np.testing.assert_allclose(
            search.decision_function(X), again.decision_function(X), atol=1e-12
        )


def test_one_krylov_space_serves_every_feature_size(monkeypatch):
    calls = []
    original = completion.krylov_directions

    def noted(pair, P, count):
        calls.append(count)
        return original(pair, P, count)

    monkeypatch.setattr(completion, "krylov_directions", noted)
    grid = {"n_feature_components": [3, 4, 5, 6], "n_label_components": [2]}
    model = CMLLClassifier(completion="krylov")
    GridSearchMoments(model, grid, cv=SPLITS, refit=False).fit(X, Y)
    assert calls == [4] * 5
