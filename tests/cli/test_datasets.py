"""`compactlearn datasets`: what it prints, and which status a refusal has."""

import re

import pytest

from compactlearn.cli import main
from compactlearn.datasets import describe, is_available, list_datasets, load

TOY = "@relation 'toy: -C 1'\n@attribute y {0,1}\n@attribute x numeric\n@data\n1,2\n0,3\n"


@pytest.fixture(autouse=True)
def surroundings(monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COMPACTLEARN_DATA", str(tmp_path / "home"))


@pytest.fixture
def flags(shared_datasets):
    folder = shared_datasets / "flags"
    return [str(folder / "flags.arff.xz"), str(folder / "flags.xml")]


def test_no_command_is_answered_with_the_commands(capsys):
    assert main(["datasets"]) == 0
    out = capsys.readouterr().out
    for command in ("list", "info", "fetch", "add", "convert"):
        assert command in out


def test_list_says_what_is_here(capsys, tmp_path):
    assert main(["datasets", "list"]) == 0
    out = capsys.readouterr().out
    rows = {line.split("│")[1].strip(): line for line in out.splitlines() if "│" in line}
    assert set(rows) == set(list_datasets())
    assert re.search(r"1702 .* 1001 .* 53 .* 3.3784 .* yes", rows["enron"])
    assert "no; can be fetched" in rows["yeast"]
    assert "no; to be added" in rows["msra"]
    assert "no; to be added" in rows["mediamill"]
    assert "?" in rows["espgame"]
    assert f"Data folder: {tmp_path / 'home'}\n" in out


def test_list_of_another_folder(capsys, shared_datasets):
    assert main(["datasets", "list", "--data-home", str(shared_datasets)]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert all("yes" in line for line in rows if re.search(r"│ (yeast|llog-paper|imdb) ", line))


@pytest.mark.parametrize("name", list_datasets())
def test_info_of_every_set(capsys, name):
    assert main(["datasets", "info", name.upper()]) == 0
    out, entry = capsys.readouterr().out, describe(name)
    assert re.search(rf"^labels: +{entry.expected.labels}$", out, flags=re.MULTILINE)
    for file in entry.files:
        assert file.sha256 in out
        assert file.address in out
    assert entry.citation in out
    assert "None" not in out


def test_add_then_fetch(capsys, flags, tmp_path):
    assert main(["datasets", "add", "flags", *flags]) == 2
    assert "put flags.arff, flags.xml into" in capsys.readouterr().err
    assert main(["datasets", "add", "mine", *flags]) == 0
    assert capsys.readouterr().out.startswith("Dataset 'mine': 194 rows")
    assert main(["datasets", "fetch", "mine"]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'home' / 'own' / 'mine.npz'}\n"
    assert is_available("mine")
    assert load("mine").n_samples == 194


@pytest.mark.parametrize("ending", ["arff", "txt", "parquet"])
def test_convert_writes_what_can_be_read_again(capsys, tmp_path, ending):
    (tmp_path / "toy.arff").write_text(TOY)
    target = tmp_path / f"copy.{ending}"
    assert main(["datasets", "convert", str(tmp_path / "toy.arff"), str(target)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "2 rows, 1 features (dense), 1 labels" in out
    assert out.endswith(f"-> {target}")
    again = tmp_path / "again.arff"
    options = ["--labels", str(tmp_path / "copy.xml")] if ending == "arff" else []
    assert main(["datasets", "convert", str(target), str(again), *options]) == 0
    assert "2 rows, 1 features" in " ".join(capsys.readouterr().out.split())


def test_convert_takes_a_name_too(capsys, tmp_path):
    assert main(["datasets", "convert", "emotions", str(tmp_path / "emotions.txt")]) == 0
    assert capsys.readouterr().out.startswith("Dataset 'emotions': 593 rows")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["info", "enrom"], "Did you mean 'enron'?"),
        (["fetch", "enrom"], "Did you mean 'enron'?"),
        (["fetch", "msra"], "run: compactlearn datasets add msra FILE..."),
        (["fetch", "corel16k"], "needs the file corel16k1.mat"),
        (["add", "msra", "absent.arff"], "absent.arff, but no file is there"),
        (["add", "msra"], "Missing argument 'files'"),
        (["add", "enrom", "x"], "path x, but no file is there"),
        (["add", "my set", "x"], "got 'my set'. Choose such a name"),
        (["list", "--data-home", __file__], "is a file"),
        (["convert", "emotions", "nowhere/copy.txt"], "nowhere does not exist; make it"),
        (["convert", "emotions", "copy.txt", "--ignore", "x"], "--ignore says how to read a file"),
        (["convert", "absent.arff", "copy.txt"], "absent.arff"),
        (["convert", "emotions", "copy.docx"], "DST must end in .arff, .parquet, .txt"),
        (["convert", "emotions", "copy.arff.gz"], "DST must end in .arff, .parquet, .txt"),
        (["convert", "emotions"], "DST"),
        (["lst"], "lst"),
    ],
)
def test_a_mistake_is_one_sentence_and_status_2(capsys, arguments, words):
    assert main(["datasets", *arguments]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert words in told.err
    assert re.fullmatch(r"compactlearn: [^\n]*[.?!')]\n", told.err), told.err
