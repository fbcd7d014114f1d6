"""A graph of rows: codes are smooth over it, and the closed form stays the optimum."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import cross_val_score

from compactlearn import CMLL, CompactClassifier, KernelMap
from compactlearn.related import RowGraphCMLL
from compactlearn.related._row_graph import normalised_laplacian
from tests.makers import labelled, modest


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


def scores_of(model, X):
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
    model = RowGraphCMLL(
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
    model = RowGraphCMLL(None, 6, solver="randomized", row_graph_weight=weight)
    model.fit(X, Y)
    best = leading(literal_matrix(X, Y, graph, weight, model.beta_), 6)[0].sum()
    assert (best < 0) == (weight == 10.0)
    assert model.solver_ == "closed-randomized"
    assert model.objective_share_ >= (1.0 if best < 0 else 0.9999)
    assert model.objective_share_ * best - 1e-9 * abs(best) <= model.objective_
    assert model.objective_ <= best + 1e-9 * abs(best)


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
        model = RowGraphCMLL(None, 3, 0.3, solver=solver, row_graph_weight=0.05, **own).fit(X, Y)
        np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-9)
        np.testing.assert_allclose(model.codes_ @ model.codes_.T, V @ V.T, atol=1e-8)
        np.testing.assert_allclose(model.decoder_, model.codes_.T @ Y @ S, atol=1e-8)


def test_no_other_codes_and_projection_are_better():
    X, Y = labelled(30, 8, 6, 0)
    graph, weight, m, d = some_graph(30), 0.1, 3, 4
    model = RowGraphCMLL(d, m, 0.4, row_graph=graph, row_graph_weight=weight).fit(X, Y)
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
        RowGraphCMLL(
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
        model = RowGraphCMLL(2, 4, 0.5, row_graph=some_graph(30, 1), row_graph_weight=50.0).fit(
            X, Y
        )
    assert model.objective_ < 0
    assert model.n_iter_ < 500


# ---- limits and routes --------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["dual", "krylov", "randomized", "kernel"])
def test_without_edges_it_is_plain(solver):
    X, Y = labelled(60, 9, 7, 0)
    own = {"n_label_components": 4}
    kernel = KernelMap("linear") if solver == "kernel" else None
    if kernel is None:
        own["solver"] = solver
    plain = CompactClassifier(CMLL(**own), feature_map=kernel).fit(X, Y)
    diagonal = scipy.sparse.diags_array(np.arange(1.0, 61.0)).tocsr()
    none = scipy.sparse.csr_array((60, 60))
    for graph, weight in (("neighbors", 0.0), (none, 1.0), (diagonal, 1.0)):
        embedding = RowGraphCMLL(row_graph=graph, row_graph_weight=weight, **own)
        model = CompactClassifier(embedding, feature_map=kernel).fit(X, Y)
        np.testing.assert_allclose(scores_of(model, X), scores_of(plain, X), atol=1e-8)
        assert not hasattr(model.embedding_, "roughness_")


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("d", ["auto", 2])
def test_a_linear_kernel_is_the_linear_method(weighted, d):
    X, Y = labelled(30, 6, 5, 0)
    weights = np.random.default_rng(0).uniform(0.5, 3, 30) if weighted else None
    embedding = RowGraphCMLL(d, 3, row_graph_weight=0.05)
    linear = CompactClassifier(embedding).fit(X, Y, weights)
    kernel = CompactClassifier(embedding, feature_map=KernelMap("linear")).fit(X, Y, weights)
    assert "kernel" in kernel.embedding_.solver_
    np.testing.assert_allclose(scores_of(kernel, X), scores_of(linear, X), atol=1e-6)


@pytest.mark.parametrize("solver", ["dual", "krylov"])
def test_weights_are_repeated_rows_and_edges(solver):
    X, Y = labelled(30, 6, 5, 0)
    counts = np.random.default_rng(0).integers(1, 4, 30)
    copies = np.repeat(np.arange(30), counts)
    graph = some_graph(30)

    def classifier(graph, alpha=1.0):
        own = {"solver": solver, "row_graph": graph, "row_graph_weight": 0.02}
        return CompactClassifier(RowGraphCMLL("auto", 3, **own), alpha=alpha, threshold=0.5)

    weighted = classifier(graph).fit(X, Y, sample_weight=counts)
    repeated = classifier(graph[copies][:, copies]).fit(X[copies], Y[copies])
    np.testing.assert_allclose(scores_of(weighted, X), scores_of(repeated, X), atol=1e-8)
    tenfold = classifier(graph, 10.0).fit(X, Y, sample_weight=10.0 * counts)
    np.testing.assert_allclose(scores_of(tenfold, X), scores_of(weighted, X), atol=1e-8)


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("kernel", [False, True])
def test_out_of_fold_scores_know_no_edge_of_their_rows(own, kernel):
    """Those of a fold are by a model of the other rows and of the edges among them."""
    X, Y = labelled(50, 6, 5, 0)
    groups = np.arange(50) % 5
    graph = some_graph(50) if own else "neighbors"

    def classifier(graph, threshold):
        embedding = RowGraphCMLL("auto", 3, row_graph=graph, row_graph_weight=0.1)
        features = KernelMap(gamma=0.1) if kernel else None
        return CompactClassifier(embedding, feature_map=features, threshold=threshold)

    honest = classifier(graph, "f1").fit_scored(X, Y, groups=groups)
    scores = np.empty((50, 5))
    scores[honest.rows] = honest.columns(slice(None))
    for fold in np.unique(groups[honest.rows]):
        rest, held = np.flatnonzero(groups != fold), np.flatnonzero(groups == fold)
        part = classifier(graph[rest][:, rest] if own else graph, 0.5).fit(X[rest], Y[rest])
        np.testing.assert_allclose(scores[held], scores_of(part, X[held]), atol=1e-8)


# ---- messages -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("own", "why"),
    [
        ({"row_graph": np.ones((4, 4))}, r"each of the 30 rows that are fitted, and has the shape"),
        ({"row_graph": np.triu(np.ones((30, 30)), 1)}, "row_graph must be symmetric"),
        ({"row_graph": -np.ones((30, 30))}, "row_graph must have finite weights of 0 or more"),
        ({"row_graph": "neighbours"}, "must be 'neighbors', a square sparse matrix"),
        ({"n_label_components": None}, "row_graph smooths label codes"),
        ({"solver": "moments"}, "solver='moments' keeps sums of them alone"),
    ],
)
def test_wrong_parameters_raise(own, why):
    X, Y = labelled(30, 6, 5, 0)
    with pytest.raises((ValueError, TypeError), match=why):
        RowGraphCMLL(**own).fit(X, Y)


def test_a_given_graph_is_of_the_rows_that_are_fitted():
    X, Y = labelled(60, 6, 8, 0)
    model = CompactClassifier(RowGraphCMLL("auto", 3, row_graph=some_graph(60)), threshold=0.5)
    why = r"each of the 40 rows that are fitted, and has the shape \(60, 60\).*'neighbors'"
    with pytest.raises(ValueError, match=why):
        cross_val_score(model, X, Y, cv=3, error_score="raise")
    weights = np.ones(60)
    weights[:3] = 0.0
    with pytest.raises(ValueError, match=r"each of the 57 rows.*rows of weight 0 do not count"):
        model.fit(X, Y, weights)
