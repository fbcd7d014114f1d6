"""One L2 logistic regression per label on out-of-fold codes, all labels solved together.

    minimise over (b, c)   sum_i w_i log(1 + exp(-t_i (z_i'b + c))) + penalty / 2 ||b - b0||^2

    z (m,) standardised codes, t = +1 or -1 whether the label is present; the intercept c is free.

b0 is the label's column of the linear decoder, scaled to log-odds by a logistic regression on its
score alone (Platt 1999). These scores are out-of-fold: the training scores of the linear decoder
of all rows are better than its scores of new rows. A rare label has too few rows for m coefficients
of its own: with b0 = 0 it would be shrunken towards its frequency; shrunken towards b0 it keeps the
information of the embedding.

Newton's method solves for all labels at once. A step solves H_j x = -g_j for every label j by
conjugate gradients, preconditioned by the diagonal: a product with every label's Hessian is two
matrix products for all of them, and no Hessian is formed. (Forming M of them costs more, and M
small solves do not use several threads of the BLAS.) Rows are processed in strips, so that
intermediate results stay in the cache. A step that does not lower a label's objective is halved for
that label alone; labels that have converged are removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compactlearn.core import _memory as memory
from compactlearn.core._deadline import checkpoint
from compactlearn.decoding._held_out import CodeDecoder, DecoderData, HeldOutFold, cell_weights

Array = NDArray[np.float64]

PENALTIES = np.logspace(4, -1, 11)  # in units of one row of weight one; strongest first
TOLERANCE = 1e-4  # a gradient this much smaller than at the start has converged
# Lower bound of p (1 - p): where a step has made all probabilities 0 or 1, some of them wrongly,
# the curvature vanishes, and the next step would be unbounded. At a solution the bound is less than
# the weight of one row in a million.
SMALLEST_CURVATURE = 1e-6
STRIP = 1 << 17  # pairs of a row and a label that are processed at a time


@dataclass(frozen=True)
class LogisticFit:
    """Coefficients (m + 1, M), the intercept last, and the reduction of the gradients."""

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
    in all rows or in none gets no slope and a large finite intercept. ``weights`` (n,) are those of
    rows, or (n, M) of each row for each label: 0 where the label is not known.
    """
    n, m = Z.shape
    w = np.ones(n, dtype=Z.dtype) if weights is None else weights
    constant = np.zeros((m + 1, Y.shape[1]), dtype=Z.dtype)
    constant[-1] = prior_log_odds(Y, w)
    base = constant if prior is None else prior
    B = base.copy() if start is None else start.copy()
    present = _weighed(w, Y)
    varies = (present > 0) & (present < w.sum(axis=0))
    B[:, ~varies] = constant[:, ~varies]
    rows = _LossInStrips(Z, Y, w, np.append(np.full(m, penalty), 0.0).astype(Z.dtype), base)
    first = rows.first_gradient(_sigmoid(constant[-1]))
    reduction = np.zeros(Y.shape[1])
    rounding = 1e-12 if Z.dtype == np.float64 else 1e-6
    diagonal = np.zeros_like(B)
    active = np.flatnonzero(varies)
    at = rows.at(B[:, active], active)
    n_iter = 0
    while n_iter < max_iter:
        checkpoint()
        n_iter += 1
        reduction[active] = np.abs(at.gradient).max(axis=0) / first[active]
        going = reduction[active] > tol
        if not going.any():
            break
        active, at = active[going], at.some(going)
        # Superlinear (Dembo et al. 1982), but no more accurate than the goal asks for.
        accuracy = np.clip(np.sqrt(reduction[active]), 2.5 * np.sqrt(tol), 0.5)
        if n_iter % 4 == 1:  # it preconditions only: one of a few steps before serves as well
            diagonal[:, active] = rows.diagonal(at.curvature)
        step = _newton_steps(rows, at, diagonal[:, active], accuracy)
        # Halved for each label until its objective falls (Armijo).
        slope = np.einsum("ij,ij->j", at.gradient, step)
        limit = at.objective + rounding * np.abs(at.objective)
        size = np.ones(active.size, dtype=B.dtype)
        after = rows.at(B[:, active] + step, active)
        for _ in range(30):
            failed = np.flatnonzero(after.objective > limit + 1e-4 * size * slope)
            if not failed.size:
                break
            size[failed] /= 2
            again = active[failed]
            after.put(failed, rows.at(B[:, again] + size[failed] * step[:, failed], again))
        B[:, active] += size * step
        at = after
    return LogisticFit(B, reduction, n_iter)


