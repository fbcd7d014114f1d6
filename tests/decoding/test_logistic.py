"""Logistic decoders of all labels, compared with scikit-learn's of one label at a time."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from compactlearn.decoding._held_out import DecoderData, HeldOutFold
from compactlearn.decoding._logistic import (
    PENALTIES,
    TOLERANCE,
    as_log_odds,
    choose_penalty,
    fit_logistic,
    learn_logistic_decoder,
)


def data_of(U, Y, w=None, linear=None):
    """Return rows with the scores of the linear decoder; without one, scores of zero."""
    linear = np.zeros((U.shape[1], Y.shape[1])) if linear is None else linear
    w = np.ones(len(U)) if w is None else w
    return DecoderData(U, sp.csr_array(Y), w, linear, lambda labels: (U @ linear)[:, labels])


def held_out_of(U, Y, w, folds, linear=None, codes=None):
    """Yield each fold as held-out rows; their ``codes`` may differ from U."""
    Y, w = sp.csr_array(Y), np.ones(len(U)) if w is None else w
    codes = U if codes is None else codes
    for fold in np.unique(folds):
        held_out, rest = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        if rest.size:
            train = data_of(U[rest], Y[rest], w[rest], linear)
            yield HeldOutFold(train, held_out, codes[held_out], Y[held_out], w[held_out])


def learn(U, Y, w, folds, penalties=PENALTIES):
    """Learn a decoder shrunken towards the labels' frequencies, the penalty selected by folds."""
    penalty = choose_penalty(list(held_out_of(U, Y, w, folds)), penalties)
    return learn_logistic_decoder(data_of(U, Y, w), penalty)


def problem(n=120, m=4, n_labels=5, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, m))
    S = Z @ rng.normal(size=(m, n_labels)) + noise * rng.logistic(size=(n, n_labels))
    shares = np.linspace(0.3, 0.9, n_labels)
    Y = (S > [np.quantile(s, share) for s, share in zip(S.T, shares, strict=True)]).astype(float)
    return Z, Y, rng


def sigmoid(S):
    return 1 / (1 + np.exp(-S))


def foreign(Z, Y, penalty, weights=None):
    """(m + 1, M) coefficients, the intercept last, by scikit-learn."""
    model = LogisticRegression(C=1 / penalty, solver="newton-cholesky", tol=1e-12, max_iter=500)
    columns = []
    for y in Y.T:
        model.fit(Z, y, sample_weight=weights)
        columns.append(np.append(model.coef_[0], model.intercept_))
    return np.array(columns).T


def gradient(Z, Y, penalty, w, B):
    Z1 = np.hstack([Z, np.ones((len(Z), 1))])
    G = Z1.T @ (w[:, None] * (sigmoid(Z1 @ B) - Y))
    G[:-1] += penalty * B[:-1]
    return G


def start_of(Y, w):
    present = w @ Y
    return np.log((present + 0.5) / (w.sum() - present + 0.5))


def assert_converged(Z, Y, penalty, w, fit, tol=TOLERANCE):
    """Every label's gradient is below tol of that of the constant model."""
    base = np.vstack([np.zeros((Z.shape[1], Y.shape[1])), start_of(Y, w)])
    varies = (w @ Y > 0) & (w @ Y < w.sum())
    first = np.abs(gradient(Z, Y, penalty, w, base)).max(axis=0)
    last = np.abs(gradient(Z, Y, penalty, w, fit.coefficients)).max(axis=0)
    assert (last <= tol * first * (1 + 1e-6) + 1e-12)[varies].all()
    np.testing.assert_allclose((last / first)[varies], fit.reduction[varies], atol=1e-3 * tol)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("penalty", [100.0, 3.0, 0.1, 0.01])
