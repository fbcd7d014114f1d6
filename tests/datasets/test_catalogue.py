import gzip
import re
from importlib.resources import files

import numpy as np
import pytest
from scipy import sparse

from compactlearn.datasets import is_available, list_datasets, load, read_arff
from compactlearn.datasets.catalogue import data_folder

TOY = "@relation r\n@attribute x numeric\n@attribute y {0,1}\n@data\n"

# name, rows, features, labels, mean labels per row, different label sets: measured on the files by
# an independent parser.
MEASURED = [
    ("bibtex", 7395, 1836, 159, 2.4019, 2856),
    ("cal500", 502, 68, 174, 26.0438, 502),
    ("corel5k", 5000, 499, 374, 3.5220, 3175),
    ("delicious", 16105, 500, 983, 19.0200, 15806),
    ("emotions", 593, 72, 6, 1.8685, 27),
    ("enron", 1702, 1001, 53, 3.3784, 753),
    ("flags", 194, 19, 7, 3.3918, 54),
    ("genbase", 662, 1185, 27, 1.2523, 32),  # 1186 with the identifier of the row
    pytest.param("imdb", 120919, 1001, 28, 1.9997, 4503, marks=pytest.mark.slow),
    ("llog", 1460, 1004, 75, 1.1801, 304),
    pytest.param("mediamill", 43907, 120, 101, 4.3756, 6555, marks=pytest.mark.slow),
    ("medical", 978, 1449, 45, 1.2454, 94),
    ("plant", 978, 440, 12, 1.0787, 32),
    ("scene", 2407, 294, 6, 1.0740, 15),
    ("tmc2007-500", 28596, 500, 22, 2.1579, 1341),
    ("yeast", 2417, 103, 14, 4.2371, 198),
]


@pytest.mark.parametrize(("name", "rows", "features", "labels", "cardinality", "sets"), MEASURED)
def test_real_sets_have_their_known_counts(
    shared_datasets, name, rows, features, labels, cardinality, sets
):
    data = load(name, data_home=shared_datasets)
    assert (data.n_samples, data.n_features, data.n_labels) == (rows, features, labels)
    assert data.cardinality == pytest.approx(cardinality, abs=5e-5)
    assert data.n_label_sets == sets
    assert np.isfinite(data.X.data if sparse.issparse(data.X) else data.X).all()
    assert data.name == name


def test_every_set_of_the_catalogue_is_measured():
    measured = [getattr(row, "values", row)[0] for row in MEASURED]
    assert measured == list_datasets()


def test_enron_holds_the_rows_of_the_original_file(shared_datasets):
    folder = shared_datasets / "enron"
    original = read_arff(folder / "enron.arff.xz", folder / "enron.xml")
    packaged = load("enron")
    assert packaged.Y.shape == original.Y.shape

    def rows(data):  # the package has the training rows first, the file has another order
        cells = sparse.hstack([data.X, data.Y]).toarray()
        return sorted(row.tobytes() for row in cells.astype(np.int8))

    assert rows(packaged) == rows(original)
    assert set(original.X.data) == {1.0}


def test_emotions_holds_the_rows_of_the_original_file(shared_datasets):
    folder = shared_datasets / "emotions"
    original = read_arff(folder / "emotions.arff.xz", folder / "emotions.xml")
    packaged = load("emotions")
    np.testing.assert_array_equal(packaged.X, original.X)
    np.testing.assert_array_equal(packaged.Y, original.Y.toarray())


def test_columns_named_by_xml_or_by_position_are_the_same(shared_datasets):
    """The XML of enron lists the labels in another order than the columns."""
    folder = shared_datasets / "enron"
    by_name = read_arff(folder / "enron.arff.xz", folder / "enron.xml")
    by_position = read_arff(folder / "enron.arff.xz", -53)
    assert by_name.label_names == by_position.label_names
    assert (by_name.Y != by_position.Y).nnz == 0


@pytest.mark.parametrize(("name", "n_train"), [("enron", 1123), ("emotions", 391)])
def test_packaged_sets_need_no_folder(tmp_path, monkeypatch, name, n_train):
    monkeypatch.setenv("COMPACTLEARN_DATA", str(tmp_path / "absent"))
    data = load(name.upper())
    assert is_available(name)
    assert data.n_train == n_train
    assert data.feature_names is None
    assert data.label_names is None
    assert "scikit-multilearn 0.0.1 (BSD licence)" in data.source
    assert data.X.dtype == np.float64
    assert data.Y.dtype == np.int64


def test_packaged_containers():
    enron, emotions = load("enron"), load("emotions")
    assert isinstance(enron.X, sparse.csr_array)
    assert isinstance(enron.Y, sparse.csr_array)
    assert enron.X.indices.dtype == np.int32, "what scikit-learn's compiled parts expect"
    assert enron.X.has_canonical_format
    assert isinstance(emotions.X, np.ndarray)
    assert isinstance(emotions.Y, np.ndarray)


def test_provenance_travels_with_the_data():
    text = (files("compactlearn.datasets") / "data" / "README.md").read_text()
    assert "scikit-multilearn 0.0.1" in text
    assert "BSD" in text


def test_label_counts_do_not_wrap_around():
    """More than 127 rows share a label: a one-byte product would be wrong."""
    Y = load("enron").Y
    np.testing.assert_array_equal((Y.T @ Y).diagonal(), Y.sum(axis=0))
    assert (Y.T @ Y).max() > 127


def test_parts_are_stacked_in_order_and_may_be_compressed(tmp_path):
    folder = tmp_path / "scene"
    folder.mkdir()
    (folder / "scene.xml").write_text('<labels><label name="y"/></labels>')
    (folder / "scene-train.arff").write_text(TOY + "1,1\n" * 1211)
    assert not is_available("scene", tmp_path)
    (folder / "scene-test.arff.gz").write_bytes(gzip.compress((TOY + "2,0\n3,1\n").encode()))
    assert is_available("scene", tmp_path)
    train, test = load("scene", tmp_path).split()
    assert train.n_samples == 1211
    np.testing.assert_array_equal(test.X, [[2], [3]])
    np.testing.assert_array_equal(test.Y.toarray(), [[0], [1]])
    assert test.label_names == ("y",)


def test_the_folder_is_the_argument_then_the_variable_then_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPACTLEARN_DATA", str(tmp_path / "variable"))
    assert data_folder(tmp_path / "argument") == tmp_path / "argument"
    assert data_folder() == tmp_path / "variable"
    monkeypatch.delenv("COMPACTLEARN_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert data_folder() == tmp_path / "cache" / "compactlearn"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert data_folder() == tmp_path / ".cache" / "compactlearn"


def test_an_unknown_name_is_answered_with_the_nearest():
    message = "must be asked for by one of the names bibtex, cal500, .*; got 'enrom'. Use one"
    with pytest.raises(ValueError, match=message) as caught:
        load("enrom")
    assert str(caught.value).endswith("Did you mean 'enron'?")
    with pytest.raises(ValueError, match="got 5"):
        load(5)


def test_a_missing_file_is_answered_with_its_place(tmp_path):
    message = f"'yeast' needs the file yeast.xml (or a .xz, .bz2 or .gz of it) in {tmp_path}"
    with pytest.raises(FileNotFoundError, match=re.escape(message)) as caught:
        load("yeast", tmp_path)
    assert "COMPACTLEARN_DATA" in str(caught.value)
    assert not is_available("yeast", tmp_path)
