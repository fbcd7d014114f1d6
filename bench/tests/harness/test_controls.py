"""The controls against their formulas, written out."""

import numpy as np
import pytest
from sklearn.base import clone

from compactlearn import CMLL, CompactClassifier
from compactlearn.related import PCA
from compactlearn_bench.methods.controls import (
    MDDMThenCodes,
    RandomDirections,
    reduced_rank,
)

from .tasks import make_task

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture(scope="module")
def data():
    task = make_task()
    return task.X_train, task.Y_train.toarray(), task.X_test


def ridge(Xc, T, alpha):
    return np.linalg.solve(Xc.T @ Xc + alpha * np.eye(Xc.shape[1]), Xc.T @ T)


@pytest.mark.parametrize("alpha", [0.1, 30.0])
@pytest.mark.parametrize("m", [1, 3, 7])
def test_reduced_rank_ridge_by_the_svd_of_fitted_values(data, alpha, m):
    X, Y, X_new = data
    mean = X.mean(axis=0)
    Xc, Yc = X - mean, Y - Y.mean(axis=0)
    # The penalty as D further rows: an unpenalised problem, of which Eckart-Young decides.
    rows = np.vstack([Xc, np.sqrt(alpha) * np.eye(X.shape[1])])
    targets = np.vstack([Yc, np.zeros((X.shape[1], Y.shape[1]))])
    B = np.linalg.lstsq(rows, targets, rcond=None)[0]
    _, _, Vt = np.linalg.svd(rows @ B, full_matrices=False)
    truncated = B @ Vt[:m].T @ Vt[:m]
    expected = (X_new - mean) @ truncated + Y.mean(axis=0)
    model = reduced_rank(n_label_components=m, alpha=alpha).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X_new), expected, atol=1e-9)
    assert np.linalg.matrix_rank(model.coef_) == m


def test_random_directions_are_orthonormal_seeded_and_nested(data):
    X, Y, _ = data

    def projection(d, seed):
        model = CompactClassifier(RandomDirections(d, random_state=seed)).fit(X, Y)
        return model.embedding_.projection_

    P = projection(9, 3)
    np.testing.assert_allclose(P.T @ P, np.eye(9), atol=1e-12)
    np.testing.assert_allclose(projection(4, 3), P[:, :4], atol=1e-12)
    assert not np.allclose(projection(9, 4), P)


def test_projection_of_mddm_and_codes_of_cmll_y(data):
    X, Y, X_new = data
    mean, beta, m, d = X.mean(axis=0), 0.5, 3, 5
    Xc = X - mean
    values, vectors = np.linalg.eigh(beta * Xc @ Xc.T + Y @ Y.T)
    V = vectors[:, np.argsort(values)[::-1][:m]]
    P = np.linalg.svd(Xc.T @ Y)[0][:, :d]
    B = ridge(Xc @ P, V - V.mean(axis=0), 1.0)
    expected = ((X_new - mean) @ P @ B + V.mean(axis=0)) @ (V.T @ Y)
    embedding = MDDMThenCodes(d, m, beta, offset="none")
    model = CompactClassifier(embedding, alpha=1.0).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X_new), expected, atol=1e-9)
    assert not hasattr(model.embedding_, "objective_")  # it is not a maximum of anything
    joint = CompactClassifier(CMLL(d, m, beta=beta, offset="none")).fit(X, Y)
    assert not np.allclose(joint.decision_function(X_new), expected)


@pytest.mark.parametrize("embedding", [PCA(), RandomDirections(random_state=0), MDDMThenCodes()])
def test_constant_features(embedding, data):
    _, Y, _ = data
    X = np.ones((Y.shape[0], 4))
    model = CompactClassifier(clone(embedding)).fit(X, Y)
    assert np.isfinite(model.decision_function(X)).all()
