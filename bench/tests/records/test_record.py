"""Cells and records: what a digest depends on, and that JSON loses nothing."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlearn_bench.records import SELECTIONS, Cell, Record, RecordError, seed_for

names = st.text(min_size=1, max_size=12)
plain = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**9), 10**9),
    st.floats(allow_nan=False, allow_infinity=False, width=16),
    st.text(max_size=8),
)
tables = st.dictionaries(st.text(max_size=6), st.one_of(plain, st.lists(plain, max_size=3)))
cells = st.builds(
    Cell,
    dataset=names,
    method=names,
    selection=st.sampled_from(SELECTIONS),
    fold=st.integers(0, 9),
    n_folds=st.integers(2, 10),
    seed=st.integers(0, 2**31),
    rows=st.none() | st.integers(2, 10**6),
    settings=tables,
)


@st.composite
def records(draw):
    configurations = draw(st.lists(st.dictionaries(names, plain, max_size=3), max_size=5))
    metrics = draw(st.lists(names, min_size=1, max_size=3, unique=True))
    scores = st.one_of(st.just(float("nan")), st.floats(-1e6, 1e6))
    size = len(configurations) * len(metrics)
    values = np.array(draw(st.lists(scores, min_size=size, max_size=size)), dtype=float)
    return Record(
        draw(cells),
        draw(st.sampled_from(["done", "failed", "timeout", "memory", "absent"])),
        draw(st.none() | st.text(max_size=20)),
        metrics,
        configurations,
        values.reshape(len(configurations), len(metrics)),
        draw(st.just([]) | st.just(list(range(len(configurations))))),
        draw(tables),
        {"numpy": "2.0"},
        draw(tables),
    )


@given(records())
def test_a_record_survives_its_text(record):
    text = record.to_json()
    assert "\n" not in text
    again = Record.from_json(text)
    assert again.to_json() == text
    assert "/" not in record.cell.name  # it is a file's
    assert again.answer() == record.answer()
    assert again.cell.name == record.cell.name
    np.testing.assert_allclose(again.values, record.values, rtol=1e-6)
    assert list(again.configurations) == list(record.configurations)


def test_digests_and_seeds_are_the_same_forever():
    """Frozen on the day they were first used: another value would disown every stored record."""
    cell = Cell("enron", "CMLL", "nested", 3, settings={"alpha": [0.1, 1.0], "metrics": ["x"]})
    assert cell.digest == "427a2fb6003a44fb"
    assert cell.split_seed == 1678706883
    assert cell.method_seed == 2126964901
    assert seed_for("a", 1) == 60690853


def test_a_digest_depends_on_the_question_only():
    one = Cell("enron", "CMLL", "nested", 3, settings={"a": 1, "b": 2})
    other = Cell("enron", "CMLL", "nested", 3, settings={"b": 2, "a": 1})
    assert one.digest == other.digest
    changes = [
        {"dataset": "bibtex"},
        {"method": "CMLL_y"},
        {"selection": "paper"},
        {"fold": 2},
        {"n_folds": 4},
        {"seed": 1},
        {"rows": 100},
        {"settings": {"a": 1, "b": 3}},
    ]
    changed = [replace(one, **change) for change in changes]
    assert len({one.digest, *(cell.digest for cell in changed)}) == 9


TWO = json.loads(
    Record(
        Cell("a", "b", "paper", 0), "done", None, ["x"], [{"c": 1}, {"c": 2}], np.zeros((2, 1))
    ).to_json()
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[]", "does not call itself"),
        (json.dumps(TWO | {"format": "other"}), "does not call itself"),
        (json.dumps(TWO | {"version": 2}), "its version is 2"),
        (json.dumps({k: v for k, v in TWO.items() if k != "cell"}), "missing or wrong"),
        (json.dumps(TWO | {"status": "fine"}), "missing or wrong"),
        (json.dumps(TWO | {"sizes": [1]}), "missing or wrong"),
        (json.dumps(TWO | {"sizes": [10**30, 1]}), "missing or wrong"),
        (json.dumps(TWO | {"reason": 5}), "missing or wrong"),
        (json.dumps(TWO | {"values": [[0.1, 0.2]]}), "not one row of values for each"),
        (json.dumps(TWO | {"values": [[0.1], []]}), "not one row of values for each"),
        (json.dumps(TWO | {"values": [[0.1], [float("inf")]]}), "not JSON.*Infinity"),
        (json.dumps(TWO | {"details": 3}), "missing or wrong"),
        (json.dumps(TWO | {"cell": TWO["cell"] | {"method": ["b"]}}), "missing or wrong"),
        *(
            (json.dumps(TWO | {"cell": TWO["cell"] | part}), "missing or wrong")
            for part in (
                {"colour": "blue"},
                {"n_folds": "5"},
                {"n_folds": 5.0},
                {"fold": None},
                {"rows": "all"},
                {"seed": [0]},
                {"settings": []},
            )
        ),
    ],
)
def test_what_is_no_record_is_refused(text, words):
    with pytest.raises(RecordError, match=words):
        Record.from_json(text)


def test_inner_folds_are_the_same_for_all_methods_and_differ_between_folds():
    one = Cell("enron", "CMLL", "nested", 0)
    assert one.inner_seed == Cell("enron", "ORI", "paper", 0).inner_seed
    assert one.split_seed == Cell("enron", "ORI", "paper", 3).split_seed
    others = [Cell("enron", "CMLL", "nested", 1), Cell("llog", "CMLL", "nested", 0)]
    assert len({one.inner_seed, *(cell.inner_seed for cell in others)}) == 3
    assert one.method_seed != Cell("enron", "ORI", "nested", 0).method_seed
