"""A graph of rows: codes are smooth over it, and the closed form stays the optimum."""

import tracemalloc
import warnings
from itertools import product

import numpy as np
import pytest
import scipy.sparse
import sklearn
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

from compactlearn import (
    CMLL,
    CMLLClassifier,
    CompactClassifier,
    KernelMap,
    Moments,
    explain,
    fit_path,
    load_model,
    method,
    to_onnx,
)
from compactlearn.linalg._codes import Codes
from compactlearn.linalg._row_codes import _without_shift
from compactlearn.linalg._row_graphs import Roughness, normalised_laplacian
from compactlearn.metrics import average_precision
from compactlearn.model_selection import GridSearchMoments
from compactlearn.scale._fitting import fits_in_blocks
from tests.io.onnx.running import assert_same
from tests.makers import labelled, modest

REGIMES = ["dual", "krylov", "randomized"]
NEAR = {"row_graph": "neighbors", "row_graph_weight": 0.05}


def some_graph(n, seed=0, density=0.3):
    rng = np.random.default_rng(seed)
    A = np.triu(rng.random((n, n)) * (rng.random((n, n)) < density), 1)
    return scipy.sparse.csr_array(A + A.T)


def ring(n):
    """A connected graph whose degrees differ."""
    A = np.zeros((n, n))
    for i in range(n):
        A[i, (i + 1) % n] = A[(i + 1) % n, i] = 1.0 + i % 4
    return scipy.sparse.csr_array(A)


def literal_laplacian(A):
    """Edge by edge: (v_i / sqrt(d_i) - v_j / sqrt(d_j))^2 as a matrix."""
    A = np.asarray(A.todense() if scipy.sparse.issparse(A) else A, dtype=float)
    A = A - np.diag(np.diag(A))
    d, L = A.sum(axis=0), np.zeros_like(A)
    for i, j in zip(*np.nonzero(np.triu(A)), strict=True):
        edge = np.zeros(len(A))
        edge[i], edge[j] = 1 / np.sqrt(d[i]), -1 / np.sqrt(d[j])
        L += A[i, j] * np.outer(edge, edge)
    return L


def literal_neighbours(X, k):
    """Every distance looked at: weights of rows one of whom is among the other's k nearest."""
    n = len(X)
    squares = np.array([[np.sum((a - b) ** 2) for b in X] for a in X])
    near = [
        sorted((j for j in range(n) if j != i), key=lambda j, i=i: squares[i, j]) for i in range(n)
    ]
    near = [row[:k] for row in near]
    width = np.mean([squares[i, j] for i in range(n) for j in near[i]])
    A = np.zeros((n, n))
    for i in range(n):
        for j in near[i]:
            A[i, j] = A[j, i] = np.exp(-squares[i, j] / width)
    return A


def literal_matrix(X, Y, graph, weight, beta):
    Xc = X - X.mean(axis=0)
    return beta * Xc @ Xc.T + Y @ Y.T - weight * np.sum(Y**2) * literal_laplacian(graph)


def leading(matrix, m):
    values, vectors = np.linalg.eigh(matrix)
    return values[::-1][:m], vectors[:, ::-1][:, :m]


def dense_scores(model, X):
    return np.asarray(model.decision_function(X))


# ---- the matrix ---------------------------------------------------------------------------------


@modest
@given(n=st.integers(1, 12), density=st.floats(0.0, 1.0), seed=st.integers(0, 1000))
def test_the_laplacian_is_that_of_edges(n, density, seed):
    graph = some_graph(n, seed, density)
    L = normalised_laplacian(graph + scipy.sparse.eye_array(n) * 3.0).toarray()
    np.testing.assert_allclose(L, literal_laplacian(graph), atol=1e-12)
    values = np.linalg.eigvalsh(L)
    assert values[0] > -1e-12
    assert values[-1] < 2 + 1e-12
    alone = graph.sum(axis=0) == 0
    assert not L[alone].any()
    np.testing.assert_allclose(L @ np.sqrt(graph.sum(axis=0)), 0.0, atol=1e-12)


