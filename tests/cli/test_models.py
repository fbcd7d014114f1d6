"""fit, predict, evaluate and explain: the shell says what Python says, to the bit, with names."""

import csv
import io
import json
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest

from compactlearn import CMLLClassifier, evaluate, load_model, method, predict_labels
from compactlearn.datasets import (
    Dataset,
    load,
    open_blocks,
    write_arff,
    write_parquet,
    write_xmlrepo,
)
from compactlearn.io._columns import columns_of
from tests.cli.notes import NOTES, TAGS, TEXTS, write_notes

COLUMNS = ["--text", "body", "--tags", "topics"]
WHOLE = ["--format", "jsonl", "--digits", 17]
WRITERS = {"arff": write_arff, "parquet": write_parquet, "txt": write_xmlrepo}


@pytest.fixture
def notes(tmp_path):
    return write_notes(tmp_path / "notes.csv")


def emotions(n):
    data = load("emotions")
    return Dataset(
        X=data.X[:n],
        Y=data.Y[:n],
        feature_names=tuple(f"f{j}" for j in range(72)),
        label_names=("amazed", "happy", "calm", "quiet", "sad", "angry"),
        name="emotions",
    )


def from_lines(text):
    """Pairs of each row of JSON lines; Python reads a number back as it was."""
    rows = [json.loads(line) for line in text.splitlines()]
    return [[(one["name"], one["score"]) for one in row["labels"]] for row in rows]


@pytest.fixture
def fitted(run, tmp_path):
    data = emotions(80)
    write_arff(data, tmp_path / "e.arff")
    run("fit", "e.arff", "-o", "e.model", "--method", "cmll")
    return load_model("e.model"), data


# ---- fit -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", WRITERS)
def test_fit_and_predict_are_those_of_python_to_the_bit(form, run, tmp_path):
    data = emotions(120)
    WRITERS[form](data, tmp_path / f"e.{form}")
    run("fit", f"e.{form}", "--output", "e.model", "--method", "cmll", "--seed", 3)
    model = CMLLClassifier(random_state=3).fit(data.X, data.Y)
    labels = from_lines(run("predict", "e.model", f"e.{form}", *WHOLE).out)
    names = data.label_names if form != "txt" else [str(j) for j in range(6)]
    ours = [[(names[int(n)], s) for n, s in row] for row in model.predict_labels(data.X)]
    assert labels == ours
    assert any(ours)
    stored = load_model("e.model")
    assert np.array_equal(stored.decision_function(data.X), model.decision_function(data.X))


@pytest.mark.parametrize("name", ["CPLST", "CMLL_y", "POP"])
def test_a_method_of_the_paper_by_its_name(name, run, tmp_path):
    data = emotions(60)
    write_arff(data, tmp_path / "e.arff")
    run("fit", "e.arff", "-o", "e.model", "--method", name)
    settings = method(name, protocol="recommended")
    seeded = {"random_state": 0} if "random_state" in settings.get_params() else {}
    model = settings.set_params(**seeded).fit(data.X, data.Y)
    scores = load_model("e.model").decision_function(data.X)
    assert np.array_equal(scores, model.decision_function(data.X))


def test_a_folder_is_fitted_block_by_block(run, tmp_path):
    data = emotions(300)
    (tmp_path / "parts").mkdir()
    for place, rows in enumerate(np.array_split(np.arange(300), 3)):
        part = Dataset(data.X[rows], data.Y[rows], data.feature_names, data.label_names, "part")
        write_arff(part, tmp_path / "parts" / f"{place}.arff")
    words = ["fit", "parts", "--blocks", "--method", "cmll", "--seed", "1", "--json"]
    record = json.loads(run(*words, "--checkpoint", "kept", "--output", "model").out)
    assert (record["rows"], record["features"], record["labels"]) == (300, 72, 6)
    model = load_model("model")
    own = CMLLClassifier(random_state=1).fit(open_blocks("parts"))
    assert np.array_equal(model.decision_function(data.X), own.decision_function(data.X))
    assert model.threshold_ == own.threshold_
    assert columns_of(model).features == data.feature_names
    run("predict", "model", "parts/0.arff", "--output", "found.csv")


def test_a_record_of_a_fit(run, tmp_path):
    write_parquet(emotions(40), tmp_path / "e.parquet")
    record = json.loads(run("fit", "e.parquet", "-o", "e.model", "--method", "cmll", "--json").out)
    assert (record["rows"], record["features"], record["labels"]) == (40, 72, 6)
    assert record["classifier"] == "CMLLClassifier(random_state=0)"
    assert record["bytes"] == (tmp_path / "e.model").stat().st_size
    assert record["n_parameters"] == load_model("e.model").n_parameters_


