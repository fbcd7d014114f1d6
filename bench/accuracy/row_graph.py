"""Whether a graph of the rows helps compact learning.

    python bench/accuracy/row_graph.py [--data-home DIR] [--out FILE] [NAME ...]

CMLLClassifier with its defaults, and the same with RowGraphCMLL, on five seeded folds. Both
have their penalty chosen among the same eleven, and the graph its weight and its number of
neighbours, by average precision on three inner folds of the training rows; the graph's weight is
above 0 in any case. The test rows are looked at once by each. Graphs are of training rows alone.

Written for every data set: both metrics of both models, by fold; what was chosen; and the mean
average precision on inner folds for each weight at its best penalty and number of neighbours, where
0 is plain CMLL.
"""

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import common

from compactlearn import CompactClassifier
from compactlearn.model_selection import GridSearchMoments
from compactlearn.related import RowGraphCMLL

DATA = ("plant", "enron", "llog", "yeast", "corel5k")
WEIGHTS = (1e-4, 1e-3, 1e-2, 1e-1)
NEIGHBOURS = (5, 20)
MULTIPLES = tuple(np.logspace(-3, 2, 11).tolist())  # of the penalty that alpha="auto" is
METRICS = ("average_precision", "micro_f1")


def searched(X: Any, Y: Any) -> list[dict[str, Any]]:
    """Every setting with its mean average precision on the inner folds."""
    unit = common.auto_penalty(X)
    alphas = [unit * multiple for multiple in MULTIPLES]
    grid = [
        {"alpha": alphas, "embedding__row_graph_weight": [0.0]},
        {
            "alpha": alphas,
            "embedding__row_graph_weight": list(WEIGHTS),
            "embedding__n_neighbors": list(NEIGHBOURS),
        },
    ]
    cv = KFold(3, shuffle=True, random_state=0)
    # Ranking needs no threshold: it is tuned in the last fit.
    model = CompactClassifier(RowGraphCMLL(), threshold=0.5)
    search = GridSearchMoments(model, grid, cv=cv, scoring="average_precision", refit=False)
    results = search.fit(X, Y).cv_results_
    scores = results["mean_test_score"].tolist()
    return [
        {"setting": params, "score": score}
        for params, score in zip(results["params"], scores, strict=True)
    ]


def best(tried: list[dict[str, Any]], *, graph: bool) -> dict[str, Any]:
    """The best setting with or without a graph."""
    own = [one for one in tried if (one["setting"]["embedding__row_graph_weight"] > 0) == graph]
    return max(own, key=lambda one: one["score"])


def by_weight(tried: list[dict[str, Any]]) -> dict[str, float]:
    """The score of each weight at its best."""
    found: dict[str, float] = {}
    for one in tried:
        weight = str(one["setting"]["embedding__row_graph_weight"])
        found[weight] = max(found.get(weight, 0.0), one["score"])
    return found


def measure(name: str, data_home: Path | None) -> dict[str, Any]:
    """One data set."""
    X, Y = common.rows_of(name, data_home, 0)
    begin = time.process_time()
    folds: list[dict[str, Any]] = []
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        tried = searched(X[train], Y[train])
        row: dict[str, Any] = {"inner": by_weight(tried)}
        for key, graph in (("plain", False), ("graph", True)):
            setting = best(tried, graph=graph)["setting"]
            model = CompactClassifier(RowGraphCMLL()).set_params(**setting).fit(X[train], Y[train])
            scores = model.evaluate(X[test], Y[test])
            row[key] = {metric: round(float(scores[metric]), 4) for metric in METRICS}
            row[f"{key}_setting"] = setting
        print(name, row, flush=True)
        folds.append(row)
    return {
        "data": name,
        **{key: means(folds, key) for key in ("plain", "graph")},
        "folds_gained": {
            metric: sum(fold["graph"][metric] > fold["plain"][metric] for fold in folds)
            for metric in METRICS
        },
        "inner": {
            weight: round(float(np.mean([fold["inner"][weight] for fold in folds])), 4)
            for weight in folds[0]["inner"]
        },
        "folds": [{key: value for key, value in fold.items() if key != "inner"} for fold in folds],
        "core_seconds": round(time.process_time() - begin, 1),
    }


def means(folds: list[dict[str, Any]], key: str) -> dict[str, float]:
    """Of each metric over the folds."""
    return {
        metric: round(float(np.mean([fold[key][metric] for fold in folds])), 4)
        for metric in METRICS
    }


def main(arguments: list[str] | None = None) -> int:
    """Measure, write."""
    return common.measured_by_set(__doc__, "row_graph.json", DATA, measure, arguments)


if __name__ == "__main__":
    sys.exit(main())
