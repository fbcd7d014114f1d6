"""Files that commands write: what is never replaced, and what is noticed before any work."""

import json
import os
import stat

import pytest

from compactlearn.cli import main
from compactlearn.datasets import load, write_arff

NOTES = (
    "id,body,topics\n1,boil the pasta,food\n2,bake the bread,food\n3,rain and wind,weather\n"
    "4,wind from west,weather\n5,hot oven,food\n6,rain today,weather\n"
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A model and its data, made once."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "notes.csv").write_text(NOTES)
    words = ["fit", str(folder / "notes.csv"), "--text", "body", "--tags", "topics"]
    assert main([*words, "-o", str(folder / "m.model"), "--method", "cmll"]) == 0
    return folder


@pytest.fixture
def place(made, tmp_path):
    """A copy of both that may be spoiled."""
    for name in ("notes.csv", "m.model"):
        (tmp_path / name).write_bytes((made / name).read_bytes())
    return tmp_path


#: Every command that writes a file, up to the name of that file, and what it reads.
WRITERS = {
    "fit": (["fit", "notes.csv", "--text", "body", "--tags", "topics", "--method", "cmll",
             "--output"], ["notes.csv"]),
    "predict": (["predict", "m.model", "notes.csv", "--format", "csv", "--output"],
                ["m.model", "notes.csv"]),
    "evaluate": (["evaluate", "m.model", "notes.csv", "--output"], ["m.model", "notes.csv"]),
    "explain": (["explain", "m.model", "notes.csv", "--output"], ["m.model", "notes.csv"]),
    "report": (["report", "m.model", "notes.csv", "--output"], ["m.model", "notes.csv"]),
    "tune": (["tune", "t.csv", "--labels", "y", "--folds", "2", "--output"], ["t.csv"]),
    "convert": (["datasets", "convert", "t.csv", "--labels", "y"], ["t.csv"]),
}  # fmt: skip
ENDINGS = {"predict": ".csv", "report": ".html", "tune": ".csv",
           "evaluate": ".txt", "explain": ".txt", "convert": ".txt"}  # fmt: skip


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("force", [[], ["--force"]], ids=["plain", "force"])
def test_no_command_replaces_what_it_reads(name, force, place, capsys):
    (place / "t.csv").write_text("x,y\n1,0\n2,1\n3,0\n4,1\n")
    words, read = WRITERS[name]
    for source in read:
        os.symlink(source, f"link-{source}")
        for target in (source, f"./{source}", f"link-{source}"):
            before = (place / source).read_bytes()
            assert main([*words, target, *force]) == 2
            assert capsys.readouterr().err.count("\n") == 1
            assert (place / source).read_bytes() == before


@pytest.mark.parametrize("name", WRITERS)
def test_no_command_replaces_another_file_unless_it_is_told_to(name, place, capsys):
    rows = "".join(f"{x},{x % 2},{x % 3 % 2}\n" for x in range(20))
    (place / "t.csv").write_text(f"x,y,y2\n{rows}")
    words, _ = WRITERS[name]
    old = place / f"old{ENDINGS.get(name, '.model')}"
    old.write_text("what was there")
    assert main([*words, old.name]) == 2
    assert "is there already" in capsys.readouterr().err
    assert old.read_text() == "what was there"
    assert main([*words, old.name, "--force"]) == 0
    assert old.read_bytes() != b"what was there"


@pytest.mark.parametrize("name", WRITERS)
def test_a_pipe_or_a_device_stays_what_it_is(name, place, capsys):
    (place / "t.csv").write_text("x,y\n1,0\n2,1\n3,0\n4,1\n")
    words, _ = WRITERS[name]
    pipe = place / f"pipe{ENDINGS.get(name, '.model')}"
    os.mkfifo(pipe)
    for force in ([], ["--force"]):
        assert main([*words, pipe.name, *force]) == 2
        assert "device or a pipe" in capsys.readouterr().err
        assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("target", ["no/such", "x" * 250, "home"], ids=["folder", "long", "dir"])
def test_what_cannot_be_written_is_noticed_before_anything_is_read(name, target, place, capsys):
    """Nothing that the command reads is there: it has not come so far."""
    (place / "home").mkdir()
    for source in ("notes.csv", "m.model"):
        if name.startswith("report") and source == "m.model":
            continue  # the file decides which report it is
        (place / source).unlink()
    words, _ = WRITERS[name]
    ending = "" if target == "home" else ENDINGS.get(name, ".model")
    assert main([*words, target + ending]) == 2
    told = capsys.readouterr().err
    assert told.startswith(("compactlearn: --output must", "compactlearn: DST must"))
    assert target.split("/")[0] in told


def test_a_folder_of_figures_is_not_replaced_by_accident(place, capsys, monkeypatch):
    figures = place / "pictures"
    figures.mkdir()
    (figures / "one.svg").write_text("what was there")
    (place / "store" / "cells").mkdir(parents=True)
    assert main(["report", "store", "--format", "svg", "--output", "pictures"]) == 2
    assert "has figures already" in capsys.readouterr().err
    assert main(["report", "store", "--format", "svg", "--output", "x" * 250]) == 2
    assert "--output must name a file to write" in capsys.readouterr().err


def test_the_xml_file_of_an_arff_file_is_a_part_of_it(place, capsys):
    write_arff(load("emotions"), place / "e.arff")
    before = (place / "e.xml").read_bytes()
    for words in (["fit", "e.arff", "--method", "cmll", "-o"], ["datasets", "convert", "e.arff"]):
        assert main([*words, "e.xml", "--force"]) == 2
    assert main(["datasets", "convert", "e.arff", "e.txt"]) == 0
    assert main(["datasets", "convert", "emotions", "e.arff", "--force"]) == 0
    (place / "e.arff").unlink()
    capsys.readouterr()
    assert main(["datasets", "convert", "emotions", "e.arff"]) == 2  # its XML file is there
    assert "e.xml is there already" in capsys.readouterr().err
    assert (place / "e.xml").read_bytes()[:60] == before[:60]


@pytest.mark.parametrize("ending", [".xlsx", ".xls", ".ods", ".csv.gz", ".docx", ".pickle"])
def test_no_ending_promises_another_format_than_is_written(ending, place, capsys):
    for words in (
        ["predict", "m.model", "notes.csv", "-o"],
        ["report", "m.model", "notes.csv", "-o"],
        ["evaluate", "m.model", "notes.csv", "-o"],
        ["explain", "m.model", "notes.csv", "-o"],
    ):
        assert main([*words, f"found{ending}"]) == 2
        assert "must name a file that ends in" in capsys.readouterr().err
        assert not (place / f"found{ending}").exists()


def test_evaluate_and_explain_write_what_they_would_print(place, capsys):
    for command in ("evaluate", "explain"):
        assert main([command, "m.model", "notes.csv"]) == 0
        printed = capsys.readouterr().out
        assert main([command, "m.model", "notes.csv", "-o", "-"]) == 0
        assert capsys.readouterr().out == printed
        assert main([command, "m.model", "notes.csv", "-o", f"{command}.txt"]) == 0
        assert capsys.readouterr().out == ""
        assert (place / f"{command}.txt").read_text() == printed
        assert main([command, "m.model", "notes.csv", "-o", f"{command}.json"]) == 0
        capsys.readouterr()
        assert main([command, "m.model", "notes.csv", "--json"]) == 0
        printed = capsys.readouterr().out
        assert json.loads((place / f"{command}.json").read_text()) == json.loads(printed)
