"""Every mistake ends with one sentence and status 2, and changes nothing."""

import re

import pytest

from compactlearn.cli import main
from compactlearn.datasets import Dataset, load, write_arff
from tests.cli.notes import write_notes

CMLL = ["--method", "cmll", "-o", "n.model"]
TEXTS = ["t.csv", "--text", "body", "--tags", "topics", "-o", "n.model"]
CARS = ["cars.csv", "--labels", "is_", *CMLL, "--categories"]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with models and files, good and bad, made once."""
    folder = tmp_path_factory.mktemp("mistakes")
    data = load("emotions")
    names = tuple(f"f{j}" for j in range(72)), ("amazed", "happy", "calm", "quiet", "sad", "angry")
    write_arff(Dataset(data.X[:30], data.Y[:30], *names), folder / "e.arff")
    write_notes(folder / "t.csv")
    for name, words in (("e", ["e.arff"]), ("t", TEXTS[:-2])):
        source = [str(folder / words[0]), *words[1:]]
        target = str(folder / f"{name}.model")
        assert main(["fit", *source, "-o", target, "--method", "cmll"]) == 0
    content = (folder / "e.model").read_bytes()
    (folder / "cut.model").write_bytes(content[: len(content) // 2])
    (folder / "changed.model").write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
    head = ",".join(names[0])
    rows = "".join(f"row{i},{i % 7},{i % 5 - 2},{i % 2},{int(i % 3 == 0)}\n" for i in range(30))
    files = {
        "docs.csv": "id,x,z,amazed,happy\n" + rows,
        "e.csv": "x,y\n1,0\n2,1\n",
        "one.csv": "x,y\n1,0\n",
        "narrow.csv": "text\n1\n",
        "wrong.csv": "a,b\n1,2\n",
        "new.csv": f"{head}\n{','.join(['1'] * 72)}\n",
        "odd.csv": "body,topics\nrain,unheard of\nbread,never seen\n",
        "kept.csv": "body,labels\nrain,x\n",
        "untagged.csv": "body\nfresh bread\n",
        "blank.csv": "body,topics\n,a\n...,b\n",
        "cars.csv": "id,colour,price,is_old\na,red,3,1\nb,blue,4,0\nc,red,5,1\nd,,6,0\n",
        "when.arff": "@relation r\n@attribute 'the day' date\n@attribute y {0,1}\n@data\n1,1\n",
        "pairs": "1 0:1\n",
        "empty.csv": "",
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "blob").write_bytes(bytes(range(128, 256)) * 4)
    (folder / "binary.csv").write_bytes(b"\x89PNG\r\0\0\0\n,\0" * 20)
    (folder / "home").mkdir()
    (folder / "store" / "cells").mkdir(parents=True)
    return folder


FIT = [
    (["e.arff"], "--output"),
    (["e.arff", "-o", "e.model"], "exists already.*--force"),
    (["e.arff", "-o", "home"], "home is a folder; add a name"),
    (["e.arff", "-o", "no/e.model"], "no does not exist; make it"),
    (["e.arff", "-o", "n.model", "--method", "cmlll"], "--method must be.*mean 'CMLL'"),
    (["e.arff", *CMLL, "--size-budget", "9"], "method auto"),
    (["e.arff", "-o", "n.model", "--size-budget", "huge"], "size_budget"),
    (["e.arff", "-o", "n.model", "--size-budget", "9" * 400], "size_budget must be .{,300}$"),
    (["e.arff", *CMLL, "--dtype", "float8"], "--dtype must be one of"),
    (["e.arff", *CMLL, "--min-label-count", "2"], "are for --method auto and shortlist"),
    (["e.arff", "-o", "n.model", "--method", "shortlist", "--exclude", "sat"], "got 'sat'"),
    (["e.arff", "-o", "n.model", "--text", "body"], "only --text was given.*--tags"),
    (["e.arff", "-o", "n.model", "--tags", "topics"], "only --tags was given.*--text"),
    (["e.csv", "-o", "n.model"], r"e\.csv: it does not say which columns are labels"),
    (["none.csv", "-o", "n.model"], "must be a file or the name of a data set; got none.csv"),
    (["blob", "-o", "n.model"], "blob: neither its name nor its content.*--input-format"),
    (["one.csv", "-o", "n.model", "--labels", "y"], "needs 4 rows at least, and X has 1"),
    ([*TEXTS, "--tags", "topic"], "called 'topic'"),
    ([*TEXTS, "--labels", "3"], "--labels is for numeric tables"),
    ([*TEXTS, "--analyzer", "chars"], "--analyzer must be one of word, char, char_wb"),
    *(([*TEXTS, "--ngrams", n], "--ngrams must be two integers") for n in ("5,3", "0,3", "a")),
    *(([*TEXTS, "--min-df", n], "--min-df must be an integer of") for n in ("0", "1.5", "nan")),
    ([*TEXTS, "--encoding", "base64"], "encoding must be the name of an encoding of texts"),
    (["blank.csv", *TEXTS[1:]], "of 2 texts none has any"),
    (["emotions", *CMLL, "--analyzer", "char"], "--analyzer is for texts"),
    (["emotions", *CMLL, "--encoding", "latin-1"], "--encoding is for tables of texts"),
    ([*CARS, "color"], "none is called 'color'.*'colour'"),
    ([*CARS, "is_old"], "columns of features"),
    ([*CARS, "price"], "'id' must hold finite numbers"),
    (["cars.csv", *CMLL, "--categories", "auto"], "does not say which columns are labels"),
    (["cars.csv", "--labels", "price", *CMLL, "--categories", "auto"], "a label must be 0 or 1"),
    ([*CARS, "auto", "--text", "id"], "--text cannot be combined with --categories"),
    ([*CARS, "auto", "--blocks"], "and no --categories"),
    (["emotions", *CMLL, "--categories", "auto"], "no file emotions"),
    (["cars.csv", "--labels", "is_", *CMLL], "--categories auto"),
    (["e.arff", "-o", "n.model", "--blocks"], "--blocks is for linear models.*got --method auto"),
    (["e.arff", *CMLL, "--checkpoint", "kept"], "--blocks was not given"),
    (["-", *CMLL, "--blocks"], "DATA is standard input. Name a file"),
    (["absent.csv", *CMLL, "--blocks"], "no file is there"),
    (["e.arff", *CMLL, "--blocks", "--text", "a"], "--text is for texts"),
]
MODELS = [
    (["predict", "none.model", "e.arff"], "there is none at 'none.model'"),
    (["predict", "e.arff", "e.arff"], "is none of them"),
    (["predict", "cut.model", "e.arff"], "damaged|beginning of one"),
    (["predict", "changed.model", "e.arff"], "damaged"),
    (["predict", "e.model", "wrong.csv"], r"wrong\.csv: the model needs a column for each feature"),
    (
        ["predict", "e.model", "none.arff"],
        "must be a file or the name of a data set; got none.arff",
    ),
    (["predict", "e.model", "e.arff", "--topk", "0"], "--topk"),
    (["predict", "e.model", "e.arff", "--format", "jsn"], "--format must be one of.*'jsonl'"),
    (["predict", "e.model", "e.arff", "--output", "new.csv"], "exists already.*--force"),
    (["predict", "e.model", "e.arff", "--probabilities"], "got a CMLLClassifier with other scores"),
    (["predict", "e.model", "emotions"], "the model needs a column|fitted to"),
    *(
        (["predict", "t.model", "t.csv", "--threshold", t], "--threshold must be a number between")
        for t in ("nan", "-inf", "2", "-0.5")
    ),
    (["predict", "t.model", "t.csv", "--keep", "idd"], "none is called 'idd'"),
    (["predict", "t.model", "t.csv", "--keep", "body", "--format", "xmlrepo"], "labels and scores"),
    (["predict", "t.model", "emotions", "--keep", "id"], "emotions"),
    (["predict", "t.model", "kept.csv", "--keep", "labels"], "columns other than row, labels"),
    (["predict", "t.model", "t.parquet", "--no-header"], "t.parquet"),
    (["evaluate", "e.model", "new.csv"], "the model needs a column for each label"),
    (
        ["evaluate", "t.model", "odd.csv"],
        "labels that the model knows; none of the 2 rows of odd has one",
    ),
    (["explain", "e.model", "e.arff", "--rows", "a"], "--rows must be like 0:5"),
    (["explain", "e.model", "e.arff", "--rows", "30"], "--rows must name rows from 0 to 29"),
    (["explain", "e.model", "e.arff", "--rows", "40:50"], "--rows must name rows from 0 to 29"),
    (["explain", "e.model", "e.arff", "--label", "sadd"], "sad"),
    (["doctor", "cut.model"], "damaged|beginning of one"),
]
NOT_BOTH = "needs a model file and DATA, .* Write report MODEL DATA, or report STORE"
REPORTS = [
    ([], r"MODEL DATA \| STORE\.\.\."),
    *((words, NOT_BOTH) for words in (["t.model"], ["t.csv"], ["store", "t.csv"])),
    (["t.model", "t.csv", "odd.csv"], NOT_BOTH),
    (["none"], r"got none \(there is no file or folder none\)\. Write report MODEL DATA"),
    (["t.model", "e.model"], "e.model"),
    (["t.csv", "t.model"], "t.csv.*is none of them"),
    (["changed.model", "t.csv"], "changed.model.*damaged"),
    (["none.model", "t.csv"], "there is none at 'none.model'"),
    (["t.model", "t.csv", "--selection", "paper", "--no-times"],
     "--selection and --no-times can only be used with records.*leave them out"),
    (["t.model", "t.csv", "--format", "csv"], "--format can only be used with records.*HTML"),
    (["store", "--text", "body"], "--text can only be used with the DATA of a model"),
    (
        ["store", "--tags", "a", "--labels", "2"],
        "--labels and --tags can only be used with the DATA of a model.*leave them out",
    ),
    (["t.model", "none.csv"], "none.csv"),
    (["t.model", "untagged.csv"], "topics"),
    (["t.model", "odd.csv"], "labels that the model knows; none of the 2 rows of odd has one"),
    (["t.model", "store"], "store"),
    (["t.model", "t.csv", "-o", "no/page.html"], "no does not exist; make it"),
    (["t.model", "t.csv", "-o", "store"], "store is a folder; add a name"),
]  # fmt: skip
SOURCES = [
    (["docs.csv"], r"docs.csv: it does not say which columns are labels. Pass labels \(--labels"),
    (["docs.csv", "--labels", "-2"], "docs.csv, line 2: the column 'id' .*--ignore id"),
    (["docs.csv", "--labels", "amazd,happy"], "no column has the name 'amazd'.*'amazed'"),
    (["docs.csv", "--labels", "sad"], "labels='sad' is read as a prefix"),
    (["docs.csv", "--labels", "9"], "docs.csv: as a count, labels must be from 1 to 4"),
    (["empty.csv", "--labels", "-2"], "empty.csv: a table is text .* but the file is empty"),
    (["binary.csv", "--labels", "-2"], "binary.csv, line 1: a table is text .* zero bytes"),
    (["narrow.csv", "--labels", "-1"], "narrow.csv, line 1: .*Pass delimiter .--delimiter"),
    (["pairs"], "pairs: its rows may be xmlrepo .*--input-format"),
    (["when.arff", "--labels", "-1"], "when.arff: .*--ignore 'the day'"),
    (["home"], "got the folder home. Name a file in it"),
    (["nowhere.csv"], "must be a file or the name of a data set; got nowhere.csv"),
    (["enronn"], "Did you mean 'enron'"),
    (["enron", "--labels", "-2"], "--labels is for reading a file, but there is no file enron"),
]
TUNE = [
    (["emotions", "--metric", "average_precison"], "average_precision"),
    (["emotions", "--jobs", "0"], "--jobs"),
    (["emotions", "--folds", "594"], "at most one for each of the 593 rows"),
    (["emotions", "--folds", "1"], "--folds"),
    (["emotions", "--fold", "3"], "--folds"),
    (["emotions", "extra"], "extra"),
    (["emotions", "-o", "table.txt"], "ends in .csv"),
]
DATASETS = [
    (["info", "enrom"], "Did you mean 'enron'"),
    (["fetch", "msra"], "run: compactlearn datasets add msra FILE"),
    (["fetch", "corel16k"], "needs the file corel16k1.mat"),
    (["add", "msra", "absent.arff"], "absent.arff, but no file is there"),
    (["add", "msra"], "Missing argument 'files'"),
    (["add", "flags", "e.arff"], "put flags.arff, flags.xml into"),
    (["add", "my set", "x"], "got 'my set'. Choose such a name"),
    (["list", "--data-home", __file__], "is a file"),
    (["convert", "emotions", "nowhere/copy.txt"], "nowhere does not exist; make it"),
    (["convert", "emotions", "copy.docx"], "DST must end in .arff, .parquet, .txt"),
    (["convert", "emotions", "copy.arff.gz"], "DST must end in .arff, .parquet, .txt"),
    (["convert", "emotions"], "DST"),
    (["lst"], "lst"),
]
MISTAKES = [
    (["tne"], "tne"),
    *MODELS,
    *((["fit", *words], message) for words, message in FIT),
    *((["report", *words], message) for words, message in REPORTS),
    *((["tune", *words], message) for words, message in [*TUNE, *SOURCES]),
    *((["datasets", *words], message) for words, message in DATASETS),
    *((["datasets", "convert", w[0], "copy.txt", *w[1:]], message) for w, message in SOURCES),
]


@pytest.mark.parametrize(
    ("words", "message"), MISTAKES, ids=[" ".join(w)[:60] for w, _ in MISTAKES]
)
def test_a_mistake_is_one_sentence_and_changes_nothing(words, message, place, monkeypatch, run):
    monkeypatch.chdir(place)
    monkeypatch.setenv("COMPACTLEARN_DATA", str(place / "home"))
    before = {path: path.stat().st_mtime_ns for path in place.rglob("*")}
    err = run(*words, status=2).err
    assert err.count("\n") == 1, err
    assert re.search(message, err), err
    assert {path: path.stat().st_mtime_ns for path in place.rglob("*")} == before


def test_every_option_that_is_advised_exists(run):
    advised = {option for _, words in SOURCES for option in re.findall(r"--[a-z-]+", words)}
    assert {"--labels", "--ignore", "--input-format", "--delimiter"} <= advised
    for command in (["tune"], ["datasets", "convert"], ["datasets", "add"], ["fit"]):
        output = run(*command, "--help").out
        assert all(option in output for option in advised)
