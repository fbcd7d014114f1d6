"""Data sets that users add: stored completely, and never in place of a set of the library."""

import gzip
import os
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from compactlearn.datasets import (
    Dataset,
    add,
    describe,
    fetch,
    fingerprint,
    folder_of,
    is_available,
    list_datasets,
    load,
    read,
    write_arff,
)
from compactlearn.datasets._catalogue import known_sets
from compactlearn.datasets._catalogue.known_sets import Entry, Expected, Subset

TEXT = "id,x,sports,politics\n7,1.5,1,0\n8,2,0,1\n9,0,1,1\n"


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def docs(tmp_path):
    path = tmp_path / "docs.csv"
    path.write_text(TEXT)
    return path


@pytest.mark.parametrize(
    ("labels", "ignore"),
    [(["sports", "politics"], ["id"]), (-2, ["id"]), (-2, []), ("s", []), (["politics"], [])],
)
def test_what_is_loaded_is_what_was_read(home, docs, labels, ignore):
    added = add("mine", docs, labels=labels, ignore=ignore, data_home=home)
    docs.unlink()  # its content is stored
    found = load("MINE", home)
    assert found.name == "mine"
    assert fingerprint(found) == fingerprint(added)
    assert type(found.X) is type(added.X)
    assert (found.label_names, found.feature_names) == (added.label_names, added.feature_names)
    assert is_available("mine", home)
    assert "mine" in list_datasets(home)
    entry = describe("mine", home)
    assert (entry.own, entry.expected.samples, entry.expected.labels) == (True, 3, found.n_labels)
    assert entry.expected.differences(found) == []
    assert entry.content == fingerprint(found)
    assert "docs.csv" in entry.note
    assert fetch("mine", home) == [folder_of("mine", home) / "mine.npz"]


def test_several_files_and_a_label_file(home, tmp_path):
    """Sparse rows of two files, one of them compressed, and names in an XML file."""
    rng = np.random.default_rng(0)
    X, Y = (rng.random((20, 30)) < 0.1).astype(float), (rng.random((20, 2)) < 0.5).astype(int)
    names = tuple(f"f{j}" for j in range(30)), ("a", "b")
    write_arff(Dataset(X[:9], Y[:9], *names), tmp_path / "one.arff")
    write_arff(Dataset(X[9:], Y[9:], *names), tmp_path / "two.arff")
    packed = tmp_path / "one.arff.gz"
    packed.write_bytes(gzip.compress((tmp_path / "one.arff").read_bytes()))
    files = [packed, tmp_path / "one.xml", tmp_path / "two.arff"]
    add("mine", files, data_home=home)
    for data in (load("mine", home), add("mine", files, data_home=home)):
        np.testing.assert_array_equal(data.X.toarray(), X)
        np.testing.assert_array_equal(data.Y.toarray(), Y)
        assert (data.feature_names, data.label_names) == names
    swapped = tmp_path / "swapped.arff"
    write_arff(Dataset(X[9:, ::-1], Y[9:], names[0][::-1], names[1]), swapped)
    with pytest.raises(
        ValueError, match=r"swapped.arff has 30 of other names, or in another order"
    ):
        add("other", [packed, swapped], labels=-2, data_home=home)
    with pytest.raises(ValueError, match=r"at most one XML file .* but 0 and 1"):
        add("other", tmp_path / "one.xml", data_home=home)


ODD = ["a/b", "../up", "..", "", "-rf", " mine", "größe", "x" * 65, "a\\b", "a\nb", "a\0b"]
ODD += ["mine.", ".hidden", "\u212a", 7]


@pytest.mark.parametrize("name", ODD, ids=[f"{name!r:.12}" for name in ODD])
def test_odd_names_are_refused_and_leave_nothing(home, docs, name):
    with pytest.raises(ValueError, match="The name of a data set of your own must"):
        add(name, docs, labels=-2, data_home=home)
    assert not home.exists()


@pytest.mark.parametrize("name", ["x" * 64, "a", "7", "A.b_C-d", "tmc2007-500b"])
def test_plain_names_are_accepted(home, docs, name):
    add(name, docs, labels=-2, data_home=home)
    assert load(name, home).name == name.lower()
    with pytest.raises(ValueError, match=f"'{name.lower()}' means another already"):
        add(name.upper(), docs, labels=-1, data_home=home)
    assert os.listdir(home / "own") == [f"{name.lower()}.npz"]


@pytest.mark.parametrize("name", ["enron", "ENRON", "flags", "langlog", "llog-paper", "msra"])
def test_no_set_of_the_library_is_shadowed(home, docs, name):
    """Neither `add` nor a file in the folder replaces a set of the library."""
    with pytest.raises(ValueError, match=r"must have the counts|known by the checksums"):
        add(name, docs, labels=-2, data_home=home)
    add("mine", docs, labels=-2, data_home=home)
    (home / "own" / "mine.npz").rename(home / "own" / f"{name.lower()}.npz")
    assert list_datasets(home) == list_datasets()
    assert not describe(name, home).own


