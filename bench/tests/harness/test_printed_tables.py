"""The tables of "as printed", from records that are made up."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from compactlearn_bench.records import Cell, Record, aggregate
from compactlearn_bench.report.tables.published import published

SCRIPT = Path(__file__).resolve().parents[2] / "printed.py"
METRICS = ["average_precision", "micro_f1", "ranking_loss", "one_error"]
FOLDS = 2


@pytest.fixture(scope="module")
def tables():
    found = importlib.util.spec_from_file_location("printed_tables", SCRIPT)
    module = importlib.util.module_from_spec(found)
    sys.modules[found.name] = module  # dataclasses look themselves up there
    found.loader.exec_module(module)
    return module


def records(method, far, configurations=1):
    """Folds whose means are so many published deviations off; ``far`` for each metric, by
    configuration."""
    values = np.empty((configurations, len(METRICS)))
    for k, metric in enumerate(METRICS):
        printed = published("enron", method, metric)
        values[:, k] = printed.mean + np.asarray(far[metric]) * printed.std
    grid = [{"alpha": float(k)} for k in range(configurations)]
    for fold in range(FOLDS):
        cell = Cell("enron", method, "paper", fold, FOLDS, settings={"metrics": METRICS})
        yield Record(
            cell, "done", metrics=METRICS, configurations=grid, values=values, sizes=[1] * len(grid)
        )


def results(*given):
    return aggregate([record for one in given for record in one], "paper")


def everywhere(value):
    return dict.fromkeys(METRICS, value)


def test_cells_are_counted_before_and_after(tables):
    before = results(records("ORI", everywhere(3.0)), records("PLST", everywhere(1.0)))
    after = results(records("ORI", everywhere(-1.9)), records("PLST", everywhere(2.1)))
    cells = tables.compared(before, after)
    text = tables.counted(cells, lambda cell: cell.method, str)
    assert "| ORI | 4 | 0 | 4 | 4 |" in text
    assert "| PLST | 4 | 4 | 0 | 0 |" in text
    assert "| all | 8 | 4 | 4 | 4 |" in text
    assert "| enron | 8 | 4 | 4 | 4 |" in tables.counted(cells, lambda c: c.dataset, str)


def test_one_configuration_is_that_of_the_best_average_precision(tables):
    """Each metric's best are near here; the best in average precision is so in one metric only."""
    far = {
        "average_precision": [0.5, 1.0],
        "micro_f1": [1.0, -5.0],  # more is better: the first is its best
        "ranking_loss": [-1.0, 4.0],  # less is better
        "one_error": [-1.0, 4.0],
    }
    both = results(records("ORI", far, 2))
    cells = tables.compared(both, both)
    assert "| ORI | 4 | 4 | 4 | 1 |" in tables.counted(cells, lambda cell: cell.method, str)
    assert [cell.by_ap for cell in cells] == pytest.approx([1.0, -5.0, 4.0, 4.0])
    assert [cell.after for cell in cells] == pytest.approx([1.0, 1.0, -1.0, -1.0])


def test_what_is_not_run_is_named_and_counted_apart(tables):
    before = results(records("ORI", everywhere(1.0)), records("PLST", everywhere(1.0)))
    after = results(records("ORI", everywhere(0.0)))
    cells = tables.compared(before, after)
    text = tables.counted(cells, lambda cell: cell.method, str)
    assert "| PLST | 4, 0 of them run | 4 (0 of those run) |  |  |" in text
    assert "| all | 8, 4 of them run | 8 (4 of those run) | 4 | 4 |" in text
    assert "| PLST | not run |" in tables.unexplained(cells)


def test_conventions_are_counted_by_set(tables):
    rows = [
        {"data": data, "convention": convention, "mean": mean, "paper_mean": 0.5, "paper_std": 0.1}
        for data, convention, mean in (
            ("enron", "as printed", 0.6),
            ("enron", "as printed", 0.8),
            ("plant", "as printed", 0.3),
            ("enron", "other folds", 0.2),
        )
    ]
    text = tables.printed_conventions({"measurements": rows})
    assert "|  | plant | enron |" in text
    assert "| as printed | 1 of 1 | 1 of 2 |" in text
    assert "| other folds |  | 0 of 1 |" in text


def test_what_changing_one_thing_of_a_method_does(tables):
    cell = {"method": "PLST", "metric": "micro_f1", "before": 0.0, "by_ap": None}
    near, far, other = (
        tables.PublishedCell(dataset=name, after=after, **cell)
        for name, after in [("enron", 1.0), ("plant", 3.0), ("yeast", 0.0)]
    )
    row = {"method": "PLST", "convention": "centred", "paper_mean": 0.5, "paper_std": 0.1}
    rows = [{**row, "data": "enron", "mean": 0.9}, {**row, "data": "plant", "mean": 0.6}]
    head, _, as_printed, changed = tables.changed_methods([near, far, other], rows).splitlines()
    assert head == "|  | plant | enron | all |"
    assert as_printed == "| PLST, as printed | 0 of 1 | 1 of 1 | 1 of 2 |"
    assert changed == "| PLST, centred | 1 of 1 | 0 of 1 | 1 of 2 |"


def test_most_published_cells_come_back_by_the_committed_records(tables):
    """Every cell is run. 286 of 544 come back under the paper's protocol as its text has it."""
    cells = tables._cells()
    assert len(cells) == 544
    assert all(cell.after is not None for cell in cells)
    found = [sum(tables.near(getattr(cell, way)) for cell in cells) for way in ("after", "by_ap")]
    assert min(found) >= 340
