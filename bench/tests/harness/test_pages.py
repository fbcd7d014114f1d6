"""Pages find their marks, tables their records, and nothing that is marked stays unwritten."""

import importlib
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def shared(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(ROOT / "bench")
    module = importlib.import_module("pages.shared")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "RESULTS", tmp_path)
    return module


@pytest.fixture
def page(shared, tmp_path):
    """One table of a record and one of its own, on a page that marks them in the other order."""
    (tmp_path / "measured.json").write_text(json.dumps({"score": 0.5}))
    (tmp_path / "page.md").write_text(
        "Before.\n<!-- table: own -->\nold\n<!-- end -->\nBetween.\n"
        "<!-- table: measured -->\n<!-- end -->\nAfter.\n"
    )
    made = shared.Page("page.md")

    @made.table
    def measured(record):
        yield ["data", "score"]
        yield ["enron", *shared.figures(record, "score")]
        yield "Of five folds."
        yield "Of one machine."

    @made.table
    def own():
        return "As it is: {1} \\1."

    return made


def test_tables_stand_between_their_marks(page):
    assert page.rendered() == (
        "Before.\n<!-- table: own -->\nAs it is: {1} \\1.\n<!-- end -->\nBetween.\n"
        "<!-- table: measured -->\n| data | score |\n|---|---|\n| enron | 0.500 |\n\n"
        "Of five folds.\n\nOf one machine.\n<!-- end -->\nAfter.\n"
    )


@pytest.mark.parametrize("change", [("own", "other"), ("measured", "own"), ("table: own", "own")])
def test_marks_and_functions_must_agree(page, change):
    page.path.write_text(page.path.read_text().replace(*change))
    with pytest.raises(SystemExit, match=r"page\.md must mark each of its tables once"):
        page.rendered()


def test_tables_follow_each_other_with_paragraphs_between_them(shared):
    parts = ["One.", ["a"], ["1"], "Two.", ["b", "c"]]
    assert shared.markdown(parts) == "One.\n\n| a |\n|---|\n| 1 |\n\nTwo.\n\n| b | c |\n|---|---|"


def test_times_are_read_in_seconds_or_milliseconds(shared):
    assert shared.times({"fit": 1, "predict": 0.0213}, "fit", "predict") == ["1.0 s", "21.3 ms"]


def test_every_page_with_a_marked_table_has_a_module(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "bench")
    pages = importlib.import_module("tables").PAGES
    marked = [
        path
        for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
        if re.search(r"<!-- table: \w+ -->", path.read_text(encoding="utf-8"))
    ]
    assert sorted(page.path for page in pages) == sorted(marked)


def test_most_published_cells_come_back_by_the_committed_records(monkeypatch):
    """Every cell is run. 286 of 544 come back under the paper's protocol as its text has it."""
    monkeypatch.syspath_prepend(ROOT / "bench")
    printed = importlib.import_module("pages.printed")
    cells = printed._cells()
    assert len(cells) == 544
    assert all(cell.after is not None for cell in cells)
    found = [sum(printed.near(getattr(cell, way)) for cell in cells) for way in ("after", "by_ap")]
    assert min(found) >= 340
