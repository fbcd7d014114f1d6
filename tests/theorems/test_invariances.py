"""Changes of the data that may not change the answer, for every method.

Where the leading codes are unique (a clear eigengap) scores are compared; at ties only the
objective and the constraints are.
"""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from compactlearn import (
    CMLL,
    CPLST,
    DMLR,
    MDDM,
    PLST,
    CMLLClassifier,
    CompactClassifier,
    FaIE,
    Original,
)
from tests.makers import modest, untuned

from . import literal_methods as literal
from .helpers import (
    assert_orthonormal,
    assert_same_span,
    assert_scores,
    is_well_posed,
    new_rows,
    problem,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*cut:UserWarning")

METHODS = {
    "ORI": Original(),
    "PLST": PLST(),
    "CPLST": CPLST(),
    "DMLR": DMLR(),
    "FaIE": FaIE(),
    "MDDMp": MDDM(),
    "CMLL": CMLL(),
    "CMLL, features kept": CMLL(None),
}
every_method = pytest.mark.parametrize("model", METHODS.values(), ids=METHODS.keys())
fewer = settings(modest, max_examples=10)  # eight methods go through each of these
shapes = st.tuples(st.integers(14, 28), st.integers(2, 20), st.integers(2, 8))
seeds = st.integers(0, 10_000)


def sized(model, X, Y):
    """Half the labels, or features within the rank."""
    model, m = clone(model), max(1, Y.shape[1] // 2)
    if isinstance(model, MDDM):
        rank = np.linalg.matrix_rank((X - X.mean(axis=0)).T @ Y)
        return model.set_params(n_feature_components=max(1, int(rank) // 2))
    if isinstance(model, Original):
        return model
    return model.set_params(n_label_components=m)


def fit_if_unique(model, X, Y):
    """A fitted classifier, or give up on the example where the answer is not unique."""
    model = sized(model, X, Y)
    if isinstance(model, CMLL):
        found = clone(model).fit(X, Y)
        m, d = model.n_label_components, min(model.n_label_components, X.shape[1])
        assume(is_well_posed(X, Y, found.beta_, m, None if found.projection_ is None else d))
    elif isinstance(model, MDDM):
        values = literal.mddm(X, Y, 1).spectrum
        assume(literal.is_unique(values, min(model.n_feature_components, literal.rank_of(values))))
    elif not isinstance(model, Original):
        whole = clone(model).set_params(n_label_components=1.0).fit(X, Y)
        kept = min(model.n_label_components, len(whole.eigenvalues_))
        assume(literal.is_unique(whole.eigenvalues_, kept))
    return CompactClassifier(model).fit(X, Y)


@every_method
@fewer
@given(shape=shapes, seed=seeds)
def test_permutations_permute(model, shape, seed):
    X, Y = problem(*shape, seed=seed)
    rng = np.random.default_rng(seed)
    rows, columns, labels = (rng.permutation(size) for size in shape)
    model = fit_if_unique(model, X, Y)
    moved = clone(model).fit(X[rows][:, columns], Y[rows][:, labels])
    X_new = new_rows(X)
    expected = model.decision_function(X_new)[:, labels]
    assert_scores(moved.decision_function(X_new[:, columns]), expected, 1e-7)


@every_method
@fewer
@given(shape=shapes, seed=seeds, size=st.sampled_from([1.0, 300.0]))
def test_features_that_are_turned_and_shifted_change_no_score(model, shape, seed, size):
    X, Y = problem(*shape, seed=seed)
    rng = np.random.default_rng(seed)
    Q, shift = np.linalg.qr(rng.normal(size=(shape[1], shape[1])))[0], rng.normal(size=shape[1])
    model = fit_if_unique(model, X, Y)
    X_new, expected = new_rows(X), model.decision_function(new_rows(X))
    moved = clone(model).fit(X @ Q + size * shift, Y)
    assert_scores(moved.decision_function(X_new @ Q + size * shift), expected, 1e-7)


def test_a_learner_without_intercept_does_notice():
    X, Y = problem(40, 7, 6, seed=251)
    model = untuned(Original(), bias="none")
    plain = clone(model).fit(X, Y).decision_function(X)
    assert np.abs(model.fit(X + 5, Y).decision_function(X + 5) - plain).max() > 1e-4


@every_method
def test_doubled_rows_and_doubled_penalty_change_nothing(model):
    X, Y = problem(30, 7, 6, seed=253)
    X_new, model = new_rows(X), sized(model, X, Y)
    once = untuned(model, alpha=1.5).fit(X, Y)
    twice = untuned(model, alpha=3.0).fit(np.vstack([X, X]), np.vstack([Y, Y]))
    assert_scores(twice.decision_function(X_new), once.decision_function(X_new))


@every_method
def test_scaled_columns_stop_mattering_once_the_classifier_scales(model):
    X, Y = problem(40, 7, 6, seed=254)
    X_new, units, deviations = new_rows(X), 10.0 ** np.arange(-3, 4), X.std(axis=0)
    model = sized(model, X, Y)
    by_hand = untuned(model).fit(X / deviations, Y).decision_function(X_new / deviations)
    for factors in (np.ones(7), units):
        scaled = untuned(model, scale=True).fit(X * factors, Y)
        assert_scores(scaled.decision_function(X_new * factors), by_hand)


@every_method
@pytest.mark.parametrize("offset", ["mean", "none"])
def test_scores_of_the_training_rows_have_the_labels_mean(model, offset):
    """With a free bias: by the offset, or because nothing was taken off in the first place."""
    X, Y = problem(40, 7, 6, seed=255)
    model = sized(model, X, Y)
    keeps_mean = offset == "mean" or not hasattr(model, "offset")
    if hasattr(model, "offset"):
        model.set_params(offset=offset)
    difference = untuned(model).fit(X, Y).decision_function(X).mean(axis=0) - Y.mean(axis=0)
    if keeps_mean:
        np.testing.assert_allclose(difference, 0, atol=1e-9)
    else:
        assert np.abs(difference).max() > 1e-6


def test_ties_keep_the_objective_under_every_change():
    """Equal eigenvalues at the cut: the codes are not unique, their value is."""
    X = np.kron(np.eye(3), np.ones((4, 1))) @ np.array([[1.0, 0, 0], [0, 2, 0], [0, 0, 3]])
    Y = np.kron(np.eye(4), np.ones((3, 1)))
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    rows = np.random.default_rng(1).permutation(12)
    changed = [
        (X, Y),
        (X, Y[:, ::-1].copy()),
        (X[rows], Y[rows]),
        (X @ Q, Y),
        (X + np.array([5.0, -1.0, 2.0]), Y),
    ]
    for beta in (0.0, 0.2):
        for m in (1, 2, 3):
            fitted = [CMLL(n_label_components=m, beta=beta).fit(*pair) for pair in changed]
            for model in fitted:
                np.testing.assert_allclose(model.objective_, fitted[0].objective_, rtol=1e-9)
                assert_orthonormal(model.codes_)
                assert_orthonormal(model.projection_)


def test_duplicated_rows_keep_constraints_and_share_codes():
    X, Y = problem(8, 6, 4, seed=43)
    X, Y = np.repeat(X, 3, axis=0), np.repeat(Y, 3, axis=0)
    model = CMLL(n_label_components=4, beta=0.2).fit(X, Y)
    assert_orthonormal(model.codes_)
    np.testing.assert_allclose(model.codes_[::3], model.codes_[1::3], atol=1e-9)


@pytest.mark.parametrize("solver", ["auto", "moments", "dual", "krylov"])
def test_all_features_give_the_codes_of_features_kept(solver):
    X, Y = problem(40, 7, 6, seed=44)
    X_new = new_rows(X)
    options = {"n_label_components": 4, "solver": solver, "beta": 0.1}
    full = {"n_feature_components": 7, "completion": "krylov"}
    assert_same_span(
        CMLL(**options, **full).fit(X, Y).codes_,
        CMLL(**options, n_feature_components=None).fit(X, Y).codes_,
    )
    rotated = CMLLClassifier(**options, **full).fit(X, Y)
    kept = CMLLClassifier(**options, n_feature_components=None).fit(X, Y)
    assert_scores(rotated.decision_function(X_new), kept.decision_function(X_new))


def test_all_features_of_wide_data_give_the_scores_of_features_kept():
    """D above N: the completion runs out of directions, the scores may not notice."""
    X, Y = problem(15, 25, 6, seed=45)
    X_new = new_rows(X)
    full = CMLLClassifier(1.0, 4, completion="krylov").fit(X, Y)
    kept = CMLLClassifier(n_feature_components=None, n_label_components=4).fit(X, Y)
    assert_scores(full.decision_function(X), kept.decision_function(X))
    assert_scores(full.decision_function(X_new), kept.decision_function(X_new))
