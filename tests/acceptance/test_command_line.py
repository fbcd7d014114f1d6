"""The command line on real files: wordnet as texts and as pairs, enron as its authors give it."""

import csv
import json

import numpy as np
import pytest

from compactlearn import CMLLClassifier, load_model, predict_labels
from compactlearn.cli import main
from compactlearn.datasets import Dataset, load, read, write_xmlrepo

pytestmark = pytest.mark.slow
TRAIN, TEST = 2000, 400


@pytest.fixture(scope="module")
def wordnet(shared_datasets):
    data = load("wordnet", data_home=shared_datasets, download=False)
    rows = np.r_[:TRAIN, data.n_train : data.n_train + TEST]
    frequent = np.sort(np.argsort(-data.Y[:TRAIN].sum(axis=0), kind="stable")[:200])
    return Dataset(
        X=data.X[rows],
        Y=data.Y[rows][:, frequent],
        feature_names=data.feature_names,
        label_names=tuple(data.label_names[j] for j in frequent),
    )


def run(capsys, *arguments):
    assert main([str(one) for one in arguments]) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def write_texts(data, rows, path):
    """The words of each row, and the names of its labels."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["text", "tags"])
        for row in rows:
            words = [data.feature_names[j] for j in data.X[[row]].indices]
            tags = [data.label_names[j] for j in data.Y[[row]].indices]
            table.writerow([" ".join(words), ";".join(tags)])


def test_wordnet_as_texts_and_tags(wordnet, tmp_path, capsys):
    train, test, model_file = (tmp_path / name for name in ("train.csv", "test.csv", "w.model"))
    write_texts(wordnet, range(TRAIN), train)
    write_texts(wordnet, range(TRAIN, TRAIN + TEST), test)
    columns = ["--text", "text", "--tags", "tags"]
    run(capsys, "fit", train, *columns, "--output", model_file, "--method", "cmll")
    printed = run(
        capsys, "predict", model_file, test, "--topk", 5, "--format", "jsonl", "--digits", 17
    )
    model = load_model(model_file)
    with test.open(encoding="utf-8", newline="") as file:
        texts = [row["text"] for row in csv.DictReader(file)]
    rows = [json.loads(line)["labels"] for line in printed.splitlines()]
    found = [[(one["name"], one["score"]) for one in row] for row in rows]
    assert found == predict_labels(model, texts, 5)
    assert {name for row in found for name, _ in row} <= set(wordnet.label_names)
    report = json.loads(run(capsys, "evaluate", model_file, test, "--json"))
    assert report["rows"] == TEST
    assert report["metrics"]["precision_at_1"] > 0.35
    explained = json.loads(run(capsys, "explain", model_file, test, "--rows", "0", "--json"))
    assert {t["name"] for r in explained for t in r["terms"]} <= set(wordnet.feature_names)


def test_wordnet_as_the_repository_writes_it(wordnet, tmp_path, capsys):
    parts = {"train": slice(0, TRAIN), "test": slice(TRAIN, None)}
    for name, rows in parts.items():
        write_xmlrepo(Dataset(X=wordnet.X[rows], Y=wordnet.Y[rows]), tmp_path / f"{name}.txt")
    model_file = tmp_path / "w.model"
    as_in_python = ("--method", "cmll", "--dtype", "float64")
    run(capsys, "fit", tmp_path / "train.txt", "-o", model_file, *as_in_python)
    printed = run(
        capsys,
        "predict",
        model_file,
        tmp_path / "test.txt",
        "--topk",
        3,
        "--format",
        "xmlrepo",
        "--digits",
        17,
    )
    model = CMLLClassifier(random_state=0).fit(wordnet.X[:TRAIN], wordnet.Y[:TRAIN])
    best, scores = model.predict_topk(wordnet.X[TRAIN:], 3)
    head, *lines = printed.splitlines()
    assert head == f"{TEST} {wordnet.n_labels}"
    pairs = [[pair.split(":") for pair in line.split()] for line in lines]
    assert np.array_equal([[int(j) for j, _ in row] for row in pairs], best)
    assert np.array_equal([[float(s) for _, s in row] for row in pairs], scores)


def test_enron_as_its_authors_give_it(shared_datasets, tmp_path, capsys):
    """Read compressed ARFF, whose labels are named in an XML file of the same folder."""
    source, model_file = shared_datasets / "enron" / "enron.arff.xz", tmp_path / "e.model"
    run(capsys, "fit", source, "--output", model_file, "--method", "cmll")
    data = read(source)
    model = CMLLClassifier(random_state=0).fit(data.X, data.Y)
    stored = load_model(model_file)
    assert stored.label_names_ == list(data.label_names)
    assert np.array_equal(stored.decision_function(data.X), model.decision_function(data.X))
    report = json.loads(run(capsys, "evaluate", model_file, source, "--json"))
    assert report["metrics"] == model.evaluate(data.X, data.Y)
