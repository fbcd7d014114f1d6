"""MIFS: each step is the best for the others, the objective falls, features are chosen."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from compactlearn.linalg._rows_pair import RowsPair
from compactlearn.related import MIFS
from compactlearn.related._mifs import SelectionProblem
from compactlearn.related._neighbours import RowNeighbours, RowProducts, affinities, laplacian
from tests.makers import labelled

SHAPES = [(40, 7, 5), (18, 30, 6)]
every_shape = pytest.mark.parametrize("shape", SHAPES, ids=str)
every_form = pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])


def literal_objective(X, Y, V, T, B, a, b, c):
    """As it is written, with a graph by scikit-learn."""
    graph = NearestNeighbors(n_neighbors=5).fit(X)
    mean = np.mean(graph.kneighbors()[0] ** 2)
    near = graph.kneighbors_graph().toarray()
    distances = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    W = np.maximum(near, near.T) * np.exp(-distances / mean)
    L = np.diag(W.sum(axis=1)) - W
    Xc, Yc = X - X.mean(axis=0), Y - Y.mean(axis=0)
    lengths = np.linalg.norm(B, axis=1).sum()
    fit = np.sum((Xc @ B - V) ** 2) + a * np.sum((Yc - V @ T) ** 2)
    return fit + b * np.trace(V.T @ L @ V) + c * lengths


def problem_of(X, Y, form, weights=(1.5, 0.2, 2.0)):
    L = laplacian(affinities(RowNeighbours.of(RowProducts.of_rows(X), 5), "auto"))[0]
    return SelectionProblem(RowsPair.of_rows(form(X), sp.csr_array(Y)), L, *weights)


def drawn(shape, k=3, seed=0):
    rng = np.random.default_rng(seed)
    n, n_features, n_labels = shape
    T = np.linalg.qr(rng.normal(size=(n_labels, k)))[0].T
    return rng.normal(size=(n, k)), T, rng.normal(size=(n_features, k))


@every_shape
@every_form
def test_the_objective_and_the_steps_are_those_of_the_definition(shape, form):
    X, Y = labelled(*shape, seed=0)
    problem, rng = problem_of(X, Y, form), np.random.default_rng(1)
    V, T, B = drawn(shape)

    def value(V, T, B):
        return literal_objective(X, Y, V, T, B, 1.5, 0.2, 2.0)

    assert problem.objective(V, T, B) == pytest.approx(value(V, T, B))
    best_V, best_T = problem.latent(T, B), problem.loadings(V)
    np.testing.assert_allclose(best_T @ best_T.T, np.eye(3), atol=1e-10)
    for size in (1e-3, 1.0):
        assert value(best_V, T, B) < value(best_V + size * rng.normal(size=V.shape), T, B)
        turned = np.linalg.qr((best_T + size * rng.normal(size=T.shape)).T)[0].T
        turned *= np.sign(np.sum(turned * best_T, axis=1))[:, None]
        assert value(V, best_T, B) < value(V, turned, B)
    # The ridge minimises a bound of the objective, which touches it where rows have these lengths.
    lengths = np.linalg.norm(B, axis=1)
    found, Xc = problem.weights(V, lengths), X - X.mean(axis=0)
    expected = np.linalg.solve(Xc.T @ Xc + np.diag(1.0 / lengths), Xc.T @ V)  # c / 2 = 1
    np.testing.assert_allclose(found, expected, atol=1e-8)
    assert value(V, T, found) < value(V, T, B)


@every_shape
@every_form
def test_the_objective_never_rises_and_features_are_ranked(shape, form):
    X, Y = labelled(*shape, seed=2)
    model = MIFS(4, tol=0.0, max_iter=40, random_state=0).fit(form(X), Y)
    path = model.objective_path_
    assert (np.diff(path) <= 1e-9 * path[0]).all()
    assert path[-1] < path[0]
    assert model.objective_ == path[-1]
    assert (np.diff(model.eigenvalues_) <= 0).all()
    kept = model.projection_.argmax(axis=0)
    np.testing.assert_array_equal(np.sort(model.projection_.sum(axis=0)), np.ones(4))
    found = model.transform(form(X))
    found = found.toarray() if sp.issparse(found) else found
    np.testing.assert_array_equal(found, X[:, kept])
    assert len(set(kept)) == 4


def test_features_that_say_something_are_found_and_the_rest_is_zero():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 12))
    Y = (X[:, :3] @ rng.normal(size=(3, 6)) > 0).astype(int)
    model = MIFS(12, n_latent=1.0, sparsity=60.0, max_iter=200, tol=1e-7, random_state=0).fit(X, Y)
    kept = model.projection_.argmax(axis=0)
    assert set(kept[:3]) == {0, 1, 2}
    assert model.eigenvalues_[3] < 1e-3 * model.eigenvalues_[2]
