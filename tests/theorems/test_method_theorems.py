"""Theorems of the comparison methods: optima, limits, and relations between them."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import Ridge

from compactlearn import CMLL, CPLST, DMLR, MDDM, PLST, CompactClassifier, FaIE, KernelMap, Original
from tests.makers import untuned

from . import literal_methods as literal
from .helpers import assert_orthonormal, assert_same_span, assert_scores, new_rows, problem

pytestmark = pytest.mark.filterwarnings("ignore:.*cut:UserWarning")

SOLVERS = ["auto", "moments", "dual", "krylov"]
every_solver = pytest.mark.parametrize("solver", SOLVERS)
LABEL_SIDE = {
    "PLST": PLST(),
    "CPLST": CPLST(),
    "DMLR": DMLR(),
}
COMPRESSING = LABEL_SIDE | {"FaIE": FaIE()}
every_encoder = pytest.mark.parametrize("model", LABEL_SIDE.values(), ids=LABEL_SIDE.keys())
every_compressing = pytest.mark.parametrize("model", COMPRESSING.values(), ids=COMPRESSING.keys())


def scores_of(embedding, X, Y, X_new, **options):
    return untuned(embedding, **options).fit(X, Y).decision_function(X_new)


def random_frames(n, k, how_many=25, seed=0):
    """Orthonormal n x k matrices."""
    rng = np.random.default_rng(seed)
    return [np.linalg.qr(rng.normal(size=(n, k)))[0] for _ in range(how_many)]


def neighbours(Q, how_many=25, seed=0):
    """Orthonormal matrices near Q: a maximum must beat these too."""
    rng = np.random.default_rng(seed)
    return [np.linalg.qr(Q + 0.02 * rng.normal(size=Q.shape))[0] for _ in range(how_many)]


# --- optimality ----------------------------------------------------------------------------------


def label_matrix(model, X, Y):
    """The M x M matrix whose trace a fitted encoder maximises."""
    H, Yc = literal.centring(len(X)), Y - Y.mean(axis=0)
    if isinstance(model, PLST):
        return Yc.T @ Yc
    if isinstance(model, CPLST):
        return Yc.T @ literal.hat_matrix(X, model.ridge_) @ Yc
    return model.beta_ * Y.T @ H @ X @ X.T @ H @ Y + Y.T @ Y


@every_encoder
@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("shape", [(40, 7, 6), (14, 20, 6)])
def test_no_encoder_is_better(model, m, shape):
    X, Y = problem(*shape, seed=200)
    model = clone(model).set_params(n_label_components=m).fit(X, Y)
    O, S = np.asarray(model.decoder_).T, label_matrix(model, X, Y)
    assert_orthonormal(O)
    best = np.trace(O.T @ S @ O)
    np.testing.assert_allclose(model.objective_, best, rtol=1e-9)
    np.testing.assert_allclose(np.diag(O.T @ S @ O), model.eigenvalues_, rtol=1e-8)
    for other in random_frames(6, m) + neighbours(O):
        assert np.trace(other.T @ S @ other) <= best * (1 + 1e-12)


@pytest.mark.parametrize("shape", [(40, 7, 6), (14, 20, 6)])
def test_no_codes_are_better(shape):
    X, Y = problem(*shape, seed=201)
    model = FaIE(3, ridge=0.4).fit(X, Y)
    A = Y @ Y.T + model.beta_ * literal.hat_matrix(X, 0.4)
    V = model.codes_
    assert_orthonormal(V)
    best = np.trace(V.T @ A @ V)
    np.testing.assert_allclose(model.objective_, best, rtol=1e-9)
    np.testing.assert_allclose(
        model.beta_ * model.dependence_ + model.recovery_, model.objective_, rtol=1e-9
    )
    for other in random_frames(shape[0], 3) + neighbours(V):
        assert np.trace(other.T @ A @ other) <= best * (1 + 1e-12)


@pytest.mark.parametrize("offset", ["mean", "none"])
def test_no_decoder_is_better(offset):
    """For orthonormal codes W = V'Y is least squares."""
    X, Y = problem(40, 7, 6, seed=202)
    model = FaIE(3, offset=offset).fit(X, Y)
    V = model.codes_
    best = np.linalg.norm(V @ model.decoder_ - Y)
    rng = np.random.default_rng(0)
    for _ in range(20):
        other = model.decoder_ + 0.01 * rng.normal(size=model.decoder_.shape)
        assert np.linalg.norm(V @ other - Y) >= best


