"""Rows for a model: its columns in its order, whatever their order in the file."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlearn.datasets import (
    Dataset,
    ModelColumns,
    arranged,
    read_for_model,
    write_arff,
    write_parquet,
    write_xmlrepo,
)
from tests.datasets.matrices import dense

FILMS = ModelColumns(3, 2, ("minutes", "year", "stars"), ("funny", "sad"))
X = np.array([[96.0, 2009, 5], [170, 1995, 4], [88, 1988, 3.5]])
Y = np.array([[1, 1], [0, 1], [1, 0]])


@given(st.permutations(range(7)), st.booleans())
def test_the_order_of_a_table_does_not_matter(tmp_path_factory, order, tabs):
    """Columns that the model does not know, some of them no numbers, are left out."""
    names = [*FILMS.features, *FILMS.labels, "title", "colour"]
    d = "\t" if tabs else ","
    lines = [d.join(names[j] for j in order)]
    for x, y in zip(X, Y, strict=True):
        row = [*map(str, x), *map(str, y), "Up", "red"]
        lines.append(d.join(row[j] for j in order))
    path = tmp_path_factory.getbasetemp() / "films.csv"
    path.write_text("\n".join(lines) + "\n")
    found, labels = read_for_model(path, FILMS, with_labels=True)
    assert np.array_equal(dense(found), X)
    assert np.array_equal(dense(labels), Y)
    assert read_for_model(path, FILMS, with_labels=False)[1] is None


@pytest.mark.parametrize("ending", ["arff", "parquet", "txt"])
@pytest.mark.parametrize("with_labels", [True, False])
def test_what_was_written_for_fitting_can_be_predicted(ending, with_labels, tmp_path):
    data = Dataset(X=X, Y=Y, feature_names=FILMS.features, label_names=FILMS.labels)
    path = tmp_path / f"films.{ending}"
    {"arff": write_arff, "parquet": write_parquet, "txt": write_xmlrepo}[ending](data, path)
    found, labels = read_for_model(path, FILMS, with_labels=with_labels)
    assert np.array_equal(dense(found), X)
    assert labels is None if not with_labels else np.array_equal(dense(labels), Y)


def test_a_table_needs_no_labels(write):
    path = write("year,stars,minutes\n2009,5,96\n", "new.csv")
    found, _ = read_for_model(path, FILMS, with_labels=False)
    assert found.tolist() == [[96.0, 2009.0, 5.0]]
    with pytest.raises(
        ValueError, match=r"new\.csv: the model needs a column for each label.*'funny', 'sad'"
    ):
        read_for_model(path, FILMS, with_labels=True)


def test_one_column_is_a_table_too(write):
    path = write("minutes\n96\n88\n", "new.csv")
    found, _ = read_for_model(path, ModelColumns(1, 2, ("minutes",)), with_labels=False)
    assert found.tolist() == [[96.0], [88.0]]


def test_a_missing_feature_is_named(write):
    path = write("year,minutes\n2009,96\n", "new.csv")
    with pytest.raises(
        ValueError, match=r"each feature that it was fitted to.*none called 'stars'"
    ):
        read_for_model(path, FILMS, with_labels=False)


def test_a_model_without_names_goes_by_position(write):
    path = write("a,b,c\n1,2,3\n", "new.csv")
    found, _ = read_for_model(path, ModelColumns(3, 2), with_labels=False)
    assert found.tolist() == [[1.0, 2.0, 3.0]]
    with pytest.raises(ValueError, match="fitted to 2 features, but the file has 3"):
        read_for_model(path, ModelColumns(2, 2), with_labels=False)


@pytest.mark.parametrize(
    ("name", "text"), [("a.svm", "1:5\n1 3:1\n"), ("a.xmlrepo", "0:5\n1 2:1\n")]
)
def test_rows_of_pairs_have_the_width_of_the_model(name, text, write):
    """The width is that of the model even if indices are smaller or no row has a label."""
    columns = ModelColumns(4, 3)
    found, labels = read_for_model(write(text, name), columns, with_labels=True)
    assert dense(found).tolist() == [[5, 0, 0, 0], [0, 0, 1, 0]]
    assert dense(labels).tolist() == [[0, 0, 0], [0, 1, 0]]
    bare = write(text.replace("\n1 ", "\n "), name)
    assert dense(read_for_model(bare, columns, with_labels=False)[0]).shape == (2, 4)


def test_names_that_occur_twice_go_by_their_order_only():
    twice = Dataset(X=X, Y=Y, feature_names=("a", "a", "b"), label_names=("u", "v"), source="t.csv")
    same = ModelColumns(3, 2, ("a", "a", "b"), ("u", "v"))
    assert arranged(twice, same, with_labels=True)[0] is twice.X
    other = ModelColumns(3, 2, ("b", "a", "a"), ("u", "v"))
    with pytest.raises(ValueError, match="several features have the same one"):
        arranged(twice, other, with_labels=False)


def test_another_number_of_labels_is_refused():
    unnamed = Dataset(X=X, Y=Y, source="t.txt")
    with pytest.raises(ValueError, match=r"fitted to 3 labels, but the file has 2.*--labels"):
        arranged(unnamed, ModelColumns(3, 3), with_labels=True)


def test_labels_can_be_given_as_for_any_file(write):
    path = write("minutes,year,stars,f,s\n96,2009,5,1,1\n", "new.csv")
    columns = ModelColumns(3, 2, FILMS.features, None)
    found, labels = read_for_model(path, columns, -2, with_labels=True)
    assert (found.tolist(), dense(labels).tolist()) == ([[96.0, 2009.0, 5.0]], [[1, 1]])
