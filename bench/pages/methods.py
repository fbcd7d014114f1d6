"""The tables of docs/methods/index.md."""

from compactlearn_bench.report.tables.published import published
from pages.shared import Parts, Record, class_of, paper_results, table, times

LINEAR = ("ORI", "PLST", "CPLST", "DMLR", "FaIE", "CMLL_y", "MDDM", "POP", "CMLL")


@table
def methods() -> Parts:
    """Every linear method compared with the published score, from the records of the benchmark."""
    data = ("enron", "plant", "llog", "bibtex", "corel5k")
    yield ["method", *data]
    yield from ([method, *(_compared(*_both(name, method)) for name in data)] for method in LINEAR)


def _both(dataset: str, method: str) -> tuple[float, float]:
    """Our mean average precision under the paper's protocol, and the paper's."""
    ours = paper_results("paper").score(dataset, method, "average_precision")
    theirs = published(dataset, method, "average_precision")
    if ours is None or theirs is None:
        raise SystemExit(f"There is no score of {method} on {dataset}")
    return ours.mean, theirs.mean


def _compared(ours: float, theirs: float) -> str:
    mark = " *" if abs(ours - theirs) > 0.03 else ""
    return f"{ours:.3f} ({theirs:.3f}){mark}"


@table
def kernel(record: Record) -> Parts:
    """Kernel versions."""
    yield ["what", "data", "ours", "theirs", "ours / theirs"]
    for row in record["measurements"]:
        if "ratio" in row:
            cells = [*times(row, "ours_s", "theirs_s"), f"{row['ratio']:.2g}"]
        else:
            peak = row["peak_bytes"] / 2**30
            cells = [f"{row['fit_s']:.0f} s to fit, {peak:.1f} GiB at most", "", ""]
        yield [row["what"], row["data"], *cells]
    yield class_of(record)