@pytest.mark.parametrize("shape", [(40, 7, 6), (14, 20, 6)])
def test_no_projection_is_better(shape):
    X, Y = problem(*shape, seed=203)
    model = MDDM(3).fit(X, Y)
    P, C = model.projection_, (X - X.mean(axis=0)).T @ Y
    np.testing.assert_allclose(P.T @ P, np.eye(3), atol=1e-8)
    np.testing.assert_allclose(np.sum((P.T @ C) ** 2, axis=1), model.eigenvalues_, rtol=1e-8)
    for other in random_frames(shape[1], 3) + neighbours(P):
        assert np.sum((other.T @ C) ** 2) <= model.objective_ * (1 + 1e-10)


@pytest.mark.parametrize("cls", [CMLL, FaIE, DMLR])
def test_dependence_rises_and_recovery_falls_with_the_balance(cls):
    X, Y = problem(40, 7, 5, seed=205)
    betas = np.logspace(-5, 3, 12)
    fitted = [cls(n_label_components=2, beta=beta).fit(X, Y) for beta in betas]
    dep = np.array([model.dependence_ for model in fitted])
    rec = np.array([model.recovery_ for model in fitted])
    assert np.all(np.diff(dep) >= -1e-9 * dep.max())
    assert np.all(np.diff(rec) <= 1e-9 * rec.max())
    assert dep[-1] > 1.001 * dep[0]
    assert rec[0] > 1.001 * rec[-1]


def test_ridge_hat_is_the_exact_optimum_of_the_penalised_problem():
    """CPLST minimises prediction error, penalty and encoding error together."""
    X, Y = problem(40, 7, 6, seed=206)
    Xc, Yc, ridge = X - X.mean(axis=0), Y - Y.mean(axis=0), 2.5

    def loss(O):
        T = Yc @ O
        B = np.linalg.solve(Xc.T @ Xc + ridge * np.eye(7), Xc.T @ T)
        return np.sum((Xc @ B - T) ** 2) + ridge * np.sum(B**2) + np.sum((Yc - Yc @ O @ O.T) ** 2)

    model = CPLST(2, ridge=ridge).fit(X, Y)
    O = np.asarray(model.decoder_).T
    np.testing.assert_allclose(loss(O), np.sum(Yc**2) - model.objective_, rtol=1e-9)
    for other in random_frames(6, 2) + neighbours(O):
        assert loss(other) >= loss(O) * (1 - 1e-12)


# --- all components ------------------------------------------------------------------------------


@every_encoder
@every_solver
@pytest.mark.parametrize("shape", [(40, 7, 5), (14, 20, 5), (40, 3, 9), (12, 6, 16)])
def test_all_components_are_the_original_spaces(model, solver, shape):
    X, Y = problem(*shape, seed=210)
    X_new = new_rows(X)
    model = clone(model).set_params(n_label_components=shape[2], solver=solver)
    original = scores_of(Original(), X, Y, X_new, alpha=0.8)
    assert_scores(scores_of(model, X, Y, X_new, alpha=0.8), original, 1e-9)


@pytest.mark.parametrize("bias", literal.BIASES)
def test_uncentred_codes_leave_the_bias_alone(bias):
    X, Y = problem(40, 7, 5, seed=212)
    X_new = new_rows(X)
    plain = scores_of(Original(), X, Y, X_new, bias=bias)
    uncentred = DMLR(5, offset="none"), DMLR(5), PLST(5, offset="none"), CPLST(5, offset="none")
    for model in uncentred:
        assert_scores(scores_of(model, X, Y, X_new, bias=bias), plain, 1e-9)


@pytest.mark.parametrize("d", [5, 20])
def test_all_projections_that_see_the_labels_are_not_all_features(d):
    """MDDM with every feature filled up is ORI; cut to the rank it is not."""
    X, Y = problem(40, 20, 5, seed=214)
    X_new = new_rows(X)
    original = scores_of(Original(), X, Y, X_new)
    full = scores_of(MDDM(20, completion="krylov"), X, Y, X_new)
    cut = scores_of(MDDM(d), X, Y, X_new)
    assert_scores(full, original, 1e-8)
    assert np.abs(cut - original).max() > 1e-3


