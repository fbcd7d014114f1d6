"""`compactlearn datasets`: what it prints, what it stores, and tables in any width."""

import io
import re

import pytest
from rich.cells import cell_len
from rich.console import Console

from compactlearn.cli import _tables as tables
from compactlearn.datasets import describe, is_available, list_datasets, load

TOY = "@relation 'toy: -C 1'\n@attribute y {0,1}\n@attribute x numeric\n@data\n1,2\n0,3\n"


def test_no_command_is_answered_with_the_commands(run):
    out = run("datasets").out
    assert all(command in out for command in ("list", "info", "fetch", "add", "convert"))


def test_list_says_what_is_here(run, tmp_path, shared_datasets):
    out = run("datasets", "list").out
    rows = {line.split("│")[1].strip(): line for line in out.splitlines() if "│" in line}
    assert set(rows) == set(list_datasets())
    assert re.search(r"1702 .* 1001 .* 53 .* 3.3784 .* yes", rows["enron"])
    assert "no; can be fetched" in rows["yeast"]
    assert "no; to be added" in rows["msra"]
    assert "no; to be added" in rows["mediamill"]
    assert "?" in rows["espgame"]
    assert f"Data folder: {tmp_path / 'home'}\n" in out
    rows = run("datasets", "list", "--data-home", shared_datasets).out.splitlines()
    assert all("yes" in line for line in rows if re.search(r"│ (yeast|llog-paper|imdb) ", line))


@pytest.mark.parametrize("name", list_datasets())
def test_info_of_every_set(run, name):
    out, entry = run("datasets", "info", name.upper()).out, describe(name)
    assert re.search(rf"^labels: +{entry.expected.labels}$", out, flags=re.MULTILINE)
    for file in entry.files:
        assert file.sha256 in out
        assert file.address in out
    assert entry.citation in out
    assert "None" not in out


def test_a_set_that_was_added_is_known_to_every_command(run, tmp_path):
    rows = "".join(f"row{i},{i % 7},{i % 5 - 2},{i % 2},{int(i % 3 == 0)}\n" for i in range(30))
    (tmp_path / "docs.csv").write_text('id,x,z,"amazed, or so",happy\n' + rows)
    options = ["--labels", 'happy, "amazed, or so"', "--ignore", "id"]
    output = run("datasets", "add", "Mine", "docs.csv", *options).out
    assert "Dataset 'mine': 30 rows, 2 features (dense), 2 labels" in output
    assert load("mine").label_names == ("amazed, or so", "happy")
    assert is_available("mine")
    stored = tmp_path / "home" / "own" / "mine.npz"
    assert run("datasets", "fetch", "mine").out == f"{stored}\n"
    assert re.search(r"│ mine .* 30 .* 2 .* 2 .* yes; yours", run("datasets", "list").out)
    assert "Added by you from docs.csv." in run("datasets", "info", "mine").out
    output = run("tune", "mine", "--folds", "2", "--top", "1").out
    assert "mine: 30 rows, 2 features, 2 labels" in output
    stored.write_text("{")
    assert re.search(r"│ mine .* damaged; to be added again", run("datasets", "list").out)


@pytest.mark.parametrize("ending", ["arff", "txt", "parquet"])
def test_convert_writes_what_can_be_read_again(run, tmp_path, ending):
    (tmp_path / "toy.arff").write_text(TOY)
    out = run("datasets", "convert", "toy.arff", f"copy.{ending}").out
    assert "2 rows, 1 features (dense), 1 labels" in out
    assert out.endswith(f"-> copy.{ending}\n")
    options = ["--labels", "copy.xml"] if ending == "arff" else []
    output = run("datasets", "convert", f"copy.{ending}", "again.arff", *options).out
    assert "2 rows, 1 features" in output
    assert run("datasets", "convert", "emotions", "emotions.txt").out.startswith("Dataset 'emoti")
    (tmp_path / "odd.csv").write_text("a, b, c\ty\n1\t0\n2\t1\n")
    words = ["--delimiter", "tab", "--labels", "y"]
    assert "2 rows, 1 features" in run("datasets", "convert", "odd.csv", "odd.txt", *words).out


@pytest.mark.parametrize("columns", ["60", "80"])
def test_nothing_is_cut_from_the_list(columns, monkeypatch, run):
    monkeypatch.setenv("COLUMNS", columns)
    out = run("datasets", "list").out
    assert "…" not in out
    table = [line for line in out.splitlines() if not line.startswith("Data folder")]
    assert max(map(cell_len, table)) <= int(columns)
    for heading in ("rows", "features", "labels", "here", *list_datasets()):
        assert heading in out


@pytest.mark.parametrize("width", [20, 40, 60, 80, 200])
def test_every_cell_of_a_table_is_there_in_any_width(width):
    headings = ["data set", *(f"a method of number {j}" for j in range(17))]
    rows = [[f"set{i}", *(f"{i * 17 + j}/9999" for j in range(17))] for i in range(3)]
    screen = Console(width=width, file=io.StringIO())
    for table in tables.fitted(headings, rows, width):
        screen.print(table)
    text = screen.file.getvalue()
    assert "…" not in text
    assert max(map(cell_len, text.splitlines())) <= width
    for row in rows:
        assert all(cell in text for cell in row)
    assert all(f"{j}" in text for j in range(17))
