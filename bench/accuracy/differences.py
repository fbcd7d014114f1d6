"""Why some of our figures are not the published ones: the same folds under other conventions.

    python bench/accuracy/differences.py [--data-home DIR] [--jobs N] [--store DIR]

Each line changes one convention that the paper leaves open and has the harness run the paper's
protocol again, for the cells of the benchmark whose difference is above 0.03 (docs/METHODS.md).
Where that leaves the best configuration alone, the grid is a part of the benchmark's.
"""

import os
import sys
import tempfile
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.svm import LinearSVC

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import common

from compactlearn_bench import Answer, Task, cells_of, parse_spec, run
from compactlearn_bench.methods.library_entries import ENTRIES
from compactlearn_bench.records import Store, aggregate

METRIC = "average_precision"
ROWS = {"bibtex": 5000}  # the paper uses 5000 of 7395 rows, without saying which


# ---- the methods that are not the library's ------------------------------------------------------


def _with(name: str, **params: Any) -> Any:
    """An entry whose classifier has other parameters."""
    entry: Any = ENTRIES[name]
    return replace(entry, make=lambda *given: entry.make(*given).set_params(**params))


@dataclass(frozen=True)
class EmptyRowsCount:
    """An entry for which rows without any label score 0 instead of being left out."""

    entry: Any

    def settings(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Those of the method."""
        return self.entry.settings(given)

    def answer(self, task: Task) -> Answer:
        """The mean over all rows."""
        found = self.entry.answer(task)
        share = float(np.mean(np.asarray(task.Y_test.sum(axis=1)).ravel() > 0))
        return replace(found, values=share * found.values)


PLAIN = {
    name: _with(name, bias="none") for name in ("ORI", "PLST", "CPLST", "DMLR", "CMLL_y", "CMLL")
}
HINGE = {"POP": _with("POP", estimator=LinearSVC(loss="hinge", C=0.1, fit_intercept=False))}
COUNTED = {name: EmptyRowsCount(ENTRIES[name]) for name in ("CMLL_y", "CMLL", "MDDM")}


def __getattr__(name: str) -> Any:
    """``plain_CMLL`` and the like, as a spec names them."""
    kind, _, method = name.partition("_")
    found = {"plain": PLAIN, "hinge": HINGE, "counted": COUNTED}.get(kind, {})
    if method not in found:
        raise AttributeError(name)
    return found[method]


# ---- what is changed -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Change:
    """One convention, on some data sets and methods."""

    what: str
    data: tuple[str, ...]
    methods: tuple[str, ...]
    settings: dict[str, Any] = field(default_factory=dict)
    own: str | None = None  # the kind of a method of this file
    seed: int = 0


NARROW = {"betas": [1e-5, 1e-2, 1e-1, 1.0, 10.0], "feature_ratios": [0.1], "label_ridges": [0.0]}
CHANGES = (
    Change("no intercept", ("enron",), ("ORI",), own="plain"),
    Change(
        "no intercept",
        ("enron",),
        ("PLST", "CPLST", "DMLR"),
        {"betas": [1e-3, 0.1], "label_ratios": [0.1, 0.2]},
        "plain",
    ),
    Change(
        "penalty 1e-5 in the hat matrix",
        ("enron", "plant", "llog"),
        ("FaIE",),
        {"hat_ridge": 1e-5},
    ),
    Change(
        "penalty 1e-5 in the hat matrix",
        ("bibtex",),
        ("FaIE",),
        {"hat_ridge": 1e-5, "betas": [0.1, 10.0, 1e5], "label_ratios": [0.5, 1.0]},
    ),
    Change("all features (mu = 100 %)", ("bibtex",), ("MDDM",), {"feature_ratios": [1.0]}),
    Change("hinge loss in the base learner", ("enron", "plant", "llog"), ("POP",), own="hinge"),
    Change(
        "no intercept",
        ("llog",),
        ("CMLL_y", "CMLL"),
        {**NARROW, "label_ratios": [0.5, 0.6, 0.7]},
        "plain",
    ),
    Change("other folds", ("llog",), ("CMLL_y", "CMLL"), NARROW, seed=1),
    Change(
        "random completion (mu = 10 %)",
        ("llog",),
        ("CMLL",),
        {**NARROW, "completion": "random", "label_ratios": [0.1, 0.5, 0.6]},
    ),
    Change(
        "rows without labels count as 0", ("llog",), ("CMLL_y", "CMLL", "MDDM"), NARROW, "counted"
    ),
)


def measure(change: Change, data: str, method: str, store: Store, options: Any) -> dict[str, Any]:
    """The best configuration's mean over the folds, from the harness."""
    shown = f"{method}, {change.what}"
    known: Any = ENTRIES[method]
    taken = (*known.axes, *known.options)
    settings = {name: value for name, value in change.settings.items() if name in taken}
    own = {} if change.own is None else {"estimator": f"differences:{change.own}_{method}"}
    spec = parse_spec(
        {
            "name": "differences",
            "seed": change.seed,
            "selections": ["paper"],
            "metrics": [METRIC],
            "datasets": [{"name": data, **({"rows": ROWS[data]} if data in ROWS else {})}],
            "methods": [{"name": method, "as": shown, **own, **settings}],
        },
        folder=Path(__file__).resolve().parent,
    )
    run(spec, store, workers=options.jobs, data_home=options.data_home)
    records = [store.read(cell) for cell in cells_of(spec)]
    found = aggregate([record for record in records if record is not None], "paper")
    figure = found.figure(data, shown, METRIC)
    if figure is None:
        raise SystemExit(f"{shown} on {data}: {found.cell(data, shown, METRIC)}")
    return {
        "data": data,
        "method": method,
        "change": change.what,
        "mean": round(figure.mean, 4),
        "std": round(figure.std, 4),
    }


def main(arguments: list[str] | None = None) -> int:
    """Measure, show, write."""
    parser = common.parser(__doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="folds side by side")
    parser.add_argument("--store", type=Path, help="keep the records there, and go on with them")
    parser.add_argument("--out", type=Path, default=common.RESULTS / "differences.json")
    options = parser.parse_args(arguments)
    rows = []
    place = tempfile.TemporaryDirectory() if options.store is None else nullcontext(options.store)
    with place as folder:
        for change in CHANGES:
            for data in change.data:
                for method in change.methods:
                    rows.append(measure(change, data, method, Store(folder), options))
                    print(rows[-1], flush=True)
    record = {"date": common.today(), "machine": common.machine()}
    common.write_json(options.out, record | {"measurements": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
