"""The comparison methods against their literal versions, on awkward data and along every route.

Eigenvalues are always compared. Subspaces and scores are compared only where the eigengap makes
them unique; hypothesis then looks for another example, so that a test never passes by default.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from compactlearn import CMLL, CPLST, DMLR, MDDM, PLST, FaIE, KernelMap, Original
from tests.makers import modest, untuned

from . import literal_methods as literal
from .helpers import (
    assert_orthonormal,
    assert_scores,
    is_well_posed,
    joint_matrix,
    literal_cmll,
    new_rows,
    problem,
    spectrum,
)
from .routes import ROUTES, by_solver

pytestmark = pytest.mark.filterwarnings("ignore:.*cut:UserWarning")

SOLVERS = ["moments", "dual", "krylov"]
every_solver = pytest.mark.parametrize("solver", SOLVERS)
every_bias = pytest.mark.parametrize("bias", literal.BIASES)

# --- awkward data --------------------------------------------------------------------------------


def with_copied_rows(X, Y):
    X, Y = X.copy(), Y.copy()
    half = len(X) // 2
    X[half : 2 * half], Y[half : 2 * half] = X[:half], Y[:half]
    return X, Y


def with_label(column):
    def change(X, Y):
        return X, np.c_[Y, column(Y)]

    return change


def with_feature(column):
    def change(X, Y):
        return np.c_[X, column(X)], Y

    return change


DEFECTS = {
    "none": lambda X, Y: (X, Y),
    "copied rows": with_copied_rows,
    "copied label": with_label(lambda Y: Y[:, 0]),
    "complementary labels": with_label(lambda Y: 1 - Y[:, 0]),
    "empty label": with_label(lambda Y: np.zeros(len(Y))),
    "full label": with_label(lambda Y: np.ones(len(Y))),
    "constant feature": with_feature(lambda X: np.full(len(X), 3.7)),
    "copied feature": with_feature(lambda X: X[:, 0]),
    "summed feature": with_feature(lambda X: X.sum(axis=1)),
    "one class per row": lambda X, Y: (X, np.eye(Y.shape[1])[np.arange(len(Y)) % Y.shape[1]]),
}


@st.composite
def awkward(draw):
    """Any order of N, D and M; and at most one thing wrong with the data."""
    n = draw(st.integers(8, 26))
    n_features = draw(st.integers(1, 34))
    n_labels = draw(st.integers(2, 14) | st.integers(28, 34))
    X, Y = problem(n, n_features, n_labels, draw(st.integers(0, 10_000)))
    if draw(st.booleans()):
        X = np.where(np.abs(X) > np.median(np.abs(X)), X, 0.0)
    return DEFECTS[draw(st.sampled_from(sorted(DEFECTS)))](X, Y)


sizes = st.sampled_from([1, 2, 0.4, 1.0])
containers = st.sampled_from([np.asarray, sp.csr_array, sp.csc_matrix])
biases = st.sampled_from(literal.BIASES)
offsets = st.sampled_from(["mean", "none"])
ridges = st.sampled_from([0.0, 0.05, 2.0])
solvers = st.sampled_from(SOLVERS)


def count(size, total):
    """A size that is an int or a ratio, as a number."""
    return min(size, total) if isinstance(size, int) else max(1, int(size * total + 0.5))


def fits_by_size(size, Y):
    """An int above M is refused: take M."""
    return min(size, Y.shape[1]) if isinstance(size, int) else size


def assume_clear_projector(X, ridge, hat="intercept"):
    """Without a ridge the hat matrix depends on the rank of X, which must not be a near thing."""
    if ridge == 0:
        s = np.linalg.svd(X if hat == "raw" else X - X.mean(axis=0), compute_uv=False)
        share = s / s[0]
        assume(not np.any((share > 1e-12) & (share < 1e-3)))


def assert_eigenvalues(model, expected):
    """Largest first, none missing, none invented; their sum is the objective."""
    values = np.asarray(model.eigenvalues_)
    clear = expected.eigenvalues > literal.CLEAR * expected.spectrum[0]
    assert clear.sum() <= len(values)
    k = min(len(values), expected.kept)
    scale = max(expected.spectrum[0], 1e-300)
    np.testing.assert_allclose(values[:k], expected.eigenvalues[:k], rtol=0, atol=1e-9 * scale)
    assert np.all(np.diff(values) <= 1e-12 * scale)
    np.testing.assert_allclose(model.objective_, values.sum(), rtol=1e-10, atol=1e-12 * scale)


def assert_agrees(embedding, expected, X, Y, *, container=np.asarray, alpha=0.7, bias="free"):
    """The embedding alone, then scores of new rows; gives up where the answer is not unique."""
    alone = embedding.fit(container(X), container(Y))
    assert_eigenvalues(alone, expected)
    assume(literal.is_unique(expected.spectrum, expected.kept))
    assert len(alone.eigenvalues_) == expected.kept
    if expected.projection is None:
        assert alone.projection_ is None
        assert alone.n_label_components_ == expected.kept
        assert_same_decoding(alone, expected)
    else:
        P, Q = np.asarray(alone.projection_), expected.projection
        assert alone.n_feature_components_ == Q.shape[1]
        np.testing.assert_allclose(P @ P.T, Q @ Q.T, rtol=0, atol=1e-7 * np.abs(Q @ Q.T).max())
    model = untuned(embedding, alpha=alpha, bias=bias).fit(container(X), container(Y))
    X_new = new_rows(X)
    assert_scores(
        model.decision_function(X_new), literal.scores(expected, X, X_new, alpha, bias), 1e-7
    )
    return alone


def assert_same_decoding(model, expected):
    """Codes and decoder are free up to one rotation: compare what does not see it."""
    V, W = np.asarray(model.codes_), np.asarray(model.decoder_)
    scale = max(1.0, np.abs(expected.codes).max() ** 2)
    np.testing.assert_allclose(V @ V.T, expected.codes @ expected.codes.T, atol=1e-7 * scale)
    np.testing.assert_allclose(V @ W, expected.codes @ expected.decoder, atol=1e-7)
    np.testing.assert_allclose(W.T @ W, expected.decoder.T @ expected.decoder, atol=1e-7 * scale)
    np.testing.assert_allclose(model.offset_, expected.offset, atol=1e-8)
    np.testing.assert_allclose(model.decode(V), V @ W + expected.offset, atol=1e-8)


# --- each method on awkward data -----------------------------------------------------------------


@every_solver
@modest
@given(data=awkward(), size=sizes, container=containers, bias=biases, offset=offsets)
def test_plst(solver, data, size, container, bias, offset):
    X, Y = data
    embedding = PLST(fits_by_size(size, Y), solver=solver, offset=offset)
    expected = literal.plst(Y, count(size, Y.shape[1]), offset=offset)
    assert_agrees(embedding, expected, X, Y, container=container, bias=bias)
    assert_orthonormal(embedding.decoder_.T)


@pytest.mark.parametrize(("offset", "hat"), [("mean", "intercept"), ("none", "raw")])
@modest
@given(
    data=awkward(),
    size=sizes,
    container=containers,
    bias=biases,
    ridge=ridges,
    solver=solvers,
)
def test_cplst(offset, hat, data, size, container, bias, ridge, solver):
    X, Y = data
    assume_clear_projector(X, ridge, hat)
    embedding = CPLST(fits_by_size(size, Y), ridge=ridge, offset=offset, solver=solver)
    Hat = literal.hat_matrix(X, ridge, hat)
    expected = literal.cplst(Y, Hat, count(size, Y.shape[1]), offset=offset)
    assert_agrees(embedding, expected, X, Y, container=container, bias=bias)
    assert embedding.ridge_ == ridge
    assert_orthonormal(embedding.decoder_.T)


@every_solver
@modest
@given(
    data=awkward(),
    size=sizes,
    container=containers,
    bias=biases,
    ridge=ridges,
    beta=st.sampled_from([0.0, 0.3, 8.0, "auto"]),
    offset=offsets,
)
def test_faie(solver, data, size, container, bias, ridge, beta, offset):
    X, Y = data
    assume_clear_projector(X, ridge)
    Hat = literal.hat_matrix(X, ridge)
    expected = literal.faie(Y, Hat, count(size, Y.shape[1]), beta, offset=offset)
    embedding = FaIE(fits_by_size(size, Y), beta=beta, ridge=ridge, offset=offset, solver=solver)
    assert_agrees(embedding, expected, X, Y, container=container, bias=bias)
    assert_orthonormal(embedding.codes_, 1e-8)
    assert_parts(embedding, expected)


@every_solver
@modest
@given(
    data=awkward(),
    size=sizes,
    container=containers,
    bias=biases,
    beta=st.sampled_from([0.0, 0.02, 1.0, "auto"]),
    offset=offsets,
)
def test_dmlr(solver, data, size, container, bias, beta, offset):
    X, Y = data
    options = {"beta": beta, "offset": offset}
    expected = literal.dmlr(Y, X @ X.T, count(size, Y.shape[1]), **options)
    embedding = DMLR(fits_by_size(size, Y), solver=solver, **options)
    assert_agrees(embedding, expected, X, Y, container=container, bias=bias)
    assert_orthonormal(embedding.decoder_.T)
    assert_parts(embedding, expected)


def assert_parts(model, expected):
    np.testing.assert_allclose(model.beta_, expected.beta, rtol=1e-9)
    scale = 1e-8 * max(1.0, expected.dependence, expected.recovery)
    np.testing.assert_allclose(model.dependence_, expected.dependence, atol=scale)
    np.testing.assert_allclose(model.recovery_, expected.recovery, atol=scale)


@every_solver
@modest
@given(data=awkward(), size=sizes, container=containers, bias=biases)
def test_mddm_projection(solver, data, size, container, bias):
    X, Y = data
    d = count(size, X.shape[1])
    embedding = MDDM(d, solver=solver)
    assert_agrees(embedding, literal.mddm(X, Y, d), X, Y, container=container, bias=bias)
    assert_orthonormal(embedding.projection_)


@every_solver
def test_ties_keep_values_and_constraints(solver):
    """Four labels that look alike: any rotation of the codes will do, none may be worse."""
    X = Y = np.kron(np.eye(4), np.ones((3, 1)))
    Hat = literal.hat_matrix(X, 0.5)
    for m in (1, 2, 3):
        pairs = [
            (PLST(m, solver=solver), literal.plst(Y, m)),
            (CPLST(m, ridge=0.5, solver=solver), literal.cplst(Y, Hat, m)),
            (FaIE(m, beta=0.2, ridge=0.5, solver=solver), literal.faie(Y, Hat, m, 0.2)),
            (DMLR(m, beta=0.2, solver=solver), literal.dmlr(Y, X @ X.T, m, 0.2)),
            (MDDM(m, solver=solver), literal.mddm(X, Y, m)),
        ]
        for model, expected in pairs:
            assert_eigenvalues(model.fit(X, Y), expected)
            if isinstance(model, MDDM):
                assert_orthonormal(model.projection_)
            elif isinstance(model, FaIE):
                assert_orthonormal(model.codes_)
            else:
                assert_orthonormal(model.decoder_.T)


# --- every route, with every option --------------------------------------------------------------


def fitted_cmll(X, Y, beta, m, d, **options):
    """CMLL's literal version as that of the other methods."""
    found = literal_cmll(X, Y, beta, m, d, **options)
    values = spectrum(joint_matrix(X, Y, beta))[0]
    unique = is_well_posed(X, Y, beta, m, None if d is None else min(m, d))
    kept = m if unique else 0
    return literal.Fitted(found.codes, found.decoder, found.offset, values, kept, found.projection)


