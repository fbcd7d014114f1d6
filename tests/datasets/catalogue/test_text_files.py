"""Sets of texts that the registry knows: parts, names of labels, counts, what is refused."""

import hashlib
import json
import lzma
from dataclasses import replace

import pytest

from compactlearn.datasets import Entry, describe, load, load_texts
from compactlearn.datasets._catalogue.known_sets import Expected, File, registry
from compactlearn.datasets._catalogue.text_files import read_text_files

LAWS = {
    "train.jsonl": [
        {"title": "On milk", "body": "Cows.", "labels": ["2", "10"]},
        {"title": "On wine", "body": "", "labels": []},
    ],
    "test.jsonl": [{"title": "On oil", "body": "Olives.\nTrees.", "labels": ["10"]}],
}
NAMES = {"2": {"label": "milk"}, "10": {"label": "food"}, "11": {"label": "fish"}}


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A registry with a small set of texts, and the folder above its files."""
    contents = {
        name: "".join(f"{json.dumps(law)}\n" for law in laws).encode()
        for name, laws in LAWS.items()
    }
    contents["labels.json"] = json.dumps(NAMES).encode()
    (tmp_path / "toy").mkdir()
    for name, content in contents.items():
        (tmp_path / "toy" / f"{name}.xz").write_bytes(lzma.compress(content))
    files = tuple(
        File(name, "rows" if name in LAWS else "label names", len(content), digest)
        for name, content in contents.items()
        for digest in [hashlib.sha256(content).hexdigest()]
    )
    expected = Expected(samples=3, labels=2, distinct=3)
    entry = Entry("toy", expected, (), "texts", files, text=("title", "body"), tags="labels")
    entries = registry() | {"toy": entry}
    monkeypatch.setattr("compactlearn.datasets._catalogue.known_sets.registry", lambda: entries)
    return tmp_path


def test_parts_have_texts_and_names_of_labels(toy):
    parts = load_texts("toy", toy)
    assert list(parts) == ["train", "test"]
    assert parts["train"].texts == ("On milk\nCows.", "On wine\n")
    assert parts["train"].tags == (("milk", "food"), ())
    assert parts["test"].tags == (("food",),)
    assert parts["test"].source == str(toy / "toy" / "test.jsonl.xz")
    assert load_texts("toy", toy, fields=["title"])["test"].texts == ("On oil",)


def test_what_is_not_the_set_is_refused(toy):
    entry = describe("toy")
    entry = replace(entry, expected=replace(entry.expected, labels=3, samples=2))
    paths = [toy / "toy" / f"{file.name}.xz" for file in entry.files]
    with pytest.raises(ValueError, match="has 3 rows instead of 2, 2 labels instead of 3"):
        read_text_files(entry, paths, entry.text)
    paths[0].write_bytes(lzma.compress(b"{}\n"))
    with pytest.raises(ValueError, match="must have the content that the registry knows as train"):
        load_texts("toy", toy)


@pytest.mark.parametrize("fields", [["titel"], [], "title"])
def test_fields_that_are_not_there_are_refused(toy, fields):
    with pytest.raises(ValueError, match=r"fields must be a list with some of title, body, which"):
        load_texts("toy", toy, fields=fields)


def test_each_function_names_the_other_one():
    with pytest.raises(ValueError, match=r"Read it with load_texts\('eurlex57k'\), and pass"):
        load("EURLEX-57k")
    with pytest.raises(ValueError, match=r"load_texts reads sets of texts, .*load\('enron'\)"):
        load_texts("enron")
    with pytest.raises(FileNotFoundError, match=r"'eurlex57k' needs the file train.jsonl"):
        load_texts("eurlex57k", "nowhere")


@pytest.mark.slow
def test_the_laws_have_their_checksums_and_counts(shared_datasets):
    """The counts were measured by an independent program."""
    laws = load_texts("eurlex57k", shared_datasets)
    assert {name: len(part.texts) for name, part in laws.items()} == {
        "train": 45_000,
        "dev": 6_000,
        "test": 6_000,
    }
    learnt, judged = ({tag for row in laws[p].tags for tag in row} for p in ("train", "test"))
    assert (len(learnt), len(judged)) == (4_108, 2_517)
    assert "EEC Council" in laws["train"].texts[0]
