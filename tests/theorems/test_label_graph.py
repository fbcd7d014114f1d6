"""A graph of labels: the decoder is smooth over it, and the closed form stays the optimum."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from compactlearn import CMLL, CompactClassifier, KernelMap, load_model
from compactlearn.linalg._smoothing import Smoothing, laplacian
from compactlearn.model_selection import GridSearchMoments
from tests.makers import cmll, labelled, modest

REGIMES = ["moments", "dual", "krylov", "randomized"]


def some_graph(n_labels, seed=0, density=0.5):
    rng = np.random.default_rng(seed)
    A = np.triu(rng.random((n_labels, n_labels)) * (rng.random((n_labels, n_labels)) < density), 1)
    return scipy.sparse.csr_array(A + A.T)


def literal_smoother(graph, weight):
    A = graph.toarray()
    A = A - np.diag(np.diag(A))
    return np.linalg.inv(np.eye(len(A)) + weight * (np.diag(A.sum(axis=0)) - A))


def literal_codes(X, Y, graph, weight, beta, m):
    """Leading eigenvectors of beta XcXc' + YSY', everything formed."""
    Xc = X - X.mean(axis=0)
    values, vectors = np.linalg.eigh(beta * Xc @ Xc.T + Y @ literal_smoother(graph, weight) @ Y.T)
    return values[::-1][:m], vectors[:, ::-1][:, :m]


def stated_objective(Y, V, W, graph, weight, ridge=0.0):
    """What the module's docstring says is minimised over W, and over V without the features."""
    A = graph.toarray()
    apart = np.sum((W[:, :, None] - W[:, None, :]) ** 2, axis=0)
    smooth = 0.5 * np.sum(A * apart)
    return np.sum((Y - V @ W) ** 2) + ridge * np.sum(W**2) + (1 + ridge) * weight * smooth


def dense_scores(model, X):
    return np.asarray(model.decision_function(X))


# ---- the factor ---------------------------------------------------------------------------------


@modest
@given(
    n=st.integers(1, 12),
    weight=st.floats(1e-3, 1e3),
    density=st.floats(0.0, 1.0),
    seed=st.integers(0, 1000),
)
def test_the_root_is_a_root_of_the_inverse(n, weight, density, seed):
    graph = some_graph(n, seed, density)
    R = Smoothing(graph, weight)
    root, S = R @ np.eye(n), literal_smoother(graph, weight)
    np.testing.assert_allclose(root @ root.T, S, atol=1e-10)
    np.testing.assert_allclose(R.T @ np.eye(n), root.T, atol=1e-12)
    np.testing.assert_allclose(R.smooth(np.eye(n)), S, atol=1e-10)
    B = np.random.default_rng(seed).normal(size=(n, 3))
    np.testing.assert_allclose(R.undo_transposed(R.T @ B), B, atol=1e-8)


def test_the_laplacian_sums_squares_over_edges():
    graph = some_graph(6)
    W = np.random.default_rng(1).normal(size=(2, 6))
    rows, columns = graph.nonzero()
    sums = sum(
        graph[i, j] * np.sum((W[:, i] - W[:, j]) ** 2) / 2
        for i, j in zip(rows, columns, strict=True)
    )
    np.testing.assert_allclose(np.trace(W @ laplacian(graph).toarray() @ W.T), sums)


# ---- the solution -------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", REGIMES[:3])
@modest
@given(
    n=st.integers(8, 40),
    n_features=st.integers(1, 12),
    n_labels=st.integers(2, 9),
    weight=st.sampled_from([0.01, 1.0, 30.0]),
    beta=st.sampled_from([0.0, 0.1, 5.0]),
    seed=st.integers(0, 1000),
)
def test_codes_and_decoder_equal_the_literal_ones(
    solver, n, n_features, n_labels, weight, beta, seed
):
    X, Y = labelled(n, n_features, n_labels, seed)
    graph = some_graph(n_labels, seed)
    m = max(1, n_labels // 2)
    model = CMLL(
        n_label_components=m, beta=beta, solver=solver, label_graph=graph, graph_weight=weight
    ).fit(X, Y)
    values, V = literal_codes(X, Y, graph, weight, beta, m + 1)
    kept = model.n_label_components_
    np.testing.assert_allclose(model.objective_, values[:kept].sum(), rtol=1e-8)
    W = model.codes_.T @ Y @ literal_smoother(graph, weight)
    np.testing.assert_allclose(model.decoder_, W, atol=1e-8)
    if values[kept - 1] > values[kept] + 1e-3:
        V = V[:, :kept]
        np.testing.assert_allclose(model.codes_ @ model.codes_.T, V @ V.T, atol=1e-7)


def test_no_other_decoder_is_better():
    X, Y = labelled(30, 5, 6, 0)
    graph = some_graph(6)
    model = CMLL(n_label_components=3, label_graph=graph, graph_weight=2.0, label_ridge=0.4)
    model.fit(X, Y)
    V, W = model.codes_, model.decoder_
    best = stated_objective(Y, V, W, graph, 2.0, 0.4)
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-1, 1.0):
        for _ in range(20):
            other = W + size * rng.normal(size=W.shape)
            assert best < stated_objective(Y, V, other, graph, 2.0, 0.4)


