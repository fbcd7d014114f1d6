"""Seconds and memory of AutoCompactClassifier() on whole data sets, and what it reaches there.

    python bench/speed/auto_whole.py [--data-home DIR] [--out FILE] [NAME ...]

Four fifths of the rows of each set are fitted with nothing set, and the rest judges. The record has
clock and processor: the first is what a user waits, where nothing else runs, and the second hardly
depends on what does. Each set has a process of its own, whose peak of memory is recorded too.
"""

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from compactlearn import AutoCompactClassifier
from compactlearn.datasets import load
from compactlearn.metrics import average_precision
from compactlearn_bench.measure import by_data_set, in_a_child, peak_bytes

DATA = (
    *("flags", "emotions", "cal500", "genbase", "medical", "plant", "llog", "enron", "scene"),
    *("yeast", "corel5k", "bibtex", "corel16k", "delicious", "tmc2007-500", "mediamill", "imdb"),
)


def measured(name, data_home):
    """Return one row of the record."""
    data = load(name, data_home=data_home)
    X, Y = data.X, data.Y
    order = np.random.default_rng(0).permutation(X.shape[0])
    cut = X.shape[0] * 4 // 5
    train, test = np.sort(order[:cut]), np.sort(order[cut:])
    clock, processor = time.perf_counter(), time.process_time()
    model = AutoCompactClassifier().fit(X[train], Y[train])
    seconds = time.perf_counter() - clock, time.process_time() - processor
    return {
        "data": name,
        "rows": int(cut),
        "features": int(X.shape[1]),
        "labels": int(Y.shape[1]),
        "seconds": seconds[0],
        "processor_s": seconds[1],
        "memory_mib": peak_bytes() / 2**20,
        "average_precision": average_precision(Y[test], model.decision_function(X[test])),
        "taken": model.leaderboard_[0]["name"],
    }


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        warnings.simplefilter("ignore")
        _, _, name, home = sys.argv
        print(json.dumps(measured(name, Path(home) if home else None)))
    else:
        sys.exit(
            by_data_set(
                __doc__,
                "auto_whole.json",
                DATA,
                lambda name, home: in_a_child(__file__, "--child", name, home or ""),
            )
        )
