"""AscentObjective of CMLL, and the alternation that maximises it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from compactlearn.core._warn import warn_user
from compactlearn.linalg._arrays import to_device_of
from compactlearn.linalg._codes import Codes
from compactlearn.linalg._dense import svd
from compactlearn.linalg._pairs import Pair

Array = NDArray[np.float64]


@dataclass(frozen=True)
class AscentObjective:
    """AscentObjective of CMLL over the codes and projections of a pair."""

    pair: Pair
    beta: float

    def leading_codes(self, m: int, P: Array | None = None, seed: int = 0) -> Codes:
        """Return the best V for a projection."""
        return self.pair.leading_codes(m, self.beta, P, seed)

    def recovery(self, codes: Codes) -> float:
        """Return ``||Y'V||^2``, also where V is Y."""
        if codes.right is None:
            return self.pair.right_gram_energy
        return float(np.sum(codes.right**2))

    def objective(self, codes: Codes, P: Array | None) -> float:
        """Return ``beta ||P'Xc'V||^2`` and the recovery together."""
        return self.beta * dependence(self.pair, codes, P) + self.recovery(codes)


@dataclass(frozen=True)
class State:
    """Current point of an ascent: codes, projection and the objective so far."""

    codes: Codes
    projection: Array | None
    path: list[float]
    algorithm: str
    n_iter: int = 1
    settled: bool = True


def closed_form(problem: AscentObjective, codes: Codes, d: int | None) -> tuple[State, int]:
    """Return the best P for the leading codes, and the number of columns of the joint optimum."""
    P, rank = None, 0
    if d is not None:
        P, squares = problem.pair.left.leading_range(codes.left)
        rank = squares.size if problem.beta > 0 else 0  # without a balance P takes no part
        P = P[:, :d]
    return State(codes, P, [problem.objective(codes, P)], "closed"), rank


def climb_from_several(
    problem: AscentObjective, codes: Codes, P: Array, m: int, *, tol: float, max_iter: int
) -> State:
    """Ascend a little way from three starts, then all the way from the best.

    The problem has local maxima, if rarely: of 449 random problems the closed form's start
    ended below the best of twenty random ones six times, the labels' own codes three times,
    the better of the two never. A random start is the third opinion. (All three together:
    never, on 1594 further problems.)
    """
    pair, d = problem.pair, P.shape[1]
    # Without columns of P the problem is of the order of the labels, whatever the route.
    of_labels = replace(problem, beta=0.0)
    labels_only = pair.left.leading_range(of_labels.leading_codes(m, P[:, :0]).left)[0][:, :d]
    drawn = np.random.default_rng(0).standard_normal((pair.n_left, d))
    random = pair.left.orthonormal(to_device_of(drawn, P))
    starts = [
        (codes, P),
        *((problem.leading_codes(m, Q), Q) for Q in (labels_only, random)),
    ]
    short = [
        accelerated_ascent(problem, State(V, Q, [], "accelerated"), d, m, tol=1e-6, max_iter=15)
        for V, Q in starts
    ]
    best = max(short, key=lambda state: state.path[-1])
    last = accelerated_ascent(problem, best, d, m, tol=tol * 1e-6, max_iter=10 * max_iter)
    if not last.settled:
        warn_user(
            f"CMLL stopped after {last.n_iter} rounds of the accelerated alternation with the "
            f"objective still rising by more than {tol * 1e-6:g} (relative); raise "
            "max_iter or tol.",
            ConvergenceWarning,
        )
    return last


def accelerated_ascent(
    problem: AscentObjective, start: State, d: int, m: int, *, tol: float, max_iter: int
) -> State:
    """Alternate V- and P-steps for d < m, with extrapolation guarded by the objective.

    A V-step is an eigenproblem of order d + M at most, so no N x N matrix appears. Plain
    alternation converges linearly and slowly; here each P-step is followed by a step further
    along the same direction (momentum on the Stiefel manifold, after a Procrustes alignment).
    If the extrapolated point has a lower objective than the last one, it is dropped and the plain
    step is used, so the objective never decreases. A small gain ends the ascent only after a plain
    step, since a step with momentum may happen to be short.
    """
    pair, codes, P = problem.pair, start.codes, start.projection
    assert P is not None
    value = problem.objective(codes, P)
    path = list(start.path) or [value]
    ahead, momentum = P, 1.0
    n_iter = 0
    for n_iter in range(1, max_iter + 1):
        trial = problem.leading_codes(m, ahead)
        best_P = pair.left.leading_range(trial.left)[0][:, :d]
        reached = problem.objective(trial, best_P)
        plain = ahead is P
        if reached < value and not plain:
            ahead, momentum = P, 1.0  # overshot: take the plain step instead
            continue
        gain, value, codes = reached - value, reached, trial
        path.append(value)
        if best_P.shape != P.shape:
            P, ahead, momentum = best_P, best_P, 1.0  # the start had too few directions
            continue
        U, _, Wt = svd(pair.left.inner(best_P, P))
        aligned = best_P @ (U @ Wt)
        small = gain <= tol * value
        if small and plain:
            return State(codes, best_P, path, start.algorithm, start.n_iter + n_iter - 1)
        next_momentum = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        push = 0.0 if small else (momentum - 1) / next_momentum
        further = aligned + push * (aligned - P)
        P, momentum = aligned, 1.0 if small else next_momentum
        ahead = pair.left.orthonormal(further) if push else P
    P = pair.left.leading_range(codes.left)[0][:, :d]
    return State(codes, P, path, start.algorithm, start.n_iter + n_iter - 1, settled=False)


def fixed_codes(problem: AscentObjective, d: int | None) -> State:
    """Return the outcome of a problem whose codes are the labels."""
    pair = problem.pair
    codes = pair.right_codes(dense=d is None)
    P = None if d is None else pair.cross_range(d)[0]
    reached = problem.beta * dependence(pair, codes, P) + problem.recovery(codes)
    return State(codes, P, [reached], "closed")


def dependence(pair: Pair, codes: Codes, P: Array | None) -> float:
    """Return ``||P'Xc'V||^2``, or ``||Xc'V||^2`` if features are kept."""
    if P is not None:
        return float(np.sum(pair.left.inner(P, codes.left) ** 2))
    if codes.right is None:
        return pair.cross_energy
    return float(np.trace(pair.left.inner(codes.left, codes.left)))