def test_no_other_codes_are_better_and_alternation_ends_there():
    """V and W in turn from random codes: never below, and in the end at the closed form."""
    X, Y = labelled(25, 4, 6, 3)
    graph, weight, beta, m = some_graph(6, 2), 1.5, 0.3, 3
    Xc = X - X.mean(axis=0)
    model = CMLL(None, m, beta, label_graph=graph, graph_weight=weight).fit(X, Y)
    S = literal_smoother(graph, weight)

    def loss(V, W):
        return stated_objective(Y, V, W, graph, weight) - beta * np.sum((Xc.T @ V) ** 2)

    best = loss(model.codes_, model.decoder_)
    rng = np.random.default_rng(0)
    for seed in range(3):
        V = np.linalg.qr(rng.normal(size=(25, m)))[0]
        path = []
        for _ in range(1000):
            W = V.T @ Y @ S  # the best for V
            path.append(loss(V, W))
            # The best V for W, with the concave term replaced by its tangent: it never rises.
            U, _, Vt = np.linalg.svd(2 * Y @ W.T + 2 * beta * Xc @ (Xc.T @ V), full_matrices=False)
            V = U @ Vt
        assert (np.diff(path) <= 1e-9).all(), seed
        assert path[0] > best
        assert path[-1] >= best - 1e-9
    np.testing.assert_allclose(path[-1], best, rtol=1e-6)


@pytest.mark.parametrize("d", [1, 2])
def test_a_narrow_projection_climbs_the_smoothed_objective(d):
    X, Y = labelled(30, 8, 6, 1)
    graph = some_graph(6, 1)
    paths = [
        CMLL(d, 4, 0.5, solver=solver, label_graph=graph, random_state=0, max_iter=500, tol=1e-12)
        .fit(X, Y)
        .objective_path_
        for solver in ("auto", "alternating")
    ]
    assert all((np.diff(path) >= -1e-9).all() for path in paths)
    assert paths[0][-1] >= paths[1][-1] - 1e-7
    above = literal_codes(X, Y, graph, 0.1, 0.5, 4)[0].sum()
    assert paths[0][-1] < above


# ---- limits -------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", REGIMES)
@pytest.mark.parametrize("how", ["zero weight", "no edges", "a diagonal"])
def test_without_smoothing_it_is_plain(solver, how):
    X, Y = labelled(60, 9, 7, 0)
    graph, weight = some_graph(7), 1.0
    if how == "zero weight":
        weight = 0.0
    if how == "no edges":
        graph = scipy.sparse.csr_array((7, 7))
    if how == "a diagonal":
        graph = scipy.sparse.diags_array(np.arange(1.0, 8.0)).tocsr()
    plain = cmll(n_label_components=4, solver=solver).fit(X, Y)
    model = cmll(n_label_components=4, solver=solver, label_graph=graph, graph_weight=weight).fit(
        X, Y
    )
    np.testing.assert_allclose(dense_scores(model, X), dense_scores(plain, X), atol=1e-8)


def test_a_heavy_graph_gives_linked_labels_one_decoder():
    X, Y = labelled(60, 9, 6, 0)
    A = np.zeros((6, 6))
    A[:3, :3], A[3:, 3:] = 1.0, 1.0
    model = CMLL(n_label_components=2, label_graph=A - np.eye(6), graph_weight=1e9).fit(X, Y)
    W = model.decoder_
    assert np.abs(W).max() > 0.1
    np.testing.assert_allclose(W[:, :3], np.tile(W[:, [0]], 3), atol=1e-6)
    np.testing.assert_allclose(W[:, 3:], np.tile(W[:, [3]], 3), atol=1e-6)


# ---- routes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", REGIMES)
@pytest.mark.parametrize("shape", [(60, 9, 7), (20, 40, 12)])
def test_sparse_rows_and_every_regime_score_alike(solver, shape):
    X, Y = labelled(*shape, 0, density=0.4)
    graph = some_graph(shape[2])
    own = {"n_label_components": 4, "label_graph": graph, "label_ridge": 0.1}
    first = dense_scores(cmll(solver="dual", **own).fit(X, Y), X)
    sparse = [scipy.sparse.csr_array(part) for part in (X, Y)]
    for data in ((X, Y), sparse):
        found = dense_scores(cmll(solver=solver, **own).fit(*data), X)
        np.testing.assert_allclose(found, first, atol=1e-7)


