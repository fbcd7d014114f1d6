"""Rows may come in any grouping, with any multiplicity: only their sums count."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, Ridge

from compactlearn import CMLL, CMLLClassifier, CompactClassifier, Moments, Original
from tests.makers import modest

from .helpers import assert_scores, is_well_posed, new_rows, problem

EMBEDDINGS = [
    Original(),
    CMLL(n_label_components=3),
    CMLL(n_feature_components=None, n_label_components=3),
    CMLL(n_feature_components=5, n_label_components=3, completion="krylov"),
]


def gather(X, Y):
    return Moments.from_blocks([(X, Y)])


def scores_from(moments, X_new, embedding=None):
    model = CompactClassifier(CMLL(n_label_components=3) if embedding is None else embedding)
    return model.fit_moments(moments).decision_function(X_new)


# --- partial_fit ---------------------------------------------------------------------------------


@modest
@given(
    n=st.integers(14, 30),
    n_features=st.integers(2, 8),
    n_labels=st.integers(2, 6),
    cuts=st.lists(st.integers(1, 29), max_size=6),
    seed=st.integers(0, 10_000),
)
def test_any_split_of_the_rows_equals_one_fit(n, n_features, n_labels, cuts, seed):
    X, Y = problem(n, n_features, n_labels, seed)
    X_new = new_rows(X)
    m = max(1, n_labels // 2)
    whole = CMLLClassifier(n_label_components=m).fit(X, Y)
    assume(is_well_posed(X, Y, whole.embedding_.beta_, m, min(m, n_features)))
    model = CMLLClassifier(n_label_components=m)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a first block of one row has hardly any rank
        for rows in np.split(np.arange(n), sorted({c for c in cuts if c < n})):
            model.partial_fit(X[rows], Y[rows])
    assert_scores(model.decision_function(X_new), whole.decision_function(X_new))


def test_fit_from_moments_can_be_continued():
    X, Y = problem(80, 6, 5, seed=61)
    X_new = new_rows(X)
    model = CMLLClassifier(n_label_components=3, solver="moments").fit(X[:50], Y[:50])
    model.partial_fit(X[50:], Y[50:])
    whole = CMLLClassifier(n_label_components=3).fit(X, Y)
    assert_scores(model.decision_function(X_new), whole.decision_function(X_new))


@pytest.mark.parametrize("solver", ["dual", "krylov"])
def test_fit_along_another_route_cannot_be_continued(solver):
    X, Y = problem(20, 30, 5, seed=62)
    model = CMLLClassifier(n_label_components=3, solver=solver).fit(X, Y)
    before = model.decision_function(X)
    with pytest.raises((ValueError, RuntimeError), match="moments"):
        model.partial_fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_partial_fit_of_single_label_classes():
    X, Y = problem(90, 6, 3, seed=65)
    y = np.array(["a", "b", "c"])[np.argmax(Y + 0.1 * X[:, :3], axis=1)]
    whole = CMLLClassifier().fit(X, y)
    model = CMLLClassifier()
    order = np.argsort(y, kind="stable")  # the first block has seen one class only
    for rows in np.array_split(order, 3):
        model.partial_fit(X[rows], y[rows], classes=["a", "b", "c"])
    np.testing.assert_array_equal(model.classes_, whole.classes_)
    assert_scores(model.decision_function(X), whole.decision_function(X))
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))


# --- moments as a group --------------------------------------------------------------------------


@pytest.mark.parametrize("embedding", EMBEDDINGS, ids=["ORI", "CMLL", "CMLL_y", "krylov"])
def test_moments_add_and_subtract(embedding):
    X, Y = problem(60, 6, 5, seed=66)
    X_new = new_rows(X)
    a, b, c = (gather(X[rows], Y[rows]) for rows in np.array_split(np.arange(60), 3))
    total = CompactClassifier(embedding).fit(X, Y).decision_function(X_new)
    for moments in ((a + b) + c, a + (b + c), c + a + b):
        assert_scores(scores_from(moments, X_new, embedding), total)
    first = CompactClassifier(embedding).fit(X[:20], Y[:20]).decision_function(X_new)
    assert_scores(scores_from(a, X_new, embedding), first)
    assert_scores(scores_from(((a + b) + c) - (b + c), X_new, embedding), first)
    assert_scores(scores_from(((a + b) - b + c) - c, X_new, embedding), first)


def test_moments_are_values_not_accumulators():
    X, Y = problem(60, 6, 5, seed=67)
    X_new = new_rows(X)
    a, b = gather(X[:30], Y[:30]), gather(X[30:], Y[30:])
    before = scores_from(a, X_new)
    assert (a + b) is not a
    _ = (a + b) - b
    np.testing.assert_array_equal(scores_from(a, X_new), before)
    CMLLClassifier(n_label_components=3).fit_moments(a).partial_fit(X[30:], Y[30:])
    np.testing.assert_array_equal(scores_from(a, X_new), before)


@pytest.mark.parametrize("how", ["fit", "partial_fit", "blocks", "sum"])
@pytest.mark.parametrize("offset", [2.0**20, -(2.0**20)])
def test_large_offsets_do_not_drown_the_covariance(how, offset):
    """X is a multiple of 2^-20, so that adding 2^20 is exact and only the sums can lose digits."""
    X, Y = problem(60, 6, 5, seed=69)
    X = np.round(X * 2**20) / 2**20
    X_new = np.round(new_rows(X) * 2**20) / 2**20
    near = CMLLClassifier(n_label_components=3).fit(X, Y).decision_function(X_new)
    model = CMLLClassifier(n_label_components=3)
    far = X + offset
    splits = np.array_split(np.arange(60), 4)
    if how == "fit":
        model.fit(far, Y)
    elif how == "partial_fit":
        for rows in splits:
            model.partial_fit(far[rows], Y[rows])
    elif how == "blocks":
        model.fit_moments(Moments.from_blocks((far[rows], Y[rows]) for rows in splits))
    else:
        parts = [gather(far[rows], Y[rows]) for rows in splits]
        model.fit_moments((parts[0] + parts[1]) + (parts[2] + parts[3]))
    assert_scores(model.decision_function(X_new + offset), near, 1e-7)


def test_blocks_far_from_each_other():
    """Each block has its own offset: the merge has to carry the distance of the means."""
    X, Y = problem(60, 6, 5, seed=70)
    far = X + np.repeat([0.0, 1e4, -1e4], 20)[:, None]
    splits = np.array_split(np.arange(60), 3)
    direct = CompactClassifier(Original()).fit(far, Y)
    blocks = Moments.from_blocks((far[rows], Y[rows]) for rows in splits)
    merged = CompactClassifier(Original()).fit_moments(blocks)
    assert_scores(merged.decision_function(far), direct.decision_function(far), 1e-7)
    exact = Ridge(alpha=1.0, solver="svd").fit(far, Y).predict(far)
    assert_scores(merged.decision_function(far), exact, 1e-6)


# --- sample weights ------------------------------------------------------------------------------

FITTERS = {
    "foreign ridge": {"regressor": Ridge(alpha=0.5)},
    "foreign least squares": {"regressor": LinearRegression()},
    "scaled": {"scale": True},
}


@pytest.mark.parametrize("params", FITTERS.values(), ids=FITTERS.keys())
@pytest.mark.parametrize("d", ["auto", None])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_weights_are_multiplicities(container, d, params):
    X, Y = problem(40, 7, 5, seed=71, density=0.6)
    X_new = new_rows(X)
    w = np.random.default_rng(2).integers(0, 4, size=40)
    assert set(w) == {0, 1, 2, 3}
    embedding = CMLL(n_feature_components=d, n_label_components=3)
    model = CompactClassifier(embedding).set_params(**params)
    weighted = model.fit(container(X), container(Y), sample_weight=w.astype(float))
    scores = weighted.decision_function(X_new)
    repeated = CompactClassifier(embedding).set_params(**params)
    repeated.fit(container(np.repeat(X, w, axis=0)), container(np.repeat(Y, w, axis=0)))
    assert_scores(scores, repeated.decision_function(X_new))


def test_a_scaled_fit_from_moments_can_go_on():
    """The sums that are kept are those of the features as they came, not of the scaled ones."""
    X, Y = problem(40, 7, 5, seed=0)
    X = X * np.logspace(-2, 2, X.shape[1])
    half = len(X) // 2
    model = CMLLClassifier(3, 3, scale=True, solver="moments", threshold=0.5)
    whole = clone(model).fit(X, Y)
    parts = clone(model).fit(X[:half], Y[:half]).partial_fit(X[half:], Y[half:])
    np.testing.assert_allclose(parts.scale_, whole.scale_, rtol=1e-10)
    np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X), atol=1e-8)
