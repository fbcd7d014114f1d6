"""Out-of-fold codes compared with explicit refits without the row or its fold."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import Normalizer

from compactlearn import (
    CMLL,
    CPLST,
    DMLR,
    MDDM,
    PLST,
    CMLLClassifier,
    CompactClassifier,
    FaIE,
    KernelMap,
    Original,
)
from compactlearn.compact import PaperClassifier
from compactlearn.crossfit import _decoder_fitter as decisions
from compactlearn.crossfit._folds import Folds
from compactlearn.crossfit._learner import RidgeLearner
from compactlearn.crossfit._plan import N_FOLDS, N_HELD_OUT
from compactlearn.crossfit._together import row_hashes
from compactlearn.linalg import _rows_ridge as rows_ridge
from compactlearn.linalg._ridge import BIASES
from compactlearn.linalg._unseen_features import drop_unseen_features
from compactlearn.metrics import micro_f1
from tests.makers import labelled, long_tailed_rows, ridge_scores

GAMMA = 0.07
SHAPES = {"tall": (40, 6, 5), "wide": (24, 35, 5)}
every_shape = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())


def problem(shape=(40, 6, 5), seed=0, *, sparse=False):
    density = 0.5 if sparse else None
    return labelled(*shape, seed, scale=True, mean=0.3, share=0.65, density=density)


@pytest.fixture
def nested_fit_of(cross_fit_of, monkeypatch):
    """As ``cross_fit_of``, with a decoder that is learnt: the linear one needs scores alone."""
    monkeypatch.setattr(decisions, "choose_penalty", lambda folds: 3.0)

    def fit(model, X, Y, **options):
        found = cross_fit_of(model.set_params(decoder="logistic", threshold=0.5), X, Y, **options)
        found.codes()  # before the model can change
        return found

    return fit


# --- literal versions ----------------------------------------------------------------------------


def leading(S, k):
    return np.linalg.eigh((S + S.T) / 2)[1][:, ::-1][:, :k]


def cmll_projection(X, Y, V, size, *, widen=False):
    """Return left singular vectors of Xc'V; with ``widen``, also residual principal directions."""
    Xc = X - X.mean(axis=0)
    U, s, _ = np.linalg.svd(Xc.T @ V, full_matrices=False)
    P = U[:, s > 1e-9 * s[0]][:, :size]
    if widen and size > P.shape[1]:
        _, s, rows = np.linalg.svd(Xc - Xc @ P @ P.T, full_matrices=False)
        P = np.hstack([P, rows[s > 1e-9 * s[0]].T[:, : size - P.shape[1]]])
    return P


def mddm_projection(X, Y, V, size):
    """Return leading eigenvectors of Xc'YY'Xc."""
    A = (X - X.mean(axis=0)).T @ Y
    return leading(A @ A.T, size)


def refitted(X, Y, V, folds, alpha, projection):
    """Return codes by projection and ridge of the other rows, fold by fold; V stays."""
    codes = np.empty_like(V)
    for fold in np.unique(folds):
        out = folds == fold
        P = np.eye(X.shape[1]) if projection is None else projection(X[~out], Y[~out], V[~out])
        codes[out] = ridge_scores(X[~out] @ P, V[~out], alpha, X[out] @ P)
    return codes


def kernel_features(X):
    """Return features that factor the RBF kernel of these rows."""
    squares = np.sum(X**2, axis=1)
    Q = np.exp(-GAMMA * (squares[:, None] + squares - 2 * X @ X.T))
    w, E = np.linalg.eigh(Q)
    return E * np.sqrt(np.maximum(w, 0))


# --- leave-one-out -------------------------------------------------------------------------------


def left_out(features, V, alpha, members, w=None, bias="free"):
    """Return predictions by one refit for every distinct row, all its copies left out."""
    expected = np.empty_like(V)
    for member in np.unique(members):
        out = members == member
        rest = None if w is None else w[~out]
        expected[out] = ridge_scores(features[~out], V[~out], alpha, features[out], rest, bias)
    return expected


