"""The oracle table for the comparison methods and the kernel rows, to the six digits printed.

Each number is first computed by the literal versions (which guards the table and those), then asked
of the library in every regime. Zeros of the table are eigenvalues that the library cuts away.

Parameters of the table: lam = 0.1 for every ridge, 0.5 on FaIE's hat matrix and on DMLR's Y'Y (the
library weighs the other term: beta = 2, everything doubled), t = 0.5, RBF exp(-0.5 ||.||^2).
"""

import numpy as np
import pytest

from compactlearn import CMLL, CPLST, DMLR, MDDM, PLST, FaIE, KernelMap, Original
from compactlearn.compact import PaperClassifier
from tests.makers import untuned

from . import literal_methods as literal
from .helpers import alternate, joint_matrix, objective, spectrum, tiny, top

pytestmark = pytest.mark.filterwarnings("ignore:.*cut:UserWarning")

HALF_UNIT = 6e-7  # the table has six decimals
RIDGE, GAMMA = 0.1, 0.5
SOLVERS = ["auto", "moments", "dual", "krylov"]
every_solver = pytest.mark.parametrize("solver", SOLVERS)

PLST_SINGULAR = [1.811291, 1.154701, 1.104185, 0]
CPLST_ROW = [2.948850, 1.023152, 0.059341, 0]
FAIE_RAW = [6.427763, 3.528259, 1.369723, 0.681589]  # of a hat matrix without an intercept
DMLR_HALVED = [25.476292, 4.875511, 1.513335, 0.718195]
MDDM_P = [23.807049, 2.924379, 0.351906]
MDDM_F = [5.183282, 1.563564, 0.103059]
ORI = {
    "none": [0.398253, 0.317110, 0.423054, 0.318793],
    "penalised": [0.512970, 0.442247, 0.369338, 0.128374],
    "free": [0.534389, 0.465611, 0.359309, 0.092822],
}

KERNEL_CMLL = [  # m, d, objective, dependence, recovery
    (2, 1, 9.558988, 1.063285, 9.027346),
    (2, 2, 9.605710, 1.163775, 9.023822),
    (2, 4, 9.605710, 1.163775, 9.023822),
]
KERNEL_CPLST = [2.980998, 1.194039, 1.080606, 0]
KERNEL_FAIE = [6.405905, 3.540389, 1.748946, 1.116007]
KERNEL_DMLR_HALVED = [5.219801, 3.282673, 1.891557, 0.686419]
KERNEL_MDDM = [3.419815, 1.241841, 0.918794, 0]
KERNEL_ORI = {
    "none": [0.517356, 0.548717, 0.309589, 0.008700],
    "free": [0.486363, 0.513637, 0.275177, -0.014783],
    "target": [0.484320, 0.515680, 0.276552, -0.013324],
}


def assert_printed(actual, printed, unit=HALF_UNIT):
    """The digits of the table; where it says 0 there is nothing, or nothing but rounding."""
    printed = np.asarray(printed, dtype=float)
    actual = np.asarray(actual, dtype=float)[: len(printed)]
    padded = np.append(actual, np.zeros(len(printed) - len(actual)))
    np.testing.assert_allclose(padded, printed, rtol=0, atol=unit)


def assert_kept(model, printed, factor=1.0):
    """The library's eigenvalues: those of the table, less its zeros; their sum; the regime."""
    positive = [value for value in printed if value > 0]
    assert len(model.eigenvalues_) == len(positive)
    assert_printed(np.asarray(model.eigenvalues_) / factor, positive)
    np.testing.assert_allclose(model.objective_, np.sum(model.eigenvalues_), rtol=1e-10)


def kernel_classifier(embedding, **options):
    X, Y = tiny()
    kernel = KernelMap(kernel="rbf", gamma=GAMMA, algorithm="exact")
    return untuned(embedding, feature_map=kernel, alpha=RIDGE, **options).fit(X, Y)


def kernel_matrix():
    X, _ = tiny()
    return literal.rbf(X, X, GAMMA)