def test_equals_scikit_learn(penalty, weighted):
    Z, Y, rng = problem(seed=1)
    w = rng.uniform(0.2, 3.0, size=len(Z)) if weighted else None
    found = fit_logistic(Z, Y, penalty, w, tol=1e-10)
    expected = foreign(Z, Y, penalty, w)
    np.testing.assert_allclose(found.coefficients, expected, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("penalty", [1000.0, 1.0, 0.01])
@pytest.mark.parametrize("shape", [(120, 4, 5), (15, 30, 6), (40, 1, 1), (200, 12, 20)], ids=str)
def test_every_gradient_has_fallen(shape, penalty):
    Z, Y, rng = problem(*shape, seed=2)
    for w in (np.ones(len(Z)), rng.uniform(0.1, 4.0, size=len(Z))):
        assert_converged(Z, Y, penalty, w, fit_logistic(Z, Y, penalty, w))


def test_constant_labels_have_no_slope_and_a_finite_intercept():
    Z, Y, _ = problem(seed=5)
    Y[:, 1], Y[:, 3] = 0.0, 1.0
    n = len(Z)
    for start in (None, np.ones((5, 5))):
        B = fit_logistic(Z, Y, 0.1, start=start, tol=1e-10).coefficients
        np.testing.assert_array_equal(B[:-1, [1, 3]], 0)
        edge = np.log((n + 0.5) / 0.5)
        np.testing.assert_allclose(B[-1, [1, 3]], [-edge, edge])
        others = [0, 2, 4]
        np.testing.assert_allclose(B[:, others], foreign(Z, Y[:, others], 0.1), atol=1e-6)


@pytest.mark.parametrize("penalty", [1.0, 0.01, 1e-4])
def test_separable_labels(penalty):
    rng = np.random.default_rng(7)
    Z = rng.normal(size=(60, 3))
    Y = (Z @ rng.normal(size=(3, 4)) > 0).astype(float)
    w = np.ones(60)
    found = fit_logistic(Z, Y, penalty)
    assert_converged(Z, Y, penalty, w, found)
    B = found.coefficients
    assert ((Z @ B[:-1] + B[-1] > 0) == Y).mean() > 0.95
    if penalty > 1e-3:
        exact = fit_logistic(Z, Y, penalty, tol=1e-10).coefficients
        np.testing.assert_allclose(exact, foreign(Z, Y, penalty), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("other", [100.0, 0.02])
def test_warm_starts_reach_the_same_solution(other):
    Z, Y, rng = problem(seed=10)
    cold = fit_logistic(Z, Y, 0.5, tol=1e-10)
    start = fit_logistic(Z, Y, other).coefficients
    given = start.copy()
    warm = fit_logistic(Z, Y, 0.5, start=start, tol=1e-10)
    np.testing.assert_allclose(warm.coefficients, cold.coefficients, atol=1e-7)
    np.testing.assert_array_equal(start, given)  # not written to
    far = fit_logistic(Z, Y, 0.5, start=20 * rng.normal(size=start.shape), tol=1e-10)
    np.testing.assert_allclose(far.coefficients, cold.coefficients, atol=1e-6)
    there = fit_logistic(Z, Y, 0.5, start=cold.coefficients)
    assert there.n_iter == 1
    np.testing.assert_array_equal(there.coefficients, cold.coefficients)


# --- the decoder of codes ------------------------------------------------------------------------


def standardised(U, w):
    mean = (w @ U) / w.sum()
    return (U - mean) / np.sqrt((w @ (U - mean) ** 2) / w.sum())


def held_out_losses(Z, Y, w, folds):
    """Return the held-out losses by scikit-learn, for every penalty and fold."""
    losses = []
    for penalty in PENALTIES:
        loss = 0.0
        for fold in np.unique(folds):
            out = folds == fold
            B = foreign(Z[~out], Y[~out], penalty, w[~out])
            S = Z[out] @ B[:-1] + B[-1]
            loss += np.sum(w[out][:, None] * (np.logaddexp(0, S) - Y[out] * S))
        losses.append(loss)
    return np.array(losses)


@pytest.mark.parametrize(
    ("noise", "weighted"), [(0.2, False), (1.0, True), (6.0, False)], ids=["clear", "mid", "noisy"]
)
def test_the_penalty_is_as_good_as_any(noise, weighted):
    U, Y, rng = problem(90, 5, 3, seed=12, noise=noise)
    w = rng.uniform(0.3, 2.0, size=90) if weighted else np.ones(90)
    folds = np.arange(90) % 3
    found = learn(U, sp.csr_array(Y), w if weighted else None, folds)
    losses = held_out_losses(standardised(U, w), Y, w, folds)
    place = int(np.flatnonzero(np.isclose(PENALTIES, found.penalty))[0])
    assert losses[place] <= 1.01 * losses.min()
    if noise != 1.0:  # the choice is one: the strongest or the weakest would be far off
        assert losses.max() > 1.05 * losses.min()


def test_the_penalty_is_judged_by_the_codes_of_held_out_rows():
    U, Y, _ = problem(90, 5, 3, seed=24, noise=0.2)
    folds = np.arange(90) % 3
    plain = choose_penalty(list(held_out_of(U, Y, None, folds)))
    # Held-out codes of the opposite sign: every slope increases the loss.
    found = choose_penalty(list(held_out_of(U, Y, None, folds, codes=-U)))
    assert found == PENALTIES[0] > plain
    assert choose_penalty([]) == PENALTIES[0]


def test_the_prior_is_scaled_by_out_of_fold_scores():
    """Training scores of a linear decoder are too good; out-of-fold scores are not."""
    U, Y, rng = problem(200, 3, 4, seed=25)
    linear = np.linalg.lstsq(U, Y, rcond=None)[0]
    noise = rng.normal(size=(200, 4))
    data = DecoderData(U, sp.csr_array(Y), np.ones(200), linear, lambda labels: noise[:, labels])
    found = learn_logistic_decoder(data, 1e9)
    expected = as_log_odds(noise - noise.mean(axis=0), Y, np.ones(200)).slope * linear
    np.testing.assert_allclose(found.coefficients, expected, atol=1e-5)
    believed = learn_logistic_decoder(data_of(U, Y, linear=linear), 1e9)
    assert np.abs(found.coefficients).max() < 0.3 * np.abs(believed.coefficients).max()


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_the_decoder_is_the_fit_on_standardised_codes(weighted):
    U, Y, rng = problem(80, 3, 4, seed=13)
    U = U * [5.0, 0.1, 1.0] + [100.0, 0.0, -3.0]
    w = rng.uniform(0.3, 2.0, size=80) if weighted else np.ones(80)
    found = learn(U, sp.csr_array(Y), w if weighted else None, np.arange(80) % 3, np.array([0.7]))
    assert found.penalty == 0.7
    Z = standardised(U, w)
    B = foreign(Z, Y, 0.7, w)
    scores = U @ found.coefficients + found.intercept
    np.testing.assert_allclose(scores, Z @ B[:-1] + B[-1], atol=1e-3)
    mean = (w @ sigmoid(scores)) / w.sum()
    np.testing.assert_allclose(mean, (w @ Y) / w.sum(), atol=1e-3)


def test_constant_codes_get_no_slope():
    U, Y, rng = problem(60, 3, 4, seed=16)
    U[:, 1] = 7.0 + 1e-14 * rng.normal(size=60)  # constant but for rounding
    folds = np.arange(60) % 3
    found = learn(U, sp.csr_array(Y), None, folds)
    np.testing.assert_array_equal(found.coefficients[1], 0)
    without = learn(U[:, [0, 2]], sp.csr_array(Y), None, folds)
    np.testing.assert_allclose(found.coefficients[[0, 2]], without.coefficients, atol=1e-6)
    nothing = learn(np.full((60, 2), 3.0), sp.csr_array(Y), None, folds)
    np.testing.assert_array_equal(nothing.coefficients, 0)
    np.testing.assert_allclose(sigmoid(nothing.intercept), Y.mean(axis=0), atol=1e-3)


def test_a_label_missing_from_a_fold():
    U, Y, _ = problem(60, 3, 3, seed=18)
    folds = np.arange(60) % 3
    Y[:, 1] = 0.0
    Y[folds == 0, 1] = 1.0  # held out with the fold, it is never seen
    found = learn(U, sp.csr_array(Y), None, folds)
    assert np.isfinite(found.coefficients).all()
    P = sigmoid(U @ found.coefficients + found.intercept)
    np.testing.assert_allclose(P.mean(axis=0), Y.mean(axis=0), atol=1e-3)


# --- shrunken towards the linear decoder ---------------------------------------------------------


def test_the_map_to_log_odds_is_a_logistic_regression_on_the_score():
    """Newton's solution: the gradient of the stated objective is zero."""
    U, Y, _ = problem(80, 3, 4, seed=20)
    S = U @ np.random.default_rng(20).normal(size=(3, 4)) + Y
    w = np.random.default_rng(21).uniform(0.3, 2.0, size=80)
    scaling = as_log_odds(S, Y, w)
    unit = np.sqrt((w @ S**2) / w.sum())
    wrong = w[:, None] * (sigmoid(S * scaling.slope + scaling.intercept) - Y)
    free = scaling.slope > 0
    assert free.any()
    slope_gradient = (S / unit * wrong).sum(axis=0) + 4.0 * (scaling.slope * unit - 1.0)
    np.testing.assert_allclose(slope_gradient[free], 0, atol=1e-8)
    np.testing.assert_allclose(wrong.sum(axis=0)[free], 0, atol=1e-6)


@pytest.mark.parametrize("n_present", [2, 5, 20, 60])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_of_a_rare_label_far_from_the_others_have_log_odds_too(n_present, dtype):
    """Their scores are tens of units from the others, where whole Newton steps oscillate."""
    rng = np.random.default_rng(n_present)
    n = 20_000
    Y = np.zeros((n, 8))
    S = rng.normal(size=(n, 8)) * 0.003
    for label in range(8):
        rows = rng.choice(n, n_present, replace=False)
        Y[rows, label] = 1.0
        S[rows, label] += rng.exponential(0.2, n_present)
        S[rng.choice(n, 2 * n_present), label] += rng.exponential(0.1, 2 * n_present)
    S = (S - S.mean(axis=0)).astype(dtype)
    scaling = as_log_odds(S, Y.astype(dtype), np.ones(n, dtype=dtype), tol=1e-4)
    S = S.astype(np.float64)
    unit = np.sqrt((S**2).mean(axis=0))
    t = S * scaling.slope + scaling.intercept
    wrong = sigmoid(t) - Y
    np.testing.assert_allclose(wrong.sum(axis=0), 0, atol=0.01 * n_present)
    slope_gradient = (S / unit * wrong).sum(axis=0) + 4.0 * (scaling.slope * unit - 1.0)
    first = (S / unit * (Y.mean(axis=0) - Y)).sum(axis=0) - 4.0
    np.testing.assert_allclose(slope_gradient / first, 0, atol=0.01)


def test_a_score_that_points_the_wrong_way_is_not_used():
    Y = np.repeat([[0.0], [1.0]], 40, axis=0)
    assert as_log_odds(-5 * (Y - 0.5), Y, np.ones(80)).slope[0] == 0


def test_the_stated_objective_is_at_its_minimum():
    U, Y, _ = problem(90, 3, 4, seed=23)
    prior = np.random.default_rng(23).normal(size=(4, 4))
    B = fit_logistic(U, Y, 2.5, prior=prior, tol=1e-10).coefficients
    wrong = sigmoid(U @ B[:-1] + B[-1]) - Y
    np.testing.assert_allclose(U.T @ wrong + 2.5 * (B[:-1] - prior[:-1]), 0, atol=1e-6)
    np.testing.assert_allclose(wrong.sum(axis=0), 0, atol=1e-6)


def test_the_fit_recovers_from_a_certain_and_wrong_prior():
    # One step makes all probabilities 0 or 1, the positive row's wrongly: the curvature vanishes.
    rng = np.random.default_rng(0)
    Z = 10.0 * (rng.random((400, 6)) < 0.02)
    Y = np.zeros((400, 1))
    Y[np.argmin(Z[:, 0])] = 1.0
    prior = np.zeros((7, 1))
    prior[0], prior[-1] = 2.0, -8.0
    with np.errstate(all="raise", under="ignore"):
        fit = fit_logistic(Z, Y, 1e4, prior=prior)
    assert np.isfinite(fit.coefficients).all()
    assert fit.reduction.max() <= 1e-4
