"""One L2 logistic regression per label on honest codes, all labels solved side by side.

    minimise over (b, c)   sum_i w_i log(1 + exp(-t_i (z_i'b + c))) + penalty / 2 ||b - b0||^2

    z (m,) standardised codes, t = +1 or -1 whether the label is present; the intercept c is free.

b0 is the label's column of the linear decoder, scaled to log-odds by a logistic regression on its
score alone (Platt 1999). These scores are by models that have not met the row: the linear decoder
of all rows has, and its scores of them look better than they will on new rows. A rare label cannot
pay for m coefficients of its own: with b0 = 0 it would be shrunken towards its frequency; towards
b0 it keeps what the embedding knows of it.

Newton's method for all labels at once. A step solves H_j x = -g_j for every label j by conjugate
gradients, preconditioned by the diagonal: a product with every label's Hessian is two matrix
products for all of them, and no Hessian is formed. (Forming M of them costs more, and M small
solves keep a BLAS with several threads waiting.) A step that does not lower a label's objective is
halved for that label alone; labels that have converged drop out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compactlearn.core import memory
from compactlearn.decoding.held_out import DecoderData, HeldOutFold
from compactlearn.decoding.learned import CodeDecoder

Array = NDArray[np.float64]

PENALTIES = np.logspace(4, -1, 11)  # in units of one row of weight one; strongest first
TOLERANCE = 1e-4  # a gradient this much smaller than at the start has converged


@dataclass(frozen=True)
class LogisticFit:
    """Coefficients (m + 1, M), the intercept last, and how far the gradients fell."""

    coefficients: Array
    reduction: Array  # (M,) largest gradient entry at the end over that at the start
    n_iter: int


def fit_logistic(
    Z: Array,
    Y: Array,
    penalty: float,
    weights: Array | None = None,
    *,
    prior: Array | None = None,
    start: Array | None = None,
    tol: float = TOLERANCE,
    max_iter: int = 50,
) -> LogisticFit:
    """Fit every column of Y (N, M), 0 or 1, on the rows of Z (N, m).

    ``prior`` (m + 1, M), the intercept last, is what slopes are shrunken to, and where the search
    begins unless there is a ``start``; without it slopes are shrunken to 0. A label that is present
    in all rows or in none gets no slope and a large finite intercept.
    """
    n, m = Z.shape
    w = np.ones(n, dtype=Z.dtype) if weights is None else weights
    Z1 = np.hstack([Z, np.ones((n, 1), dtype=Z.dtype)])
    ridge = np.append(np.full(m, penalty), 0.0).astype(Z.dtype)
    constant = np.vstack([np.zeros((m, Y.shape[1])), prior_log_odds(Y, w)])
    base = constant if prior is None else prior
    B = base.copy() if start is None else start.copy()
    varies = (w @ Y > 0) & (w @ Y < w.sum())
    B[:, ~varies] = constant[:, ~varies]
    # Measured from the constant predictor, whatever the start: what has been learnt at all.
    first = np.abs(Z1.T @ (w[:, None] * (_sigmoid(constant[-1]) - Y))).max(axis=0)
    first[first == 0] = 1.0
    reduction = np.zeros(Y.shape[1])
    active = np.flatnonzero(varies)
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        scores = Z1 @ B[:, active]
        P = _sigmoid(scores)
        gradient = Z1.T @ (w[:, None] * (P - Y[:, active]))
        gradient += ridge[:, None] * (B[:, active] - base[:, active])
        reduction[active] = np.abs(gradient).max(axis=0) / first[active]
        going = reduction[active] > tol
        if not going.any():
            break
        active, gradient, P = active[going], gradient[:, going], P[:, going]
        scores = scores[:, going]
        curvature = w[:, None] * P * (1.0 - P)
        accuracy = np.minimum(0.5, np.sqrt(reduction[active]))  # superlinear (Dembo et al. 1982)
        step = _newton_steps(Z1, curvature, ridge, gradient, accuracy)
        shrunk = (ridge, base[:, active])
        B[:, active] += _damped(Z1, scores, Y[:, active], w, shrunk, B[:, active], step, gradient)
    return LogisticFit(B, reduction, n_iter)


def learn_logistic_decoder(data: DecoderData, penalty: float) -> CodeDecoder:
    """Log-odds of every label from honest codes, shrunken towards the linear decoder."""
    problem = Problem.of(data)
    B = fit_logistic(problem.Z, problem.T, penalty, data.weights, prior=problem.prior).coefficients
    W = problem.units.restored(B[:-1])
    return CodeDecoder(W, B[-1] - problem.units.mean @ W, penalty)


def choose_penalty(folds: Sequence[HeldOutFold], penalties: Array = PENALTIES) -> float:
    """One penalty for all labels: that of least log-loss on new rows.

    Inner folds of the honest codes would not do. A row's label has entered the codes of all the
    others, so a decoder of the others has seen it at second hand, and may seem to gain less from
    slopes of its own than it does on new rows (measured: penalties up to a hundred times too
    strong). Penalties are tried from the strongest on, each solution the start of the next; when
    the loss has risen twice in a row it will not fall again. Without any fold it is the
    strongest.
    """
    if not folds or len(penalties) == 1:
        return float(penalties[0])
    problems = [Problem.of(part.train) for part in folds]
    starts = [problem.prior for problem in problems]
    new_rows = [
        (problem.units.standardised(part.codes), part.labels.toarray(), part.weights)
        for problem, part in zip(problems, folds, strict=True)
    ]
    losses: list[float] = []
    for penalty in penalties:
        loss = 0.0
        for place, problem in enumerate(problems):
            # A rough solution ranks penalties as well as an exact one.
            B = fit_logistic(
                problem.Z,
                problem.T,
                float(penalty),
                folds[place].train.weights,
                prior=problem.prior,
                start=starts[place],
                tol=1e-2,
            ).coefficients
            starts[place] = B
            Z, T, w = new_rows[place]
            loss += float(w @ log_losses(Z @ B[:-1] + B[-1], T).sum(axis=1))
        losses.append(loss)
        if rising(losses):
            break
    return float(penalties[int(np.argmin(losses))])


def rising(losses: Sequence[float]) -> bool:
    """Whether the last two have each been larger than the one before."""
    return len(losses) > 2 and losses[-1] > losses[-2] > losses[-3]


@dataclass(frozen=True)
class Problem:
    """The logistic regressions of all labels on standardised codes."""

    units: Units
    Z: Array  # (n, m)
    T: Array  # (n, M)
    prior: Array  # (m + 1, M), the intercept last

    @classmethod
    def of(cls, data: DecoderData) -> Problem:
        n_rows, n_labels = data.labels.shape
        memory.require_memory(
            8 * 8 * n_rows * n_labels,  # labels, scores, probabilities, curvatures, their products
            what=f"Logistic regressions of {n_labels} labels on {n_rows} rows",
            remedy="Use decoder='learned', which forms no matrix of that size.",
        )
        w = data.weights
        units, T = Units.of(data.codes, w), data.labels.toarray()
        scores = data.scores(slice(0, n_labels))
        # Standardised codes have mean 0, and so has what the linear decoder makes of them.
        scaling = as_log_odds(scores - (w @ scores) / w.sum(), T, w)
        prior = scaling.coefficients(units.rescaled(data.linear))
        return cls(units, units.standardised(data.codes), T, prior)


@dataclass(frozen=True)
class Units:
    """Mean and deviation of codes; a constant code has deviation 0, and gets no slope."""

    mean: Array
    deviation: Array

    @classmethod
    def of(cls, codes: Array, w: Array) -> Units:
        mean = (w @ codes) / w.sum()
        deviation = np.sqrt((w @ (codes - mean) ** 2) / w.sum())
        moves = deviation > 1e-12 * np.abs(codes).max(initial=0.0)
        return cls(mean, np.where(moves, deviation, 0.0))

    def standardised(self, codes: Array) -> Array:
        """Codes of mean 0 and deviation 1."""
        moves = self.deviation > 0
        return np.divide(codes - self.mean, self.deviation, out=np.zeros_like(codes), where=moves)

    def rescaled(self, W: Array) -> Array:
        """A decoder of codes, for standardised ones."""
        return W * self.deviation[:, None]

    def restored(self, W: Array) -> Array:
        """A decoder of standardised codes, for codes as they are."""
        deviation = self.deviation[:, None]
        return np.divide(W, deviation, out=np.zeros_like(W), where=deviation > 0)


@dataclass(frozen=True)
class Scaling:
    """Log-odds from scores, label by label: ``slope * score + intercept``."""

    slope: Array  # (M,)
    intercept: Array  # (M,)

    def coefficients(self, W0: Array) -> Array:
        """(m + 1, M) for scores that are ``Z W0``."""
        return np.vstack([W0 * self.slope, self.intercept])


def as_log_odds(scores: Array, Y: Array, w: Array, n_iter: int = 30, tol: float = 1e-9) -> Scaling:
    """A logistic regression of every label on its own score (Platt), by Newton's method.

    Scores are taken in units of their deviation, and the slope is shrunken to one such unit with
    the weight of four rows: rare labels say little about it. A slope is never negative.
    """
    unit = np.sqrt((w @ scores**2) / w.sum())
    moves = unit > 0
    S = np.divide(scores, unit, out=np.zeros_like(scores), where=moves)
    varies = (w @ Y > 0) & (w @ Y < w.sum())
    b, c = np.ones(Y.shape[1], dtype=scores.dtype), prior_log_odds(Y, w)
    for _ in range(n_iter):
        P = _sigmoid(S * b + c)
        wrong, curvature = w[:, None] * (P - Y), w[:, None] * P * (1.0 - P)
        g_b, g_c = (S * wrong).sum(axis=0) + 4.0 * (b - 1.0), wrong.sum(axis=0)
        h_bb = (S * S * curvature).sum(axis=0) + 4.0
        h_bc, h_cc = (S * curvature).sum(axis=0), curvature.sum(axis=0) + 1e-9
        determinant = h_bb * h_cc - h_bc**2
        step_b = (h_bc * g_c - h_cc * g_b) / determinant
        step_c = (h_bc * g_b - h_bb * g_c) / determinant
        # Two units at most: far from the solution the curvature says little.
        size = 2.0 / np.maximum(np.maximum(np.abs(step_b), np.abs(step_c)), 2.0)
        b, c = b + varies * size * step_b, c + varies * size * step_c
        if max(np.abs(step_b[varies]).max(initial=0), np.abs(step_c[varies]).max(initial=0)) < tol:
            break
    slope = np.divide(np.maximum(b, 0.0), unit, out=np.zeros_like(b), where=moves & varies)
    return Scaling(slope, np.where(slope > 0, c, prior_log_odds(Y, w)))


def prior_log_odds(Y: Array, w: Array) -> Array:
    """(M,) log-odds of each label's frequency, half a row added to either side."""
    present = w @ Y
    return np.log(present + 0.5) - np.log(w.sum() - present + 0.5)


