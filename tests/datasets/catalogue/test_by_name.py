import gzip
import hashlib
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from compactlearn.datasets import (
    Entry,
    data_folder,
    describe,
    fetch,
    is_available,
    list_datasets,
    load,
    read,
)
from compactlearn.datasets._catalogue.by_name import load_from
from compactlearn.datasets._catalogue.files import FetchError
from compactlearn.datasets._catalogue.known_sets import Expected, File

TOY = "@relation r\n@attribute x numeric\n@attribute y {0,1}\n@data\n"

SLOW = ("imdb", "mediamill")
WITH_FILES = [
    pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else [])
    for name in list_datasets()
    if describe(name).files and describe(name).format != "texts"
]


@pytest.mark.parametrize("name", WITH_FILES)
def test_real_sets_have_the_checksums_and_counts_of_the_registry(shared_datasets, name):
    """The counts were measured by an independent parser."""
    data = load_from(describe(name), shared_datasets / name)
    assert np.isfinite(data.X.data if sparse.issparse(data.X) else data.X).all()
    assert describe(name).expected.differences(data) == []
    assert data.name == name


@pytest.mark.parametrize("name", ["bibtex", "plant", "scene", "yeast"])
def test_label_columns_and_label_file_agree(shared_datasets, name):
    entry = describe(name)
    by_name = load(name, shared_datasets, download=False)
    unnamed = tuple(file for file in entry.files if file.role == "rows")
    by_position = load_from(replace(entry, files=unnamed), shared_datasets / name)
    assert by_name.label_names == by_position.label_names


@pytest.mark.parametrize("name", ["enron", "emotions"])
def test_packaged_names_belong_to_their_columns(shared_datasets, name):
    """With the original's columns put in the order of the packaged names, the rows are the same."""
    folder = shared_datasets / name
    original = read(folder / f"{name}.arff.xz", folder / f"{name}.xml")
    packaged = load(name)
    features = [original.feature_names.index(word) for word in packaged.feature_names]
    labels = [original.label_names.index(word) for word in packaged.label_names]

    def rows(X, Y):
        cells = np.hstack([sparse.csr_array(X).toarray(), sparse.csr_array(Y).toarray()])
        return sorted(row.tobytes() for row in cells)

    assert rows(packaged.X, packaged.Y) == rows(original.X[:, features], original.Y[:, labels])


def test_the_labels_of_emotions_have_their_published_counts():
    """As its authors give them (Trohidis, Tsoumakas, Kalliris and Vlahavas, ISMIR 2008)."""
    data = load("emotions")
    assert dict(zip(data.label_names, data.Y.sum(axis=0).tolist(), strict=True)) == {
        "amazed-suprised": 173,
        "happy-pleased": 166,
        "relaxing-calm": 264,
        "quiet-still": 148,
        "sad-lonely": 168,
        "angry-aggresive": 189,
    }


@pytest.mark.parametrize(("name", "n_train"), [("enron", 1123), ("emotions", 391)])
def test_packaged_sets_need_no_folder(tmp_path, monkeypatch, name, n_train):
    monkeypatch.setenv("COMPACTLEARN_DATA", str(tmp_path / "absent"))
    data = load(name.upper())
    assert is_available(name)
    assert data.n_train == n_train
    assert len(set(data.feature_names)) == data.n_features
    assert len(set(data.label_names)) == data.n_labels
    assert "scikit-multilearn 0.0.1 (BSD licence)" in data.source
    assert (data.X.dtype, data.Y.dtype) == (np.float64, np.int64)
    assert [*map(sparse.issparse, (data.X, data.Y))] == [name == "enron"] * 2


def known(name, content, role="rows"):
    return File(name, role, len(content), hashlib.sha256(content).hexdigest())


TRAIN, TEST = ((TOY + rows).encode() for rows in ("1,1\n" * 3, "2,0\n3,1\n"))
XML = b'<labels><label name="y"/></labels>'
TOY_ENTRY = Entry(
    "toy",
    Expected(samples=5, features=1, labels=1),
    format="arff",
    files=(known("train.arff", TRAIN), known("test.arff", TEST), known("toy.xml", XML, "labels")),
    n_train=3,
)


@pytest.fixture
def toy(tmp_path):
    (tmp_path / "train.arff").write_bytes(TRAIN)
    (tmp_path / "test.arff.gz").write_bytes(gzip.compress(TEST))
    (tmp_path / "toy.xml").write_bytes(XML)
    return tmp_path


def test_parts_are_stacked_in_order_and_may_be_compressed(toy):
    data = load_from(TOY_ENTRY, toy)
    assert data.source == f"{toy / 'train.arff'}, {toy / 'test.arff.gz'}"
    train, test = data.split()
    assert train.n_samples == 3
    np.testing.assert_array_equal(test.X, [[2], [3]])
    np.testing.assert_array_equal(np.asarray(test.Y.todense()), [[0], [1]])
    assert test.label_names == ("y",)


