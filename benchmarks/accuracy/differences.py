"""Why some of our figures are not the published ones: the same folds under other conventions.

    python benchmarks/accuracy/differences.py [--data-home DIR] [--jobs N] [--out FILE]

Each line changes one convention that the paper leaves open and runs the protocol of methods.py
again, for the cells of that table whose difference is above 0.03.
"""

import argparse
import os
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import common
from methods import ALPHAS, BETAS, RATIOS, rows_of

from compactlearn import fit_path, method
from compactlearn.metrics import average_precision


@dataclass(frozen=True)
class Change:
    """One convention, on some data sets and methods."""

    what: str
    data: tuple[str, ...]
    methods: tuple[str, ...]
    params: dict[str, Any] = field(default_factory=dict)
    betas: tuple[float | None, ...] = (None,)
    sizes: tuple[float, ...] | None = None
    seed: int = 0
    empty_rows_count: bool = False  # rows without any label score 0 instead of being left out


HINGE = LinearSVC(loss="hinge", C=0.1, fit_intercept=False)
BALANCES = (1e-5, 1e-1, 1.0, 10.0)
CHANGES = (
    Change("no intercept", ("enron",), ("ORI",), {"bias": "none"}),
    Change("no intercept", ("enron",), ("PLST", "CPLST"), {"bias": "none"}, sizes=(0.1, 0.2)),
    Change("no intercept", ("enron",), ("DMLR",), {"bias": "none"}, (1e-3, 0.1), (0.1, 0.2)),
    Change(
        "penalty 1e-5 in the hat matrix",
        ("enron", "plant", "llog"),
        ("FaIE",),
        {"ridge": 1e-5},
        tuple(BETAS),
        tuple(RATIOS),
    ),
    Change(
        "penalty 1e-5 in the hat matrix",
        ("bibtex",),
        ("FaIE",),
        {"ridge": 1e-5},
        (0.1, 10.0, 1e5),
        (0.5, 1.0),
    ),
    Change(
        "all features (mu = 100 %)",
        ("bibtex",),
        ("MDDM",),
        {"n_feature_components": 1.0, "completion": "variance"},
    ),
    Change(
        "hinge loss in the base learner", ("enron", "plant", "llog"), ("POP",), {"estimator": HINGE}
    ),
    Change("no intercept", ("llog",), ("CMLL_y", "CMLL"), {"bias": "none"}, BALANCES, (0.5, 0.9)),
    Change("other folds", ("llog",), ("CMLL_y", "CMLL"), {}, BALANCES, (0.5, 0.7, 0.9), seed=1),
    Change(
        "random completion (mu = 10 %)",
        ("llog",),
        ("CMLL",),
        {"completion": "random", "n_feature_components": 0.1, "random_state": 0},
        BALANCES,
        (0.1, 0.5, 0.7),
    ),
    Change(
        "rows without labels count as 0",
        ("llog",),
        ("CMLL_y", "CMLL", "MDDM"),
        {},
        BALANCES,
        (0.5, 0.7, 0.9),
        empty_rows_count=True,
    ),
)


def settings(change: Change, name: str, X: Any, Y: Any) -> Any:
    """(setting, fitted model) for every setting of a changed method."""
    if name == "POP":
        yield (), method(name, random_state=0, **change.params).fit(X, Y)
        return
    for beta in (None,) if name == "MDDM" else change.betas:
        given = change.params | ({} if beta is None else {"beta": beta})
        base = method(name, **given)
        sizes = None if name == "MDDM" else change.sizes
        if base.bias == "free":
            for model in fit_path(base, X, Y, alphas=ALPHAS, n_label_components=sizes):
                yield (beta, str(model.get_params()), model.alpha), model
            continue
        where = "n_label_components" if name.startswith("CMLL") else "embedding__n_label_components"
        for size in sizes or (None,):
            for alpha in ALPHAS:
                sized = {} if size is None else {where: size}
                model = clone(base).set_params(alpha=alpha, **sized)
                yield (beta, size, alpha), model.fit(X, Y)


def fold_scores(task: tuple[Change, str, str, int, Path | None]) -> dict[Any, float]:
    """Average precision of every setting on one fold."""
    change, data, name, fold, data_home = task
    warnings.simplefilter("ignore")
    X, Y = rows_of(data, data_home, 0)
    train, test = list(KFold(5, shuffle=True, random_state=change.seed).split(X))[fold]
    share = 1.0
    if change.empty_rows_count:
        share = float(np.mean(np.asarray(Y[test].sum(axis=1)).ravel() > 0))
    with threadpool_limits(1):
        return {
            setting: share * average_precision(Y[test], model.decision_function(X[test]))
            for setting, model in settings(change, name, X[train], Y[train])
        }


def main(arguments: list[str] | None = None) -> int:
    """Measure, show, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-home", type=Path, help="folder of the data sets")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="folds side by side")
    parser.add_argument("--out", type=Path, default=common.RESULTS / "differences.json")
    options = parser.parse_args(arguments)
    rows = []
    with ProcessPoolExecutor(options.jobs) as pool:
        for change in CHANGES:
            for data in change.data:
                for name in change.methods:
                    tasks = [(change, data, name, fold, options.data_home) for fold in range(5)]
                    folds = list(pool.map(fold_scores, tasks))
                    best = max(folds[0], key=lambda s, folds=folds: sum(fold[s] for fold in folds))
                    values = [fold[best] for fold in folds]
                    row = {
                        "data": data,
                        "method": name,
                        "change": change.what,
                        "mean": round(float(np.mean(values)), 4),
                        "std": round(float(np.std(values, ddof=1)), 4),
                    }
                    rows.append(row)
                    print(row, flush=True)
    record = {"date": common.today(), "machine": common.machine()}
    common.write_json(options.out, record | {"measurements": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