def test_what_is_added_is_a_constant_less_the_roughness():
    rough = Roughness.of(some_graph(9), 3.0, None)
    V = np.linalg.qr(np.random.default_rng(0).normal(size=(9, 4)))[0]
    added = np.trace(V.T @ (rough.operator() @ V))
    np.testing.assert_allclose(added, 4 * rough.shift - 3.0 * rough.trace(V), rtol=1e-12)
    assert np.linalg.eigvalsh(rough.smooth.toarray()).min() > -1e-12


def test_weights_of_any_size_are_alike():
    graph = some_graph(9)
    for factor in (1e-300, 1e300):
        np.testing.assert_allclose(
            normalised_laplacian(factor * graph).toarray(),
            normalised_laplacian(graph).toarray(),
            atol=1e-9,
        )


# ---- the solution -------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["dual", "krylov"])
@modest
@given(
    n=st.integers(8, 60),
    n_features=st.integers(1, 12),
    n_labels=st.integers(2, 9),
    weight=st.sampled_from([1e-4, 0.01, 1.0, 30.0]),
    beta=st.sampled_from([0.0, 0.1, 5.0]),
    looked_for=st.booleans(),
    sparse=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_codes_and_decoder_equal_the_literal_ones(
    solver, n, n_features, n_labels, weight, beta, looked_for, sparse, seed
):
    X, Y = labelled(n, n_features, n_labels, seed)
    graph = literal_neighbours(X, 3) if looked_for else some_graph(n, seed)
    m = max(1, n_labels // 2)
    model = CMLL(
        None,
        m,
        beta,
        solver=solver,
        row_graph="neighbors" if looked_for else graph,
        row_graph_weight=weight,
        n_neighbors=3,
    ).fit(scipy.sparse.csr_array(X) if sparse else X, Y)
    values, V = leading(literal_matrix(X, Y, graph, weight, beta), m + 1)
    size = np.abs(values).max() + weight * np.sum(Y**2)
    assert model.n_label_components_ == m
    np.testing.assert_allclose(model.objective_, values[:m].sum(), atol=1e-8 * size)
    np.testing.assert_allclose(model.eigenvalues_, values[:m], atol=1e-8 * size)
    rough = np.trace(model.codes_.T @ literal_laplacian(graph) @ model.codes_)
    np.testing.assert_allclose(model.roughness_, rough, atol=1e-8)
    np.testing.assert_allclose(model.decoder_, model.codes_.T @ Y, atol=1e-8)
    if values[m - 1] > values[m] + 1e-3 * size:
        V = V[:, :m]
        np.testing.assert_allclose(model.codes_ @ model.codes_.T, V @ V.T, atol=1e-8)


@pytest.fixture(scope="module")
def many():
    X, Y = labelled(400, 12, 30, 0, share=0.9)
    return X, Y, literal_neighbours(X, 5)


@pytest.mark.parametrize("weight", [1e-3, 0.1, 10.0])
def test_randomised_codes_reach_what_they_say(weight, many):
    """The share is of the objective itself, not of that with the shift; of an objective below 0
    there is no share, and codes are exact."""
    X, Y, graph = many
    model = CMLL(None, 6, solver="randomized", row_graph="neighbors", row_graph_weight=weight)
    model.fit(X, Y)
    best = leading(literal_matrix(X, Y, graph, weight, model.beta_), 6)[0].sum()
    assert (best < 0) == (weight == 10.0)
    assert model.solver_ == "closed-randomized"
    assert model.objective_share_ >= (1.0 if best < 0 else 0.9999)
    assert model.objective_share_ * best - 1e-9 * abs(best) <= model.objective_
    assert model.objective_ <= best + 1e-9 * abs(best)


def test_a_share_is_of_the_eigenvalues_without_the_shift():
    """99 % of a sum of 10, 6 of which are the shift: 0.1 may be missing of 4."""
    rough = Roughness.of(ring(5), 1.5, None)
    empty = np.zeros((3, 2))
    codes = Codes(empty, empty, np.zeros(2), values=np.array([6.0, 4.0]), share=0.99)
    found = _without_shift(codes, rough)
    np.testing.assert_allclose(found.values, [3.0, 1.0])
    np.testing.assert_allclose(found.share, 4.0 / (4.0 + 10.0 / 0.99 - 10.0))


@pytest.mark.parametrize("solver", ["dual", "krylov", "kernel"])
def test_few_codes_of_many_rows_equal_the_literal_ones(solver, many):
    """Few pairs of a large matrix are found by products, whatever the regime."""
    X, Y, graph = many
    embedding = CMLL(None, 6, 0.2, row_graph="neighbors", row_graph_weight=0.01)
    if solver == "kernel":
        model = CompactClassifier(embedding, feature_map=KernelMap("linear"), threshold=0.5)
        found = model.fit(X, Y).embedding_
    else:
        found = embedding.set_params(solver=solver).fit(X, Y)
    values, V = leading(literal_matrix(X, Y, graph, 0.01, 0.2), 6)
    np.testing.assert_allclose(found.eigenvalues_, values, rtol=1e-8)
    np.testing.assert_allclose(found.decoder_.T @ found.decoder_, Y.T @ V @ V.T @ Y, atol=1e-6)


def test_both_graphs_together():
    X, Y = labelled(30, 5, 6, 0)
    rows, labels = some_graph(30), some_graph(6, 1)
    L = np.diag(labels.sum(axis=0)) - labels.toarray()
    S = np.linalg.inv(np.eye(6) + 0.7 * L)
    Xc = X - X.mean(axis=0)
    matrix = 0.3 * Xc @ Xc.T + Y @ S @ Y.T - 0.05 * np.sum(Y**2) * literal_laplacian(rows)
    values, V = leading(matrix, 3)
    for solver in ("dual", "krylov"):
        own = {"label_graph": labels, "graph_weight": 0.7, "row_graph": rows}
        model = CMLL(None, 3, 0.3, solver=solver, row_graph_weight=0.05, **own).fit(X, Y)
        np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-9)
        np.testing.assert_allclose(model.codes_ @ model.codes_.T, V @ V.T, atol=1e-8)
        np.testing.assert_allclose(model.decoder_, model.codes_.T @ Y @ S, atol=1e-8)


def test_no_other_codes_and_projection_are_better():
    X, Y = labelled(30, 8, 6, 0)
    graph, weight, m, d = some_graph(30), 0.1, 3, 4
    model = CMLL(d, m, 0.4, row_graph=graph, row_graph_weight=weight).fit(X, Y)
    assert model.n_feature_components_ == m  # more cannot raise the objective
    Xc, penalty = X - X.mean(axis=0), weight * np.sum(Y**2) * literal_laplacian(graph)

    def objective(V, P):
        dependence = np.sum((P.T @ Xc.T @ V) ** 2)
        return 0.4 * dependence + np.sum((Y.T @ V) ** 2) - np.trace(V.T @ penalty @ V)

    best = objective(model.codes_, model.projection_)
    np.testing.assert_allclose(best, model.objective_, rtol=1e-10)
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-1, 10.0):
        for _ in range(20):
            V = np.linalg.qr(model.codes_ + size * rng.normal(size=(30, m)))[0]
            P = np.linalg.qr(model.projection_ + size * rng.normal(size=(8, m)))[0]
            assert objective(V, P) < best
            assert objective(V, model.projection_) < best
    # The gradient in V has no part outside the span of V: a stationary point, too.
    V, P = model.codes_, model.projection_
    gradient = (0.4 * Xc @ P @ P.T @ Xc.T + Y @ Y.T - penalty) @ V
    np.testing.assert_allclose(gradient - V @ (V.T @ gradient), 0.0, atol=1e-8)


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("weight", [0.01, 5.0])
def test_a_narrow_projection_climbs(d, weight):
    X, Y = labelled(30, 8, 6, 1)
    graph = some_graph(30, 1)
    found = [
        CMLL(
            d, 4, 0.5, solver=solver, row_graph=graph, row_graph_weight=weight, random_state=0,
            max_iter=500, tol=1e-12,
        ).fit(X, Y)
        for solver in ("auto", "alternating")
    ]  # fmt: skip
    for model in found:
        assert (np.diff(model.objective_path_) >= -1e-9 * abs(model.objective_)).all()
        assert model.objective_path_.size > 2
        # The end is the best for its projection, by the eigenproblem of that step.
        XcP = (X - X.mean(axis=0)) @ model.projection_
        penalty = weight * np.sum(Y**2) * literal_laplacian(graph)
        values = leading(0.5 * XcP @ XcP.T + Y @ Y.T - penalty, 4)[0]
        np.testing.assert_allclose(model.objective_, values.sum(), rtol=1e-6)
    assert found[0].objective_ >= found[1].objective_ - 1e-7
    above = leading(literal_matrix(X, Y, graph, weight, 0.5), 4)[0].sum()
    assert found[0].objective_ < above


