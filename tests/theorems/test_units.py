"""Tests that units of columns change a model only through the penalty."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import Ridge

from compactlearn import CMLL, CPLST, DMLR, MDDM, PLST, CompactClassifier, FaIE, Original
from compactlearn.crossfit import _decoder_fitter as decisions

SHAPES = [(120, 9), (25, 60)]
FORMS = [np.asarray, sp.csr_array]


def problem(shape, unit, seed=0):
    """Labels that depend on ordinary columns and on one in large units alike."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=shape)
    Y = (X[:, :4] + 0.5 * X[:, 4:5] > 0).astype(int)
    X[:, 4] *= unit
    return X, Y


def ridge(X, Y, alpha):
    """Ridge regression by an orthogonal factorisation of rows with columns of one length."""
    Xc = X - X.mean(axis=0)
    Z = np.vstack([Xc, np.sqrt(alpha) * np.eye(X.shape[1])])
    size = np.linalg.norm(Z, axis=0)
    T = np.vstack([Y - Y.mean(axis=0), np.zeros((X.shape[1], Y.shape[1]))])
    B = np.linalg.lstsq(Z / size, T, rcond=None)[0] / size[:, None]
    return Xc @ B + Y.mean(axis=0)


def relative(error, scores):
    return np.abs(error).max() / np.abs(scores).max()


@pytest.mark.parametrize("unit", [1e6, 1e7, 1e8, 1e-8])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("form", FORMS)
def test_the_built_in_ridge_is_a_ridge_in_any_units(form, shape, unit):
    X, Y = problem(shape, unit)
    scores = CompactClassifier(Original(), alpha=1.0).fit(form(X), Y).decision_function(form(X))
    expected = ridge(X, Y, 1.0)
    assert relative(scores - expected, expected) < 1e-8
    peer = Ridge(alpha=1.0, solver="svd").fit(X, Y).predict(X)
    assert relative(scores - peer, peer) < 1e-6  # as far as that one's own rounding


@pytest.mark.parametrize("unit", [1e6, 1e8])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("solver", ["moments", "dual", "krylov"])
@pytest.mark.parametrize("form", FORMS)
def test_every_solver_is_a_ridge_in_any_units(form, solver, shape, unit):
    X, Y = problem(shape, unit)
    kept = CMLL(n_feature_components=None, n_label_components=None, solver=solver)
    model = CompactClassifier(kept, alpha=1.0)
    expected = ridge(X, Y, 1.0)
    scores = model.fit(form(X), Y).decision_function(form(X))
    assert relative(scores - expected, expected) < 1e-8


@pytest.mark.parametrize("unit", [1e6, 1e8])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("solver", ["moments", "dual", "krylov"])
def test_the_ridge_on_a_projection_is_one_in_any_units(solver, shape, unit):
    """Given the projection and the codes, which may follow the large column."""
    X, Y = problem(shape, unit)
    embedding = CMLL(n_feature_components=4, n_label_components=None, solver=solver)
    model = CompactClassifier(embedding, alpha=1.0).fit(X, Y)
    P = model.embedding_.projection_
    projected = (X - X.mean(axis=0)) @ P
    expected = ridge(projected, Y, 1.0)
    error = model.decision_function(X) - expected
    assert relative(error, expected) < 1e-7  # a rounding of P counts as much as the unit is large


