"""completion="krylov": directions of Xc'Xc P, (Xc'Xc)^2 P, ... added to the projection."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from compactlearn import CMLL, CMLLClassifier, KernelMap
from compactlearn.datasets import load

SOLVERS = ["moments", "dual", "krylov"]
every_solver = pytest.mark.parametrize("solver", SOLVERS)


def make_data(n=50, n_features=20, n_labels=6, seed=0):
    """Generic rows whose features decay, as those of real data do."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features)) * np.geomspace(3, 0.3, n_features)
    X = X @ np.linalg.qr(rng.normal(size=(n_features, n_features)))[0] + rng.normal(size=n_features)
    latent = (X - X.mean(axis=0)) @ rng.normal(size=(n_features, n_labels))
    latent += np.sqrt(n_features) * rng.normal(size=latent.shape)
    return X, (latent > np.quantile(latent, 0.65, axis=0)).astype(float)


def fit(X, Y, d, m=3, completion="krylov", solver="auto", **options):
    return CMLL(d, m, completion=completion, solver=solver, beta=0.3, **options).fit(X, Y)


def projector(Q):
    return Q @ Q.T


def literal_span(X, V, n_blocks):
    """Orthonormal basis of [Xc'V, Xc'Xc Xc'V, ...], the columns of each block scaled."""
    Xc = X - X.mean(axis=0)
    block, blocks = Xc.T @ V, []
    for _ in range(n_blocks):
        block = block / np.linalg.norm(block, 2)
        blocks.append(block)
        block = Xc.T @ (Xc @ block)
    return np.linalg.qr(np.hstack(blocks))[0]


@every_solver
def test_nested(solver):
    """More components are further columns; the first stay what they are."""
    X, Y = make_data()
    P = fit(X, Y, 14, solver=solver).projection_
    for d in (3, 4, 5, 6, 8, 11):
        np.testing.assert_allclose(fit(X, Y, d, solver=solver).projection_, P[:, :d], atol=1e-8)


@every_solver
@pytest.mark.parametrize("n_blocks", [1, 2, 3])
@pytest.mark.parametrize("shape", [(50, 20, 6), (16, 25, 6)], ids=["tall", "wide"])
def test_blocks_are_those_of_the_krylov_space(solver, n_blocks, shape):
    X, Y = make_data(*shape)
    found = fit(X, Y, 3 * n_blocks, solver=solver)
    expected = literal_span(X, found.codes_, n_blocks)
    np.testing.assert_allclose(projector(found.projection_), projector(expected), atol=1e-7)


@every_solver
def test_within_a_block_by_decreasing_singular_value(solver):
    """A block that is used in part loses the directions of its smallest singular values."""
    X, Y = make_data()
    whole = fit(X, Y, 6, solver=solver)
    H, block = whole.projection_[:, :3], whole.projection_[:, 3:]
    Xc = X - X.mean(axis=0)
    images = Xc.T @ (Xc @ H)
    outside = images - H @ (H.T @ images)
    lengths = np.linalg.norm(block.T @ outside, axis=1)
    np.testing.assert_allclose(lengths, np.linalg.svd(outside, compute_uv=False)[:3], rtol=1e-6)
    assert np.all(np.diff(lengths) < 0)


def test_all_routes_find_the_same():
    X, Y = make_data(30, 24, 6)
    spans = [projector(fit(X, Y, 8, solver=solver).projection_) for solver in SOLVERS]
    spans.append(projector(fit(sp.csr_array(X), Y, 8, solver="krylov").projection_))
    for span in spans[1:]:
        np.testing.assert_allclose(span, spans[0], atol=1e-7)


@every_solver
@pytest.mark.parametrize("shape", [(50, 20, 6), (14, 25, 6)], ids=["tall", "wide"])
def test_enough_blocks_are_all_the_features(solver, shape):
    """The ridge regression of V on all features lies in the Krylov space of Xc'V."""
    X, Y = make_data(*shape)
    new = X + 0.3
    options = {"n_label_components": 3, "beta": 0.3, "alpha": 2.0, "solver": solver}
    every = CMLLClassifier(None, **options).fit(X, Y).decision_function(new)
    few = CMLLClassifier(1.0, completion="krylov", **options).fit(X, Y)
    np.testing.assert_allclose(few.decision_function(new), every, atol=1e-6)


def test_a_few_blocks_are_almost_all_the_features():
    """Errors fall from block to block."""
    X, Y = make_data(80, 40, 6)
    options = {"n_label_components": 3, "beta": 0.3, "alpha": 20.0}
    every = CMLLClassifier(None, **options).fit(X, Y).decision_function(X)

    def error(d):
        model = CMLLClassifier(d, completion="krylov", **options).fit(X, Y)
        return np.abs(model.decision_function(X) - every).max()

    errors = [error(d) for d in (3, 6, 12, 21, 30)]
    assert all(later < earlier for earlier, later in itertools.pairwise(errors))
    assert errors[3] < 0.05 * errors[0]


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_kernels(kernel):
    """In the feature space of a kernel the same holds: nested, and all of it in the end."""
    X, Y = make_data(30, 6, 5)
    options = {"n_label_components": 2, "beta": 0.5, "alpha": 0.5}
    model = CMLLClassifier(completion="krylov", feature_map=KernelMap(kernel), **options)
    every = CMLLClassifier(None, feature_map=KernelMap(kernel), **options).fit(X, Y)
    new = X[:9] + 0.2
    rank = 6 if kernel == "linear" else 29
    found = [model.set_params(n_feature_components=d).fit(X, Y).transform(new) for d in (2, 4, 6)]
    for part in found[:-1]:
        np.testing.assert_allclose(part, found[-1][:, : part.shape[1]], atol=1e-8)
    model.set_params(n_feature_components=rank).fit(X, Y)
    np.testing.assert_allclose(
        model.decision_function(new), every.decision_function(new), atol=1e-6
    )


@settings(max_examples=30, derandomize=True, deadline=None, database=None)
@given(
    n=st.integers(5, 30),
    n_features=st.integers(1, 12),
    n_labels=st.integers(1, 5),
    d=st.sampled_from([0.3, 0.7, 1.0]),
    seed=st.integers(0, 10**6),
    solver=st.sampled_from(SOLVERS),
    repeated=st.booleans(),
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_orthonormal_whatever_the_shape(n, n_features, n_labels, d, seed, solver, repeated):
    """Never more directions than the features have rank, and the objective of "none"."""
    X, Y = make_data(n, n_features, n_labels, seed)
    if repeated:
        X[:, -1] = X[:, 0]
    if n_labels == 1 and not 0 < Y.sum() < n:
        return
    found = fit(X, Y, d, m=1.0, solver=solver)
    P = found.projection_
    np.testing.assert_allclose(P.T @ P, np.eye(P.shape[1]), atol=1e-8)
    Xc = X - X.mean(axis=0)
    assert P.shape[1] <= max(1, np.linalg.matrix_rank(Xc, tol=1e-9))
    if P.shape[1] >= n_labels:
        plain = fit(X, Y, d, m=1.0, solver=solver, completion="none")
        assert found.objective_ == pytest.approx(plain.objective_, rel=1e-9)


def test_auto_is_twice_the_codes():
    data = load("enron")
    X, Y = data.X[:200], data.Y[:200]
    model = CMLL("auto", 40, completion="krylov").fit(X, Y)
    assert model.n_feature_components_ == 80
    few = CMLL("auto", 3, completion="krylov").fit(X, Y)
    assert few.n_feature_components_ == 24
