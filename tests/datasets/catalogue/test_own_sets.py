"""Files under names of the user's own: kept whole, checked at every load, shadowing nobody."""

import json
import multiprocessing
import os
import re
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from compactlearn.datasets import (
    add,
    describe,
    fetch,
    fingerprint,
    folder_of,
    is_available,
    list_datasets,
    load,
    read,
)
from compactlearn.datasets._catalogue import own_sets as own_module
from compactlearn.datasets._catalogue.own_sets import own_name, own_names

TEXT = "id,x,sports,politics\n7,1.5,1,0\n8,2,0,1\n9,0,1,1\n"
ARFF = "@relation r\n@attribute x numeric\n@attribute a {0,1}\n@attribute b {0,1}\n@data\n"
XML = '<labels><label name="b"/><label name="a"/></labels>'


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
    docs.unlink()  # a copy is kept
    found, wanted = load("MINE", home), added
    assert found.name == "mine"
    assert fingerprint(found) == fingerprint(wanted)
    assert found.label_names == wanted.label_names
    assert found.feature_names == wanted.feature_names
    assert is_available("mine", home)
    assert "mine" in list_datasets(home)
    entry = describe("mine", home)
    assert (entry.own, entry.expected.samples, entry.expected.labels) == (True, 3, found.n_labels)
    assert entry.content == fingerprint(found)
    assert "docs.csv" in entry.note
    paths = fetch("mine", home)
    assert paths
    assert all(path.parent == folder_of("mine", home) for path in paths)


def test_the_label_file_beside_an_arff_file_comes_along(home, tmp_path):
    (tmp_path / "toy.arff").write_text(ARFF + "1,1,0\n2,0,1\n")
    (tmp_path / "toy.xml").write_text(XML)
    add("beside", tmp_path / "toy.arff", data_home=home)
    add("given", tmp_path / "toy.arff", labels=tmp_path / "toy.xml", data_home=home)
    (tmp_path / "toy.xml").unlink()
    for name in ("beside", "given"):
        assert load(name, home).label_names == ("a", "b")


def test_rows_of_several_files_keep_their_order_and_repeat(home, docs, tmp_path):
    other = tmp_path / "more.csv"
    other.write_text(TEXT.splitlines()[0] + "\n1,5,0,0\n")
    add("mine", [docs, other, docs], labels=-2, data_home=home)
    assert load("mine", home).X[:, 1].tolist() == [1.5, 2, 0, 5, 1.5, 2, 0]


ODD = ["a/b", "../up", "..", ".", "", "-rf", " mine", "my set", "größe", "x" * 65, "a\\b", "a\nb"]
ODD += ["a\0b", "mine.", ".hidden", "con", "nul.csv", "ⅸ", "\u212a"]


@pytest.mark.parametrize("name", ODD, ids=[f"{name!r:.12}" for name in ODD])
def test_odd_names_are_refused_and_leave_nothing(home, docs, name):
    with pytest.raises(ValueError, match="The name of a data set of your own must"):
        add(name, docs, labels=-2, data_home=home)
    assert not home.exists()


@pytest.mark.parametrize("name", ["x" * 64, "a", "7", "A.b_C-d", "tmc2007-500b"])
def test_plain_names_are_taken(home, docs, name):
    add(name, docs, labels=-2, data_home=home)
    assert load(name, home).name == name.lower()
    assert own_names(home) == [name.lower()]


def test_a_name_is_the_same_in_any_case(home, docs):
    add("Mine", docs, labels=-2, data_home=home)
    with pytest.raises(ValueError, match="'mine' means another already"):
        add("MINE", docs, labels=-1, data_home=home)
    assert os.listdir(home / "own") == ["mine"]


@pytest.mark.parametrize("name", ["enron", "ENRON", "flags", "langlog", "llog-paper", "msra"])
def test_no_set_of_the_library_is_shadowed(home, docs, name):
    """Neither through `add` nor by a folder that lies there."""
    with pytest.raises(ValueError, match="must"):
        add(name, docs, labels=-2, data_home=home)
    add("mine", docs, labels=-2, data_home=home)
    (home / "own" / "mine").rename(home / "own" / name.lower())
    assert own_names(home) in ([], ["langlog"])
    assert not describe(name, home).own
    with pytest.raises(ValueError, match="must not be that of a set that the library knows"):
        own_name(name)


def test_other_data_need_overwrite_and_the_same_do_not(home, docs):
    add("mine", docs, labels=-2, data_home=home)
    add("mine", docs, labels=["sports", "politics"], data_home=home)
    docs.write_text(TEXT + "1,5,0,0\n")
    with pytest.raises(ValueError, match=r"overwrite=True \(--overwrite on the command line\)"):
        add("mine", docs, labels=-2, data_home=home)
    assert load("mine", home).n_samples == 3
    add("mine", docs, labels=-2, overwrite=True, data_home=home)
    assert load("mine", home).n_samples == 4
    kept = [path.name for path in folder_of("mine", home).iterdir()]
    assert len(kept) == 3, "the old file, which nothing names any more, is gone"


