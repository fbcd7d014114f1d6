"""The paper's whole grid by one search, and what independent fits of the same settings would take.

    python bench/speed/grid.py [--data-home DIR] [--out FILE] [NAME ...]

100 pairs of ratios (completion "variance"), 11 balances, 5 ridge penalties, 5 folds, average
precision. In the same run a seeded sample of these settings is fitted, predicted and scored by
itself, one after the other with every core: the ratio is the time of one of those over the
search's time for one setting on one fold. Their scores have to agree.
"""

import sys
import time

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold

from compactlearn import CompactClassifier
from compactlearn.datasets import load
from compactlearn.metrics import average_precision
from compactlearn.model_selection import GridSearchMoments
from compactlearn_bench import PaperCMLL
from compactlearn_bench.measure import by_data_set, timed

# The paper's grid (section 5.3). Its third penalty, the decoder's, only divides scores.
DECILES = tuple(round(0.1 * k, 1) for k in range(1, 11))
PAPER_GRID = {
    "embedding__beta": tuple(10.0**k for k in range(-5, 6)),
    "embedding__n_label_components": DECILES,
    "embedding__n_feature_components": DECILES,
    "alpha": tuple(10.0**k for k in range(-5, 0)),
}
SAMPLE = 25


def measure(name, data_home):
    """Measure one data set."""
    data = load(name, data_home=data_home)
    model = CompactClassifier(PaperCMLL(completion="variance", offset="none"), threshold=0.5)
    cv = KFold(5, shuffle=True, random_state=0)
    search = GridSearchMoments(model, PAPER_GRID, cv=cv, n_jobs=-1, refit=False)
    _, seconds = timed(lambda: search.fit(data.X, data.Y))
    table = search.cv_results_
    n_settings = len(table["params"])
    splits = list(cv.split(np.zeros(data.X.shape[0])))
    rng = np.random.default_rng(0)
    alone, gap = [], 0.0
    for index in rng.choice(n_settings, size=SAMPLE, replace=False):
        number = int(rng.integers(len(splits)))
        train, test = splits[number]
        start = time.perf_counter()
        fitted = clone(model).set_params(**table["params"][index]).fit(data.X[train], data.Y[train])
        value = average_precision(data.Y[test], fitted.decision_function(data.X[test]))
        alone.append(time.perf_counter() - start)
        gap = max(gap, abs(value - table[f"split{number}_test_score"][index]))
    each = seconds / (n_settings * len(splits))
    return {
        "data": name,
        "settings": n_settings,
        "folds": len(splits),
        "seconds": round(seconds, 1),
        "milliseconds_per_setting": round(1e3 * each, 3),
        "milliseconds_alone": round(1e3 * float(np.median(alone)), 1),
        "ratio": round(float(np.median(alone)) / each, 1),
        "largest_difference": float(f"{gap:.1e}"),
        "best": search.best_params_,
        "best_score": round(search.best_score_, 4),
    }


if __name__ == "__main__":
    sys.exit(by_data_set(__doc__, "grid.json", ("enron", "plant"), measure))