def test_an_objective_below_zero_settles():
    X, Y = labelled(30, 8, 6, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = CMLL(2, 4, 0.5, row_graph=some_graph(30, 1), row_graph_weight=50.0).fit(X, Y)
    assert model.objective_ < 0
    assert model.n_iter_ < 500


# ---- limits -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("solver", "how"),
    [
        ("moments", "zero weight"),
        *product([*REGIMES, "kernel"], ["zero weight", "no edges", "a diagonal"]),
    ],
)
def test_without_roughness_it_is_plain(solver, how):
    X, Y = labelled(60, 9, 7, 0)
    graph, weight = some_graph(60), 0.0
    if how != "zero weight":
        weight = 1.0
    if how == "no edges":
        graph = scipy.sparse.csr_array((60, 60))
    if how == "a diagonal":
        graph = scipy.sparse.diags_array(np.arange(1.0, 61.0)).tocsr()
    own = {"n_label_components": 4}
    if solver == "kernel":
        own["feature_map"] = KernelMap("linear")
    else:
        own["solver"] = solver
    plain = CMLLClassifier(**own).fit(X, Y)
    model = CMLLClassifier(row_graph=graph, row_graph_weight=weight, **own).fit(X, Y)
    np.testing.assert_allclose(dense_scores(model, X), dense_scores(plain, X), atol=1e-8)
    assert not hasattr(model.embedding_, "roughness_")