@dataclass(frozen=True)
class Case:
    """A method with its options, and its literal version as a function of (X, Y, alpha)."""

    embedding: Any
    expected: Callable[..., literal.Fitted]


CASES = {
    "ORI": Case(Original(), lambda X, Y, alpha: literal.original(Y)),
    "PLST": Case(PLST(3), lambda X, Y, alpha: literal.plst(Y, 3)),
    "CPLST": Case(CPLST(3), lambda X, Y, alpha: literal.cplst(Y, literal.hat_matrix(X, alpha), 3)),
    "CPLST none": Case(
        CPLST(3, offset="none"),
        lambda X, Y, alpha: literal.cplst(Y, literal.hat_matrix(X, alpha, "raw"), 3, offset="none"),
    ),
    "FaIE": Case(FaIE(3), lambda X, Y, alpha: literal.faie(Y, literal.hat_matrix(X, alpha), 3)),
    "FaIE none": Case(
        FaIE(3, beta=0.8, ridge=0.2, offset="none"),
        lambda X, Y, alpha: literal.faie(Y, literal.hat_matrix(X, 0.2), 3, 0.8, offset="none"),
    ),
    "DMLR": Case(DMLR(3), lambda X, Y, alpha: literal.dmlr(Y, X @ X.T, 3)),
    "DMLR none": Case(
        DMLR(3, offset="none"), lambda X, Y, alpha: literal.dmlr(Y, X @ X.T, 3, offset="none")
    ),
    **{
        f"CMLL {name}": Case(
            CMLL(d, m, beta=0.15, **options),
            lambda X, Y, alpha, m=m, d=d, options=options: fitted_cmll(X, Y, 0.15, m, d, **options),
        )
        for name, (m, d, options) in {
            "": (3, 3, {}),
            "one code": (1, 1, {}),
            "features kept": (3, None, {}),
            "none": (3, 3, {"offset": "none", "label_ridge": 0.5}),
        }.items()
    },
    "MDDMp": Case(MDDM(3), lambda X, Y, alpha: literal.mddm(X, Y, 3)),
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


every_route = pytest.mark.parametrize("fit", ROUTES.values(), ids=ROUTES.keys())
SHAPES = {"tall": (40, 8, 6), "wide": (16, 24, 6), "many labels": (12, 9, 18)}
every_shape = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())