def test_weights_are_repeated_rows():
    X, Y = labelled(30, 6, 5, 0)
    counts = np.random.default_rng(0).integers(1, 4, 30)
    own = {"n_label_components": 3, "label_graph": some_graph(5)}
    weighted = cmll(**own).fit(X, Y, sample_weight=counts)
    repeated = cmll(**own).fit(np.repeat(X, counts, 0), np.repeat(Y, counts, 0))
    np.testing.assert_allclose(dense_scores(weighted, X), dense_scores(repeated, X), atol=1e-8)


def test_a_linear_kernel_is_the_linear_method():
    X, Y = labelled(30, 6, 5, 0)
    embedding = CMLL(n_label_components=3, label_graph=some_graph(5))
    linear = CompactClassifier(embedding).fit(X, Y)
    kernel = CompactClassifier(embedding, feature_map=KernelMap("linear")).fit(X, Y)
    np.testing.assert_allclose(dense_scores(kernel, X), dense_scores(linear, X), atol=1e-7)


def test_rows_in_blocks_give_the_same_model():
    """Moments added, and passes over rows that are never all at hand."""
    X, Y = labelled(90, 9, 7, 0, density=0.4)
    own = {"n_label_components": 4, "label_graph": some_graph(7)}
    whole = cmll(**own).fit(X, Y)
    parts = cmll(**own)
    for rows in np.array_split(np.arange(90), 3):
        parts.partial_fit(X[rows], Y[rows])
    np.testing.assert_allclose(dense_scores(parts, X), dense_scores(whole, X), atol=1e-8)
    blocks = [(X[rows], Y[rows]) for rows in np.array_split(np.arange(90), 3)]
    passes = cmll(solver="randomized", **own).fit_blocks(blocks)
    assert passes.embedding_.solver_ == "closed-passes"
    assert passes.n_passes_ == 3  # codes are found once: what solve asks for is what was found
    np.testing.assert_allclose(dense_scores(passes, X), dense_scores(whole, X), atol=1e-6)


def test_permuted_labels_permute_the_scores():
    X, Y = labelled(40, 6, 7, 0)
    graph = some_graph(7)
    order = np.random.default_rng(0).permutation(7)
    one = cmll(n_label_components=3, label_graph=graph).fit(X, Y)
    other = cmll(n_label_components=3, label_graph=graph[order][:, order])
    other.fit(X, Y[:, order])
    np.testing.assert_allclose(dense_scores(other, X), dense_scores(one, X)[:, order], atol=1e-8)


def test_searches_serve_a_graph():
    X, Y = labelled(60, 6, 8, 0)
    graph = some_graph(8)
    sizes = {"n_label_components": [2, 4], "label_ridge": [0.0, 0.5], "graph_weight": [0.0, 3.0]}
    grid = {f"embedding__{name}": values for name, values in sizes.items()}
    search = GridSearchMoments(cmll(label_graph=graph), grid, cv=3).fit(X, Y)
    best = clone(search.best_estimator_).fit(X, Y)
    np.testing.assert_allclose(dense_scores(search, X), dense_scores(best, X), atol=1e-8)
    assert len(search.cv_results_["params"]) == 8


def test_it_can_be_saved(tmp_path):
    X, Y = labelled(30, 6, 5, 0)
    model = cmll(n_label_components=3, label_graph=some_graph(5)).fit(X, Y)
    model.save(tmp_path / "model.compact")
    loaded = load_model(tmp_path / "model.compact")
    np.testing.assert_array_equal(dense_scores(loaded, X), dense_scores(model, X))
    assert (loaded.embedding.label_graph != model.embedding.label_graph).nnz == 0


# ---- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("graph", "why"),
    [
        (np.ones((4, 4)), r"row and a column for each of the 5 labels, and has the shape \(4, 4\)"),
        (np.triu(np.ones((5, 5)), 1), "must be symmetric.*differs from its transpose by up to 1"),
        (-np.ones((5, 5)), "finite weights of 0 or more"),
        (np.full((5, 5), np.nan), "finite weights of 0 or more"),
        (np.ones((5, 4)), "must be a square sparse matrix of numbers or None"),
        ("hierarchy", "must be a square sparse matrix of numbers or None"),
    ],
)
def test_what_is_no_graph_is_refused(graph, why):
    X, Y = labelled(30, 6, 5, 0)
    model = cmll(label_graph=graph)
    with pytest.raises((ValueError, TypeError), match=why):
        model.fit(X, Y)
    assert not hasattr(model, "embedding_")


def test_labels_that_are_kept_have_no_decoder_to_smooth():
    X, Y = labelled(30, 6, 5, 0)
    with pytest.raises(ValueError, match="n_label_components=None keeps the labels"):
        CMLL(n_label_components=None, label_graph=some_graph(5)).fit(X, Y)
