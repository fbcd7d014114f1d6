"""Decoders and thresholds where labels are unknown: the same as on the known cells alone."""

import numpy as np
import pytest

from compactlearn.decoding._held_out import cell_weights, known_alone
from compactlearn.decoding._logistic import as_log_odds, fit_logistic
from compactlearn.decoding._thresholds import STRATEGIES, tune
from tests.unknown.problems import problem, sparse


@pytest.fixture
def cells():
    codes, Y, unknown = problem(90, 4, 3, hidden=0.4)
    w = np.random.default_rng(0).uniform(0.5, 2.0, 90)
    W0 = np.random.default_rng(1).normal(size=(4, 3))
    return codes, Y, unknown, w, W0


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
