"""The oracle table (own computation of the notes, six decimals), for all methods and their kernels.

Each number is first computed by the literal versions (which guards the table and those), then asked
of the library in every route. Zeros of the table are eigenvalues that the library cuts away.

Parameters of the table: beta = 0.5 for CMLL, lam = 0.1 for every ridge, 0.5 on FaIE's hat matrix
and on DMLR's Y'Y (the library weighs the other term: beta = 2, everything doubled), t = 0.5, RBF
exp(-0.5 ||.||^2).
"""

import numpy as np
import pytest

from compactlearn import CMLL, CPLST, DMLR, MDDM, PLST, KernelMap, Original
from tests.makers import untuned

from . import literal_methods as literal
from .helpers import alternate, joint_matrix, objective, spectrum, tiny, top

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*cut:UserWarning", "ignore::sklearn.exceptions.ConvergenceWarning"
)

HALF_UNIT = 6e-7  # the table has six decimals
RIDGE, GAMMA = 0.1, 0.5
ONES = np.ones((1, 3))
every_solver = pytest.mark.parametrize("solver", ["auto", "moments", "dual", "krylov"])

CMLL_Y = [7.653717, 5.809713, 3.011585, 1.953149, 1.101920]
CMLL_ROWS = [  # m, d, objective, dependence, recovery
    (2, 1, 13.306981, 9.221058, 8.696452),
    (2, 2, 13.463429, 9.629931, 8.648464),
    (2, 3, 13.463429, 9.629931, 8.648464),
    (3, 1, 14.610381, 9.216748, 10.002007),
    (3, 2, 16.318864, 14.601196, 9.018266),
]
PLST_SQUARED = np.square([1.811291, 1.154701, 1.104185, 0])
CPLST_ROW = [2.948850, 1.023152, 0.059341, 0]
FAIE_RAW = [6.427763, 3.528259, 1.369723, 0.681589]  # of a hat matrix without an intercept
DMLR_HALVED = [25.476292, 4.875511, 1.513335, 0.718195]
MDDM_P = [23.807049, 2.924379, 0.351906]
ORI = {
    "none": [0.398253, 0.317110, 0.423054, 0.318793],
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
}


def assert_printed(actual, printed, unit=HALF_UNIT):
    """The digits of the table; where it says 0 there is nothing, or nothing but rounding."""
    printed = np.asarray(printed, dtype=float)
    actual = np.asarray(actual, dtype=float)[: len(printed)]
    padded = np.append(actual, np.zeros(len(printed) - len(actual)))
    np.testing.assert_allclose(padded, printed, rtol=0, atol=unit)


def assert_kept(model, printed, factor=1.0, unit=HALF_UNIT):
    """The library's eigenvalues: those of the table, less its zeros; and their sum."""
    positive = [value for value in printed if value > 0]
    assert len(model.eigenvalues_) == len(positive)
    assert_printed(np.asarray(model.eigenvalues_) / factor, positive, unit)
    np.testing.assert_allclose(model.objective_, np.sum(model.eigenvalues_), rtol=1e-10)


def kernel_matrix():
    X, _ = tiny()
    return literal.rbf(X, X, GAMMA)


# --- the literal versions reproduce the table ----------------------------------------------------


def test_literal_eigenvalues():
    X, Y = tiny()
    assert_printed(spectrum(joint_matrix(X, Y, 0.5))[0], CMLL_Y)
    assert_printed(literal.plst(Y, 4).spectrum, PLST_SQUARED, 4e-6)
    assert_printed(literal.cplst(Y, literal.hat_matrix(X, RIDGE), 4).spectrum, CPLST_ROW)
    Hat = literal.hat_matrix(X, RIDGE, "raw")
    assert_printed(literal.faie(Y, Hat, 4, 0.5).eigenvalues, FAIE_RAW)
    assert_printed(literal.dmlr(Y, X @ X.T, 4, 2.0).eigenvalues / 2, DMLR_HALVED)
    assert_printed(literal.mddm(X, Y, 3).eigenvalues, MDDM_P)


def test_literal_eigenvalues_of_kernels():
    _, Y = tiny()
    Q = kernel_matrix()
    Hat = literal.kernel_hat_matrix(Q, RIDGE, "raw")
    assert_printed(literal.cplst(Y, Hat, 4).spectrum, KERNEL_CPLST)
    assert_printed(literal.faie(Y, Hat, 4, 0.5).eigenvalues, KERNEL_FAIE)
    assert_printed(literal.dmlr(Y, Q, 4, 2.0).eigenvalues / 2, KERNEL_DMLR_HALVED)
    assert_printed(literal.kernel_mddm(Q, Y, 4).spectrum, KERNEL_MDDM)


def test_literal_scores():
    X, Y = tiny()
    method, Q, q = literal.original(Y), kernel_matrix(), literal.rbf(ONES, X, GAMMA)
    for bias, printed in ORI.items():
        assert_printed(literal.scores(method, X, ONES, RIDGE, bias)[0], printed)
    for bias, printed in KERNEL_ORI.items():
        assert_printed(literal.kernel_scores(method, Q, q, RIDGE, bias)[0], printed)


@pytest.mark.parametrize(("m", "d", "value", "dep", "rec"), KERNEL_CMLL)
def test_literal_kernel_cmll(m, d, value, dep, rec):
    values, vectors = spectrum(kernel_matrix())
    F, (_, Y) = vectors * np.sqrt(values), tiny()
    if d < m:
        _, V, P = alternate(F, Y, 0.5, m, d, seed=0)
    else:
        V, P = top(joint_matrix(F, Y, 0.5), m), None
    assert_printed([objective(F, Y, 0.5, V, P)], [value])
    assert_printed([np.sum((Y.T @ V) ** 2), (value - rec) / 0.5], [rec, dep], 5e-6)


