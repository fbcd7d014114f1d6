"""Small tasks, and the values that separate fits give."""

import warnings

import numpy as np
import scipy.sparse as sp

from compactlearn.datasets import make_compact
from compactlearn.metrics import get_metric
from compactlearn_bench.methods.entry import Task

METRICS = (
    "average_precision",
    "micro_f1",
    "ranking_loss",
    "one_error",
    "precision_at_3",
    "ndcg_at_3",
)
SEED, INNER = 11, 23


def make_task(selection="paper", settings=None, metrics=METRICS, n=110, sparse=False):
    data = make_compact(n, 14, 7, n_directions=4, cardinality=2.0, random_state=5)
    X, Y = data.X, sp.csr_array(data.Y)
    if sparse:
        X = sp.csr_array(np.where(X > 0.4, X, 0.0))
    cut = 2 * n // 3
    parts = X[:cut], Y[:cut], X[cut:], Y[cut:]
    return Task(*parts, metrics, selection, settings or {}, SEED, INNER)


def judged(model, task):
    """Every metric of a fitted classifier on the test rows, by the public functions."""
    scores, labels = model.decision_function(task.X_test), model.predict(task.X_test)
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in task.metrics:
            metric = get_metric(name)
            answer = labels if metric.needs == "labels" else scores
            found.append(metric.function(task.Y_test, answer))
    return np.array(found)
