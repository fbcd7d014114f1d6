"""The ridge learner from the left block of a pair, projected or not, to codes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.linalg._codes import Codes
from compactlearn.linalg._graded import direction_floor, graded_rotation
from compactlearn.linalg._moments_pair import MomentsPair, MomentsRidge
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._ridge import (
    SMALL_PENALTY,
    Learned,
    LearnedPath,
    ridge_path,
    solve_ridge,
)
from compactlearn.linalg._rows_pair import RowsPair
from compactlearn.linalg._rows_ridge import RowsRidge

Array = NDArray[np.float64]


def ridge_of(pair: Pair) -> MomentsRidge | RowsRidge:
    """Return the ridge regressions on all of a pair's left block, and their hat matrices."""
    if isinstance(pair, MomentsPair):
        return MomentsRidge(pair)
    assert isinstance(pair, RowsPair)
    return RowsRidge(pair)


def learn(
    pair: Pair, projection: Array | None, codes: Codes, alpha: float, bias: str = "free"
) -> Learned:
    """Return the ridge of V on XP (on X where P is None), with one of the ``BIASES``."""
    solved = True
    if projection is None:
        B, solved = ridge_of(pair).solve(codes, alpha, bias)
        mean = pair.mean_left @ B
    else:
        turn, P, floor = _turned(pair, projection, alpha)
        centre = pair.mean_left @ pair.left.expressed(P)
        gram, cross = pair.left.projected_gram(P), pair.left.inner(P, codes.left)
        if bias == "none":
            gram = gram + pair.count * np.outer(centre, centre)
            cross = cross + np.outer(centre, codes.total)
        B = solve_ridge(gram, cross, alpha, floor=floor)
        mean = centre @ B
        B = B if turn is None else turn @ B
    intercept = (codes.total - pair.count * mean) / pair.count
    return Learned(B, intercept if bias == "free" else np.zeros_like(codes.total), solved)


def learn_path(pair: Pair, projection: Array | None, codes: Codes) -> LearnedPath:
    """Return the ridge with a free intercept for every penalty, from one decomposition."""
    if projection is None:
        return ridge_of(pair).path(codes)
    turn, P, floor = _turned(pair, projection)
    path = ridge_path(pair.left.projected_gram(P), floor)
    inside = path.inside(pair.left.inner(P, codes.left))
    centre = pair.mean_left @ pair.left.expressed(projection)
    outside = path.outside
    if turn is not None:
        outside = turn if outside is None else turn @ outside
    return LearnedPath(path, outside, inside, centre)


def constant_left_over(pair: Pair, projection: Array | None, alpha: float, rows: Any) -> Array:
    """Return the residuals (n, 1) of the constant 1 in a ridge without an intercept.

    ``rows`` are in the form of the pair's left block. With the residual r(x), the intercept b of
    the learner with a free intercept, and the same penalty, the learner without one predicts
    v^(x) = v^_free(x) - r(x) b. (Profile the intercept out: the equations of the two differ by the
    rank-one matrix of the mean of the rows.)
    """
    learned = learn(pair, projection, _constant(pair), alpha, "none")
    seen = rows if projection is None else rows @ pair.left.expressed(projection)
    return 1.0 - seen @ learned.coefficients


def _constant(pair: Pair) -> Codes:
    """Return the constant 1 as a code."""
    if isinstance(pair, RowsPair):
        return pair.codes_of(np.ones((pair.n_rows, 1)))
    right = pair.count * pair.mean_right[:, None]
    return Codes(np.zeros((pair.n_left, 1)), right, np.array([float(pair.count)]))


def fitted_codes(pair: RowsPair, codes: Codes, alpha: float, bias: str = "free") -> Array:
    """Return the codes of the training rows predicted by a ridge on all of the left block."""
    learned = learn(pair, None, codes, alpha, bias)
    return pair.left.times(learned.coefficients) + learned.intercept


def _turned(
    pair: Pair, projection: Array, alpha: float | None = None
) -> tuple[Array | None, Array, Array]:
    """Return a rotation T, PT and the rounding floor of XcPT; T is None where none is needed.

    It is needed for ``graded`` columns, unless the penalty ``alpha`` outweighs the small ones.
    """
    small = alpha is None or alpha <= SMALL_PENALTY * pair.left.energy
    if not (small and pair.left.graded):
        return None, projection, np.zeros(1)
    assert pair.left.variances is not None
    turn, P = graded_rotation(projection, pair.left.variances)
    return turn, P, direction_floor(P, pair.left.variances)
