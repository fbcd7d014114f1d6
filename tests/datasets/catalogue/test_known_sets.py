"""The registry agrees with the files it describes, and with its own rules."""

import re
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from compactlearn.datasets import Dataset, describe, load
from compactlearn.datasets._catalogue.files import find
from compactlearn.datasets._catalogue.known_sets import Expected, registry

ENTRIES = list(registry().values())
FILES = [(entry, file) for entry in ENTRIES for file in entry.files]
NOT_FETCHED = {"bookmarks", "espgame", "eurlex-dc", "eurlex-sm", "msra"}
# The paper's table (arXiv 2009.08607, Table 1): rows, features, labels, labels per row, label sets.
# Of five sets it drew 5000 rows that it does not name, so only their shapes can be compared.
PRINTED = {
    "plant": (978, 440, 12, "1.079", 32),
    "msra": (1868, 898, 19, "6.315", 947),
    "enron": (1702, 1001, 53, "3.378", 753),
    "llog-paper": (1460, 1004, 74, "1.128", 286),
    "bibtex-paper": (5000, 1836, 159),
    "eurlex-sm-paper": (5000, 5000, 201),
    "bookmarks-paper": (5000, 2150, 208),
    "corel5k": (5000, 499, 374, "3.522", 3175),
    "eurlex-dc-paper": (5000, 5000, 412),
    "espgame-paper": (5000, 516, 1932),
    "delicious": (16105, 500, 983, "19.020", 15806),
    "mediamill": (43907, 120, 101, "4.376", 6555),
}


@pytest.mark.parametrize("name", PRINTED)
def test_the_registry_expects_what_the_paper_prints(name):
    counts = describe(name).expected
    found = (counts.samples, counts.features, counts.labels)
    if len(PRINTED[name]) > 3:
        found += (f"{counts.cardinality:.3f}", counts.distinct)
    assert found == PRINTED[name]


def test_every_stored_file_is_in_the_registry(shared_datasets):
    known = {find(file, shared_datasets / entry.name) for entry, file in FILES}
    assert set(shared_datasets.glob("*/*")) <= known


@pytest.mark.parametrize(("entry", "file"), FILES, ids=lambda value: value.name)
def test_an_address_is_a_raw_file_at_a_whole_commit(entry, file):
    form = r"https://raw\.githubusercontent\.com/[\w-]+/[\w-]+/[0-9a-f]{40}/(\S+/)*(\S+)"
    if file.address:
        assert re.fullmatch(form, file.address)[2] == file.name
    assert file.origin
    assert re.fullmatch("[0-9a-f]{64}", file.sha256)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_entries_are_whole(entry):
    assert bool(entry.expected.features) != (entry.format == "texts")
    assert bool(entry.text and entry.tags) == (entry.format == "texts")
    assert entry.expected.labels
    assert entry.licence
    assert entry.citation or entry.name == "msra"
    assert entry.format in ("arff", "mat", "xmlrepo", "texts", "any")
    if entry.files:
        roles = [file.role for file in entry.files]
        assert "rows" in roles
        assert entry.expected.samples
        assert entry.expected.distinct
        assert entry.expected.cardinality is not None
        says_itself = entry.format in ("xmlrepo", "mat", "texts")
        assert "labels" in roles or entry.label_columns or says_itself
        assert abs(entry.label_columns or entry.expected.labels) == entry.expected.labels
    elif entry.of is None:
        assert entry.name in NOT_FETCHED
        assert "compactlearn datasets add" in entry.note
    else:
        assert entry.drop_labels or entry.subset
        assert entry.citation == describe(entry.of).citation


def test_names_and_aliases_in_any_case():
    spellings = [word for entry in ENTRIES for word in (entry.name, *entry.aliases)]
    assert len(set(spellings)) == len(spellings)
    assert describe("PlantPseAAC") is describe("plant") is registry()["plant"]
    assert describe("Corel16k001").name == "corel16k"


DATA = Dataset(np.zeros((3, 2)), np.array([[1, 0], [1, 1], [1, 0]]))
COUNTS = Expected(3, 2, 2, Decimal("1.333"), 2)


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({}, []),
        ({"cardinality": Decimal("1.3")}, []),
        ({"samples": None, "distinct": None}, []),
        ({"samples": 4}, ["3 rows instead of 4"]),
        ({"features": 1, "labels": 3}, ["2 features instead of 1", "2 labels instead of 3"]),
        ({"cardinality": Decimal("1.334")}, ["1.333 labels per row instead of 1.334"]),
        ({"cardinality": Decimal("1.3330")}, ["1.3333 labels per row instead of 1.3330"]),
        ({"distinct": 1}, ["2 different label sets instead of 1"]),
    ],
)
def test_counts_are_compared_to_the_digits_given(change, difference):
    assert replace(COUNTS, **change).differences(DATA) == difference


def test_names_of_wordnet(shared_datasets):
    """Lists of names belong to their columns, and equal names are distinguished."""
    data = load("wordnet", data_home=shared_datasets, download=False)
    assert data.feature_names[:3] == ("aa", "aaron", "ab")
    assert data.label_names[0] == "thing (00002452)"  # there is another thing
    assert data.label_names[2] == "animal"
    assert len(set(data.label_names)) == data.Y.shape[1] == 8821
    assert data.n_train == 65041
