"""Rows that belong together never judge each other, whatever is searched."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from sklearn.model_selection import GroupKFold

from compactlearn import AutoCompactClassifier, CMLLClassifier
from compactlearn.auto._candidates import try_forest
from compactlearn.metrics import average_precision
from compactlearn.model_selection import GridSearchMoments

FREQUENCIES = np.linspace(0.1, 0.4, 8)


def noise(seed, n_groups, n_copies, jitter=0.0):
    """Features and labels that know nothing of each other, each row several times."""
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.repeat(np.arange(n_groups), n_copies))
    X = rng.normal(size=(n_groups, 30))[groups]
    Y = (rng.random((n_groups, 8)) < FREQUENCIES)[groups].astype(int)
    return X + jitter * rng.normal(size=X.shape), Y, groups


GRID = {"alpha": [1e-3, 1.0, 100.0]}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("vector", [False, True])
def test_weight_two_is_a_row_twice_for_a_search(vector, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 6))
    Y = (X[:, :3] + rng.normal(size=(60, 3)) > 0.4).astype(int)
    y = Y[:, 0] if vector else Y
    w = rng.integers(1, 4, size=60)
    search = GridSearchMoments(CMLLClassifier(threshold=0.5), GRID, random_state=seed, refit=False)
    once = search.fit(X, y, sample_weight=w).cv_results_["mean_test_score"]
    again = search.fit(np.repeat(X, w, axis=0), np.repeat(y, w, axis=0))
    np.testing.assert_allclose(once, again.cv_results_["mean_test_score"], atol=1e-9)


# --- the automatic search ------------------------------------------------------------------------


def problem_of(model, X, Y, groups=None):
    return model._read(X, Y, None, groups, None, None)[1]


@pytest.mark.parametrize("seed", range(4))
def test_folds_of_the_automatic_search_keep_groups(seed):
    X, Y, groups = noise(seed, 30, 4, jitter=0.01)
    for cv in (3, GroupKFold(3)):
        problem = problem_of(AutoCompactClassifier(cv=cv, random_state=seed), X, Y, groups)
        assert all(np.unique(problem.fold[groups == g]).size == 1 for g in range(30))
        assert np.unique(problem.fold).size == 3


@pytest.mark.parametrize("given", ["splits", "groups"])
def test_trees_are_judged_by_folds_that_are_given(given):
    """Out-of-bag rows have near copies in the bag."""
    excess = []
    for seed in range(4):
        X, Y, groups = noise(seed, 60, 4, jitter=0.01)
        X_new, Y_new, _ = noise(seed + 50, 500, 1)
        model, own = AutoCompactClassifier(cv=3, random_state=0), groups
        if given == "splits":
            model, own = model.set_params(cv=list(GroupKFold(3).split(X, Y, groups))), None
        one = try_forest(problem_of(model, X, Y, own), 20)
        new = average_precision(Y_new, one.model.decision_function(X_new))
        excess.append(one.score - new)
    assert np.mean(excess) < 0.1


def test_groups_are_those_of_the_splits_that_they_make():
    X, Y, groups = noise(1, 24, 3, jitter=0.01)
    X = scipy.sparse.csr_array(X * (np.abs(X) > 1.5))
    splits = list(GroupKFold(3).split(X, Y, groups))
    listed = AutoCompactClassifier(cv=splits, random_state=0).fit(X, Y)
    named = AutoCompactClassifier(cv=GroupKFold(3), random_state=0).fit(X, Y, groups=groups)
    assert named.best_score_ == listed.best_score_
    again = AutoCompactClassifier(cv=GroupKFold(3), random_state=0).fit(X, Y, groups=groups)
    np.testing.assert_array_equal(again.decision_function(X), named.decision_function(X))