@pytest.mark.slow
def test_auto_keeps_its_budgets(run, tmp_path):
    write_arff(emotions(150), tmp_path / "e.arff")
    run("fit", "e.arff", "-o", "e.model", "--size-budget", "0.5", "--time-budget", "3")
    model = load_model("e.model")
    assert (model.size_budget, model.time_budget, model.verbose) == (0.5, 3.0, 0)
    assert model.n_parameters_ <= 0.5 * 72 * 6
    words = ["--probabilities", "--format", "jsonl", "--topk", "6"]
    labels = from_lines(run("predict", "e.model", "e.arff", *words).out)
    assert all(0 <= score <= 1 for row in labels for _, score in row)


@pytest.mark.parametrize("name", ["shortlist", "auto"])
def test_labels_are_left_out_by_count_and_by_name(name, run, notes):
    words = ["--method", name, "--min-label-count", 2, "--exclude", "sport"]
    output = run("fit", notes, *COLUMNS, "-o", "n.model", *words).out
    assert " 3 labels, without 2 that were left out) in " in output
    model = load_model("n.model")
    assert model[-1].excluded_labels_ == ["pasta", "sport"]
    labels = from_lines(run("predict", "n.model", notes, "--topk", 3, "--format", "jsonl").out)
    assert {label for row in labels for label, _ in row} == {"bread", "food", "weather"}
    found = json.loads(run("evaluate", "n.model", notes, "--json").out)
    assert found["unknown_tags"] == 4  # pasta once, sport three times
    kept = [[tag for tag in tags if tag not in ("pasta", "sport")] for tags in TAGS]
    assert found["metrics"] == pytest.approx(evaluate(model, TEXTS, kept))


# ---- predict -------------------------------------------------------------------------------------


def test_texts_and_tags_from_any_table_make_the_same_model(run, notes, tmp_path):
    write_notes(tmp_path / "notes.jsonl")
    for name in ("notes.csv", "notes.jsonl"):
        output = run("fit", name, *COLUMNS, "-o", f"{name}.model", "--method", "cmll").out
        assert "fitted to notes (8 rows, " in output
    model, other = load_model("notes.csv.model"), load_model("notes.jsonl.model")
    assert predict_labels(model, TEXTS, 3) == predict_labels(other, TEXTS, 3)
    found = from_lines(run("predict", "notes.csv.model", notes, "--topk", 2, *WHOLE).out)
    assert found == [[*row] for row in predict_labels(model, TEXTS, 2)]
    # The columns are remembered, and can be named anew.
    assert columns_of(model).text == "body"
    (tmp_path / "new.csv").write_text("words\nfresh bread from the oven\n")
    words = ["--text", "words", "--topk", 2]
    assert "food" in run("predict", "notes.csv.model", "new.csv", *words).out


def test_texts_by_standard_input(run, notes, monkeypatch):
    run("fit", notes, *COLUMNS, "-o", "n.model", "--method", "cmll")
    lines = io.TextIOWrapper(io.BytesIO(b"fresh bread\nrain stopped the match\n"))
    monkeypatch.setattr(sys, "stdin", lines)
    output = run("predict", "n.model", "-", "--input-format", "lines", "--topk", 1).out
    head, *rows = csv.reader(output.splitlines())
    assert head == ["row", "label_1", "score_1"]
    assert rows[0][1] in ("food", "bread")
    assert rows[1][1] in ("sport", "weather")


def test_every_form_of_output_says_the_same(run, fitted):
    model, data = fitted
    expected = [[*row] for row in model.predict_labels(data.X)]
    for name in ("p.csv", "p.tsv", "p.jsonl", "p.parquet", "p.txt"):
        assert run("predict", "e.model", "e.arff", "--output", name, "--digits", 17).out == ""
    for name, delimiter in (("p.csv", ","), ("p.tsv", "\t")):
        with open(name, newline="", encoding="utf-8") as file:
            table = [*csv.DictReader(file, delimiter=delimiter)]
        cells = [(row["labels"].split(";"), row["scores"].split(";")) for row in table]
        pairs = [list(zip(n, map(float, s), strict=True)) if n != [""] else [] for n, s in cells]
        assert pairs == expected
    with open("p.jsonl", encoding="utf-8") as file:
        assert from_lines(file.read()) == expected
    rows = pq.read_table("p.parquet").to_pylist()
    assert [list(zip(r["labels"], r["scores"], strict=True)) for r in rows] == expected
    with open("p.txt", encoding="utf-8") as file:
        head, *lines = file.read().splitlines()
    assert head == "80 6"
    columns = [[pair.split(":") for pair in line.split()] for line in lines]
    names = data.label_names
    assert [[(names[int(j)], float(s)) for j, s in row] for row in columns] == expected


