"""Decoders and thresholds under nested folds: nothing is chosen on the rows it is judged by.

    python benchmarks/accuracy/decoders.py [--data-home DIR] [--jobs N] [--out FILE]
                                           [--method METHOD] [NAME ...]

Five outer folds; on each training part every method chooses among six settings by the average
precision of three inner folds, is fitted again with the best, and is judged on the outer fold. The
six settings are penalties for plain ridge (ORI) and one-vs-rest logistic regression; for CMLL,
whichever its decoder, penalties and ratios of codes, with all the features (CMLL_y). The tuned
threshold is the one of largest micro-F1 on held-out scores of the training part. Beside each mean
stands the paired t-test over the five folds against the two rivals (10 %, two-sided; four degrees
of freedom see only large effects).
"""

import argparse
import json
import os
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.multiclass import OneVsRestClassifier
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import common

from compactlearn import CMLLClassifier, CompactClassifier, Original, ThresholdTuner
from compactlearn.metrics import average_precision, micro_f1, one_error, ranking_loss

DATA = ("enron", "plant", "llog", "yeast", "medical", "bibtex", "corel5k")
NAMES = ("ORI", "one-vs-rest", "CMLL linear", "CMLL learned", "CMLL logistic")
INNER = 3


def settings(name: str) -> list[Any]:
    """Six unfitted estimators."""
    if name == "ORI":
        return [CompactClassifier(Original(), alpha=10.0**k, threshold=0.5) for k in range(-1, 5)]
    if name == "one-vs-rest":
        return [
            OneVsRestClassifier(LogisticRegression(solver="liblinear", C=10.0**k))
            for k in (-2, -1.5, -1, -0.5, 0, 1)
        ]
    decoder = name.split()[1]
    return [
        CMLLClassifier(None, m, alpha=alpha, decoder=decoder, threshold=0.5)
        for m, alpha in (
            (0.25, 100.0),
            (0.5, 300.0),
            (1.0, 10.0),
            (1.0, 30.0),
            (1.0, 100.0),
            (1.0, 300.0),
        )
    ]


def tuned(model: Any) -> Any:
    """The same with a threshold chosen on held-out scores."""
    if isinstance(model, OneVsRestClassifier):
        return ThresholdTuner(model, cv=INNER, response="predict_proba", random_state=0)
    return clone(model).set_params(threshold="f1")


def scores_of(model: Any, X: Any) -> np.ndarray:
    """Probabilities of one-vs-rest: its decision_function puts labels that never occurred in
    training, at 0, above all others."""
    if isinstance(model, OneVsRestClassifier):
        return np.asarray(model.predict_proba(X))
    return np.asarray(model.decision_function(X))


def judge(task: tuple[str, str, int, Path | None]) -> dict[str, float]:
    """One method on one outer fold."""
    data, name, fold, data_home = task
    warnings.simplefilter("ignore")
    start = time.perf_counter()
    X, Y = common.rows_of(data, data_home, 0)
    train, test = list(KFold(5, shuffle=True, random_state=0).split(X))[fold]
    with threadpool_limits(1):
        means = []
        for model in settings(name):
            inner = KFold(INNER, shuffle=True, random_state=fold).split(train)
            values = []
            for a, b in inner:
                fitted = clone(model).fit(X[train[a]], Y[train[a]])
                values.append(average_precision(Y[train[b]], scores_of(fitted, X[train[b]])))
            means.append(np.mean(values))
        best = settings(name)[int(np.argmax(means))]
        plain, decided = clone(best).fit(X[train], Y[train]), tuned(best).fit(X[train], Y[train])
        S = scores_of(plain, X[test])
        return {
            "average_precision": average_precision(Y[test], S),
            "ranking_loss": ranking_loss(Y[test], S),
            "one_error": one_error(Y[test], S),
            "micro_f1": micro_f1(Y[test], plain.predict(X[test])),
            "micro_f1_tuned": micro_f1(Y[test], decided.predict(X[test])),
            "parameters": float(parameters(plain)),
            "setting": int(np.argmax(means)),
            "seconds": time.perf_counter() - start,
        }


def parameters(model: Any) -> int:
    """How many numbers a prediction needs."""
    if isinstance(model, OneVsRestClassifier):
        return sum(e.coef_.size + 1 for e in model.estimators_ if hasattr(e, "coef_"))
    return model.numbers_


def main(arguments: list[str] | None = None) -> int:
    """Measure, show, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="data sets (default: seven)")
    parser.add_argument("--data-home", type=Path, help="folder of the data sets")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="folds side by side")
    parser.add_argument("--method", choices=NAMES, action="append", help="only this one")
    parser.add_argument("--out", type=Path, default=common.RESULTS / "decoders.json")
    options = parser.parse_args(arguments)
    # What is not measured again stays; it says so by its own date.
    known = (
        json.loads(options.out.read_text("utf-8"))["measurements"] if options.out.exists() else []
    )
    rows = {(row["data"], row["method"]): row for row in known}
    with ProcessPoolExecutor(options.jobs) as pool:
        for data in options.names or DATA:
            for name in options.method or NAMES:
                tasks = [(data, name, fold, options.data_home) for fold in range(5)]
                rows[data, name] = summary(data, name, list(pool.map(judge, tasks)))
                print(rows[data, name], flush=True)
                for other in NAMES:
                    if (data, other) in rows:
                        rows[data, other].update(tests(data, other, rows))
                record = {"date": common.today(), "machine": common.machine()}
                ordered = [rows[d, m] for d in DATA for m in NAMES if (d, m) in rows]
                common.write_json(options.out, record | {"measurements": ordered})
    return 0


def summary(data: str, name: str, folds: list[dict[str, float]]) -> dict[str, Any]:
    """Means over the folds."""
    row: dict[str, Any] = {"data": data, "method": name, "date": common.today()}
    for key in folds[0]:
        if key != "setting":
            row[key] = round(float(np.mean([fold[key] for fold in folds])), 4)
    row["average_precision_folds"] = [round(fold["average_precision"], 6) for fold in folds]
    row["settings"] = [int(fold["setting"]) for fold in folds]
    return row


def tests(data: str, name: str, rows: dict[tuple[str, str], dict[str, Any]]) -> dict[str, Any]:
    """Paired t-tests against the rivals that have been measured."""
    found = {}
    for rival in ("ORI", "one-vs-rest"):
        if rival != name and (data, rival) in rows:
            mine = rows[data, name]["average_precision_folds"]
            other = rows[data, rival]["average_precision_folds"]
            p = stats.ttest_rel(mine, other).pvalue
            found[f"against {rival}"] = {
                "difference": round(float(np.mean(mine) - np.mean(other)), 4),
                "p": round(float(p), 4) if np.isfinite(p) else None,
            }
    return found


if __name__ == "__main__":
    sys.exit(main())
