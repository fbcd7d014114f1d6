"""The table of docs/how-to/serve.md."""

from compactlearn.utils import human_bytes
from pages.shared import Parts, Record, seconds, table


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


def _moment(value: float) -> str:
    return f"{1e6 * value:.0f} µs" if value < 1e-3 else seconds(value)
