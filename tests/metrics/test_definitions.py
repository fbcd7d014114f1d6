"""Every metric against the plain-Python definitions, with ties and unknown labels."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from compactlearn import metrics

from . import literal
from .data import SCORES, TRUTH, probabilities, problems, random_problem, same, steady

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")

RANKING = ("average_precision", "ranking_loss", "one_error", "coverage")


def assert_rankings_are_right(truth, scores):
    for name in RANKING:
        expected = getattr(literal, name)(truth, scores)
        assert same(getattr(metrics, name)(truth, scores), expected), name


@pytest.mark.parametrize(
    ("name", "expected", "by_row"),
    [
        ("average_precision", 0.729167, [0.833333, 1, 0.5, None, None, 0.583333]),
        ("ranking_loss", 0.354167, [0.25, 0.333333, 0.333333, None, None, 0.5]),
        ("one_error", 0.25, [0, 0, 0, None, None, 1]),
        ("coverage", 1.166667, [2, 0, 1, -1, 3, 2]),
        ("precision_at_3", 0.5, [2 / 3, 1 / 3, 1 / 3, 0, 1, 2 / 3]),
        ("ndcg_at_3", 0.707346, [None, 1 / np.log2(3), 1, 0, 1, None]),
    ],
)
def test_six_rows_worked_out_by_hand(name, expected, by_row):
    function = metrics.get_metric(name).function
    assert function(TRUTH, SCORES) == pytest.approx(expected, abs=5e-7)
    for truth, scores, value in zip(TRUTH, SCORES, by_row, strict=True):
        if value is not None:
            assert function([truth], [scores]) == pytest.approx(value, abs=5e-7)


def test_propensities_worked_out_by_hand():
    w = metrics.inverse_propensities([7, 3, 2, 1], n_samples=8)
    np.testing.assert_allclose(w, [1.550663, 1.781267, 1.897075, 2.079442], atol=5e-7)
    labels = np.repeat(np.tri(8)[[7, 0], :4], [1, 7], axis=0)
    np.testing.assert_array_equal(
        metrics.propensities(sparse.csc_matrix(labels), A=0.6, B=2.6),
        1 / metrics.inverse_propensities(labels.sum(axis=0), n_samples=8, A=0.6, B=2.6),
    )
    assert metrics.psp_at_k(TRUTH, SCORES, 3, weights=w) == pytest.approx(0.967391, abs=5e-7)
    assert metrics.psndcg_at_k(TRUTH, SCORES, 3, weights=w) == pytest.approx(0.807289, abs=5e-7)


@pytest.mark.parametrize("unknown", [False, True], ids=["known", "unknown"])
@steady
@given(data=st.data())
def test_scores(unknown, data):
    truth, scores = data.draw(problems(unknown=unknown))
    assert_rankings_are_right(truth, scores)
    k = data.draw(st.integers(1, truth.shape[1]))
    for name in ("ndcg_at_k", "precision_at_k", "r_precision_at_k", "f1_at_k"):
        found = getattr(metrics, name)(truth, scores, k)
        assert same(found, getattr(literal, name)(truth, scores, k)), name
    weights = np.linspace(1, 3, truth.shape[1]) ** 2
    for metric, discounted in ((metrics.psp_at_k, False), (metrics.psndcg_at_k, True)):
        expected = literal.propensity_scored(truth, scores, k, weights, discounted)
        assert same(metric(truth, scores, k, weights=weights), expected)


@pytest.mark.parametrize("unknown", [False, True], ids=["known", "unknown"])
@steady
@given(data=st.data())
def test_labels(unknown, data):
    truth, scores = data.draw(problems(unknown=unknown))
    labels = scores > data.draw(st.sampled_from([-1.0, 0.0, 0.5, 99.0]))
    for name, expected in literal.label_metrics(truth, labels).items():
        for Y in (truth, sparse.csr_array(truth)):
            for L in (labels, sparse.csr_array(labels)):
                assert same(getattr(metrics, name)(Y, L), expected), name


@pytest.mark.parametrize("unknown", [False, True], ids=["known", "unknown"])
@steady
@given(data=st.data())
def test_probabilities(unknown, data):
    truth, scores = data.draw(problems(unknown=unknown))
    # Sixteenths hit the boundaries of 8 bins, and 0 and 1 themselves.
    sixteenths = np.round(16 * probabilities(scores, 9)) / 16
    P = data.draw(st.sampled_from([probabilities(scores), sixteenths]))
    bins = data.draw(st.sampled_from([1, 8, 15]))
    for Y in (truth, sparse.csr_array(truth)):
        assert same(metrics.log_loss(Y, P), literal.log_loss(truth, P, 1e-6))
        found = metrics.calibration_error(Y, P, bins=bins)
        assert same(found, literal.calibration_error(truth, P, bins))


@pytest.mark.parametrize("seed", range(3))
def test_unknown_labels_have_no_influence(seed):
    truth, scores = random_problem(seed, levels=4, unknown=0.4)
    unknown = np.isnan(truth)
    rng = np.random.default_rng(seed)
    options = {"k": (1, 5, 12), "threshold": 0.0}
    expected = metrics.evaluate(truth, scores, **options)
    for other in (-1e300, -7.0, 0.25, 1e300, rng.normal(size=scores.shape)):
        moved = np.where(unknown, other, scores)
        for Y in (truth, sparse.csr_array(truth)):
            assert metrics.evaluate(Y, moved, **options) == expected


@pytest.mark.parametrize("scale", [1e-60, 1e-8, 1.0, 1e38, 1e300])
def test_scores_that_are_equal_in_single_precision(scale):
    """The sort is in single precision; scores that it merges must be compared again."""
    rng = np.random.default_rng(0)
    truth = (rng.random((40, 9)) < 0.4).astype(float)
    truth[::4][rng.random((10, 9)) < 0.3] = np.nan
    scores = (1 + rng.integers(0, 6, truth.shape) * 1e-12) * scale
    scores[::3] *= -1
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert_rankings_are_right(truth, scores)


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float16, np.float32])
@pytest.mark.parametrize("unknown", [0.0, 0.3], ids=["known", "unknown"])
def test_scores_of_every_type(dtype, unknown):
    truth, scores = random_problem(3, levels=3, unknown=unknown)
    assert_rankings_are_right(truth, ((scores + 0.5) * 4).astype(dtype))


def test_large_whole_numbers_keep_their_order_and_two_zeros_are_equal():
    big = 2**60
    scores = np.array([[big + 1, big, big + 2]])
    assert metrics.average_precision([[1, 0, 0]], scores) == 0.5
    assert metrics.ranking_loss([[0, 1, 0]], scores) == 1
    assert metrics.average_precision([[1, 0], [0, 1]], [[-0.0, 0.0], [0.0, -0.0]]) == 0.75


@pytest.mark.parametrize("n_labels", [1, 2, 3, 31, 32, 33, 64, 100])
def test_every_width_of_a_row(n_labels):
    for levels in (0, 3):
        assert_rankings_are_right(*random_problem(n_labels, 20, n_labels, levels))
