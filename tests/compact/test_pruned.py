"""Small linear models: what is left of a ridge."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from compactlearn import CMLLClassifier, CompactClassifier, Original
from compactlearn.compact._compression import compressed_parts, packed, unpacked
from compactlearn.compact._pruned import (
    KeptFeatures,
    KeptWeights,
    codes_of_kept_features,
    kept_weights_within,
)
from compactlearn.core._weight import bytes_in
from compactlearn.decoding._linear import linear_parameters

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 20)) * (RNG.random((80, 20)) < 0.6) * RNG.uniform(0.2, 3.0, 20)
X[:, 7] = 1.0  # says nothing
# Label l depends on features 2 l and 2 l + 1 alone.
Y = np.column_stack([X[:, 2 * k] + X[:, 2 * k + 1] > 0.3 for k in range(6)]).astype(float)
Y[:, 5] = 0.0
LABELS = sp.csr_array(Y)


def weights_model(n_weights=30, **more):
    return KeptWeights(n_weights, **({"alpha": 2.0, "refit_alpha": 1.0} | more))


def features_model(n_features=12, codes=3, **more):
    inner = CMLLClassifier(codes, codes, alpha=2.0, decoder="logistic", threshold=0.5)
    return KeptFeatures(inner, n_features, **({"alpha": 2.0} | more))


@pytest.mark.parametrize("scale", [False, True])
def test_all_weights_are_the_ridge(scale):
    ridge = CompactClassifier(Original(), alpha=2.0, scale=scale, threshold=0.5).fit(X, LABELS)
    model = weights_model(10_000, refit_alpha=2.0, scale=scale).fit(X, LABELS)
    np.testing.assert_allclose(model.decision_function(X), ridge.decision_function(X), atol=1e-9)


def test_all_features_are_the_classifier():
    model = features_model(10_000).fit(X, LABELS)
    varied = np.delete(np.arange(20), 7)  # a feature that is constant has no weight
    np.testing.assert_array_equal(model.features_, varied)
    inner = clone(model.classifier).fit(X[:, varied], LABELS)
    np.testing.assert_array_equal(model.decision_function(X), inner.decision_function(X[:, varied]))


def test_what_matters_is_kept():
    model = weights_model(10).fit(X, LABELS)
    kept = {(int(label), int(feature)) for label, feature in np.argwhere(model.weights_.toarray())}
    # Feature 7 is constant: nine weights matter, and the tenth is any other.
    assert {(k, 2 * k + j) for k in range(5) for j in range(2)} - kept == {(3, 7)}
    features = features_model(9).fit(X, LABELS).features_
    np.testing.assert_array_equal(features, np.delete(np.arange(10), 7))


def test_kept_weights_move_scores_more_than_the_others():
    ridge = CompactClassifier(Original(), alpha=2.0, threshold=0.5).fit(X, LABELS)
    moved = np.abs(ridge.coef_.T) * X.std(axis=0)
    kept = weights_model(25).fit(X, LABELS).weights_.toarray() != 0
    assert kept.sum() == 25
    assert moved[kept].min() >= moved[~kept].max()


@pytest.mark.parametrize("make", [weights_model, features_model])
def test_sparse_rows_give_what_dense_ones_give(make):
    dense, sparse = make().fit(X, LABELS), make().fit(sp.csr_array(X), LABELS)
    scores = dense.decision_function(X)
    np.testing.assert_allclose(sparse.decision_function(sp.csr_array(X)), scores, atol=1e-6)
    np.testing.assert_allclose(dense.decision_function(sp.csr_array(X)), scores, atol=1e-10)
    assert dense.n_parameters_ == sparse.n_parameters_


def test_units_of_scaled_columns_do_not_matter():
    units = np.where(np.arange(20) % 3 == 0, 1000.0, 0.01)
    for one in (weights_model(scale=True), features_model(scale=True)):
        if isinstance(one, KeptFeatures):
            # Rows are divided into folds by what they contain, units and all: no folds here.
            one.classifier.set_params(scale=True, decoder="linear")
        scores = clone(one).fit(X, LABELS).decision_function(X)
        other = clone(one).fit(X * units, LABELS).decision_function(X * units)
        np.testing.assert_allclose(other, scores, atol=1e-6)


def test_a_row_of_weight_two_is_that_row_twice():
    weights = np.where(np.arange(80) < 20, 2.0, 1.0)
    twice = np.repeat(np.arange(80), weights.astype(int))
    one = weights_model().fit(X, LABELS, sample_weight=weights).decision_function(X)
    two = weights_model().fit(X[twice], LABELS[twice]).decision_function(X)
    np.testing.assert_allclose(one, two, atol=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 200))
def test_weights_are_within_every_budget(budget):
    count = kept_weights_within(budget, 6)
    if count:
        model = weights_model(count).fit(X, LABELS)
        assert model.n_parameters_ <= budget
        assert model.n_parameters_ > budget - 2 or model.weights_.nnz < count
    else:
        assert budget < 2 + 2 * 6 + 1


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 300), st.integers(1, 20))
def test_features_are_within_every_budget(budget, n_features):
    codes = codes_of_kept_features(budget, n_features, 6)
    if codes:
        inner = CMLLClassifier(codes, codes, alpha=2.0, threshold=0.5)
        assert KeptFeatures(inner, n_features, alpha=2.0).fit(X, LABELS).n_parameters_ <= budget
    if codes < min(n_features, 6):  # one more would be too many
        assert linear_parameters(n_features, 6, None, codes + 1) + n_features > budget


def test_what_is_counted_is_what_is_stored():
    features = features_model(12, 3).fit(X, LABELS)
    assert features.n_parameters_ == 3 * (12 + 6) + 6 + 12  # matrices, constants, places
    model = weights_model().fit(X, LABELS)
    assert bytes_in(compressed_parts(model, "float32")) == 4 * model.n_parameters_
    assert bytes_in(model) == 4 * model.n_parameters_ + 4 * (
        model.weights_.nnz + 6
    )  # 8 for a float64


@pytest.mark.parametrize("make", [weights_model, features_model])
def test_stored_in_smaller_numbers_and_brought_back(make):
    model = make().fit(X, LABELS)
    scores = model.decision_function(X)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), scores)
    small = compressed_parts(model, "float32")
    assert small.n_parameters_ == model.n_parameters_
    np.testing.assert_allclose(small.decision_function(X), scores, atol=1e-4)
    half = unpacked(packed(compressed_parts(model, "float16")))
    np.testing.assert_allclose(half.decision_function(X), scores, atol=0.05)


def test_labels_that_never_vary_have_their_frequency():
    nothing = sp.csr_array(np.zeros((80, 3)))
    model = weights_model().fit(X, nothing)
    assert not model.weights_.nnz
    np.testing.assert_array_equal(model.decision_function(X), np.zeros((80, 3)))
    assert features_model(4, 1).fit(X, nothing).features_.tolist() == [0]
