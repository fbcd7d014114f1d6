"""LEML and SLRM: their objectives fall, and end where theory says."""

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NearestNeighbors

from compactlearn import CPLST, CompactClassifier, method
from compactlearn.related import LEML, SLRM
from compactlearn.related import _leml as leml_steps
from tests.makers import labelled

SHAPES = [(40, 7, 5), (18, 30, 6)]
every_shape = pytest.mark.parametrize("shape", SHAPES, ids=str)
CLOSE = {"tol": 1e-12, "max_iter": 3000, "random_state": 0}


def holes(Y, seed=0, share=0.3):
    rng = np.random.default_rng(seed)
    return np.where(rng.random(Y.shape) < share, np.nan, Y)


def leml_objective(model, X, Y):
    Z = X @ model.projection_ @ model.decoder_ + model.intercept_
    norms = np.sum(model.projection_**2) + np.sum(model.decoder_**2)
    return np.nansum((Z - Y) ** 2) / 2 + model.alpha / 2 * norms


# --- LEML ----------------------------------------------------------------------------------------


@every_shape
@pytest.mark.parametrize("partly", [False, True], ids=["known", "partly"])
def test_the_objective_is_what_it_says_and_never_rises(shape, partly):
    X, Y = labelled(*shape, seed=0)
    Y = holes(Y) if partly else Y
    model = LEML(3, alpha=0.5, max_iter=20, tol=0.0, random_state=1)
    with pytest.warns(ConvergenceWarning, match="max_iter=20"):
        model.fit(X, Y)
    assert model.objective_ == pytest.approx(leml_objective(model, X, Y))
    assert (np.diff(model.objective_path_) <= 1e-9 * model.objective_).all()
    assert model.objective_path_[-1] < model.objective_path_[1]


@every_shape
@pytest.mark.parametrize("partly", [False, True], ids=["known", "partly"])
def test_it_ends_where_no_direction_leads_down(shape, partly):
    X, Y = labelled(*shape, seed=2)
    Y = holes(Y) if partly else Y
    few = {"tol": 1e-10, "max_iter": 2000, "random_state": 0}
    model = LEML(2, alpha=2.0, **few).fit(X, Y)
    shapes = [part.shape for part in (model.projection_, model.decoder_, model.intercept_)]
    sizes = np.cumsum([int(np.prod(s)) for s in shapes])[:-1]

    def value(flat):
        trial = clone(model)
        parts = zip(np.split(flat, sizes), shapes, strict=True)
        trial.projection_, trial.decoder_, trial.intercept_ = (p.reshape(s) for p, s in parts)
        return leml_objective(trial, X, Y)

    at = np.concatenate([model.projection_.ravel(), model.decoder_.ravel(), model.intercept_])
    slope = scipy.optimize.approx_fprime(at, value, 1e-7)
    assert np.abs(slope).max() < 2e-3 * max(1.0, model.objective_)


@every_shape
def test_a_small_penalty_is_reduced_rank_regression(shape):
    X, Y = labelled(*shape, seed=3)
    new = labelled(*shape, seed=4)[0]
    model = LEML(2, alpha=1e-9, **CLOSE).fit(X, Y)
    closed = CompactClassifier(CPLST(2, ridge="shared"), alpha=1e-12).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X), closed.decision_function(X), atol=1e-4)
    if shape[0] > shape[1]:
        np.testing.assert_allclose(
            model.decision_function(new), closed.decision_function(new), atol=1e-3
        )


def test_with_rank_enough_it_is_the_nuclear_norm():
    """Both norms of the best factors are that of their product."""
    X, Y = labelled(40, 7, 5, seed=5)
    factored = LEML(5, alpha=2.0, **CLOSE).fit(X, Y)
    convex = SLRM(2.0, smoothness=0.0, tol=1e-10).fit(X, Y)
    assert factored.objective_ == pytest.approx(convex.objective_, rel=1e-6)
    np.testing.assert_allclose(
        factored.decision_function(X), convex.decision_function(X), atol=1e-3
    )


