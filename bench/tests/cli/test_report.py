"""`compactlearn report`: what it writes, what it leaves out, and how it refuses."""

import csv
import json
import lzma

import pytest
from bench.tests.makers import record

from compactlearn.cli import main

FORMATS = {
    "html": ("report.html", "<!DOCTYPE html>"),
    "latex": ("report.tex", r"\toprule"),
    "csv": ("report.csv", "selection,family,metric"),
    "markdown": ("report.md", "# Results"),
}


def records(selections=("paper", "nested"), **settings):
    return [
        record(
            "enron",
            method,
            selection,
            fold,
            [[0.5 + 0.1 * fold + 0.01 * len(method)]],
            n_folds=2,
            settings=settings,
            circumstances={"seconds": {"fit": 2.5}},
        )
        for selection in selections
        for method in ("ORI", "CMLL")
        for fold in range(2)
    ]


def fill(folder, found):
    cells = folder / "cells"
    cells.mkdir(parents=True, exist_ok=True)
    for one in found:
        (cells / f"{one.cell.name}.json").write_text(one.to_json(), encoding="utf-8")
    return folder


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return fill(tmp_path / "store", records())


@pytest.mark.parametrize("form", FORMATS)
def test_each_format_has_its_file(store, form, capsys):
    assert main(["report", str(store), "--format", form]) == 0
    name, words = FORMATS[form]
    assert capsys.readouterr().out.strip() == name
    assert words in (store.parent / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("form", ["svg", "png"])
def test_figures_go_to_a_folder(store, form, capsys):
    if form == "png":
        pytest.importorskip("resvg_py")
    assert main(["report", str(store), "--format", form, "--output", "pictures"]) == 0
    files = sorted((store.parent / "pictures").glob(f"*.{form}"))
    assert capsys.readouterr().out.strip() == f"pictures: {len(files)} figures"
    assert "paper--agreement" in {file.stem for file in files}


def test_one_selection_and_no_times(store, tmp_path):
    options = ["--format", "csv", "--selection", "nested", "--no-times", "--output", "t.csv"]
    assert main(["report", str(store), *options]) == 0
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["selection"] for row in rows} == {"nested"}
    assert "fit_seconds" not in rows[0]


def test_records_that_cannot_be_read_are_named_and_left_out(store, tmp_path, capsys):
    (store / "cells" / "broken.json").write_text("{", encoding="utf-8")
    other = json.loads(records()[0].to_json()) | {"version": 99}
    (store / "cells" / "newer.json").write_text(json.dumps(other), encoding="utf-8")
    assert main(["report", str(store), "--format", "csv"]) == 0
    output = capsys.readouterr().err.splitlines()
    assert len(output) == 2
    assert "broken.json is not a record that can be used: it is not JSON" in output[0]
    assert "newer.json is not a record that can be used: its version is 99" in output[1]
    assert (store / "cells" / "broken.json").exists()  # a report moves nothing
    assert len((tmp_path / "report.csv").read_text(encoding="utf-8").splitlines()) == 1 + 4


def test_several_stores_make_one_report(store, tmp_path):
    parts = records()
    for number, part in enumerate((parts[: len(parts) // 2], parts[len(parts) // 2 :])):
        text = "".join(record.to_json() + "\n" for record in part)
        (tmp_path / f"{number}.jsonl.xz").write_bytes(lzma.compress(text.encode()))
    assert main(["report", str(store), "--format", "csv", "--output", "one.csv"]) == 0
    halves = [str(tmp_path / f"{number}.jsonl.xz") for number in range(2)]
    assert main(["report", *halves, "--format", "csv", "--output", "two.csv"]) == 0
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


def refused(arguments, capsys):
    assert main(["report", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    (sentence,) = captured.err.strip().splitlines()
    assert sentence.startswith("compactlearn: ")
    assert sentence.endswith((".", "?"))
    return sentence


def test_a_store_that_is_empty(store, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    assert "it has no folder 'cells' in it" in refused(["empty"], capsys)
    (tmp_path / "empty" / "cells").mkdir()
    assert "at least one record, and empty holds none" in refused(["empty"], capsys)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--format", "htm"], "--format must be one of html, .* got 'htm'. Did you mean 'html'?"),
        (["--selection", "best"], "--selection must be paper or nested; got 'best'"),
        (["--output", "no/such/place.html"], "does not exist; make it"),
        (["--output", "."], "must name a file for html, and . is a folder"),
        (["--format", "svg", "--output", "store/cells/x"], None),
    ],
)
def test_wrong_options(store, options, expected, capsys):
    if expected is None:
        (store / "cells" / "x").write_text("")
        expected = "must name a folder for svg, and store/cells/x is a file"
    sentence = refused([str(store), *options], capsys)
    assert all(part in sentence for part in expected.split(" .* "))


def test_a_selection_that_the_store_lacks(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    fill(tmp_path / "store", records(("nested",)))
    sentence = refused(["store", "--selection", "paper"], capsys)
    assert "hold no 'paper' selection, only 'nested'" in sentence


def test_two_runs_under_one_name(store, capsys):
    fill(store, records(grid="small"))
    assert "differ in settings" in refused([str(store)], capsys)
    assert not (store.parent / "report.html").exists()


@pytest.mark.parametrize("form", ["html", "svg"])
def test_a_place_where_nothing_can_be_written(store, monkeypatch, form, capsys):
    def full(path, *rest, **more):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("compactlearn.cli._targets.atomic", full)
    sentence = refused([str(store), "--format", form], capsys)
    assert "cannot be written to report" in sentence
    assert "(No space left on device); choose another folder" in sentence