@every_route
@every_case
@every_shape
def test_every_route_gives_the_literal_scores(fit, case, shape):
    X, Y = problem(*shape, seed=3, density=0.7)
    X_new = new_rows(X)
    expected = case.expected(X, Y, 0.7)
    assert expected.kept == 0 or literal.is_unique(expected.spectrum, expected.kept)
    model = fit(untuned(case.embedding, alpha=0.7), X, Y, None)
    assert_scores(model.decision_function(X_new), literal.scores(expected, X, X_new, 0.7))


@every_case
@pytest.mark.parametrize("defect", DEFECTS.values(), ids=DEFECTS.keys())
@pytest.mark.parametrize(
    ("shape", "solver"),
    [
        ((24, 8, 5), "moments"),
        ((24, 8, 5), "krylov"),
        ((12, 18, 5), "dual"),
        ((12, 18, 5), "krylov"),
    ],
    ids=["tall-moments", "tall-krylov", "wide-dual", "wide-krylov"],
)
def test_every_defect_of_the_data(case, defect, shape, solver):
    """Hypothesis may leave some of them out; ties are compared by their values alone."""
    X, Y = defect(*problem(*shape, seed=5))
    X_new = new_rows(X)
    expected = case.expected(X, Y, 0.7)
    model = by_solver(solver)(untuned(case.embedding, alpha=0.7), X, Y, None)
    scores = model.decision_function(X_new)
    assert np.isfinite(scores).all()
    if expected.kept:
        np.testing.assert_allclose(
            model.embedding_.eigenvalues_[: expected.kept],
            expected.eigenvalues,
            atol=1e-9 * expected.spectrum[0],
        )
    if not expected.kept or literal.is_unique(expected.spectrum, expected.kept):
        assert_scores(scores, literal.scores(expected, X, X_new, 0.7), 1e-7)


