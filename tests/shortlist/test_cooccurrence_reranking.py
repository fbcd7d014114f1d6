"""The last stage of a shortlist: a small network of inputs that all labels share."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as some
from scipy.special import expit

from compactlearn.core._seeds import seeded
from compactlearn.shortlist import _cooccurrence_reranking as reranking
from compactlearn.shortlist._compiled_ranking import _INPUTS
from compactlearn.shortlist._cooccurrence_reranking import CooccurrenceReranking


def rows_of(n, scale=2.0, seed=1):
    """Return inputs of candidates, margins twice too large, and whether they are present."""
    rng = np.random.default_rng(seed)
    true = rng.normal(-2.0, scale, size=n)
    inputs = np.zeros((n, _INPUTS))
    inputs[:, 0] = 2.0 * true
    return true, inputs, rng.random(n) < expit(true)


def learnt(inputs, present, weights=None, seed=0):
    counts = np.ones(present.size) if weights is None else weights
    return CooccurrenceReranking.learn(inputs, present, counts, seeded(seed))


# ---- shares of a change -------------------------------------------------------------------------

NUMBERS = st.floats(-50.0, 50.0, allow_subnormal=False)


@given(
    first=some.arrays(float, (3, 4), elements=NUMBERS),
    biases=some.arrays(float, 4, elements=NUMBERS),
    second=some.arrays(float, 4, elements=NUMBERS),
    before=some.arrays(float, (5, 3), elements=NUMBERS),
    after=some.arrays(float, (5, 3), elements=NUMBERS),
)
@settings(max_examples=200, deadline=None)
def test_shares_add_up_to_the_change(first, biases, second, before, after):
    stage = CooccurrenceReranking(first, biases, second, 0.5)
    after[0] = before[0]  # no change
    after[1, 1:] = before[1, 1:]  # of one input
    shares = stage.mean_gradients(before, after) * (after - before)
    change = stage.exact_scores(after) - stage.exact_scores(before)
    size = np.abs(before) @ np.abs(first) + np.abs(after) @ np.abs(first) + np.abs(biases)
    allowed = 1e-11 * (1.0 + size @ np.abs(second))
    assert (np.abs(shares.sum(axis=1) - change) <= allowed).all()
    assert (shares[0] == 0).all()
    assert (shares[1, 1:] == 0).all()


def test_shares_are_means_of_gradients_on_the_line():
    rng = np.random.default_rng(0)
    stage = CooccurrenceReranking(
        rng.normal(size=(3, 8)), rng.normal(size=8), rng.normal(size=8), 0
    )
    before, after = rng.normal(size=(2, 6, 3))
    mean = np.zeros((6, 3))
    for t in (np.arange(20_000) + 0.5) / 20_000:
        units = (before + t * (after - before)) @ stage.first + stage.biases
        mean += ((units > 0) * stage.second) @ stage.first.T / 20_000
    np.testing.assert_allclose(stage.mean_gradients(before, after), mean, atol=2e-3)
    there = ((before @ stage.first + stage.biases > 0) * stage.second) @ stage.first.T
    np.testing.assert_allclose(stage.mean_gradients(before, before), there)


# ---- absent candidates that are drawn ------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_candidates_that_are_drawn_count_for_all(monkeypatch, weighted):
    """In every range of margins, not only together; all present ones are used, and count once."""
    monkeypatch.setattr(reranking, "_ABSENT", 2_000)
    _, inputs, present = rows_of(40_000)
    inputs[:, 1] = inputs[:, 0]
    weights = 1.0 + np.arange(present.size) % 3 if weighted else np.ones(present.size)
    bands = [inputs[:, 0] < -6, (inputs[:, 0] >= -6) & (inputs[:, 0] < -2), inputs[:, 0] >= -2]
    totals, drawn = np.zeros((200, 3)), []
    for k in range(200):
        pairs, counts = reranking._sampled(inputs, present, weights, seeded(k))
        np.testing.assert_array_equal(counts[present[pairs]], weights[present])
        every = np.zeros(present.size)
        every[pairs] = counts
        totals[k] = [every[band & ~present].sum() for band in bands]
        drawn.append((~present[pairs]).sum())
    expected = [weights[band & ~present].sum() for band in bands]
    error = totals.std(axis=0) / np.sqrt(200)
    assert (error < 0.05 * np.array(expected)).all()
    assert (np.abs(totals.mean(axis=0) - expected) < 4 * error).all()
    assert 1_000 < np.mean(drawn) <= 2_050


def test_few_candidates_are_all_used():
    _, inputs, present = rows_of(5_000)
    inputs[:, 1] = inputs[:, 0]  # most of them are easy
    weights = 1.0 + np.arange(5_000) % 3
    pairs, counts = reranking._sampled(inputs, present, weights, seeded(0))
    np.testing.assert_array_equal(pairs, np.arange(5_000))
    np.testing.assert_array_equal(counts, weights)


# ---- what is learnt ------------------------------------------------------------------------------


def test_the_reranking_reads_what_it_was_taught(monkeypatch):
    """Margins that are twice too large are halved, from some of the absent labels as from all."""
    true, inputs, present = rows_of(20_000)
    usual, found = np.abs(true + 2.0) < 4.0, []
    for most in (200_000, 5_000):
        monkeypatch.setattr(reranking, "_ABSENT", most)
        stages = [learnt(inputs, present, seed=seed) for seed in range(5)]
        scores = np.mean([stage.scores(inputs) for stage in stages], axis=0)
        np.testing.assert_allclose(scores[usual], true[usual], atol=0.25, rtol=0.1)
        found.append(np.mean([expit(stage.exact_scores(inputs)) for stage in stages], axis=0))
        assert found[-1].mean() == pytest.approx(present.mean(), rel=0.03)
    assert np.abs(found[0] - found[1]).mean() < 0.01


@pytest.mark.parametrize("all_present", [False, True])
def test_without_both_kinds_the_margin_is_the_score(all_present):
    true, inputs, _ = rows_of(500)
    inputs[:, 1:] = np.random.default_rng(0).normal(size=(500, _INPUTS - 1))
    stage = learnt(inputs, np.full(true.size, all_present))
    np.testing.assert_allclose(stage.scores(inputs), inputs[:, 0], rtol=1e-6)
    empty = learnt(np.zeros((0, _INPUTS)), np.zeros(0, dtype=bool))
    np.testing.assert_allclose(empty.scores(inputs), inputs[:, 0], rtol=1e-6)
    shares = stage.mean_gradients(inputs, inputs + 1.0)
    np.testing.assert_allclose(shares, np.eye(_INPUTS)[[0]].repeat(500, axis=0), atol=1e-9)


def test_the_same_candidates_give_the_same_network():
    _, inputs, present = rows_of(2_000)
    one, same, other = (learnt(inputs, present, seed=seed) for seed in (0, 0, 1))
    for name in ("first", "biases", "second", "intercept"):
        np.testing.assert_array_equal(getattr(one, name), getattr(same, name))
    assert (one.first != other.first).any()


def test_units_of_the_inputs_do_not_matter_nor_constant_ones():
    """Inputs are standardised; one that is the same for all candidates has no effect."""
    _, inputs, present = rows_of(2_000)
    inputs[:, 1] = np.random.default_rng(0).normal(size=2_000)
    expected = learnt(inputs, present).scores(inputs)
    other = inputs.copy()
    other[:, 1] = 1e4 * inputs[:, 1] - 3e4
    other[:, 5] = 7.3
    np.testing.assert_allclose(learnt(other, present).scores(other), expected, atol=0.02)


@pytest.mark.parametrize("n", [60, 400, 4_000])
def test_weights_count_candidates(n):
    """Present candidates of weight 4 are four times as likely; also where candidates are few."""
    rng = np.random.default_rng(0)
    inputs, present = np.zeros((n, _INPUTS)), rng.random(n) < 0.2
    inputs[:, 0] = rng.normal(size=n)
    weights = np.where(present, 4.0, 1.0)
    p = expit(learnt(inputs, present, weights).scores(inputs).astype(float))
    assert np.average(p, weights=weights) == pytest.approx(
        np.average(present, weights=weights), abs=0.07
    )
    p = expit(learnt(inputs, present).scores(inputs).astype(float))
    assert p.mean() == pytest.approx(present.mean(), abs=0.05)


@pytest.mark.parametrize("unit", [1e-300, 1e-60, 1e60, 1e300])
def test_weights_of_any_size(unit):
    """Small ones leave nothing but the penalty, large ones no penalty."""
    _, inputs, present = rows_of(1_000)
    scores = learnt(inputs, present, np.full(1_000, unit)).scores(inputs)
    assert np.isfinite(scores).all()
    right = ((scores > 0) == present).mean()
    assert right > 0.75


def test_scores_do_not_depend_on_blocks(monkeypatch):
    _, inputs, present = rows_of(1_000)
    stage = learnt(inputs, present)
    expected = stage.scores(inputs)
    monkeypatch.setattr(reranking, "_PAIRS", 7)
    np.testing.assert_allclose(stage.scores(inputs), expected, rtol=1e-6)
    assert stage.scores(inputs[:0]).shape == (0,)
