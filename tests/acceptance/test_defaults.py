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


@pytest.mark.slow
def test_units_do_not_matter_on_real_data():
    data = load("emotions")
    X, Y = dense(data.X), dense(data.Y)
    scores = CMLLClassifier().fit(X, Y).decision_function(X)
    large = CMLLClassifier(alpha=1e6).fit(1000 * X, Y).decision_function(1000 * X)
    np.testing.assert_allclose(large, scores, rtol=0, atol=1e-8)


@pytest.mark.slow
def test_sparse_and_dense_agree_on_real_data():
    data = load("enron")
    X, Y = sp.csr_array(dense(data.X)), sp.csr_array(dense(data.Y))
    from_dense = CMLLClassifier().fit(X.toarray(), Y.toarray()).decision_function(X.toarray())
    from_sparse = CMLLClassifier().fit(X, Y).decision_function(X)
    np.testing.assert_allclose(from_sparse, from_dense, rtol=0, atol=1e-8)
