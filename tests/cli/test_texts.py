"""Texts in the shell: their terms, their encodings, and texts without any term."""

import csv
import json

import numpy as np
import pytest

from compactlearn import (
    CMLLClassifier,
    evaluate,
    load_model,
    predict_labels,
    save_model,
    text_classifier,
)

NOTES = [
    ("keitä pasta suolavedessä", ["ruoka", "pasta"]),
    ("paista leipä uunissa", ["ruoka", "leipä"]),
    ("leipää ja öljyä", ["ruoka", "leipä"]),
    ("maalivahti torjui myöhään", ["urheilu"]),
    ("Älä häviä peliä", ["urheilu"]),
    ("sadetta ja tuulta", ["sää"]),
    ("tuulee lännestä", ["sää"]),
]


@pytest.fixture
def notes(tmp_path):
    """Write the notes as a table of some form in some encoding; return the path."""

    def write(form="csv", encoding="utf-8", more=()):
        path = tmp_path / f"notes-{encoding}.{form}"
        rows = [*NOTES, *more]
        lines = {
            "csv": ["body,topics", *(f"{text},{';'.join(tags)}" for text, tags in rows)],
            "jsonl": [
                json.dumps({"body": text, "topics": tags}, ensure_ascii=False)
                for text, tags in rows
            ],
        }[form]
        path.write_bytes(("\n".join(lines) + "\n").encode(encoding))
        return path

    return write


@pytest.fixture
def fitted(run):
    """Fit a model to texts; return it and the output."""

    def fitted(path, *options, method="cmll"):
        target = path.with_suffix(".model")
        words = ["fit", path, "--text", "body", "--tags", "topics", "--method", method]
        output = run(*words, "--output", target, "--force", *options)
        return load_model(target), output

    return fitted


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], {"analyzer": "word", "ngram_range": (1, 1), "min_df": 1}),
        (["--analyzer", "char"], {"analyzer": "char", "ngram_range": (3, 5)}),
        (["--analyzer", "char_wb", "--ngrams", "2,4"], {"ngram_range": (2, 4)}),
        (["--ngrams", "1,2"], {"analyzer": "word", "ngram_range": (1, 2)}),
        (["--ngrams", "1"], {"ngram_range": (1, 1)}),
        (["--min-df", "2"], {"min_df": 2}),
        (["--min-df", "0.2"], {"min_df": 0.2}),
    ],
)
def test_terms_are_those_that_were_asked_for(notes, fitted, options, expected):
    words = fitted(notes(), *options)[0][0]
    assert expected.items() <= words.get_params().items()
    assert words.sublinear_tf  # what is not asked for is that of text_classifier


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-be", "cp850"])
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_encodings(notes, fitted, run, form, encoding):
    expected = fitted(notes(form))[0]
    path = notes(form, encoding)
    model = fitted(path, "--encoding", encoding)[0]
    assert model[0].vocabulary_ == expected[0].vocabulary_
    assert model[-1].label_names_ == expected[-1].label_names_
    answers = []
    for source, options in ((path, ["--encoding", encoding]), (notes(form), [])):
        stored = path.with_suffix(".model")
        answers.append(run("predict", stored, source, *options, "--topk", "2").out)
        record = json.loads(run("evaluate", stored, source, *options, "--json").out)
        answers.append(record["metrics"])
    assert answers[:2] == answers[2:]
    if encoding == "latin-1":
        words = ["--text", "body", "--tags", "topics", "-o", "model", "--encoding", "ascii"]
        err = run("fit", path, *words, status=2).err
        assert "its text must be in the encoding that was asked for, 'ascii'" in err


def test_empty_texts_are_said(notes, fitted, run, tmp_path):
    path = notes(more=[("", ["sää"])])
    output = fitted(path, method="shortlist")[1]
    assert "compactlearn: 1 of 8 texts has no word (row 7): " in output.err
    new = tmp_path / "new.csv"
    new.write_text("body\nzzz\nleipää\n", encoding="utf-8")
    output = run("predict", path.with_suffix(".model"), new, "--topk", "1")
    assert (
        "compactlearn: 1 of 2 texts has no word of the training texts (row 0): its " in output.err
    )
    assert output.out.splitlines()[1] in ("0,ruoka,0.375", "0,sää,0.375")


# ---- texts in several columns --------------------------------------------------------------------

PARTS = [
    ("Keitto", "keitä pasta suolavedessä", "ruoka;pasta"),
    ("Leipä", "paista uunissa", "ruoka;leipä"),
    ("Leipä", "leipää, öljyä", "ruoka;leipä"),
    ("Torjunta", "maalivahti torjui myöhään", "urheilu"),
    ("", "sadetta ja tuulta", "sää"),
]
SEVERAL = ["--text", "title:2,body", "--tags", "topics", "--method", "cmll", "-o", "m.model"]


