"""What the other methods say of conventions that plain ridge leaves open.

    python bench/accuracy/printed_methods.py [--data-home DIR] [--only SET ...] [--device cuda]

Plain ridge shows that no constant enters the scores (``printed_conventions.py``). PLST and CPLST
have a second door for one, the mean of the labels. And the learner of the paper's second table is a
kernel ridge; where rows are projected it may be one of the projected rows, or a ridge of their
coordinates. Here each is tried the other way than bench/paper/printed.toml and
printed_kernel.toml have it, on all sets, with the same folds and grids. A convention counts by the
published cells within two deviations.
"""

import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import common
from accuracy.printed_conventions import rows_of

from compactlearn_bench import cells_of, read_spec
from compactlearn_bench.harness.execute import answer_of, task_of
from compactlearn_bench.methods.library_entries import ENTRIES
from compactlearn_bench.records import Cell

SPECS = [common.ROOT / "bench" / "paper" / name for name in ("printed.toml", "printed_kernel.toml")]
CENTRED = {"embedding__center": True, "embedding__hat": "intercept"}
#: What is changed of a method as printed, and the words for it.
OTHERWISE = {
    "PLST": ("labels are centred", {"embedding__center": True}),
    "CPLST": ("labels are centred", CENTRED),
    "k-CPLST": ("labels are centred", CENTRED),
    "k-MDDM": ("a ridge of the projected rows", {"regressor": None}),
}


def values_of(cells: list[Cell], changes: dict[str, Any], home: Any, device: Any) -> np.ndarray:
    """Folds, configurations, metrics."""
    entry = ENTRIES[cells[0].method]
    changed = replace(entry, make=lambda own, seed: entry.make(own, seed).set_params(**changes))
    tasks = (task_of(cell, home, device=device) for cell in cells)
    return np.array([answer_of(changed, task).values for task in tasks])


def main(arguments: list[str] | None = None) -> int:
    """Measure, show, write."""
    parser = common.parser(__doc__)
    parser.add_argument("--only", nargs="+", help="some of the sets")
    parser.add_argument("--device", help="where PyTorch solves the grids, e.g. cuda")
    parser.add_argument("--out", type=Path, default=common.RESULTS / "printed_methods.json")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    home = None if options.data_home is None else str(options.data_home)
    cells: dict[tuple[str, str], list[Cell]] = {}
    for cell in (cell for spec in SPECS for cell in cells_of(read_spec(spec))):
        if cell.method in OTHERWISE and (not options.only or cell.dataset in options.only):
            cells.setdefault((cell.method, cell.dataset), []).append(cell)
    rows = []
    for (name, dataset), own in cells.items():
        title, changes = OTHERWISE[name]
        with threadpool_limits(1):
            found = rows_of(own[0], title, values_of(own, changes, home, options.device))
        print(name, dataset, title, [row["mean"] for row in found], flush=True)
        rows += [{"method": name, **row} for row in found]
    record = {"date": common.today(), "machine": common.machine(), "device": options.device}
    common.write_json(options.out, record | {"measurements": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
