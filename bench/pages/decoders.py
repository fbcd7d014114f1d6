"""The tables of docs/explanation/decoders.md."""

from typing import Any

from compactlearn_bench.records.significance import paired_t_test
from compactlearn_bench.report.tables.published import dataset_order
from pages.shared import Parts, Record, formatted, markdown, paper_results, table


@table
def decoders() -> Parts:
    """Decoders under the fair protocol, with ridge and one-vs-rest logistic regression."""
    found = paper_results("nested")
    titles = {
        "ORI": "ridge",
        "BR-logistic": "one-vs-rest",
        "CMLL+f1": "CMLL, linear",
        "CMLL+logistic": "CMLL, logistic",
        "k-CMLL+logistic": "k-CMLL, logistic",
    }
    shown = {
        "average_precision": "average precision",
        "ranking_loss": "ranking loss",
        "one_error": "one error",
        "micro_f1": "micro-F1",
    }
    yield ["", *titles.values()]
    for dataset in sorted(found.datasets, key=dataset_order):
        for metric, title in shown.items():
            own = {name: found.score(dataset, name, metric) for name in titles}
            first = metric == "average_precision"
            marks = {name: _marks(name, own) if first else "" for name in titles}
            cells = [f"{score.mean:.3f}{marks[name]}" for name, score in own.items()]
            yield [f"**{dataset}**, {title}" if first else title, *cells]


def _marks(name: str, own: dict[str, Any]) -> str:
    """Where a method is significantly better or worse than ridge (o) and one-vs-rest (v)."""
    marks = ""
    for baseline, letter in (("ORI", "o"), ("BR-logistic", "v")):
        outcome = paired_t_test(own[name].values, own[baseline].values).mark
        marks += {"better": f" +{letter}", "worse": f" -{letter}"}.get(outcome, "")
    return marks


@table
def reliability(record: Record) -> Parts:
    """Scores of calibration, and below them what was observed in each bin of CMLL."""
    rows = {(row["data"], row["method"]): row for row in record["measurements"]}
    data, methods = (list(dict.fromkeys(key[k] for key in rows)) for k in (0, 1))
    yield ["", *methods]
    for name in data:
        for key, title, form in (
            ("mean_p_over_mean_y", f"**{name}**, mean p / mean y", ".2f"),
            ("calibration_error", "calibration error of all pairs", ".4f"),
            ("log_loss", "log-loss of a row", ".2f"),
        ):
            yield [title, *(f"{rows[name, m][key]:{form}}" for m in methods)]
    bins = [[f"{methods[0]}: observed at mean p (cells)", *data]]
    for k in range(10):
        cells = [_bin(rows[name, methods[0]]["bins"][k]) for name in data]
        bins.append([f"p from {k / 10:.1f} to {(k + 1) / 10:.1f}", *cells])
    yield markdown(bins)


def _bin(row: Record) -> str:
    if not row["cells"]:
        return "none"
    return f"{row['observed']:.3f} at {row['mean_p']:.3f} ({row['cells']})"


@table
def thresholds(record: Record) -> Parts:
    """Scores of each threshold, set by set."""
    titles = {
        "micro_f1": "micro-F1",
        "macro_f1": "macro-F1",
        "exact": "rows exactly right",
        "empty": "rows empty",
        "never": "labels never predicted",
    }
    yield ["data", "threshold", *titles.values(), "cost"]
    for row in record["measurements"]:
        first = row["threshold"] == record["measurements"][0]["threshold"]
        line = [row["data"] if first else "", f"{row['threshold']}"]
        yield [*line, *formatted(row, *titles), f"{row['cost']:.1f}"]
