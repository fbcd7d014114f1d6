"""`compactlearn tune`: what it shows and writes, and how it refuses."""

import csv
import re

import pytest

from compactlearn.cli import main
from compactlearn.datasets import load, write_parquet
from compactlearn.model_selection import CMLLClassifierCV


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")


def test_it_shows_the_best_and_writes_all(tmp_path, capsys):
    out = tmp_path / "table.csv"
    assert main(["tune", "emotions", "--folds", "3", "--top", "2", "--out", str(out)]) == 0
    text = capsys.readouterr().out
    data = load("emotions")
    search = CMLLClassifierCV(cv=3, random_state=0, racing=False, refit=False)
    search.fit(data.X, data.Y)
    assert f"{search.best_score_:.4f}" in text
    n_settings = len(search.cv_results_["params"])
    assert f"{n_settings} settings" in text
    assert len(re.findall(r"± ", text)) == 2
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == n_settings
    best = max(rows, key=lambda row: float(row["mean_test_score"]))
    assert float(best["mean_test_score"]) == pytest.approx(search.best_score_, abs=1e-12)
    assert float(best["param_alpha"]) == search.best_params_["alpha"]
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


def test_losses_are_shown_as_losses(capsys):
    assert main(["tune", "emotions", "--folds", "2", "--metric", "ranking_loss", "--top", "1"]) == 0
    shown = re.search(r"(-?[0-9.]+) ± ", capsys.readouterr().out)
    assert 0.1 < float(shown[1]) < 0.3


def test_of_a_file(tmp_path, capsys):
    path = tmp_path / "mine.parquet"
    write_parquet(load("emotions"), path)
    assert main(["tune", str(path), "--folds", "2", "--top", "1"]) == 0
    assert "56 settings" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["emotions", "--metric", "average_precison"], "average_precision"),
        (["emotions", "--jobs", "0"], "--jobs"),
        (["emotions", "--folds", "594"], "at most one for each of the 593 rows"),
        (["emotions", "--out", "table.txt"], "ends in .csv"),
        (["emotions", "--out", "nowhere/table.csv"], "nowhere does not exist"),
        (["nowhere.arff"], "no file nowhere.arff here, and no data set of that name"),
        (["enronn"], "Did you mean 'enron'?"),
    ],
    ids=["metric", "jobs", "folds", "out", "folder", "file", "name"],
)
def test_mistakes_are_one_sentence(arguments, words, capsys):
    assert main(["tune", *arguments]) == 2
    text = capsys.readouterr().err
    assert words in text
    assert text.count("\n") == 1
