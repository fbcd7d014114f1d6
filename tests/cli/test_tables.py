"""Tables in and out of the shell: kept columns, tables without names, numbers, names."""

import csv
import io
import json
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compactlearn import load_model, predict_labels
from compactlearn.cli import main
from compactlearn.datasets import load
from compactlearn.io._columns import columns_of

ROWS = [
    ("a1", "=SUM(A1)", "boil the pasta in salted water", ["food", "pasta"]),
    ("a2", "-1.5", "bake the bread in a hot oven", ["food", "bread"]),
    ("b3", "two\rlines", "salted bread with olive oil", ["food", "bread"]),
    ("b4", 'a "word", quoted', "the keeper saved a late penalty", ["sport"]),
    ("c5", "@home", "a penalty goal won the match", ["sport"]),
    ("c6", "", "the match was lost in the rain", ["sport", "weather"]),
    ("d7", "plain", "rain and wind until friday", ["weather"]),
    ("d8", "+49 30", "wind from the west, no rain", ["weather"]),
]
IDS, TITLES = [row[0] for row in ROWS], [row[1] for row in ROWS]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The same table in three forms, and a model."""
    folder = tmp_path_factory.mktemp("made")
    with (folder / "t.csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\r\n")
        table.writerow(["id", "title", "body", "topics"])
        table.writerows([[*row[:3], ";".join(row[3])] for row in ROWS])
    named = [dict(zip(("id", "title", "body", "topics"), row, strict=True)) for row in ROWS]
    (folder / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in named))
    pq.write_table(pa.Table.from_pylist(named), folder / "t.parquet")
    words = ["fit", str(folder / "t.csv"), "--text", "body", "--tags", "topics"]
    assert main([*words, "-o", str(folder / "t.model"), "--method", "cmll"]) == 0
    return folder


@pytest.fixture
def run(run, made):
    """Run a command, with the names of files that were made once."""
    names = {name: str(made / name) for name in ("t.csv", "t.jsonl", "t.parquet", "t.model")}
    return lambda *typed, **options: run(*(names.get(one, one) for one in typed), **options)


# ---- columns that are kept -----------------------------------------------------------------------


@pytest.mark.parametrize("source", ["t.csv", "t.jsonl", "t.parquet"])
def test_kept_columns_are_those_of_the_data_row_by_row(run, source):
    output = run("predict", "t.model", source, "--keep", "id,title", "--raw-cells").out
    rows = list(csv.DictReader(io.StringIO(output, newline="")))
    assert list(rows[0]) == ["row", "id", "title", "labels", "scores"]
    assert [row["id"] for row in rows] == IDS
    assert [row["title"] for row in rows] == TITLES
    output = run("predict", "t.model", source, "--keep", "id, title", "--format", "jsonl").out
    lines = [json.loads(line) for line in output.splitlines()]
    assert [(line["id"], line["title"]) for line in lines] == list(zip(IDS, TITLES, strict=True))
    run("predict", "t.model", source, "--keep", "title", "-o", "p.parquet", "--topk", 2)
    assert pq.read_table("p.parquet").column_names == ["row", "title", "labels", "scores"]
    assert pq.read_table("p.parquet")["title"].to_pylist() == TITLES


def test_kept_columns_by_standard_input(run, made, monkeypatch):
    content = io.TextIOWrapper(io.BytesIO((made / "t.csv").read_bytes()))
    monkeypatch.setattr(sys, "stdin", content)
    output = run("predict", "t.model", "-", "--keep", "id", "--input-format", "csv").out
    assert [row["id"] for row in csv.DictReader(io.StringIO(output))] == IDS


# ---- cells ---------------------------------------------------------------------------------------


def test_no_cell_is_a_formula_unless_it_is_asked_for(run):
    for form, delimiter in (("csv", ","), ("tsv", "\t")):
        words = ["predict", "t.model", "t.csv", "--keep", "title", "--format", form]
        safe = list(csv.DictReader(io.StringIO(run(*words).out, newline=""), delimiter=delimiter))
        assert [row["title"] for row in safe] == [
            f"'{title}" if (title[:1] in "=@" and title) or title == "+49 30" else title
            for title in TITLES
        ]
        raw = run(*words, "--raw-cells").out
        table = csv.DictReader(io.StringIO(raw, newline=""), delimiter=delimiter)
        assert [row["title"] for row in table] == TITLES


def test_scores_have_six_digits_and_more_where_they_are_asked_for(run, made):
    model = load_model(made / "t.model")
    ours = [s for row in predict_labels(model, [row[2] for row in ROWS], 5) for _, s in row]
    for digits in (None, 1, 3, 17):
        words = [] if digits is None else ["--digits", digits]
        output = run("predict", "t.model", "t.csv", "--topk", 5, *words).out
        cells = [row[f"score_{k}"] for row in csv.DictReader(io.StringIO(output, newline=""))
                 for k in range(1, 6)]  # fmt: skip
        assert [float(cell) for cell in cells] == [float(f"{s:.{digits or 6}g}") for s in ours]
        assert max(len(cell.split("e")[0].strip("-0.").replace(".", "")) for cell in cells) <= (
            digits or 6
        )


def test_more_labels_than_there_are_means_all(run):
    all_of_them = run("predict", "t.model", "t.csv", "--topk", 5).out
    for many in (6, 10_000):
        assert run("predict", "t.model", "t.csv", "--topk", many).out == all_of_them


def test_half_a_surrogate_pair(run, tmp_path):
    rows = [{"body": f"word{i % 3} \ud83d", "topics": [f"t{i % 3}"]} for i in range(9)]
    (tmp_path / "half.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["--text", "body", "--tags", "topics", "-o", "h.model", "--method", "cmll"]
    run("fit", "half.jsonl", *words)  # in a text it is replaced
    output = run("predict", "h.model", "half.jsonl", "--keep", "body").out
    assert output.count("\ufffd") == 9
    rows[4]["topics"].append("half\ud800")
    (tmp_path / "tags.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    err = run("fit", "tags.jsonl", *words, "--force", status=2).err
    assert r"line 5: the tags of a row must be names" in err
    assert r"\ud800" in err


# ---- tables without names ------------------------------------------------------------------------


def test_a_table_of_texts_without_names(run, tmp_path):
    """Annif's TSV: a text, a tab, subjects in angle brackets; quotes mean nothing."""
    uri = "http://example.org/subject/"
    lines = [
        f'"{text}" and on\t' + " ".join(f"<{uri}{tag}>" for tag in tags) + "\n"
        for _, _, text, tags in ROWS
    ]
    (tmp_path / "annif.tsv").write_text("".join(lines))
    words = ["--no-header", "--text", "0", "--tags", "1"]
    output = run("fit", "annif.tsv", *words, "-o", "a.model", "--method", "cmll").out
    assert "(8 rows, " in output
    model = load_model("a.model")
    assert model[-1].label_names_ == [
        uri + tag for tag in ("bread", "food", "pasta", "sport", "weather")
    ]
    assert columns_of(model).header is False
    # The model remembers the missing header; --header overrides it.
    measured = json.loads(run("evaluate", "a.model", "annif.tsv", "--json").out)
    assert (measured["rows"], measured["unknown_tags"]) == (8, 0)
    (tmp_path / "new.tsv").write_text("fresh bread from the oven\nrain\n")
    assert len(run("predict", "a.model", "new.tsv", "--keep", "0").out.splitlines()) == 3
    (tmp_path / "named.csv").write_text("words\nfresh bread from the oven\n")
    output = run("predict", "a.model", "named.csv", "--header", "--text", "words").out
    assert len(output.splitlines()) == 2


