"""Every metric against the plain-Python definitions, with ties and unknown labels."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import UndefinedMetricWarning

from compactlearn import metrics

from . import literal
from .data import problems, random_problem, steady

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")

RANKING = ("average_precision", "ranking_loss", "one_error", "coverage")


def same(value, expected):
    return value == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("unknown", [False, True], ids=["known", "unknown"])
@steady
@given(data=st.data())
def test_ranking(unknown, data):
    truth, scores = data.draw(problems(unknown=unknown))
    for name in RANKING:
        value = getattr(metrics, name)(truth, scores)
        assert same(value, getattr(literal, name)(truth, scores)), name


@pytest.mark.parametrize("unknown", [False, True], ids=["known", "unknown"])
@steady
@given(data=st.data())
def test_best_labels(unknown, data):
    truth, scores = data.draw(problems(unknown=unknown))
    k = data.draw(st.integers(1, truth.shape[1]))
    weights = np.linspace(1, 3, truth.shape[1]) ** 2
    for name in ("ndcg_at_k", "precision_at_k", "f1_at_k"):
        found = getattr(metrics, name)(truth, scores, k)
        assert same(found, getattr(literal, name)(truth, scores, k)), name
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


@pytest.mark.parametrize("seed", range(3))
def test_unknown_labels_have_no_influence(seed):
    truth, scores = random_problem(seed, levels=4, unknown=0.4)
    unknown = np.isnan(truth)
    rng = np.random.default_rng(seed)
    filled = np.where(unknown, rng.integers(0, 2, truth.shape), truth)
    expected = metrics.evaluate(truth, scores, k=(1, 5, 12))
    for level in (-1e300, -7.0, 0.25, 1e300):
        moved = np.where(unknown, level, scores)
        shuffled = np.where(unknown, rng.normal(size=scores.shape), scores)
        for S in (moved, shuffled):
            options = {"k": (1, 5, 12)}
            assert metrics.evaluate(truth, S, **options) == expected
            assert metrics.evaluate(filled, S, mask=~unknown, **options) == expected
            Y = sparse.csr_array(filled)
            assert metrics.evaluate(Y, S, mask=sparse.csr_array(~unknown), **options) == expected


def test_nan_and_mask_add_up():
    truth, scores = random_problem(5, unknown=0.3)
    mask = np.random.default_rng(5).random(truth.shape) < 0.7
    both = np.where(mask, truth, np.nan)
    assert metrics.evaluate(truth, scores, mask=mask) == metrics.evaluate(both, scores)


@pytest.mark.parametrize(
    "scale", [1e-60, 1e-8, 1.0, 1e38, 1e300], ids=["1e-60", "1e-8", "1", "1e38", "1e300"]
)
def test_scores_that_single_precision_cannot_tell_apart(scale):
    """The sort is in single precision; what it merges must be looked at again."""
    rng = np.random.default_rng(0)
    truth = (rng.random((40, 9)) < 0.4).astype(float)
    scores = (1 + rng.integers(0, 6, truth.shape) * 1e-12) * scale
    scores[::3] *= -1
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for name in RANKING:
            value = getattr(metrics, name)(truth, scores)
            assert same(value, getattr(literal, name)(truth, scores)), name
        truth[rng.random(truth.shape) < 0.3] = np.nan
        value = metrics.average_precision(truth, scores)
        assert same(value, literal.average_precision(truth, scores))


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int64, np.float16, np.float32])
@pytest.mark.parametrize("unknown", [0.0, 0.3], ids=["known", "unknown"])
def test_scores_of_every_type(dtype, unknown):
    truth, scores = random_problem(3, levels=3, unknown=unknown)
    scores = ((scores + 0.5) * 4).astype(dtype)
    for name in RANKING:
        expected = getattr(literal, name)(truth, scores)
        assert same(getattr(metrics, name)(truth, scores), expected), name


def test_large_whole_numbers_keep_their_order():
    big = 2**60
    scores = np.array([[big + 1, big, big + 2]])
    assert metrics.average_precision([[1, 0, 0]], scores) == 0.5
    assert metrics.ranking_loss([[0, 1, 0]], scores) == 1


def test_two_zeros_are_equal():
    assert metrics.ranking_loss([[1, 0], [0, 1]], [[0.0, -0.0], [0.0, -0.0]]) == 1
    assert metrics.average_precision([[1, 0], [0, 1]], [[-0.0, 0.0], [0.0, -0.0]]) == 0.75


def test_the_layout_in_memory_does_not_matter():
    truth, scores = random_problem(8, 50, 40, unknown=0.1)
    expected = metrics.evaluate(truth, scores)
    assert metrics.evaluate(np.asfortranarray(truth), np.asfortranarray(scores)) == expected
    padded = np.full((100, 80), 9.0)
    padded[::2, ::2] = scores
    assert metrics.evaluate(truth, padded[::2, ::2]) == expected


@pytest.mark.parametrize("cell", [0.0, 1.0, np.nan], ids=["empty", "full", "unknown"])
def test_rows_of_one_kind(cell):
    truth, scores = np.full((3, 4), cell), np.arange(12.0).reshape(3, 4)
    for name in RANKING:
        expected = getattr(literal, name)(truth, scores)
        if math.isnan(expected):
            with pytest.warns(UndefinedMetricWarning, match=f"{name} need a row with a"):
                assert math.isnan(getattr(metrics, name)(truth, scores))
        else:
            assert getattr(metrics, name)(truth, scores) == expected


@pytest.mark.parametrize("n_labels", [1, 2, 3, 31, 32, 33, 64, 100])
def test_every_width_of_a_row(n_labels):
    for levels in (0, 3):
        truth, scores = random_problem(n_labels, 20, n_labels, levels)
        for name in RANKING:
            expected = getattr(literal, name)(truth, scores)
            assert same(getattr(metrics, name)(truth, scores), expected)
