"""With no arguments, compact learning is not worse than plain ridge regression by more than 0.02.

Average precision, five seeded folds, real data, both with penalty 1.
"""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold

from compactlearn import CMLLClassifier
from compactlearn.datasets import load
from compactlearn.metrics import average_precision

MARGIN = 0.02


def dense(matrix):
    return matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix, dtype=float)


def mean_average_precision(data):
    """(compact, ridge): mean over the folds, on the same rows."""
    X, Y = dense(data.X), dense(data.Y)
    scores = []
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        compact = CMLLClassifier().fit(X[train], Y[train]).decision_function(X[test])
        ridge = Ridge(alpha=1.0).fit(X[train], Y[train]).predict(X[test])
        scores.append([average_precision(Y[test], compact), average_precision(Y[test], ridge)])
    return np.mean(scores, axis=0)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["enron", "emotions"])
def test_defaults_on_embedded_data(name):
    compact, ridge = mean_average_precision(load(name))
    assert compact >= ridge - MARGIN, f"{name}: {compact:.4f} against {ridge:.4f}"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plant", "llog", "yeast"])
def test_defaults_on_shared_data(name, shared_datasets):
    compact, ridge = mean_average_precision(load(name, data_home=shared_datasets))
    assert compact >= ridge - MARGIN, f"{name}: {compact:.4f} against {ridge:.4f}"
