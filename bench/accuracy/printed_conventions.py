"""What plain ridge says about the paper's data: its published cells under one convention each.

    python bench/accuracy/printed_conventions.py [--data-home DIR] [--only SET ...]

Plain ridge (ORI) has nothing to choose but its penalty, so a convention about data, folds or
metrics shows in it alone. "As printed" is the protocol of bench/paper/printed.toml; every
other line changes one thing of it. A convention counts by the published cells within two
deviations, and is judged, too, by its deviations between folds, which tell the number of test rows.
"""

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import KFold
from sklearn.preprocessing import MinMaxScaler, StandardScaler, normalize
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import common

from compactlearn import method
from compactlearn.datasets import load
from compactlearn.metrics import Judges, greater_is_better
from compactlearn_bench import cells_of, read_spec
from compactlearn_bench.harness.execute import fold_rows
from compactlearn_bench.methods.rows import drawn, kept_labels, with_empty_rows
from compactlearn_bench.records import Cell
from compactlearn_bench.report.tables.published import published

SPEC = common.ROOT / "bench" / "paper" / "printed.toml"
PENALTIES = tuple(10.0**k for k in range(-5, 0))
OFFICIAL = {"mediamill": 30993, "delicious": 12920}  # rows of the customary training part, first
Folds = list[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Convention:
    """What is done with the rows of a set; the defaults are those of "as printed"."""

    penalties: tuple[float, ...] = (0.1,)
    bias: str = "none"
    train_rows: int | None = -1  # -1: the spec's
    empty_rows: bool | None = None  # None: the spec's
    left_out: bool = True
    features: Callable[[Any], Any] = lambda X: X
    folds: str = "shuffled"  # or "in order", "official", "5000 rows"
    sets: tuple[str, ...] = ()  # where it makes a difference; empty: everywhere


def _dense(scaler: Any) -> Callable[[Any], Any]:
    def scaled(X: Any) -> Any:
        return scaler.fit_transform(X.toarray() if sparse.issparse(X) else X)

    return scaled


LARGE = ("mediamill", "delicious")
CONVENTIONS = {
    "as printed": Convention(),
    "a free intercept": Convention(bias="free"),
    "each metric's best penalty": Convention(penalties=PENALTIES),
    "a penalty of 0.001": Convention(penalties=(1e-3,)),
    "all training rows": Convention(train_rows=None, sets=("mediamill",)),
    "4000 training rows": Convention(train_rows=4000, sets=("delicious",)),
    "5000 rows in all": Convention(train_rows=None, folds="5000 rows", sets=LARGE),
    "folds in order": Convention(train_rows=None, folds="in order", sets=LARGE),
    "customary split": Convention(train_rows=None, folds="official", sets=LARGE),
    "rows without labels left out": Convention(empty_rows=False, sets=("llog",)),
    "rows without labels count": Convention(empty_rows=True, sets=("mediamill",)),
    "all 75 labels": Convention(left_out=False, sets=("llog",)),
    "rows of unit length": Convention(features=normalize),
    "columns of mean 0 and deviation 1": Convention(features=_dense(StandardScaler())),
    "columns between 0 and 1": Convention(features=_dense(MinMaxScaler()), sets=("mediamill",)),
}


def folds_of(cells: list[Cell], convention: Convention, n_rows: int) -> Folds:
    """Training and test rows."""
    if convention.folds == "in order":
        return list(KFold(len(cells)).split(np.empty((n_rows, 1))))
    if convention.folds == "official":
        cut = OFFICIAL[cells[0].dataset]
        return [(np.arange(cut), np.arange(cut, n_rows))]
    if convention.folds == "5000 rows":
        cells = [replace(cell, rows=5000) for cell in cells]
    found = []
    for cell in cells:
        used, train, test = fold_rows(cell, n_rows)
        rows = cell.settings.get("train_rows")
        rows = rows if convention.train_rows == -1 else convention.train_rows
        found.append((drawn(used[train], rows, cell.split_seed), used[test]))
    return found


def values_of(cells: list[Cell], convention: Convention, data: Any) -> np.ndarray:
    """Folds, penalties, metrics."""
    settings, metrics = cells[0].settings, cells[0].settings["metrics"]
    X = convention.features(data.X.tocsr() if sparse.issparse(data.X) else data.X)
    Y = sparse.csr_array(data.Y)
    if convention.left_out:
        kept = kept_labels(data.label_names, settings.get("left_out_labels"), cells[0].dataset)
        Y = Y if kept is None else Y[:, kept]
    counts = convention.empty_rows
    counts = settings.get("empty_rows") == "counted" if counts is None else counts
    found = []
    for train, test in folds_of(cells, convention, X.shape[0]):
        judges = Judges(metrics, Y[test], Y[train])
        rows = []
        for alpha in convention.penalties:
            model = method("ORI", alpha=alpha, bias=convention.bias).fit(X[train], Y[train])
            scores = model.decision_function(X[test])
            rows.append(judges(scores[None], (scores > 0.5)[None])[0])
        share = float(np.mean(np.diff(Y[test].indptr) == 0)) if counts else 0.0
        found.append(with_empty_rows(rows, metrics, share))
    return np.array(found)


def rows_of(cell: Cell, convention: str, values: np.ndarray) -> list[dict[str, Any]]:
    """One for each published metric."""
    found = []
    for k, metric in enumerate(cell.settings["metrics"]):
        printed = published(cell.dataset, cell.method, metric)
        if printed is None:
            continue
        means = values[:, :, k].mean(axis=0)
        best = int(means.argmax() if greater_is_better(metric) else means.argmin())
        folds = values[:, best, k]
        found.append(
            {
                "data": cell.dataset,
                "metric": metric,
                "convention": convention,
                "mean": round(float(means[best]), 4),
                "std": round(float(folds.std(ddof=1)), 4) if len(folds) > 1 else None,
                "paper_mean": printed.mean,
                "paper_std": printed.std,
            }
        )
    return found


def main(arguments: list[str] | None = None) -> int:
    """Measure, show, write."""
    parser = common.parser(__doc__)
    parser.add_argument("--only", nargs="+", help="some of the sets")
    parser.add_argument("--out", type=Path, default=common.RESULTS / "printed_conventions.json")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    cells = [cell for cell in cells_of(read_spec(SPEC)) if cell.method == "ORI"]
    rows = []
    for name in dict.fromkeys(cell.dataset for cell in cells):
        if options.only and name not in options.only:
            continue
        own, data = [cell for cell in cells if cell.dataset == name], load(name, options.data_home)
        for title, convention in CONVENTIONS.items():
            if convention.sets and name not in convention.sets:
                continue
            with threadpool_limits(1):
                found = rows_of(own[0], title, values_of(own, convention, data))
            print(name, title, [row["mean"] for row in found], flush=True)
            rows += found
    record = {"date": common.today(), "machine": common.machine()}
    common.write_json(options.out, record | {"measurements": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
