"""Joined labels are found out, ordinary class names are left in peace."""

import re
import string
import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import MultiLabelBinarizer

from compactlearn import CMLLClassifier, CMLLClassifierCV, POPClassifier
from compactlearn.core._joined import SEPARATORS
from compactlearn.core._targets import check_targets

WORDS = [f"{letter}word" for letter in string.ascii_lowercase]
AROUND = ["{}", "{} ", " {}", " {} "]


def warnings_of(y):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_targets(y, len(y))
    return [str(w.message) for w in caught if "joined by" in str(w.message)]


def label_rows(n_labels, n_rows, share, seed, *, empty=False):
    """Label sets as they come: every label by itself, at least one in a row unless told."""
    rng = np.random.default_rng(seed)
    present = rng.random((n_rows, n_labels)) < share
    if not empty:
        present[~present.any(axis=1), 0] = True
    return [[WORDS[j] for j in np.flatnonzero(row)] for row in present]


def suggested(message):
    return eval(re.search(r"fit\(X, y, sep=('.*')\)", message).group(1))


@settings(max_examples=150, deadline=None)
@given(
    n_labels=st.integers(2, 20),
    n_rows=st.integers(30, 120),
    mean=st.floats(1.0, 5.0),
    separator=st.sampled_from(SEPARATORS),
    around=st.sampled_from(AROUND),
    seed=st.integers(0, 2**16),
    empty=st.booleans(),
    shuffled=st.booleans(),
)
def test_joined_labels_are_named_and_the_line_mends_them(
    n_labels, n_rows, mean, separator, around, seed, empty, shuffled
):
    rows = label_rows(n_labels, n_rows, min(mean / n_labels, 0.7), seed, empty=empty)
    assume(sum(len(row) > 1 for row in rows) > 0.2 * n_rows)
    if shuffled:
        rng = np.random.default_rng(seed)
        rows = [[str(part) for part in rng.permutation(row)] for row in rows]
    y = [around.format(separator).join(row) for row in rows]
    assume(len(set(y)) > 2)
    (message,) = warnings_of(y)
    assert repr(separator)[1:-1] in message
    mended = check_targets(y, len(y), sep=suggested(message))
    names = MultiLabelBinarizer()
    np.testing.assert_array_equal(mended.matrix.toarray(), names.fit_transform(rows))
    assert mended.names == names.classes_.tolist()


@settings(max_examples=150, deadline=None)
@given(
    n_classes=st.integers(2, 60),
    n_rows=st.integers(10, 200),
    sign=st.sampled_from([", ", "-", " - ", " / ", " ", "; ", " | ", ","]),
    share=st.floats(0, 1),
    seed=st.integers(0, 2**16),
)
def test_names_with_a_sign_now_and_then_are_names(n_classes, n_rows, sign, share, seed):
    """Heads and tails are words of their own kinds: "Korea, South", "Congo, Republic of"."""
    rng = np.random.default_rng(seed)
    heads = [f"{word.title()}{number}" for word in WORDS[:13] for number in range(3)]
    names = set()
    while len(names) < n_classes:
        head = str(rng.choice(heads))
        names.add(f"{head}{sign}{rng.choice(WORDS[13:])}" if rng.random() < share else head)
        if len(names) > len(heads) - 2:
            share = 1.0
    names = sorted(names)
    y = [names[j] for j in np.r_[np.arange(n_classes), rng.integers(n_classes, size=n_rows)]]
    assert warnings_of(y) == []


@pytest.mark.parametrize(
    "names",
    [
        ["Iris setosa", "Iris versicolor", "Iris virginica"],
        ["Korea, North", "Korea, South", "Congo, Republic", "Congo, Democratic Republic", "Chad"],
        ["Smith, John", "Smith, Anna", "Jones, John", "Jones, Anna", "Brown, John"],
        ["Shirt, blue, XL", "Shirt, red, XL", "Shirt, blue, M", "Socks, blue, M", "Socks, red, M"],
        ["Paris, France", "Lyon, France", "Bonn, Germany", "Ulm, Germany"],
        ["bear", "polar bear", "brown bear", "sea lion", "lion", "sea"],
        ["rock-n-roll", "jazz", "drum-and-bass", "hip-hop", "trip-hop"],
        ["comp.graphics", "comp.windows", "sci.med", "sci.space"],
        ["yes", "no", "yes, but later"],
        ["a", "b"],
        ["1", "2", "3"],
        ["1,5", "2,5", "3,5", "4,0", "5,0"],
    ],
    ids=lambda names: names[0],
)
@pytest.mark.parametrize("times", [1, 10])
def test_ordinary_names(names, times):
    assert warnings_of(names * times) == []


def test_one_joined_row_among_many_is_left_alone():
    assert warnings_of(["jazz", "blues"] * 50 + ["jazz;blues"]) == []


def test_numbers_are_never_looked_at():
    assert warnings_of(np.arange(3).repeat(5)) == []
    assert warnings_of(np.array([1, 2, "x"] * 5, dtype=object).astype(str)) == []


@pytest.mark.parametrize("model", [CMLLClassifier(), POPClassifier(), CMLLClassifierCV(cv=2)])
@pytest.mark.filterwarnings("ignore:.*unique classes.*:UserWarning")
def test_fits_warn(model):
    X = np.random.default_rng(0).normal(size=(60, 4))
    y = [";".join(row) for row in label_rows(3, 60, 0.5, 0)]
    with pytest.warns(UserWarning, match=r"one class for each row.*joined by ';'.*sep=';'"):
        model.fit(X, y)
