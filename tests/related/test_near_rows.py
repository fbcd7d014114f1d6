"""LPP and NPE against dense versions of their definitions, and the graphs that they are made of."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.manifold._locally_linear import barycenter_kneighbors_graph
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import NearestNeighbors

from compactlearn import CompactClassifier, method
from compactlearn.related import LPP, NPE
from compactlearn.related._neighbours import (
    RowNeighbours,
    RowProducts,
    affinities,
    laplacian,
    reconstruction,
)
from tests.makers import labelled, modest

SHAPES = [(40, 7, 5), (18, 30, 6)]
every_shape = pytest.mark.parametrize("shape", SHAPES, ids=str)
METHODS = {"LPP": LPP(3, n_neighbors=4), "NPE": NPE(3, n_neighbors=4)}
every_method = pytest.mark.parametrize("embedding", METHODS.values(), ids=METHODS.keys())


# --- graphs --------------------------------------------------------------------------------------


@given(st.integers(2, 14), st.integers(1, 5), st.integers(1, 20), st.integers(0, 30))
@modest
def test_neighbours_are_those_of_scikit_learn(n, n_features, k, seed):
    X = np.random.default_rng(seed).normal(size=(n, n_features))
    size = min(k, n - 1)
    distances, places = NearestNeighbors(n_neighbors=size).fit(X).kneighbors()
    views = [RowProducts.of_rows(X), RowProducts.of_rows(sp.csr_array(X))]
    for products in (*views, RowProducts.of_kernel(X @ X.T)):
        near = RowNeighbours.of(products, k)
        np.testing.assert_array_equal(near.places, places)
        np.testing.assert_allclose(near.squares, distances**2, atol=1e-12)


def test_reconstructions_are_those_of_scikit_learn():
    X = np.random.default_rng(0).normal(size=(30, 3))
    expected = barycenter_kneighbors_graph(X, 5, reg=1e-3).toarray()
    views = [RowProducts.of_rows(X), RowProducts.of_rows(sp.csr_array(X))]
    for products in (*views, RowProducts.of_kernel(X @ X.T)):
        R = reconstruction(products, RowNeighbours.of(products, 5))
        np.testing.assert_allclose(R.toarray(), expected, atol=1e-9)


def test_affinities_are_symmetric_and_by_the_heat_kernel():
    X = np.random.default_rng(1).normal(size=(20, 3))
    near = RowNeighbours.of(RowProducts.of_rows(X), 4)
    mean = near.squares.mean()
    for width, gamma in ((2.0, 0.5), ("auto", 1 / mean), (None, 0.0)):
        W = affinities(near, width).toarray()
        graph = NearestNeighbors(n_neighbors=4).fit(X).kneighbors_graph().toarray()
        expected = np.maximum(graph, graph.T) * rbf_kernel(X, gamma=gamma)
        np.testing.assert_allclose(W, expected, atol=1e-12)
        L, degrees = laplacian(affinities(near, width))
        np.testing.assert_allclose(L.toarray(), np.diag(expected.sum(axis=1)) - expected)
        np.testing.assert_allclose(degrees, expected.sum(axis=1))


def test_equal_rows_have_a_graph():
    near = RowNeighbours.of(RowProducts.of_rows(np.ones((5, 2))), 2)
    assert affinities(near, "auto").toarray().max() == 1.0
    R = reconstruction(RowProducts.of_rows(np.ones((5, 2))), near)
    np.testing.assert_allclose(R.sum(axis=1), 1.0)


# --- the methods ---------------------------------------------------------------------------------


def literal(embedding, X, ridge):
    """As written: the smallest of (X'LX, X'DX) for LPP, of (X'MX, X'X) for NPE, by dense matrices;
    a ridge is added to both sides."""
    n = len(X)
    if isinstance(embedding, LPP):
        graph = NearestNeighbors(n_neighbors=embedding.n_neighbors).fit(X)
        squares = graph.kneighbors()[0] ** 2
        near = graph.kneighbors_graph().toarray()
        W = np.maximum(near, near.T) * rbf_kernel(X, gamma=1 / squares.mean())
        D = np.diag(W.sum(axis=1))
        L = D - W
        Xc = X - np.diag(D) @ X / np.trace(D)
    else:
        R = barycenter_kneighbors_graph(X, embedding.n_neighbors, reg=1e-3).toarray()
        D, L = np.eye(n), (np.eye(n) - R).T @ (np.eye(n) - R)
        Xc = X - X.mean(axis=0)
    identity = ridge * np.eye(X.shape[1])
    values, P = scipy.linalg.eigh(Xc.T @ L @ Xc + identity, Xc.T @ D @ Xc + identity)
    return 1 - values, P * np.sqrt(n)


@every_method
@every_shape
@pytest.mark.parametrize("as_matrix", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_directions_are_those_of_the_definition(embedding, shape, as_matrix):
    X, Y = labelled(*shape, seed=1)
    values, P = literal(embedding, X, 0.4)
    model = clone(embedding).set_params(ridge=0.4).fit(as_matrix(X), Y)
    np.testing.assert_allclose(model.eigenvalues_, values[:3], atol=1e-9)
    signs = np.sign(np.sum(P[:, :3] * model.projection_, axis=0))
    np.testing.assert_allclose(model.projection_, P[:, :3] * signs, atol=1e-7)
    unit = clone(model).set_params(unit_columns=True).fit(X, Y).projection_
    expected = model.projection_ / np.linalg.norm(model.projection_, axis=0)
    np.testing.assert_allclose(unit, expected, atol=1e-9)


@every_method
def test_without_ridge_the_constraint_holds_and_all_directions_span_the_rows(embedding):
    X, Y = labelled(25, 4, 5, seed=2)
    model = clone(embedding).set_params(ridge=0.0, n_feature_components=4).fit(X, Y)
    np.testing.assert_allclose(model.eigenvalues_, literal(embedding, X, 0.0)[0], atol=1e-9)
    found = CompactClassifier(clone(model), alpha=0.0).fit(X, Y).decision_function(X)
    plain = method("ORI", alpha=0.0).fit(X, Y).decision_function(X)
    np.testing.assert_allclose(found, plain, atol=1e-8)


@every_method
def test_a_constant_added_to_a_feature_changes_nothing(embedding):
    X, Y = labelled(30, 5, 4, seed=6)
    one, other = (clone(embedding).fit(rows, Y).projection_ for rows in (X, X + 1000.0))
    np.testing.assert_allclose(one, other, atol=1e-6)