def learn_logistic_decoder(data: DecoderData, penalty: float) -> CodeDecoder:
    """Fit log-odds of every label on out-of-fold codes, shrunken towards the linear decoder."""
    problem = DecoderProblem.of(data)
    B = problem.solved(penalty)
    W = problem.units.restored(B[:-1])
    return CodeDecoder(W, B[-1] - problem.units.mean @ W, penalty)


def choose_penalty(folds: Sequence[HeldOutFold], penalties: Array = PENALTIES) -> float:
    """Return one penalty for all labels: that of least log-loss on held-out rows.

    Inner folds of these codes would be biased. A row's label affects the codes of all the other
    rows, so a decoder of these has seen it indirectly, and seems to gain less from slopes of its
    own than it does on held-out rows (measured: penalties up to a hundred times too strong).
    Penalties are tried from the strongest on, each solution the start of the next; when the loss
    has risen twice in a row the search stops. Without any fold the strongest is returned.
    """
    if not folds or len(penalties) == 1:
        return float(penalties[0])
    problems = [DecoderProblem.of(part.train) for part in folds]
    starts = [problem.prior for problem in problems]
    new_rows = [
        (
            problem.units.standardised(part.codes),
            part.labels.toarray(),
            cell_weights(part.weights, part.unknown),
        )
        for problem, part in zip(problems, folds, strict=True)
    ]
    losses: list[float] = []
    for penalty in penalties:
        loss = 0.0
        for place, problem in enumerate(problems):
            # A rough solution ranks penalties as well as an exact one.
            B = starts[place] = problem.solved(float(penalty), start=starts[place], tol=1e-2)
            Z, T, w = new_rows[place]
            cells = log_losses(Z @ B[:-1] + B[-1], T)
            loss += float(w @ cells.sum(axis=1) if w.ndim == 1 else np.vdot(w, cells))
        losses.append(loss)
        if rising(losses):
            break
    return float(penalties[int(np.argmin(losses))])


def rising(losses: Sequence[float]) -> bool:
    """Return whether the last two losses are each larger than the one before."""
    return len(losses) > 2 and losses[-1] > losses[-2] > losses[-3]


@dataclass(frozen=True)
class DecoderProblem:
    """Logistic regressions of labels on standardised codes."""

    units: Units
    Z: Array  # (n, m)
    T: Array  # (n, M)
    prior: Array  # (m + 1, M), the intercept last
    weights: Array  # (n,), or (n, M) where labels are unknown

    @classmethod
    def of(cls, data: DecoderData) -> DecoderProblem:
        n_rows, n_labels = data.labels.shape
        memory.require_memory(
            8 * 8 * n_rows * n_labels,  # labels, scores, probabilities, curvatures, their products
            what=f"Logistic regressions of {n_labels} labels on {n_rows} rows",
            remedy="Use decoder='linear', which forms no matrix of that size.",
        )
        units, T = Units.of(data.codes, data.weights), data.labels.toarray()
        scores = data.scores(slice(0, n_labels))
        labels, w = data.scored
        weights = cell_weights(data.weights, data.unknown)
        # Standardised codes have mean 0, and so have their scores by the linear decoder.
        centred = scores - (w @ scores) / w.sum()
        scaling = as_log_odds(centred, labels.toarray(), w if data.unknown is None else weights)
        prior = scaling.coefficients(units.rescaled(data.linear))
        return cls(units, units.standardised(data.codes), T, prior, weights)

    def solved(
        self, penalty: float, *, start: Array | None = None, tol: float = TOLERANCE
    ) -> Array:
        """Return the coefficients (m + 1, M), the intercept last."""
        given = self.Z, self.T, penalty, self.weights
        return fit_logistic(*given, prior=self.prior, start=start, tol=tol).coefficients


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
        """Return codes of mean 0 and deviation 1."""
        moves = self.deviation > 0
        return np.divide(codes - self.mean, self.deviation, out=np.zeros_like(codes), where=moves)

    def rescaled(self, W: Array) -> Array:
        """Return a decoder of codes as one of standardised codes."""
        return W * self.deviation[:, None]

    def restored(self, W: Array) -> Array:
        """Return a decoder of standardised codes as one of the original codes."""
        deviation = self.deviation[:, None]
        return np.divide(W, deviation, out=np.zeros_like(W), where=deviation > 0)