@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_literal_versions_agree_with_those_of_kernels(ridge):
    X, Y = tiny()
    X_new, K = np.array([[1.0, 1, 1], [3, -1, 2]]), X @ X.T
    for kind in ("intercept", "raw"):
        one, two = literal.hat_matrix(X, ridge, kind), literal.kernel_hat_matrix(K, ridge, kind)
        np.testing.assert_allclose(one, two, atol=1e-9)
    for bias in literal.BIASES if ridge else ():
        one = literal.ridge_predict(X, Y, ridge, X_new, bias)
        two = literal.kernel_ridge_predict(K, Y, ridge, X_new @ X.T, bias)
        np.testing.assert_allclose(one, two, atol=1e-9)
    linear, kernel = literal.mddm(X, Y, 2), literal.kernel_mddm(K, Y, 2)
    np.testing.assert_allclose(linear.eigenvalues, kernel.eigenvalues, atol=1e-9)
    P = X.T @ kernel.projection
    np.testing.assert_allclose(P @ P.T, linear.projection @ linear.projection.T, atol=1e-9)


# --- the library does, in every route -----------------------------------------------------------

METHODS = {
    "PLST": (PLST(4), PLST_SQUARED, 1.0),
    "CPLST": (CPLST(4, ridge=RIDGE), CPLST_ROW, 1.0),
    "DMLR": (DMLR(4, beta=2.0), DMLR_HALVED, 2.0),
    "MDDMp": (MDDM(3), MDDM_P, 1.0),
}
KERNEL_METHODS = {
    "DMLR": (DMLR(4, beta=2.0), KERNEL_DMLR_HALVED, 2.0),
    "MDDM": (MDDM("auto"), KERNEL_MDDM, 1.0),
}


def kernel_classifier(embedding, **options):
    kernel = KernelMap(kernel="rbf", gamma=GAMMA, algorithm="exact")
    return untuned(embedding, feature_map=kernel, alpha=RIDGE, **options).fit(*tiny())


@every_solver
@pytest.mark.parametrize(("model", "printed", "factor"), METHODS.values(), ids=METHODS.keys())
def test_eigenvalues(model, printed, factor, solver):
    model = model.set_params(solver=solver).fit(*tiny())
    assert_kept(model, printed, factor, 4e-6 if isinstance(model, PLST) else HALF_UNIT)
    assert model.solver_.endswith(("moments", "dual", "krylov") if solver == "auto" else solver)


@every_solver
@pytest.mark.parametrize(("model", "printed", "factor"), KERNEL_METHODS.values(), ids=str)
def test_eigenvalues_of_kernels(model, printed, factor, solver):
    fitted = kernel_classifier(model.set_params(solver=solver))
    assert_kept(fitted.embedding_, printed, factor)


@every_solver
@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_cmll_with_features_kept(m, solver):
    model = CMLL(None, m, beta=0.5, solver=solver).fit(*tiny())
    np.testing.assert_allclose(model.objective_, sum(CMLL_Y[:m]), atol=m * HALF_UNIT)


@pytest.mark.parametrize(("m", "d", "value", "dep", "rec"), CMLL_ROWS)
def test_cmll_with_both_compressed(m, d, value, dep, rec):
    X, Y = tiny()
    ascent = {"tol": 1e-15, "max_iter": 20_000, "completion": "krylov"}
    model = CMLL(d, m, beta=0.5, label_ridge=0.1, **ascent).fit(X, Y)
    np.testing.assert_allclose(model.objective_, value, atol=2 * HALF_UNIT)
    # At the optimum the objective is flat, its two parts are not: they converge at half the digits.
    np.testing.assert_allclose([model.dependence_, model.recovery_], [dep, rec], atol=5e-6)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_cmll_with_labels_kept(d):
    """With the labels in place of codes the projection is that of MDDM."""
    X, Y = tiny()
    model = CMLL(d, None).fit(X, Y)
    np.testing.assert_allclose(model.dependence_, sum(MDDM_P[:d]), atol=d * HALF_UNIT)
    np.testing.assert_allclose(model.recovery_, np.sum((Y.T @ Y) ** 2), rtol=1e-12)
    np.testing.assert_allclose(model.decode(Y), Y, atol=1e-12)


@every_solver
@pytest.mark.parametrize(("m", "d", "value", "dep", "rec"), KERNEL_CMLL)
def test_kernel_cmll(m, d, value, dep, rec, solver):
    """Four components of three features: with a kernel the bound is the rows'."""
    embedding = CMLL(d, m, beta=0.5, solver=solver, tol=1e-15, max_iter=20_000)
    model = kernel_classifier(embedding).embedding_
    assert_printed([model.objective_], [value], 2 * HALF_UNIT)
    assert_printed([model.dependence_, model.recovery_], [dep, rec], 5e-6)


@every_solver
@pytest.mark.parametrize("cls", [Original, PLST, CPLST, DMLR])
def test_scores(cls, solver):
    """All components are the original spaces."""
    embedding = Original() if cls is Original else cls(4, solver=solver)
    for bias in ORI if cls is Original else ["free"]:
        model = untuned(embedding, alpha=RIDGE, bias=bias).fit(*tiny())
        assert_printed(model.decision_function(ONES)[0], ORI[bias])


@pytest.mark.parametrize("bias", KERNEL_ORI)
def test_kernel_scores(bias):
    model = kernel_classifier(Original(), bias=bias)
    assert_printed(model.decision_function(ONES)[0], KERNEL_ORI[bias])