@pytest.mark.parametrize("solver", REGIMES)
def test_a_small_weight_is_nearly_none(solver):
    X, Y = labelled(60, 9, 7, 0)
    plain = CMLLClassifier(n_label_components=4, solver=solver).fit(X, Y)
    small = {"row_graph": "neighbors", "row_graph_weight": 1e-11}
    model = CMLLClassifier(n_label_components=4, solver=solver, **small).fit(X, Y)
    np.testing.assert_allclose(dense_scores(model, X), dense_scores(plain, X), atol=1e-7)


@pytest.mark.parametrize("solver", ["dual", "krylov"])
def test_a_heavy_connected_graph_has_one_direction_first(solver):
    X, Y = labelled(40, 6, 5, 0)
    graph = ring(40)
    model = CMLL(None, 2, solver=solver, row_graph=graph, row_graph_weight=1e7).fit(X, Y)
    constant = np.sqrt(graph.sum(axis=0))
    constant /= np.linalg.norm(constant)
    np.testing.assert_allclose(abs(constant @ model.codes_[:, 0]), 1.0, atol=1e-9)


def test_a_heavy_graph_in_parts_has_one_direction_for_each():
    """Two parts and a row by itself."""
    X, Y = labelled(21, 6, 5, 0)
    A = scipy.sparse.block_diag([ring(8), ring(12), np.zeros((1, 1))], format="csr")
    model = CMLL(None, 3, row_graph=A, row_graph_weight=1e6).fit(X, Y)
    parts = np.zeros((21, 3))
    for column, rows in enumerate((slice(0, 8), slice(8, 20), slice(20, 21))):
        parts[rows, column] = np.sqrt(np.maximum(A.sum(axis=0)[rows], 1e-300))
    parts /= np.linalg.norm(parts, axis=0)
    V = model.codes_
    np.testing.assert_allclose(V @ V.T, parts @ parts.T, atol=1e-6)
    assert model.roughness_ < 1e-6


