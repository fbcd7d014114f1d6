"""The gain of a search by trying the logistic decoder, and how long a trial should be.

    python bench/accuracy/decoder_choice.py [--data-home DIR] [--out FILE] [NAME ...]

A fifth of the rows is held out (two seeded splits), and `CMLLClassifierCV` chooses on the rest, by
five folds. From the table of one search that tries the logistic decoder on three settings and all
folds follows what shorter searches would have chosen: the best setting alone, or two, judged by all
folds or by the gain on the first. Average precision on the held-out rows is given for each choice,
and for the linear and the logistic decoder in the setting in which the linear one is best.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import ShuffleSplit

from compactlearn import CMLLClassifier, CMLLClassifierCV
from compactlearn.datasets import load
from compactlearn.metrics import average_precision
from compactlearn_bench.measure import by_data_set

DATA = (
    *("flags", "emotions", "cal500", "scene", "yeast", "plant", "genbase", "medical"),
    *("enron", "llog"),
)
TRIALS = {"one_first": (1, 1), "one_all": (1, 5), "two_first": (2, 1), "three_all": (3, 5)}


def measure(name: str, data_home: Path | None) -> dict[str, Any]:
    """One data set."""
    data = load(name, data_home=data_home)
    splits = ShuffleSplit(2, test_size=0.2, random_state=0)
    found = [_on_split(data.X, data.Y, *split) for split in splits.split(np.zeros(data.X.shape[0]))]
    means = {key: float(np.mean([part[key] for part in found])) for key in found[0]}
    return {"data": name, **{key: round(value, 4) for key, value in means.items()}}


def _on_split(X: Any, Y: Any, train: Any, test: Any) -> dict[str, float]:
    search = CMLLClassifierCV(decoders=("linear", "logistic"), refit=False)
    table = search.fit(X[train], Y[train]).cv_results_
    scores = np.column_stack([table[f"split{k}_test_score"] for k in range(5)])
    first = [k for k, params in enumerate(table["params"]) if params["decoder"] == "logistic"]
    varied = {
        k: next(
            other
            for other, params in enumerate(table["params"])
            if {**params, "decoder": "logistic"} == table["params"][k]
        )
        for k in first
    }
    judged: dict[int, float] = {}

    def on_held_out(k: int) -> float:
        if k not in judged:
            model = CMLLClassifier(**table["params"][k], threshold=0.5).fit(X[train], Y[train])
            judged[k] = average_precision(Y[test], model.decision_function(X[test]))
        return judged[k]

    linear = varied[first[0]]
    result = {"linear": on_held_out(linear), "logistic": on_held_out(first[0])}
    for trial, (n_settings, n_splits) in TRIALS.items():
        gains = {}
        for k in first[:n_settings]:
            gain = np.mean(scores[k, :n_splits] - scores[varied[k], :n_splits])
            gains[k] = scores[varied[k]].mean() + gain
        best = max(gains, key=gains.__getitem__)
        chosen = best if gains[best] > scores[linear].mean() else linear
        result[trial] = on_held_out(chosen)
    return result


if __name__ == "__main__":
    sys.exit(by_data_set(__doc__, "decoder_choice.json", DATA, measure))