@dataclass(frozen=True)
class Scaling:
    """Map from scores to log-odds for each label: ``slope * score + intercept``."""

    slope: Array  # (M,)
    intercept: Array  # (M,)

    def coefficients(self, W0: Array) -> Array:
        """Return the coefficients (m + 1, M) of the log-odds of scores ``Z W0``."""
        return np.vstack([W0 * self.slope, self.intercept])


def as_log_odds(scores: Array, Y: Array, w: Array, n_iter: int = 60, tol: float = 1e-9) -> Scaling:
    """Fit a logistic regression of every label on its own score (Platt), by Newton's method.

    Scores are divided by their deviation, and the slope is shrunken to 1 in this unit with the
    weight of four rows: rare labels carry little information about it. A slope is never negative.
    """
    unit = np.sqrt(_weighed(w, scores**2) / np.maximum(w.sum(axis=0), 1e-300))
    S = np.divide(scores, unit, out=np.zeros_like(scores), where=unit > 0)
    total = np.broadcast_to(_column(w), Y.shape)
    return scaling_of(S, total * Y, total, unit, n_iter, tol)


def scaling_of(
    S: Array, present: Array, total: Array, unit: Array, n_iter: int = 60, tol: float = 1e-9
) -> Scaling:
    """Fit :func:`as_log_odds` to rows that may each represent many.

    ``present`` (n, M) of the ``total`` (n, M) weight of a row have the label. ``S`` (n, M) are
    scores in their ``unit`` (M,). A step that does not lower a label's objective is halved: the few
    rows of a rare label lie tens of units from the others, and whole steps would oscillate.
    """
    dtype, M = S.dtype, present.shape[1]
    with_label, every = present.sum(axis=0), total.sum(axis=0)
    moves = (unit > 0) & (with_label > 0) & (with_label < every)
    with_label = np.clip(with_label, 0.0, every)
    constant = np.log(with_label + 0.5) - np.log(every - with_label + 0.5)
    b, c = np.zeros(M, dtype=dtype), constant.astype(dtype)
    step_b, step_c, lowest = np.zeros_like(b), np.zeros_like(c), np.full(M, np.inf)
    rounding = 1e-14 if dtype == np.float64 else 1e-6
    going = np.flatnonzero(moves)
    for _ in range(n_iter):
        if not going.size:
            break
        own, have, weight = S[:, going], present[:, going], total[:, going]
        t = own * b[going] + c[going]
        after = (weight * log_losses(t, 0.0) - have * t).sum(axis=0) + 2.0 * (b[going] - 1.0) ** 2
        lower = after <= lowest[going] + rounding * np.abs(after)
        back, on = going[~lower], going[lower]
        step_b[back], step_c[back] = step_b[back] / 2, step_c[back] / 2
        b[back], c[back] = b[back] - step_b[back], c[back] - step_c[back]
        if back.size:
            own, have, weight, t = own[:, lower], have[:, lower], weight[:, lower], t[:, lower]
        lowest[on] = np.minimum(after[lower], lowest[on])
        P = _sigmoid(t)
        expected = weight * P
        wrong, curvature = expected - have, expected * (1.0 - P)
        g_b, g_c = (own * wrong).sum(axis=0) + 4.0 * (b[on] - 1.0), wrong.sum(axis=0)
        bent = own * curvature
        h_bb, h_bc = (own * bent).sum(axis=0) + 4.0, bent.sum(axis=0)
        h_cc = curvature.sum(axis=0) + 1e-9
        determinant = h_bb * h_cc - h_bc**2
        step_b[on] = (h_bc * g_c - h_cc * g_b) / determinant
        step_c[on] = (h_bc * g_b - h_bb * g_c) / determinant
        b[on], c[on] = b[on] + step_b[on], c[on] + step_c[on]
        going = going[np.maximum(np.abs(step_b[going]), np.abs(step_c[going])) >= tol]
    slope = np.divide(np.maximum(b, 0.0), unit, out=np.zeros_like(b), where=moves)
    return Scaling(slope, np.where(slope > 0, c, constant))


