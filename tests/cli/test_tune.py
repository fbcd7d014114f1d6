"""`compactlearn tune`: what it shows and writes is what Python finds, and can be pasted."""

import csv
import json
import re

import pytest
from sklearn.base import clone

from compactlearn import CMLLClassifier
from compactlearn.cli import main
from compactlearn.datasets import load, write_parquet
from compactlearn.model_selection import CMLLClassifierCV


@pytest.fixture(autouse=True)
def wide_terminal(surroundings, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")


def searched(folds):
    data = load("emotions")
    search = CMLLClassifierCV(cv=folds, random_state=0, racing=False, refit=False)
    return search.fit(data.X, data.Y)


def test_it_shows_the_best_and_writes_all(run, tmp_path):
    text = run("tune", "emotions", "--folds", "3", "--top", "2", "--output", "table.csv").out
    search = searched(3)
    assert f"{search.best_score_:.4f}" in text
    n_settings = len(search.cv_results_["params"])
    assert f"{n_settings} settings" in text
    assert len(re.findall(r"± ", text)) == 2
    with (tmp_path / "table.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == n_settings
    best = max(rows, key=lambda row: float(row["mean_test_score"]))
    assert float(best["mean_test_score"]) == pytest.approx(search.best_score_, abs=1e-12)
    assert float(best["param_alpha"]) == search.best_params_["alpha"]
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


def test_losses_are_shown_as_losses(run, tmp_path):
    write_parquet(load("emotions"), tmp_path / "mine.parquet")
    words = ["--folds", "2", "--metric", "ranking_loss", "--top", "1"]
    shown = re.search(r"(-?[0-9.]+) ± ", run("tune", "mine.parquet", *words).out)
    assert 0.1 < float(shown[1]) < 0.3


def test_what_is_printed_makes_the_estimator(run):
    """A ratio is a number with a point, a count has none."""
    command = ["tune", "emotions", "--folds", "2", "--top", "2"]
    lines = run(*command).out.splitlines()
    (line,) = [line for line in lines if line.startswith("CMLLClassifier(")]
    model, found = eval(line, {"CMLLClassifier": CMLLClassifier}), searched(2)
    template = clone(found._template()).set_params(**found._final_params(), random_state=None)
    assert model.get_params() == template.get_params()
    record = json.loads(run(*command, "--json").out)
    assert record["best_estimator"] == line
    ratio = record["best_params"]["n_label_components"]
    assert (type(ratio), ratio) == (float, found.best_params_["n_label_components"])
    assert len(record["best"]) == 2
    assert record["best"][0]["mean"] == pytest.approx(found.best_score_, abs=1e-12)
    assert model.get_params() == CMLLClassifier(**record["best_params"]).get_params()


def test_what_is_piped_has_lines_of_any_length(capfd, monkeypatch):
    monkeypatch.delenv("COLUMNS")
    assert main(["tune", "emotions", "--folds", "2"]) == 0
    output = capfd.readouterr().out
    assert re.search(r"alpha .* beta .* n_feature_components .* n_label_components", output)
