"""fit, predict, evaluate and explain: the shell says what Python says, to the bit, with names."""

import csv
import io
import json
import re
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest

from compactlearn import CMLLClassifier, evaluate, load_model, method, predict_labels
from compactlearn.cli import main
from compactlearn.datasets import Dataset, load, write_arff, write_parquet, write_xmlrepo
from compactlearn.io._columns import columns_of

NOTES = [
    ("boil the pasta in salted water", ["food", "pasta"]),
    ("bake the bread in a hot oven", ["food", "bread"]),
    ("salted bread with olive oil", ["food", "bread"]),
    ("the keeper saved a late penalty", ["sport"]),
    ("a penalty goal won the match", ["sport"]),
    ("the match was lost in the rain", ["sport", "weather"]),
    ("rain and wind until friday", ["weather"]),
    ("wind from the west, no rain", ["weather"]),
]


@pytest.fixture(autouse=True)
def surroundings(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COMPACTLEARN_DATA", str(tmp_path / "home"))


@pytest.fixture
def run(capsysbinary):
    """Run a command that must succeed; its standard output."""

    def run(*words):
        status = main([str(word) for word in words])
        told = capsysbinary.readouterr()
        assert status == 0, told.err.decode()
        assert b"Traceback" not in told.err
        return told.out.decode()

    return run


@pytest.fixture
def notes(tmp_path):
    """The same table in three forms."""
    with (tmp_path / "notes.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "body", "topics"])
        table.writerows([[j, x, ";".join(t)] for j, (x, t) in enumerate(NOTES)])
    lines = [json.dumps({"body": x, "topics": t}) for x, t in NOTES]
    (tmp_path / "notes.jsonl").write_text("\n".join(lines) + "\n")
    return tmp_path / "notes.csv"


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


WRITERS = {"arff": write_arff, "parquet": write_parquet, "txt": write_xmlrepo}


# ---- the shell and Python ------------------------------------------------------------------------


@pytest.mark.parametrize("form", WRITERS)
def test_fit_and_predict_are_those_of_python_to_the_bit(form, run, tmp_path):
    data = emotions(120)
    WRITERS[form](data, tmp_path / f"e.{form}")
    run("fit", f"e.{form}", "--output", "e.model", "--method", "cmll", "--seed", 3)
    model = CMLLClassifier(random_state=3).fit(data.X, data.Y)
    told = from_lines(run("predict", "e.model", f"e.{form}", "--format", "jsonl", "--digits", 17))
    names = data.label_names if form != "txt" else [str(j) for j in range(6)]
    ours = [[(names[int(n)], s) for n, s in row] for row in model.predict_labels(data.X)]
    assert told == ours
    assert any(ours)
    stored = load_model("e.model")
    assert np.array_equal(stored.decision_function(data.X), model.decision_function(data.X))


def test_texts_and_tags_from_any_table_make_the_same_model(run, notes):
    for name in ("notes.csv", "notes.jsonl"):
        told = run("fit", name, "--text", "body", "--tags", "topics", "-o", f"{name}.model",
                   "--method", "cmll")  # fmt: skip
        assert "fitted to notes (8 rows, " in told
    model, other = load_model("notes.csv.model"), load_model("notes.jsonl.model")
    texts = [text for text, _ in NOTES]
    assert predict_labels(model, texts, 3) == predict_labels(other, texts, 3)
    whole = ["--format", "jsonl", "--digits", 17]
    found = from_lines(run("predict", "notes.csv.model", notes, "--topk", 2, *whole))
    assert found == [[*row] for row in predict_labels(model, texts, 2)]
    assert {name for row in found for name, _ in row} <= {tag for _, tags in NOTES for tag in tags}
    # The columns are remembered, and can be named anew.
    assert columns_of(model).text == "body"
    (notes.parent / "new.csv").write_text("words\nfresh bread from the oven\n")
    assert "food" in run("predict", "notes.csv.model", "new.csv", "--text", "words", "--topk", 2)


def test_texts_by_standard_input(run, notes, monkeypatch):
    run("fit", notes, "--text", "body", "--tags", "topics", "-o", "n.model", "--method", "cmll")
    lines = io.TextIOWrapper(io.BytesIO(b"fresh bread\nrain stopped the match\n"))
    monkeypatch.setattr(sys, "stdin", lines)
    told = run("predict", "n.model", "-", "--input-format", "lines", "--topk", 1)
    head, *rows = csv.reader(told.splitlines())
    assert head == ["row", "label_1", "score_1"]
    assert rows[0][1] in ("food", "bread")
    assert rows[1][1] in ("sport", "weather")


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


# ---- what is written -----------------------------------------------------------------------------


@pytest.fixture
def fitted(run, tmp_path):
    data = emotions(80)
    write_arff(data, tmp_path / "e.arff")
    run("fit", "e.arff", "-o", "e.model", "--method", "cmll")
    return load_model("e.model"), data


def test_every_form_of_output_says_the_same(run, fitted):
    model, data = fitted
    expected = [[*row] for row in model.predict_labels(data.X)]
    for name in ("p.csv", "p.tsv", "p.jsonl", "p.parquet", "p.txt"):
        assert run("predict", "e.model", "e.arff", "--output", name, "--digits", 17) == ""
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
    told = run("predict", "e.model", "e.arff", "--threshold", 0.25, "--format", "jsonl")
    scores = model.decision_function(data.X)
    assert [{n for n, _ in row} for row in from_lines(told)] == [
        {data.label_names[j] for j in np.flatnonzero(row > 0.25)} for row in scores
    ]
    both = run(
        "predict", "e.model", "e.arff", "--threshold", 0.25, "--topk", 1, "--format", "jsonl"
    )
    assert from_lines(both) == [row[:1] for row in from_lines(told)]


def test_columns_may_be_in_any_order_and_labels_absent(run, fitted, tmp_path):
    model, data = fitted
    order = np.random.default_rng(0).permutation(72)
    lines = [",".join([*(data.feature_names[j] for j in order), "title"])]
    lines += [",".join([*(repr(float(row[j])) for j in order), "x"]) for row in data.X[:5]]
    (tmp_path / "new.csv").write_text("\n".join(lines) + "\n")
    whole = ["--format", "jsonl", "--digits", 17]
    told = from_lines(run("predict", "e.model", "new.csv", "--topk", 6, *whole))
    assert told == [[*row] for row in model.predict_labels(data.X[:5], 6)]


def test_evaluate_is_that_of_python(run, fitted):
    model, data = fitted
    told = json.loads(run("evaluate", "e.model", "e.arff", "--json"))
    assert told["metrics"] == model.evaluate(data.X, data.Y)
    assert (told["rows"], told["classifier"]) == (80, "CMLLClassifier")
    table = run("evaluate", "e.model", "e.arff")
    assert f"{told['metrics']['micro_f1']:.4f}" in table
    assert "average_precision" in table


def test_tags_that_the_model_does_not_know_are_counted(notes, run, capsysbinary):
    run("fit", notes, "--text", "body", "--tags", "topics", "-o", "n.model", "--method", "cmll")
    more = notes.read_text().replace("food;pasta", "food;pasta;supper;soup")
    (notes.parent / "more.csv").write_text(more)
    told = json.loads(run("evaluate", "n.model", "more.csv", "--json"))
    known = evaluate(load_model("n.model"), [x for x, _ in NOTES], [t for _, t in NOTES])
    assert told["unknown_tags"] == 2
    assert told["metrics"] == known
    assert main(["evaluate", "n.model", "more.csv"]) == 0
    assert b"2 tags that the model does not know were left out" in capsysbinary.readouterr().err


def test_explanations_add_up_and_name_features(run, fitted):
    model, data = fitted
    told = json.loads(run("explain", "e.model", "e.arff", "--rows", "2,5", "--topk", 4, "--json"))
    assert {reasons["row"] for reasons in told} == {2, 5}
    scores = model.decision_function(data.X)
    for reasons in told:
        terms = reasons["terms"]
        assert len(terms) == 4
        assert {term["name"] for term in terms} <= set(data.feature_names)
        total = reasons["base"] + reasons["rest"] + sum(term["contribution"] for term in terms)
        place = data.label_names.index(reasons["label"])
        assert total == pytest.approx(scores[reasons["row"], place], abs=1e-9)
    shown = run("explain", "e.model", "e.arff", "--rows", "2:3", "--label", "sad", "--topk", 3)
    assert shown.startswith("row 2, sad: ")
    assert shown.count(" at ") == 3


def test_words_explain_texts(notes, run):
    run("fit", notes, "--text", "body", "--tags", "topics", "-o", "n.model", "--method", "cmll")
    told = run("explain", "n.model", notes, "--rows", "1", "--label", "bread")
    assert "row 1, bread" in told
    assert "oven" in told


def test_a_record_of_a_fit(run, tmp_path):
    write_parquet(emotions(40), tmp_path / "e.parquet")
    told = json.loads(run("fit", "e.parquet", "-o", "e.model", "--method", "cmll", "--json"))
    assert (told["rows"], told["features"], told["labels"]) == (40, 72, 6)
    assert told["classifier"] == "CMLLClassifier(random_state=0)"
    assert told["bytes"] == (tmp_path / "e.model").stat().st_size
    assert told["n_parameters"] == load_model("e.model").n_parameters_


@pytest.mark.slow
def test_auto_keeps_its_budgets(run, tmp_path):
    write_arff(emotions(150), tmp_path / "e.arff")
    run("fit", "e.arff", "-o", "e.model", "--size-budget", "0.5", "--time-budget", "3")
    model = load_model("e.model")
    assert (model.size_budget, model.time_budget, model.verbose) == (0.5, 3.0, 0)
    assert model.n_parameters_ <= 0.5 * 72 * 6
    told = from_lines(
        run("predict", "e.model", "e.arff", "--probabilities", "--format", "jsonl", "--topk", "6")
    )
    assert all(0 <= score <= 1 for row in told for _, score in row)


# ---- mistakes ------------------------------------------------------------------------------------


MISTAKES = [
    (["fit", "e.arff"], "--output"),
    (["fit", "e.arff", "-o", "e.model"], "is there already.*--force"),
    (["fit", "e.arff", "-o", "home"], "home is a folder; add a name"),
    (["fit", "e.arff", "-o", "no/e.model"], "no does not exist; make it"),
    (["fit", "e.arff", "-o", "n.model", "--method", "cmlll"], "--method must be.*mean 'CMLL'"),
    (["fit", "e.arff", "-o", "n.model", "--method", "cmll", "--size-budget", "9"], "method auto"),
    (["fit", "e.arff", "-o", "n.model", "--size-budget", "huge"], "size_budget"),
    (["fit", "e.arff", "-o", "n.model", "--text", "body"], "only --text was given.*--tags"),
    (["fit", "e.arff", "-o", "n.model", "--tags", "topics"], "only --tags was given.*--text"),
    (["fit", "e.csv", "-o", "n.model"], r"e\.csv: it does not say which columns are labels"),
    (["fit", "none.csv", "-o", "n.model"], "There is no file none.csv here"),
    (["fit", "t.csv", "-o", "n.model", "--text", "body", "--tags", "topic"], "called 'topic'"),
    (["fit", "t.csv", "-o", "n.model", "--text", "body", "--tags", "topics", "--labels", "3"],
     "--labels and --ignore are about columns of numbers"),
    (["fit", "blob", "-o", "n.model"], "--input-format"),
    (["fit", "one.csv", "-o", "n.model", "--labels", "y"], "needs 4 rows at least, and X has 1"),
    (["predict", "none.model", "e.arff"], "there is none at 'none.model'"),
    (["predict", "e.arff", "e.arff"], "no model file"),
    (["predict", "cut.model", "e.arff"], "damaged|beginning of one"),
    (["predict", "changed.model", "e.arff"], "damaged"),
    (["predict", "e.model", "wrong.csv"], r"wrong\.csv: the model needs a column for each feature"),
    (["predict", "e.model", "none.arff"], "no file none.arff here"),
    (["predict", "e.model", "e.arff", "--topk", "0"], "--topk"),
    (["predict", "e.model", "e.arff", "--format", "jsn"], "--format must be one of.*'jsonl'"),
    (["predict", "e.model", "e.arff", "--output", "new.csv"], "is there already.*--force"),
    (["predict", "e.model", "e.arff", "--probabilities"], "holds a CMLLClassifier with other"),
    (["predict", "e.model", "emotions"], "the model needs a column|fitted to"),
    (["evaluate", "e.model", "new.csv"], "the model needs a column for each label"),
    (["explain", "e.model", "e.arff", "--rows", "a"], "--rows must be as 0:5"),
    (["explain", "e.model", "e.arff", "--rows", "30"], "--rows must name rows from 0 to 29"),
    (["explain", "e.model", "e.arff", "--rows", "40:50"], "--rows must name rows from 0 to 29"),
    (["explain", "e.model", "e.arff", "--label", "sadd"], "sad"),
    (["doctor", "cut.model"], "damaged|beginning of one"),
]  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a model and files, good and bad, made once."""
    folder = tmp_path_factory.mktemp("mistakes")
    data = emotions(30)
    write_arff(data, folder / "e.arff")
    assert (
        main(["fit", str(folder / "e.arff"), "-o", str(folder / "e.model"), "--method", "cmll"])
        == 0
    )
    content = (folder / "e.model").read_bytes()
    (folder / "cut.model").write_bytes(content[: len(content) // 2])
    (folder / "changed.model").write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
    (folder / "e.csv").write_text("x,y\n1,0\n2,1\n")
    (folder / "one.csv").write_text("x,y\n1,0\n")
    (folder / "wrong.csv").write_text("a,b\n1,2\n")
    head = ",".join(data.feature_names)
    (folder / "new.csv").write_text(head + "\n" + ",".join(["1"] * 72) + "\n")
    (folder / "t.csv").write_text("body,topics\nx,a\ny,b\n")
    (folder / "blob").write_bytes(bytes(range(128, 256)) * 4)
    (folder / "home").mkdir()
    return folder


@pytest.mark.parametrize(("words", "told"), MISTAKES, ids=[" ".join(w) for w, _ in MISTAKES])
def test_a_mistake_is_one_sentence_and_changes_nothing(words, told, place, monkeypatch, capsys):
    monkeypatch.chdir(place)
    monkeypatch.setenv("COMPACTLEARN_DATA", str(place / "home"))
    before = {path.name: path.stat().st_mtime_ns for path in place.iterdir()}
    assert main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1, captured.err
    assert captured.err.startswith("compactlearn: ")
    assert re.search(told, captured.err), captured.err
    assert {path.name: path.stat().st_mtime_ns for path in place.iterdir()} == before


# ---- labels that are left out --------------------------------------------------------------------


@pytest.mark.parametrize("name", ["shortlist", "auto"])
def test_labels_are_left_out_by_count_and_by_name(name, run, notes):
    told = run("fit", notes, "--text", "body", "--tags", "topics", "-o", "n.model",
               "--method", name, "--min-label-count", 2, "--exclude", "sport")  # fmt: skip
    assert " 3 labels, without 2 that were left out) in " in told
    model = load_model("n.model")
    assert model[-1].excluded_labels_ == ["pasta", "sport"]
    told = from_lines(run("predict", "n.model", notes, "--topk", 3, "--format", "jsonl"))
    assert {label for row in told for label, _ in row} == {"bread", "food", "weather"}
    found = json.loads(run("evaluate", "n.model", notes, "--json"))
    assert found["unknown_tags"] == 4  # pasta once, sport three times
    kept = [[tag for tag in tags if tag not in ("pasta", "sport")] for _, tags in NOTES]
    expected = evaluate(model, [text for text, _ in NOTES], kept)
    assert found["metrics"] == pytest.approx(expected)
    assert {"f1_at_1", "predicted_calibration_error", "calibration_error_at_1"} <= set(expected)


def test_labels_of_a_table_are_left_out_by_name(run, tmp_path):
    data = emotions(60)
    write_arff(data, tmp_path / "e.arff")
    told = json.loads(run("fit", "e.arff", "-o", "e.model", "--method", "shortlist", "--json",
                          "--exclude", "calm", "--exclude", "sad"))  # fmt: skip
    assert told["excluded_labels"] == ["calm", "sad"]
    assert told["labels"] == 4
    found = json.loads(run("evaluate", "e.model", "e.arff", "--json"))["metrics"]
    kept = [0, 1, 3, 5]
    assert found == pytest.approx(load_model("e.model").evaluate(data.X, data.Y[:, kept]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method", "cmll", "--min-label-count", "2"], "are for --method auto and shortlist"),
        (["--method", "shortlist", "--exclude", "sports"], "got 'sports'. Leave it out of exclude"),
        (["--method", "shortlist", "--min-label-count", "99"], "leave out all 5 labels"),
    ],
)
def test_labels_that_cannot_be_left_out(options, message, notes, capsys):
    asked = ["fit", str(notes), "--text", "body", "--tags", "topics", "-o", "n.model", *options]
    assert main(asked) != 0
    assert message in " ".join(capsys.readouterr().err.split())
    assert not (notes.parent / "n.model").exists()


def test_explain_names_the_rows_that_voted(run, notes):
    run(
        "fit", notes, "--text", "body", "--tags", "topics", "-o", "n.model", "--method", "shortlist"
    )
    told = json.loads(run("explain", "n.model", notes, "--rows", "1", "--label", "bread", "--json"))
    assert {one["row"] for one in told[0]["neighbours"]} == {1, 2}
    assert "votes of training rows: 1 (" in run("explain", "n.model", notes, "--rows", "1",
                                                "--label", "bread")  # fmt: skip