def write(name, columns, rows):
    with open(name, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([columns, *rows])


@pytest.fixture
def parts():
    write("parts.csv", ["title", "body", "topics"], PARTS)
    return "parts.csv"


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("title:2,body", {"title": 2.0, "body": 1.0}),
        ("body, title:0.5", {"body": 1.0, "title": 0.5}),
        ("title,body", {"title": 1.0, "body": 1.0}),
        ("body:3", {"body": 3.0}),
        ("body", None),
        ('"body",', None),
    ],
)
def test_columns_of_texts_and_their_weights(run, parts, text, fields):
    run("fit", parts, "--text", text, *SEVERAL[2:])
    model = load_model("m.model")
    assert getattr(model[0], "fields_", None) == fields
    rows = [{"title": title, "body": body} for title, body, _ in PARTS]
    X, tags = rows, [tags.split(";") for *_, tags in PARTS]
    expected = text_classifier(CMLLClassifier(random_state=0), fields=fields)
    if fields is None:
        X = [row["body"] for row in rows]
    expected.fit(X, tags)
    assert np.array_equal(model.decision_function(X), expected.decision_function(X))


def test_every_command_reads_all_columns_of_the_texts(run, parts):
    run("fit", parts, *SEVERAL)
    model, rows = load_model("m.model"), [{"title": a, "body": b} for a, b, _ in PARTS]
    tags = [tags.split(";") for *_, tags in PARTS]
    lines = run("predict", "m.model", parts, "--topk", 1, "--threshold", 0, "--format", "jsonl").out
    found = [json.loads(line)["labels"][0]["name"] for line in lines.splitlines()]
    assert found == [row[0][0] for row in predict_labels(model, rows, 1)]
    record = json.loads(run("evaluate", "m.model", parts, "--json").out)
    assert record["metrics"] == evaluate(model, rows, tags)
    why = run("explain", "m.model", parts, "--rows", "1", "--label", "leipä").out
    assert "title: leipä" in why
    run("report", "m.model", parts, "-o", "page.html")
    with open("page.html", encoding="utf-8") as page:
        assert "title: leipä" in page.read()


def test_columns_that_are_missing_or_have_other_names(run, parts):
    run("fit", parts, *SEVERAL)
    expected = run("predict", "m.model", parts).out
    write("other.csv", ["topics", "abstract", "heading"], [row[::-1] for row in PARTS])
    assert run("predict", "m.model", "other.csv", "--text", "heading,abstract").out == expected
    write("less.csv", ["body", "topics"], [row[1:] for row in PARTS])
    for command in ("predict", "evaluate", "explain", "report"):
        options = ["-o", "page.html"] if command == "report" else []
        err = run(command, "m.model", "less.csv", *options, status=2).err
        assert "texts are in the 2 columns 'title', 'body', but none is called 'title'" in err
    for text in ("body", "title,body,topics", "title:2,body"):
        err = run("predict", "m.model", parts, "--text", text, status=2).err
        assert f"fitted to the columns title, body; got --text {text}. Name 2 columns in" in err
    err = run("predict", "m.model", parts, "--input-format", "lines", status=2).err
    assert "The model needs texts with the columns title, body; got plain lines" in err
    run("fit", parts, "--text", "body", *SEVERAL[2:], "--force")
    err = run("predict", "m.model", parts, "--text", "title,body", status=2).err
    assert "fitted to one column of texts; got --text title,body. Name one column" in err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("title,title", "--text must name each column once; got 'title,title'"),
        ("title:0,body", "positive number, from 1e-9 to 1e9; got 0.0 for 'title'"),
        ("title:-1,body", "got -1.0 for 'title'"),
        ("title:nan,body", "got nan for 'title'"),
        ("title:two,body", "none is called 'title:two'"),
        ("titel,body", "Did you mean 'title'?"),
        (",", "fields must be a list of column names"),
    ],
)
def test_mistakes_in_columns_of_texts(run, parts, text, said):
    assert said in run("fit", parts, "--text", text, *SEVERAL[2:], status=2).err


def test_nulls_are_empty_and_models_of_python_know_their_columns(run, parts):
    lines = [{"title": a or None, "body": b, "topics": tags.split(";")} for a, b, tags in PARTS]
    del lines[-1]["title"]
    with open("parts.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    run("fit", parts, *SEVERAL)
    expected = run("predict", "m.model", parts).out
    assert run("predict", "m.model", "parts.jsonl").out == expected
    model = text_classifier(CMLLClassifier(random_state=0), fields={"title": 2, "body": 1})
    save_model(model.fit(lines, [line["topics"] for line in lines]), "python.model")
    assert run("predict", "python.model", parts).out == expected
    lines[0]["body"] = 7
    with open("parts.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    assert "'body' holds 7" in run("predict", "m.model", "parts.jsonl", status=2).err