def test_a_table_of_numbers_without_names(run, tmp_path):
    data = load("emotions")
    values = np.hstack([data.X[:60], data.Y[:60]])
    np.savetxt(tmp_path / "e.csv", values, delimiter=",", fmt="%.17g")
    run("fit", "e.csv", "--no-header", "--labels", "-6", "-o", "e.model", "--method", "cmll")
    assert json.loads(run("evaluate", "e.model", "e.csv", "--json").out)["rows"] == 60
    np.savetxt(tmp_path / "new.csv", values[:5, :72], delimiter=",", fmt="%.17g")
    words = ["--topk", 6, "--format", "jsonl", "--digits", 17]
    output = run("predict", "e.model", "new.csv", *words).out
    ours = [
        [{"name": name, "score": score} for name, score in row]
        for row in load_model("e.model").predict_labels(data.X[:5], 6)
    ]
    assert [json.loads(line)["labels"] for line in output.splitlines()] == ours


# ---- separators ----------------------------------------------------------------------------------


@pytest.mark.parametrize("joined", [",", "|", ";"])
def test_a_wrong_separator_is_reported(run, tmp_path, joined):
    lines = [json.dumps({"body": r[2], "topics": joined.join(r[3])}) + "\n" for r in ROWS]
    (tmp_path / "j.jsonl").write_text("".join(lines))
    words = ["fit", "j.jsonl", "--text", "body", "--tags", "topics", "--method", "cmll"]
    for sep in (",", "|", ";"):
        err = run(*words, "-o", "j.model", "--sep", sep, "--force").err
        assert ("look like several joined by" in err) == (sep != joined)
        assert (f"pass --sep {joined!r}" in err) == (sep != joined)


# ---- names of somebody else ----------------------------------------------------------------------

NASTY = ["\x1b]0,owned\x07\x1b[2J", "bell\x07", "\x9b31mred", "over\u202ewritten", "a\nline", "two"]


@pytest.fixture
def nasty(tmp_path):
    rows = [{"body": f"word{i % 6} more{i % 6}", "topics": [NASTY[i % 6]]} for i in range(30)]
    (tmp_path / "\x1b[2Jnasty.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path / "\x1b[2Jnasty.jsonl"


def harmless(text):
    return not any(
        (ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160 or c == "\u202e" for c in text
    )


def test_no_command_obeys_a_name(run, nasty, monkeypatch):
    words = ["--text", "body", "--tags", "topics", "-o", "n.model", "--method", "cmll"]
    output = [run("fit", nasty, *words)]
    output += [run("doctor", "n.model"), run("doctor", "n.model", "--json")]
    output += [run("explain", "n.model", nasty, "--rows", "0:6"), run("evaluate", "n.model", nasty)]
    output += [run("explain", "n.model", nasty, "--label", "\x1b[31m", status=2)]
    output += [run("predict", "n.model", nasty, "--keep", "\x1b[31m", status=2)]
    output += [run("fit", nasty, *words, status=2)]
    for out, err in output:
        assert harmless(out)
        assert harmless(err)
    assert r"\x1b]0,owned\x07\x1b[2J" in output[1].out
    assert r"row 0, \x1b]0,owned\x07\x1b[2J: " in output[3].out
    # What goes into a file is as it is; to a terminal it is not.
    assert not harmless(run("predict", "n.model", nasty).out)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert harmless(run("predict", "n.model", nasty).out)
    assert harmless(run("predict", "n.model", nasty, "--format", "jsonl").out)
    run("predict", "n.model", nasty, "--format", "parquet", status=2)