# ---- routes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", REGIMES)
@pytest.mark.parametrize("shape", [(60, 9, 7), (24, 40, 12)])
def test_sparse_rows_and_every_regime_score_alike(solver, shape):
    X, Y = labelled(*shape, 0, density=0.4)
    own = {"n_label_components": 4, **NEAR}
    first = dense_scores(CMLLClassifier(solver="dual", **own).fit(X, Y), X)
    sparse = [scipy.sparse.csr_array(part) for part in (X, Y)]
    for data in ((X, Y), sparse):
        found = dense_scores(CMLLClassifier(solver=solver, **own).fit(*data), X)
        np.testing.assert_allclose(found, first, atol=1e-7 if solver != "randomized" else 1e-3)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("d", ["auto", 2])
def test_a_linear_kernel_is_the_linear_method(weighted, d):
    X, Y = labelled(30, 6, 5, 0)
    weights = np.random.default_rng(0).uniform(0.5, 3, 30) if weighted else None
    embedding = CMLL(d, n_label_components=3, **NEAR)
    linear = CompactClassifier(embedding).fit(X, Y, weights)
    kernel = CompactClassifier(embedding, feature_map=KernelMap("linear")).fit(X, Y, weights)
    assert "kernel" in kernel.embedding_.solver_
    np.testing.assert_allclose(dense_scores(kernel, X), dense_scores(linear, X), atol=1e-6)


@pytest.mark.parametrize("solver", ["dual", "krylov"])
def test_weights_are_repeated_rows_and_edges(solver):
    X, Y = labelled(30, 6, 5, 0)
    counts = np.random.default_rng(0).integers(1, 4, 30)
    copies = np.repeat(np.arange(30), counts)
    graph = some_graph(30)
    own = {"n_label_components": 3, "row_graph_weight": 0.02, "solver": solver, "threshold": 0.5}
    weighted = CMLLClassifier(row_graph=graph, **own).fit(X, Y, sample_weight=counts)
    repeated = CMLLClassifier(row_graph=graph[copies][:, copies], **own).fit(X[copies], Y[copies])
    np.testing.assert_allclose(dense_scores(weighted, X), dense_scores(repeated, X), atol=1e-8)
    tenfold = CMLLClassifier(row_graph=graph, alpha=10.0, **own)
    tenfold.fit(X, Y, sample_weight=10.0 * counts)
    np.testing.assert_allclose(dense_scores(tenfold, X), dense_scores(weighted, X), atol=1e-8)


def test_permuted_rows_permute_the_codes():
    X, Y = labelled(40, 6, 7, 0)
    order = np.random.default_rng(0).permutation(40)
    graph = some_graph(40)
    for one, other in (("neighbors", "neighbors"), (graph, graph[order][:, order])):
        a = CMLL(n_label_components=3, row_graph=one, row_graph_weight=0.05).fit(X, Y)
        b = CMLL(n_label_components=3, row_graph=other, row_graph_weight=0.05)
        b.fit(X[order], Y[order])
        np.testing.assert_allclose(b.codes_, a.codes_[order], atol=1e-8)


def test_there_are_smooth_codes_beyond_the_rank_of_both_blocks():
    X, Y = labelled(40, 1, 1, 0)
    Y = np.hstack([Y, Y, Y])
    with pytest.warns(UserWarning, match="only 2 independent ones"):
        plain = CMLL(None, 3).fit(X, Y)
    model = CMLL(None, 3, row_graph="neighbors", row_graph_weight=1e-6).fit(X, Y)
    assert (plain.n_label_components_, model.n_label_components_) == (2, 3)
    third = model.codes_[:, 2]
    np.testing.assert_allclose(third @ np.hstack([X - X.mean(axis=0), Y]), 0.0, atol=1e-4)