def test_other_data_need_overwrite_and_the_same_do_not(home, docs):
    add("mine", docs, labels=-2, data_home=home)
    add("mine", docs, labels=["sports", "politics"], data_home=home)
    docs.write_text(TEXT + "1,5,0,0\n")
    with pytest.raises(ValueError, match=r"overwrite=True \(--overwrite on the command line\)"):
        add("mine", docs, labels=-2, data_home=home)
    assert load("mine", home).n_samples == 3
    add("mine", docs, labels=-2, overwrite=True, data_home=home)
    assert load("mine", home).n_samples == 4


def test_a_changed_byte_is_found_or_means_nothing(home, docs):
    """Dates in the archive do not matter; a damaged set can be replaced."""
    wanted = fingerprint(add("mine", docs, labels=-2, data_home=home))
    (path,) = fetch("mine", home)
    whole, refused = path.read_bytes(), []
    for place in range(0, len(whole), 5):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        try:
            assert fingerprint(load("mine", home)) == wanted
        except ValueError as error:
            refused.append(str(error))
    assert len(refused) > len(whole) / 10
    assert all(re.search(r"mine\.npz must be as .* 'mine' again", text) for text in refused)
    path.write_bytes(whole[: len(whole) // 2])
    for use in (load, describe, fetch):
        with pytest.raises(ValueError, match="damaged"):
            use("mine", home)
    assert "mine" in list_datasets(home)
    add("mine", docs, labels=-2, data_home=home)
    assert load("mine", home).n_samples == 3


def test_nothing_in_a_stored_file_is_unpickled(home, docs):
    add("mine", docs, labels=-2, data_home=home)
    np.savez(fetch("mine", home)[0], about=np.array([{"evil": print}], dtype=object))
    with pytest.raises(ValueError, match="damaged"):
        load("mine", home)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"labels": ["sport"]}, "no column has the name 'sport'.*Did you mean 'sports'"),
        ({"labels": None}, "does not say which columns are labels"),
        ({"labels": -1, "format": "arff"}, "ARFF"),
        ({"labels": -2, "ignore": ["nr"]}, "no column has the name 'nr'"),
    ],
)
def test_what_cannot_be_read_is_refused_by_its_own_path_and_not_kept(
    home, docs, arguments, message
):
    with pytest.raises(ValueError, match=f"^{re.escape(str(docs))}.*{message}"):
        add("mine", docs, data_home=home, **arguments)
    assert not home.exists()
    with pytest.raises(FileNotFoundError, match="no file is there"):
        add("mine", [docs, "absent.csv"], labels=-2, data_home=home)


def test_counts_of_sets_without_address_are_checked(home, docs, monkeypatch):
    counts = Expected(samples=3, features=2, labels=2)
    entries = dict(known_sets.registry())
    entries["toy"] = Entry("toy", counts)
    entries["toy-paper"] = Entry(
        "toy-paper", Expected(samples=2), of="toy", subset=Subset(rows=2, seed=0)
    )
    for module in ("known_sets", "by_name"):
        monkeypatch.setattr(f"compactlearn.datasets._catalogue.{module}.registry", lambda: entries)
    with pytest.raises(ValueError, match="has 3 features instead of 2, 1 labels instead of 2"):
        add("toy", docs, labels=-1, data_home=home)
    with pytest.raises(FileNotFoundError, match="'toy' must be added once"):
        load("toy", home)
    assert not is_available("toy", home)
    add("toy-paper", docs, labels=-2, data_home=home)
    assert (load("toy", home).n_samples, load("toy-paper", home).n_samples) == (3, 2)
    assert "toy" not in [name for name in list_datasets(home) if describe(name, home).own]


def test_a_reader_gets_the_old_or_the_new_set_during_a_replacement(home, tmp_path):
    """A reader never gets a mixture or an error."""
    paths = [tmp_path / "one.csv", tmp_path / "two.csv"]
    for path, rows in zip(paths, (2000, 3000), strict=True):
        cells = (f"{i},{i * 0.5},1,0\n" for i in range(rows))
        path.write_text("id,x,sports,politics\n" + "".join(cells))

    def replace(times):
        for place in range(times):
            add("mine", paths[place % 2], labels=-2, overwrite=True, data_home=home)

    replace(1)
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(replace, 10)
        while not done.done():
            assert load("mine", home).n_samples in (2000, 3000)
        done.result()


def test_fingerprints_are_of_values_alone(docs, tmp_path):
    """Names, formats and compression do not matter; every change of a value does."""
    data = read(docs, labels=-2)
    other = tmp_path / "other.tsv"
    other.write_text(TEXT.replace(",", "\t").replace("sports", "s").replace("1.5", "1.50"))
    assert fingerprint(read(other, labels=-2)) == fingerprint(data)
    seen = {fingerprint(data)}
    for old, new in (("1.5", "1.25"), ("7,1.5,1,0", "7,1.5,0,0"), ("8,", "7,"), ("9,0,1,1\n", "")):
        other.write_text(TEXT.replace(old, new).replace(",", "\t"))
        seen.add(fingerprint(read(other, labels=-2)))
    seen.add(fingerprint(read(docs, labels=-1)))
    assert len(seen) == 6
