"""`compactlearn report MODEL DATA`: the page is that of Python, and all else is refused."""

import csv
import html
import json
import re
from pathlib import Path

import pytest

from compactlearn import load_model
from compactlearn.cli import main
from compactlearn.datasets import load, write_arff
from compactlearn.inspection import model_report
from tests.cli.test_models import NOTES


def write_notes(path, notes):
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["body", "topics"])
        table.writerows([[text, ";".join(tags)] for text, tags in notes])


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with two models, rows for them, records, and files that are neither."""
    folder = tmp_path_factory.mktemp("pages")
    write_notes(folder / "notes.csv", NOTES)
    table = [str(folder / "notes.csv"), "--text", "body", "--tags", "topics"]
    for name in ("n.model", "m.model"):
        assert main(["fit", *table, "-o", str(folder / name), "--method", "cmll"]) == 0
    content = (folder / "n.model").read_bytes()
    (folder / "changed.model").write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
    (folder / "untagged.csv").write_text("body\nfresh bread\n")
    (folder / "empty").write_bytes(b"")
    (folder / "old.html").write_text("what was there")
    (folder / "store" / "cells").mkdir(parents=True)
    return folder


@pytest.fixture(autouse=True)
def surroundings(monkeypatch, tmp_path, place):
    monkeypatch.chdir(place)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("COMPACTLEARN_DATA", str(tmp_path / "home"))


def asks_for_nothing(page):
    """Whether a browser may load nothing, and no element has an address elsewhere."""
    places = re.findall(r"""\b(?:src|href|srcset|action)=["']?([^"'>]*)""", page)
    assert places
    inside = all(place.startswith(("#", "data:")) for place in places)
    return inside and "default-src 'none'" in html.unescape(page) and "@import" not in page


# ---- the page ------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["by name", "arff"])
def test_the_page_is_that_of_python(form, tmp_path, capsys):
    data, model_file, out = load("enron"), tmp_path / "e.model", tmp_path / "page.html"
    source = "enron"
    if form == "arff":
        source = str(tmp_path / "enron.arff")
        write_arff(data, source)
    assert main(["fit", source, "-o", str(model_file), "--method", "cmll"]) == 0
    capsys.readouterr()
    assert main(["report", str(model_file), source, "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}\n"
    name = Path(source).name
    page = model_report(
        load_model(model_file),
        data.X,
        data.Y,
        feature_names=data.feature_names,
        heading=f"CMLLClassifier on {name}",
    )
    assert out.read_text(encoding="utf-8") == page
    assert asks_for_nothing(page)
    assert all(f">{label}<" in page for label in data.label_names)


def test_texts_and_tags(tmp_path, capsys):
    """Tags and words are in the page; tags that the model does not know are left out, counted."""
    more = [(text, [*tags, "supper"] if "pasta" in tags else tags) for text, tags in NOTES]
    write_notes(tmp_path / "more.csv", more)
    out = tmp_path / "page.html"
    assert main(["report", "n.model", str(tmp_path / "more.csv"), "--out", str(out)]) == 0
    told = capsys.readouterr()
    assert told.err == "compactlearn: 1 tags that the model does not know were left out.\n"
    page = out.read_text(encoding="utf-8")
    texts, tags = [text for text, _ in NOTES], [row for _, row in NOTES]
    heading = "CMLLClassifier on more"
    assert page == model_report(load_model("n.model"), texts, tags, heading=heading)
    assert all(f">{tag}<" in page for tag in ("food", "bread", "pasta", "sport", "weather"))
    assert all(word in page for word in ("penalty", "oven", "wind"))
    assert "supper" not in page
    assert asks_for_nothing(page)


def test_options_say_how_rows_are_read(tmp_path):
    lines = [json.dumps({"words": text, "about": "|".join(tags)}) for text, tags in NOTES]
    (tmp_path / "rows").write_text("\n".join(lines) + "\n")
    options = ["--text", "words", "--tags", "about", "--sep", "|", "--input-format", "jsonl"]
    pages = []
    for source, more in ((str(tmp_path / "rows"), options), ("notes.csv", [])):
        out = tmp_path / "page.html"  # the second time it is there, and is replaced
        assert main(["report", "n.model", source, "--out", str(out), "--force", *more]) == 0
        pages.append(out.read_text(encoding="utf-8").replace("on notes<", "on rows<"))
    assert pages[0] == pages[1]


def test_without_a_name_it_is_called_model_report(tmp_path, monkeypatch, place, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["report", str(place / "n.model"), str(place / "notes.csv")]) == 0
    assert capsys.readouterr().out == "model-report.html\n"
    assert (tmp_path / "model-report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE")


# ---- mistakes ------------------------------------------------------------------------------------


MISTAKES = [
    (["n.model"], "needs one DATA.*was given none; write report n.model DATA"),
    (["n.model", "notes.csv", "untagged.csv"], "needs one DATA.*given notes.csv, untagged.csv"),
    (["n.model", "m.model"], r"on one model, and 2 of .* \(n.model, m.model\); call report for"),
    (["notes.csv"], "notes.csv is neither: .*no model file of compactlearn"),
    (["empty"], "empty is neither: .*is empty"),
    (["changed.model", "notes.csv"], "changed.model is neither: .*damaged"),
    (["none.model", "notes.csv"], "There are no records at none.model, and no model"),
    (["notes.csv", "n.model"], "model comes first.*n.model is a model that comes after notes.csv"),
    (["store", "n.model"], "A model comes first.*comes after store"),
    (["store", "notes.csv"], "notes.csv is neither"),
    (["n.model", "notes.csv", "--selection", "paper"], "--selection can only be said of records"),
    (["n.model", "notes.csv", "--selection", "paper", "--no-times"],
     "--selection and --no-times can only be said of records.*leave them out"),
    (["n.model", "notes.csv", "--format", "csv"], "one page of html, and --format is csv"),
    (["n.model", "notes.csv", "--format", "pdf"], "one page of html, and --format is pdf"),
    (["store", "--text", "body"], "--text can only say how the DATA of a model is read"),
    (["store", "--tags", "a", "--sep", ";", "--labels", "2", "--ignore", "b", "--delimiter", ",",
      "--input-format", "csv", "--data-home", "."],
     "--tags and --sep and --labels and --ignore and --input-format and --delimiter and "
     "--data-home can only say.*leave them out"),
    (["n.model", "none.csv"], "none.csv"),
    (["n.model", "untagged.csv"], "topics"),
    (["n.model", "store"], "store"),
    (["n.model", "notes.csv", "--out", "no/page.html"], "no does not exist; make it"),
    (["n.model", "notes.csv", "--out", "store"], "store is a folder; add a name"),
    ([], r"STORE\.\.\. \| MODEL DATA"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "told"), MISTAKES, ids=[" ".join(w) for w, _ in MISTAKES])
def test_a_mistake_is_one_sentence_and_changes_nothing(words, told, place, capsys):
    before = {path: path.stat().st_mtime_ns for path in place.rglob("*")}
    assert main(["report", *words]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1, captured.err
    assert captured.err.startswith("compactlearn: ")
    assert re.search(told, captured.err), captured.err
    assert {path: path.stat().st_mtime_ns for path in place.rglob("*")} == before


def test_a_page_that_cannot_be_written_leaves_the_old_one(place, monkeypatch, capsys):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("compactlearn.core._atomic.os.fsync", full)
    assert main(["report", "n.model", "notes.csv", "--out", "old.html", "--force"]) == 2
    assert "cannot be written to old.html (No space left on device)" in capsys.readouterr().err
    assert (place / "old.html").read_text() == "what was there"
    assert not list(place.glob(".*.part"))
