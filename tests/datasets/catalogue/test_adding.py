"""Files handed over by a user: copied whole and counted, or refused and not kept."""

import gzip
import re

import pytest

from compactlearn.datasets import add, folder_of, is_available, load
from compactlearn.datasets._catalogue import known_sets as registry_module
from compactlearn.datasets._catalogue.known_sets import describe, parse_registry

XML = '<labels><label name="b"/><label name="a"/></labels>'
HEAD = "@relation r\n@attribute x numeric\n@attribute a {0,1}\n@attribute b {0,1}\n@data\n"
ENTRY = """
[toy]
expected = { samples = 3, features = 1, labels = 2, cardinality = 1.33, distinct = 3 }
[toy-paper]
of = "toy"
subset = { rows = 2, seed = 0 }
expected = { samples = 2 }
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A data folder, and a registry with one set that nobody can fetch."""
    entries = {**registry_module.registry(), **parse_registry(ENTRY)}
    monkeypatch.setattr(registry_module, "registry", lambda: entries)
    return tmp_path / "home"


@pytest.fixture
def own(tmp_path):
    """What the user has."""
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "toy.arff").write_text(HEAD + "1,1,0\n2,0,1\n3,1,1\n")
    (folder / "toy.xml").write_text(XML)
    (folder / "one.arff.gz").write_bytes(gzip.compress((HEAD + "1,1,0\n").encode()))
    (folder / "two.arff").write_text(HEAD + "2,0,1\n3,1,1\n")
    return folder


def names(folder):
    return sorted(path.name for path in folder.iterdir() if path.name != ".lock")


@pytest.mark.parametrize(
    ("files", "labels"),
    [
        (["toy.arff", "toy.xml"], None),
        (["toy.xml", "toy.arff"], None),
        (["toy.arff"], -2),
        (["one.arff.gz", "two.arff"], -2),
        (["one.arff.gz", "toy.xml", "two.arff"], None),
    ],
)
def test_counted_files_are_loaded_by_name(home, own, files, labels):
    assert not is_available("toy", home)
    added = add("toy", [own / file for file in files], labels=labels, data_home=home)
    assert is_available("toy", home)
    data = load("toy", home)
    assert added.source == data.source
    assert str(folder_of("toy", home)) in data.source
    assert data.X.ravel().tolist() == [1, 2, 3]
    assert data.label_names == ("a", "b")
    assert data.name == "toy"
    assert load("toy-paper", home).n_samples == 2
    assert (own / files[0]).is_file(), "copied, not moved"


def test_an_xml_file_given_as_labels_is_copied_too(home, own, monkeypatch):
    monkeypatch.chdir(own)
    add("toy", ["toy.arff"], labels="toy.xml", data_home=home)
    monkeypatch.chdir(home)
    assert load("toy", home).n_labels == 2


@pytest.mark.parametrize(
    ("name", "text", "labels"),
    [
        ("toy.csv", "x,y_a,y_b\n1,1,0\n2,0,1\n3,1,1\n", "y_"),
        ("toy.txt", "3 1 2\n0 0:1\n1 0:2\n0,1 0:3\n", None),
    ],
)
def test_the_form_may_be_any(home, own, name, text, labels):
    (own / name).write_text(text)
    add("toy", [own / name], labels=labels, data_home=home)
    assert load("toy", home).cardinality == pytest.approx(4 / 3)


@pytest.mark.parametrize(
    ("files", "labels", "message"),
    [
        (["two.arff"], -2, "'toy' must have the counts .*own.two.arff has 2 rows instead of 3"),
        (["toy.arff"], -1, "has 2 features instead of 1, 1 labels instead of 2"),
        (["toy.xml"], None, "files of rows and at most one XML file .* but 0 and 1 were given"),
        ([], None, "at least one file must be given"),
        (["toy.arff", "toy.arff"], -2, "has 6 rows instead of 3"),
    ],
)
def test_what_is_not_the_set_is_refused_and_not_kept(home, own, files, labels, message):
    with pytest.raises(ValueError, match=message):
        add("toy", [own / file for file in files], labels=labels, data_home=home)
    assert not is_available("toy", home)
    assert not home.exists()


def test_a_file_that_does_not_exist(home, own):
    message = f"must exist to be added, but no file is at {own / 'absent.arff'}"
    with pytest.raises(FileNotFoundError, match=re.escape(message)):
        add("toy", [own / "absent.arff"], data_home=home)


def test_a_refusal_leaves_what_was_added_before(home, own):
    add("toy", [own / "toy.arff"], labels=-2, data_home=home)
    with pytest.raises(ValueError, match="instead of 3"):
        add("toy", [own / "two.arff"], labels=-2, data_home=home)
    assert load("toy", home).n_samples == 3


def test_known_files_are_told_by_their_checksum(shared_datasets, tmp_path):
    """Under any name, and in any order; recompressed too."""
    (tmp_path / "names").write_bytes((shared_datasets / "flags" / "flags.xml").read_bytes())
    packed = (shared_datasets / "flags" / "flags.arff.xz").read_bytes()
    (tmp_path / "rows.xz").write_bytes(packed)
    home = tmp_path / "home"
    data = add("flags", [tmp_path / "names", tmp_path / "rows.xz"], data_home=home)
    assert data.n_samples == 194
    assert names(home / "flags") == ["flags.arff.xz", "flags.xml"]
    assert load("flags", home, download=False).n_samples == 194


def test_a_recompressed_file_keeps_its_compression(shared_datasets, tmp_path):
    content = (shared_datasets / "flags" / "flags.xml").read_bytes()
    (tmp_path / "flags").write_bytes(gzip.compress(content))
    with pytest.raises(FileNotFoundError, match=r"needs the file flags\.arff"):
        add("flags", [tmp_path / "flags"], data_home=tmp_path / "home")
    assert names(tmp_path / "home" / "flags") == ["flags.xml.gz"]


def test_another_file_of_a_known_set_is_refused(tmp_path):
    (tmp_path / "flags.arff").write_text(HEAD)
    message = f"'flags' must have one of the SHA-256 .*{describe('flags').files[0].sha256}.* none"
    with pytest.raises(ValueError, match=message):
        add("flags", [tmp_path / "flags.arff"], data_home=tmp_path / "home")
    assert not is_available("flags", tmp_path / "home")
