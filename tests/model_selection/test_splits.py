"""Stratified folds and splits: what every division of rows must be, and how even it is."""

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
from compactlearn.model_selection import IterativeStratification, IterativeStratifiedShuffleSplit
from compactlearn.model_selection._rarest_first import deal, fill, label_pairs, make_units
from compactlearn.model_selection._swaps import improve

SPLITTERS = [IterativeStratification, IterativeStratifiedShuffleSplit]
both = pytest.mark.parametrize("splitter", SPLITTERS)
orders = pytest.mark.parametrize("order", [1, 2])


@st.composite
def label_matrices(draw, max_rows=40):
    """0/1 matrices of two labels or more, some of them empty or full."""
    shape = draw(st.integers(6, max_rows)), draw(st.integers(2, 8))
    return draw(arrays(np.int64, shape, elements=st.integers(0, 1)))


def random_labels(n_rows, n_labels, share, seed=0):
    return (np.random.default_rng(seed).random((n_rows, n_labels)) < share).astype(np.int64)


def fold_numbers(splitter, Y, groups=None):
    fold = np.full(Y.shape[0], -1)
    for number, (_, test) in enumerate(splitter.split(None, Y, groups)):
        fold[test] = number
    return fold


def fold_counts(Y, fold, n_folds):
    return np.array([Y[fold == number].sum(axis=0) for number in range(n_folds)])


def deviations(Y, fold, n_folds):
    return np.abs(fold_counts(Y, fold, n_folds) - Y.sum(axis=0) / n_folds).sum()


def least_deviations(Y, n_folds):
    """Return the deviations if every count is its share rounded up or down: 2 r (k - r) / k."""
    r = Y.sum(axis=0) % n_folds
    return (2 * r * (n_folds - r) / n_folds).sum()


# What every division of rows is


@given(label_matrices(), st.integers(2, 6), st.sampled_from([1, 2]), st.booleans())
def test_folds_are_a_partition_into_even_parts(Y, n_folds, order, shuffle):
    seed = 0 if shuffle else None
    splitter = IterativeStratification(n_folds, order=order, shuffle=shuffle, random_state=seed)
    tested = []
    for train, test in splitter.split(Y, Y):
        np.testing.assert_array_equal(np.sort(np.r_[train, test]), np.arange(len(Y)))
        tested.append(test)
    np.testing.assert_array_equal(np.sort(np.concatenate(tested)), np.arange(len(Y)))
    sizes = [len(test) for test in tested]
    assert len(sizes) == n_folds
    assert max(sizes) - min(sizes) <= 1


@given(label_matrices(), st.integers(1, 4), st.integers(0, 1))
def test_random_splits_have_the_sizes_that_were_asked_for(Y, n_test, left_over):
    n_train = len(Y) - n_test - left_over
    splitter = IterativeStratifiedShuffleSplit(
        3, test_size=n_test, train_size=n_train, random_state=0
    )
    for train, test in splitter.split(Y, Y):
        assert (len(train), len(test)) == (n_train, n_test)
        assert len(np.unique(np.r_[train, test])) == n_train + n_test


@pytest.mark.parametrize(
    ("asked", "sizes"),
    [
        ({}, (90, 10)),
        ({"test_size": 0.07}, (93, 7)),
        ({"test_size": 0.255}, (74, 26)),
        ({"train_size": 0.29}, (29, 71)),
        ({"train_size": 60, "test_size": 0.3}, (60, 30)),
    ],
    ids=str,
)
def test_sizes_of_random_splits(asked, sizes):
    Y = random_labels(100, 4, 0.3)
    ((train, test),) = IterativeStratifiedShuffleSplit(1, random_state=0, **asked).split(Y, Y)
    assert (len(train), len(test)) == sizes


@given(st.integers(2, 5), st.lists(st.integers(0, 4), min_size=8, max_size=60))
def test_classes_are_divided_to_the_row(n_folds, classes):
    """With one label per row, floor and ceiling can always be had, of every label and of sizes."""
    y = np.array([0, 1, *classes])
    splitter = IterativeStratification(n_folds, random_state=3)
    fold = fold_numbers(splitter, y)
    counts = fold_counts(np.eye(5, dtype=int)[y], fold, n_folds)
    assert (np.ptp(counts, axis=0) <= 1).all()
    assert np.ptp(np.bincount(fold, minlength=n_folds)) <= 1


