"""Missing positives and flipped labels: what corrected labels are on average, and who sees them."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge

from compactlearn import CMLL, CompactClassifier, Original
from compactlearn.compact._noisy_labels import estimated_noise
from compactlearn.core._label_correction import Correction, check_rates
from compactlearn.decoding._held_out import known_alone
from compactlearn.decoding._logistic import fit_logistic
from compactlearn.decoding._thresholds import STRATEGIES, tune
from compactlearn.metrics import micro_f1, propensities
from tests.unknown.problems import problem, sparse, with_nan


def every_outcome(Y, correction):
    """Yield every outcome of observing a few labels, and its probability."""
    n = Y.size
    for flips in range(2**n):
        flipped = np.array([flips >> k & 1 for k in range(n)], bool).reshape(Y.shape)
        rate = np.where(Y > 0, correction.false_negative, correction.false_positive)
        probability = np.where(flipped, rate, 1 - rate).prod()
        yield np.where(flipped, 1 - Y, Y), probability


@pytest.mark.parametrize(
    "correction",
    [
        Correction(np.zeros(3), np.array([0.5, 0.2, 0.0])),  # missing positives
        Correction(np.array([0.1, 0.0, 0.3]), np.array([0.2, 0.4, 0.3])),
    ],
    ids=["missing", "flipped"],
)
def test_sufficient_statistics_are_those_of_the_true_labels_on_average(correction):
    """Exactly: the mean over all outcomes, each with its probability."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(3, 2)), np.array([[1.0, 0, 1], [0, 0, 1], [1, 1, 0]])
    sums, cross, gram, total = np.zeros(3), np.zeros((2, 3)), np.zeros((3, 3)), 0.0
    squares = np.zeros(3)
    for seen, probability in every_outcome(Y, correction):
        corrected = correction.corrected(sparse(seen)).toarray()
        sums += probability * corrected.sum(axis=0)
        cross += probability * X.T @ corrected
        gram += probability * corrected.T @ corrected
        squares += probability * (corrected**2).sum(axis=0)
        total += probability
    assert total == pytest.approx(1.0)
    np.testing.assert_allclose(sums, Y.sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(cross, X.T @ Y, atol=1e-12)
    apart = ~np.eye(3, dtype=bool)
    np.testing.assert_allclose(gram[apart], (Y.T @ Y)[apart], atol=1e-12)
    f, m, left = correction.false_positive, correction.false_negative, correction.left
    variance = (Y * m * (1 - m) + (1 - Y) * f * (1 - f)).sum(axis=0) / left**2
    np.testing.assert_allclose(squares, Y.sum(axis=0) + variance, atol=1e-12)


def test_scores_of_labels_kept_are_those_of_the_true_labels_on_average():
    """A ridge is linear in its labels, so that its scores are right on average, too."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(4, 2))
    Y = np.array([[1.0, 0], [0, 1], [1, 1], [0, 0]])
    p = np.array([0.5, 0.8])
    model = CompactClassifier(Original(), threshold=0.5)
    expected = model.fit(X, Y).decision_function(X)
    unlabelled = clone(model).set_params(positive_unlabelled=True, propensities=p)
    noisy = clone(model).set_params(label_noise=([0.2, 0.0], [0.3, 0.2]))
    for own, correction in (
        (unlabelled, Correction(np.zeros(2), 1 - p)),
        (noisy, check_rates(([0.2, 0.0], [0.3, 0.2]), 2)),
    ):
        total = np.zeros_like(expected)
        for seen, probability in every_outcome(Y, correction):
            if probability:
                total += probability * own.fit(X, sparse(seen)).decision_function(X)
        np.testing.assert_allclose(total, expected, atol=1e-9)


def test_missing_positives_are_noise_of_one_kind():
    X, Y, unknown = problem()
    p = np.linspace(0.4, 0.9, 5)
    one = CompactClassifier(CMLL(n_label_components=3), positive_unlabelled=True, propensities=p)
    other = CompactClassifier(CMLL(n_label_components=3), label_noise=(0.0, 1 - p))
    given = with_nan(Y, unknown)
    np.testing.assert_array_equal(
        one.fit(X, given).decision_function(X), other.fit(X, given).decision_function(X)
    )
    np.testing.assert_allclose(one.label_noise_[1], 1 - p)
    usual = CompactClassifier(CMLL(n_label_components=3), positive_unlabelled=True).fit(X, Y)
    np.testing.assert_allclose(1 - usual.label_noise_[1], propensities(Y))


def test_labels_that_are_unknown_stay_so_and_are_completed_as_corrected_ones():
    X, Y, unknown = problem()
    rates = check_rates((0.2, 0.1), 5)
    corrected = rates.corrected(sparse(np.where(unknown, 0, Y)), sparse(unknown)).toarray()
    np.testing.assert_array_equal(corrected[unknown], 0.0)
    np.testing.assert_allclose(corrected[~unknown], ((Y - 0.2) / 0.7)[~unknown])
    model = CompactClassifier(Original(), label_noise=(0.2, 0.1), threshold=0.5)
    scores = model.fit(X, with_nan(Y, unknown)).decision_function(X)
    for j in range(5):
        k = ~unknown[:, j]
        ridge = Ridge(alpha=1.0).fit(X[k], ((Y - 0.2) / 0.7)[k, j])
        np.testing.assert_allclose(scores[:, j], ridge.predict(X), atol=1e-9)


def test_flipped_labels_are_decided_better_when_they_are_corrected_for():
    X, Y, _ = problem(1500, 8, 6)
    train, test = slice(0, 750), slice(750, 1500)
    rng = np.random.default_rng(0)
    flipped = rng.random(Y[train].shape) < np.where(Y[train] > 0, 0.25, 0.2)
    seen = np.where(flipped, 1 - Y[train], Y[train])
    for decoder in ("linear", "logistic"):
        reached = {}
        for noise in (None, (0.2, 0.25), "auto"):
            model = CompactClassifier(
                CMLL(n_label_components=6), decoder=decoder, label_noise=noise
            )
            model.fit(X[train], seen)
            reached[noise] = micro_f1(Y[test], model.predict(X[test]))
        assert reached[0.2, 0.25] > reached[None] + 0.01
        assert reached["auto"] > reached[None]
    f, m = (rate[0] for rate in model.label_noise_)
    assert 0.15 < f < 0.3
    assert 0.2 < m < 0.4


def test_rates_are_read_where_labels_are_certain():
    rng = np.random.default_rng(0)
    truth = (np.arange(2000)[:, None] % [2, 3, 4] == 0).astype(float)
    scores = truth + 0.1 * rng.random(truth.shape)
    scores[:, 2] = rng.random(2000)  # this one is all noise
    flipped = rng.random(truth.shape) < np.where(truth > 0, 0.3, 0.1)
    seen = np.where(flipped, 1 - truth, truth)
    unknown = rng.random(truth.shape) < 0.3
    found = estimated_noise(
        lambda j: scores[:, j], sparse(np.where(unknown, 0, seen)), sparse(unknown)
    )
    np.testing.assert_allclose(found.false_positive, 0.1, atol=0.04)
    np.testing.assert_allclose(found.false_negative, 0.3, atol=0.06)
    nothing = estimated_noise(lambda j: scores[:5, j], sparse(seen[:5]))
    assert not nothing.false_positive.any()  # too few rows to read anything from
    assert not nothing.false_negative.any()


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_thresholds_of_labels_that_need_no_correction_are_the_ordinary_ones(strategy):
    scores, Y, unknown = problem(90, 4, 4)
    w = np.random.default_rng(0).uniform(0.5, 2.0, 90)
    columns = known_alone(lambda j: scores[:, j], sparse(unknown))
    labels = sparse(np.where(unknown, 0.0, Y))
    np.testing.assert_allclose(
        tune(strategy, columns, labels, w, corrected=True),
        tune(strategy, columns, labels, w),
        atol=1e-12,
    )


def test_the_gradient_of_the_logistic_loss_of_corrected_labels_is_0():
    """It is linear in the labels at any coefficients, and so that of true labels on average."""
    rng = np.random.default_rng(0)
    Z, Y = rng.normal(size=(4, 2)), np.array([[1.0, 0], [0, 1], [1, 1], [0, 0]])
    correction = check_rates((0.1, 0.2), 2)
    corrected = correction.corrected(sparse(Y)).toarray()
    B = fit_logistic(Z, corrected, 3.0, tol=1e-12).coefficients
    P = 1 / (1 + np.exp(-(Z @ B[:-1] + B[-1])))
    np.testing.assert_allclose(Z.T @ (P - corrected) + 3.0 * B[:-1], 0.0, atol=1e-8)
    np.testing.assert_allclose((P - corrected).sum(axis=0), 0.0, atol=1e-8)


def test_refusals():
    X, Y, _ = problem()
    for options, message in (
        ({"label_noise": 0.1}, "label_noise must be None, 'auto' or a pair of rates"),
        ({"label_noise": (0.1, [0.1, 0.2])}, "one for each of the 5 labels"),
        ({"label_noise": "much"}, "label_noise must be None, 'auto' or a pair of rates"),
        ({"label_noise": (0.6, 0.5)}, "together at most 0.95"),
        ({"label_noise": (-0.1, 0.5)}, "must be at least 0"),
        ({"propensities": np.ones(5)}, "need positive_unlabelled=True"),
        ({"positive_unlabelled": True, "propensities": [1.0]}, "one number for each of the 5"),
        ({"positive_unlabelled": True, "propensities": np.zeros(5)}, "between 0.05 and 1"),
        ({"positive_unlabelled": True, "label_noise": "auto"}, "give one: missing positives"),
        (
            {"positive_unlabelled": 3},
            "'positive_unlabelled' of CompactClassifier must be True or False",
        ),
    ):
        model = CompactClassifier(CMLL(n_label_components=3)).fit(X, Y)
        expected = model.decision_function(X)
        with pytest.raises(ValueError, match=message):
            model.set_params(**options).fit(X, Y)
        np.testing.assert_array_equal(model.decision_function(X), expected)
    noisy = CompactClassifier(label_noise=(0.1, 0.1))
    with pytest.raises(ValueError, match="y is a vector of classes; pass a 0/1 matrix"):
        noisy.fit(X, Y[:, 0])
    with pytest.raises(AttributeError, match="labels as they are"):
        noisy.partial_fit(X, Y)
    with pytest.raises(ValueError, match="A fit of blocks or of Dask collections takes labels"):
        noisy.fit_blocks([(X, Y)])


CORRECTIONS = {"unlabelled": {"positive_unlabelled": True}, "auto": {"label_noise": "auto"}}


@pytest.mark.parametrize("hidden", [0.0, 0.2], ids=["known", "partial"])
@pytest.mark.parametrize("asked", CORRECTIONS.values(), ids=CORRECTIONS)
@pytest.mark.parametrize("seed", range(6))
def test_a_weight_is_that_many_copies_of_the_row(asked, hidden, seed):
    """Weights that follow the labels, so that rates of the rows and of their weights differ."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(240, 4))
    Y = (X @ rng.normal(size=(4, 3)) > 1).astype(float)
    Y = np.where(rng.random(Y.shape) < 0.12, 1 - Y, Y)
    weights = np.where(Y[:, 0] == 1, rng.integers(2, 5, 240), rng.integers(0, 3, 240))
    Y = with_nan(Y, (rng.random(Y.shape) < hidden) & (np.arange(3) > 0))
    copies = rng.permutation(np.repeat(np.arange(240), weights))
    # Labels kept are completed exactly, whatever the order of rows.
    embedding = Original() if hidden else CMLL()
    model = CompactClassifier(embedding, threshold=0.5, **asked)
    one = clone(model).fit(X, Y, sample_weight=weights)
    other = clone(model).fit(X[copies], Y[copies])
    np.testing.assert_allclose(one.label_noise_, other.label_noise_, atol=1e-9)
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-7)


def test_propensities_need_three_rows_by_weight():
    X, Y, _ = problem()
    model = CompactClassifier(positive_unlabelled=True)
    with pytest.raises(ValueError, match=r"at least 3 rows, counted by their weights; got 0\.6"):
        model.fit(X, Y, sample_weight=np.full(60, 0.01))
