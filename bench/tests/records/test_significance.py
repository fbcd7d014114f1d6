"""Tests on folds: against scipy, by hand, and by what must hold."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from compactlearn_bench.records.significance import (
    corrected_t_test,
    detectable_difference,
    holm,
    paired_t_test,
    t_test_power,
)

SCORES = arrays(np.float64, 5, elements=st.floats(0, 1, width=16))
PROBABILITIES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(SCORES, SCORES)
def test_the_paired_test_is_scipys(a, b):
    found = paired_t_test(a, b)
    gains = a - b
    if np.ptp(gains) > 1e-9:
        expected = stats.ttest_rel(a, b)
        assert found.statistic == pytest.approx(expected.statistic)
        assert found.p_value == pytest.approx(expected.pvalue)
        assert found.gain == pytest.approx(gains.mean())


@given(SCORES, SCORES)
def test_changing_sides_or_direction_turns_the_mark(a, b):
    turned = {"better": "worse", "worse": "better", "none": "none"}
    mark = paired_t_test(a, b).mark
    assert paired_t_test(b, a).mark == turned[mark]
    assert paired_t_test(a, b, greater_is_better=False).mark == turned[mark]


def test_a_constant_difference_is_certain_even_when_rounded():
    a = np.array([0.3, 0.1, 0.7])
    assert np.ptp((a + 0.1) - a) > 0  # rounding, and nothing else
    found = paired_t_test(a + 0.1, a)
    assert (found.p_value, found.mark) == (0.0, "better")
    assert paired_t_test(a, a + 0.1).mark == "worse"


def test_rounding_alone_is_no_difference():
    a = np.array([0.3, 0.1, 0.7])
    assert paired_t_test(a * (1 + 2e-16), a).mark == "none"
    assert paired_t_test(a, a).p_value == 1.0


def test_a_score_that_is_nan_leaves_the_question_open():
    found = paired_t_test([0.1, np.nan, 0.3], [0.1, 0.2, 0.2])
    assert math.isnan(found.p_value)
    assert found.mark == "none"


def test_the_level_is_ten_per_cent():
    gains = np.array([0.0, 0.1, 0.2, 0.3, 0.05])
    for level, mark in ((0.10, "better"), (0.05, "none")):
        p_value = stats.ttest_1samp(gains, 0).pvalue
        assert 0.05 < p_value < 0.10
        assert paired_t_test(gains, np.zeros(5), level=level).mark == mark


def test_the_corrected_test_by_hand():
    gains = np.array([0.1, 0.2, 0.3, 0.15, 0.05])
    found = corrected_t_test(gains, np.zeros(5), n_train=80, n_test=20)
    t = gains.mean() / math.sqrt((1 / 5 + 20 / 80) * gains.var(ddof=1))
    assert found.statistic == pytest.approx(t)
    assert found.p_value == pytest.approx(2 * stats.t.sf(t, 4))


@given(SCORES, SCORES)
def test_the_correction_only_ever_doubts(a, b):
    plain = paired_t_test(a, b)
    corrected = corrected_t_test(a, b, n_train=4, n_test=1)
    assert corrected.p_value >= plain.p_value - 1e-12


@given(PROBABILITIES)
def test_holm_keeps_the_order_and_lies_between_no_and_bonferronis_correction(p):
    p = np.array(p)
    adjusted = holm(p)
    assert (adjusted >= p - 1e-15).all()
    assert (adjusted <= np.minimum(p * p.size, 1) + 1e-15).all()
    order = np.argsort(p, kind="stable")
    assert (np.diff(adjusted[order]) >= 0).all()
    assert adjusted[order[0]] == pytest.approx(min(p.min() * p.size, 1))


def test_the_power_is_what_simulation_finds():
    rng = np.random.default_rng(0)
    gains = rng.normal(0.02, 0.015, size=(40_000, 5))
    noticed = stats.ttest_1samp(gains, 0, axis=1).pvalue <= 0.10
    assert t_test_power(0.02, 0.015, 5) == pytest.approx(noticed.mean(), abs=0.01)


@given(st.floats(1e-3, 10), st.integers(2, 20), st.floats(0.2, 0.95))
def test_the_detectable_difference_is_detected_with_that_power(deviation, folds, power):
    smallest = detectable_difference(deviation, folds, power=power)
    assert t_test_power(smallest, deviation, folds) == pytest.approx(power, abs=1e-6)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: paired_t_test([1, 2], [1, 2, 3]), "got 2 and 3 scores"),
        (lambda: paired_t_test([1], [2]), "at least 2 folds; got 1"),
        (lambda: paired_t_test([[1, 2]], [[1, 2]]), "got 2 dimensions"),
        (
            lambda: corrected_t_test([1, 2], [2, 3], n_train=0, n_test=1),
            "both above 0; got 0 and 1",
        ),
        (lambda: detectable_difference(0.1, 1), "at least 2 folds; got 1"),
        (lambda: detectable_difference(0.1, 5, power=0.05), "below 1; got 0.05"),
    ],
)
def test_refusals_are_sentences(call, words):
    with pytest.raises(ValueError, match=words):
        call()
