"""Average precision of CMLLClassifier() with no arguments beside scikit-learn's Ridge(alpha=1).

    python bench/accuracy/defaults.py [--data-home DIR] [--seed N] [--out FILE] [NAME ...]

Seeded 5-fold; both see the same folds; nothing is tuned on either side. Average precision
follows Zhang and Zhou's convention: rows with no or with every label are left out.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import common

from compactlearn import CMLLClassifier
from compactlearn.datasets import load
from compactlearn.metrics import average_precision

DEFAULT = ("enron", "emotions", "plant", "llog", "yeast")


def compare(name: str, data_home: Path | None, seed: int) -> dict[str, Any]:
    """Average precision of both on each fold of one data set."""
    data = load(name, data_home=data_home)
    X, Y = common.dense(data.X), common.dense(data.Y)
    ours, theirs = [], []
    for train, test in KFold(n_splits=5, shuffle=True, random_state=seed).split(X):
        mine = CMLLClassifier(threshold=0.5).fit(X[train], Y[train])  # rankings need none tuned
        ours.append(average_precision(Y[test], mine.decision_function(X[test])))
        other = Ridge(alpha=1.0).fit(X[train], Y[train])
        theirs.append(average_precision(Y[test], other.predict(X[test])))
    return {
        "data": name,
        "ours": [round(float(value), 6) for value in ours],
        "theirs": [round(float(value), 6) for value in theirs],
        "ours_mean": round(float(np.mean(ours)), 6),
        "theirs_mean": round(float(np.mean(theirs)), 6),
        "difference": round(float(np.mean(ours) - np.mean(theirs)), 6),
        "folds_won": int(np.sum(np.array(ours) > np.array(theirs))),
    }


def main(arguments: list[str] | None = None) -> int:
    """Compare, show, write."""
    parser = common.parser(__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="data sets (default: five)")
    parser.add_argument("--seed", type=int, default=0, help="of the folds")
    parser.add_argument("--out", type=Path, help="the record (default: results/defaults.json)")
    options = parser.parse_args(arguments)
    rows = [compare(name, options.data_home, options.seed) for name in options.names or DEFAULT]
    header = ("data", "CMLLClassifier()", "Ridge(alpha=1)", "difference", "folds won")
    cells = [
        (
            row["data"],
            _spread(row["ours"]),
            _spread(row["theirs"]),
            f"{row['difference']:+.4f}",
            f"{row['folds_won']} of 5",
        )
        for row in rows
    ]
    common.show_table("average precision, 5 folds, nothing tuned", header, cells)
    out = options.out or (None if options.names else common.RESULTS / "defaults.json")
    if out is not None:
        record = {"date": common.today(), "machine": common.machine(), "seed": options.seed}
        common.write_json(out, record | {"measurements": rows})
    return 0


def _spread(values: list[float]) -> str:
    return f"{np.mean(values):.4f} ± {np.std(values, ddof=1):.4f}"


if __name__ == "__main__":
    sys.exit(main())
