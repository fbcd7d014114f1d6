"""The benchmark on texts: scores, other programs, what is missing, parts that are merged."""

import importlib.util
import json
import os
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics import f1_score

from compactlearn.datasets import Texts
from compactlearn.metrics import precision_at_k

FOLDER = Path(__file__).resolve().parents[2] / "text"
INTERPRETER = "COMPACTLEARN_BASELINES_PYTHON"


def script(name):
    """A script of the benchmark, as a module."""
    spec = importlib.util.spec_from_file_location(f"text_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    path = list(sys.path)
    spec.loader.exec_module(module)
    sys.path[:] = path
    return module


run, programs = script("run"), script("programs")

OURS = {
    "name": "ours",
    "program": "compactlearn",
    "settings": {"estimator": "compactlearn:CMLLClassifier", "threshold": 0.5},
}


@pytest.fixture(scope="module")
def texts():
    return run.Texts("enron", None, rows=400)


def settings(*entries, seconds=60):
    return {"datasets": ["enron"], "seconds": seconds, "threads": 1, "entries": list(entries)}


# ---- scores ------------------------------------------------------------------------------------


def test_every_row_is_in_one_part_and_has_unit_length():
    whole = run.Texts("emotions", None)
    assert whole.X.shape[0] + whole.X_test.shape[0] == 593
    assert whole.X.shape[0] == 391  # the customary part
    train, test = run._parts(100, None)
    assert sorted([*train, *test]) == list(range(100))
    assert len(test) == 20
    np.testing.assert_allclose(scipy.sparse.linalg.norm(whole.X, axis=1), 1)


def test_scores_are_those_of_the_order_of_labels(texts):
    scores = np.random.default_rng(0).normal(size=texts.Y_test.shape)
    top = np.argsort(-scores, axis=1)[:, :5]
    found = texts.scores(top)
    for k in (1, 3, 5):
        expected = precision_at_k(texts.Y_test, scores, k=k)
        assert found[f"precision_at_{k}"] == pytest.approx(expected)
    truth, counts = texts.Y_test.toarray(), texts.Y.sum(axis=0)
    recalls = {}
    for label in np.flatnonzero(truth.sum(axis=0)):
        rows = np.flatnonzero(truth[:, label])
        recalls[label] = np.mean([label in top[row] for row in rows])
    for name, (low, high) in {"1-9": (1, 10), "10-99": (10, 100), "100+": (100, 1e9)}.items():
        group = [recall for label, recall in recalls.items() if low <= counts[label] < high]
        assert found["recall_at_5_of_labels"][name] == pytest.approx(np.mean(group))
        assert texts.shape()["judged_labels"][name] == len(group)


def test_scores_of_predicted_labels(texts):
    rng = np.random.default_rng(0)
    truth = texts.Y_test.toarray()
    predicted = np.where(rng.random(truth.shape) < 0.1, 1 - truth, truth)
    found = texts.label_scores(scipy.sparse.csr_array(predicted))
    assert found["micro_f1"] == pytest.approx(f1_score(truth, predicted, average="micro"))
    counts, own = texts.Y.sum(axis=0), f1_score(truth, predicted, average=None, zero_division=0)
    assert found["macro_f1"] == pytest.approx(own[counts > 0].mean())
    judged = truth.any(axis=0) & (counts >= 10) & (counts < 100)
    assert found["f1_of_labels"]["10-99"] == pytest.approx(own[judged].mean())


def test_a_set_of_texts_is_vectorised_and_keeps_labels_of_its_test_rows(monkeypatch):
    train = Texts(("milk cow", "milk wine", "milk", "milk", "wine"), (("a",),) * 4 + (("b",),))
    test = Texts(("milk oil", "wine"), (("a", "new"), ("b",)))
    monkeypatch.setattr(run, "load_texts", lambda *_, **__: {"train": train, "test": test})
    laws = run.Texts("eurlex57k", None)
    assert laws.X.shape == (5, 1)  # the word of four training texts
    np.testing.assert_array_equal(laws.X_test.toarray(), [[1], [0]])
    np.testing.assert_array_equal(laws.Y_test.toarray(), [[1, 0, 1], [0, 1, 0]])
    assert laws.shape()["judged_labels"] == {"all": 2, "frequent": 0, "few": 2, "none": 1}
    recall = np.array([1.0, 0.5, 0.0])
    means = {"all": 0.75, "frequent": None, "few": 0.75, "none": 0.0}
    assert laws._by_group(recall) == means


# ---- processes ----------------------------------------------------------------------------------


def test_no_interpreter_is_a_sentence(texts, monkeypatch, tmp_path):
    entry = {"name": "omikuji", "program": "omikuji", "python": INTERPRETER}
    monkeypatch.delenv(INTERPRETER, raising=False)
    row = run.run_entry(entry, texts, settings(entry))
    assert row == {
        "status": "missing",
        "reason": f"{INTERPRETER} names no interpreter to run it with.",
    }
    monkeypatch.setenv(INTERPRETER, str(tmp_path / "python"))
    row = run.run_entry(entry, texts, settings(entry))
    assert row["status"] == "missing"
    assert f"The interpreter that {INTERPRETER} names does not start" in row["reason"]


def test_no_package_is_a_sentence(texts, monkeypatch):
    if importlib.util.find_spec("pecos") is not None:
        pytest.skip("libpecos is installed here.")
    monkeypatch.setenv(INTERPRETER, sys.executable)
    entry = {"name": "PECOS", "program": "pecos", "python": INTERPRETER}
    row = run.run_entry(entry, texts, settings(entry))
    reason = "libpecos is not installed in the environment that was to run it."
    assert row == {"status": "missing", "reason": reason}


def test_a_program_that_fails_is_recorded_with_what_it_said(texts):
    entry = OURS | {"program": "unheard of"}
    row = run.run_entry(entry, texts, settings(entry))
    assert row["status"] == "failed"
    assert "KeyError: 'unheard of'" in row["reason"]


def test_a_program_that_takes_too_long_is_ended(texts):
    row = run.run_entry(OURS, texts, settings(OURS, seconds=0.05))
    assert row["status"] == "timeout"


@pytest.mark.slow
@pytest.mark.skipif(INTERPRETER not in os.environ, reason=f"{INTERPRETER} names no interpreter.")
@pytest.mark.parametrize("program", ["omikuji", "napkinxc", "libmultilabel"])
def test_other_programs_run_where_they_are(texts, program):
    """Their labels are read right; nothing else of their code is tested."""
    entry = {"name": program, "program": program, "python": INTERPRETER}
    if program == "libmultilabel":
        entry["settings"] = {"options": "-s 2 -q"}
    row = run.run_entry(entry, texts, settings(entry))
    if row["status"] == "missing":
        pytest.skip(row["reason"])
    assert row["precision_at_1"] > 0.5, row


# ---- the record ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_parts_are_merged_in_the_order_of_the_spec(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv(INTERPRETER, raising=False)
    spec = tmp_path / "spec.toml"
    spec.write_text(
        'datasets = ["enron"]\nseconds = 60\nthreads = 1\n'
        '[[entries]]\nname = "ours"\nprogram = "compactlearn"\nlabels = true\n'
        'without = ["numba"]\n'
        'settings = {estimator = "compactlearn:CMLLClassifier", threshold = 0.5}\n'
        f'[[entries]]\nname = "omikuji"\nprogram = "omikuji"\npython = "{INTERPRETER}"\n'
        '[[entries]]\nname = "elsewhere"\nprogram = "omikuji"\ndata = ["bibtex"]\n'
    )
    out = tmp_path / "text.json"
    asked = ["--spec", str(spec), "--out", str(out), "--rows", "200"]
    for entry in ("omikuji", "ours"):
        assert run.main([*asked, "--only", entry]) == 0
    record = json.loads(out.read_text())
    outcomes = [(row["entry"], row["status"]) for row in record["measurements"]]
    assert outcomes == [("ours", "done"), ("omikuji", "missing")]
    row = record["measurements"][0]
    assert row["precision_at_1"] > 0.5
    assert 0 < row["macro_f1"] < row["micro_f1"] < 1
    assert min(row["fit_s"], row["predict_s"], row["model_bytes"]) > 0
    assert [row["data"] for row in record["datasets"]] == ["enron"]
    assert "'status': 'missing'" in capsys.readouterr().out


def test_what_is_missing_now_does_not_replace_scores():
    spec = settings({"name": "a"}, {"name": "b"})

    def record(**outcomes):
        rows = [{"data": "enron", "entry": k, "status": v} for k, v in outcomes.items()]
        return {"datasets": [{"data": "enron"}], "measurements": rows}

    def statuses(old, new):
        rows = run.merged(old, new, spec)["measurements"]
        return {row["entry"]: row["status"] for row in rows}

    assert statuses(record(a="done"), record(a="missing")) == {"a": "done"}
    assert statuses(record(a="missing"), record(a="done")) == {"a": "done"}
    assert statuses(record(a="missing"), record(a="failed")) == {"a": "failed"}
    assert statuses(record(b="done"), record(a="done")) == {"a": "done", "b": "done"}
    assert statuses(record(gone="done"), record(a="done")) == {"a": "done"}


def test_the_spec_names_programs_and_sets_that_there_are():
    spec = tomllib.loads((FOLDER / "text.toml").read_text(encoding="utf-8"))
    names = [entry["name"] for entry in spec["entries"]]
    assert len(set(names)) == len(names)
    for entry in spec["entries"]:
        assert entry["program"] in programs.PROGRAMS
        assert set(entry.get("data", [])) <= set(spec["datasets"])
        known = {"name", "program", "settings", "python", "data", "labels", "without"}
        assert set(entry) <= known
