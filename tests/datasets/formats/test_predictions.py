"""Predicted labels in every format are read back bit by bit."""

import csv
import io
import json

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlearn.datasets import write_predictions

NAMES = ["food", "bread", 'a "b"', "x,y", "日本", "tab\there", "line\nend"]
scores = st.floats(allow_nan=False)
rows = st.lists(
    st.lists(st.tuples(st.sampled_from(NAMES), scores), max_size=4, unique_by=lambda p: p[0]),
    max_size=5,
)


def written(found, **options):
    stream = io.BytesIO()
    write_predictions(stream, found, **options)
    return stream.getvalue()


def from_csv(content, delimiter=","):
    return list(csv.reader(io.StringIO(content.decode(), newline=""), delimiter=delimiter))


def read_back(found, form):
    if form in ("csv", "tsv"):
        head, *table = from_csv(written(found, format=form), "," if form == "csv" else "\t")
        assert head == ["row", "labels", "scores"]
        pairs = [(a.split(";") if b else [], b.split(";") if b else []) for _, a, b in table]
        return [[(n, float(s)) for n, s in zip(*row, strict=True)] for row in pairs]
    if form == "jsonl":
        lines = [json.loads(line) for line in written(found, format=form).splitlines()]
        assert [line["row"] for line in lines] == list(range(len(found)))
        return [[(one["name"], one["score"]) for one in line["labels"]] for line in lines]
    if form == "parquet":
        table = pq.read_table(io.BytesIO(written(found, format=form))).to_pylist()
        return [list(zip(row["labels"], row["scores"], strict=True)) for row in table]
    head, *lines = written(found, format=form, label_names=NAMES).decode().splitlines()
    assert head == f"{len(found)} {len(NAMES)}"
    pairs = [[pair.split(":") for pair in line.split()] for line in lines]
    return [[(NAMES[int(j)], float(s)) for j, s in row] for row in pairs]


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "parquet", "xmlrepo"])
@given(found=rows)
def test_every_form_is_read_back_bit_by_bit(form, found):
    assert read_back(found, form) == [[*row] for row in found]


@given(rows, st.integers(1, 5))
def test_ranks_have_columns_of_their_own(found, k):
    head, *table = from_csv(written(found, k=k))
    assert head[:3] == ["row", "label_1", "score_1"]
    assert {len(row) for row in [head, *table]} == {1 + 2 * k}
    for place, (row, cells) in enumerate(zip(found, table, strict=True)):
        assert cells[0] == str(place)
        pairs = [(n, s) for n, s in zip(cells[1::2], cells[2::2], strict=True) if n]
        assert [(n, float(s)) for n, s in pairs] == row[:k]


def test_a_name_with_the_separator_is_refused_before_it_can_be_misread():
    with pytest.raises(
        ValueError, match=r"';' between them, and 'a;b' has that.*--sep.*JSON lines"
    ):
        written([[("a;b", 1.0)]])
    assert from_csv(written([[("a;b", 1.0)]], sep="|"))[1] == ["0", "a;b", "1.0"]


def test_an_unknown_form_is_refused():
    with pytest.raises(ValueError, match=r"written as csv, tsv.*'jsnl'.*Did you mean 'jsonl'"):
        written([], format="jsnl")
