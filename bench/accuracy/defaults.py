"""Average precision of CMLLClassifier() with no arguments and of scikit-learn's Ridge(alpha=1).

    python bench/accuracy/defaults.py [--data-home DIR] [--out FILE] [NAME ...]

Seeded 5-fold; both see the same folds; nothing is tuned on either side. Average precision
follows Zhang and Zhou's convention: rows with no or with every label are left out.
"""

import sys

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold

from compactlearn import CMLLClassifier
from compactlearn.datasets import load
from compactlearn.metrics import average_precision
from compactlearn_bench.measure import by_data_set, dense

DATA = ("enron", "emotions", "plant", "llog", "yeast")


def measure(name, data_home):
    """Return the average precision of both on each fold of one data set."""
    data = load(name, data_home=data_home)
    X, Y = dense(data.X), dense(data.Y)
    ours, theirs = [], []
    for train, test in KFold(n_splits=5, shuffle=True, random_state=0).split(X):
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


if __name__ == "__main__":
    sys.exit(by_data_set(__doc__, "defaults.json", DATA, measure))