# --- limits and relations ------------------------------------------------------------------------


@every_solver
@pytest.mark.parametrize("offset", ["mean", "none"])
def test_cplst_is_plst_where_the_features_explain_everything(offset, solver):
    """D >= N and no ridge: the hat matrix is the identity."""
    X, Y = problem(14, 24, 6, seed=220)
    model = CPLST(3, ridge=0.0, offset=offset, solver=solver).fit(X, Y)
    plain = PLST(3, offset=offset).fit(X, Y)
    np.testing.assert_allclose(model.eigenvalues_, plain.eigenvalues_, rtol=1e-7)
    assert_same_span(model.decoder_.T, plain.decoder_.T, 1e-6)


@every_solver
def test_cplst_with_a_huge_ridge_takes_the_directions_of_largest_covariance(solver):
    """ridge Hat -> HXX'H, not the identity: the limit is DMLR's for large beta, not PLST."""
    X, Y = problem(40, 7, 6, seed=221)
    right = np.linalg.svd((X - X.mean(axis=0)).T @ Y)[2][:2].T
    squares = np.linalg.svd((X - X.mean(axis=0)).T @ Y, compute_uv=False)[:2] ** 2
    model = CPLST(2, ridge=1e9, solver=solver).fit(X, Y)
    assert_same_span(model.decoder_.T, right, 1e-5)
    np.testing.assert_allclose(1e9 * np.asarray(model.eigenvalues_), squares, rtol=1e-5)
    other = DMLR(2, beta=1e9, solver=solver).fit(X, Y)
    assert_same_span(other.decoder_.T, right, 1e-5)
    assert np.abs(PLST(2).fit(X, Y).decoder_.T - right).max() > 1e-2


@every_solver
@pytest.mark.parametrize("m", [1, 3])
def test_dmlr_without_dependence(m, solver):
    X, Y = problem(40, 7, 6, seed=223)
    right = np.linalg.svd(Y)[2][:m].T
    for model in (DMLR(m, beta=0.0, solver=solver), PLST(m, offset="none", solver=solver)):
        assert_same_span(model.fit(X, Y).decoder_.T, right)


@every_solver
@pytest.mark.parametrize("m", [1, 3, 6])
def test_faie_without_predictability(m, solver):
    """Left singular vectors of the labels; CMLL without dependence is the same."""
    X, Y = problem(40, 7, 6, seed=224)
    X_new = new_rows(X)
    model = FaIE(m, beta=0.0, solver=solver).fit(X, Y)
    left, s, _ = np.linalg.svd(Y, full_matrices=False)
    assert_same_span(model.codes_, left[:, :m])
    np.testing.assert_allclose(model.eigenvalues_, s[:m] ** 2, rtol=1e-8)
    joint = scores_of(CMLL(None, m, beta=0.0), X, Y, X_new)
    assert_scores(scores_of(model, X, Y, X_new), joint)


@every_solver
@pytest.mark.parametrize("beta", [0.1, 1e4])
def test_faie_with_features_that_explain_everything_forgets_the_balance(beta, solver):
    """D >= N and no ridge: the hat matrix is the identity, and adds the same to every direction."""
    X, Y = problem(14, 24, 4, seed=225)
    model = FaIE(3, beta=beta, ridge=0.0, solver=solver).fit(X, Y)
    left, s, _ = np.linalg.svd(Y, full_matrices=False)
    assert_same_span(model.codes_, left[:, :3], 1e-6)
    np.testing.assert_allclose(model.eigenvalues_, s[:3] ** 2 + beta, rtol=1e-8)


@every_solver
def test_faie_with_a_huge_balance_takes_the_best_predicted_directions(solver):
    """The constant, and then the leading directions of the centred features."""
    X, Y = problem(40, 7, 6, seed=226)
    left = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[0][:, :1]
    model = FaIE(2, beta=1e9, ridge=30.0, solver=solver).fit(X, Y)
    assert_same_span(model.codes_, np.c_[np.full(40, 40**-0.5), left], 1e-5)


