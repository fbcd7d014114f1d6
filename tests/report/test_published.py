"""The published figures inside the package are the paper's, all of them."""

import csv
from pathlib import Path

import pytest

from compactlearn.metrics import get_metric
from compactlearn.report.published import (
    PUBLISHED,
    dataset_order,
    family_of,
    method_order,
    published,
)

TABLES = Path(__file__).resolve().parents[3] / "shared" / "paper" / "tables.csv"
NAMES = {
    "Average Precision": "average_precision",
    "micro-F1": "micro_f1",
    "Ranking Loss": "ranking_loss",
    "One Error": "one_error",
    "Precision@3": "precision_at_3",
    "nDCG@3": "ndcg_at_3",
}


def test_there_are_as_many_as_the_paper_prints():
    assert len(PUBLISHED) == 884
    assert all(get_metric(cell.metric) for cell in PUBLISHED.values())


def test_every_number_is_the_papers():
    if not TABLES.is_file():
        pytest.skip(f"needs the paper's tables, which are not in {TABLES}")
    with TABLES.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    for row in rows:
        cell = published(row["dataset"], row["method"], NAMES[row["metric"]])
        assert (cell.mean, cell.std) == (float(row["mean"]), float(row["std"]))
        assert cell.family == row["table"]
    assert len(rows) == len(PUBLISHED)


def test_a_few_as_printed():
    assert published("Enron", "CMLL", "average_precision").mean == 0.6965
    assert published("mediamill", "k-CMLL", "ndcg_at_3") is not None
    assert published("enron", "CMLL", "hamming_loss") is None


def test_names_stand_in_the_papers_order_and_strangers_after_them():
    datasets = ["zoo", "enron", "plant", "art"]
    assert sorted(datasets, key=dataset_order) == ["plant", "enron", "art", "zoo"]
    methods = ["CMLL", "new", "ORI", "POP"]
    assert sorted(methods, key=method_order) == ["ORI", "POP", "new", "CMLL"]
    assert [family_of(m) for m in ("POP", "C2AE", "new", "k-new")] == [
        "linear", "kernel", "linear", "kernel",
    ]  # fmt: skip
