"""The tables of Auto beside its rivals, from records that are made up."""

import importlib
import math
from pathlib import Path

import numpy as np
import pytest

from compactlearn_bench import cells_of, read_spec
from compactlearn_bench.records import Record, Store
from compactlearn_bench.records.ranks import critical_difference

BENCHMARKS = Path(__file__).resolve().parents[2]
SPEC = """
name = "auto"
folds = 3
selections = ["nested"]
metrics = ["average_precision", "ranking_loss", "log_loss"]
datasets = ["flags", {name = "emotions", rows = 200, folds = 2}, "enron"]
methods = [
    "Auto",
    {name = "BR-logistic", as = "One-vs-rest"},
    "LightGBM",
    {name = "ORI", as = "Ridge"},
]

[budget]
seconds = 60
"""
SIZES = """
name = "sizes"
folds = 3
selections = ["nested"]
metrics = ["average_precision", "ranking_loss", "log_loss"]
datasets = ["enron"]
methods = [
    {name = "ORI", as = "Ridge"},
    {name = "Auto", as = "Auto, 2 %", size_budget = 0.02},
    {name = "Auto", as = "Auto, 5 %", size_budget = 0.05},
]
"""
# The mean average precision of each; the other metrics follow from it.
MEANS = {
    ("flags", "Auto"): 0.80, ("flags", "One-vs-rest"): 0.70, ("flags", "LightGBM"): 0.60,
    ("flags", "Ridge"): 0.75,
    ("emotions", "Auto"): 0.50, ("emotions", "One-vs-rest"): 0.65, ("emotions", "LightGBM"): 0.60,
    ("emotions", "Ridge"): 0.65,
    ("enron", "Auto"): 0.70, ("enron", "One-vs-rest"): 0.69, ("enron", "LightGBM"): None,
    ("enron", "Ridge"): 0.60,
    ("enron", "Auto, 2 %"): 0.50, ("enron", "Auto, 5 %"): 0.66,
}  # fmt: skip
SECONDS = {"Auto": 2.0, "One-vs-rest": 8.0, "LightGBM": 32.0, "Ridge": 4.0}
SIZES_OF = {"Ridge": 1000, "Auto, 2 %": 19, "Auto, 5 %": 50}


def record_of(cell):
    mean = MEANS[cell.dataset, cell.method]
    host = {"host": {"cores": 2, "cpu": "slow"}, "written": ""}
    if mean is None:
        reason = "It took longer than its budget of 60 seconds."
        return Record(cell, "timeout", reason, circumstances=host | {"seconds": {"total": 60.0}})
    precision = mean + 0.001 * (cell.fold - (cell.n_folds - 1) / 2) * (1 + len(cell.method) % 3)
    chances = math.nan if cell.method == "Ridge" else 1 - precision
    seconds = SECONDS.get(cell.method, 1.0)
    return Record(
        cell,
        "done",
        metrics=list(cell.settings["metrics"]),
        configurations=[{}],
        values=np.array([[precision, 1 - precision, chances]]),
        sizes=[SIZES_OF.get(cell.method, 100)],
        circumstances=host
        | {
            "seconds": {"search": 0.75 * seconds, "fit": 0.25 * seconds, "predict": 9.0},
            "model_bytes": 1024 * int(seconds),
        },
    )


@pytest.fixture
def page(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    (tmp_path / "auto.toml").write_text(SPEC)
    (tmp_path / "sizes.toml").write_text(SIZES)
    monkeypatch.setattr(importlib.import_module("pages.auto_records"), "AUTO", tmp_path)
    return importlib.import_module("pages.results").page


@pytest.fixture
def run(page, tmp_path):
    store = Store(tmp_path / "store")
    store.prepare()
    for name in ("auto", "sizes"):
        for cell in cells_of(read_spec(tmp_path / f"{name}.toml")):
            store.write(record_of(cell))
    store.pack(tmp_path / "records.jsonl.xz")
    return page


def rows_of(text):
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[part.strip() for part in line.strip("|").split("|")] for line in lines]


def test_the_best_is_bold_gaps_have_their_reason_and_drawn_rows_are_told(run):
    text = run.made("auto")
    head, flags, emotions, enron, ranks, seconds, size, model = rows_of(text)
    assert head == ["average precision", "Auto", "One-vs-rest", "LightGBM", "Ridge"]
    assert flags == ["flags (194 rows, 3 folds)", "**0.800**", "0.700", "0.600", "0.750"]
    assert emotions[0] == "emotions (200 of 593 rows, 2 folds)"
    assert emotions[1:] == ["0.500", "**0.650**", "0.600", "**0.650**"]
    assert enron[1:] == ["**0.700**", "0.690", "time", "0.600"]
    # 1 4 1; 3 1.5 2; 4 3 4 (the last where it did not end); 2 1.5 3
    assert ranks == ["average rank", "2.0", "2.2", "3.7", "2.2"]
    assert seconds == ["seconds, one-vs-rest = 1", "0.25", "1", "4", "0.5"]
    assert size == ["bytes, one-vs-rest = 1", "0.25", "1", "4", "0.5"]
    assert model[1:] == ["2.0 KiB", "8.0 KiB", "32.0 KiB", "4.0 KiB"]
    assert "budget of 60 seconds" in text
    assert text.endswith("2 cores (slow).")


def test_an_entry_that_is_not_run_on_every_set_is_left_out_and_named(page, tmp_path):
    store = Store(tmp_path / "store")
    store.prepare()
    for cell in cells_of(read_spec(tmp_path / "auto.toml")):
        if (cell.dataset, cell.method) != ("emotions", "LightGBM") or cell.fold:
            store.write(record_of(cell))
    store.pack(tmp_path / "records.jsonl.xz")
    text = page.made("auto")
    assert rows_of(text)[0] == ["average precision", "Auto", "One-vs-rest", "Ridge"]
    assert "Not run on all of these sets yet, and left out: LightGBM." in text


def test_ranks_of_every_metric_with_the_critical_distance(run):
    head, precision, loss, chances = rows_of(run.made("auto_ranks"))
    assert head[1:] == [
        "Auto", "One-vs-rest", "LightGBM", "Ridge", "critical distance", "Friedman's p",
    ]  # fmt: skip
    assert [part.strip("*") for part in precision[1:5]] == ["2.0", "2.2", "3.7", "2.2"]
    assert precision[5] == f"{critical_difference(4, 3):.1f}"
    assert [part.strip("*") for part in loss[1:5]] == ["2.0", "2.2", "3.7", "2.2"], "a loss is one"
    # Ridge has no probabilities: 1 3 1; 2 1 2; 3 2 3.
    assert [part.strip("*") for part in chances[1:5]] == ["1.7", "1.7", "2.7", ""]
    assert chances[5] == f"{critical_difference(3, 3):.1f}"
    assert all("**" in cell for cell in precision[1:5]), "three sets tell nobody apart"


def test_sizes_beside_ridge(run):
    text = run.made("auto_sizes")
    head, enron = rows_of(text)
    assert head[1:] == ["Ridge", "Auto, 2 %", "Auto, 5 %"]
    assert enron[1:] == ["0.600", "0.500 − (1.9%)", "0.660 + (5.0%)"]
