"""Decoders and thresholds where labels are unknown: the same as on the known cells alone."""

import numpy as np
import pytest

from compactlearn.decoding._held_out import DecoderData, HeldOutFold, cell_weights, known_alone
from compactlearn.decoding._learned import (
    choose_known_share,
    learn_from_known_cells,
    squared_error,
)
from compactlearn.decoding._logistic import as_log_odds, fit_logistic
from compactlearn.decoding._thresholds import STRATEGIES, tune
from tests.unknown.problems import problem, sparse


@pytest.fixture
def cells():
    codes, Y, unknown = problem(90, 4, 3, hidden=0.4)
    w = np.random.default_rng(0).uniform(0.5, 2.0, 90)
    W0 = np.random.default_rng(1).normal(size=(4, 3))
    return codes, Y, unknown, w, W0


def data_of(codes, Y, unknown, w, W0):
    known = np.where(unknown, 0.0, Y)
    return DecoderData(
        codes, sparse(known), w, W0, lambda j: (codes @ W0)[:, j], unknown=sparse(unknown)
    )


def test_logistic_regressions_are_those_of_the_known_rows(cells):
    codes, Y, unknown, w, W0 = cells
    weights = cell_weights(w, sparse(unknown))
    together = fit_logistic(codes, Y, 0.3, weights, tol=1e-10).coefficients
    for j in range(3):
        k = ~unknown[:, j]
        alone = fit_logistic(codes[k], Y[k, j : j + 1], 0.3, w[k], tol=1e-10).coefficients
        np.testing.assert_allclose(together[:, j], alone[:, 0], atol=1e-7)
    scores = codes @ W0
    scaling = as_log_odds(scores, Y, weights)
    for j in range(3):
        k = ~unknown[:, j]
        own = as_log_odds(scores[k][:, [j]], Y[k][:, [j]], w[k])
        assert scaling.slope[j] == pytest.approx(own.slope[0], rel=1e-6)
        assert scaling.intercept[j] == pytest.approx(own.intercept[0], rel=1e-6)


@pytest.mark.parametrize("share", [1e-3, 1.0, 100.0])
def test_the_ridge_decoder_is_that_of_the_known_rows(cells, share, monkeypatch):
    codes, Y, unknown, w, W0 = cells
    usual = learn_from_known_cells(data_of(codes, Y, unknown, w, W0), share)
    monkeypatch.setattr("compactlearn.decoding._learned.TOLERANCE", 1e-13)
    monkeypatch.setattr("compactlearn.decoding._learned.MOST_ROUNDS", 2000)
    found = learn_from_known_cells(data_of(codes, Y, unknown, w, W0), share)
    np.testing.assert_allclose(usual.coefficients, found.coefficients, atol=1e-3)
    for j in range(3):
        k = ~unknown[:, j]
        A = np.hstack([codes[k], np.ones((k.sum(), 1))]) * np.sqrt(w[k])[:, None]
        gap = Y[k, j] - codes[k] @ W0[:, j]
        penalty = np.diag(np.append(np.full(4, found.penalty), 0.0))
        own = np.linalg.solve(A.T @ A + penalty, A.T @ (gap * np.sqrt(w[k])))
        np.testing.assert_allclose(found.coefficients[:, j], W0[:, j] + own[:4], atol=1e-8)
        assert found.intercept[j] == pytest.approx(own[4], abs=1e-8)


def test_its_share_is_judged_by_known_cells(cells):
    codes, Y, unknown, w, W0 = cells
    train = data_of(codes[:60], Y[:60], unknown[:60], w[:60], W0)
    known = np.where(unknown, 0.0, Y)
    part = HeldOutFold(
        train, np.arange(60, 90), codes[60:], sparse(known[60:]), w[60:], sparse(unknown[60:])
    )
    decoder = learn_from_known_cells(train, 1.0)
    missed = Y[60:] - codes[60:] @ decoder.coefficients - decoder.intercept
    literal = (w[60:, None] * np.where(unknown[60:], 0.0, missed**2)).sum()
    assert squared_error(decoder, part) == pytest.approx(literal)
    losses = {
        share: squared_error(learn_from_known_cells(train, share), part) for share in (1e4, 1e-2)
    }
    chosen = learn_from_known_cells(train, choose_known_share([part]))
    assert squared_error(chosen, part) <= min(losses.values()) * (1 + 1e-3)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("weighted", [False, True])
def test_thresholds_are_tuned_on_known_cells(strategy, weighted):
    """As if the unknown cells were rows of their own, far below, that hold nothing."""
    scores, Y, unknown = problem(70, 4, 4, hidden=0.4)
    w = np.random.default_rng(0).uniform(0.5, 2.0, 70) if weighted else np.ones(70)
    known = np.where(unknown, 0.0, Y)
    columns = known_alone(lambda j: scores[:, j], sparse(unknown))
    found = np.broadcast_to(tune(strategy, columns, sparse(known), w, 1), 4)

    def figure(threshold, labels):
        predicted = (scores > threshold)[:, labels] & ~unknown[:, labels]
        truth = known[:, labels] > 0
        W = np.broadcast_to(w[:, None], predicted.shape)
        if strategy == "cardinality":
            return -abs(W[predicted].sum() - W[truth].sum())
        return 2 * W[predicted & truth].sum() / (W[predicted].sum() + W[truth].sum())

    parts = [[j] for j in range(4)] if strategy == "per-label" else [list(range(4))]
    for labels in parts:
        own = scores[:, labels][~unknown[:, labels]]
        candidates = np.append(np.unique(own), own.min() - 1.0)
        best = max(figure(c, labels) for c in candidates)
        assert figure(found[labels], labels) == pytest.approx(best)
