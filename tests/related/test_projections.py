"""CCA, OPLS, MLSI and PCA against the problems that they are written as."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.cross_decomposition import CCA as SklearnCCA
from sklearn.decomposition import PCA as SklearnPCA

from compactlearn import CompactClassifier, Original
from compactlearn.core import _memory as memory
from compactlearn.linalg._moments import Moments
from compactlearn.linalg._moments_pair import MomentsPair
from compactlearn.related import CCA, MLSI, OPLS, PCA
from tests.makers import labelled, maker, modest

make_data = maker(40, 7, 5, share=(0.6, 0.5, 0.7, 0.8, 0.6))
SHAPES = [(40, 7, 5), (18, 30, 6), (50, 4, 9)]
every_shape = pytest.mark.parametrize("shape", SHAPES, ids=str)
SUPERVISED = {"CCA": CCA(3), "OPLS": OPLS(3), "MLSI": MLSI(3)}
ALL = {**SUPERVISED, "PCA": PCA(3)}
every_method = pytest.mark.parametrize("embedding", ALL.values(), ids=ALL.keys())
every_supervised = pytest.mark.parametrize("embedding", SUPERVISED.values(), ids=SUPERVISED.keys())


def centred(A):
    return A - A.mean(axis=0)


def matrix_of(embedding, X, Y):
    """The matrix on the left of the generalised problem, multiplied out."""
    Sxx, Sxy, Syy = X.T @ X, X.T @ Y, Y.T @ Y
    if isinstance(embedding, CCA):
        return Sxy @ np.linalg.pinv(Syy, hermitian=True) @ Sxy.T
    if isinstance(embedding, OPLS):
        return Sxy @ Sxy.T
    t = embedding.mixing
    return (1 - t) * Sxx @ Sxx + t * Sxy @ Sxy.T


def literal(embedding, X, Y, ridge):
    X, Y = centred(X), centred(Y)
    A = matrix_of(embedding, X, Y)
    values, P = scipy.linalg.eigh(A, X.T @ X + ridge * np.eye(X.shape[1]))
    return values[::-1], P[:, ::-1] * np.sqrt(len(X))


def signed(P, reference):
    return P * np.sign(np.sum(P * reference, axis=0))


def angles(A, B):
    return scipy.linalg.subspace_angles(A, B).max()


# --- the literal problems ------------------------------------------------------------------------


@every_supervised
@every_shape
@pytest.mark.parametrize("as_matrix", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_directions_solve_the_generalised_problem(embedding, shape, as_matrix):
    X, Y = labelled(*shape, seed=1)
    model = clone(embedding).set_params(ridge=0.7).fit(as_matrix(X), sp.csr_array(Y))
    values, P = literal(embedding, X, Y, 0.7)
    np.testing.assert_allclose(model.eigenvalues_, values[:3], rtol=1e-9)
    np.testing.assert_allclose(signed(P[:, :3], model.projection_), model.projection_, atol=1e-8)
    assert model.ridge_ == 0.7
    assert model.objective_ == pytest.approx(values[:3].sum())


@given(st.integers(2, 12), st.integers(1, 6), st.integers(2, 4), st.integers(0, 50), st.booleans())
@modest
def test_any_shape_has_the_constraint_and_the_objective(n, n_features, n_labels, seed, unit):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features)) * rng.integers(0, 2, n_features)
    Y = rng.integers(0, 2, (n, n_labels))
    Xc, Yc, ridge = centred(X), centred(Y), 0.3
    B = Xc.T @ Xc + ridge * np.eye(n_features)
    for embedding in (CCA(), OPLS(), MLSI(mixing=0.4)):
        model = embedding.set_params(ridge=ridge, unit_columns=unit).fit(X, Y)
        P = model.projection_
        if not model.eigenvalues_.size:
            assert P.shape == (n_features, 1)
            continue
        if unit:
            np.testing.assert_allclose(np.linalg.norm(P, axis=0), 1)
            P = P / np.sqrt(np.diag(P.T @ B @ P)) * np.sqrt(n)
        np.testing.assert_allclose(P.T @ B @ P, n * np.eye(P.shape[1]), atol=1e-8 * n)
        found = np.trace(P.T @ matrix_of(embedding, Xc, Yc) @ P) / n
        assert found == pytest.approx(model.objective_)
        assert found == pytest.approx(literal(embedding, X, Y, ridge)[0][: P.shape[1]].sum())


@every_shape
def test_principal_components_are_those_of_scikit_learn(shape):
    X, Y = labelled(*shape, seed=2)
    size = min(3, shape[1])
    for given_rows in (X, sp.csr_array(X)):
        model = PCA(size).fit(given_rows, Y)
        other = SklearnPCA(size).fit(X)
        assert angles(model.projection_, other.components_.T) < 1e-7
        np.testing.assert_allclose(
            model.eigenvalues_, other.explained_variance_ * (len(X) - 1), rtol=1e-9
        )
        np.testing.assert_allclose(
            model.projection_.T @ model.projection_, np.eye(size), atol=1e-10
        )


def test_without_ridge_canonical_directions_are_those_of_scikit_learn():
    """Its iteration stops at a tolerance, so only some six digits are the same."""
    X, Y = make_data(200)
    model = CCA(3, ridge=0.0).fit(X, Y)
    other = SklearnCCA(3, scale=False, tol=1e-14, max_iter=100_000).fit(X, Y)
    mine, theirs = model.transform(X), other.transform(X)
    correlations = [np.corrcoef(mine[:, k], theirs[:, k])[0, 1] for k in range(3)]
    np.testing.assert_allclose(np.abs(correlations), 1, atol=1e-5)
    np.testing.assert_allclose(np.cov(mine.T, bias=True), np.eye(3), atol=1e-9)
    Yc, U = centred(Y), centred(mine)
    best = [np.corrcoef(U[:, k], Yc @ np.linalg.lstsq(Yc, U[:, k])[0])[0, 1] for k in range(3)]
    np.testing.assert_allclose(np.square(best), model.eigenvalues_, atol=1e-9)


# --- what the methods are of each other, and in the limit ----------------------------------------


def test_dependent_and_constant_labels_change_nothing():
    """Rows with one label each: the scatter of the labels is singular."""
    X, _ = make_data(40)
    Y = np.eye(4)[np.argmax(X[:, :4] + 0.1 * X[:, 3:7], axis=1)]
    wide = np.hstack([Y, Y[:, :1], np.zeros((40, 1)), np.ones((40, 1))])
    found = [CCA(3, ridge=0.2).fit(X, labels).projection_ for labels in (Y[:, :3], Y, wide)]
    np.testing.assert_allclose(np.abs(found[0]), np.abs(found[1]), atol=1e-8)
    np.testing.assert_allclose(np.abs(found[0]), np.abs(found[2]), atol=1e-8)


@pytest.mark.parametrize("name", ["CCA", "OPLS", "MLSI", "PCA"])
def test_with_all_directions_scores_are_those_of_plain_regression(name):
    X, Y = make_data(60)
    new = make_data(30, seed=5)[0]
    embedding = {"CCA": CCA(1.0), "OPLS": OPLS(1.0), "MLSI": MLSI(1.0), "PCA": PCA(1.0)}[name]
    for alpha in (0.0,) if name != "PCA" else (0.0, 1.0, 10.0):
        if name != "PCA":
            embedding.set_params(ridge=0.0)
        found = CompactClassifier(embedding, alpha=alpha).fit(X, Y).decision_function(new)
        plain = CompactClassifier(Original(), alpha=alpha).fit(X, Y).decision_function(new)
        np.testing.assert_allclose(found, plain, atol=1e-8)


# --- the library's routes, searches and shells --------------------------------------------------


@every_method
def test_sizes_are_nested_and_signs_point_to_a_label(embedding):
    X, Y = make_data()
    large = clone(embedding).set_params(n_feature_components=4).fit(X, Y).projection_
    small = clone(embedding).set_params(n_feature_components=2).fit(X, Y).projection_
    np.testing.assert_allclose(large[:, :2], small, atol=1e-9)
    products = large.T @ centred(X).T @ Y
    assert (products[np.arange(4), np.abs(products).argmax(axis=1)] > 0).all()


def test_more_labels_than_memory_are_refused(monkeypatch):
    X, Y = make_data()
    pair = MomentsPair(Moments.from_arrays(X, sp.csr_array(Y)))
    monkeypatch.setattr(memory, "available_bytes", lambda: 100)
    with pytest.raises(MemoryError, match=r"inverse of a matrix of 5 labels by 5 .* Use OPLS"):
        CCA().solve(pair)