def test_a_threshold_takes_the_place_of_the_models_rule(run, fitted):
    model, data = fitted
    words = ["predict", "e.model", "e.arff", "--threshold", 0.25, "--format", "jsonl"]
    labels = from_lines(run(*words).out)
    scores = model.decision_function(data.X)
    assert [{n for n, _ in row} for row in labels] == [
        {data.label_names[j] for j in np.flatnonzero(row > 0.25)} for row in scores
    ]
    assert from_lines(run(*words, "--topk", 1).out) == [row[:1] for row in labels]


def test_columns_may_be_in_any_order_and_labels_absent(run, fitted, tmp_path):
    model, data = fitted
    order = np.random.default_rng(0).permutation(72)
    lines = [",".join([*(data.feature_names[j] for j in order), "title"])]
    lines += [",".join([*(repr(float(row[j])) for j in order), "x"]) for row in data.X[:5]]
    (tmp_path / "new.csv").write_text("\n".join(lines) + "\n")
    labels = from_lines(run("predict", "e.model", "new.csv", "--topk", 6, *WHOLE).out)
    assert labels == [[*row] for row in model.predict_labels(data.X[:5], 6)]


# ---- evaluate and explain ------------------------------------------------------------------------


def test_evaluate_is_that_of_python(run, fitted):
    model, data = fitted
    record = json.loads(run("evaluate", "e.model", "e.arff", "--json").out)
    assert record["metrics"] == model.evaluate(data.X, data.Y)
    assert (record["rows"], record["classifier"]) == (80, "CMLLClassifier")
    table = run("evaluate", "e.model", "e.arff").out
    assert f"{record['metrics']['micro_f1']:.4f}" in table
    assert "average_precision" in table


def test_tags_that_the_model_does_not_know_are_counted(notes, run, tmp_path):
    run("fit", notes, *COLUMNS, "-o", "n.model", "--method", "cmll")
    odd, bare = ("unheard of", ["never seen"]), ("rain", [])
    more = [(text, [*tags, *["soup"] * ("pasta" in tags)]) for text, tags in NOTES]
    write_notes(tmp_path / "more.csv", [*more, odd, bare])
    record = json.loads(run("evaluate", "n.model", "more.csv", "--json").out)
    assert record["unknown_tags"] == 2
    assert record["metrics"] == evaluate(
        load_model("n.model"), [*TEXTS, odd[0], bare[0]], [*TAGS, [], []]
    )
    err = run("evaluate", "n.model", "more.csv").err
    assert "model does not know were left out: 2. Rows without other tags: 1.\n" in err


def test_explanations_add_up_and_name_features(run, fitted):
    model, data = fitted
    words = ["explain", "e.model", "e.arff", "--rows", "2,5", "--topk", 4, "--json"]
    record = json.loads(run(*words).out)
    assert {reasons["row"] for reasons in record} == {2, 5}
    scores = model.decision_function(data.X)
    for reasons in record:
        terms = reasons["terms"]
        assert len(terms) == 4
        assert {term["name"] for term in terms} <= set(data.feature_names)
        total = reasons["base"] + reasons["rest"] + sum(term["contribution"] for term in terms)
        place = data.label_names.index(reasons["label"])
        assert total == pytest.approx(scores[reasons["row"], place], abs=1e-9)
    shown = run("explain", "e.model", "e.arff", "--rows", "2:3", "--label", "sad", "--topk", 3).out
    assert shown.startswith("row 2, sad: ")
    assert shown.count(" at ") == 3


def test_words_and_rows_that_voted_explain_texts(run, notes):
    run("fit", notes, *COLUMNS, "-o", "n.model", "--method", "shortlist")
    words = ["explain", "n.model", notes, "--rows", "1", "--label", "bread"]
    record = json.loads(run(*words, "--json").out)
    assert {one["row"] for one in record[0]["neighbours"]} == {1, 2}
    assert "votes of training rows: 1 (" in run(*words).out
    run("fit", notes, *COLUMNS, "-o", "n.model", "--method", "cmll", "--force")
    assert "oven" in run(*words).out