@every_route
@every_case
def test_weights_are_repeated_rows(fit, case):
    X, Y = problem(30, 8, 6, seed=5, density=0.7)
    X_new = new_rows(X)
    weights = np.random.default_rng(2).integers(0, 4, size=30)
    assert set(weights) == {0, 1, 2, 3}
    expected = case.expected(*literal.repeated(X, Y, weights), 0.7)
    assert expected.kept == 0 or literal.is_unique(expected.spectrum, expected.kept)
    model = fit(untuned(case.embedding, alpha=0.7), X, Y, weights.astype(float))
    scores = literal.scores(expected, np.repeat(X, weights, axis=0), X_new, 0.7)
    assert_scores(model.decision_function(X_new), scores)
    if expected.kept:
        np.testing.assert_allclose(
            model.embedding_.eigenvalues_[: expected.kept], expected.eigenvalues, rtol=1e-8
        )


@every_bias
@every_case
@pytest.mark.parametrize("route", ["moments", "dual", "krylov", "csr_array", "partial_fit"])
def test_every_bias_of_every_method(bias, case, route):
    X, Y = problem(30, 8, 6, seed=5, density=0.7)
    X_new = new_rows(X)
    model = untuned(case.embedding, alpha=0.7, bias=bias)
    scores = ROUTES[route](model, X, Y, None).decision_function(X_new)
    expected = literal.scores(case.expected(X, Y, 0.7), X, X_new, 0.7, bias)
    assert_scores(scores, expected)
    np.testing.assert_allclose(X_new @ model.coef_ + model.intercept_, expected, atol=1e-8)


