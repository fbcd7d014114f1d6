"""Stratified folds: what every division of rows must be, and how even it is."""

import pickle
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.model_selection import cross_validate

from compactlearn import CMLLClassifier
from compactlearn.datasets import load
from compactlearn.model_selection import IterativeStratification
from compactlearn.model_selection._rarest_first import deal, fill
from compactlearn.model_selection._swaps import improve


@st.composite
def label_matrices(draw, max_rows=40):
    """0/1 matrices of two labels or more, some of them empty or full."""
    shape = draw(st.integers(6, max_rows)), draw(st.integers(2, 8))
    return draw(arrays(np.int64, shape, elements=st.integers(0, 1)))


def random_labels(n_rows, n_labels, share):
    return (np.random.default_rng(0).random((n_rows, n_labels)) < share).astype(np.int64)


def fold_numbers(splitter, Y):
    fold = np.full(Y.shape[0], -1)
    for number, (_, test) in enumerate(splitter.split(None, Y)):
        fold[test] = number
    return fold


def fold_counts(Y, fold, n_folds):
    return np.array([Y[fold == number].sum(axis=0) for number in range(n_folds)])


@given(label_matrices(), st.integers(2, 6), st.booleans())
def test_folds_are_a_partition_into_even_parts(Y, n_folds, shuffle):
    splitter = IterativeStratification(
        n_folds, shuffle=shuffle, random_state=0 if shuffle else None
    )
    tested = []
    for train, test in splitter.split(Y, Y):
        np.testing.assert_array_equal(np.sort(np.r_[train, test]), np.arange(len(Y)))
        tested.append(test)
    np.testing.assert_array_equal(np.sort(np.concatenate(tested)), np.arange(len(Y)))
    sizes = [len(test) for test in tested]
    assert len(sizes) == n_folds
    assert max(sizes) - min(sizes) <= 1


@given(st.integers(2, 5), st.lists(st.integers(0, 4), min_size=8, max_size=60))
def test_classes_are_divided_to_the_row(n_folds, classes):
    """With one label per row, floor and ceiling can always be had, of every label and of sizes."""
    y = np.array([0, 1, *classes])
    fold = fold_numbers(IterativeStratification(n_folds, random_state=3), y)
    counts = fold_counts(np.eye(5, dtype=int)[y], fold, n_folds)
    assert (np.ptp(counts, axis=0) <= 1).all()
    assert np.ptp(np.bincount(fold, minlength=n_folds)) <= 1


FORMS = {
    "bool": lambda Y: Y.astype(bool),
    "csc matrix": scipy.sparse.csc_matrix,
    "pandas": lambda Y: pd.DataFrame(Y, columns=[f"l{i}" for i in range(Y.shape[1])]),
}


@pytest.mark.parametrize("form", FORMS)
def test_folds_do_not_depend_on_the_form_of_the_labels(form):
    Y = random_labels(60, 6, 0.3)
    splitter = IterativeStratification(3, random_state=1)
    np.testing.assert_array_equal(fold_numbers(splitter, FORMS[form](Y)), fold_numbers(splitter, Y))


def test_seeds():
    Y = random_labels(80, 5, 0.3)

    def answer(seed):
        return fold_numbers(IterativeStratification(3, random_state=seed), Y).tolist()

    assert answer(4) == answer(4)
    assert answer(4) != answer(5)
    assert answer(np.random.RandomState(4)) == answer(4)
    generator = np.random.default_rng(4)
    assert answer(generator) != answer(generator)
    assert answer(np.random.default_rng(4)) == answer(np.random.default_rng(4))
    before = np.random.get_state()[1].copy()  # noqa: NPY002 - the global state, to see it untouched
    answer(4)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_the_labels_stay_sparse():
    """As a dense matrix these would take 160 GB."""
    rng = np.random.default_rng(0)
    entries = np.ones(400), (rng.integers(20_000, size=400), rng.integers(40, size=400) * 25_000)
    Y = scipy.sparse.coo_array(entries, shape=(20_000, 1_000_000)).tocsr()
    Y.data[:] = 1
    fold = fold_numbers(IterativeStratification(4, random_state=0), Y)
    counts = np.array([Y[fold == number].sum(axis=0) for number in range(4)])
    assert np.ptp(counts, axis=0).max() <= 1


def test_counts_come_near_the_least_that_whole_rows_allow():
    """The least deviation is that of shares rounded up or down: 2 r (k - r) / k for a label."""
    Y = np.asarray(load("enron").Y.toarray())
    r = Y.sum(axis=0) % 5
    least = (2 * r * (5 - r) / 5).sum()
    found = []
    for seed in range(5):
        fold = fold_numbers(IterativeStratification(5, random_state=seed), Y)
        found.append(np.abs(fold_counts(Y, fold, 5) - Y.sum(axis=0) / 5).sum())
    assert min(found) >= least - 1e-9
    assert np.mean(found) <= 1.03 * least


