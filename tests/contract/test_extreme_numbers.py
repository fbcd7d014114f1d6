"""Features of any size give finite scores or an error that says what to do, and never NaN."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from compactlearn import ShortlistClassifier
from compactlearn.related import LPP
from tests.contract.every_classifier import EVERY
from tests.makers import as_dense, make_data, untuned

pytestmark = pytest.mark.filterwarnings("ignore")

X, Y = make_data()
FACTORS = (1e-300, 1e-160, 1e-39, 1e10, 1e39, 1e160, 1e300)
ADVICE = ("divide", "scale", "lower", "too large", "gamma", "square", "liblinear")


def finite_or_refused(model, rows, fitted_to=None):
    """Return whether all scores and probabilities are finite, or an error gives advice."""
    try:
        if fitted_to is not None:
            model.fit(fitted_to, Y)
        names = [name for name in ("decision_function", "predict_proba") if hasattr(model, name)]
        found = [as_dense(getattr(model, name)(rows)) for name in names]
    except ValueError as error:
        return any(word in str(error).lower() for word in ADVICE)
    return all(np.isfinite(part).all() for part in found)


@pytest.mark.parametrize("name", EVERY)
def test_scores_of_rows_of_any_size_are_finite(name):
    model = clone(EVERY[name]).fit(X, Y)
    for factor in FACTORS:
        assert finite_or_refused(model, X * factor), factor


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("factor", [1e-160, 1e39, 1e160, 1e300])
def test_models_of_rows_of_any_size_have_finite_scores(name, factor):
    assert finite_or_refused(clone(EVERY[name]), X * factor, fitted_to=X * factor)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_shortlist_of_rows_of_unit_length_does_not_depend_on_their_units(form):
    model = ShortlistClassifier(random_state=0).fit(form(X), Y)
    expected = as_dense(model.predict_proba(form(X)))
    for factor in FACTORS:
        found = as_dense(model.predict_proba(form(X * factor)))
        np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("factor", [1e9, 1e20, 1e39])
def test_a_shortlist_refuses_rows_too_long_for_single_precision(factor):
    model = ShortlistClassifier(unit_rows=False, random_state=0)
    with pytest.raises(ValueError, match=r"lengths of at most 1e\+08.*Divide the features"):
        model.fit(X * factor, Y)
    model.fit(X, Y)
    with pytest.raises(ValueError, match=r"lengths of at most 1e\+08.*Divide the features"):
        model.predict(X * factor)


@pytest.mark.parametrize("n_features", [3, 30, 500])
@pytest.mark.parametrize("n_rows", [2, 5, 8, 13, 20])
@pytest.mark.parametrize("width", [1e-6, 1.0, "auto"])
def test_near_rows_of_any_distance_have_directions(n_rows, n_features, width):
    """Also where exp(-distance^2 / width) is 0 in double precision for all pairs of rows."""
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(n_rows, n_features)), np.arange(2 * n_rows).reshape(-1, 2) % 2
    model = untuned(LPP(width=width)).fit(rows, labels)
    assert np.isfinite(model.decision_function(rows)).all()