def prior_log_odds(Y: Array, w: Array) -> Array:
    """Return the log-odds (M,) of each label's frequency, half a row added to either side."""
    present = np.clip(_weighed(w, Y), 0.0, w.sum(axis=0))  # corrected labels may be anything
    return np.log(present + 0.5) - np.log(w.sum(axis=0) - present + 0.5)


def _weighed(w: Array, cells: Array) -> Array:
    """Return sums (M,) over rows, by weights of rows (n,) or of cells (n, M)."""
    return w @ cells if w.ndim == 1 else np.einsum("ij,ij->j", w, cells)


def _column(w: Array) -> Array:
    """Return weights in a shape that broadcasts over cells (n, M)."""
    return w[:, None] if w.ndim == 1 else w


@dataclass(frozen=True)
class _At:
    """Objective, gradient and second derivatives of some labels at their coefficients."""

    objective: Array  # (b,)
    gradient: Array  # (m + 1, b)
    curvature: Array  # (n, b) of each row's loss

    def some(self, labels: NDArray[np.bool_]) -> _At:
        if labels.all():
            return self
        return _At(self.objective[labels], self.gradient[:, labels], self.curvature[:, labels])

    def put(self, labels: NDArray[np.intp], other: _At) -> None:
        self.objective[labels] = other.objective
        self.gradient[:, labels] = other.gradient
        self.curvature[:, labels] = other.curvature


