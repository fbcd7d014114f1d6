"""Data of the user's own in a benchmark: by a path or by a name, and never another's records."""

import pytest

from compactlearn.datasets import add
from compactlearn_bench import SpecError, cells_of, parse_spec
from compactlearn_bench.records import Cell, Record
from compactlearn_bench.records.grouping import grouped

HEAD = "id,x,z,sports,politics\n"
ROWS = "".join(f"{i},{i % 7},{i % 5 - 2},{i % 2},{int(i % 3 == 0)}\n" for i in range(40))
SMALL = {"name": "small", "methods": ["ORI"], "folds": 2, "selections": ["paper"]}


@pytest.fixture
def docs(tmp_path):
    path = tmp_path / "docs.csv"
    path.write_text(HEAD + ROWS)
    return path


def cells(item, folder, **more):
    return cells_of(parse_spec(SMALL | {"datasets": [item]}, folder=folder, **more))


def test_what_the_library_knows_has_the_cells_it_always_had():
    """A digest as it was before files could be named."""
    (cell, *_) = cells_of(parse_spec(SMALL | {"datasets": ["enron"]}))
    assert cell.name == "enron--ORI--paper--0--619cc08e0251feb3"


def test_a_file_is_run_and_a_second_time_found(run, spec, store, docs, log, tmp_path):
    item = {"name": "mine", "path": "docs.csv", "labels": ["sports", "politics"], "ignore": ["id"]}
    asked = parse_spec(
        {
            "name": "small",
            "datasets": ["emotions", item],
            "methods": [{"name": "M", "estimator": "plugged:method", "pause": 0.0}],
            "folds": 2,
        },
        folder=tmp_path,
    )
    summary = run(asked, store)
    assert (summary.computed, summary.statuses) == (8, {"done": 8})
    assert len(log()) == 8
    assert run(asked, store).computed == 0
    assert {record.cell.dataset for record in store.records()} == {"emotions", "mine"}
    assert not any(str(tmp_path) in record.to_json() for record in store.records())


def test_a_cell_is_its_content_and_not_its_file(docs, tmp_path):
    """Another form or place of the same values is the same cell; any other value a new one."""
    item = {"name": "mine", "path": str(docs), "labels": -2}
    names = {cell.name for cell in cells(item, tmp_path)}
    moved = tmp_path / "moved.tsv"
    moved.write_text((HEAD + ROWS).replace(",", "\t"))
    assert {cell.name for cell in cells(item | {"path": str(moved)}, tmp_path)} == names
    add("mine", docs, labels=-2, data_home=tmp_path / "home")
    assert {cell.name for cell in cells("mine", tmp_path, data_home=tmp_path / "home")} == names
    changes = [
        item | {"labels": -1},
        item | {"ignore": ["id"]},
    ]
    for change in changes:
        assert names.isdisjoint(cell.name for cell in cells(change, tmp_path))
    docs.write_text(HEAD + ROWS.replace("39,4,", "39,3,"))
    assert names.isdisjoint(cell.name for cell in cells(item, tmp_path))


def test_a_file_changed_after_the_start_is_not_computed_under_its_old_name(run, store, docs, spec):
    asked = spec(datasets=[{"name": "mine", "path": str(docs), "labels": -2}], selections=["paper"])
    docs.write_text(HEAD + ROWS.replace("39,4,", "39,3,"))
    summary = run(asked, store)
    assert summary.statuses == {"failed": 2}
    for record in store.records():
        assert "docs.csv has changed since; start it again" in record.reason


def test_a_name_of_ones_own_is_run(run, spec, store, docs, tmp_path):
    home = tmp_path / "home"
    add("mine", docs, labels=-2, data_home=home)
    asked = parse_spec(
        {
            "name": "small",
            "datasets": [{"name": "MINE", "rows": 30}],
            "methods": [{"name": "M", "estimator": "plugged:method", "pause": 0.0}],
            "folds": 2,
            "selections": ["paper"],
        },
        data_home=home,
    )
    assert run(asked, store, data_home=home).statuses == {"done": 2}
    assert all(record.cell.rows == 30 for record in store.records())


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (
            {"path": "nowhere.csv", "labels": -2},
            r"'nowhere.csv' cannot be read: .*no file is there",
        ),
        (
            {"path": "docs.csv"},
            "'docs.csv' cannot be read: .*does not say which columns are labels",
        ),
        ({"path": "docs.csv", "labels": True}, "The labels of a data set must be a list"),
        ({"path": "docs.csv", "labels": -2, "name": "enron"}, "that the library knows"),
        ({"path": "docs.csv", "labels": -2, "name": "a/b"}, "The name of a data set of your own"),
        ({"path": "docs.csv", "labels": -2, "ignore": "id"}, "'ignore' of a data set must be a li"),
        ({"path": "docs.csv", "labels": -2, "format": "xls"}, "must be one of arff, arrow, csv"),
        ({"path": 3}, "The path of a data set must be a string"),
        ({"name": "enron", "labels": -2}, "'labels' of a data set says how to read a file"),
        ({"path": "docs.csv", "labels": -2, "rows": 41}, "rows of docs must be at most 40"),
        ("mine", r"or have a path, as in {name = \"mine\", path = \"mine.csv\""),
    ],
    ids=str,
)
def test_what_is_wrong_is_said_before_anything_runs(docs, item, words):
    with pytest.raises(SpecError, match=words):
        cells(item, docs.parent)


def test_a_name_means_one_set_in_a_spec(docs):
    items = [{"name": "mine", "path": "docs.csv", "labels": n} for n in (-2, -1)]
    with pytest.raises(SpecError, match="'mine' must mean one data set"):
        parse_spec(SMALL | {"datasets": items}, folder=docs.parent)
    twice = [items[0] | {"only": ["ORI"]}, items[0]]
    assert len(cells_of(parse_spec(SMALL | {"datasets": twice}, folder=docs.parent))) == 2


def test_records_of_two_contents_are_not_put_into_one_table():
    def record(method, content, fold=0):
        settings = {"metrics": [], "data_sha256": content}
        return Record(Cell("mine", method, "paper", fold, 2, settings=settings), "done")

    with pytest.raises(ValueError, match="two that differ in the data themselves"):
        grouped([record("A", "one"), record("A", "two", 1)], "paper")
    with pytest.raises(ValueError, match="the file of mine was another for B than for A"):
        grouped([record("A", "one"), record("B", "two")], "paper")
    assert len(grouped([record("A", "one"), record("B", "one")], "paper")) == 2