@every_shape
@pytest.mark.parametrize("kernel", [False, True], ids=["linear", "kernel"])
@pytest.mark.parametrize("rows", ["plain", "weighted", "repeated", "weighted and repeated"])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("embedding", [Original(), CMLL(None, 3)], ids=repr)
def test_leave_one_out_under_every_convention(embedding, bias, rows, kernel, shape, nested_fit_of):
    """Codes are those of refits on the other rows, with the embedding's codes fixed."""
    X, Y = problem(shape, 16)
    members, options, w = np.arange(len(X)), {}, None
    if "repeated" in rows:  # copies, and their labels differ
        members[[5, 9, 11]] = members[[3, 3, 2]]
        X = X[members]
    if "weighted" in rows:
        w = options["sample_weight"] = np.random.default_rng(16).uniform(0.2, 4.0, len(X))
    feature_map = KernelMap(gamma=GAMMA) if kernel else None
    made_by = PaperClassifier if bias == "none" else CompactClassifier
    model = made_by(embedding, alpha=0.7, feature_map=feature_map)
    found = nested_fit_of(model, X, Y, **options)
    assert found.how() == "leave-one-out"
    features = kernel_features(X) if kernel else X
    V = Y if isinstance(embedding, Original) else leading_codes(features, Y, w, model, 3)
    expected = left_out(features, V, 0.7, members, w, bias)
    np.testing.assert_allclose(found.codes(), expected, atol=1e-9)


def leading_codes(X, Y, w, model, size):
    """Return leading eigenvectors of beta XcXc' + YY' of weighted rows, with the model's signs."""
    w = np.ones(len(X)) if w is None else w
    root = np.sqrt(w)[:, None]
    Xc, Yw = root * (X - (w @ X) / w.sum()), root * Y
    V = leading(model.embedding_.beta_ * Xc @ Xc.T + Yw @ Yw.T, size)
    return V * np.sign(np.sum((Yw.T @ V).T * model.embedding_.decoder_, axis=1)) / root


@pytest.mark.parametrize(
    "why", ["groups", "projection", "regressor", "interpolation", "too many", "one row"]
)
def test_where_the_closed_form_does_not_hold_rows_are_held_out(why, nested_fit_of, monkeypatch):
    X, Y = problem(seed=4)
    model, options = CompactClassifier(Original()), {}
    if why == "groups":
        options["groups"] = np.arange(40)
    elif why == "projection":
        model = CMLLClassifier()
    elif why == "regressor":
        model.set_params(regressor=Ridge())
    elif why == "interpolation":  # a feature of its own, and no penalty: row 7 alone decides
        X = np.hstack([X, np.eye(40)[:, [7]]])
        model.set_params(alpha=0.0)
    elif why == "too many":
        monkeypatch.setattr(rows_ridge, "LEVERAGE_LIMIT", 5)
    else:
        X = np.tile(X[:1], (40, 1))
    assert nested_fit_of(model, X, Y, **options).how() == "cross-fitted"


# --- cross-fitting -------------------------------------------------------------------------------

PROJECTED = {
    "closed": (CMLL(4, 3), cmll_projection, 4, {}),
    "top-up": (CMLL("auto", None), cmll_projection, 24, {"widen": True}),
    "labels": (CMLL(3, None), cmll_projection, 3, {}),
    "narrow": (CMLL(2, 4), cmll_projection, 2, {}),
    "MDDM": (MDDM(3), mddm_projection, 3, {}),
}