@pytest.mark.parametrize("file", ["train.arff", "test.arff.gz", "toy.xml"])
def test_a_changed_file_is_refused(toy, file):
    content = bytearray((toy / file).read_bytes())
    content[-2] ^= 1
    (toy / file).write_bytes(bytes(content))
    original = file.removesuffix(".gz")
    message = f"{file} must have the content that the registry knows as {original} (SHA-256"
    with pytest.raises(ValueError, match=re.escape(message)):
        load_from(TOY_ENTRY, toy)


def test_what_is_not_the_set_is_refused(toy):
    with pytest.raises(ValueError, match=r"'toy' must have the counts .* has 5 rows instead of 6;"):
        load_from(replace(TOY_ENTRY, expected=Expected(samples=6)), toy)
    (toy / "test.arff.gz").write_bytes(gzip.compress(bytes(1 << 24)))  # more than the original
    with pytest.raises(ValueError, match="must have the content"):
        load_from(TOY_ENTRY, toy)


def test_parts_with_other_columns_are_refused(toy):
    other = TEST.replace(b"@data", b"@attribute z numeric\n@data").replace(b"\n2,0", b"\n2,0,1")
    other = other.replace(b"\n3,1", b"\n3,1,1")
    (toy / "test.arff.gz").write_bytes(gzip.compress(other))
    train, _, xml = TOY_ENTRY.files
    entry = replace(TOY_ENTRY, files=(train, known("test.arff", other), xml))
    with pytest.raises(ValueError, match=r"must have the same columns, but .* has 1 features and"):
        load_from(entry, toy)


def test_llog_as_in_the_paper_lacks_one_label(shared_datasets):
    whole = load("llog", shared_datasets, download=False)
    paper = load("llog-paper", shared_datasets, download=False)
    assert set(whole.label_names) - set(paper.label_names) == {"Humor"}
    kept = [whole.label_names.index(name) for name in paper.label_names]
    assert kept == sorted(kept)
    assert (whole.Y[:, kept] != paper.Y).nnz == 0
    assert (whole.X != paper.X).nnz == 0
    assert paper.source.endswith("; without the labels Humor")


def test_the_rows_of_a_subset_are_the_same_everywhere(shared_datasets):
    """The registry holds the counts of this draw; the first rows are frozen here (NumPy 2.4.6)."""
    whole = load("bibtex", shared_datasets, download=False)
    paper = load("bibtex-paper", shared_datasets, download=False)
    order = np.random.Generator(np.random.PCG64(0)).permutation(7395)[:5000]
    assert order[:5].tolist() == [4861, 2675, 49, 4999, 1992]
    assert (whole.X[np.sort(order)] != paper.X).nnz == 0
    assert (whole.Y[np.sort(order)] != paper.Y).nnz == 0
    assert paper.name == "bibtex-paper"
    assert paper.source.endswith("; 5000 rows drawn with seed 0")


@pytest.mark.parametrize("name", ["msra", "eurlex-sm", "bookmarks-paper"])
def test_a_set_without_address_must_be_added(tmp_path, name):
    base = name.removesuffix("-paper")
    message = f"'{base}' must be added once, .*; run: compactlearn datasets add {base} FILE"
    for action in (load, fetch):
        with pytest.raises(FileNotFoundError, match=message):
            action(name, tmp_path)
    assert not is_available(name, tmp_path)


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


def test_the_error_of_an_unknown_name_suggests_the_nearest():
    message = "must be asked for by one of the names bibtex, bibtex-paper, .*; got 'enrom'. Use one"
    with pytest.raises(ValueError, match=message) as caught:
        load("enrom")
    assert str(caught.value).endswith("Did you mean 'enron'?")
    with pytest.raises(ValueError, match="got 5"):
        load(5)


def test_the_error_of_a_missing_file_names_its_folder(tmp_path):
    message = f"'yeast' needs the file yeast.arff (or a .xz, .bz2 or .gz of it) in {tmp_path}"
    with pytest.raises(FileNotFoundError, match=re.escape(message)) as caught:
        load("yeast", tmp_path, download=False)
    file = describe("yeast").files[0]
    for words in ("not allowed", "COMPACTLEARN_DATA", file.sha256, str(file.bytes), file.origin):
        assert words in str(caught.value)
    assert not is_available("yeast", tmp_path)
    assert not list(tmp_path.iterdir())


def test_without_a_network_the_reason_is_given_too(tmp_path, monkeypatch):
    def offline(*_):
        raise FetchError("https://somewhere: no route to host")

    monkeypatch.setattr("compactlearn.datasets._catalogue.files.fetch_file", offline)
    with pytest.raises(FileNotFoundError, match=r"not be fetched \(https://somewhere: no route"):
        load("yeast", tmp_path)
    with pytest.raises(FileNotFoundError, match="no address is known to fetch it from; put it"):
        load("corel16k", tmp_path)


def test_is_available_looks_for_every_file(tmp_path, shared_datasets):
    assert is_available("scene", shared_datasets)
    assert len(fetch("scene", shared_datasets)) == 3
    folder = tmp_path / "scene"
    folder.mkdir()
    for name in ("scene.xml", "scene-train.arff"):
        (folder / name).touch()
        assert not is_available("scene", tmp_path)
    (folder / "scene-test.arff.gz").touch()
    assert is_available("scene", tmp_path)