def test_units_of_features_do_not_matter():
    X, Y = labelled(40, 6, 7, 0)
    one = CMLL(n_label_components=3, **NEAR).fit(X, Y)
    other = CMLL(n_label_components=3, **NEAR).fit(1e3 * X + 5, Y)
    np.testing.assert_allclose(other.codes_, one.codes_, atol=1e-8)


def test_products_form_nothing_of_order_n():
    n = 4000
    rng = np.random.default_rng(0)
    X = scipy.sparse.random_array((n, 50), density=0.05, rng=rng, format="csr")
    Y = scipy.sparse.random_array((n, 20), density=0.1, rng=rng, format="csr")
    Y.data[:] = 1.0
    chain = scipy.sparse.diags_array([np.ones(n - 1)] * 2, offsets=[-1, 1], format="csr")
    for graph in (chain, "neighbors"):
        model = CMLL(n_label_components=3, solver="krylov", row_graph=graph)
        tracemalloc.start()
        model.fit(X, Y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < n * n * 8 / 2, graph


# ---- honest scores and searches -----------------------------------------------------------------


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("kernel", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_scores_for_a_threshold_know_no_edge_of_their_rows(own, kernel, weighted):
    """Those of a fold are by a model of the other rows and of the edges among them."""
    X, Y = labelled(50, 6, 5, 0)
    groups = np.arange(50) % 5
    weights = np.random.default_rng(0).uniform(0.5, 3, 50) if weighted else None
    graph = some_graph(50) if own else "neighbors"
    given = {"n_label_components": 3, "row_graph_weight": 0.1}
    if kernel:
        given["feature_map"] = KernelMap(gamma=0.1)
    model = CMLLClassifier(threshold="f1", row_graph=graph, **given)
    honest = model.fit_scored(X, Y, weights, groups=groups)
    scores = np.empty((50, 5))
    scores[honest.rows] = honest.columns(slice(None))
    for fold in np.unique(groups[honest.rows]):
        rest, held = np.flatnonzero(groups != fold), np.flatnonzero(groups == fold)
        inside = graph[rest][:, rest] if own else graph
        part = CMLLClassifier(threshold=0.5, row_graph=inside, **given)
        part.fit(X[rest], Y[rest], None if weights is None else weights[rest])
        np.testing.assert_allclose(scores[held], dense_scores(part, X[held]), atol=1e-8)


@pytest.mark.parametrize("decoder", ["learned", "logistic"])
def test_learnt_decoders_serve_a_graph(decoder):
    X, Y = labelled(60, 6, 8, 0)
    model = CMLLClassifier(n_label_components=4, decoder=decoder, **NEAR).fit(X, Y)
    noise = np.random.default_rng(0).random(Y.shape)
    assert average_precision(Y, model.decision_function(X)) > average_precision(Y, noise) + 0.1


def test_searches_make_graphs_of_the_training_part():
    """Weights of 0, which need no rows, and others in one search."""
    X, Y = labelled(60, 6, 8, 0)
    grid = {
        "n_label_components": [2, 4],
        "row_graph_weight": [0.0, 0.01, 1.0],
        "n_neighbors": [3, 6],
        "alpha": [0.1, 10.0],
    }
    cv = KFold(3, shuffle=True, random_state=0)
    template = CMLLClassifier(row_graph="neighbors", threshold=0.5)
    search = GridSearchMoments(template, grid, cv=cv, scoring="average_precision").fit(X, Y)
    assert len(search.cv_results_["params"]) == 24
    for params, score in zip(
        search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
    ):
        found = []
        for train, test in cv.split(X):
            model = clone(template).set_params(**params).fit(X[train], Y[train])
            found.append(average_precision(Y[test], model.decision_function(X[test])))
        np.testing.assert_allclose(score, np.mean(found), atol=1e-8, err_msg=str(params))
    best = clone(search.best_estimator_).fit(X, Y)
    np.testing.assert_allclose(dense_scores(search, X), dense_scores(best, X), atol=1e-8)


def test_scikit_learns_search_serves_neighbours_and_refuses_a_matrix():
    X, Y = labelled(60, 6, 8, 0)
    model = CMLLClassifier(n_label_components=3, threshold=0.5, **NEAR)
    search = GridSearchCV(model, {"row_graph_weight": [0.001, 0.1]}, cv=3).fit(X, Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    model.set_params(row_graph=some_graph(60))
    why = r"each of the 40 rows that are fitted, and has the shape \(60, 60\).*'neighbors'"
    with pytest.raises(ValueError, match=why):
        cross_val_score(model, X, Y, cv=3, error_score="raise")
    with pytest.raises(ValueError, match=why):
        GridSearchMoments(model, {"alpha": [1.0]}, cv=3).fit(X, Y)


# ---- what else goes with it ---------------------------------------------------------------------


@pytest.mark.parametrize("own", [False, True])
def test_a_fitted_model_needs_no_graph(own, tmp_path):
    X, Y = labelled(30, 6, 5, 0)
    given = {**NEAR, "row_graph": some_graph(30)} if own else NEAR
    model = CMLLClassifier(n_label_components=3, **given).fit(X, Y)
    model.save(tmp_path / "model.compact")
    loaded = load_model(tmp_path / "model.compact")
    np.testing.assert_array_equal(dense_scores(loaded, X), dense_scores(model, X))
    assert loaded.embedding_.roughness_ == model.embedding_.roughness_
    assert_same(model, to_onnx(model, dtype="float64"), X, 1e-10)
    for why in explain(model, X[:2], labels=range(5)):
        terms = sum(term.contribution for term in why.terms)
        np.testing.assert_allclose(why.base + terms + why.rest, why.score, atol=1e-10)


def test_it_goes_by_name():
    X, Y = labelled(30, 6, 5, 0)
    model = method("CMLL", n_label_components=3, **NEAR)
    assert model.fit(X, Y).embedding_.roughness_ > 0
    assert method("k-CMLL", n_label_components=3, **NEAR).fit(X, Y).embedding_.roughness_ > 0


@pytest.mark.parametrize("own", [False, True])
def test_rows_with_unknown_labels_take_part(own):
    """Those are completed first, and the graph is of all rows."""
    X, Y = labelled(60, 6, 5, 0)
    known = Y.astype(float).copy()
    known[40:, 1:] = np.nan
    graph = some_graph(60) if own else "neighbors"
    given = {"n_label_components": 3, "row_graph": graph, "row_graph_weight": 0.05}
    models = [CMLLClassifier(threshold=how, **given).fit(X, known) for how in (0.5, "f1")]
    plain = CMLLClassifier(threshold=0.5, n_label_components=3).fit(X, known)
    for model in models:
        assert model.embedding_.roughness_ > 0
        assert average_precision(Y[40:], model.decision_function(X[40:])) > 0.5
    assert np.abs(dense_scores(models[0], X) - dense_scores(plain, X)).max() > 1e-3


def test_a_path_of_penalties_serves_a_graph():
    X, Y = labelled(40, 6, 5, 0)
    model = CMLLClassifier(n_label_components=3, threshold=0.5, **NEAR)
    for alpha, found in zip([0.1, 10.0], fit_path(model, X, Y, alphas=[0.1, 10.0]), strict=True):
        own = clone(model).set_params(alpha=alpha).fit(X, Y)
        np.testing.assert_allclose(dense_scores(found, X), dense_scores(own, X), atol=1e-8)


def test_a_foreign_regressor_learns_smooth_codes():
    X, Y = labelled(40, 6, 5, 0)
    own = {"n_label_components": 3, "threshold": 0.5, **NEAR}
    foreign = CMLLClassifier(regressor=Ridge(alpha=1.0), **own).fit(X, Y)
    ridge = CMLLClassifier(alpha=1.0, **own).fit(X, Y)
    np.testing.assert_allclose(dense_scores(foreign, X), dense_scores(ridge, X), atol=1e-8)


# ---- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("graph", "why"),
    [
        (np.ones((4, 4)), r"each of the 30 rows that are fitted, and has the shape \(4, 4\)"),
        (np.triu(np.ones((30, 30)), 1), "row_graph must be symmetric.*transpose by up to 1"),
        (-np.ones((30, 30)), "row_graph must have finite weights of 0 or more"),
        (np.full((30, 30), np.nan), "row_graph must have finite weights of 0 or more"),
        (np.ones((30, 4)), "must be 'neighbors', a square sparse matrix of numbers or None"),
        ("neighbours", "must be 'neighbors', a square sparse matrix of numbers or None"),
    ],
)
def test_what_is_no_graph_is_refused(graph, why):
    X, Y = labelled(30, 6, 5, 0)
    model = CMLLClassifier(row_graph=graph)
    with pytest.raises((ValueError, TypeError), match=why):
        model.fit(X, Y)
    assert not hasattr(model, "embedding_")


def test_rows_that_do_not_count_have_no_place_in_a_graph():
    X, Y = labelled(30, 6, 5, 0)
    weights = np.ones(30)
    weights[:3] = 0.0
    with pytest.raises(ValueError, match=r"each of the 27 rows.*rows of weight 0 do not count"):
        CMLLClassifier(row_graph=some_graph(30)).fit(X, Y, weights)


def test_labels_that_are_kept_have_no_codes_to_smooth():
    X, Y = labelled(30, 6, 5, 0)
    with pytest.raises(ValueError, match="row_graph smooths label codes"):
        CMLL(n_label_components=None, row_graph="neighbors").fit(X, Y)


def test_what_has_no_rows_is_refused():
    X, Y = labelled(30, 6, 5, 0)
    near = CMLLClassifier(row_graph="neighbors", threshold=0.5)
    for model in (CMLL(solver="moments", **NEAR), CMLLClassifier(solver="moments", **NEAR)):
        with pytest.raises(ValueError, match="solver='moments' keeps sums of them alone"):
            model.fit(X, Y)
    grid = {"alpha": [1.0]}
    with pytest.raises(ValueError, match="solver='moments' keeps sums of them alone"):
        GridSearchMoments(clone(near).set_params(solver="moments"), grid, cv=3).fit(X, Y)
    for fit in (
        lambda: near.partial_fit(X, Y),
        lambda: near.fit_moments(Moments.from_arrays(X, scipy.sparse.csr_array(Y))),
        lambda: near.fit_blocks([(X, Y)]),
        lambda: clone(near).set_params(solver="randomized").fit_blocks([(X, Y)]),
    ):
        with pytest.raises(ValueError, match=r"needs all rows at once.*to be made.*row_graph=None"):
            fit()
    assert not fits_in_blocks(near)
    assert fits_in_blocks(clone(near).set_params(row_graph_weight=0.0))
    near.set_params(row_graph_weight=0.0).partial_fit(X, Y)


def test_dask_is_refused():
    array = pytest.importorskip("dask.array")
    X, Y = labelled(30, 6, 5, 0)
    blocks = [array.from_array(part, chunks=(10, -1)) for part in (X, Y.astype(float))]
    near = CMLLClassifier(row_graph="neighbors", threshold=0.5)
    for model in (near, GridSearchMoments(near, {"alpha": [1.0]}, cv=3)):
        with pytest.raises(ValueError, match="row_graph needs all rows at once"):
            model.fit(*blocks)


def test_arrays_on_a_device_are_refused(monkeypatch):
    X, Y = labelled(30, 6, 5, 0)
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    with sklearn.config_context(array_api_dispatch=True):
        for model in (CMLL(**NEAR), CMLLClassifier(**NEAR)):
            with pytest.raises(ValueError, match="row_graph works with NumPy arrays"):
                model.fit(torch.asarray(X), Y)
