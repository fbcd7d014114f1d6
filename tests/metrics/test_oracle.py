"""Six rows worked out by hand, under every convention."""

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

KEPT = TRUTH.any(axis=1)


def close(value):
    return pytest.approx(value, abs=5e-7)


@pytest.mark.parametrize(
    ("metric", "convention", "expected"),
    [
        (average_precision, "zhang", 0.729167),
        (average_precision, "sklearn", 0.736111),
        (average_precision, "mulan", 0.783333),
        (ranking_loss, "zhang", 0.354167),
        (ranking_loss, "sklearn", 0.236111),
        (ranking_loss, "mulan", 0.180556),
        (one_error, "zhang", 0.25),
        (one_error, "sklearn", 0.25),
        (one_error, "mulan", 0.5),
        (coverage, "zhang", 1.166667),
        (coverage, "sklearn", 2.333333),
        (coverage, "mulan", 1.333333),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_ranking(metric, convention, expected):
    assert metric(TRUTH, SCORES, convention=convention) == close(expected)
    if convention == "zhang":
        assert metric(TRUTH, SCORES) == close(expected), "the default"


def test_coverage_over_the_number_of_labels():
    assert coverage(TRUTH, SCORES, normalize=True) == close(0.291667)


@pytest.mark.parametrize(
    ("metric", "convention", "expected"),
    [
        (average_precision, "zhang", [0.833333, 1, 0.5, None, None, 0.583333]),
        (average_precision, "sklearn", [0.833333, 0.5, 0.5, 1, 1, 0.583333]),
        (average_precision, "mulan", [0.833333, 1, 0.5, None, 1, 0.583333]),
        (ranking_loss, "zhang", [0.25, 0.333333, 0.333333, None, None, 0.5]),
        (ranking_loss, "sklearn", [0.25, 0.333333, 0.333333, 0, 0, 0.5]),
        (ranking_loss, "mulan", [0.25, 0, 0.333333, 0, 0, 0.5]),
        (one_error, "zhang", [0, 0, 0, None, None, 1]),
        (one_error, "mulan", [0, 0, 1, 1, 0, 1]),
        (coverage, "zhang", [2, 0, 1, -1, 3, 2]),
        (coverage, "sklearn", [3, 2, 2, 0, 4, 3]),
        (coverage, "mulan", [2, 0, 1, 0, 3, 2]),
    ],
    ids=lambda value: getattr(value, "__name__", value) if not isinstance(value, list) else "rows",
)
def test_ranking_row_by_row(metric, convention, expected):
    for truth, scores, value in zip(TRUTH, SCORES, expected, strict=True):
        if value is not None:
            assert metric([truth], [scores], convention=convention) == close(value)


def test_precision_and_gain_of_the_best_labels():
    assert precision_at_k(TRUTH, SCORES, 1) == close(0.5)
    assert precision_at_k(TRUTH, SCORES, 3) == close(0.5)
    assert precision_at_k(TRUTH, SCORES, 1, drop_empty=True) == close(0.6)
    assert precision_at_k(TRUTH, SCORES, 3, drop_empty=True) == close(0.6)
    for convention in ("zhang", "sklearn", "mulan"):
        assert ndcg_at_k(TRUTH, SCORES, 1, convention=convention) == close(0.5)
        assert ndcg_at_k(TRUTH, SCORES, 3, convention=convention) == close(0.707346)
        dropped = ndcg_at_k(TRUTH, SCORES, 3, convention=convention, drop_empty=True)
        assert dropped == close(0.848815)


def test_scikit_learn_shares_the_gain_among_equal_scores():
    for row in (1, 2):
        shared = ndcg_at_k(TRUTH[[row]], SCORES[[row]], 3, convention="sklearn")
        assert shared == pytest.approx(0.8155, abs=5e-5)
    # Lowest index first: the label of row 1 comes second, that of row 2 first.
    assert ndcg_at_k(TRUTH[[1]], SCORES[[1]], 3) == close(1 / np.log2(3))
    assert ndcg_at_k(TRUTH[[2]], SCORES[[2]], 3) == 1


def test_labels():
    strict, inclusive = SCORES > 0.5, SCORES >= 0.5
    assert micro_f1(TRUTH, strict) == close(0.307692)
    assert micro_f1(TRUTH, inclusive) == close(0.470588)
    assert hamming_loss(TRUTH, strict) == hamming_loss(TRUTH, inclusive) == 0.375
    # By rows: 4/5 for the first, and for "mulan" 1 for the empty one; right are that one only.
    assert example_f1(TRUTH, strict) == close(0.8 / 6)
    assert example_f1(TRUTH, strict, convention="mulan") == close(1.8 / 6)
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