# The same answer, however it is asked for


FORMS = {
    "bool": lambda Y: Y.astype(bool),
    "csc matrix": scipy.sparse.csc_matrix,
    "pandas": lambda Y: pd.DataFrame(Y, columns=[f"l{i}" for i in range(Y.shape[1])]),
}


@orders
@both
@pytest.mark.parametrize("form", FORMS)
def test_splits_do_not_depend_on_the_form_of_the_labels(splitter, order, form):
    Y = random_labels(60, 6, 0.3)
    make = splitter(3, order=order, random_state=1)
    for expected, actual in zip(make.split(Y, Y), make.split(None, FORMS[form](Y)), strict=True):
        np.testing.assert_array_equal(expected[0], actual[0])
        np.testing.assert_array_equal(expected[1], actual[1])


@both
def test_seeds(splitter):
    Y = random_labels(80, 5, 0.3)

    def answer(seed):
        return [test.tolist() for _, test in splitter(3, random_state=seed).split(None, Y)]

    assert answer(4) == answer(4)
    assert answer(4) != answer(5)
    assert answer(np.random.RandomState(4)) == answer(4)
    generator = np.random.default_rng(4)
    assert answer(generator) != answer(generator)
    assert answer(np.random.default_rng(4)) == answer(np.random.default_rng(4))
    before = np.random.get_state()[1].copy()  # noqa: NPY002 - the global state, to see it untouched
    answer(4)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@orders
def test_the_labels_stay_sparse(order):
    """As a dense matrix these would take 160 GB."""
    rng = np.random.default_rng(0)
    entries = np.ones(400), (rng.integers(20_000, size=400), rng.integers(40, size=400) * 25_000)
    Y = scipy.sparse.coo_array(entries, shape=(20_000, 1_000_000)).tocsr()
    Y.data[:] = 1
    fold = fold_numbers(IterativeStratification(4, order=order, random_state=0), Y)
    counts = np.array([Y[fold == number].sum(axis=0) for number in range(4)])
    assert np.ptp(counts, axis=0).max() <= 1


# Groups


@given(label_matrices(), st.data(), st.integers(2, 4), st.sampled_from([1, 2]))
def test_groups_stay_together_and_leave_no_fold_empty(Y, data, n_folds, order):
    n = len(Y)
    drawn = data.draw(st.lists(st.integers(0, 9), min_size=n, max_size=n))
    groups = np.array(drawn)
    groups[:n_folds] = np.arange(n_folds)
    names = np.array([f"group {number}" for number in groups])
    splitter = IterativeStratification(n_folds, order=order, random_state=0)
    fold = fold_numbers(splitter, Y, names)
    assert set(fold) == set(range(n_folds))
    for group in np.unique(groups):
        assert len(set(fold[groups == group])) == 1
    for train, test in IterativeStratifiedShuffleSplit(2, random_state=0).split(Y, Y, names):
        assert len(train)
        assert len(test)
        assert not set(names[train]) & set(names[test])


@pytest.mark.parametrize("n_groups", [2, 3, 4])
def test_a_few_large_groups_leave_no_part_empty(n_groups):
    """The counts alone would have all of them in the training part, which desires nine tenths."""
    groups = np.arange(60) % n_groups
    for Y in (random_labels(60, 3, 0.4), np.ones((60, 2), dtype=int)):
        for train, test in IterativeStratifiedShuffleSplit(5, random_state=0).split(Y, Y, groups):
            assert len(set(groups[test])) == 1
            assert len(set(groups[train])) == n_groups - 1


# Balance


@orders
def test_counts_come_near_the_least_that_whole_rows_allow(order):
    Y = load("enron").Y
    Y = np.asarray(Y.toarray() if scipy.sparse.issparse(Y) else Y)
    least = least_deviations(Y, 5)
    found = [
        deviations(Y, fold_numbers(IterativeStratification(5, order=order, random_state=s), Y), 5)
        for s in range(5)
    ]
    assert min(found) >= least - 1e-9
    assert np.mean(found) <= least * {1: 1.03, 2: 1.3}[order]


