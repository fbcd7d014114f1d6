"""Texts and tags: every format is read back, and the error of a bad file names the fault."""

import csv
import gzip
import io
import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlearn.datasets import DataFileError, Texts, read_texts
from compactlearn.datasets._formats.texts import read_columns
from tests.makers import modest

TEXTS = ("bake the bread", 'she said "rain, rain"', "two\nlines; and more", "", "日本 — naïve")
TAGS = (("food", "bread"), ("weather",), (), ("a b", "日本"), ("food",))


def as_csv(delimiter, texts=TEXTS, tags=TAGS, sep=";"):
    stream = io.StringIO()
    table = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    table.writerow(["id", "body", "topics"])
    table.writerows([[j, x, sep.join(t)] for j, (x, t) in enumerate(zip(texts, tags, strict=True))])
    return stream.getvalue().encode()


def as_json(texts=TEXTS, tags=TAGS):
    rows = zip(texts, tags, strict=True)
    return "".join(json.dumps({"body": x, "topics": t}) + "\n" for x, t in rows).encode()


def as_parquet(texts=TEXTS, tags=TAGS, sep=None):
    cells = [list(t) if sep is None else sep.join(t) for t in tags]
    stream = io.BytesIO()
    pq.write_table(pa.table({"body": list(texts), "topics": cells, "n": [1] * len(texts)}), stream)
    return stream.getvalue()


FORMS = {
    "t.csv": as_csv(","),
    "t.tsv": as_csv("\t"),
    "semicolons.csv": as_csv(";", sep="|"),
    "t.jsonl": as_json(),
    "joined.jsonl": as_json(tags=[";".join(tags) for tags in TAGS]),
    "t.parquet": as_parquet(),
    "joined.parquet": as_parquet(sep=";"),
    "t.csv.gz": gzip.compress(as_csv(",")),
    "windows.csv": b"\xef\xbb\xbf"
    + as_csv(",").replace(b"\n", b"\r\n").replace(b"two\r\nlines", b"two\nlines"),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_format_gives_the_same_texts(name, write):
    path = write(FORMS[name], name)
    sep = "|" if name == "semicolons.csv" else ";"
    found = read_texts(path, "body", "topics", sep=sep)
    assert (found.texts, found.tags) == (TEXTS, TAGS)
    assert found.source == str(path)
    alone = read_texts(path, "body")
    assert (alone.texts, alone.tags) == (TEXTS, None)


words = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), max_size=12)
tag = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Zs", "Zl", "Zp")), min_size=1)
tags = st.lists(tag.filter(lambda t: ";" not in t and t == t.strip()), max_size=3, unique=True)


@given(st.lists(st.tuples(words, tags.map(tuple)), min_size=1, max_size=5))
def test_any_texts_are_read_back(tmp_path_factory, rows):
    folder = tmp_path_factory.getbasetemp()
    texts, names = tuple(x for x, _ in rows), tuple(t for _, t in rows)
    for name, content in (
        ("any.csv", as_csv(",", texts, names)),
        ("any.jsonl", as_json(texts, names)),
    ):
        (folder / name).write_bytes(content)
        found = read_texts(folder / name, "body", "topics")
        assert (found.texts, found.tags) == (texts, names)


def test_a_text_may_be_longer_than_what_the_csv_module_allows(write):
    before = csv.field_size_limit()
    long = "word " * 100_000
    found = read_texts(write(as_csv(",", [long], [("a",)]), "t.csv"), "body", "topics")
    assert found.texts == (long,)
    assert csv.field_size_limit() == before


def test_names_are_stripped_and_count_once(write):
    path = write('body,topics\nx," a ;b;; a"\n', "t.csv")
    assert read_texts(path, "body", "topics").tags == (("a", "b"),)


def test_tags_may_be_absent_from_some_rows_of_json(write):
    path = write(
        '{"body": "x"}\n\n{"body": "y", "topics": null}\n{"body":"z","topics":["a"]}\n', "t.jsonl"
    )
    assert read_texts(path, "body", "topics").tags == ((), (), ("a",))


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.jsonl", "t.parquet"])
def test_texts_in_several_columns(tmp_path, name):
    rows = [{"title": "A", "body": "x", "topics": "a;b"}, {"title": "", "body": "y", "topics": "a"}]
    frame = pd.DataFrame(rows)
    if name == "t.parquet":
        frame.loc[1, "title"] = None
        frame.to_parquet(tmp_path / name)
    elif name == "t.jsonl":
        (tmp_path / name).write_text(
            '{"title": "A", "body": "x", "topics": "a;b"}\n{"body": "y", "topics": "a"}\n'
        )
    else:
        frame.to_csv(tmp_path / name, index=False, sep="," if name == "t.csv" else "\t")
    found = read_texts(tmp_path / name, ["body", "title"], "topics")
    assert found.texts == ({"body": "x", "title": "A"}, {"body": "y", "title": ""})
    assert found.tags == (("a", "b"), ("a",))
    with pytest.raises(
        DataFileError, match=r"in the 2 columns 'body', 'titel', but none .*'titel'"
    ):
        read_texts(tmp_path / name, ["body", "titel"])


def test_plain_lines_are_texts(write):
    path = write("one text\r\nanother, with a comma\n\nlast", "stdin")
    assert read_texts(path, None).texts == ("one text", "another, with a comma", "", "last")
    assert read_texts(path, None, format="lines").tags is None


def test_repr(write):
    assert repr(Texts(("a", "b"))) == "Texts 'unnamed': 2 rows"
    assert repr(read_texts(write(as_json(), "t.jsonl"), "body", "topics")) == (
        "Texts 't': 5 rows, 5 different tags"
    )


