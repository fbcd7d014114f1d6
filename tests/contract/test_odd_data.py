"""Odd data that every method must accept: constants, copies, two rows, one feature."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from compactlearn import (
    CPLST,
    DMLR,
    MDDM,
    PLST,
    CompactClassifier,
    FaIE,
    Original,
)
from tests.makers import make_data

METHODS = {"PLST": PLST, "CPLST": CPLST, "FaIE": FaIE, "DMLR": DMLR, "MDDM": MDDM}
every_method = pytest.mark.parametrize("cls", METHODS.values(), ids=METHODS.keys())
SOLVERS = ["auto", "moments", "dual", "krylov"]
every_solver = pytest.mark.parametrize("solver", SOLVERS)
ODD = {**METHODS, "Original": Original}
every_model = pytest.mark.parametrize("cls", ODD.values(), ids=ODD.keys())
quiet = pytest.mark.filterwarnings("ignore:.*cut:UserWarning")


@pytest.fixture
def data():
    return make_data()


def built(cls, solver):
    return cls() if cls is Original else cls(solver=solver)


@quiet
@every_model
@every_solver
@pytest.mark.parametrize("value", [0.0, 1.0])
@pytest.mark.parametrize("shape", [(40, 7), (6, 9)], ids=["tall", "wide"])
def test_a_constant_label_is_scored_by_its_constant(cls, solver, value, shape, data):
    """Free bias: a label always absent scores 0, one always present scores 1."""
    X, Y = make_data(*shape)
    Y[:, 2] = value
    model = CompactClassifier(built(cls, solver)).fit(X, Y)
    scores = model.decision_function(X + 0.1)
    assert np.isfinite(scores).all()
    if not isinstance(model.embedding, FaIE | DMLR):
        np.testing.assert_allclose(scores[:, 2], value, atol=1e-8)
    elif value == 0:
        np.testing.assert_allclose(scores[:, 2], 0, atol=1e-8)
    else:
        np.testing.assert_allclose(model.decision_function(X)[:, 2].mean(), 1, atol=1e-8)


@quiet
@every_model
@every_solver
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_nothing_but_constant_labels(cls, solver, value, data):
    X, Y = data
    Y = np.full_like(Y, value)
    model = CompactClassifier(built(cls, solver)).fit(X, Y)
    scores = model.decision_function(X)
    np.testing.assert_allclose(scores, value, atol=1e-6)
    np.testing.assert_array_equal(model.predict(X), Y)


@quiet
@every_model
@every_solver
def test_constant_features_leave_the_label_means(cls, solver, data):
    X, Y = data
    X = np.full_like(X, 0.3)
    model = CompactClassifier(built(cls, solver)).fit(X, Y)
    expected = np.tile(Y.mean(axis=0), (len(X), 1))
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-8)


@quiet
@every_solver
@pytest.mark.parametrize("shape", [(40, 7), (12, 20)], ids=["tall", "wide"])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_mixing_one_needs_no_regular_covariance(solver, shape, container):
    """X'HX is singular (a constant and a copied column, D above N): its range is enough."""
    X, Y = make_data(*shape)
    X = np.c_[X, X[:, 0], np.full(len(X), 2.0)]
    embedding = MDDM(2, variant="subspace", mixing=1.0, solver=solver)
    model = CompactClassifier(embedding).fit(container(X), container(Y))
    P = model.embedding_.projection_
    Xc = X - X.mean(axis=0)
    assert np.isfinite(P).all()
    np.testing.assert_allclose(P.T @ Xc.T @ Xc @ P, np.eye(2), atol=1e-7)
    assert np.isfinite(model.decision_function(X)).all()
    # A copied column adds no direction: eigenvalues are those without it and the constant.
    plain = clone(embedding).fit(X[:, : shape[1]], Y)
    np.testing.assert_allclose(model.embedding_.eigenvalues_, plain.eigenvalues_, rtol=1e-7)


@quiet
@every_method
@every_solver
def test_two_rows_are_data(cls, solver):
    X, Y = make_data(2, 3, 4)
    Y[:] = [[0, 1, 0, 1], [1, 0, 0, 1]]
    model = CompactClassifier(cls(solver=solver)).fit(X, Y)
    assert np.isfinite(model.decision_function(X)).all()


@quiet
@every_method
@every_solver
def test_one_feature_is_data(cls, solver, data):
    X, Y = data
    model = CompactClassifier(cls(solver=solver)).fit(X[:, :1], Y)
    assert np.isfinite(model.decision_function(X[:, :1])).all()


@quiet
@every_method
def test_classes_instead_of_labels(cls, data):
    X, Y = data
    y = np.array(["a", "b", "c"])[np.argmax(Y[:, :3] + 0.1 * X[:, :3], axis=1)]
    model = CompactClassifier(cls()).fit(X, y)
    np.testing.assert_array_equal(model.classes_, ["a", "b", "c"])
    assert set(model.predict(X)) <= {"a", "b", "c"}