def test_second_order_balances_pairs():
    Y = load("enron").Y
    Y = np.asarray(Y.toarray() if scipy.sparse.issparse(Y) else Y).astype(int)
    pairs = np.array([Y[:, i] * Y[:, j] for i, j in combinations(range(Y.shape[1]), 2)]).T
    one, two = (
        np.mean(
            [
                deviations(
                    pairs, fold_numbers(IterativeStratification(5, order=o, random_state=s), Y), 5
                )
                for s in range(4)
            ]
        )
        for o in (1, 2)
    )
    assert two < 0.9 * one


@pytest.mark.parametrize("test_size", [0.1, 0.25, 0.5])
def test_random_splits_are_stratified(test_size):
    Y = random_labels(2000, 10, 0.2)
    for train, test in IterativeStratifiedShuffleSplit(
        3, test_size=test_size, random_state=0
    ).split(Y, Y):
        assert np.abs(Y[test].sum(axis=0) - test_size * Y.sum(axis=0)).max() < 1
        assert np.abs(Y[train].sum(axis=0) - (1 - test_size) * Y.sum(axis=0)).max() < 1


# The numerics, against slow words


def fill_by_one(desire, room, count, step, ties):
    """Run the paper's loop: each row goes to the fold of largest desire, room, and first tie."""
    desire, room, filled = desire.tolist(), room.tolist(), [0] * len(room)
    for _ in range(count):
        open_folds = [fold for fold in range(len(room)) if room[fold] > 0]
        best = max(open_folds, key=lambda fold: (desire[fold], room[fold], -ties[fold]))
        desire[best] -= step
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
    step = data.draw(st.integers(1, 7))
    ties = np.array(data.draw(st.permutations(range(n_folds))))
    expected = fill_by_one(desire, room, count, step, ties)
    assert fill(desire, room, count, step, ties).tolist() == expected


@given(label_matrices(), st.data())
def test_pairs_are_columns_that_two_rows_share(Y, data):
    expected = [Y[:, i] * Y[:, j] for i, j in combinations(range(Y.shape[1]), 2)]
    expected = [column for column in expected if column.sum() > 1]
    actual = label_pairs(scipy.sparse.csr_array(Y)).toarray()
    assert actual.shape == (len(Y), len(expected))
    np.testing.assert_array_equal(actual.T, np.array(expected).reshape(-1, len(Y)))