@pytest.mark.parametrize(
    "change", [lambda p: p.unlink(), lambda p: p.write_text(TEXT + "1,1,1,1\n")]
)
def test_a_file_changed_since_is_refused(home, docs, change):
    add("mine", docs, labels=-2, data_home=home)
    change(fetch("mine", home)[0])
    for use in (load, fetch):
        with pytest.raises(ValueError, match="one is gone or has changed; add the files of 'mine'"):
            use("mine", home)
    add("mine", docs, labels=-2, data_home=home)
    assert load("mine", home).n_samples == 3


@pytest.mark.parametrize(
    "damage",
    ["", "[]", "{", "null", '{"files": {}}', "\x00", "LEAD OUT", "NO ROWS", "UNLISTED", "COUNTS"],
)
def test_a_damaged_list_is_refused_and_can_be_put_right(home, docs, damage):
    add("mine", docs, labels=-2, data_home=home)
    path = folder_of("mine", home) / "added.json"
    listed = json.loads(path.read_text())
    (file,) = listed["files"]
    changes = {
        "LEAD OUT": {"files": {f"../../../{docs.name}": listed["files"][file]}},
        "NO ROWS": {"rows": []},
        "UNLISTED": {"rows": [file, "other.csv"]},
        "COUNTS": {"counts": {"samples": 3}},
    }
    text = json.dumps(listed | changes[damage]) if damage in changes else damage
    path.write_text(text)
    for use in (load, describe, fetch):
        with pytest.raises(ValueError, match=r"added\.json must be as .* of 'mine' again"):
            use("mine", home)
    assert "mine" in list_datasets(home)
    add("mine", docs, labels=-2, data_home=home)
    assert load("mine", home).n_samples == 3


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


def test_a_file_that_changes_while_it_is_added(home, docs, monkeypatch):
    copied = own_module._copied

    def later(*arguments):
        docs.write_text(TEXT + "1,5,0,0\n")
        return copied(*arguments)

    monkeypatch.setattr(own_module, "_copied", later)
    with pytest.raises(ValueError, match=r"docs\.csv changed meanwhile; add them again"):
        add("mine", docs, labels=-2, data_home=home)
    assert own_names(home) == []
    assert [path.name for path in (home / "own" / "mine").iterdir()] == [".lock"]


def test_readers_meet_the_old_set_or_the_new_while_it_is_replaced(home, docs):
    """Never a mixture, and never a complaint."""
    add("mine", docs, labels=-2, data_home=home)
    sizes = (3, 4)

    def replace_often():
        for round_ in range(10):
            docs.write_text(TEXT + ("1,5,0,0\n" if round_ % 2 == 0 else ""))
            add("mine", docs, labels=-2, overwrite=True, data_home=home)

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(replace_often)
        while not done.done():
            assert load("mine", home).n_samples in sizes
        done.result()


def _add_forever(home, paths):
    for round_ in range(10_000):
        add("mine", paths[round_ % 2], labels=-2, overwrite=True, data_home=home)


def test_a_killed_writer_leaves_the_old_set_or_the_new(home, tmp_path):
    """Whenever the signal comes, what is there can be loaded, and what is left over goes."""
    paths, rng = [tmp_path / "one.csv", tmp_path / "two.csv"], np.random.default_rng(0)
    for path, rows in zip(paths, (2000, 3000), strict=True):
        cells = (f"{i},{i * 0.5},1,0\n" for i in range(rows))
        path.write_text("id,x,sports,politics\n" + "".join(cells))
    add("mine", paths[0], labels=-2, data_home=home)
    context = multiprocessing.get_context("fork")
    for _ in range(5):
        child = context.Process(target=_add_forever, args=(home, paths))
        child.start()
        time.sleep(float(rng.uniform(0.02, 0.25)))
        os.kill(child.pid, signal.SIGKILL)
        child.join()
        assert load("mine", home).n_samples in (2000, 3000)
    add("mine", paths[0], labels=-2, overwrite=True, data_home=home)
    assert len(list(folder_of("mine", home).iterdir())) == 3


def test_a_folder_that_cannot_be_written_to(home, docs, monkeypatch):
    add("mine", docs, labels=-2, data_home=home)
    folder = folder_of("mine", home)

    def refuse(*_arguments, **_options):
        raise PermissionError(13, "Permission denied", str(folder / ".lock"))

    monkeypatch.setattr(own_module, "locked", refuse)
    assert load("mine", home).n_samples == 3, "reading needs no lock"
    with pytest.raises(PermissionError):
        add("mine", docs, labels=-1, overwrite=True, data_home=home)
    assert load("mine", home).n_samples == 3


def test_fingerprints_are_of_values_alone(docs, tmp_path):
    """Not of names, formats and packing; every change of a value shows."""
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