def test_known_labels_are_the_same_by_both_routes():
    """Nothing unknown, said by marks, and rows whose labels are all unknown change nothing."""
    X, Y = labelled(40, 7, 5, seed=6)
    few = {"tol": 1e-10, "max_iter": 2000, "random_state": 0}
    plain = LEML(2, alpha=1.0, **few).fit(X, Y)
    far = np.vstack([X, 10 + X[:5]])
    more = np.vstack([Y, np.full((5, 5), np.nan)])
    masked = LEML(2, alpha=1.0, **few).fit(far, more)
    assert masked.objective_ == pytest.approx(plain.objective_, rel=1e-6)
    np.testing.assert_allclose(masked.decision_function(X), plain.decision_function(X), atol=2e-3)
    by_mask = LEML(2, alpha=1.0, **few)
    by_mask.fit(far, np.nan_to_num(more), unknown=np.isnan(more))
    np.testing.assert_array_equal(by_mask.decoder_, masked.decoder_)


@every_shape
def test_products_and_decompositions_find_the_same(shape, monkeypatch):
    X, Y = labelled(*shape, seed=7)
    exact = LEML(2, alpha=1.0, **CLOSE).fit(X, Y)
    monkeypatch.setattr(leml_steps, "DENSE_SIDE", 0)
    sparse = LEML(2, alpha=1.0, **CLOSE).fit(sp.csr_array(X), sp.csr_array(Y))
    assert sparse.objective_ == pytest.approx(exact.objective_, rel=1e-9)
    np.testing.assert_allclose(sparse.decision_function(X), exact.decision_function(X), atol=1e-5)


# --- SLRM ----------------------------------------------------------------------------------------


def smooth_part(X, Y, smoothness, k=5):
    """A and C of the smooth part, by dense matrices."""
    graph = NearestNeighbors(n_neighbors=k).fit(X)
    squares = graph.kneighbors()[0] ** 2
    near = graph.kneighbors_graph().toarray()
    distances = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    W = np.maximum(near, near.T) * np.exp(-distances / squares.mean())
    L = np.diag(W.sum(axis=1)) - W
    known = ~np.isnan(Y).any(axis=1)
    Xc, Yc = (M[known] - M[known].mean(axis=0) for M in (X, Y))
    return Xc.T @ Xc + 2 * smoothness * X.T @ L @ X, Xc.T @ Yc


@every_shape
@pytest.mark.parametrize("smoothness", [0.0, 0.2])
@pytest.mark.parametrize("partly", [False, True], ids=["known", "unlabelled"])
def test_no_subgradient_leads_down(shape, smoothness, partly):
    """-slope / alpha = U V' + R with R orthogonal to both, of a norm of 1 at most."""
    X, Y = labelled(*shape, seed=0)
    if partly:
        Y[-6:] = np.nan
    model = SLRM(2.0, smoothness=smoothness, tol=1e-10).fit(X, Y)
    A, C = smooth_part(X, Y, smoothness)
    B = model.projection_ @ model.decoder_
    slope = (C - A @ B) / model.alpha
    U = model.projection_
    V = model.decoder_.T / np.linalg.norm(model.decoder_, axis=1)
    np.testing.assert_allclose(U.T @ U, np.eye(model.rank_), atol=1e-8)
    np.testing.assert_allclose(U.T @ slope, V.T, atol=1e-6)
    np.testing.assert_allclose(slope @ V, U, atol=1e-6)
    assert np.linalg.norm(slope - U @ V.T, 2) <= 1 + 1e-6
    assert 0 < model.rank_


def test_a_strong_penalty_leaves_the_frequencies_and_none_is_plain_regression():
    X, Y = labelled(40, 7, 5, seed=2)
    none = SLRM(1e6).fit(X, Y)
    assert none.rank_ == 0
    np.testing.assert_allclose(none.decision_function(X), np.tile(Y.mean(axis=0), (40, 1)))
    free = SLRM(0.0, smoothness=0.0, tol=1e-12, max_iter=20_000).fit(X, Y).decision_function(X)
    plain = method("ORI", alpha=0.0).fit(X, Y).decision_function(X)
    np.testing.assert_allclose(free, plain, atol=1e-6)


def test_refusals_and_warnings():
    X, Y = labelled(30, 5, 4, seed=4)
    with pytest.raises(ValueError, match=r"all known or all unknown, and in \d+ rows some"):
        SLRM().fit(X, holes(Y))
    with pytest.raises(ValueError, match="none has any"):
        SLRM().fit(X, np.full(Y.shape, np.nan))
    with pytest.warns(ConvergenceWarning, match="max_iter=2 steps of ADMM"):
        SLRM(max_iter=2).fit(X, Y)
    with pytest.raises(ValueError, match="n_label_components=9 asks for more components"):
        LEML(9).fit(X, Y)
