"""Tables of docs/results/paper.md: enron in short, and defaults compared with defaults."""

import numpy as np

from compactlearn_bench.report.tables.published import published
from pages.shared import Parts, Record, formatted, paper_results, table

SMALL = "CMLL, CMLL's size"


@table
def enron() -> Parts:
    """Plain ridge and compact learning under two protocols, and what they keep."""
    methods = ("ORI", "CMLL_y", "CMLL")
    paper, fair = (
        {name: paper_results(protocol).score("enron", name, "average_precision") for name in names}
        for protocol, names in (("paper", methods), ("nested", (*methods, SMALL)))
    )
    known = [published("enron", name, "average_precision") for name in methods]
    yield [
        "average precision on enron, mean ± deviation of 5 folds",
        *methods,
        "CMLL, of its default size",
    ]
    for title, row in (
        ("paper protocol: its ridge grid, best setting on the test folds", paper.values()),
        ("the same, as published", known),
        ("fair protocol: setting chosen by inner folds of the training rows", fair.values()),
    ):
        cells = [f"{cell.mean:.3f} ± {cell.std:.3f}" for cell in row]
        yield [title, *cells, *[""] * (4 - len(cells))]
    sizes = [f"{np.mean(cell.sizes):,.0f}" for cell in fair.values()]
    yield ["parameters of the last, mean of the folds", *sizes]


@table
def defaults(record: Record) -> Parts:
    """No arguments against no arguments."""
    yield ["data", "`CMLLClassifier()`", "`Ridge(alpha=1)`", "difference"]
    for row in record["measurements"]:
        means = formatted(row, "ours_mean", "theirs_mean")
        yield [row["data"], *means, f"{row['difference']:+.3f}"]
