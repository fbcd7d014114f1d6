"""Ridge decoder learnt from codes, compared with its stated optimum and a literal search."""

import numpy as np
import pytest
import scipy.sparse as sp

from compactlearn.decoding._held_out import DecoderData, HeldOutFold
from compactlearn.decoding._learned import SHARES, CodeSums, choose_share, learn_linear_decoder

SIZES = {"tall": (60, 4, 6), "one label": (40, 3, 1), "one code": (30, 1, 4), "wide": (9, 14, 5)}
every_size = pytest.mark.parametrize("size", SIZES.values(), ids=SIZES.keys())


def problem(size, seed=0, noise=0.7):
    n, m, n_labels = size
    rng = np.random.default_rng(seed)
    U = rng.normal(size=(n, m)) * rng.uniform(0.3, 2.0, size=m) + rng.normal(size=m)
    S = (U - U.mean(axis=0)) @ rng.normal(size=(m, n_labels)) + noise * rng.normal(
        size=(n, n_labels)
    )
    Y = (S > np.quantile(S, 0.6, axis=0)).astype(float)
    return U, Y, rng.normal(size=(m, n_labels)) / 4, rng


def sums_of(U, Y, weights=None):
    return CodeSums.of_rows(U, sp.csr_array(Y), np.ones(len(U)) if weights is None else weights)


def held_out(U, Y, w, prior, new_U, new_w):
    train = DecoderData(U, sp.csr_array(Y), w, prior, scores=None)
    return HeldOutFold(train, np.arange(len(U)), new_U, sp.csr_array(Y), new_w)


def learn(U, Y, weights, prior, share=0.03):
    return learn_linear_decoder(sums_of(U, Y, weights), prior, share)


def stated_objective(U, Y, w, prior, penalty, W):
    U, Y = U - (w @ U) / w.sum(), Y - (w @ Y) / w.sum()
    return np.sum(w[:, None] * (Y - U @ W) ** 2) + penalty * np.sum((W - prior) ** 2)


def literal(U, Y, w, prior, share):
    """Return coefficients and intercept, with all matrices formed."""
    m = U.shape[1]
    root = np.sqrt(w)[:, None]
    u, y = (w @ U) / w.sum(), (w @ Y) / w.sum()
    Uc, Yc = root * (U - u), root * (Y - y)
    S = Uc.T @ Uc
    penalty = share * np.trace(S) / m
    W = prior + np.linalg.solve(S + penalty * np.eye(m), Uc.T @ (Yc - Uc @ prior))
    return W, y - u @ W


@every_size
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_the_gradient_of_the_objective_is_zero(size, weighted):
    U, Y, prior, rng = problem(size, 1)
    w = rng.uniform(0.2, 3.0, size=len(U)) if weighted else np.ones(len(U))
    found = learn(U, Y, w if weighted else None, prior)
    Uc, Yc = U - (w @ U) / w.sum(), Y - (w @ Y) / w.sum()
    W = found.coefficients
    gradient = found.penalty * (W - prior) - Uc.T @ (w[:, None] * (Yc - Uc @ W))
    assert np.abs(gradient).max() < 1e-9 * np.abs(Uc.T @ (w[:, None] * Yc)).max()
    at = stated_objective(U, Y, w, prior, found.penalty, W)
    for _ in range(5):
        other = W + 0.01 * rng.normal(size=W.shape)
        assert at < stated_objective(U, Y, w, prior, found.penalty, other)
    # the intercept is free: residuals have mean zero
    residual = Y - U @ W - found.intercept
    np.testing.assert_allclose(w @ residual, 0, atol=1e-9)


@every_size
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("seed", [2, 3, 4])
def test_the_share_has_the_least_error_on_held_out_rows(size, weighted, seed):
    folds, losses = [], np.zeros(SHARES.size)
    for part in range(2):
        U, Y, prior, rng = problem(size, 10 * seed + part, noise=[0.3, 1.0, 3.0][seed - 2])
        w = rng.uniform(0.5, 2.0, size=len(U)) if weighted else np.ones(len(U))
        new_U, new_w = U + 0.3 * rng.normal(size=U.shape), w[::-1]
        folds.append(held_out(U, Y, w, prior, new_U, new_w))
        for place, share in enumerate(SHARES):
            W, b = literal(U, Y, w, prior, share)
            losses[place] += new_w @ np.sum((Y - new_U @ W - b) ** 2, axis=1)
    found = choose_share(folds)
    place = int(np.flatnonzero(found == SHARES)[0])
    assert losses[place] <= losses.min() * (1 + 1e-9)
    decoder = learn(U, Y, w, prior, found)
    W, b = literal(U, Y, w, prior, found)
    np.testing.assert_allclose(decoder.coefficients, W, atol=1e-7)
    np.testing.assert_allclose(decoder.intercept, b, atol=1e-7)


def test_without_held_out_folds_the_prior_is_kept():
    assert choose_share([]) == SHARES[0] == SHARES.max()
    _, Y, prior, _ = problem((40, 3, 4), 13)
    U, w = np.full((40, 3), 0.1), np.ones(40)  # every share gives the same decoder
    assert choose_share([held_out(U, Y, w, prior, U, w)]) == SHARES[0]


def test_constant_codes_predict_the_mean_of_the_labels():
    rng = np.random.default_rng(10)
    Y = (rng.random((20, 3)) < 0.4).astype(float)
    prior = rng.normal(size=(2, 3))
    found = learn(np.full((20, 2), 0.25), Y, None, prior)
    assert np.isfinite(found.penalty)
    assert found.penalty > 0
    scores = np.full((1, 2), 0.25) @ found.coefficients + found.intercept
    np.testing.assert_allclose(scores[0], Y.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(found.coefficients, prior, atol=1e-9)


def test_no_codes_at_all():
    Y = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    found = learn(np.empty((3, 0)), Y, None, np.empty((0, 2)))
    assert found.coefficients.shape == (0, 2)
    np.testing.assert_allclose(found.intercept, Y.mean(axis=0))
