"""The figure of accuracy against size, from records that are made up."""

import importlib.util
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from compactlearn_bench import cells_of, parse_spec
from compactlearn_bench.records import Record

SCRIPT = Path(__file__).resolve().parents[2] / "figures.py"
SPEC = {
    "name": "sizes",
    "folds": 2,
    "selections": ["nested"],
    "metrics": ["average_precision"],
    "datasets": ["enron", "emotions", "flags"],
    "methods": [
        {"name": "ORI", "as": "Ridge"},
        {"name": "Auto", "as": "Auto, 5 %", "size_budget": 0.05},
        {"name": "Auto", "as": "Auto, 20 %", "size_budget": 0.2},
        {"name": "Auto"},
    ],
}
# Mean score and number of parameters of each; on flags ridge has none.
FOUND = {
    "Ridge": (0.5, 1000),
    "Auto, 5 %": (0.45, 50),
    "Auto, 20 %": (0.55, 200),
    "Auto": (0.6, 9000),
}


def record_of(cell):
    if (cell.dataset, cell.method) == ("flags", "Ridge"):
        return Record(cell, "timeout", "It took too long.", circumstances={"seconds": {}})
    score, size = FOUND[cell.method]
    score += 0.02 * (cell.fold - 0.5) + (0.1 if cell.dataset == "emotions" else 0.0)
    return Record(
        cell,
        "done",
        metrics=["average_precision"],
        configurations=[{}],
        values=np.array([[score]]),
        sizes=[size],
        circumstances={"seconds": {"search": 1.0, "fit": 1.0, "predict": 1.0, "total": 3.0}},
    )


@pytest.fixture(scope="module")
def figures():
    found = importlib.util.spec_from_file_location("figures_of_documents", SCRIPT)
    module = importlib.util.module_from_spec(found)
    sys.modules[found.name] = module  # for its dataclasses
    found.loader.exec_module(module)
    yield module
    del sys.modules[found.name]


@pytest.fixture(scope="module")
def records():
    return [record_of(cell) for cell in cells_of(parse_spec(SPEC))]


def test_a_line_is_in_shares_of_ridge(figures, records):
    emotions, enron = figures.curves(records)  # by what the smallest reaches; flags has no ridge
    assert (enron.dataset, emotions.dataset) == ("enron", "emotions")
    assert enron.sizes == pytest.approx((0.05, 0.2))
    assert enron.scores == pytest.approx((0.9, 1.1))
    assert emotions.scores == pytest.approx((0.55 / 0.6, 0.65 / 0.6))


def test_the_figure_is_well_formed_and_has_its_values(figures, records):
    text = figures.drawing(figures.curves(records))
    root = ET.fromstring(text)
    titles = [node.text for node in root.iter() if node.tag.endswith("title")]
    assert "enron: 5.0% of the parameters, 0.900 of ridge" in titles
    assert len(titles) == 4
    labels = [node.text for node in root.iter() if node.tag.endswith("text")]
    assert {"enron", "emotions", "5%", "20%", "100%", "tuned ridge, all its parameters"} <= set(
        labels
    )
    assert any("number of parameters" in word for word in labels)
    assert any("average precision" in word for word in labels)
    assert "prefers-color-scheme: dark" in text
