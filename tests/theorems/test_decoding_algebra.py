"""From codes to scores to labels: every step recomputed from the fitted parts."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

from compactlearn import CMLL, CompactClassifier, Original
from tests.makers import cmll, modest, ridge_scores

from .helpers import (
    assert_scores,
    is_well_posed,
    literal_scores,
    new_rows,
    problem,
)

SOLVERS = ["auto", "moments", "dual", "krylov"]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("label_ridge", [0.0, 0.1, 3.0])
@pytest.mark.parametrize("d", [2, 5, None])
def test_decoder_is_the_shrunken_product_of_codes_and_labels(d, label_ridge, solver):
    X, Y = problem(35, 9, 6, seed=20)
    model = CMLL(
        n_feature_components=d, n_label_components=4, label_ridge=label_ridge, solver=solver
    ).fit(X, Y)
    np.testing.assert_allclose(model.decoder_, model.codes_.T @ Y / (1 + label_ridge), atol=1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("label_ridge", [0.0, 0.7])
def test_offset_restores_the_label_mean(label_ridge, solver):
    X, Y = problem(35, 9, 6, seed=21)
    options = {"n_label_components": 4, "label_ridge": label_ridge, "solver": solver}
    model = CMLL(**options).fit(X, Y)
    expected = Y.mean(axis=0) - model.codes_.mean(axis=0) @ model.decoder_
    np.testing.assert_allclose(model.offset_, expected, atol=1e-10)
    scores = cmll(**options).fit(X, Y).decision_function(X)
    np.testing.assert_allclose(scores.mean(axis=0), Y.mean(axis=0), atol=1e-10)

    bare = CMLL(**options, offset="none").fit(X, Y)
    np.testing.assert_array_equal(bare.offset_, np.zeros(6))


def test_decode_and_transform_are_what_they_say():
    X, Y = problem(35, 9, 6, seed=22)
    model = CMLL(n_feature_components=3, n_label_components=3).fit(X, Y)
    assert_scores(model.decode(model.codes_), model.codes_ @ model.decoder_ + model.offset_, 1e-12)
    assert_scores(model.transform(X), X @ model.projection_, 1e-12)
    again = CMLL(n_feature_components=3, n_label_components=3)
    assert_scores(again.fit_transform(X, Y), X @ again.projection_, 1e-12)

    kept = CMLL(n_feature_components=None, n_label_components=3).fit(X, Y)
    np.testing.assert_array_equal(kept.transform(X), X)


@modest
@given(
    n=st.integers(6, 30),
    n_features=st.integers(1, 12),
    n_labels=st.integers(2, 8),
    alpha=st.sampled_from([1e-3, 1.0, 50.0]),
    seed=st.integers(0, 10_000),
)
def test_original_is_plain_ridge(n, n_features, n_labels, alpha, seed):
    X, Y = problem(n, n_features, n_labels, seed)
    X_new = new_rows(X)
    scores = CompactClassifier(Original(), alpha=alpha).fit(X, Y).decision_function(X_new)
    assert_scores(scores, Ridge(alpha=alpha).fit(X, Y).predict(X_new))
    assert_scores(scores, ridge_scores(X, Y, alpha, X_new))


@modest
@given(
    n=st.integers(12, 30),
    n_features=st.integers(2, 12),
    n_labels=st.integers(2, 7),
    share=st.floats(0.1, 1.0),
    alpha=st.sampled_from([1e-2, 1.0, 50.0]),
    label_ridge=st.sampled_from([0.0, 0.1]),
    offset=st.sampled_from(["mean", "none"]),
    keep=st.booleans(),
    seed=st.integers(0, 10_000),
)
def test_scores_equal_the_literal_method(
    n, n_features, n_labels, share, alpha, label_ridge, offset, keep, seed
):
    X, Y = problem(n, n_features, n_labels, seed)
    X_new = new_rows(X)
    m = max(1, round(share * n_labels))
    d = None if keep else min(m, n_features)
    model = cmll(
        n_feature_components=d,
        n_label_components=m,
        label_ridge=label_ridge,
        offset=offset,
        alpha=alpha,
    ).fit(X, Y)
    beta = model.embedding_.beta_
    assume(is_well_posed(X, Y, beta, m, d))
    expected = literal_scores(
        X, Y, X_new, beta, m, d, alpha=alpha, label_ridge=label_ridge, offset=offset
    )
    assert_scores(model.decision_function(X_new), expected)


@pytest.mark.parametrize("shape", [(60, 5, 4), (20, 40, 6), (30, 3, 12)])
@pytest.mark.parametrize("d", ["auto", 2, None])
def test_linear_model_on_request(shape, d):
    X, Y = problem(*shape, seed=25)
    X_new = new_rows(X)
    model = cmll(n_feature_components=d, n_label_components=0.5).fit(X, Y)
    assert model.coef_.shape == (shape[1], shape[2])
    assert model.intercept_.shape == (shape[2],)
    assert_scores(X_new @ model.coef_ + model.intercept_, model.decision_function(X_new), 1e-10)


@pytest.mark.parametrize("threshold", [0.5, 0.2])
def test_linear_model_of_two_classes(threshold):
    X, Y = problem(60, 5, 2, seed=25)
    y = Y[:, 0].astype(int)
    for embedding in (CMLL(), Original()):
        model = CompactClassifier(embedding, threshold=threshold).fit(X, y)
        scores = (X @ model.coef_ + model.intercept_).ravel()
        assert_scores(scores, model.decision_function(X), 1e-10)


@pytest.mark.parametrize("d", ["auto", 2, None])
@pytest.mark.parametrize("offset", ["mean", "none"])
def test_predicted_codes_decode_to_the_scores(d, offset):
    X, Y = problem(35, 9, 6, seed=26)
    X_new = new_rows(X)
    model = cmll(n_feature_components=d, n_label_components=4, offset=offset).fit(X, Y)
    codes = model.predict_codes(X_new)
    assert codes.shape == (len(X_new), 4)
    decoded = codes @ model.embedding_.decoder_ + model.embedding_.offset_
    assert_scores(decoded, model.decision_function(X_new), 1e-10)
    assert_scores(model.embedding_.decode(codes), decoded, 1e-12)


def test_predicted_codes_are_in_the_units_of_the_training_codes():
    """With hardly any penalty, and as many features as rows, the learner returns the codes."""
    X, Y = problem(12, 20, 5, seed=27)
    options = {"n_feature_components": None, "n_label_components": 3, "beta": 0.1}
    codes = CMLL(**options).fit(X, Y).codes_
    predicted = cmll(**options, alpha=1e-9).fit(X, Y).predict_codes(X)
    np.testing.assert_allclose(predicted, codes, atol=1e-6)


@pytest.mark.parametrize("threshold", [0.5, 0.2, -0.1, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]])
@pytest.mark.parametrize("embedding", [Original(), CMLL(n_label_components=3)])
def test_labels_are_scores_above_the_threshold(embedding, threshold):
    X, Y = problem(60, 9, 6, seed=29)
    model = CompactClassifier(embedding, threshold=threshold).fit(X, Y)
    scores = model.decision_function(X)
    labels = model.predict(X)
    np.testing.assert_array_equal(labels, scores > model.threshold_)
    np.testing.assert_array_equal(labels, scores > np.asarray(threshold))
    assert 0 < labels.sum() < labels.size


def test_a_score_equal_to_the_threshold_is_not_a_label():
    X, Y = problem(60, 9, 6, seed=30)
    scores = cmll(n_label_components=3).fit(X, Y).decision_function(X)
    model = cmll(n_label_components=3, threshold=float(scores[4, 2])).fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(X), scores)
    assert model.predict(X)[4, 2] == 0
    below = cmll(n_label_components=3, threshold=float(np.nextafter(scores[4, 2], -np.inf))).fit(
        X, Y
    )
    assert below.predict(X)[4, 2] == 1


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("shape", [(40, 60, 50), (40, 30, 90)], ids=["factored", "multiplied out"])
def test_labels_and_scores_agree_to_the_last_bit(shape, container):
    """Every label's threshold is a score that occurs: computed otherwise, it would flip."""
    X, Y = problem(*shape, seed=34, density=0.5)
    rows = container(np.tile(X, (150, 1)) + np.random.default_rng(0).random((6000, 1)))
    model = cmll(n_label_components=5).fit(X, Y)
    for row in (0, 17, 2999, 4321, 5999):
        threshold = model.decision_function(rows)[row]
        again = cmll(n_label_components=5, threshold=threshold).fit(X, Y)
        scores = again.decision_function(rows)
        np.testing.assert_array_equal(again.predict(rows), scores > again.threshold_)
        assert not again.predict(rows)[row].any()


@pytest.mark.parametrize("k", [1, 3, 6])
def test_best_labels_are_the_head_of_the_sorted_scores(k):
    X, Y = problem(60, 9, 6, seed=31)
    model = cmll(n_label_components=3).fit(X, Y)
    scores = model.decision_function(X)
    indices, best = model.predict_topk(X, k)
    assert indices.shape == best.shape == (60, k)
    assert np.issubdtype(indices.dtype, np.integer)
    np.testing.assert_allclose(best, -np.sort(-scores, axis=1)[:, :k], atol=1e-12)
    np.testing.assert_allclose(np.take_along_axis(scores, indices, axis=1), best, atol=1e-12)
    assert all(len(set(row)) == k for row in indices)