# --- kernels -------------------------------------------------------------------------------------

GAMMA = 0.05
KERNEL_CASES = {
    "k-ORI": (Original(), lambda Q, Y, alpha: literal.original(Y)),
    "k-PLST": (PLST(3), lambda Q, Y, alpha: literal.plst(Y, 3)),
    "k-CPLST": (
        CPLST(3),
        lambda Q, Y, alpha: literal.cplst(Y, literal.kernel_hat_matrix(Q, alpha), 3),
    ),
    "k-CPLST none": (
        CPLST(3, offset="none"),
        lambda Q, Y, alpha: literal.cplst(
            Y, literal.kernel_hat_matrix(Q, alpha, "raw"), 3, offset="none"
        ),
    ),
    "k-FaIE": (
        FaIE(3),
        lambda Q, Y, alpha: literal.faie(Y, literal.kernel_hat_matrix(Q, alpha), 3),
    ),
    "k-DMLR": (DMLR(3), lambda Q, Y, alpha: literal.dmlr(Y, Q, 3)),
    "k-MDDMp": (MDDM(3), lambda Q, Y, alpha: literal.kernel_mddm(Q, Y, 3)),
}


@every_bias
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize(("embedding", "expected"), KERNEL_CASES.values(), ids=KERNEL_CASES.keys())
@pytest.mark.parametrize("shape", [(24, 6, 5), (14, 20, 5)], ids=["tall", "wide"])
def test_kernel_versions(embedding, expected, kernel, bias, shape):
    X, Y = problem(*shape, seed=11)
    X_new = new_rows(X)
    values = literal.linear if kernel == "linear" else lambda A, B: literal.rbf(A, B, GAMMA)
    Q, q = values(X, X), values(X_new, X)
    method = expected(Q, Y, 0.3)
    assert method.kept == 0 or literal.is_unique(method.spectrum, method.kept)
    feature_map = KernelMap(kernel=kernel, gamma=GAMMA, algorithm="exact")
    model = untuned(embedding, feature_map=feature_map, alpha=0.3, bias=bias).fit(X, Y)
    assert_scores(
        model.decision_function(X_new), literal.kernel_scores(method, Q, q, 0.3, bias), 1e-7
    )
    if method.projection is not None:
        R = model.embedding_.projection_
        assert R.shape == method.projection.shape
        U, U_new = Q @ R, q @ R
        np.testing.assert_allclose(model.transform(X), U, atol=1e-8)
        np.testing.assert_allclose(model.transform(X_new), U_new, atol=1e-8)
        V = Q @ method.projection
        np.testing.assert_allclose(U @ U.T, V @ V.T, atol=1e-7 * max(1, np.abs(V @ V.T).max()))


@pytest.mark.parametrize("bias", ["free", "none"])
@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
@pytest.mark.parametrize("d", [3, None])
def test_kernel_cmll(d, solver, bias):
    X, Y = problem(24, 6, 5, seed=12)
    X_new = new_rows(X)
    Q, q = literal.rbf(X, X, GAMMA), literal.rbf(X_new, X, GAMMA)
    w, E = literal.decomposed(Q)
    F, F_new = E * np.sqrt(w), q @ E / np.sqrt(w)
    method = literal_cmll(F, Y, 0.4, 3, d)
    P = np.eye(24) if d is None else method.projection
    codes = literal.ridge_predict(F @ P, method.codes, 0.3, F_new @ P, bias)
    model = untuned(
        CMLL(d, 3, beta=0.4, solver=solver),
        feature_map=KernelMap(kernel="rbf", gamma=GAMMA, algorithm="exact"),
        alpha=0.3,
        bias=bias,
    ).fit(X, Y)
    scores = codes @ method.decoder + method.offset
    assert_scores(model.decision_function(X_new), scores, 1e-7)
    if d is not None:
        R = model.embedding_.projection_
        assert R.shape == (24, 3)
        np.testing.assert_allclose(R.T @ Q @ R, np.eye(3), atol=1e-8)
        np.testing.assert_allclose(model.transform(X_new), q @ R, atol=1e-8)
