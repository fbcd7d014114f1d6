"""Groups, or else equal rows, are held out together; other rows are split as by scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold

from compactlearn import C2AEClassifier, ThresholdTuner
from compactlearn.crossfit._folds import member_splits, shuffled_splits, validation_rows
from compactlearn.crossfit._together import held_out_together
from compactlearn.related import DeepCMLLClassifier
from compactlearn.related import _c2ae as c2ae
from compactlearn.related import _deep_cmll as deep_cmll


def same(found, expected):
    pairs = list(zip(found, expected, strict=True))
    return all(np.array_equal(one[k], other[k]) for one, other in pairs for k in (0, 1))


@pytest.mark.parametrize("seed", range(5))
def test_rows_that_differ_have_the_folds_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    X, classes = rng.normal(size=(53, 4)), rng.integers(3, size=53)
    member = held_out_together(X)
    assert member.tolist() == list(range(53))
    folds = KFold(5, shuffle=True, random_state=seed)
    assert same(shuffled_splits(member, 5, seed), folds.split(X))
    stratified = StratifiedKFold(4, shuffle=True, random_state=seed)
    assert same(shuffled_splits(member, 4, seed, classes), stratified.split(X, classes))
    one = ShuffleSplit(1, test_size=0.2, random_state=seed)
    assert same(member_splits(one, member), one.split(X))


@given(
    member=st.lists(st.integers(0, 8), min_size=4, max_size=40),
    n_folds=st.integers(2, 5),
    classified=st.booleans(),
)
@settings(max_examples=60, deadline=None)
@pytest.mark.filterwarnings("ignore:The least populated class")
def test_members_are_in_one_fold_and_every_row_in_one(member, n_folds, classified):
    n_rows, n_members = len(member), len(set(member))
    n_folds = min(n_folds, n_rows)
    member = held_out_together(np.array(member)[:, None])
    classes = np.random.default_rng(0).integers(2, size=n_rows) if classified else None
    if classified and n_members in (1, n_rows):
        n_folds = min(n_folds, int(np.bincount(classes).max()))
    if n_folds < 2:
        return
    splits = list(shuffled_splits(member, n_folds, 0, classes))
    assert len(splits) == (n_folds if n_members == 1 else min(n_folds, n_members))
    assert sorted(np.concatenate([test for _, test in splits])) == list(range(n_rows))
    for train, test in splits:
        assert sorted([*train, *test]) == list(range(n_rows))
        assert n_members == 1 or not set(member[train]) & set(member[test])


@given(
    counts=st.lists(st.integers(1, 4), min_size=5, max_size=20),
    n_folds=st.integers(2, 5),
    seed=st.integers(0, 99),
)
@settings(max_examples=40, deadline=None)
def test_a_row_twice_is_in_the_fold_of_that_row(counts, n_folds, seed):
    rng = np.random.default_rng(seed)
    X, classes = rng.normal(size=(len(counts), 3)), np.arange(len(counts)) % 2
    rows = np.repeat(np.arange(len(counts)), counts)
    for own in (None, classes):
        if own is not None and n_folds > len(counts) // 2:
            continue
        once = shuffled_splits(held_out_together(X), n_folds, seed, own)
        own = None if own is None else own[rows]
        again = shuffled_splits(held_out_together(X[rows]), n_folds, seed, own)
        for (_, test), (_, repeated) in zip(once, again, strict=True):
            assert np.unique(rows[repeated]).tolist() == test.tolist()


FORMS = {
    "array": np.asarray,
    "lists": lambda X: X.tolist(),
    "sparse": scipy.sparse.csr_matrix,
    "texts": lambda X: [" ".join(map(str, row)) for row in X.tolist()],
    "column of texts": lambda X: np.array([str(row) for row in X.tolist()], dtype=object)[:, None],
    "integers": lambda X: np.round(100 * X).astype(int),
    "images": lambda X: np.asarray(X).reshape(len(X), 2, 2),
}


@pytest.mark.parametrize("form", FORMS)
def test_equal_rows_in_every_form(form):
    X = np.random.default_rng(0).normal(size=(6, 4))[[0, 1, 0, 2, 3, 1, 4, 5]]
    assert held_out_together(FORMS[form](X)).tolist() == [0, 1, 0, 2, 3, 1, 4, 5]


def test_equal_rows_of_a_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": ["x", "y", "x", "x"], "b": [1.0, 1.0, 2.0, 1.0]})
    assert held_out_together(frame).tolist() == [0, 1, 2, 0]
    assert held_out_together(frame["a"]).tolist() == [0, 1, 0, 0]


def test_groups_override_equal_rows():
    X = np.ones((4, 2))
    assert held_out_together(X, ["b", "a", "b", "c"]).tolist() == [0, 1, 0, 2]
    with pytest.raises(ValueError, match="groups must hold one entry for each of the 4 rows"):
        held_out_together(X, [1, 2])
    with pytest.raises(ValueError, match="groups must name at least 2 groups"):
        held_out_together(X, [1, 1, 1, 1])


class Weighted(ClassifierMixin, BaseEstimator):
    """One logistic regression for each label, with weights."""

    def fit(self, X, Y, sample_weight=None):
        self.classes_ = np.arange(Y.shape[1])
        one = LogisticRegression(tol=1e-10, max_iter=1000)
        self.models_ = [clone(one).fit(X, y, sample_weight=sample_weight) for y in Y.T]
        return self

    def decision_function(self, X):
        return np.column_stack([model.decision_function(X) for model in self.models_])


@pytest.mark.parametrize("seed", range(3))
def test_weight_two_is_a_row_twice_for_a_tuner(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3))
    Y = (X @ rng.normal(size=(3, 4)) + rng.normal(size=(40, 4)) > 0.5).astype(int)
    w = rng.integers(1, 4, size=40)
    tuner = ThresholdTuner(Weighted(), random_state=0)
    once = tuner.fit(X, Y, sample_weight=w).threshold_
    again = tuner.fit(np.repeat(X, w, axis=0), np.repeat(Y, w, axis=0)).threshold_
    assert once == pytest.approx(again, abs=1e-5)


@given(
    rows=st.lists(st.integers(0, 9), min_size=2, max_size=30),
    share=st.floats(0, 0.9),
    seed=st.integers(0, 99),
)
@settings(max_examples=60, deadline=None)
def test_validation_rows_have_no_copies_among_the_others(rows, share, seed):
    X = np.array(rows, dtype=float)[:, None]
    order, n_rows = np.random.default_rng(seed).permutation(len(X)), int(share * len(X))
    new, rest = validation_rows(X, order, n_rows)
    assert np.array_equal(np.sort([*new, *rest]), np.arange(len(X)))
    assert rest.size
    assert new.size >= n_rows or not n_rows
    assert not n_rows or not set(X[new, 0]) & set(X[rest, 0]) or new.size == n_rows
    if len(set(rows)) == len(rows):
        assert np.array_equal(new, np.sort(order[:n_rows]))


def test_a_network_is_stopped_by_rows_without_copies(monkeypatch):
    pytest.importorskip("torch")
    divided = []

    def noted(X, order, n_rows):
        divided.append((X, *validation_rows(X, order, n_rows)))
        return divided[-1][1:]

    rows = np.random.default_rng(0).integers(12, size=40)
    X = np.random.default_rng(1).normal(size=(12, 5))[rows]
    Y = (X > 0).astype(int)
    for module, model in (
        (c2ae, C2AEClassifier(max_epochs=1, validation_fraction=0.3)),
        (deep_cmll, DeepCMLLClassifier(max_epochs=1, validation_fraction=0.3)),
    ):
        monkeypatch.setattr(module, "validation_rows", noted)
        model.set_params(random_state=0).fit(X, Y)
    assert len(divided) == 2
    for X, new, rest in divided:
        assert not set(X[new, 0]) & set(X[rest, 0])
