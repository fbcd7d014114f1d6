"""What the threshold of CMLLClassifier decides: 0.5, the default, and three that are tuned.

    python bench/accuracy/thresholds.py [--data-home DIR] [--seed N] [--out FILE] [NAME ...]

Three seeded folds, everything else at its default; of larger sets 5000 rows are drawn. Besides the
F1 figures: the share of rows with exactly the right labels, of rows for which nothing is predicted,
of labels that occur and are never predicted, and the time of a fit against that at 0.5.
"""

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import common

from compactlearn import CMLLClassifier
from compactlearn.datasets import load
from compactlearn.metrics import macro_f1, micro_f1

DEFAULT = (
    "flags",
    "emotions",
    "yeast",
    "scene",
    "genbase",
    "medical",
    "plant",
    "enron",
    "llog",
    "cal500",
    "tmc2007-500",
    "bibtex",
    "corel5k",
    "corel16k",
    "mediamill",
    "delicious",
)
THRESHOLDS = (0.5, "auto", "f1", "per-label", "cardinality")
ROWS = 5000


def figures(Y: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """What is said of one prediction."""
    occur = Y.any(axis=0)
    return {
        "micro_f1": float(micro_f1(Y, labels)),
        "macro_f1": float(macro_f1(Y, labels)),
        "exact": float((Y == labels).all(axis=1).mean()),
        "empty": float((~labels.any(axis=1)).mean()),
        "never": float((~labels.any(axis=0))[occur].mean()),
    }


def compare(name: str, data_home: Path | None, seed: int) -> list[dict[str, Any]]:
    """One row for each threshold on one data set."""
    data = load(name, data_home=data_home)
    X, Y = data.X, common.dense(data.Y).astype(bool)
    if len(Y) > ROWS:
        drawn = np.sort(np.random.default_rng(seed).choice(len(Y), ROWS, replace=False))
        X, Y = X[drawn], Y[drawn]
    found: dict[Any, list[dict[str, float]]] = {threshold: [] for threshold in THRESHOLDS}
    for train, test in KFold(n_splits=3, shuffle=True, random_state=seed).split(X):
        seconds = {}
        for threshold in THRESHOLDS:
            started = time.perf_counter()
            model = CMLLClassifier(threshold=threshold).fit(X[train], Y[train].astype(float))
            seconds[threshold] = time.perf_counter() - started
            labels = np.asarray(model.predict(X[test])).astype(bool)
            row = figures(Y[test], labels) | {"cost": seconds[threshold] / seconds[0.5]}
            found[threshold].append(row)
    shape = {"data": name, "rows": len(Y), "features": X.shape[1], "labels": Y.shape[1]}
    return [
        shape
        | {"threshold": threshold}
        | {key: round(float(np.mean([row[key] for row in rows])), 4) for key in rows[0]}
        for threshold, rows in found.items()
    ]


def main(arguments: list[str] | None = None) -> int:
    """Compare, show, write."""
    parser = common.parser(__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="data sets (default: sixteen)")
    parser.add_argument("--seed", type=int, default=0, help="of the folds")
    parser.add_argument("--out", type=Path, help="the record (default: results/thresholds.json)")
    options = parser.parse_args(arguments)
    rows = []
    for name in options.names or DEFAULT:
        rows += compare(name, options.data_home, options.seed)
        print(*rows[-len(THRESHOLDS) :], sep="\n", file=sys.stderr)
    keys = ("micro_f1", "macro_f1", "exact", "empty", "never", "cost")
    cells = [
        (row["data"], str(row["threshold"]), *(f"{row[key]:.3f}" for key in keys)) for row in rows
    ]
    common.show_table("thresholds of CMLLClassifier, 3 folds", ("data", "threshold", *keys), cells)
    out = options.out or (None if options.names else common.RESULTS / "thresholds.json")
    if out is not None:
        record = {"date": common.today(), "machine": common.machine(), "seed": options.seed}
        common.write_json(out, record | {"measurements": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