@every_solver
@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_faie_on_white_features_is_cmll_with_features_kept(ridge, solver):
    """Where Xc'Xc = I the hat matrix is HXX'H / (1 + ridge) and a constant: a full label."""
    X, Y = problem(40, 7, 6, seed=227)
    X = np.linalg.qr(X - X.mean(axis=0))[0] + 0.3
    model = FaIE(3, beta=40.0, ridge=ridge, solver=solver).fit(X, Y)
    joint = CMLL(None, 3, beta=40.0 / (1 + ridge)).fit(X, np.c_[Y, np.ones(40)])
    assert_same_span(model.codes_, joint.codes_)


@every_solver
@pytest.mark.parametrize("d", [1, 3, 6])
def test_mddm_is_cmll_with_labels_kept(d, solver):
    X, Y = problem(40, 9, 6, seed=230)
    X_new = new_rows(X)
    model = MDDM(d, solver=solver).fit(X, Y)
    other = CMLL(d, None, solver=solver).fit(X, Y)
    assert_same_span(model.projection_, other.projection_)
    np.testing.assert_allclose(model.objective_, other.dependence_, rtol=1e-9)
    assert_scores(scores_of(model, X, Y, X_new), scores_of(other, X, Y, X_new))


@pytest.mark.parametrize("cls", [CPLST, FaIE])
def test_the_shared_ridge_is_the_learners(cls):
    X, Y = problem(40, 7, 6, seed=232)
    X_new = new_rows(X)
    assert cls().fit(X, Y).ridge_ == 1.0
    model = CompactClassifier(cls(2), alpha=37.0).fit(X, Y)
    assert model.embedding_.ridge_ == 37.0
    assert model.embedding.ridge == "shared"
    own = scores_of(cls(2, ridge=37.0), X, Y, X_new, alpha=37.0)
    assert_scores(model.decision_function(X_new), own, 1e-10)
    other = scores_of(cls(2, ridge=0.01), X, Y, X_new, alpha=37.0)
    assert np.abs(other - own).max() > 1e-6
    again = CompactClassifier(cls(2), alpha=37.0).partial_fit(X, Y)
    assert again.embedding_.ridge_ == 37.0


# --- sizes ---------------------------------------------------------------------------------------


@every_compressing
def test_sizes_of_labels(model):
    X, Y = problem(60, 12, 5, seed=240)
    for size, expected in [(1, 1), (1.0, 5), (0.5, 3), (0.01, 1), (np.int64(2), 2), ("auto", 5)]:
        fitted = clone(model).set_params(n_label_components=size).fit(X, Y)
        assert fitted.n_label_components_ == expected
        assert fitted.codes_.shape == (60, expected)
        assert fitted.decoder_.shape == (expected, 5)
        assert len(fitted.eigenvalues_) == expected
        assert fitted.projection_ is None


@every_compressing
def test_automatic_size_of_many_labels(model):
    X, Y = problem(70, 40, 37, seed=241)
    fitted = clone(model).fit(X, Y)
    assert fitted.n_label_components_ == min(37, max(16, math.ceil(37 / 2)))


@every_solver
@pytest.mark.parametrize(
    ("model", "rank"), [(PLST(5), 3), (CPLST(5), 3), (DMLR(5), 4), (FaIE(5, beta=0.0), 4)], ids=str
)
def test_components_above_the_rank_are_cut_with_one_warning(model, rank, solver):
    """Three independent labels, a complement, and two copies: one rank more where uncentred."""
    X, Y = problem(40, 7, 3, seed=242)
    Y = np.c_[Y, 1 - Y[:, 0], Y[:, 1:]]
    with pytest.warns(UserWarning, match="cut") as caught:
        model = clone(model).set_params(solver=solver).fit(X, Y)
    assert len(caught) == 1
    assert model.n_label_components_ == len(model.eigenvalues_) == rank
    assert model.decoder_.shape == (rank, 6)
    with pytest.warns(UserWarning, match="cut") as caught:
        CompactClassifier(model).fit(X, Y)
    assert len(caught) == 1


@pytest.mark.parametrize("shape", [(40, 9, 4), (40, 3, 6)])
def test_sizes_of_features(shape):
    X, Y = problem(*shape, seed=243)
    rank = min(shape[1:])
    for size, expected in [(1, 1), ("auto", rank), (0.5, min(rank, int(shape[1] / 2 + 0.5)))]:
        model = MDDM(size).fit(X, Y)
        assert model.n_feature_components_ == expected
        assert model.projection_.shape == (shape[1], expected)
        assert model.n_label_components_ == shape[2]
        assert sp.issparse(model.decoder_)
        np.testing.assert_array_equal(model.decoder_.toarray(), np.eye(shape[2]))
        np.testing.assert_array_equal(model.offset_, 0)