def _newton_steps(
    Z1: Array, curvature: Array, ridge: Array, gradient: Array, accuracy: Array
) -> Array:
    """``-H^-1 gradient`` of every label, until its residual is ``accuracy`` of the gradient."""
    shift = ridge[:, None]
    diagonal = (Z1 * Z1).T @ curvature + shift
    diagonal += 1e-10 * diagonal.max(axis=0)  # a label almost fitted has no curvature left
    step = np.zeros_like(gradient)
    residual = -gradient
    scaled = residual / diagonal
    direction = scaled.copy()
    energy = np.einsum("ij,ij->j", residual, scaled)
    goal = accuracy**2 * np.einsum("ij,ij->j", gradient, gradient)
    going = np.arange(gradient.shape[1])
    for _ in range(Z1.shape[1] + 10):
        D = direction[:, going]
        image = Z1.T @ (curvature[:, going] * (Z1 @ D)) + shift * D
        length = energy[going] / np.maximum(np.einsum("ij,ij->j", D, image), 1e-300)
        step[:, going] += length * D
        R = residual[:, going] - length * image
        residual[:, going] = R
        scaled = R / diagonal[:, going]
        after = np.einsum("ij,ij->j", R, scaled)
        direction[:, going] = scaled + (after / np.maximum(energy[going], 1e-300)) * D
        energy[going] = after
        going = going[np.einsum("ij,ij->j", R, R) > goal[going]]
        if not going.size:
            break
    return step


