"""Why some cells of the benchmark are not the published ones: ridge under other conventions.

    python bench/accuracy/conventions.py [--data-home DIR] [--jobs N] [--out FILE]

Plain ridge (ORI) has nothing but its penalty to choose, so what the paper leaves open about data
and metrics shows in it alone. Folds, penalties and the choice on the test folds are those of
bench/paper/linear.toml; each convention changes one thing:

no intercept
    Targets and features are not centred.
rows of unit length
    Each row of the features is divided by its norm.
rows without labels count
    They are left out of every metric of the library. Here they have an average precision and a
    ranking loss of 0, and are an error, as a program does that tests nothing.
5000 rows
    No more are used of any data set; five draws, each with its five folds. The paper has 5000 rows
    of its sets of medium size, and says that it has all of mediamill and delicious.
"""

import os
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import common

from compactlearn import method
from compactlearn.datasets import describe, load
from compactlearn.metrics import Judges
from compactlearn_bench import cells_of, read_spec
from compactlearn_bench.harness.execute import fold_rows
from compactlearn_bench.records import Cell
from compactlearn_bench.report.tables.names import greater_is_better
from compactlearn_bench.report.tables.published import published

SPEC = common.ROOT / "bench" / "paper" / "linear.toml"
CONVENTIONS = (
    "as in the benchmark",
    "no intercept",
    "rows of unit length",
    "rows without labels count",
    "5000 rows",
)
MOST_ROWS, DRAWS = 5000, 5
#: What a row without labels is worth in each metric, where it counts.
WORTH = {"average_precision": 0.0, "ranking_loss": 0.0, "one_error": 1.0}


def fold_values(task: tuple[Cell, str, Path | None]) -> np.ndarray:
    """Penalties down, metrics across."""
    cell, convention, data_home = task
    warnings.simplefilter("ignore")
    data = load(cell.dataset, data_home)
    X = data.X.tocsr() if sparse.issparse(data.X) else data.X
    if convention == "rows of unit length":
        X = normalize(X)
    Y = sparse.csr_array(data.Y)
    used, train, test = fold_rows(cell, X.shape[0])
    train, test = used[train], used[test]
    metrics = cell.settings["metrics"]
    judges = Judges(metrics, Y[test], Y[train])
    bias = {"bias": "none"} if convention == "no intercept" else {}
    rows = []
    with threadpool_limits(1):
        for alpha in cell.settings["alphas"]:
            model = method("ORI", alpha=alpha, **bias).fit(X[train], Y[train])
            scores = model.decision_function(X[test])
            rows.append(judges(scores[None], (scores > 0.5)[None])[0])
    values = np.array(rows)
    if convention == "rows without labels count":
        share = float(np.mean(np.asarray(Y[test].sum(axis=1)).ravel() == 0))
        for k, metric in enumerate(metrics):
            if metric in WORTH:
                values[:, k] = (1 - share) * values[:, k] + share * WORTH[metric]
    return values


def drawn(cells: list[Cell], convention: str) -> list[Cell]:
    """The folds to run: those of the benchmark, or of several draws of some rows."""
    there = describe(cells[0].dataset).expected.samples
    if convention != "5000 rows" or min(there, cells[0].rows or there) <= MOST_ROWS:
        return cells
    return [replace(cell, rows=MOST_ROWS, seed=seed) for seed in range(DRAWS) for cell in cells]


def rows_of(cell: Cell, convention: str, values: np.ndarray) -> list[dict[str, Any]]:
    """One for each published metric; ``values`` are folds (of all draws), penalties, metrics."""
    found = []
    for k, metric in enumerate(cell.settings["metrics"]):
        printed = published(cell.dataset, "ORI", metric)
        if printed is not None:
            means = values[:, :, k].mean(axis=0)
            best = int(means.argmax() if greater_is_better(metric) else means.argmin())
            found.append(
                {
                    "data": cell.dataset,
                    "metric": metric,
                    "convention": convention,
                    "mean": round(float(means[best]), 4),
                    "std": round(float(values[:, best, k].std(ddof=1)), 4),
                    "paper_mean": printed.mean,
                    "paper_std": printed.std,
                }
            )
    return found


def main(arguments: list[str] | None = None) -> int:
    """Measure, show, write."""
    parser = common.parser(__doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="folds side by side")
    parser.add_argument("--out", type=Path, default=common.RESULTS / "conventions.json")
    options = parser.parse_args(arguments)
    cells = [cell for cell in cells_of(read_spec(SPEC)) if cell.method == "ORI"]
    rows = []
    with ProcessPoolExecutor(options.jobs) as pool:
        for name in dict.fromkeys(cell.dataset for cell in cells):
            own = [cell for cell in cells if cell.dataset == name]
            for convention in CONVENTIONS:
                tasks = [(cell, convention, options.data_home) for cell in drawn(own, convention)]
                values = np.array(list(pool.map(fold_values, tasks)))
                found = rows_of(own[0], convention, values)
                print(name, convention, [row["mean"] for row in found], flush=True)
                rows += found
    record = {"date": common.today(), "machine": common.machine()}
    common.write_json(options.out, record | {"measurements": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