def kernel_factor():
    """F with FF' = Q."""
    values, vectors = spectrum(kernel_matrix())
    return vectors * np.sqrt(values)


# --- the literal versions reproduce the table ----------------------------------------------------


def test_literal_label_side_rows():
    X, Y = tiny()
    assert_printed(np.sqrt(np.maximum(literal.plst(Y, 4).spectrum, 0)), PLST_SINGULAR)
    assert_printed(literal.cplst(Y, literal.hat_matrix(X, RIDGE), 4).spectrum, CPLST_ROW)
    Hat = literal.hat_matrix(X, RIDGE, "raw")
    assert_printed(literal.faie(Y, Hat, 4, 0.5).eigenvalues, FAIE_RAW)
    assert_printed(literal.dmlr(Y, X @ X.T, 4, 2.0).eigenvalues / 2, DMLR_HALVED)


def test_literal_feature_side_rows():
    X, Y = tiny()
    assert_printed(literal.mddm(X, Y, 3).eigenvalues, MDDM_P)
    assert_printed(literal.mddm(X, Y, 3, variant="subspace").eigenvalues, MDDM_F)


def test_literal_scores():
    X, Y = tiny()
    method = literal.original(Y)
    for bias, printed in ORI.items():
        assert_printed(literal.scores(method, X, np.ones((1, 3)), RIDGE, bias)[0], printed)


def test_literal_kernel_rows():
    _, Y = tiny()
    Q = kernel_matrix()
    Hat = literal.kernel_hat_matrix(Q, RIDGE, "raw")
    assert_printed(literal.cplst(Y, Hat, 4).spectrum, KERNEL_CPLST)
    assert_printed(literal.faie(Y, Hat, 4, 0.5).eigenvalues, KERNEL_FAIE)
    assert_printed(literal.dmlr(Y, Q, 4, 2.0).eigenvalues / 2, KERNEL_DMLR_HALVED)
    assert_printed(literal.kernel_mddm(Q, Y, 4).spectrum, KERNEL_MDDM)


def test_literal_kernel_scores():
    X, Y = tiny()
    method, q = literal.original(Y), literal.rbf(np.ones((1, 3)), X, GAMMA)
    for bias, printed in KERNEL_ORI.items():
        assert_printed(literal.kernel_scores(method, kernel_matrix(), q, RIDGE, bias)[0], printed)


@pytest.mark.parametrize(("m", "d", "value", "dep", "rec"), KERNEL_CMLL)
def test_literal_kernel_cmll(m, d, value, dep, rec):
    F, (_, Y) = kernel_factor(), tiny()
    if d < m:
        _, V, P = alternate(F, Y, 0.5, m, d, seed=0)
    else:
        V, P = top(joint_matrix(F, Y, 0.5), m), None
    assert_printed([objective(F, Y, 0.5, V, P)], [value])
    assert_printed([np.sum((Y.T @ V) ** 2)], [rec], 5e-6)
    assert_printed([(value - rec) / 0.5], [dep], 5e-6)


@pytest.mark.parametrize("hat", ["intercept", "raw"])
@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_literal_hat_matrices_agree(hat, ridge):
    X, _ = tiny()
    one, two = literal.hat_matrix(X, ridge, hat), literal.kernel_hat_matrix(X @ X.T, ridge, hat)
    np.testing.assert_allclose(one, two, atol=1e-9)


@pytest.mark.parametrize("bias", literal.BIASES)
def test_literal_ridges_agree(bias):
    X, Y = tiny()
    X_new = np.array([[1.0, 1, 1], [3, -1, 2]])
    one = literal.ridge_predict(X, Y, 0.3, X_new, bias)
    two = literal.kernel_ridge_predict(X @ X.T, Y, 0.3, X_new @ X.T, bias)
    np.testing.assert_allclose(one, two, atol=1e-9)


