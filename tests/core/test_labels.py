"""Labels by name become the matrix that they spell, and anything else raises an error."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import MultiLabelBinarizer

from compactlearn.core._joined import SEPARATORS
from compactlearn.core._labels_by_name import names_in_order, read_labels_by_name
from compactlearn.core._targets import Targets, check_labels, check_targets

WORDS = st.text(alphabet="abcdé ;,|-0", min_size=1, max_size=4).filter(str.strip)
ROWS = st.lists(st.lists(WORDS, max_size=5), min_size=1, max_size=12)


def literal(rows):
    """Names in order and the matrix, by scikit-learn."""
    theirs = MultiLabelBinarizer()
    matrix = theirs.fit_transform(rows)
    return theirs.classes_.tolist(), matrix


@settings(max_examples=200, deadline=None)
@given(
    ROWS.filter(lambda rows: any(rows)), st.sampled_from([list, tuple, set, frozenset, np.array])
)
def test_matrix_of_names(rows, container):
    names, matrix = literal(rows)
    found = read_labels_by_name([container(row) for row in rows])
    assert found.names == names
    np.testing.assert_array_equal(found.matrix.toarray(), matrix)
    assert found.matrix.has_canonical_format
    assert set(found.matrix.data.tolist()) == {1.0}


@settings(max_examples=200, deadline=None)
@given(
    ROWS,
    st.sampled_from([";", ",", "|", " / ", "##", "\t"]),
    st.sampled_from(["", " ", "  "]),
    st.sampled_from([list, np.array, pd.Series, pl.Series, lambda y: pd.DataFrame({"tags": y})]),
)
def test_joined_names_come_apart(rows, sep, blank, container):
    """However many blanks and empty places there are, a name is what separators enclose."""
    rows = [[name.strip() for name in row if sep.strip() not in name] for row in rows]
    rows = [[name for name in row if name and not set(name) & set(sep)] for row in rows]
    rows.append(["last"])
    column = [f"{blank}{sep}{blank}".join(["", *row, ""]) for row in rows]
    names, matrix = literal(rows)
    found = read_labels_by_name(container(column), sep=sep)
    assert found.names == names
    np.testing.assert_array_equal(found.matrix.toarray(), matrix)


@settings(max_examples=100, deadline=None)
@given(ROWS.filter(lambda rows: any(rows)), st.randoms())
def test_known_names_keep_their_columns(rows, random):
    """Rows may lack names, and columns may be in any order: cells are by name."""
    names, matrix = literal(rows)
    known = [*names, "one that no row has"]
    random.shuffle(known)
    found = read_labels_by_name(rows, known=known)
    assert found.names == known
    np.testing.assert_array_equal(
        found.matrix.toarray()[:, [known.index(name) for name in names]], matrix
    )
    assert found.matrix.sum() == matrix.sum()


def test_whole_numbers_are_names_in_sets_and_in_rows_of_other_lengths():
    for rows in ([{10, 9}, {10}], [[10, 9], [10]], [np.array([10, 9]), np.array([10])]):
        found = read_labels_by_name(rows)
        assert found.names == ["9", "10"], "by their size, not by their spelling"
        np.testing.assert_array_equal(found.matrix.toarray(), [[1, 1], [0, 1]])
    assert names_in_order(np.array([3, 11, 3])) == ["3", "11"]


@pytest.mark.parametrize(
    "Y",
    [
        [[0, 1], [1, 1]],
        [[None, 1], [0, 1]],
        np.eye(3),
        sp.csr_array(np.eye(3)),
        pd.DataFrame({"a": [0, 1], "b": [1, 1]}),
        ["jazz", "blues"],
        pl.Series(["jazz", "blues"]),
        [3, 4],
        [[0, 1], [1]],
        np.array([["jazz", "blues"], ["folk", "soul"]]),
        {"jazz": [0, 1]},
        iter([["jazz"]]),
        [],
    ],
    ids=lambda Y: f"{type(Y).__module__}.{type(Y).__name__}",
)
def test_what_is_no_list_of_names(Y):
    assert read_labels_by_name(Y) is None


def test_a_row_of_empty_lists_needs_known_names():
    with pytest.raises(ValueError, match=r"no label at all.*at least one row"):
        read_labels_by_name([[], []])
    assert read_labels_by_name([[], []], known=["a", "b"]).matrix.shape == (2, 2)


def test_blank_names_are_dropped():
    """As in "".split(";"), which is [""]."""
    found = read_labels_by_name([[""], ["a", "  ", "b"], [], ["b", ""]])
    assert found.names == ["a", "b"]
    np.testing.assert_array_equal(found.matrix.toarray(), [[0, 0], [1, 1], [0, 0], [0, 1]])
    assert read_labels_by_name([[""], ["a"]], known=["a"]).matrix.sum() == 1


SEVERAL = "all strings or all whole numbers, in one flat list"
REFUSED = {
    "a string among lists": ([["a"], "b"], None, r"row 1 is 'b' \(str\); write \['b'\].*sep"),
    "None among lists": ([["a"], None], None, r"row 1 is None.*an empty one"),
    "NaN among lists": (pd.Series([["a"], np.nan]), None, r"row 1 is nan.*an empty one"),
    "None in a list": ([["a"], ["b", None]], None, f"{SEVERAL}.*row 1 holds None; leave it"),
    "a bool in a set": ([{True, False}], None, SEVERAL),
    "a list in a list": ([["a"], [["b"]]], None, rf"{SEVERAL}.*row 1 holds \[\['b'\]\]"),
    "words and numbers": ([["a"], [3]], None, f"{SEVERAL}.*row 1 holds 3.*as strings"),
    "no sign": (["a"], "", r"sep must be .*';'.*is ''"),
    "a number as a sign": (["a"], 3, r"sep must be .*is 3"),
    "lists to split": ([["a"]], ";", r"row 0 is \['a'\].*leave sep out"),
    "None to split": (["a", None], ";", r"''.*row 1 is None"),
    "a matrix to split": (np.eye(2), ";", r"column of strings.*ndarray of shape \(2, 2\)"),
}


@pytest.mark.parametrize(("Y", "sep", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(Y, sep, said):
    with pytest.raises(ValueError, match=said):
        read_labels_by_name(Y, sep=sep)


def test_unknown_names_are_named_and_counted():
    rows = [[f"new {k}" for k in range(8)], ["old"]]
    with pytest.raises(ValueError, match=r"knows the 1 labels.*'new 0'.*'new 4' and 3 more; leave"):
        read_labels_by_name(rows, known=["old"], owner="evaluate")


def test_names_for_columns_that_have_none():
    with pytest.raises(ValueError, match=r"columns without names; pass a 0/1 matrix"):
        read_labels_by_name([["a"]], known=())
    with pytest.raises(ValueError, match=r"several columns of fit have the same name"):
        read_labels_by_name([["a"]], known=["a", "a"])


def test_targets_of_names():
    rows = [["b", "a"], [], ["a"]]
    targets = check_targets(rows, 3)
    assert (targets.kind, targets.names, targets.by_name) == ("multilabel", ["a", "b"], True)
    np.testing.assert_array_equal(targets.classes, ["a", "b"])
    assert check_targets(targets, 3) is targets, "read once"
    part = targets.take([2, 0])
    assert isinstance(part, Targets)
    np.testing.assert_array_equal(part.matrix.toarray(), [[1, 0], [1, 1]])
    assert part.names == ["a", "b"]
    for wrong in (rows, targets):
        with pytest.raises(ValueError, match=r"have 4 and 3"):
            check_targets(wrong, 4)


def test_labels_are_unknown_where_they_are_nan_or_marked():
    Y = np.array([[1.0, np.nan, 0.0], [7.0, 1.0, 1.0]])
    marks = np.array([[0, 0, 1], [1, 0, 1]])
    for form in (np.asarray, sp.csr_array, pd.DataFrame):
        found = check_labels(form(Y), 2, unknown=form(marks) if form is not pd.DataFrame else marks)
        np.testing.assert_array_equal(found.matrix.toarray(), [[1, 0, 0], [0, 1, 0]])
        np.testing.assert_array_equal(found.unknown.toarray(), [[0, 1, 1], [1, 0, 1]])
        np.testing.assert_array_equal(
            found.truth.toarray(), [[1, np.nan, np.nan], [np.nan, 1, np.nan]]
        )


# ---- joined labels that were meant to be several ------------------------------------------------


def warnings_of(y):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_targets(y, len(y))
    return [str(w.message) for w in caught if "joined by" in str(w.message)]


@settings(max_examples=60, deadline=None)
@given(
    n_labels=st.integers(2, 12),
    separator=st.sampled_from(SEPARATORS),
    blank=st.sampled_from(["", " "]),
    seed=st.integers(0, 2**16),
)
def test_joined_labels_are_named_and_the_remedy_reads_them(n_labels, separator, blank, seed):
    rng = np.random.default_rng(seed)
    rows = [[f"word{j}" for j in np.flatnonzero(rng.random(n_labels) < 0.3)] for _ in range(60)]
    rows += [[f"word{j}"] for j in range(n_labels)] + [["word0", "word1"]] * 10
    y = [f"{blank}{separator}{blank}".join(rng.permutation(row)) for row in rows]
    (message,) = warnings_of(y)
    assert f"fit(X, y, sep={separator!r})" in message
    names, matrix = literal(rows)
    found = check_targets(y, len(y), sep=separator)
    assert found.names == names
    np.testing.assert_array_equal(found.matrix.toarray(), matrix)


@pytest.mark.parametrize(
    "names",
    [
        ["Korea, North", "Korea, South", "Congo, Republic", "Congo, Democratic Republic", "Chad"],
        ["Smith, John", "Smith, Anna", "Jones, John", "Jones, Anna", "Brown, John"],
        ["Paris, France", "Lyon, France", "Bonn, Germany", "Ulm, Germany"],
        ["bear", "polar bear", "brown bear", "sea lion", "lion", "sea"],
        ["rock-n-roll", "jazz", "drum-and-bass", "hip-hop", "trip-hop"],
        ["yes", "no", "yes, but later"],
        ["1,5", "2,5", "3,5", "4,0", "5,0"],
        [*["jazz", "blues"] * 10, "jazz;blues"],
        [1, 2, 3],
    ],
    ids=lambda names: str(names[0]),
)
@pytest.mark.parametrize("times", [1, 10])
def test_ordinary_names_are_left_alone(names, times):
    assert warnings_of(names * times) == []
