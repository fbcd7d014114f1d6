"""Pages find their marks, tables their records, and nothing that is marked stays unwritten."""

import importlib
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


PAGE = (
    "Before.\n<!-- table: own -->\nold\n<!-- end -->\nBetween.\n"
    "<!-- table: measured -->\n<!-- end -->\nAfter.\n"
)


@pytest.fixture
def shared(monkeypatch, tmp_path):
    """The module, with one table of a record and one that reads none."""
    monkeypatch.syspath_prepend(ROOT / "bench")
    module = importlib.import_module("pages.shared")
    monkeypatch.setattr(module, "RESULTS", tmp_path)
    monkeypatch.setattr(module, "TABLES", {})
    (tmp_path / "measured.json").write_text(json.dumps({"score": 0.5}))

    @module.table
    def measured(record):
        yield ["data", "score"]
        yield ["enron", *module.formatted(record, "score")]
        yield "Of five folds."
        yield "Of one machine."

    @module.table
    def own():
        return "As it is: {1} \\1."

    return module


def test_tables_are_between_their_marks(shared):
    assert shared.rendered(PAGE) == (
        "Before.\n<!-- table: own -->\nAs it is: {1} \\1.\n<!-- end -->\nBetween.\n"
        "<!-- table: measured -->\n| data | score |\n|---|---|\n| enron | 0.500 |\n\n"
        "Of five folds.\n\nOf one machine.\n<!-- end -->\nAfter.\n"
    )


def test_a_mark_without_a_function_is_an_error(shared):
    with pytest.raises(SystemExit, match=r"no function makes the tables \['other'\]"):
        shared.rendered(PAGE.replace("own", "other"))


def test_tables_follow_each_other_with_paragraphs_between_them(shared):
    parts = ["One.", ["a"], ["1"], "Two.", ["b", "c"]]
    assert shared.markdown(parts) == "One.\n\n| a |\n|---|\n| 1 |\n\nTwo.\n\n| b | c |\n|---|---|"


def test_times_are_read_in_seconds_or_milliseconds(shared):
    assert shared.times({"fit": 1, "predict": 0.0213}, "fit", "predict") == ["1.0 s", "21.3 ms"]


def test_every_table_is_on_one_page(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "bench")
    importlib.import_module("tables")
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md"))
    marked = re.findall(r"<!-- table: (\w+) -->", text)
    assert sorted(marked) == sorted(importlib.import_module("pages.shared").TABLES)


def test_most_published_cells_come_back_by_the_committed_records(monkeypatch):
    """Every cell is run. 286 of 544 come back under the paper's protocol as its text has it."""
    monkeypatch.syspath_prepend(ROOT / "bench")
    printed = importlib.import_module("pages.printed")
    cells = printed._cells()
    assert len(cells) == 544
    assert all(cell.after is not None for cell in cells)
    found = [sum(printed.near(getattr(cell, way)) for cell in cells) for way in ("after", "by_ap")]
    assert min(found) >= 340