@every_shape
@pytest.mark.parametrize("kernel", [False, True], ids=["linear", "kernel"])
@pytest.mark.parametrize("alpha", [0.5, 20.0])
@pytest.mark.parametrize("name", PROJECTED)
def test_cross_fitted_codes_equal_refits(name, alpha, kernel, shape, nested_fit_of):
    embedding, function, size, options = PROJECTED[name]
    X, Y = problem(shape, 5)
    features = kernel_features(X) if kernel else X
    feature_map = KernelMap(gamma=GAMMA) if kernel else None
    model = CompactClassifier(embedding, alpha=alpha, feature_map=feature_map)
    found = nested_fit_of(model, X, Y)
    assert found.how() == "cross-fitted"
    assert len(np.unique(found.folds.number)) == N_FOLDS
    V = Y
    if isinstance(embedding, CMLL) and embedding.n_label_components is not None:
        V = clone(embedding).fit(features, Y).codes_
    expected = refitted(
        features,
        Y,
        V,
        found.folds.number,
        alpha,
        lambda X, Y, V: function(X, Y, V, min(size, X.shape[1]), **options),
    )
    np.testing.assert_allclose(found.codes(), expected, atol=1e-7)


# --- scores --------------------------------------------------------------------------------------

EVERY_METHOD = {
    "ORI": CompactClassifier(Original(), alpha=2.0),
    "PLST": CompactClassifier(PLST(3), alpha=2.0),
    "CPLST": CompactClassifier(CPLST(3), alpha=2.0),
    "DMLR": CompactClassifier(DMLR(3), alpha=2.0),
    "FaIE": CompactClassifier(FaIE(3), alpha=2.0),
    "CMLL_y": CMLLClassifier(None, 3, alpha=2.0),
    "CMLL": CMLLClassifier(4, 3, alpha=2.0),
    "CMLL of the paper": CompactClassifier(CMLL(4, 3, beta=1.0, offset="none"), alpha=2.0),
    "narrow": CMLLClassifier(2, 4),
    "labels kept": CMLLClassifier(3, None),
    "MDDM": CompactClassifier(MDDM(3)),
    "no intercept": PaperClassifier(CMLL(4, 3)),
    "scaled": CMLLClassifier(4, 3, scale=True),
    "nystroem": CMLLClassifier(
        4, 3, feature_map=KernelMap(algorithm="nystroem", n_components=9, random_state=0)
    ),
    "k-CMLL": CMLLClassifier(4, 3, feature_map=KernelMap(gamma=GAMMA)),
    "k-CMLL, wide": CMLLClassifier(30, 3, completion="krylov", feature_map=KernelMap()),
    "k-CPLST": CompactClassifier(CPLST(3), feature_map=KernelMap(gamma=GAMMA)),
    "k-ORI": CompactClassifier(Original(), feature_map=KernelMap(gamma=GAMMA)),
    "foreign": CompactClassifier(CMLL(4, 3), regressor=Ridge()),
    "neighbours": CompactClassifier(CMLL(None, 3), regressor=KNeighborsRegressor(2)),
}
every_method = pytest.mark.parametrize("name", EVERY_METHOD)
# These use the features of all rows, but not their labels: a map, a scale, a kernel's width.
KNOWS_ALL_ROWS = ("scaled", "nystroem", "k-CMLL, wide")
every_refitted = pytest.mark.parametrize("name", sorted(EVERY_METHOD.keys() - KNOWS_ALL_ROWS))
every_decoder = pytest.mark.parametrize("decoder", ["linear", "logistic"])


def tuned_on(model, X, Y, **options):
    """Fit a classifier and return the scores that its threshold was selected on."""
    return model.fit_scored(X, Y, **options).columns(slice(0, Y.shape[1]))


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@every_refitted
def test_scores_are_those_of_models_of_the_other_rows(name, weighted):
    """A threshold is selected on the scores of separate fits of the whole classifier."""
    X, Y = problem((40, 6, 5), 31)
    groups, w = np.arange(40) // 2, None
    if weighted and name != "neighbours":  # they take no weights
        w = np.random.default_rng(31).uniform(0.3, 2.0, 40)
    model = clone(EVERY_METHOD[name]).set_params(threshold="f1")
    found = tuned_on(model, X, Y, sample_weight=w, groups=groups)
    for fold in range(N_FOLDS):
        out = groups % N_FOLDS == fold
        own = clone(model).set_params(threshold=0.5)
        own.fit(X[~out], Y[~out], sample_weight=None if w is None else w[~out])
        np.testing.assert_allclose(found[out], own.decision_function(X[out]), atol=1e-7)