@every_compressing
@pytest.mark.parametrize("solver", ["auto", "krylov"])
def test_components_are_nested(model, solver):
    X, Y = problem(40, 9, 6, seed=244)
    options = {"solver": solver}
    if not isinstance(model, PLST):
        options |= {"ridge": 0.3} if hasattr(model, "ridge") else {"beta": 0.01}
    if isinstance(model, FaIE):
        options["beta"] = 0.7
    wide = clone(model).set_params(n_label_components=5, **options).fit(X, Y)
    for m in range(1, 5):
        narrow = clone(model).set_params(n_label_components=m, **options).fit(X, Y)
        np.testing.assert_allclose(narrow.eigenvalues_, wide.eigenvalues_[:m], rtol=1e-8)
        one, two = narrow.decoder_, wide.decoder_[:m]
        np.testing.assert_allclose(one.T @ one, two.T @ two, atol=1e-6)
        if isinstance(model, FaIE):
            assert_same_span(narrow.codes_, wide.codes_[:, :m], 1e-6)


@every_solver
def test_projections_are_nested(solver):
    X, Y = problem(40, 9, 6, seed=245)
    wide = MDDM(6, solver=solver).fit(X, Y).projection_
    for d in range(1, 6):
        narrow = MDDM(d, solver=solver).fit(X, Y).projection_
        np.testing.assert_allclose(narrow @ narrow.T, wide[:, :d] @ wide[:, :d].T, atol=1e-6)


# --- the bias of the built-in ridge --------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.3, 20.0])
def test_biases_by_other_means(alpha):
    X, Y = problem(40, 7, 6, seed=260)
    X_new = new_rows(X)
    expected = {
        "free": Ridge(alpha=alpha).fit(X, Y).predict(X_new),
        "none": Ridge(alpha=alpha, fit_intercept=False).fit(X, Y).predict(X_new),
    }
    for bias, scores in expected.items():
        assert_scores(scores_of(Original(), X, Y, X_new, alpha=alpha, bias=bias), scores)


@pytest.mark.parametrize("bias", literal.BIASES)
def test_without_a_penalty(bias):
    X, Y = problem(40, 7, 6, seed=261)
    X_new = new_rows(X)
    expected = literal.ridge_predict(X, Y, 0.0, X_new, bias)
    assert_scores(scores_of(Original(), X, Y, X_new, alpha=0.0, bias=bias), expected)


# --- kernels -------------------------------------------------------------------------------------

WITH_A_KERNEL = {
    "ORI": Original(),
    "PLST": PLST(3),
    "CPLST": CPLST(3),
    "CPLST none": CPLST(3, offset="none"),
    "FaIE": FaIE(3),
    "DMLR": DMLR(3),
    "MDDMp": MDDM(3),
    "MDDMp auto": MDDM(),
    "MDDMp ratio": MDDM(0.5),
    "CMLL": CMLL(3, 3),
    "CMLL binding": CMLL(2, 4, tol=1e-13, max_iter=20_000),
    "CMLL ratio": CMLL(0.5, 3),
    "CMLL_y": CMLL(None, 3),
}
with_a_kernel = pytest.mark.parametrize("model", WITH_A_KERNEL.values(), ids=WITH_A_KERNEL.keys())
WIDE_OR_TALL = {"tall": (30, 6, 5), "wide": (14, 24, 5)}
wide_or_tall = pytest.mark.parametrize("shape", WIDE_OR_TALL.values(), ids=WIDE_OR_TALL.keys())


@with_a_kernel
@wide_or_tall
@pytest.mark.parametrize("bias", literal.BIASES)
def test_linear_kernel_is_the_linear_method(model, shape, bias):
    X, Y = problem(*shape, seed=270)
    X_new = new_rows(X)
    plain = untuned(model, alpha=0.6, bias=bias).fit(X, Y)
    kernel = KernelMap(kernel="linear", algorithm="exact")
    other = untuned(model, feature_map=kernel, alpha=0.6, bias=bias).fit(X, Y)
    # Where the projection binds, an ascent ends at half of the digits of its objective.
    atol = 1e-6 if getattr(model, "n_feature_components", None) == 2 else 1e-7
    assert_scores(other.decision_function(X_new), plain.decision_function(X_new), atol)
    if hasattr(plain.embedding_, "objective_"):
        np.testing.assert_allclose(
            other.embedding_.objective_, plain.embedding_.objective_, rtol=1e-8
        )
    P, R = plain.embedding_.projection_, other.embedding_.projection_
    if P is not None:
        assert R.shape == (shape[0], P.shape[1])
        np.testing.assert_allclose(X.T @ R @ R.T @ X, P @ P.T, atol=10 * atol)


