"""The tables of one row and of many in docs/results/speed.md."""

from compactlearn.utils import human_bytes
from pages.shared import Parts, Record, class_of, seconds, table


@table
def onnx(record: Record) -> Parts:
    """A model and its exported graph, for one row and for many."""
    head = ["data", "model", "rows", "this package, sparse rows", "dense rows", "onnxruntime"]
    yield [*head, "bytes of the file"]
    measured = {
        (row["data"], row["model"], row["rows"], row["form"]): row for row in record["measurements"]
    }
    for (data, model, count, form), row in measured.items():
        if form == "dense":
            sparse = measured[data, model, count, "sparse"]
            times = [sparse["ours_s"], row["ours_s"], row["theirs_s"]]
            yield [data, model, f"{count}", *map(_moment, times), human_bytes(row["bytes"])]
    machine, load = record["machine"], record["load"]
    caption = (
        f"The five best labels; one thread ({machine['cpu']}), onnxruntime "
        f"{record['onnxruntime']}, NumPy {machine['versions']['numpy']}; "
        f"{record['date']}."
    )
    if load > machine["cores"]:
        caption += (
            f" The machine was busy ({load:.0f} processes for {machine['cores']} cores): compare "
            "columns, which were timed in turn, and take no time for that of a quiet machine."
        )
    yield caption


@table
def one_row(record: Record) -> Parts:
    """One row and many of a shortlist, with Numba and without."""
    yield ["", "`predict_topk`, one row", "`predict_proba`, one row", "100 rows", "all rows"]
    for row in record["measurements"]:
        times = [row[f"{name}_ms"] for name in ("topk", "proba", "hundred", "batch")]
        name = "with Numba" if row["numba"] else "without"
        yield [name, *(f"{value:.2f} ms" for value in times)]
    ratios = record["without_over_with"]
    yield ["ratio", *(f"{ratios[name]:.1f}" for name in ("topk", "proba", "hundred", "batch"))]
    first = {row["numba"]: row["first_ms"] for row in record["measurements"]}
    yield (
        f"Processor time for each row, medians of {record['rows']:,} rows and of several processes "
        f"of one thread. The first row takes {seconds(first[True] / 1000)} with Numba, which loads "
        f"compiled code then, and {seconds(first[False] / 1000)} without. {class_of(record)}"
    )


def _moment(value: float) -> str:
    return f"{1e6 * value:.0f} µs" if value < 1e-3 else seconds(value)
