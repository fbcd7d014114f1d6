"""One L2 logistic regression per label on honest codes, all labels solved side by side.

    minimise over (b, c)   sum_i w_i log(1 + exp(-t_i (z_i'b + c))) + penalty / 2 ||b||^2

    z (m,) standardised codes, t = +1 or -1 whether the label is present; the intercept c is free.

Newton's method for all labels at once. A step solves H_j x = -g_j for every label j by conjugate
gradients, preconditioned by the diagonal: a product with every label's Hessian is two matrix
products for all of them, and no Hessian is formed. (Forming M of them costs more, and M small
solves keep a BLAS with several threads waiting.) A step that does not lower a label's objective is
halved for that label alone; labels that have converged drop out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.decoding.learned import CodeDecoder

Array = NDArray[np.float64]

PENALTIES = np.logspace(3, -2, 11)  # in units of one row of weight one; strongest first
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
    start: Array | None = None,
    tol: float = TOLERANCE,
    max_iter: int = 50,
) -> LogisticFit:
    """Fit every column of Y (N, M), 0 or 1, on the rows of Z (N, m).

    A label that is present in all rows or in none gets no slope and a large finite intercept.
    """
    n, m = Z.shape
    w = np.ones(n) if weights is None else weights
    Z1 = np.hstack([Z, np.ones((n, 1))])
    ridge = np.append(np.full(m, penalty), 0.0)
    base = np.vstack([np.zeros((m, Y.shape[1])), prior_log_odds(Y, w)])
    B = base.copy() if start is None else start.copy()
    varies = (w @ Y > 0) & (w @ Y < w.sum())
    B[:, ~varies] = base[:, ~varies]
    first = np.abs(_gradient(Z1, Y, w, ridge, base)).max(axis=0)
    first[first == 0] = 1.0
    reduction = np.zeros(Y.shape[1])
    active = np.flatnonzero(varies)
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        scores = Z1 @ B[:, active]
        P = _sigmoid(scores)
        gradient = Z1.T @ (w[:, None] * (P - Y[:, active])) + ridge[:, None] * B[:, active]
        reduction[active] = np.abs(gradient).max(axis=0) / first[active]
        going = reduction[active] > tol
        if not going.any():
            break
        active, gradient, P = active[going], gradient[:, going], P[:, going]
        curvature = w[:, None] * P * (1.0 - P)
        accuracy = np.minimum(0.5, np.sqrt(reduction[active]))  # superlinear (Dembo et al. 1982)
        step = _newton_steps(Z1, curvature, ridge, gradient, accuracy)
        B[:, active] += _damped(Z1, Y[:, active], w, ridge, B[:, active], step, gradient)
    return LogisticFit(B, reduction, n_iter)


def learn_logistic_decoder(
    codes: Array,
    Y: Any,
    weights: Array | None,
    folds: NDArray[np.intp],
    penalties: Array = PENALTIES,
) -> CodeDecoder:
    """Log-odds of every label from honest codes; one penalty for all labels, by inner folds.

    ``folds`` (N,) says which rows are held out together.
    """
    w = np.ones(len(codes)) if weights is None else weights
    mean = (w @ codes) / w.sum()
    deviation = np.sqrt((w @ (codes - mean) ** 2) / w.sum())
    deviation[deviation <= 1e-12 * np.abs(codes).max(initial=1.0)] = np.inf  # constant: no slope
    Z, T = (codes - mean) / deviation, Y.toarray()
    penalty = _choose_penalty(Z, T, w, folds, penalties)
    B = fit_logistic(Z, T, penalty, w).coefficients
    W = B[:-1] / deviation[:, None]
    return CodeDecoder(W, B[-1] - mean @ W, penalty)


def _choose_penalty(
    Z: Array, T: Array, w: Array, folds: NDArray[np.intp], penalties: Array
) -> float:
    """The penalty of least held-out log-loss, summed over the labels.

    Tried from the strongest on, each solution the start of the next; when the loss has risen twice
    in a row it will not fall again.
    """
    parts = [folds == number for number in np.unique(folds)]
    if len(parts) < 2 or len(penalties) == 1:
        return float(penalties[0])
    starts: list[Array | None] = [None] * len(parts)
    losses: list[float] = []
    for penalty in penalties:
        loss = 0.0
        for place, held in enumerate(parts):
            # A rough solution ranks penalties as well as an exact one.
            B = fit_logistic(
                Z[~held], T[~held], float(penalty), w[~held], start=starts[place], tol=1e-2
            ).coefficients
            starts[place] = B
            scores = Z[held] @ B[:-1] + B[-1]
            loss += float(w[held] @ _losses(scores, T[held]).sum(axis=1))
        losses.append(loss)
        if len(losses) > 2 and losses[-1] > losses[-2] > losses[-3]:
            break
    return float(penalties[int(np.argmin(losses))])


def prior_log_odds(Y: Array, w: Array) -> Array:
    """(M,) log-odds of each label's frequency, half a row added to either side."""
    present = w @ Y
    return np.log(present + 0.5) - np.log(w.sum() - present + 0.5)


def _gradient(Z1: Array, Y: Array, w: Array, ridge: Array, B: Array) -> Array:
    return Z1.T @ (w[:, None] * (_sigmoid(Z1 @ B) - Y)) + ridge[:, None] * B


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
    Z1: Array, Y: Array, w: Array, ridge: Array, B: Array, step: Array, gradient: Array
) -> Array:
    """The steps, halved for each label until its objective falls (Armijo, 1e-4)."""
    before = _objective(Z1 @ B, Y, w, ridge, B)
    slope = np.einsum("ij,ij->j", gradient, step)
    size = np.ones(B.shape[1])
    images, directions = Z1 @ B, Z1 @ step
    for _ in range(30):
        trial = B + size * step
        after = _objective(images + size * directions, Y, w, ridge, trial)
        failed = after > before + 1e-4 * size * slope + 1e-12 * np.abs(before)
        if not failed.any():
            break
        size = np.where(failed, size / 2, size)
    return size * step


def _objective(scores: Array, Y: Array, w: Array, ridge: Array, B: Array) -> Array:
    return w @ _losses(scores, Y) + 0.5 * ridge @ (B**2)


def _losses(scores: Array, Y: Array) -> Array:
    """log(1 + exp(-t s)) for t = 2 Y - 1."""
    return np.logaddexp(0.0, scores) - Y * scores


def _sigmoid(scores: Array) -> Array:
    return 0.5 * (1.0 + np.tanh(0.5 * scores))
