"""The terms of texts in the shell, and the encodings that it reads."""

import json

import pytest

from compactlearn import load_model
from compactlearn.cli import main

NOTES = [
    ("keitä pasta suolavedessä", ["ruoka", "pasta"]),
    ("paista leipä uunissa", ["ruoka", "leipä"]),
    ("leipää ja öljyä", ["ruoka", "leipä"]),
    ("maalivahti torjui myöhään", ["urheilu"]),
    ("Älä häviä peliä", ["urheilu"]),
    ("sadetta ja tuulta", ["sää"]),
    ("tuulee lännestä", ["sää"]),
]


@pytest.fixture(autouse=True)
def surroundings(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture
def notes(tmp_path):
    """Writes the notes as a table of some form in some encoding; returns the path."""

    def write(form, encoding="utf-8"):
        path = tmp_path / f"notes-{encoding}.{form}"
        lines = {
            "csv": ["body,topics", *(f"{text},{';'.join(tags)}" for text, tags in NOTES)],
            "jsonl": [
                json.dumps({"body": text, "topics": tags}, ensure_ascii=False)
                for text, tags in NOTES
            ],
        }[form]
        path.write_bytes(("\n".join(lines) + "\n").encode(encoding))
        return path

    return write


def fitted(path, *options, method="cmll"):
    """The model that the shell makes of the notes."""
    target = path.with_suffix(".model")
    words = ["fit", path, "--text", "body", "--tags", "topics", "--method", method]
    assert main([str(word) for word in [*words, "--output", target, "--force", *options]]) == 0
    return load_model(target)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], {"analyzer": "word", "ngram_range": (1, 1), "min_df": 1}),
        (["--analyzer", "word"], {"analyzer": "word", "ngram_range": (1, 1)}),
        (["--analyzer", "char"], {"analyzer": "char", "ngram_range": (3, 5)}),
        (["--analyzer", "char_wb"], {"analyzer": "char_wb", "ngram_range": (3, 5)}),
        (
            ["--analyzer", "char_wb", "--ngrams", "2,4"],
            {"analyzer": "char_wb", "ngram_range": (2, 4)},
        ),
        (["--ngrams", "1,2"], {"analyzer": "word", "ngram_range": (1, 2)}),
        (["--ngrams", "1"], {"ngram_range": (1, 1)}),
        (["--min-df", "2"], {"min_df": 2}),
        (["--min-df", "0.2"], {"min_df": 0.2}),
    ],
)
def test_terms_are_those_that_were_asked_for(notes, options, expected):
    words = fitted(notes("csv"), *options)[0]
    assert expected.items() <= words.get_params().items()
    assert words.sublinear_tf  # what is not asked for is that of text_classifier


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--analyzer", "chars"], "--analyzer must be one of word, char, char_wb; got 'chars'"),
        (["--ngrams", "5,3"], "--ngrams must be two numbers"),
        (["--ngrams", "0,3"], "--ngrams must be two numbers"),
        (["--ngrams", "a"], "--ngrams must be two numbers"),
        (["--min-df", "0"], "--min-df must be a number of texts"),
        (["--min-df", "1.5"], "--min-df must be a number of texts"),
        (["--min-df", "nan"], "--min-df must be a number of texts"),
        (["--encoding", "base64"], "encoding must be the name of an encoding of texts"),
        (["--encoding", "nonsense"], "encoding must be the name of an encoding of texts"),
        (["--encoding", "ascii"], "its text must be in the encoding that was asked for, 'ascii'"),
    ],
)
def test_what_cannot_be_asked_for(notes, options, said, capsys, tmp_path):
    words = ["fit", notes("csv"), "--text", "body", "--tags", "topics", "--output", "model"]
    assert main([str(word) for word in [*words, *options]]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("options", [["--analyzer", "char"], ["--encoding", "latin-1"]])
def test_options_of_texts_need_texts(options, capsys):
    assert main(["fit", "emotions", "--method", "cmll", "--output", "model", *options]) == 2
    assert f"{options[0]} is about" in capsys.readouterr().err


@pytest.mark.parametrize(
    "encoding", ["latin-1", "cp1252", "utf-16", "utf-16-be", "utf-32", "cp850"]
)
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_encodings(notes, form, encoding, capsys):
    expected = fitted(notes(form))
    path = notes(form, encoding)
    model = fitted(path, "--encoding", encoding)
    assert model[0].vocabulary_ == expected[0].vocabulary_
    assert model[-1].label_names_ == expected[-1].label_names_
    capsys.readouterr()
    answers = []
    for source, options in ((path, ["--encoding", encoding]), (notes(form), [])):
        for command in ("predict", "evaluate"):
            more = ["--topk", "2"] if command == "predict" else ["--json"]
            words = [command, path.with_suffix(".model"), source, *options, *more]
            assert main([str(word) for word in words]) == 0
            out = capsys.readouterr().out
            answers.append(json.loads(out)["metrics"] if command == "evaluate" else out)
    assert answers[:2] == answers[2:]


def test_empty_texts_are_said(tmp_path, capsys):
    path = tmp_path / "notes.csv"
    rows = "".join(f"{text},{';'.join(tags)}\n" for text, tags in [*NOTES, ("", ["sää"])])
    path.write_text("body,topics\n" + rows, encoding="utf-8")
    fitted(path, method="shortlist")
    assert "compactlearn: No terms in 1 of 8 texts (row 7): " in capsys.readouterr().err
    new = tmp_path / "new.csv"
    new.write_text("body\nzzz\nleipää\n", encoding="utf-8")
    assert main(["predict", str(path.with_suffix(".model")), str(new), "--topk", "1"]) == 0
    told = capsys.readouterr()
    assert "compactlearn: No term that fit had in 1 of 2 texts (row 0): " in told.err
    assert told.out.splitlines()[1] in ("0,ruoka,0.375", "0,sää,0.375")


def test_tables_of_empty_texts(tmp_path, capsys):
    path = tmp_path / "notes.csv"
    path.write_text("body,topics\n,a\n...,b\n")
    words = ["fit", str(path), "--text", "body", "--tags", "topics", "--output", "model"]
    assert main(words) == 2
    assert "of 2 texts none has any" in capsys.readouterr().err
