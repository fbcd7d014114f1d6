"""One method, many routes: moments, dual, Krylov, sparse, blocks all give the literal answer."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from compactlearn import CMLL, CMLLClassifier, CompactClassifier, Moments, Original
from tests.makers import modest, ridge_scores

from .helpers import (
    assert_orthonormal,
    assert_same_span,
    assert_scores,
    is_well_posed,
    literal_cmll,
    literal_scores,
    new_rows,
    problem,
)

# --- the table: a name, and how a classifier is fitted along that route ---------------------------


def whole(container, solver):
    def fit(model, X, Y):
        if solver is not None:
            model.set_params(solver=solver)
        return model.fit(container(X), container(Y))

    return fit


def by_partial_fit(model, X, Y):
    for rows in np.array_split(np.arange(len(X)), 4):
        model.partial_fit(X[rows], Y[rows])
    return model


def by_partial_fit_sparse(model, X, Y):
    for rows in np.array_split(np.arange(len(X)), 3):
        model.partial_fit(sp.csr_array(X[rows]), sp.csr_array(Y[rows]))
    return model


def by_blocks(model, X, Y):
    splits = np.array_split(np.arange(len(X)), 3)
    return model.fit_moments(Moments.from_blocks((X[rows], Y[rows]) for rows in splits))


def by_sparse_blocks(model, X, Y):
    splits = np.array_split(np.arange(len(X)), 3)
    return model.fit_moments(
        Moments.from_blocks([(sp.csr_matrix(X[rows]), sp.csr_matrix(Y[rows])) for rows in splits])
    )


def by_sum(model, X, Y):
    head = Moments.from_blocks([(X[:5], Y[:5])])
    tail = Moments.from_blocks([(X[5:], Y[5:])])
    return model.fit_moments(head + tail)


ROUTES = {
    "auto": whole(np.asarray, None),
    "moments": whole(np.asarray, "moments"),
    "dual": whole(np.asarray, "dual"),
    "krylov": whole(np.asarray, "krylov"),
    "column-major": whole(np.asfortranarray, None),
    "csr_array": whole(sp.csr_array, None),
    "csr_matrix": whole(sp.csr_matrix, None),
    "csc_array": whole(sp.csc_array, None),
    "csc_matrix": whole(sp.csc_matrix, None),
    "sparse moments": whole(sp.csr_array, "moments"),
    "sparse dual": whole(sp.csr_array, "dual"),
    "sparse krylov": whole(sp.csr_array, "krylov"),
    "csc krylov": whole(sp.csc_matrix, "krylov"),
    "partial_fit": by_partial_fit,
    "sparse partial_fit": by_partial_fit_sparse,
    "blocks": by_blocks,
    "sparse blocks": by_sparse_blocks,
    "sum": by_sum,
}
#: These ask for a solver by name, which Original does not have.
FORCED = [name for name in ROUTES if name.split()[-1] in ("moments", "dual", "krylov")]
route = pytest.mark.parametrize("fit", ROUTES.values(), ids=ROUTES.keys())

# n, D, M, m, d, completion, density of X
CASES = {
    "tall": (60, 8, 6, 3, 3, "none", None),
    "tall, all labels": (60, 8, 6, 6, 6, "none", None),
    "sparse": (50, 20, 7, 4, 4, "none", 0.2),
    "wide": (18, 30, 6, 4, 4, "none", None),
    "wide and sparse": (18, 40, 6, 4, 4, "none", 0.3),
    "more labels than features": (40, 4, 10, 7, 4, "none", None),
    "more labels than rows": (12, 9, 20, 6, 6, "none", None),
    "one code": (40, 6, 5, 1, 1, "none", None),
    "features kept": (40, 8, 6, 3, None, "none", None),
    "features kept, wide": (18, 30, 6, 4, None, "none", None),
    "variance": (60, 9, 6, 3, 6, "variance", None),
    "variance, wide": (18, 30, 6, 3, 7, "variance", None),
}
BETA = 0.15


@route
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_every_route_gives_the_literal_scores(fit, case):
    n, n_features, n_labels, m, d, completion, density = case
    X, Y = problem(n, n_features, n_labels, seed=50, density=density)
    X_new = new_rows(X)
    assert is_well_posed(X, Y, BETA, m, d), "choose another seed"
    model = CMLLClassifier(
        n_feature_components=d, n_label_components=m, beta=BETA, completion=completion, alpha=0.7
    )
    scores = fit(model, X, Y).decision_function(X_new)
    expected = literal_scores(X, Y, X_new, BETA, m, d, alpha=0.7, completion=completion)
    assert_scores(scores, expected)


@pytest.mark.parametrize("name", [name for name in ROUTES if name not in FORCED])
def test_every_route_of_the_original_spaces(name):
    X, Y = problem(40, 12, 5, seed=51, density=0.4)
    X_new = new_rows(X)
    model = ROUTES[name](CompactClassifier(Original(), alpha=0.7), X, Y)
    assert_scores(model.decision_function(X_new), ridge_scores(X, Y, 0.7, X_new))


@route
@pytest.mark.parametrize("shape", [(50, 9, 7), (16, 24, 7)])
def test_every_route_agrees_where_the_projection_binds(fit, shape):
    """d < m: no closed form, but one deterministic start and one fixed point."""
    X, Y = problem(*shape, seed=52)
    X_new = new_rows(X)
    options = {
        "n_feature_components": 2,
        "n_label_components": 5,
        "beta": BETA,
        "tol": 1e-13,
        "max_iter": 20_000,
    }
    expected = CMLLClassifier(**options).fit(X, Y)
    model = fit(CMLLClassifier(**options), X, Y)
    np.testing.assert_allclose(
        model.embedding_.objective_, expected.embedding_.objective_, rtol=1e-10
    )
    # The objective is flat at its top: thirteen digits of it are six or seven of the subspaces.
    assert_scores(model.decision_function(X_new), expected.decision_function(X_new), 1e-6)


@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.csc_matrix])
def test_sparse_rows_are_scored_like_dense_ones(container):
    X, Y = problem(50, 20, 7, seed=53, density=0.2)
    model = CMLLClassifier(n_label_components=4).fit(X, Y)
    scores = model.decision_function(X)
    assert_scores(model.decision_function(container(X)), scores, 1e-12)
    np.testing.assert_array_equal(model.predict(container(X)), model.predict(X))
    assert_scores(model.predict_codes(container(X)), model.predict_codes(X), 1e-12)
    assert_scores(np.asarray(model.transform(container(X))), model.transform(X), 1e-12)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, sp.csr_matrix, sp.csc_array])
@pytest.mark.parametrize("solver", ["moments", "dual", "krylov"])
@pytest.mark.parametrize("shape", [(45, 8, 6), (16, 25, 6)])
def test_embedding_spans_along_every_route(container, solver, shape):
    X, Y = problem(*shape, seed=54, density=0.5)
    assert is_well_posed(X, Y, BETA, 4, 4), "choose another seed"
    model = CMLL(n_label_components=4, beta=BETA, solver=solver)
    model.fit(container(X), container(Y))
    literal = literal_cmll(X, Y, BETA, 4, 4)
    assert_same_span(model.codes_, literal.codes, 1e-8)
    assert_same_span(model.projection_, literal.projection, 1e-8)
    assert_orthonormal(model.codes_)
    assert solver in model.solver_


def test_routes_agree_in_every_fitted_number():
    X, Y = problem(30, 14, 6, seed=55, density=0.5)
    fitted = [
        CMLL(n_label_components=4, solver=solver).fit(X, Y)
        for solver in ("moments", "dual", "krylov")
    ]
    for other in fitted[1:]:
        for name in ("beta_", "objective_", "dependence_", "recovery_", "decoder_", "offset_"):
            np.testing.assert_allclose(
                getattr(other, name), getattr(fitted[0], name), rtol=1e-8, atol=1e-9, err_msg=name
            )
        assert other.n_label_components_ == fitted[0].n_label_components_ == 4
        assert other.n_feature_components_ == fitted[0].n_feature_components_


@modest
@given(
    n=st.integers(45, 90),
    rank=st.integers(1, 12),
    m=st.integers(1, 6),
    scale=st.sampled_from([1e-3, 1.0, 1e3]),
    solver=st.sampled_from(["moments", "dual", "krylov"]),
    completion=st.sampled_from(["none", "variance"]),
    seed=st.integers(0, 10_000),
)
def test_features_of_low_rank(n, rank, m, scale, solver, completion, seed):
    """Forty columns, few of them independent: a search for subspaces runs out of directions."""
    rng = np.random.default_rng(seed)
    low, Y = problem(n, rank, 12, seed=seed)
    X = scale * low @ np.linalg.qr(rng.normal(size=(40, rank)))[0].T
    d = min(m, rank) if completion == "none" else min(m + 2, rank)
    beta = 0.1 * np.sum(Y**2) / np.sum((X - X.mean(axis=0)) ** 2)
    assume(is_well_posed(X, Y, beta, m, d))
    X_new = new_rows(X)
    model = CMLLClassifier(
        n_feature_components=d,
        n_label_components=m,
        beta=beta,
        solver=solver,
        completion=completion,
        alpha=scale**2,
    ).fit(X, Y)
    expected = literal_scores(X, Y, X_new, beta, m, d, alpha=scale**2, completion=completion)
    assert_scores(model.decision_function(X_new), expected)


@pytest.mark.parametrize("d", ["auto", None])
@pytest.mark.parametrize("solver", ["moments", "dual", "krylov"])
@pytest.mark.parametrize("shape", [(700, 300, 60), (300, 700, 60)], ids=["tall", "wide"])
def test_bags_of_words(shape, solver, d):
    """Large enough that no route falls back on a small dense problem."""
    rng = np.random.default_rng(0)
    n, n_features, n_labels = shape
    topics = rng.random((n, 12)) < 0.15
    words = rng.random((12, n_features)) < 0.08
    labels = rng.random((12, n_labels)) < 0.1
    X = ((topics @ words > 0) & (rng.random((n, n_features)) < 0.5)).astype(float)
    Y = ((topics @ labels > 0) & (rng.random((n, n_labels)) < 0.7)).astype(float)
    m = 14
    beta = 0.1 * np.sum(Y**2) / np.sum((X - X.mean(axis=0)) ** 2)
    assert is_well_posed(X, Y, beta, m, None if d is None else m), "choose another seed"
    model = CMLLClassifier(
        n_feature_components=d, n_label_components=m, beta=beta, solver=solver
    ).fit(sp.csr_array(X), sp.csr_array(Y))
    rows = X[:40]
    expected = literal_scores(X, Y, rows, beta, m, None if d is None else m)
    assert_scores(model.decision_function(rows), expected)


def test_shape_chooses_the_route():
    tall = CMLL().fit(*problem(200, 5, 4, seed=56))
    wide = CMLL().fit(*problem(20, 200, 4, seed=56))
    assert "moments" in tall.solver_
    assert "moments" not in wide.solver_


def test_codes_do_not_depend_on_the_seed_where_they_are_unique():
    X, Y = problem(40, 12, 6, seed=57)
    for solver in ("auto", "krylov"):
        one, two = (
            CMLLClassifier(n_label_components=3, solver=solver, random_state=seed).fit(X, Y)
            for seed in (0, 1)
        )
        assert_scores(one.decision_function(X), two.decision_function(X))
