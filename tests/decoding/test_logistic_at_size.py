"""Logistic decoder for large problems, compared with the plain one."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from compactlearn.decoding import _logistic_at_size as logistic_at_size
from compactlearn.decoding._held_out import DecoderData, HeldOutFold
from compactlearn.decoding._logistic import (
    PENALTIES,
    Scaling,
    as_log_odds,
    choose_penalty,
    learn_logistic_decoder,
    prior_log_odds,
)
from compactlearn.decoding._logistic_at_size import (
    CERTAIN,
    FEWEST,
    LEAST_SHARE,
    choose_penalty_at_size,
    drawn_rows,
    learn_at_size,
    scaling_by_bins,
)


def problem(n, m, shares, seed=0, weighted=False):
    """Return codes, labels that the given shares of rows have, and linear scores."""
    rng = np.random.default_rng(seed)
    U = rng.normal(size=(n, m)) * rng.uniform(0.1, 10, size=m) + rng.normal(size=m)
    S = (U - U.mean(axis=0)) / U.std(axis=0) @ rng.normal(size=(m, len(shares)))
    S += rng.logistic(size=S.shape)
    Y = np.column_stack([s > np.quantile(s, 1 - p) for s, p in zip(S.T, shares, strict=True)])
    w = rng.uniform(0.3, 2.0, size=n) if weighted else np.ones(n)
    A = np.hstack([U, np.ones((n, 1))])
    W = np.linalg.lstsq(A, Y.astype(float), rcond=None)[0]
    linear = A @ W
    return DecoderData(
        U, sp.csr_array(Y.astype(float)), w, W[:-1], lambda labels: linear[:, labels]
    )


def scores(decoder, U):
    return U @ decoder.coefficients + decoder.intercept


def loss(decoder, U, Y):
    S = scores(decoder, U)
    return float((np.logaddexp(0, S) - Y * S).sum(axis=1).mean())


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_few_rows_give_the_plain_decoder(weighted, monkeypatch):
    """All rows are drawn; blocks of labels and the order of labels change nothing."""
    monkeypatch.setattr(logistic_at_size, "BLOCK", 3)
    monkeypatch.setattr(logistic_at_size, "TOLERANCE", 1e-4)
    data = problem(600, 6, [0.02, 0.5, 0.1, 0.3, 0.05, 0.7, 0.01], weighted=weighted)
    for penalty in (1.0, 100.0):
        found, plain = learn_at_size(data, penalty), learn_logistic_decoder(data, penalty)
        assert found.penalty == penalty
        expected = scores(plain, data.codes)
        np.testing.assert_allclose(
            scores(found, data.codes), expected, atol=2e-3 * np.abs(expected).max()
        )


def test_a_sample_of_the_rows_is_nearly_as_good_as_all():
    data = problem(60_000, 8, np.geomspace(5e-4, 5e-3, 12), seed=1)
    rows = np.arange(40_000)
    Y = data.labels[rows]
    train = replace(
        data,
        codes=data.codes[rows],
        labels=Y,
        weights=np.ones(rows.size),
        scores=lambda labels: data.scores(labels)[rows],
    )
    every = np.arange(12)
    large = logistic_at_size.LargeProblem.of(train)
    drawn = large.sampled(every, large.prior(every))
    assert len(drawn.Z) < 0.5 * rows.size  # the sample is one
    new, truth = data.codes[40_000:], data.labels[40_000:].toarray()
    plain = loss(learn_logistic_decoder(train, 10.0), new, truth)
    found = learn_at_size(train, 10.0)
    assert loss(found, new, truth) < 1.01 * plain
    # As many of all rows are expected to have a label as do, and not only of those drawn.
    expected = (1 / (1 + np.exp(-scores(found, train.codes)))).sum(axis=0)
    np.testing.assert_allclose(expected, np.asarray(Y.sum(axis=0)).ravel(), rtol=1e-3)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_binned_scores_give_the_same_log_odds(weighted):
    data = problem(20_000, 8, np.geomspace(3e-4, 0.2, 8), seed=7, weighted=weighted)
    S = data.scores(slice(0, 8))
    w = data.weights
    S = S - (w @ S) / w.sum()
    S[:, 4] = 0.0  # says nothing
    T = data.labels.toarray()
    found = scaling_by_bins(S.astype(np.float32), data.labels.tocsc(), w)
    exact = as_log_odds(S, T, w)
    assert found.slope[4] == 0

    def losses(scaling):
        t = S * scaling.slope + scaling.intercept
        return w @ (np.logaddexp(0, t) - T * t)

    gained = losses(Scaling(np.zeros(8), prior_log_odds(T, w))) - losses(exact)
    lost = losses(found) - losses(exact)
    assert (np.delete(lost, 4) < 0.002 * np.delete(gained, 4)).all()


def test_of_very_many_labels_the_rare_ones_keep_the_linear_decoder_s_slopes(monkeypatch):
    monkeypatch.setattr(logistic_at_size, "BLOCK", 2)
    monkeypatch.setattr(logistic_at_size, "SOLVED", 4)
    data = problem(600, 6, np.geomspace(0.4, 0.03, 8), seed=8)
    found, all_solved = learn_at_size(data, 1.0), learn_logistic_decoder(data, 1.0)
    W = data.linear

    def alike(A, B):
        return np.abs((A * B).sum(axis=0)) / np.linalg.norm(A, axis=0) / np.linalg.norm(B, axis=0)

    np.testing.assert_allclose(alike(found.coefficients, W)[4:], 1.0, atol=1e-6)
    assert (alike(found.coefficients, W)[:4] < 1 - 1e-5).all()
    expected = scores(all_solved, data.codes)[:, :4]
    np.testing.assert_allclose(
        scores(found, data.codes)[:, :4], expected, atol=0.05 * np.abs(expected).max()
    )


def test_scores_of_other_rows_scale_the_linear_decoder():
    """The scale of the linear decoder may come from rows other than the training rows."""
    data = problem(900, 6, [0.3, 0.2, 0.1], seed=9)
    first, second = np.arange(450), np.arange(450, 900)
    S = data.scores(slice(0, 3))
    train = replace(
        data,
        codes=data.codes[first],
        labels=data.labels[first],
        weights=np.ones(450),
        scores=lambda labels: S[second][:, labels],
        others=(data.labels[second], np.ones(450)),
    )
    centred = S[second] - S[second].mean(axis=0)
    expected = as_log_odds(centred, data.labels[second].toarray(), np.ones(450)).slope * data.linear
    for learn in (learn_at_size, learn_logistic_decoder):
        found = learn(train, 1e9).coefficients
        np.testing.assert_allclose(found, expected, rtol=2e-3, atol=1e-6)


def test_a_weighted_sample_represents_all_rows():
    highest = np.r_[np.ones(50), np.linspace(0, 2 * CERTAIN, 200_000), -np.ones(200_000)]
    rows, counts = drawn_rows(highest)
    again, _ = drawn_rows(highest)
    np.testing.assert_array_equal(rows, again)
    certain = np.flatnonzero(highest >= CERTAIN)
    assert np.isin(certain, rows).all()
    np.testing.assert_array_equal(counts[np.isin(rows, certain)], 1.0)
    assert counts.max() == pytest.approx(1 / LEAST_SHARE)
    value = np.cos(np.arange(highest.size)) + 2
    assert counts @ value[rows] == pytest.approx(value.sum(), rel=0.01)
    few, ones = drawn_rows(np.zeros(FEWEST))
    assert few.size == FEWEST
    np.testing.assert_array_equal(ones, 1.0)


def held_out(data, share=3):
    rows = np.arange(data.codes.shape[0])
    for fold in range(share):
        new, rest = rows[rows % share == fold], rows[rows % share != fold]
        train = replace(
            data,
            codes=data.codes[rest],
            labels=data.labels[rest],
            weights=data.weights[rest],
            scores=lambda labels, rest=rest: data.scores(labels)[rest],
        )
        codes, labels = data.codes[new], data.labels[new]
        yield HeldOutFold(train, new, codes, labels, data.weights[new])


@pytest.mark.parametrize("seed", [2, 3])
def test_the_penalty_is_as_good_as_the_plain_choice(seed, monkeypatch):
    monkeypatch.setattr(logistic_at_size, "JUDGED", 6)
    data = problem(300, 20, np.linspace(0.05, 0.5, 12), seed=seed, weighted=True)
    folds = list(held_out(data))
    found, plain = choose_penalty_at_size(folds), choose_penalty(folds)
    assert found in PENALTIES

    def total(penalty):
        return sum(
            loss(learn_logistic_decoder(part.train, penalty), part.codes, part.labels.toarray())
            for part in folds
        )

    assert total(found) < 1.02 * total(plain)
    assert max(total(PENALTIES[0]), total(PENALTIES[-1])) > 1.05 * total(plain)  # it is a choice


def test_labels_are_asked_for_in_blocks(monkeypatch):
    monkeypatch.setattr(logistic_at_size, "BLOCK", 4)
    monkeypatch.setattr(logistic_at_size, "_threads", lambda: 1)
    data = problem(200, 3, np.linspace(0.05, 0.5, 10), seed=4)
    asked = []
    spied = replace(data, scores=lambda labels: asked.append(labels) or data.scores(labels))
    learn_at_size(spied, 1.0)
    assert [len(labels) for labels in asked] == [4, 4, 2]
    assert sorted(np.concatenate(asked)) == list(range(10))
    counts = np.asarray(data.labels.sum(axis=0)).ravel()
    assert (np.diff(counts[np.concatenate(asked)]) <= 0).all()


def test_blocks_may_be_solved_by_several_threads(monkeypatch):
    monkeypatch.setattr(logistic_at_size, "BLOCK", 3)
    data = problem(300, 3, np.linspace(0.05, 0.5, 20), seed=4)
    found = []
    for n_threads in (1, 3):
        monkeypatch.setattr(logistic_at_size, "_threads", lambda n=n_threads: n)
        found.append(learn_at_size(data, 1.0))
    one, three = found
    np.testing.assert_allclose(three.coefficients, one.coefficients, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(three.intercept, one.intercept, rtol=1e-4, atol=1e-6)


def test_constant_labels_and_codes_get_no_slope():
    data = problem(150, 3, [0.3, 0.2, 0.4], seed=5)
    Y = data.labels.toarray()
    Y[:, 0], Y[:, 1] = 0.0, 1.0
    codes = np.column_stack([data.codes, np.full(150, 7.0)])
    linear = np.vstack([data.linear, np.ones(3)])
    found = learn_at_size(replace(data, codes=codes, labels=sp.csr_array(Y), linear=linear), 1.0)
    assert np.isfinite(found.coefficients).all()
    assert np.isfinite(found.intercept).all()
    np.testing.assert_array_equal(found.coefficients[:, :2], 0.0)
    np.testing.assert_array_equal(found.coefficients[-1], 0.0)
    assert found.intercept[0] < -4 < 4 < found.intercept[1]


def test_too_large_a_problem_raises_memory_error(monkeypatch):
    data = problem(100, 3, [0.3, 0.2], seed=6)
    monkeypatch.setattr(logistic_at_size.memory, "available_bytes", lambda: 1000)
    with pytest.raises(MemoryError, match="Logistic regressions on 100 rows and 3 codes"):
        learn_at_size(data, 1.0)
