"""Texts in the shell: their terms, their encodings, and texts without any term."""

import json

import pytest

from compactlearn import load_model

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
    assert "compactlearn: No terms in 1 of 8 texts (row 7): " in output.err
    new = tmp_path / "new.csv"
    new.write_text("body\nzzz\nleipää\n", encoding="utf-8")
    output = run("predict", path.with_suffix(".model"), new, "--topk", "1")
    assert "compactlearn: No term that fit had in 1 of 2 texts (row 0): " in output.err
    assert output.out.splitlines()[1] in ("0,ruoka,0.375", "0,sää,0.375")
