"""Files that commands write: what is never replaced, and what is noticed before any work."""

import os
import stat

import pytest

from compactlearn.cli import main
from compactlearn.datasets import load, write_arff
from tests.cli.notes import write_notes


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A model and its data, made once."""
    folder = tmp_path_factory.mktemp("made")
    write_notes(folder / "notes.csv")
    words = ["fit", str(folder / "notes.csv"), "--text", "body", "--tags", "topics"]
    assert main([*words, "-o", str(folder / "m.model"), "--method", "cmll"]) == 0
    rows = "".join(f"{x},{x % 2},{x % 3 % 2}\n" for x in range(20))
    (folder / "t.csv").write_text(f"x,y,y2\n{rows}")
    return folder


@pytest.fixture
def place(made, tmp_path):
    """A copy of them that may be spoiled."""
    for path in made.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


#: Every command that writes a file, up to the name of that file, and the usual ending of it.
WRITERS = {
    "fit": ("fit notes.csv --text body --tags topics --method cmll --output", ".model"),
    "predict": ("predict m.model notes.csv --format csv --output", ".csv"),
    "report": ("report m.model notes.csv --output", ".html"),
    "tune": ("tune t.csv --labels y --folds 2 --output", ".csv"),
    "convert": ("datasets convert t.csv --labels y", ".txt"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_what_a_command_reads_and_pipes_stay_what_they_are(name, place, run):
    words, ending = WRITERS[name][0].split(), WRITERS[name][1]
    os.mkfifo(f"pipe{ending}")
    for force in ([], ["--force"]):
        for source in {"notes.csv", "m.model", "t.csv"} & set(words):
            (place / "link").unlink(missing_ok=True)
            os.symlink(source, "link")
            before = (place / source).read_bytes()
            for target in (source, f"./{source}", "link"):
                message = run(*words, target, *force, status=2).err
                assert "is read by the command" in message or "DST must end in" in message
            assert (place / source).read_bytes() == before
        assert "device or a pipe" in run(*words, f"pipe{ending}", *force, status=2).err
    assert stat.S_ISFIFO((place / f"pipe{ending}").stat().st_mode)


@pytest.mark.parametrize("name", WRITERS)
def test_no_command_replaces_another_file_without_force(name, place, run):
    words, old = WRITERS[name][0].split(), place / f"old{WRITERS[name][1]}"
    old.write_text("what was there")
    assert "exists already" in run(*words, old.name, status=2).err
    assert old.read_text() == "what was there"
    run(*words, old.name, "--force")
    assert old.read_bytes() != b"what was there"


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("target", ["no/such", "x" * 250, "home"], ids=["folder", "long", "dir"])
def test_what_cannot_be_written_is_noticed_before_anything_is_read(name, target, place, run):
    """Nothing that the command reads is there: it has not come so far."""
    (place / "home").mkdir()
    (place / "notes.csv").unlink()
    (place / "m.model").unlink()
    ending = "" if target == "home" else WRITERS[name][1]
    message = run(*WRITERS[name][0].split(), target + ending, status=2).err
    assert message.startswith(("compactlearn: --output must", "compactlearn: DST must"))
    assert target.split("/")[0] in message


def test_a_folder_of_figures_is_not_replaced_by_accident(tmp_path, run):
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "one.svg").write_text("what was there")
    (tmp_path / "store" / "cells").mkdir(parents=True)
    words = ["report", "store", "--format", "svg", "--output"]
    assert "has figures already" in run(*words, "pictures", status=2).err
    assert "--output must name a file to write" in run(*words, "x" * 250, status=2).err


def test_the_xml_file_of_an_arff_file_is_a_part_of_it(tmp_path, run):
    write_arff(load("emotions"), tmp_path / "e.arff")
    for words in (["fit", "e.arff", "--method", "cmll", "-o"], ["datasets", "convert", "e.arff"]):
        run(*words, "e.xml", "--force", status=2)
    run("datasets", "convert", "emotions", "e.arff", "--force")
    (tmp_path / "e.arff").unlink()
    message = run("datasets", "convert", "emotions", "e.arff", status=2).err
    assert "e.xml exists already" in message


@pytest.mark.parametrize("ending", [".xlsx", ".csv.gz", ".pickle"])
def test_no_ending_promises_another_format_than_is_written(ending, place, run):
    for command in ("predict", "report"):
        message = run(command, "m.model", "notes.csv", "-o", f"found{ending}", status=2).err
        assert "must name a file that ends in" in message
