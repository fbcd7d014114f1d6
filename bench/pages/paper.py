"""The tables of docs/PAPER.md: the demo, and no arguments against no arguments."""

from pages.shared import Page, Parts, Record, figures, spread

page = Page("docs/PAPER.md")


@page.table
def demo(record: Record) -> Parts:
    """Three methods under two protocols."""
    rows = {(row["protocol"], row["method"]): row for row in record["rows"]}
    methods = ("ORI", "CMLL_y", "CMLL")
    yield ["average precision on enron, mean ± deviation of 5 folds", *methods]
    for protocol, title in (
        ("paper", "paper protocol: its ridge grid, best setting on the test folds"),
        ("fair", "fair protocol: penalty chosen by inner folds of the training rows"),
    ):
        shown = [_precision(rows[protocol, method]) for method in methods]
        yield [title, *(spread(figure) for figure in shown)]
        if protocol == "paper":
            yield ["the same, as published", *(spread(figure["published"]) for figure in shown)]
    sizes = [rows["fair", method] for method in methods]
    yield ["features the learner sees", *(f"{row['n_features']}" for row in sizes)]
    yield ["targets it predicts", *(f"{row['n_targets']}" for row in sizes)]


def _precision(row: Record) -> Record:
    return next(f for f in row["figures"] if f["metric"] == "average precision")


@page.table
def defaults(record: Record) -> Parts:
    """No arguments against no arguments."""
    yield ["data", "`CMLLClassifier()`", "`Ridge(alpha=1)`", "difference"]
    for row in record["measurements"]:
        means = figures(row, "ours_mean", "theirs_mean")
        yield [row["data"], *means, f"{row['difference']:+.3f}"]
