"""Ranks over data sets: Demšar's worked example, scipy, and what must hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from compactlearn_bench.records.ranks import (
    average_ranks,
    critical_difference,
    friedman,
    iman_davenport,
    indistinguishable,
    post_hoc,
    wilcoxon,
)

# Demšar 2006: ranks of C4.5, C4.5+m, C4.5+cf and C4.5+m+cf on 14 data sets. Ranks rather than
# scores, because his are printed with three digits, and one tie among them is only the rounding's.
DEMSAR = np.array(
    [
        [4, 3, 2, 1],
        [1, 2, 3, 4],
        [4, 1, 2, 3],
        [4, 1, 3, 2],
        [4, 2, 3, 1],
        [1, 2.5, 4, 2.5],
        [3, 2, 4, 1],
        [2.5, 2.5, 4, 1],
        [4, 3, 2, 1],
        [2.5, 2.5, 2.5, 2.5],
        [4, 2.5, 1, 2.5],
        [3, 2, 4, 1],
        [4, 1, 2, 3],
        [3, 1, 4, 2],
    ]
)
TABLES = arrays(np.float64, (6, 4), elements=st.integers(0, 5).map(float))


def test_demsars_average_ranks():
    assert average_ranks(DEMSAR, greater_is_better=False) == pytest.approx(
        [3.143, 2.000, 2.893, 1.964], abs=5e-4
    )


def test_demsars_friedman_test():
    """He does not correct for ties, so the statistic is made from the ranks here."""
    ranks = average_ranks(DEMSAR, greater_is_better=False)
    chi_squared = 12 * 14 / (4 * 5) * ((ranks**2).sum() - 4 * 25 / 4)
    assert chi_squared == pytest.approx(9.28, abs=5e-3)
    f_statistic, p_value = iman_davenport(chi_squared, 14, 4)
    assert f_statistic == pytest.approx(3.69, abs=5e-3)
    assert p_value == pytest.approx(stats.f.sf(f_statistic, 3, 39))
    assert friedman(DEMSAR).chi_squared > chi_squared  # ties corrected


def test_demsars_post_hoc_test():
    """z of 2.416, 2.342 and 0.512: p of 0.016, 0.019 and 0.607, then Holm's factors 3, 2 and 1."""
    found = post_hoc(average_ranks(DEMSAR, greater_is_better=False), 14, control=0)
    assert np.isnan(found[0])
    assert found[[3, 1, 2]] == pytest.approx([3 * 0.0157, 3 * 0.0157, 0.609], abs=2e-3)


@pytest.mark.parametrize(
    ("k", "q"),
    list(enumerate([1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164], start=2)),
)
def test_nemenyis_critical_values(k, q):
    """Demšar's table for a level of 0.05; 6 N = k (k + 1) leaves q itself."""
    assert critical_difference(k, 6) / np.sqrt(k * (k + 1) / 36) == pytest.approx(q, abs=1e-3)


@given(TABLES)
def test_the_friedman_test_is_scipys(scores):
    found = friedman(scores)
    if (scores == scores[:, :1]).all():
        assert found.p_value == 1
    else:
        expected = stats.friedmanchisquare(*scores.T)
        assert found.chi_squared == pytest.approx(expected.statistic)
        assert found.p_value == pytest.approx(expected.pvalue)


@given(TABLES, st.booleans())
def test_ranks_add_up_and_turn_with_the_direction(scores, greater):
    ranks = average_ranks(scores, greater_is_better=greater)
    assert ranks.sum() == pytest.approx(10)
    assert average_ranks(-scores, greater_is_better=not greater) == pytest.approx(ranks)


@given(TABLES)
def test_groups_are_maximal_and_hold_together(scores):
    ranks = average_ranks(scores)
    groups = [set(group) for group in indistinguishable(ranks, 1.0)]
    for group in groups:
        values = ranks[sorted(group)]
        assert np.ptp(values) <= 1.0 + 1e-9
        assert not any(group < other for other in groups)
    for i in range(4):
        for j in range(i):
            together = any({i, j} <= group for group in groups)
            assert together == (abs(ranks[i] - ranks[j]) <= 1.0 + 1e-12)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: friedman([[1, 2]]), "got 2 methods on 1"),
        (lambda: average_ranks([1, 2]), r"shape \(2,\)"),
        (lambda: average_ranks([[1, np.nan]]), "with gaps"),
        (lambda: critical_difference(1, 3), "got 1 methods and 3"),
        (lambda: wilcoxon([1, 2], [1]), r"shape \(2,\) and \(1,\)"),
    ],
)
def test_refusals_are_sentences(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_demsars_wilcoxon_test():
    """C4.5+m less C4.5 in thousandths. Of the two zeros each side has half: R- = 12 of 105.

    z = (12 - 52.5) / sqrt(14 * 15 * 29 / 24 - 2 * 6 / 48), two pairs being tied.
    """
    gains = [5, -8, 17, 33, 6, -5, 7, 0, 63, 0, 22, 47, 9, 21]
    z = (12 - 52.5) / np.sqrt(14 * 15 * 29 / 24 - 2 * 6 / 48)
    assert wilcoxon(gains, [0] * 14) == pytest.approx(2 * stats.norm.sf(-z), abs=1e-6)
