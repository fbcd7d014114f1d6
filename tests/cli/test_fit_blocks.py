"""`compactlearn fit --blocks`: the shell says what Python says."""

import json
import re

import numpy as np
import pytest

from compactlearn import CMLLClassifier, load_model
from compactlearn.cli import main
from compactlearn.datasets import Dataset, load, open_blocks, write_arff
from compactlearn.io._columns import columns_of


@pytest.fixture(autouse=True)
def files(monkeypatch, tmp_path):
    """Emotions in three files of a folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    data = load("emotions")
    (tmp_path / "parts").mkdir()
    for place, rows in enumerate(np.array_split(np.arange(593), 3)):
        part = Dataset(data.X[rows], data.Y[rows], data.feature_names, data.label_names, "part")
        write_arff(part, tmp_path / "parts" / f"{place}.arff")
    return data


def test_a_folder_is_fitted_block_by_block(files, capsys):
    words = ["fit", "parts", "--blocks", "--method", "cmll", "--seed", "1", "--json"]
    status = main([*words, "--checkpoint", "kept", "--output", "model"])
    out, err = capsys.readouterr()
    assert status == 0, err
    told = json.loads(out)
    assert (told["rows"], told["features"], told["labels"]) == (593, 72, 6)
    model = load_model("model")
    own = CMLLClassifier(random_state=1).fit(open_blocks("parts"))
    same = model.decision_function(files.X) == own.decision_function(files.X)
    assert same.all()
    assert model.threshold_ == own.threshold_
    assert columns_of(model).features == files.feature_names
    assert main(["predict", "model", "parts/0.arff", "--output", "found.csv"]) == 0


@pytest.mark.parametrize(
    ("words", "match"),
    [
        (["parts", "--blocks"], "--blocks is for linear models, .* the method is auto"),
        (["parts", "--checkpoint", "kept"], "--blocks was not given"),
        (["-", "--blocks", "--method", "cmll"], "DATA is standard input; name a file"),
        (["absent.csv", "--blocks", "--method", "cmll"], "no file is there"),
        (["parts", "--blocks", "--method", "cmll", "--text", "a"], "--text is for texts"),
    ],
)
def test_mistakes_are_told(words, match, capsys):
    assert main(["fit", *words, "--output", "model"]) == 2
    assert re.search(match, " ".join(capsys.readouterr().err.split()))