@dataclass(frozen=True)
class _LossInStrips:
    """Rows of a problem, processed in strips that fit in the cache."""

    Z: Array  # (n, m)
    Y: Array  # (n, M)
    w: Array  # (n,), or (n, M) of cells
    ridge: Array  # (m + 1,), the intercept last
    base: Array  # (m + 1, M) coefficients that the solution is shrunken to

    def strips(self, n_labels: int) -> Iterator[slice]:
        height = max(256, STRIP // max(n_labels, 1))
        for start in range(0, len(self.Z), height):
            yield slice(start, start + height)

    def at(self, B: Array, labels: NDArray[np.intp]) -> _At:
        """Return objective and derivatives of these labels at coefficients B (m + 1, b)."""
        apart = B - self.base[:, labels]
        gradient = self.ridge[:, None] * apart
        objective = 0.5 * (apart * gradient).sum(axis=0, dtype=np.float64)
        curvature = np.empty((len(self.Z), labels.size), dtype=B.dtype)
        every = labels.size == self.Y.shape[1]
        for rows in self.strips(labels.size):
            Z, w = self.Z[rows], self.w[rows]
            Y = self.Y[rows] if every else self.Y[rows][:, labels]
            if w.ndim == 2 and not every:
                w = w[:, labels]
            scores = Z @ B[:-1]
            scores += B[-1]
            objective += _weighed(w, log_losses(scores, Y))
            P = _sigmoid(scores)
            np.maximum(P * (1.0 - P), SMALLEST_CURVATURE, out=curvature[rows])
            curvature[rows] *= _column(w)
            P -= Y
            P *= _column(w)
            gradient[:-1] += Z.T @ P
            gradient[-1] += P.sum(axis=0)
        return _At(objective, gradient, curvature)

    def first_gradient(self, P: Array) -> Array:
        """Return the largest gradient entry (M,) of the constant predictor.

        Convergence is measured relative to it, whatever the start.
        """
        gradient = np.zeros_like(self.base)
        for rows in self.strips(P.size):
            wrong = _column(self.w[rows]) * (P - self.Y[rows])
            gradient[:-1] += self.Z[rows].T @ wrong
            gradient[-1] += wrong.sum(axis=0)
        first = np.abs(gradient).max(axis=0)
        return np.where(first == 0, 1.0, first)

    def diagonal(self, curvature: Array) -> Array:
        """Return the diagonals (m + 1, b) of the labels' Hessians."""
        diagonal = np.tile(self.ridge[:, None], curvature.shape[1])
        for rows in self.strips(curvature.shape[1]):
            diagonal[:-1] += (self.Z[rows] * self.Z[rows]).T @ curvature[rows]
            diagonal[-1] += curvature[rows].sum(axis=0)
        return diagonal

    def image(self, curvature: Array, D: Array) -> Array:
        """Return every label's Hessian times its column of D."""
        image = self.ridge[:, None] * D
        for rows in self.strips(D.shape[1]):
            U = self.Z[rows] @ D[:-1]
            U += D[-1]
            U *= curvature[rows]
            image[:-1] += self.Z[rows].T @ U
            image[-1] += U.sum(axis=0)
        return image


def _newton_steps(rows: _LossInStrips, at: _At, diagonal: Array, accuracy: Array) -> Array:
    """Return ``-H^-1 gradient`` of every label, to a residual of ``accuracy`` of the gradient.

    When all but a few labels have converged, the iteration stops for the others too: their steps
    are descent directions, and are refined in the next Newton step. A product for a few labels
    reads as much memory as one for all.
    """
    gradient, curvature = at.gradient, at.curvature
    diagonal = diagonal + 1e-10 * diagonal.max(
        axis=0
    )  # a label almost fitted has no curvature left
    steps = np.zeros_like(gradient)
    step, residual = steps, -gradient
    scaled = residual / diagonal
    direction = scaled.copy()
    energy = np.einsum("ij,ij->j", residual, scaled)
    goal = accuracy**2 * np.einsum("ij,ij->j", gradient, gradient)
    labels = np.arange(gradient.shape[1])
    for _ in range(gradient.shape[0] + 10):
        image = rows.image(curvature, direction)
        length = energy / np.maximum(np.einsum("ij,ij->j", direction, image), 1e-300)
        step = step + length * direction
        residual = residual - length * image
        going = np.einsum("ij,ij->j", residual, residual) > goal
        if not going.all():
            steps[:, labels] = step
            if 8 * np.count_nonzero(going) < accuracy.size:
                break
            # From here on, only labels that have not converged are multiplied.
            labels, energy, goal = labels[going], energy[going], goal[going]
            step, residual, direction = step[:, going], residual[:, going], direction[:, going]
            diagonal, curvature = diagonal[:, going], curvature[:, going]
        scaled = residual / diagonal
        after = np.einsum("ij,ij->j", residual, scaled)
        direction = scaled + (after / np.maximum(energy, 1e-300)) * direction
        energy = after
    steps[:, labels] = step
    return steps


def log_losses(scores: Array, Y: Array | float) -> Array:
    """Return log(1 + exp(-t s)) for t = 2 Y - 1."""
    if scores.dtype == np.float64:
        return np.logaddexp(0.0, scores) - Y * scores
    return np.maximum(scores, 0) + np.log(1 + np.exp(-np.abs(scores))) - Y * scores


def _sigmoid(scores: Array) -> Array:
    if scores.dtype == np.float64:
        return 0.5 * (1.0 + np.tanh(0.5 * scores))
    return 1 / (1 + np.exp(-np.maximum(scores, -80)))  # small ones keep their digits