# ---- the steps, against slow loops ---------------------------------------------------------------


def fill_by_one(desire, room, count, ties):
    """Run the paper's loop: each row goes to the fold of largest desire, room, and first tie."""
    desire, room, filled = desire.tolist(), room.tolist(), [0] * len(room)
    for _ in range(count):
        open_folds = [fold for fold in range(len(room)) if room[fold] > 0]
        best = max(open_folds, key=lambda fold: (desire[fold], room[fold], -ties[fold]))
        desire[best] -= len(room)
        room[best] -= 1
        filled[best] += 1
    return filled


@settings(max_examples=300)
@given(st.data())
def test_filling_at_once_is_filling_one_by_one(data):
    n_folds = data.draw(st.integers(1, 6))
    desire = data.draw(arrays(np.int64, n_folds, elements=st.integers(-40, 40)))
    room = data.draw(arrays(np.int64, n_folds, elements=st.integers(0, 8)))
    count = data.draw(st.integers(0, int(room.sum())))
    ties = np.array(data.draw(st.permutations(range(n_folds))))
    assert fill(desire, room, count, ties).tolist() == fill_by_one(desire, room, count, ties)


@given(label_matrices(max_rows=20), st.integers(2, 4))
def test_no_swap_is_left_that_would_gain(Y, n_folds):
    """By trying all: sums of squared deviations, from careless folds and from dealt ones."""
    labels = scipy.sparse.csr_array(Y)
    dealt = deal(labels, n_folds, np.random.RandomState(0))

    def objective(fold):
        return ((fold_counts(Y, fold, n_folds) - Y.sum(axis=0) / n_folds) ** 2).sum()

    for start in (np.arange(len(Y)) % n_folds, dealt):
        after = improve(start, labels, n_folds)
        assert objective(after) <= objective(start) + 1e-9
        np.testing.assert_array_equal(
            np.bincount(after, minlength=n_folds), np.bincount(start, minlength=n_folds)
        )
        for a, b in combinations(range(len(Y)), 2):
            swapped = after.copy()
            swapped[[a, b]] = after[[b, a]]
            assert objective(swapped) >= objective(after) - 1e-6


# ---- inside scikit-learn, and mistakes -----------------------------------------------------------


def test_what_scikit_learn_expects_of_a_splitter():
    made = IterativeStratification(7, random_state=3)
    assert made.get_n_splits() == 7
    again = pickle.loads(pickle.dumps(sklearn.clone(made, safe=False)))
    assert repr(again) == repr(made)
    assert "n_splits=7" in repr(made)
    assert IterativeStratification().get_n_splits() == 5
    X, Y = np.random.default_rng(0).normal(size=(60, 4)), random_labels(60, 3, 0.3)
    scores = cross_validate(CMLLClassifier(), X, Y, cv=made)["test_score"]
    assert np.isfinite(scores).all()
    with sklearn.config_context(enable_metadata_routing=True):
        passed = {"groups": np.arange(60) // 5}
        with pytest.raises(ValueError, match="groups"):
            cross_validate(CMLLClassifier(), X, Y, cv=made, params=passed)


LABELS = np.tile([[1, 0], [0, 1], [1, 1]], (4, 1))
REFUSED = [
    ({"n_splits": 1.5}, LABELS, None, "'n_splits' of .* must be an integer"),
    ({"n_splits": 1}, LABELS, None, "must be an integer >= 2; got 1"),
    ({"n_splits": 13}, LABELS, None, "n_splits=13 folds .* given 12; lower n_splits"),
    ({"shuffle": 1}, LABELS, None, "'shuffle' of .* must be True or False"),
    ({"shuffle": False, "random_state": 1}, LABELS, None, "nothing is random, and random_state=1"),
    ({"random_state": "seed"}, LABELS, None, "'random_state' of .* must be None, an integer"),
    ({}, None, None, r"split requires y to be passed.*pass the labels"),
    ({}, np.where(LABELS, np.nan, 0.0), None, "Y contains NaN"),
    ({}, LABELS[:-1], None, "as many rows as each other, and have 12 and 11"),
    ({}, LABELS, np.arange(12), "divides single rows, and groups were given.*use GroupKFold"),
]  # fmt: skip


@pytest.mark.parametrize(("parameters", "y", "groups", "message"), REFUSED)
def test_refusals(parameters, y, groups, message):
    with pytest.raises(ValueError, match=message):
        next(IterativeStratification(**parameters).split(np.zeros((12, 1)), y, groups))