@pytest.mark.parametrize("variant", ["projection", "subspace"])
def test_literal_projections_agree(variant):
    X, Y = tiny()
    one = literal.mddm(X, Y, 2, variant=variant)
    two = literal.kernel_mddm(X @ X.T, Y, 2, variant=variant)
    np.testing.assert_allclose(one.eigenvalues, two.eigenvalues, atol=1e-9)
    P = X.T @ two.projection
    np.testing.assert_allclose(P @ P.T, one.projection @ one.projection.T, atol=1e-9)


# --- the library does, in every regime -----------------------------------------------------------


@every_solver
def test_plst(solver):
    model = PLST(n_label_components=4, solver=solver).fit(*tiny())
    assert_printed(np.sqrt(model.eigenvalues_), PLST_SINGULAR)
    assert len(model.eigenvalues_) == model.n_label_components_ == 3


@every_solver
def test_cplst(solver):
    model = CPLST(n_label_components=4, ridge=RIDGE, solver=solver).fit(*tiny())
    assert_kept(model, CPLST_ROW)
    assert model.ridge_ == RIDGE


@every_solver
def test_dmlr(solver):
    model = DMLR(n_label_components=4, beta=2.0, solver=solver).fit(*tiny())
    assert_kept(model, DMLR_HALVED, factor=2.0)


@every_solver
@pytest.mark.parametrize(
    ("variant", "printed"), [("projection", MDDM_P), ("subspace", MDDM_F)], ids=["MDDMp", "MDDMf"]
)
def test_mddm(variant, printed, solver):
    model = MDDM(n_feature_components=3, variant=variant, mixing=0.5, solver=solver).fit(*tiny())
    assert_kept(model, printed)


@every_solver
def test_the_regime_that_was_asked_for_is_the_one_taken(solver):
    if solver == "auto":
        solver = ("moments", "dual", "krylov")
    for cls in (PLST, CPLST, FaIE, DMLR, MDDM):
        asked = "auto" if isinstance(solver, tuple) else solver
        assert cls(solver=asked).fit(*tiny()).solver_.endswith(solver)


@pytest.mark.parametrize("bias", ORI)
def test_original(bias):
    model = PaperClassifier(Original(), alpha=RIDGE, bias=bias).fit(*tiny())
    assert_printed(model.decision_function(np.ones((1, 3)))[0], ORI[bias])


@every_solver
@pytest.mark.parametrize("bias", ["free"])
@pytest.mark.parametrize("cls", [PLST, CPLST, DMLR])
def test_all_components_are_the_original(cls, bias, solver):
    embedding = cls(n_label_components=4, solver=solver)
    model = PaperClassifier(embedding, alpha=RIDGE, bias=bias).fit(*tiny())
    assert_printed(model.decision_function(np.ones((1, 3)))[0], ORI[bias])


@every_solver
@pytest.mark.parametrize(("m", "d", "value", "dep", "rec"), KERNEL_CMLL)
def test_kernel_cmll(m, d, value, dep, rec, solver):
    """Four components of three features: with a kernel the bound is the rows'."""
    embedding = CMLL(d, m, beta=0.5, solver=solver, tol=1e-15, max_iter=20_000)
    model = kernel_classifier(embedding).embedding_
    assert_printed([model.objective_], [value], 2 * HALF_UNIT)
    assert_printed([model.dependence_, model.recovery_], [dep, rec], 5e-6)


@every_solver
def test_kernel_dmlr(solver):
    embedding = DMLR(n_label_components=4, beta=2.0, solver=solver)
    assert_kept(kernel_classifier(embedding).embedding_, KERNEL_DMLR_HALVED, factor=2.0)


@every_solver
def test_kernel_mddm(solver):
    embedding = MDDM(n_feature_components="auto", solver=solver)
    assert_kept(kernel_classifier(embedding).embedding_, KERNEL_MDDM)


@pytest.mark.parametrize("bias", KERNEL_ORI)
def test_kernel_original(bias):
    model = kernel_classifier(Original(), bias=bias)
    assert_printed(model.decision_function(np.ones((1, 3)))[0], KERNEL_ORI[bias])