NOISE = {
    "CMLL": CMLLClassifier(),
    "CMLL of the paper": CMLLClassifier(beta=1.0),
    "CMLL_y": CMLLClassifier(None, beta=1.0),
    "FaIE": CompactClassifier(FaIE(beta=100.0)),
    "CPLST": CompactClassifier(CPLST()),
    "DMLR": CompactClassifier(DMLR()),
    "PLST": CompactClassifier(PLST()),
    "ORI": CompactClassifier(Original()),
    "MDDM": CompactClassifier(MDDM()),
    "k-CMLL": CMLLClassifier(beta=1.0, feature_map=KernelMap()),
    "k-CPLST": CompactClassifier(CPLST(), feature_map=KernelMap()),
}


def auc(scores, Y):
    """Return the mean over the labels of the area under the ROC curve."""
    values = []
    for s, y in zip(scores.T, Y.T, strict=True):
        above = (s[y == 1][:, None] > s[y == 0]).mean()
        values.append(above + (s[y == 1][:, None] == s[y == 0]).mean() / 2)
    return np.mean(values)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(100, 40, 40), (300, 30, 200)], ids=str)
@every_decoder
@pytest.mark.parametrize("name", NOISE)
def test_labels_that_are_noise_have_scores_of_no_skill(name, decoder, shape):
    """Labels are independent of X: the AUC is .5, thresholds suit new rows, and probabilities are
    near the frequency."""
    n, n_features, n_labels = shape
    rng = np.random.default_rng(32)
    X, new = rng.normal(size=(n, n_features)), rng.normal(size=(1000, n_features))
    Y, new_Y = ((rng.random((len(rows), n_labels)) < 0.1) * 1 for rows in (X, new))
    Y[0] = 1
    model = clone(NOISE[name]).set_params(decoder=decoder, threshold="f1")
    assert auc(tuned_on(model, X, Y), Y) < 0.52
    # Predicting everything is the best there is: 2 * .1 / (1 + .1) = .18.
    assert micro_f1(new_Y, model.predict(new)) > 0.165
    if decoder == "logistic":
        S = model.decision_function(new)
        loss = (np.logaddexp(0, S) - new_Y * S).mean()
        p = Y.mean(axis=0)
        constant = -(new_Y * np.log(p) + (1 - new_Y) * np.log1p(-p)).mean()
        assert loss < 1.03 * constant


@pytest.mark.parametrize("solver", ["moments", "dual", "krylov"])
@every_decoder
def test_scores_are_the_same_in_every_route(decoder, solver):
    X, Y = problem((60, 8, 6), 33)
    first = tuned_on(CMLLClassifier(5, 3, decoder=decoder, threshold="f1"), X, Y)
    model = CMLLClassifier(5, 3, decoder=decoder, threshold="f1", solver=solver)
    np.testing.assert_allclose(tuned_on(model, X, Y), first, atol=1e-5)


def test_refits_of_folds_do_not_warn(recwarn):
    """All rows have three components; that the other rows of a fold have fewer is no warning."""
    X, Y = problem((40, 6, 3), 35)
    Y[:, 2] = 0
    groups = np.arange(40) % 5
    Y[groups == 2, 2] = 1
    CMLLClassifier(None, 3, beta=0.0, threshold="f1", decoder="logistic").fit(X, Y, groups=groups)
    assert not recwarn.list


# --- held-out folds ------------------------------------------------------------------------------


