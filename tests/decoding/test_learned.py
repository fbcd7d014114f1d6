"""The ridge decoder learnt from codes: the optimum it states, and a literal GCV."""

import numpy as np
import pytest
import scipy.sparse as sp

from compactlearn.decoding import learned
from compactlearn.decoding.learned import SHARES, CodeSums, learn_linear_decoder

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


def learn(U, Y, weights, prior):
    return learn_linear_decoder(CodeSums.of_rows(U, sp.csr_array(Y), weights), prior)


def stated_objective(U, Y, w, prior, penalty, W):
    U, Y = U - (w @ U) / w.sum(), Y - (w @ Y) / w.sum()
    return np.sum(w[:, None] * (Y - U @ W) ** 2) + penalty * np.sum((W - prior) ** 2)


def literal_path(U, Y, w, prior):
    """Every penalty of the grid with its coefficients and its GCV score, hat matrices formed."""
    m = U.shape[1]
    root = np.sqrt(w)[:, None]
    Uc, Yc = root * (U - (w @ U) / w.sum()), root * (Y - (w @ Y) / w.sum())
    S = Uc.T @ Uc
    for penalty in np.trace(S) / m * SHARES:
        shrink = np.linalg.solve(S + penalty * np.eye(m), Uc.T)
        W = prior + shrink @ (Yc - Uc @ prior)
        hat = Uc @ shrink + root @ root.T / w.sum()
        score = np.sum((Yc - Uc @ W) ** 2) / (w.sum() - np.trace(hat)) ** 2
        yield penalty, W, score


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
def test_the_penalty_is_that_of_least_gcv(size, weighted, seed):
    U, Y, prior, rng = problem(size, seed, noise=[0.3, 1.0, 3.0][seed - 2])
    w = rng.integers(1, 4, size=len(U)).astype(float) if weighted else np.ones(len(U))
    found = learn(U, Y, w if weighted else None, prior)
    path = list(literal_path(U, Y, w, prior))
    scores = np.array([score for _, _, score in path])
    penalties = np.array([penalty for penalty, _, _ in path])
    place = int(np.argmin(np.abs(np.log(penalties / found.penalty))))
    np.testing.assert_allclose(found.penalty, penalties[place], rtol=1e-9)
    assert scores[place] <= scores.min() * (1 + 1e-6)
    np.testing.assert_allclose(found.coefficients, path[place][1], atol=1e-8)


def test_gcv_chooses_within_the_grid():
    """Noise asks for a large penalty, a wrong prior for a small one: the choice is not fixed."""
    rng = np.random.default_rng(5)
    U = rng.normal(size=(200, 3))
    W = rng.normal(size=(3, 4))
    Y = (U @ W + 0.1 * rng.normal(size=(200, 4)) > 0).astype(float)
    noise = (rng.random((200, 4)) < 0.3).astype(float)
    small = learn(U, Y, None, -W).penalty
    large = learn(U, noise, None, np.zeros((3, 4))).penalty
    assert small < 0.01 * np.sum(U**2) / 3 < large


def test_a_large_penalty_is_the_prior(monkeypatch):
    U, Y, prior, _ = problem((50, 4, 5), 6)
    monkeypatch.setattr(learned, "SHARES", np.array([1e9]))
    found = learn(U, Y, None, prior)
    np.testing.assert_allclose(found.coefficients, prior, atol=1e-7)
    expected = Y.mean(axis=0) - U.mean(axis=0) @ prior
    np.testing.assert_allclose(found.intercept, expected, atol=1e-7)


def test_a_small_penalty_is_least_squares(monkeypatch):
    U, Y, prior, _ = problem((50, 4, 5), 7)
    monkeypatch.setattr(learned, "SHARES", np.array([1e-12]))
    found = learn(U, Y, None, prior)
    stacked = np.hstack([U, np.ones((50, 1))])
    expected = np.linalg.lstsq(stacked, Y, rcond=None)[0]
    np.testing.assert_allclose(found.coefficients, expected[:-1], atol=1e-8)
    np.testing.assert_allclose(found.intercept, expected[-1], atol=1e-8)


def test_weights_are_repetitions():
    U, Y, prior, rng = problem((30, 3, 4), 8)
    w = rng.integers(1, 5, size=30)
    found = learn(U, Y, w.astype(float), prior)
    again = learn(np.repeat(U, w, axis=0), np.repeat(Y, w, axis=0), None, prior)
    np.testing.assert_allclose(found.penalty, again.penalty, rtol=1e-10)
    np.testing.assert_allclose(found.coefficients, again.coefficients, atol=1e-10)
    np.testing.assert_allclose(found.intercept, again.intercept, atol=1e-10)


def test_order_of_rows_and_units_of_codes_do_not_matter():
    U, Y, prior, rng = problem((40, 3, 4), 9)
    found = learn(U, Y, None, prior)
    order = rng.permutation(40)
    shuffled = learn(U[order], Y[order], None, prior)
    np.testing.assert_allclose(shuffled.coefficients, found.coefficients, atol=1e-10)
    scaled = learn(1e4 * U, Y, None, prior / 1e4)  # the same scores from other units
    np.testing.assert_allclose(1e4 * scaled.coefficients, found.coefficients, rtol=1e-8)
    np.testing.assert_allclose(scaled.intercept, found.intercept, atol=1e-8)


def test_constant_codes_answer_the_mean_of_the_labels():
    rng = np.random.default_rng(10)
    Y = (rng.random((20, 3)) < 0.4).astype(float)
    prior = rng.normal(size=(2, 3))
    found = learn(np.full((20, 2), 0.25), Y, None, prior)
    assert np.isfinite(found.penalty)
    assert found.penalty > 0
    scores = np.full((1, 2), 0.25) @ found.coefficients + found.intercept
    np.testing.assert_allclose(scores[0], Y.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(found.coefficients, prior, atol=1e-9)


def test_columns_of_zeros_keep_the_prior():
    U, Y, prior, _ = problem((40, 4, 5), 11)
    U[:, [1, 3]] = 0.0
    found = learn(U, Y, None, prior)
    np.testing.assert_allclose(found.coefficients[[1, 3]], prior[[1, 3]], atol=1e-9)
    assert np.abs(found.coefficients[[0, 2]] - prior[[0, 2]]).max() > 1e-3


def test_no_codes_at_all():
    Y = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    found = learn(np.empty((3, 0)), Y, None, np.empty((0, 2)))
    assert found.coefficients.shape == (0, 2)
    np.testing.assert_allclose(found.intercept, Y.mean(axis=0))


def test_labels_that_never_vary():
    U, Y, prior, _ = problem((40, 3, 4), 12)
    Y[:, 0], Y[:, 2] = 0.0, 1.0
    found = learn(U, Y, None, np.zeros_like(prior))
    np.testing.assert_allclose(found.coefficients[:, [0, 2]], 0, atol=1e-10)
    np.testing.assert_allclose(found.intercept[[0, 2]], [0, 1], atol=1e-10)
