"""alpha="auto": a penalty in the units of the data."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from compactlearn import CMLL, CPLST, CMLLClassifier, CompactClassifier, KernelMap, Moments
from compactlearn.model_selection import GridSearchMoments
from tests.makers import maker

make_data = maker(90, 9, 6, share=0.7)


def unit(X, w=None):
    """The formula, literally."""
    w = np.ones(len(X)) if w is None else w
    mean = w @ X / w.sum()
    deviations = np.sqrt(w @ (X - mean) ** 2 / w.sum())
    return len(deviations) * deviations.mean() ** 2


def fitted(X, Y, **options):
    return CMLLClassifier(alpha="auto", **{"threshold": 0.5} | options).fit(X, Y)


@pytest.mark.parametrize("solver", ["moments", "dual", "krylov"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_it_is_the_formula_in_every_route(solver, form):
    X, Y = make_data(seed=1)
    X = X * np.arange(1, 10) + 5
    model = fitted(form(X), Y, solver=solver)
    assert model.regressor_.alpha == pytest.approx(unit(X))
    given = CMLLClassifier(alpha=unit(X), threshold=0.5).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X), given.decision_function(X), atol=1e-7)


@pytest.mark.parametrize("decoder", ["linear", "logistic"])
@pytest.mark.parametrize("factor", [1e3, 1e-3])
def test_units_do_not_matter(factor, decoder):
    X, Y = make_data(seed=2)
    model = CMLLClassifier(alpha="auto", decoder=decoder)
    groups = np.arange(len(X))  # without them, folds follow from what is in the rows
    plain = clone(model).fit(X, Y, groups=groups)
    other = clone(model).fit(factor * X, Y, groups=groups)
    np.testing.assert_allclose(
        other.decision_function(factor * X), plain.decision_function(X), atol=1e-6
    )
    assert other.threshold_ == pytest.approx(plain.threshold_, abs=1e-6)


def test_a_number_has_units():
    X, Y = make_data(seed=2)
    plain, other = (CMLLClassifier(alpha=1.0).fit(c * X, Y) for c in (1, 1e-3))
    gap = np.abs(other.decision_function(1e-3 * X) - plain.decision_function(X))
    assert gap.max() > 0.1


def test_weights_are_repetitions():
    X, Y = make_data(seed=3)
    w = np.random.default_rng(3).integers(0, 4, size=len(X))
    model = CMLLClassifier(alpha="auto", threshold=0.5).fit(X, Y, sample_weight=w)
    assert model.regressor_.alpha == pytest.approx(unit(np.repeat(X, w, axis=0)))


def test_constant_columns_do_not_count():
    X, Y = make_data(seed=4)
    wide = np.hstack([X, np.full((len(X), 20), 1e5)])
    assert fitted(wide, Y).regressor_.alpha == pytest.approx(unit(X))
    assert fitted(np.ones_like(X), Y).regressor_.alpha == 1.0


def test_columns_are_scaled_first():
    X, Y = make_data(seed=5)
    X = X * np.arange(1, 10)
    model = fitted(X, Y, scale=True)
    assert model.regressor_.alpha == pytest.approx(unit(StandardScaler().fit_transform(X)))


def test_a_kernel_has_the_squared_length_of_its_rows():
    X, Y = make_data(seed=6)
    model = fitted(X, Y, feature_map=KernelMap(kernel="linear"))
    assert model.regressor_.alpha == pytest.approx(X.var(axis=0).sum())


def test_moments_and_parts():
    X, Y = make_data(seed=7)
    whole = fitted(X, Y)
    by_moments = CMLLClassifier(alpha="auto").fit_moments(Moments.from_arrays(X, Y))
    in_parts = CMLLClassifier(alpha="auto").partial_fit(X[:40], Y[:40]).partial_fit(X[40:], Y[40:])
    for other in (by_moments, in_parts):
        assert other.regressor_.alpha == pytest.approx(whole.regressor_.alpha)


def test_an_embedding_that_shares_the_penalty_shares_this_one():
    X, Y = make_data(seed=8)
    model = CompactClassifier(CPLST(n_label_components=3), alpha="auto").fit(X, Y)
    assert model.embedding_.ridge_ == pytest.approx(unit(X))


@pytest.mark.parametrize("embedding", [CMLL(), CPLST(n_label_components=3)], ids=["CMLL", "CPLST"])
def test_searches_take_it_on_every_fold_anew(embedding):
    """Both as a value that is tried, and as the classifier's own."""
    X, Y = make_data(seed=9)
    splits = [(np.arange(60), np.arange(60, 90)), (np.arange(30, 90), np.arange(30))]
    options = {"cv": splits, "refit": False}
    model = CompactClassifier(embedding, threshold=0.5)
    grid = GridSearchMoments(model, {"alpha": ["auto", 3.0]}, **options).fit(X, Y)
    own = GridSearchMoments(model.set_params(alpha="auto"), {"scale": [False]}, **options).fit(X, Y)
    for number, (train, _) in enumerate(splits):
        given = {"alpha": [unit(X[train]), 3.0]}
        literal = GridSearchMoments(model, given, **options).fit(X, Y)
        name = f"split{number}_test_score"
        np.testing.assert_allclose(grid.cv_results_[name], literal.cv_results_[name], atol=1e-9)
        assert own.cv_results_[name][0] == pytest.approx(literal.cv_results_[name][0])


def test_other_words_are_refused():
    X, Y = make_data()
    with pytest.raises(ValueError, match="alpha"):
        CMLLClassifier(alpha="best").fit(X, Y)