def _damped(
    Z1: Array,
    scores: Array,
    Y: Array,
    w: Array,
    shrunk: tuple[Array, Array],
    B: Array,
    step: Array,
    gradient: Array,
) -> Array:
    """The steps, halved for each label until its objective falls (Armijo, 1e-4)."""
    before = _objective(scores, Y, w, shrunk, B)
    slope = np.einsum("ij,ij->j", gradient, step)
    size = np.ones(B.shape[1], dtype=B.dtype)
    directions = Z1 @ step
    rounding = 1e-12 if B.dtype == np.float64 else 1e-6
    for _ in range(30):
        trial = B + size * step
        after = _objective(scores + size * directions, Y, w, shrunk, trial)
        failed = after > before + 1e-4 * size * slope + rounding * np.abs(before)
        if not failed.any():
            break
        size = np.where(failed, size / 2, size)
    return size * step


def _objective(scores: Array, Y: Array, w: Array, shrunk: tuple[Array, Array], B: Array) -> Array:
    ridge, base = shrunk
    return w @ log_losses(scores, Y) + 0.5 * ridge @ ((B - base) ** 2)


def log_losses(scores: Array, Y: Array) -> Array:
    """log(1 + exp(-t s)) for t = 2 Y - 1."""
    if scores.dtype == np.float64:
        return np.logaddexp(0.0, scores) - Y * scores
    return np.maximum(scores, 0) + np.log(1 + np.exp(-np.abs(scores))) - Y * scores


def _sigmoid(scores: Array) -> Array:
    if scores.dtype == np.float64:
        return 0.5 * (1.0 + np.tanh(0.5 * scores))
    return 1 / (1 + np.exp(-np.maximum(scores, -80)))  # small ones keep their digits