@every_refitted
def test_a_held_out_fold_is_a_fit_without_a_fold(name, nested_fit_of):
    """The training data of a held-out fold are those of the classifier of the other rows, and
    the codes of the held-out rows are its predictions."""
    X, Y = problem(seed=15)
    groups = np.arange(40) // 2
    model = clone(EVERY_METHOD[name]).set_params(decoder="logistic")
    found = nested_fit_of(model, X, Y, groups=groups)
    folds = list(found.held_out_folds())
    assert len(folds) == N_FOLDS
    for fold, part in enumerate(folds):
        held_out = found.folds.number == fold
        np.testing.assert_array_equal(part.rows, np.flatnonzero(held_out))
        # The groups keep the folds they had among all rows.
        others = groups[~held_out]
        own = nested_fit_of(clone(model), X[~held_out], Y[~held_out], groups=others)
        own.member, own.folds = others, Folds.of_members(others, N_FOLDS)
        own._codes, own._models, own._fold_moments, own._awaited = None, {}, {}, {}
        signs = aligned(own.result.decoder, part.train.linear)
        np.testing.assert_allclose(part.train.codes, own.codes() * signs, atol=1e-7)
        every = slice(0, Y.shape[1])
        np.testing.assert_allclose(part.train.scores(every), own.scores().columns(every), atol=1e-7)
        single = (
            clone(model).set_params(decoder="linear", threshold=0.5).fit(X[~held_out], Y[~held_out])
        )
        np.testing.assert_allclose(part.codes, single.predict_codes(X[held_out]) * signs, atol=1e-7)