@with_a_kernel
@wide_or_tall
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_nystroem_with_all_landmarks_is_exact(model, shape, kernel):
    X, Y = problem(*shape, seed=271)
    X_new = new_rows(X)

    def scores(**options):
        feature_map = KernelMap(kernel=kernel, gamma=0.05, random_state=0, **options)
        return scores_of(model, X, Y, X_new, feature_map=feature_map, alpha=0.6)

    exact = scores(algorithm="exact")
    if getattr(model, "n_feature_components", None) in (0.5, "auto"):
        model = clone(model).set_params(n_feature_components=3)  # ratios are of other sizes here
        exact = scores(algorithm="exact")
    assert_scores(scores(algorithm="nystroem", n_components=shape[0]), exact, 1e-6)


@with_a_kernel
def test_neither_the_order_of_rows_nor_constants_change_an_rbf_score(model):
    """Distances do not see constants, whatever the hat matrix does."""
    X, Y = problem(24, 6, 5, seed=274)
    X_new, order = new_rows(X), np.random.default_rng(0).permutation(24)
    kernel = KernelMap(kernel="rbf", gamma=0.05, algorithm="exact")
    expected = scores_of(model, X, Y, X_new, feature_map=kernel)
    moved = scores_of(model, X[order] + 4.0, Y[order], X_new + 4.0, feature_map=kernel)
    assert_scores(moved, expected, 1e-6)


# --- encoders and decoders -----------------------------------------------------------------------


@every_encoder
@every_solver
def test_encoder_and_decoder_belong_together(model, solver):
    X, Y = problem(40, 7, 6, seed=280)
    model = clone(model).set_params(n_label_components=3, solver=solver).fit(X, Y)
    O, mean = np.asarray(model.decoder_).T, Y.mean(axis=0)
    centred = not isinstance(model, DMLR)
    assert_scores(model.codes_, (Y - mean if centred else Y) @ O, 1e-9)
    Y_new = (np.random.default_rng(0).random((8, 6)) < 0.4).astype(float)
    codes = (Y_new - mean if centred else Y_new) @ O
    # What is decoded and encoded again stays: the encoder's rows are the decoder's columns.
    decoded = model.decode(codes)
    again = (decoded - mean if centred else decoded - model.offset_) @ O
    assert_scores(again, codes, 1e-9)
    assert_scores(decoded, (Y_new - mean) @ O @ O.T + mean, 1e-9)


@every_encoder
def test_without_an_offset_labels_are_decoded_through_the_origin(model):
    X, Y = problem(40, 7, 6, seed=281)
    model = clone(model).set_params(n_label_components=3, offset="none").fit(X, Y)
    np.testing.assert_array_equal(model.offset_, 0)
    O = np.asarray(model.decoder_).T
    assert_scores(model.decode(model.codes_), Y @ O @ O.T, 1e-9)


@pytest.mark.parametrize("offset", ["mean", "none"])
@pytest.mark.parametrize("shape", [(40, 7, 6), (14, 20, 6)])
def test_all_codes_recover_the_labels(offset, shape):
    """m = rank: nothing is lost, even though labels are copied and complemented."""
    X, Y = problem(*shape, seed=285)
    Y = np.c_[Y, 1 - Y[:, 0], Y[:, 1], np.zeros(len(Y)), np.ones(len(Y))]
    rank = np.linalg.matrix_rank(Y)
    models = [
        PLST(rank - 1),
        CPLST(rank - 1),
        DMLR(rank, offset=offset),
        FaIE(rank, beta=0.0, offset=offset),
        CMLL(n_label_components=rank, beta=0.0, offset=offset),
    ]
    for model in models:
        model.fit(X, Y)
        np.testing.assert_allclose(model.decode(model.codes_), Y, atol=1e-7, err_msg=str(model))
