"""Six rows worked out by hand."""

import numpy as np
import pytest

from compactlearn.metrics import (
    average_precision,
    coverage,
    example_f1,
    hamming_loss,
    inverse_propensities,
    micro_f1,
    ndcg_at_k,
    one_error,
    precision_at_k,
    propensities,
    psndcg_at_k,
    psp_at_k,
    rankable_rows,
    ranking_loss,
    subset_accuracy,
)

from .data import SCORES, TRUTH


def close(value):
    return pytest.approx(value, abs=5e-7)


@pytest.mark.parametrize(
    ("metric", "expected", "by_row"),
    [
        (average_precision, 0.729167, [0.833333, 1, 0.5, None, None, 0.583333]),
        (ranking_loss, 0.354167, [0.25, 0.333333, 0.333333, None, None, 0.5]),
        (one_error, 0.25, [0, 0, 0, None, None, 1]),
        (coverage, 1.166667, [2, 0, 1, -1, 3, 2]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_ranking(metric, expected, by_row):
    assert metric(TRUTH, SCORES) == close(expected)
    for truth, scores, value in zip(TRUTH, SCORES, by_row, strict=True):
        if value is not None:
            assert metric([truth], [scores]) == close(value)


def test_precision_and_gain_of_the_best_labels():
    assert precision_at_k(TRUTH, SCORES, 1) == close(0.5)
    assert precision_at_k(TRUTH, SCORES, 3) == close(0.5)
    assert ndcg_at_k(TRUTH, SCORES, 1) == close(0.5)
    assert ndcg_at_k(TRUTH, SCORES, 3) == close(0.707346)
    # Lowest index first: the label of row 1 comes second, that of row 2 first.
    assert ndcg_at_k(TRUTH[[1]], SCORES[[1]], 3) == close(1 / np.log2(3))
    assert ndcg_at_k(TRUTH[[2]], SCORES[[2]], 3) == 1


def test_labels():
    strict, inclusive = SCORES > 0.5, SCORES >= 0.5
    assert micro_f1(TRUTH, strict) == close(0.307692)
    assert micro_f1(TRUTH, inclusive) == close(0.470588)
    assert hamming_loss(TRUTH, strict) == hamming_loss(TRUTH, inclusive) == 0.375
    # By rows: 4/5 for the first; right is the empty one only.
    assert example_f1(TRUTH, strict) == close(0.8 / 6)
    assert subset_accuracy(TRUTH, strict) == close(1 / 6)


def test_propensities():
    w = inverse_propensities([7, 3, 2, 1], n_samples=8)
    np.testing.assert_allclose(w, [1.550663, 1.781267, 1.897075, 2.079442], atol=5e-7)
    np.testing.assert_allclose(propensities([7, 3, 2, 1], n_samples=8), 1 / w, rtol=1e-15)
    assert psp_at_k(TRUTH, SCORES, 1, weights=w) == close(0.505348)
    assert psp_at_k(TRUTH, SCORES, 3, weights=w) == close(0.967391)
    assert psndcg_at_k(TRUTH, SCORES, 3, weights=w) == close(0.807289)


def test_the_rows_left_out_can_be_asked_for():
    np.testing.assert_array_equal(rankable_rows(TRUTH), [1, 1, 1, 0, 0, 1])
    masked = rankable_rows(TRUTH, mask=np.arange(4) < [[4], [2], [1], [4], [4], [2]])
    np.testing.assert_array_equal(masked, [1, 1, 0, 0, 0, 1])
