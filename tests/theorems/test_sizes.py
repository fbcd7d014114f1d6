"""Tests of the number of components: ratios, bounds, ranks, and the padding of projections."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlearn import CMLL, CMLLClassifier
from tests.makers import modest

from .helpers import assert_orthonormal, joint_matrix, problem, spectrum


def rounded(ratio, size):
    return max(1, math.floor(ratio * size + 0.5))


@modest
@given(ratio=st.floats(0.001, 1.0), n_features=st.integers(1, 12), n_labels=st.integers(2, 12))
def test_ratio_means_rounding_half_up(ratio, n_features, n_labels):
    X, Y = problem(40, n_features, n_labels, seed=80)
    model = CMLL(ratio, ratio, completion="krylov").fit(X, Y)
    assert model.n_feature_components_ == rounded(ratio, n_features)
    assert model.n_label_components_ == rounded(ratio, n_labels)
    assert model.projection_.shape == (n_features, rounded(ratio, n_features))
    assert model.codes_.shape == (40, rounded(ratio, n_labels))
    assert model.decoder_.shape == (rounded(ratio, n_labels), n_labels)


def test_one_is_a_count_and_one_point_zero_a_ratio():
    X, Y = problem(40, 6, 5, seed=82)
    options = {"completion": "krylov"}
    assert CMLL(n_label_components=1, **options).fit(X, Y).n_label_components_ == 1
    assert CMLL(n_label_components=1.0, **options).fit(X, Y).n_label_components_ == 5
    assert CMLL(n_feature_components=1, **options).fit(X, Y).n_feature_components_ == 1
    assert CMLL(n_feature_components=1.0, **options).fit(X, Y).n_feature_components_ == 6


@pytest.mark.parametrize("n_features", [2, 9])
def test_automatic_features_follow_the_codes(n_features):
    X, Y = problem(40, n_features, 6, seed=83)
    model = CMLL(n_label_components=4).fit(X, Y)
    assert model.n_feature_components_ == model.projection_.shape[1] == min(4, n_features)


@pytest.mark.parametrize("solver", ["auto", "moments", "dual", "krylov"])
@pytest.mark.parametrize("n_labels", [2, 6, 20])
@pytest.mark.parametrize("shape", [(58, 26), (12, 36)])
def test_automatic_features_stay_within_the_rank(shape, n_labels, solver):
    """Rounding noise is not a direction: features of rank 2 never give more than 2."""
    low, Y = problem(shape[0], 2, n_labels, seed=93)
    X = low @ np.random.default_rng(0).normal(size=(2, shape[1]))
    model = CMLL(solver=solver).fit(X, Y)
    assert 1 <= model.n_feature_components_ == model.projection_.shape[1] <= 2


@pytest.mark.parametrize("solver", ["auto", "moments", "dual", "krylov"])
def test_label_components_above_the_rank_are_cut_with_one_warning(solver):
    """beta = 0 and three independent label columns among six: three codes."""
    X, Y = problem(40, 5, 3, seed=84)
    Y = np.hstack([Y, Y])
    with pytest.warns(UserWarning, match="cut") as caught:
        model = CMLL(n_label_components=5, beta=0.0, solver=solver).fit(X, Y)
    assert len(caught) == 1
    text = str(caught[0].message)
    assert "5" in text
    assert "3" in text
    assert model.n_label_components_ == 3
    assert model.codes_.shape == (40, 3)
    assert model.decoder_.shape == (3, 6)
    assert_orthonormal(model.codes_)


def test_more_codes_than_rows_are_cut_to_the_rows():
    X, Y = problem(6, 8, 10, seed=85)
    with pytest.warns(UserWarning, match="cut") as caught:
        model = CMLL(n_label_components=10, beta=0.3).fit(X, Y)
    assert len(caught) == 1
    assert model.n_label_components_ == model.codes_.shape[1] <= 6
    values = spectrum(joint_matrix(X, Y, 0.3))[0]
    np.testing.assert_allclose(model.objective_, values.sum(), rtol=1e-9)


def test_ordinary_fits_warn_about_nothing():
    X, Y = problem(40, 6, 5, seed=86)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for d in ("auto", 6, 0.5, None):
            CMLL(n_feature_components=d).fit(X, Y)
            CMLLClassifier(n_feature_components=d).fit(X, Y).predict(X)
