"""`compactlearn report MODEL DATA`: the page is that of Python, and all else is refused."""

import html
import json
import re

import pytest

from compactlearn import load_model
from compactlearn.datasets import load, write_arff
from compactlearn.inspection import model_report
from tests.cli.notes import NOTES, TAGS, TEXTS, write_notes

CMLL = ["--method", "cmll"]


@pytest.fixture
def model(run, tmp_path):
    """A model of texts, and its table."""
    write_notes(tmp_path / "notes.csv")
    run("fit", "notes.csv", "--text", "body", "--tags", "topics", "-o", "n.model", *CMLL)
    return load_model("n.model")


def asks_for_nothing(page):
    """Whether a browser may load nothing, and no element has an address elsewhere."""
    places = re.findall(r"""\b(?:src|href|srcset|action)=["']?([^"'>]*)""", page)
    assert places
    inside = all(place.startswith(("#", "data:")) for place in places)
    return inside and "default-src 'none'" in html.unescape(page) and "@import" not in page


# ---- the page ------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["enron", "enron.arff"])
def test_the_page_is_that_of_python(source, run, tmp_path):
    data = load("enron")
    write_arff(data, tmp_path / "enron.arff")
    run("fit", source, "-o", "e.model", *CMLL)
    assert run("report", "e.model", source, "-o", "page.html").out == "page.html\n"
    page = model_report(
        load_model("e.model"),
        data.X,
        data.Y,
        feature_names=data.feature_names,
        heading=f"CMLLClassifier on {source}",
    )
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page
    assert asks_for_nothing(page)
    assert all(f">{label}<" in page for label in data.label_names)


def test_texts_and_tags(run, model, tmp_path):
    """Tags and words are in the page; tags that the model does not know are left out, counted."""
    more = [(text, [*tags, "supper"] if "pasta" in tags else tags) for text, tags in NOTES]
    write_notes(tmp_path / "more.csv", more)
    output = run("report", "n.model", "more.csv")
    assert output.err == "compactlearn: Tags that the model does not know were left out: 1.\n"
    assert output.out == "model-report.html\n"
    page = (tmp_path / "model-report.html").read_text(encoding="utf-8")
    assert page == model_report(model, TEXTS, TAGS, heading="CMLLClassifier on more")
    assert all(f">{tag}<" in page for tag in ("food", "bread", "pasta", "sport", "weather"))
    assert all(word in page for word in ("penalty", "oven", "wind"))
    assert "supper" not in page
    assert asks_for_nothing(page)


def test_options_say_how_rows_are_read(run, model, tmp_path):
    lines = [json.dumps({"words": text, "about": "|".join(tags)}) for text, tags in NOTES]
    (tmp_path / "rows").write_text("\n".join(lines) + "\n")
    options = ["--text", "words", "--tags", "about", "--sep", "|", "--input-format", "jsonl"]
    pages = []
    for source, more in (("rows", options), ("notes.csv", [])):
        # the second time it is there, and is replaced
        run("report", "n.model", source, "-o", "page.html", "--force", *more)
        page = (tmp_path / "page.html").read_text(encoding="utf-8")
        pages.append(page.replace("on notes<", "on rows<"))
    assert pages[0] == pages[1]


def test_a_page_that_cannot_be_written_leaves_the_old_one(run, model, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    (tmp_path / "old.html").write_text("what was there")
    monkeypatch.setattr("compactlearn.core._atomic.os.fsync", full)
    output = run("report", "n.model", "notes.csv", "-o", "old.html", "--force", status=2)
    assert "cannot be written to old.html (No space left on device)" in output.err
    assert (tmp_path / "old.html").read_text() == "what was there"
    assert not list(tmp_path.glob(".*.part"))