@given(label_matrices(max_rows=20), st.integers(2, 4), st.booleans())
def test_no_swap_is_left_that_would_gain(Y, n_folds, grouped):
    """By trying all: sums of squared deviations, sizes among them where groups may move."""
    member = np.arange(len(Y)) // 2 if grouped else None
    units = make_units(scipy.sparse.csr_array(Y), member, 1)
    counts = np.c_[units.counts.toarray(), units.sizes]
    weights = np.ones(n_folds, dtype=np.int64)
    quotas = np.full(n_folds, len(Y) // n_folds)
    quotas[: len(Y) % n_folds] += 1
    before = np.arange(len(counts)) % n_folds  # as a careless dealer would
    dealt = deal(units, weights, quotas, np.random.RandomState(0))

    def objective(fold):
        share = counts.sum(axis=0) / n_folds
        return ((fold_counts(counts, fold, n_folds) - share) ** 2).sum()

    for start in (before, dealt):
        after = improve(start, units, weights)
        assert objective(after) <= objective(start) + 1e-9
        if not grouped:
            np.testing.assert_array_equal(
                np.bincount(after, minlength=n_folds), np.bincount(start, minlength=n_folds)
            )
        for a, b in combinations(range(len(counts)), 2):
            swapped = after.copy()
            swapped[[a, b]] = after[[b, a]]
            assert objective(swapped) >= objective(after) - 1e-6


# Inside scikit-learn


@pytest.mark.parametrize("routing", [False, True])
@both
def test_groups_reach_the_splitter(splitter, routing):
    rng = np.random.default_rng(0)
    X, Y, groups = rng.normal(size=(60, 4)), random_labels(60, 3, 0.3), np.arange(60) // 5
    with sklearn.config_context(enable_metadata_routing=routing):
        passed = {"params": {"groups": groups}} if routing else {"groups": groups}
        model = CMLLClassifier()
        model = model.set_fit_request(groups=False) if routing else model
        indices = cross_validate(
            model, X, Y, cv=splitter(3, random_state=0), return_indices=True, **passed
        )["indices"]
    for train, test in zip(indices["train"], indices["test"], strict=True):
        assert not set(groups[train]) & set(groups[test])


@both
def test_what_scikit_learn_expects_of_a_splitter(splitter):
    made = splitter(7, order=2, random_state=3)
    assert made.get_n_splits() == 7
    again = pickle.loads(pickle.dumps(sklearn.clone(made, safe=False)))
    assert repr(again) == repr(made)
    assert "order=2" in repr(made)
    assert "n_splits=7" in repr(made)
    assert splitter().get_n_splits() == {"IterativeStratification": 5}.get(splitter.__name__, 10)


# Refusals


LABELS = np.tile([[1, 0], [0, 1], [1, 1]], (4, 1))
REFUSED = [
    ({"n_splits": 1.5}, LABELS, None, "'n_splits' of .* must be an integer"),
    ({"order": 3}, LABELS, None, "'order' of .* must be an integer >= 1 and <= 2; got 3"),
    ({"random_state": "seed"}, LABELS, None, "'random_state' of .* must be None, an integer"),
    ({}, None, None, r"split requires y to be passed.*pass the labels"),
    ({}, np.where(LABELS, np.nan, 0.0), None, "Y contains NaN"),
    ({}, LABELS[:-1], None, "as many rows as each other, and have 12 and 11"),
    ({}, LABELS, np.arange(11), r"one entry for each of the 12 rows, and has shape \(11,\)"),
    ({}, LABELS, [None, *"abcdefghijk"], "entries of one kind"),
]  # fmt: skip


@both
@pytest.mark.parametrize(("parameters", "y", "groups", "message"), REFUSED)
def test_refusals_of_both(splitter, parameters, y, groups, message):
    with pytest.raises(ValueError, match=message):
        next(splitter(**({"n_splits": 3} | parameters)).split(np.zeros((12, 1)), y, groups))


@pytest.mark.parametrize(
    ("parameters", "groups", "message"),
    [
        ({"n_splits": 1}, None, "must be an integer >= 2; got 1"),
        ({"n_splits": 13}, None, "n_splits=13 folds .* of the rows .* given 12; lower n_splits"),
        ({"n_splits": 4}, [0, 1, 2] * 4, "n_splits=4 .* of the groups .* given 3; lower n_splits"),
        ({"shuffle": 1}, None, "'shuffle' of .* must be True or False"),
        ({"shuffle": False, "random_state": 1}, None, "nothing is random, and random_state=1"),
    ],
    ids=str,
)
def test_refusals_of_folds(parameters, groups, message):
    with pytest.raises(ValueError, match=message):
        next(IterativeStratification(**parameters).split(LABELS, LABELS, groups))


@pytest.mark.parametrize(
    ("parameters", "groups", "message"),
    [
        ({"n_splits": 0}, None, "must be an integer >= 1; got 0"),
        ({"test_size": 1.0}, None, "'test_size' of .* must be None, .* < 1 or an integer >= 1"),
        ({"train_size": 0}, None, "'train_size' of .* must be None"),
        ({"test_size": 12}, None, "at least 1 row in each part .* ask for 0 and 12; change"),
        ({"test_size": 0.6, "train_size": 0.6}, None, "within the 12 rows, .* ask for 7 and 8"),
        ({"test_size": 0.5}, [0] * 12, "2 parts and needs at least one .* given 1; pass rows"),
    ],
    ids=str,
)
def test_refusals_of_random_splits(parameters, groups, message):
    with pytest.raises(ValueError, match=message):
        next(IterativeStratifiedShuffleSplit(**parameters).split(LABELS, LABELS, groups))


def test_too_many_pairs_are_refused_before_they_are_made():
    Y = scipy.sparse.csr_array(np.ones((2, 1), dtype=int))
    huge = scipy.sparse.csr_array(
        (np.ones(10_000_000, dtype=np.int8), np.arange(10_000_000), [0, 10_000_000, 10_000_000]),
        shape=(2, 10_000_000),
    )
    assert label_pairs(Y).shape == (2, 0)
    with pytest.raises(MemoryError, match=r"49999995000000 pairs .* Use order=1"):
        next(IterativeStratification(2, order=2, random_state=0).split(None, huge))
