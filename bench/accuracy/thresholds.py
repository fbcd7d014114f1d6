"""Decisions of CMLLClassifier by its threshold: 0.5, the default, and three that are tuned.

    python bench/accuracy/thresholds.py [--data-home DIR] [--out FILE] [NAME ...]

Three seeded folds, everything else at its default; of larger sets 5000 rows are drawn. Besides F1:
the share of rows with exactly the right labels, of rows for which nothing is predicted, of labels
that occur and are never predicted, and the time of a fit against that at 0.5.
"""

import sys
from functools import partial

import numpy as np
from sklearn.model_selection import KFold

from compactlearn import CMLLClassifier
from compactlearn.datasets import load
from compactlearn.metrics import macro_f1, micro_f1
from compactlearn_bench.measure import by_data_set, dense, timed

DATA = (
    *("flags", "emotions", "yeast", "scene", "genbase", "medical", "plant", "enron", "llog"),
    *("cal500", "tmc2007-500", "bibtex", "corel5k", "corel16k", "mediamill", "delicious"),
)
THRESHOLDS = (0.5, "auto", "f1", "per-label", "cardinality")
ROWS = 5000


def judged(Y, labels):
    """Return the scores of one prediction."""
    occur = Y.any(axis=0)
    return {
        "micro_f1": float(micro_f1(Y, labels)),
        "macro_f1": float(macro_f1(Y, labels)),
        "exact": float((Y == labels).all(axis=1).mean()),
        "empty": float((~labels.any(axis=1)).mean()),
        "never": float((~labels.any(axis=0))[occur].mean()),
    }


def compare(name, data_home):
    """Return one row for each threshold on one data set."""
    data = load(name, data_home=data_home)
    X, Y = data.X, dense(data.Y).astype(bool)
    if len(Y) > ROWS:
        drawn = np.sort(np.random.default_rng(0).choice(len(Y), ROWS, replace=False))
        X, Y = X[drawn], Y[drawn]
    found = {threshold: [] for threshold in THRESHOLDS}
    for train, test in KFold(n_splits=3, shuffle=True, random_state=0).split(X):
        seconds = {}
        for threshold, rows in found.items():
            fit = partial(CMLLClassifier(threshold=threshold).fit, X[train], Y[train].astype(float))
            model, seconds[threshold] = timed(fit)
            labels = np.asarray(model.predict(X[test])).astype(bool)
            cost = seconds[threshold] / seconds[0.5]
            rows.append(judged(Y[test], labels) | {"cost": cost})
    shape = {"data": name, "rows": len(Y), "features": X.shape[1], "labels": Y.shape[1]}
    return [
        shape
        | {"threshold": threshold}
        | {key: round(float(np.mean([row[key] for row in rows])), 4) for key in rows[0]}
        for threshold, rows in found.items()
    ]


if __name__ == "__main__":
    sys.exit(by_data_set(__doc__, "thresholds.json", DATA, compare))
