"""Extra trees on the labels, and on CMLL's codes: weighted as their decoder has it, and all alike.

    python bench/accuracy/learners.py [--data-home DIR] [--out FILE] [NAME ...]

One seeded split of each set, a fifth of the rows held out; average precision. The trees are the
same everywhere (scikit-learn's `ExtraTreesRegressor`, a root of the features at each split); on
corel5k, where they are dear, there are a quarter as many. "Alike" is what `CMLLClassifier` did
before it weighted codes: targets of unit mean square, each by itself. Nothing is tuned; CMLL has
its default sizes.
"""

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.model_selection import ShuffleSplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import common

from compactlearn import CMLL, CompactClassifier
from compactlearn.datasets import load
from compactlearn.metrics import average_precision

DATA = ("emotions", "yeast", "scene", "enron", "cal500", "corel5k")
FEWER = {"corel5k": 50}


def measure(name: str, data_home: Path | None) -> dict[str, Any]:
    """One data set."""
    data = load(name, data_home=data_home)
    X, Y = common.dense(data.X), common.dense(data.Y)
    train, test = next(ShuffleSplit(1, test_size=0.2, random_state=0).split(X))
    trees = ExtraTreesRegressor(FEWER.get(name, 200), max_features="sqrt", random_state=0)
    row: dict[str, Any] = {"data": name, "rows": len(train), "trees": trees.n_estimators}

    def judged(key: str, start: float, scores: np.ndarray) -> None:
        row[key] = round(average_precision(Y[test], scores), 4)
        row[f"{key}_seconds"] = round(time.perf_counter() - start, 1)
        print(name, key, row[key], row[f"{key}_seconds"], flush=True)

    start = time.perf_counter()
    judged("labels", start, trees.fit(X[train], Y[train]).predict(X[test]))
    for kind, d in (("projected", "auto"), ("kept", None)):
        start = time.perf_counter()
        embedding = CMLL(d).fit(X[train], Y[train])
        targets = embedding.codes_ * np.sqrt(len(train))
        trees.fit(embedding.transform(X[train]), targets)
        codes = trees.predict(embedding.transform(X[test])) / np.sqrt(len(train))
        judged(f"{kind}_alike", start, embedding.decode(codes))
        start = time.perf_counter()
        model = CompactClassifier(CMLL(d), regressor=trees).fit(X[train], Y[train])
        judged(f"{kind}_weighted", start, model.decision_function(X[test]))
    row["codes"] = int(embedding.n_label_components_)
    row["labels_there"] = Y.shape[1]
    return row


def main(arguments: list[str] | None = None) -> int:
    """Measure, write."""
    return common.measured_by_set(__doc__, "learners.json", DATA, measure, arguments)


if __name__ == "__main__":
    sys.exit(main())