@pytest.mark.parametrize("unit", [1e6, 1e8])
@pytest.mark.parametrize("shape", SHAPES)
def test_left_out_rows_are_left_out_in_any_units(shape, unit, monkeypatch):
    """The learnt decoder rests on leave-one-out: the same in units that a penalty hardly notices,
    whether columns are large or the penalty small. (Its own penalty is chosen by folds, which the
    content of the rows decides; here it is fixed.)"""
    monkeypatch.setattr(decisions, "choose_penalty", lambda folds: 0.1)
    X, Y = problem(shape, unit)
    small = X / np.where(np.arange(X.shape[1]) == 4, unit, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        large = CompactClassifier(Original(), alpha=1.0, decoder="logistic").fit(X, Y)
        # Nine of the sixteen digits of that column are its unit; its own penalty is then nothing.
        near = CompactClassifier(Original(), alpha=1.0, decoder="logistic")
        near.fit(small * np.where(np.arange(X.shape[1]) == 4, 1e3, 1.0), Y)
    scores = large.decision_function(X)
    others = near.decision_function(small * np.where(np.arange(X.shape[1]) == 4, 1e3, 1.0))
    assert relative(scores - others, others) < 1e-4


EMBEDDINGS = {
    **{
        f"CMLL {completion}": CMLL(6, 3, completion=completion) for completion in ("none", "krylov")
    },
    "CMLL, features kept": CMLL(None, 3),
    "MDDM": MDDM(),
    "PLST": PLST(3),
    "CPLST": CPLST(3),
    "DMLR": DMLR(3),
    "FaIE": FaIE(3),
}


@pytest.mark.parametrize("unit", [1e-150, 1e-100, 1e100, 1e150])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("solver", ["moments", "dual", "krylov"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", EMBEDDINGS)
def test_one_unit_for_all_columns_changes_nothing(name, form, solver, shape, unit):
    """With an automatic balance, and a penalty in the square of that unit."""
    X, Y = problem(shape, 1.0)
    embedding = clone(EMBEDDINGS[name]).set_params(solver=solver)
    expected = CompactClassifier(embedding, alpha=1.0).fit(form(X), Y).decision_function(form(X))
    model = CompactClassifier(embedding, alpha=unit**2).fit(form(unit * X), Y)
    scores = model.decision_function(form(unit * X))
    np.testing.assert_allclose(scores, expected, atol=1e-7)


@pytest.mark.parametrize("unit", [1e-160, 1e-250, 1e160])
@pytest.mark.parametrize("solver", ["moments", "dual", "krylov"])
@pytest.mark.parametrize("form", FORMS)
def test_units_whose_squares_are_no_numbers_are_refused(form, solver, unit):
    X, Y = problem((30, 6), 1.0)
    with pytest.raises(ValueError, match=r"sum of squares of .*divide the features by"):
        CMLL(solver=solver).fit(form(unit * X), Y)


@pytest.mark.parametrize("unit", [1e-90, 1e90])
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("solver", ["moments", "dual", "krylov"])
def test_one_unit_for_all_weights_changes_nothing(solver, scale, unit):
    X, Y = problem((50, 8), 1.0)
    weights = np.random.default_rng(1).uniform(0.5, 2, 50)
    embedding = CMLL(4, 3, solver=solver)
    expected = CompactClassifier(embedding, alpha=1.0, scale=scale).fit(X, Y, weights)
    model = CompactClassifier(embedding, alpha=unit, scale=scale).fit(X, Y, unit * weights)
    scores = model.decision_function(X)
    np.testing.assert_allclose(scores, expected.decision_function(X), atol=1e-8)


@pytest.mark.parametrize("unit", [1e-300, 1e300])
def test_weights_whose_squares_are_no_numbers_are_refused(unit):
    X, Y = problem((30, 6), 1.0)
    with pytest.raises(
        ValueError, match=r"largest sample_weight must lie between 1e-100 and 1e\+100"
    ):
        CompactClassifier().fit(X, Y, np.full(30, unit))


def test_a_row_of_next_to_no_weight_is_no_row():
    X, Y = problem((30, 6), 1.0)
    weights = np.where(np.arange(30) == 0, 1e-300, 1.0)
    for solver in ("moments", "dual", "krylov"):
        model = CompactClassifier(CMLL(4, 3, solver=solver)).fit(X, Y, weights)
        without = CompactClassifier(CMLL(4, 3, solver=solver)).fit(X[1:], Y[1:])
        np.testing.assert_allclose(
            model.decision_function(X), without.decision_function(X), atol=1e-8
        )
