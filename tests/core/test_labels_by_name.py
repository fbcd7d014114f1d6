"""Labels by name become the matrix that they spell, and what spells none is refused in words."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import MultiLabelBinarizer

from compactlearn.core._labels_by_name import names_in_order, read_labels_by_name
from compactlearn.core._targets import Targets, check_targets

WORDS = st.text(alphabet="abcdé ;,|-0", min_size=1, max_size=4).filter(str.strip)
ROWS = st.lists(st.lists(WORDS, max_size=5), min_size=1, max_size=12)


def literal(rows):
    """Names in order and the matrix, cell by cell."""
    names = sorted({name for row in rows for name in row})
    return names, np.array([[float(name in row) for name in names] for row in rows])


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
    """However many blanks and empty places there are, a name is what stands between the signs."""
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
    """Rows may lack names, and columns may stand in any order: cells are by name."""
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
        [[True, False], [False, True]],
        [[0.0, np.nan], [1.0, 0.0]],
        [[None, 1], [0, 1]],
        np.eye(3),
        sp.csr_array(np.eye(3)),
        pd.DataFrame({"a": [0, 1], "b": [1, 1]}),
        pl.DataFrame({"a": [0, 1], "b": [1, 1]}),
        ["jazz", "blues"],
        ("jazz", "blues"),
        np.array(["jazz", "blues"]),
        pd.Series(["jazz", "blues"]),
        pl.Series([1, 2]),
        [3, 4],
        [[0, 1], [1]],
        np.array([["jazz", "blues"], ["folk", "soul"]]),
        {"jazz": [0, 1]},
        "jazz",
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


def test_a_name_counts_once():
    found = read_labels_by_name([["a", "a", "b", "a"]])
    np.testing.assert_array_equal(found.matrix.toarray(), [[1, 1]])


REFUSED = {
    "a string among lists": ([["a"], "b"], r"list.*row 1 is the string 'b'.*\['b'\].*sep"),
    "None among lists": ([["a"], None], r"row 1 is None.*an empty list"),
    "NaN among lists": (pd.Series([["a"], np.nan]), r"row 1 is nan.*an empty list"),
    "a number among lists": ([["a"], 3], r"row 1 is 3, of the type int.*a list of names"),
    "None in a list": ([["a"], ["b", None]], r"string or a whole number.*row 1 .*None.*leave it"),
    "NaN in a list": ([["a"], [np.nan]], r"row 1 .*nan"),
    "a float in a set": ([{"a"}, {1.5}], r"row 1 .*1\.5.*write it as a string"),
    "a bool in a set": ([{True, False}], r"string or a whole number"),
    "a list in a list": ([["a"], [["b"]]], r"row 1 .*\[\['b'\]\].*one flat list"),
    "words and numbers": ([["a"], [3]], r"mixture.*'a' and 3.*as strings"),
}


@pytest.mark.parametrize(("Y", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(Y, said):
    with pytest.raises(ValueError, match=said):
        read_labels_by_name(Y)


SEPARATED = {
    "no sign": (["a"], "", r"sep must be .*';'.*is ''"),
    "a number": (["a"], 3, r"sep must be .*is 3"),
    "lists": ([["a"]], ";", r"row 0 is \['a'\].*leave sep out"),
    "None": (["a", None], ";", r"row 1 is None.*''"),
    "NaN": (pd.Series(["a", np.nan]), ";", r"row 1 is nan.*''"),
    "a matrix": (np.eye(2), ";", r"column of strings.*ndarray of shape \(2, 2\).*leave sep out"),
    "a frame": (pd.DataFrame(np.eye(2)), ";", r"DataFrame of shape \(2, 2\)"),
}


@pytest.mark.parametrize(("Y", "sep", "said"), SEPARATED.values(), ids=SEPARATED.keys())
def test_refused_with_a_separator(Y, sep, said):
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


def test_as_scikit_learn_has_it():
    rng = np.random.default_rng(0)
    rows = [[f"name {k}" for k in rng.choice(300, rng.integers(0, 9))] for _ in range(500)]
    theirs = MultiLabelBinarizer(sparse_output=True)
    expected = theirs.fit_transform(rows)
    found = read_labels_by_name(rows)
    assert found.names == theirs.classes_.tolist()
    assert (found.matrix != expected).nnz == 0
