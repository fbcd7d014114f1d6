"""The engine's scores are those of explicit fits to each training part, and it shares work."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.model_selection import KFold, ParameterGrid, ShuffleSplit

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
from compactlearn.crossfit._folds import Folds
from compactlearn.linalg._moments_pair import MomentsPair
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._rows_pair import RowsPair
from tests.makers import modest

from .helpers import code_gap, engine_scores, folds, make_data, refit_scores

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

LABEL_SIZES = [1, 3, 0.5, 1.0, "auto"]
# 1 is a count and 1.0 a ratio: both are in, and in either order.
FEATURE_SIZES = ["auto", 1.0, 1, 3, 0.6, None]
ALPHAS = [0.01, 20.0]
CODED = {"embedding__n_label_components": LABEL_SIZES, "alpha": ALPHAS}

METHODS = {
    "CMLL none": (
        CMLLClassifier(),
        {
            "n_feature_components": FEATURE_SIZES,
            "n_label_components": [*LABEL_SIZES, None],
            "alpha": ALPHAS,
        },
    ),
    "CMLL krylov": (
        CMLLClassifier(completion="krylov"),
        {
            "n_feature_components": ["auto", 0.6, 7, 1.0, None],
            "n_label_components": [2, 1.0, None],
            "alpha": [1.0],
        },
    ),
    "CMLL decoder": (
        CompactClassifier(CMLL()),
        {
            "embedding__n_feature_components": ["auto", None],
            "embedding__n_label_components": [2, None],
            "embedding__beta": [0.0, 0.3, "auto"],
            "embedding__label_ridge": [0.0, 0.7],
            "embedding__offset": ["mean", "none"],
            "alpha": [1.0],
        },
    ),
    "CMLL inside": (
        CompactClassifier(CMLL(completion="krylov")),
        {
            "embedding__n_feature_components": [2, 6],
            "embedding__n_label_components": [2, 4],
            "embedding__label_ridge": [0.5],
            "alpha": ALPHAS,
        },
    ),
    "scaled": (
        CMLLClassifier(scale=True, completion="krylov"),
        {"n_feature_components": [3, 6, None], "n_label_components": [2, 1.0], "alpha": ALPHAS},
    ),
    "PLST": (CompactClassifier(PLST()), CODED),
    "CPLST shared": (CompactClassifier(CPLST()), CODED),
    "CPLST fixed": (CompactClassifier(CPLST(ridge=0.4)), CODED),
    "DMLR": (CompactClassifier(DMLR()), {**CODED, "embedding__offset": ["mean", "none"]}),
    "FaIE shared": (CompactClassifier(FaIE()), {**CODED, "embedding__beta": [0.1, "auto"]}),
    "FaIE fixed": (CompactClassifier(FaIE(ridge=0.4)), CODED),
    "MDDM": (
        CompactClassifier(MDDM()),
        {
            "embedding__n_feature_components": ["auto", 1, 3, 1.0],
            "embedding__completion": ["none", "krylov"],
            "alpha": ALPHAS,
        },
    ),
    "Original": (CompactClassifier(Original()), {"alpha": [*ALPHAS, 1e4], "scale": [False, True]}),
}
KERNELS = {
    "k-CMLL": (
        CMLLClassifier(feature_map=KernelMap(), random_state=0),
        {
            "n_feature_components": ["auto", 3, None],
            "n_label_components": [3, 1.0, None],
            "completion": ["none", "krylov"],
            "alpha": [0.1],
        },
    ),
    "k-CMLL, width searched": (
        CMLLClassifier(feature_map=KernelMap()),
        {"feature_map__gamma": [0.01, 0.1], "n_label_components": [2, 4], "alpha": ALPHAS},
    ),
    "nystroem": (
        CMLLClassifier(feature_map=KernelMap(n_components=9, algorithm="nystroem"), random_state=5),
        {"n_label_components": [2, 4], "n_feature_components": [3, None], "alpha": ALPHAS},
    ),
    "scaled features of a kernel": (
        CMLLClassifier(feature_map=KernelMap(), scale=True),
        {"n_label_components": [2, 4], "alpha": [1.0]},
    ),
    "k-PLST": (CompactClassifier(PLST(), feature_map=KernelMap()), {"alpha": [0.1, 1.0]}),
}
SHAPES = {"tall": (40, 8, 6), "wide": (20, 30, 4), "square": (12, 7, 9)}


def assert_as_refitted(estimator, grid, X, Y, splits, weights=None, atol=1e-8):
    candidates = list(ParameterGrid(grid))
    found = engine_scores(estimator, candidates, X, Y, splits, weights)
    for (index, number), scores in found.items():
        params = candidates[index]
        expected = refit_scores(estimator, params, X, Y, splits[number], weights)
        np.testing.assert_allclose(scores, expected, rtol=0, atol=atol, err_msg=str(params))


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize(("estimator", "grid"), METHODS.values(), ids=METHODS.keys())
def test_scores_are_those_of_refits(estimator, grid, shape):
    X, Y = make_data(*shape)
    assert_as_refitted(estimator, grid, X, Y, folds(len(X)))


@pytest.mark.parametrize(("estimator", "grid"), KERNELS.values(), ids=KERNELS.keys())
def test_scores_of_kernels_are_those_of_refits(estimator, grid):
    X, Y = make_data(30, 6, 5, seed=4)
    assert_as_refitted(estimator, grid, X, Y, folds(30))


@pytest.mark.parametrize("sparse_labels", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("solver", ["moments", "dual", "krylov"])
def test_scores_in_every_form(form, weighted, solver, sparse_labels):
    X, Y = make_data(36, 9, 5, seed=2, density=0.6)
    weights = np.random.default_rng(0).uniform(0.2, 3, 36) if weighted else None
    if weighted:
        weights[[1, 17]] = 0.0
    grid = {
        "n_feature_components": ["auto", None],
        "n_label_components": [2, 1.0],
        "scale": [False, True],
        "alpha": [0.5],
    }
    estimator = CMLLClassifier(solver=solver, completion="krylov")
    labels = sp.csr_array(Y) if sparse_labels else Y
    assert_as_refitted(estimator, grid, form(X), labels, folds(36), weights)


@pytest.mark.parametrize("shape", [(60, 9), (24, 30)])
@pytest.mark.parametrize("solver", ["moments", "dual", "krylov"])
@pytest.mark.parametrize(
    ("unit", "feature_sizes"), [(1e4, [2, 3, "auto", None]), (1e6, [None]), (1e8, [None])]
)
def test_scores_in_any_units(unit, feature_sizes, solver, shape):
    """A column in large units: one decomposition for all penalties would lose the others. Beyond
    1e4 principal directions follow that column and the rounding of the rest."""
    X, Y = make_data(*shape, 5, seed=2)
    X = X * np.where(np.arange(shape[1]) == 1, unit, 1.0)
    grid = {
        "n_feature_components": feature_sizes,
        "n_label_components": [2, None],
        "alpha": [1e-3, 1.0],
    }
    estimator = CMLLClassifier(solver=solver)
    assert_as_refitted(estimator, grid, X, Y, folds(len(X)), atol=1e-6)


def test_penalty_zero_where_it_is_defined():
    """The least squares limit, on all features and on a projection with and without a tail."""
    X, Y = make_data(60, 6, 4)
    grid = {"n_feature_components": [2, "auto"], "n_label_components": [2, 4], "alpha": [0.0, 1e-9]}
    estimator = CMLLClassifier(beta=10.0)
    assert_as_refitted(estimator, grid, X, Y, folds(60))


@pytest.mark.parametrize(
    "splits",
    [
        list(ShuffleSplit(2, test_size=0.3, random_state=0).split(np.zeros(30))),
        [(np.arange(20), np.arange(20, 30))],
        [(np.arange(10, 30), np.arange(10)), (np.arange(5, 20), np.arange(20, 30))],
        [
            (np.r_[np.arange(15), np.arange(15)], np.arange(15, 30)),
            (np.arange(15, 30), np.arange(15)),
        ],
    ],
    ids=["shuffled", "single", "gaps", "rows twice"],
)
def test_any_splits_will_do(splits):
    """Training parts need not be what the validation rows leave over."""
    folds = Folds.of_splits(splits, 30)
    assert folds is None or not folds.covers_all
    X, Y = make_data(30, 6, 4, seed=1)
    grid = {"n_label_components": [2, 4], "alpha": ALPHAS}
    assert_as_refitted(CMLLClassifier(solver="moments"), grid, X, Y, splits)


def test_a_column_that_varies_in_one_fold_only():
    """The sums of the other folds are not got by subtraction, which would leave no digit."""
    X, Y = make_data(30, 4, 3)
    splits = list(KFold(3).split(X))
    X[:10, 0] *= 1e9
    grid = {"n_label_components": [2, 3], "n_feature_components": [None, 2], "alpha": [1.0]}
    candidates = list(ParameterGrid(grid))
    found = engine_scores(CMLLClassifier(solver="moments", beta=0.5), candidates, X, Y, splits)
    train, test = splits[0]  # the fold without the huge values in training
    for index, params in enumerate(candidates):
        model = CMLLClassifier(solver="moments", beta=0.5, **params).fit(X[train], Y[train])
        expected = model.decision_function(X[test])
        np.testing.assert_allclose(found[index, 0], expected, rtol=1e-8, atol=1e-8)


# --- hard data -----------------------------------------------------------------------------------


@st.composite
def hard_problems(draw):
    """Few rows, constant features, labels that are constant or absent from a fold, one label."""
    n = draw(st.integers(6, 28))
    n_features, n_labels = draw(st.integers(1, 14)), draw(st.integers(1, 6))
    seed = draw(st.integers(0, 10**6))
    X, Y = make_data(n, n_features, n_labels, seed)
    splits = folds(n, draw(st.integers(2, 3)), seed=seed % 100)
    for feature in draw(st.sets(st.integers(0, n_features - 1), max_size=2)):
        X[:, feature] = draw(st.sampled_from([0.0, 3.0]))
    for label in draw(st.sets(st.integers(0, n_labels - 1), max_size=2)):
        how = draw(st.sampled_from(["zero", "one", "only in validation", "only in training"]))
        test = splits[0][1]
        if how in ("zero", "one"):
            Y[:, label] = how == "one"
        else:
            keep = np.isin(np.arange(n), test) == (how == "only in validation")
            Y[:, label] *= keep
    if n_labels == 1:  # read as two classes, and both are needed for a fit
        assume(all(0 < Y[train].sum() < len(train) for train, _ in splits))
    return X, Y, splits


@modest
@given(
    problem=hard_problems(),
    beta=st.sampled_from([0.0, 0.2, 3.0]),
    m=st.sampled_from([1, 2, 0.5, 1.0, None]),
    completion=st.sampled_from(["none", "krylov"]),
    scale=st.booleans(),
    offset=st.sampled_from(["mean", "none"]),
)
def test_hard_data(problem, beta, m, completion, scale, offset):
    X, Y, splits = problem
    n_labels = Y.shape[1]
    assume(not isinstance(m, int) or m <= n_labels)
    count = n_labels if m is None else max(1, round(m * n_labels)) if isinstance(m, float) else m
    assume(not scale or beta == 0 or m is None)  # the gap below is that of the features as they are
    for train, _ in splits:
        if m is not None and Y[train].any():
            assume(code_gap(X[train], Y[train], beta, count) > 1e-6)
    estimator = CompactClassifier(
        CMLL(n_label_components=m, beta=beta, completion=completion, offset=offset),
        scale=scale,
        threshold=0.5,
    )
    sizes = ["auto", None] if completion == "none" else ["auto", 1.0, None]
    grid = {"embedding__n_feature_components": sizes, "alpha": [0.3, 30.0]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_as_refitted(estimator, grid, X, Y, splits)


# --- what is shared ------------------------------------------------------------------------------


def counting(monkeypatch, owner, name):
    calls = []
    original = getattr(owner, name)

    def counted(self, *args, **kwargs):
        calls.append(1)
        return original(self, *args, **kwargs)

    monkeypatch.setattr(owner, name, counted)
    return calls


def test_one_eigenproblem_on_each_fold(monkeypatch):
    X, Y = make_data()
    calls = [counting(monkeypatch, kind, "leading_codes") for kind in (MomentsPair, RowsPair)]
    calls += [counting(monkeypatch, Pair, "leading_codes")] if "leading_codes" in vars(Pair) else []
    grid = {
        "n_label_components": [1, 2, 3, 4, 5, 6],
        "n_feature_components": ["auto", None],
        "alpha": np.logspace(-3, 3, 7).tolist(),
        "label_ridge": [0.0, 1.0],
    }
    for solver in ("moments", "krylov"):
        for seen in calls:
            seen.clear()
        estimator = CMLLClassifier(solver=solver)
        engine_scores(estimator, list(ParameterGrid(grid)), X, Y, folds(40))
        assert max(len(seen) for seen in calls) == 3