TABLE = "body,topics\nx,a\n"
REFUSED = [
    ("t.csv", TABLE, {"text": "bdy"}, r"none is called 'bdy'; there are 'body'.*--text.*'body'"),
    ("t.csv", TABLE, {"tags": "topic"}, r"none is called 'topic'.*--tags.*'topics'"),
    ("t.jsonl", '{"body": "x"}\n', {}, r"tags must name a column, but none is called 'topics'"),
    ("t.jsonl", '{"other": "x"}\n', {}, r"t\.jsonl: text must name a column"),
    ("t.csv", "body,topics\nx\n", {}, r"t\.csv, line 2: a row must hold 2 cells.*got 1.*quotes"),
    ("t.csv", "body,body\nx,y\n", {}, r"line 1: each column needs a name.*2 are called 'body'"),
    ("t.csv", "", {}, "the file is empty"),
    ("t.csv", "body,topics\n", {}, "it holds no row"),
    ("t.csv", 'body,topics\n"x,a\n', {}, r"cells cannot be separated"),
    ("t.csv", b"\0\1,\0", {}, "zero bytes"),
    ("t.jsonl", '{"body": "x"\n', {}, r"t\.jsonl, line 1: a line must be an object of JSON"),
    ("t.jsonl", "[1]\n", {}, r"line 1: a line must be an object of JSON.*\[1\]"),
    ("t.jsonl", '{"body": 3, "topics": []}\n', {}, r"line 1: a text must be a string.* holds 3"),
    ("t.jsonl", '{"body": "x", "topics": [1]}\n', {}, r"line 1: the tags of a row must.*\[1\]"),
    ("t.jsonl", '{"body": "x", "topics": 4}\n', {}, r"the tags of a row must be names"),
    ("t.jsonl", '{"body": "x", "topics": ["\\ud800"]}\n', {}, r"without halves of surrogate"),
    ("t.parquet", b"PAR1 but not really", {}, "cannot be read as Parquet"),
    ("t.parquet", as_parquet(), {"text": "bodi"}, "none is called 'bodi'.*'body'"),
    ("t.parquet", as_parquet(), {"encoding": "latin-1"}, "which has an encoding of its own"),
    ("t", TABLE, {}, "its name has the ending of none.*--input-format"),
    ("t", "body\nx\n", {"text": None, "tags": "topics"}, "got None for .* no tags"),
    ("t", "", {"text": None, "tags": None}, "it holds no row"),
    ("t.csv", "body\nx\n", {"text": None}, "text must be the name of the one with the texts"),
    ("t.csv", "body\nx\n", {"text": []}, "text must name at least one column"),
    ("t.csv", "body\nx\n", {"format": "arff"}, "texts are read from csv, tsv.*'arff'"),
    ("t.csv", "body\nx\n", {"sep": ""}, "sep must be a text of at least one .*; got ''. Pass"),
    ("t.jsonl", "{}\n", {"header": False}, "is for CSV and TSV"),
]


@pytest.mark.parametrize(("name", "content", "options", "words"), REFUSED)
def test_the_error_of_a_bad_file_names_the_fault(name, content, options, words, write):
    asked = {"text": "body", "tags": "topics"} | options
    with pytest.raises(ValueError, match=words):
        read_texts(write(content, name), **asked)


# ---- encodings ----------------------------------------------------------------------------------

_CELLS = st.text(
    st.characters(codec="utf-8", exclude_characters='\r\n\0"\ufeff', exclude_categories=["Cc"]),
    min_size=1,
    max_size=30,
)


@modest
@given(
    texts=st.lists(_CELLS, min_size=1, max_size=20),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]),
    form=st.sampled_from(["csv", "jsonl", "lines"]),
    packed=st.booleans(),
)
def test_texts_in_any_encoding(tmp_path_factory, texts, encoding, form, packed):
    """Texts are read back, in pieces of any size and through a compression."""
    rows = {
        "csv": ["body", *(f'"{text}"' for text in texts)],
        "jsonl": [json.dumps({"body": text}, ensure_ascii=False) for text in texts],
        "lines": texts,
    }[form]
    content = ("\n".join(rows) + "\n").encode(encoding)
    path = tmp_path_factory.mktemp("texts") / f"texts.{form}"
    path.write_bytes(gzip.compress(content) if packed else content)
    column = None if form == "lines" else "body"
    found = read_texts(path, column, format=form, encoding=encoding)
    assert list(found.texts) == texts
    if form != "lines":
        kept = read_columns(path, ["body"], format=form, encoding=encoding)
        assert kept == {"body": texts}


@pytest.mark.parametrize("n", [1, (1 << 16) - 1, 1 << 16, (1 << 17) - 1])
def test_signs_of_several_bytes_across_pieces_of_a_file(tmp_path, n):
    path = tmp_path / "long.txt"
    path.write_bytes(("x" * n + "😀ä\n").encode("utf-16-le"))
    assert read_texts(path, None, encoding="utf-16-le").texts == ("x" * n + "😀ä",)


@pytest.mark.parametrize("encoding", ["ascii", "utf-8", "shift_jis"])
def test_a_file_in_another_encoding_than_asked_for(tmp_path, encoding):
    path = tmp_path / "texts.txt"
    path.write_bytes(b"caf\xe9 \xff\n")
    with pytest.raises(DataFileError, match=r"in the encoding that was asked for.*--encoding"):
        read_texts(path, None, encoding=encoding)
    assert read_texts(path, None).texts == ("café ÿ",)  # the usual guess
