"""Records for tests."""

import numpy as np

from compactlearn_bench.records import Cell, Record


def record(
    dataset="enron",
    method="CMLL",
    selection="nested",
    fold=0,
    values=((0.5,),),
    metrics=("average_precision",),
    configurations=None,
    status="done",
    **more,
):
    """One record; what a test does not care about has a default."""
    cell_parts = {name: more.pop(name) for name in ("n_folds", "seed", "rows") if name in more}
    cell = Cell(dataset, method, selection, fold, settings=more.pop("settings", {}), **cell_parts)
    if status != "done":
        return Record(cell, status, reason=more.pop("reason", None))
    values = np.asarray(values, dtype=float)
    configurations = configurations or [{"alpha": float(k)} for k in range(len(values))]
    sizes = more.pop("sizes", [10 * (k + 1) for k in range(len(values))])
    return Record(cell, status, None, metrics, configurations, values, sizes, **more)