def test_a_learner_of_labels_is_fitted_once_for_any_folds_it_is_without(monkeypatch):
    """One fit without each fold and one without each two; both uses share a fit."""
    X, Y = problem(seed=16)
    fits, plain = [], RidgeLearner.predictor
    monkeypatch.setattr(
        RidgeLearner,
        "predictor",
        lambda own, pair, *rest: fits.append(pair.count) or plain(own, pair, *rest),
    )
    model = CompactClassifier(Original(), decoder="logistic", threshold="f1")
    model.fit(X, Y, groups=np.arange(40) // 2)
    assert sorted(fits) == [24] * 10 + [32] * 5


def aligned(own, other):
    """Return the signs that align the codes of two decoders."""
    if own is None:
        return 1.0
    return np.where(np.sum(own * other, axis=1) < 0, -1.0, 1.0)


def test_held_out_folds_of_labels_leave_one_out_among_themselves(nested_fit_of):
    """The other folds have leave-one-out codes, the held-out fold those by their learner."""
    X, Y = problem(seed=15)
    X[9] = X[2]
    found = nested_fit_of(CompactClassifier(Original(), alpha=3.0, decoder="logistic"), X, Y)
    assert found.how() == "leave-one-out"
    folds = list(found.held_out_folds(N_HELD_OUT))
    assert len(folds) == N_HELD_OUT
    for fold, part in enumerate(folds):
        held_out = found.folds.number == fold
        np.testing.assert_array_equal(part.rows, np.flatnonzero(held_out))
        expected = np.empty_like(Y)
        for i, row in enumerate(X):
            others = ~held_out & (X != row).any(axis=1)
            expected[i] = ridge_scores(X[others], Y[others], 3.0, X[[i]])
        np.testing.assert_allclose(part.codes, expected[held_out], atol=1e-9)
        np.testing.assert_allclose(part.train.codes, expected[~held_out], atol=1e-9)


def test_one_group_alone_is_predicted_by_the_mean(nested_fit_of):
    X, Y = problem(seed=14)
    w = np.random.default_rng(14).uniform(0.5, 2.0, size=40)
    for weights in (None, w):
        found = nested_fit_of(
            CompactClassifier(Original()), X, Y, groups=np.zeros(40), sample_weight=weights
        )
        expected = np.average(Y, axis=0, weights=weights)
        np.testing.assert_allclose(found.codes(), np.tile(expected, (40, 1)), atol=1e-12)
        assert not found.folds.number.any()


def test_row_hashes():
    X = np.array([[1.0, 0.0, 2.0], [1.0, 2.0, 0.0], [1.0, 0.0, 2.0], [0, 0, 0], [-0.0, 0, 0]])
    found = row_hashes(X)
    assert found.dtype == np.uint64
    assert found[0] == found[2]
    assert found[3] == found[4]
    assert len(set(found.tolist())) == 3
    np.testing.assert_array_equal(row_hashes(sp.csc_array(X)), found)
    np.testing.assert_array_equal(row_hashes(X.astype(np.float32)), found)
    np.testing.assert_array_equal(row_hashes(np.asfortranarray(X)), found)
    np.testing.assert_array_equal(row_hashes(X[:, :].tolist()), found)


# --- features that no training row has -----------------------------------------------------------


def long_tailed(seed, shape):
    """Return sparse rows of unit length and labels that depend on them."""
    X = long_tailed_rows(seed, *shape)
    rng = np.random.default_rng(seed)
    scores = X @ rng.normal(size=(shape[1], 5)) + 0.3 * rng.normal(size=(shape[0], 5))
    return X, (scores > np.quantile(scores, 0.65, axis=0)).astype(int)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", [(60, 25), (40, 90)], ids=["tall", "wide"])
@pytest.mark.parametrize("rows", ["plain", "weighted and repeated"])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("unit", [True, False])
def test_leave_one_out_without_features_of_one_row(unit, bias, rows, shape, seed, nested_fit_of):
    X, Y = long_tailed(seed, shape)
    members, options, w = np.arange(len(Y)), {}, None
    if rows != "plain":
        members[[5, 9, 11]] = members[[3, 3, 2]]
        X = X[members]
        w = options["sample_weight"] = np.random.default_rng(16).uniform(0.2, 4.0, len(Y))
    if not unit:
        X = 2.0 * X
    made_by = PaperClassifier if bias == "none" else CompactClassifier
    found = nested_fit_of(made_by(Original(), alpha=0.7), X, Y, **options)
    assert found.how() == "leave-one-out"
    expected = np.empty(Y.shape)
    for member in np.unique(members):
        out = members == member
        rest = None if w is None else w[~out]
        new = drop_unseen_features(X[~out], X[out]).toarray()
        expected[out] = ridge_scores(X[~out].toarray(), Y[~out], 0.7, new, rest, bias)
    np.testing.assert_allclose(found.codes(), expected, atol=1e-9)


REDUCED = {
    "moments": CMLLClassifier(solver="moments", n_label_components=3),
    "dual": CMLLClassifier(solver="dual", n_label_components=3),
    "krylov": CMLLClassifier(solver="krylov", n_label_components=3),
    "kernel": CompactClassifier(CMLL(None, 3), feature_map=KernelMap(gamma=0.7)),
    "unit rows": CompactClassifier(CMLL(), feature_map=Normalizer()),
    "neighbours": CompactClassifier(Original(), regressor=KNeighborsRegressor(3)),
    "neighbours of projections": CompactClassifier(CMLL(), regressor=KNeighborsRegressor(3)),
}


@pytest.mark.parametrize("name", REDUCED)
def test_fold_scores_are_those_of_rows_without_unseen_features(name, nested_fit_of):
    """Scores are by refits without each fold, of rows without features unseen in the others."""
    X, Y = long_tailed(1, (70, 60))
    if name == "unit rows":
        X = X.multiply(np.random.default_rng(0).uniform(1, 9, (70, 1))).tocsr()
    model = clone(REDUCED[name])
    found = nested_fit_of(model, X, Y)
    scores = found.scores().columns(slice(None))
    changed = 0
    for fold in np.unique(found.folds.number):
        out = found.folds.number == fold
        new = drop_unseen_features(X[~out], X[out])
        changed += np.abs(new - X[out]).sum() > 0
        own = clone(REDUCED[name]).set_params(threshold=0.5, decoder="linear")
        expected = own.fit(X[~out], Y[~out]).decision_function(new)
        np.testing.assert_allclose(scores[out], expected, atol=1e-6)
    assert changed
