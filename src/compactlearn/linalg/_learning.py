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
    """Ridge of V on XP (on X where P is None), with one of the ``BIASES``."""
    solved = True
    if projection is None:
        B, solved = ridge_of(pair).solve(codes, alpha, bias)
        mean = pair.mean_left @ B
    else:
        turn, floor, P = None, np.zeros(1), projection
        if alpha <= SMALL_PENALTY * pair.left.energy and pair.left.graded:
            turn, P, floor = _turned(pair, projection)
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
    """The ridge with a free intercept for every penalty, from one decomposition."""
    if projection is None:
        return ridge_of(pair).path(codes)
    turn, floor, P = None, np.zeros(1), projection
    if pair.left.graded:
        turn, P, floor = _turned(pair, projection)
    path = ridge_path(pair.left.projected_gram(P), floor=floor)
    inside = path.inside(pair.left.inner(P, codes.left))
    centre = pair.mean_left @ pair.left.expressed(projection)
    outside = path.outside
    if turn is not None:
        outside = turn if outside is None else turn @ outside
    return LearnedPath(path, outside, inside, centre)


def constant_left_over(pair: Pair, projection: Array | None, alpha: float, rows: Any) -> Array:
    """(n, 1) what is left of the constant 1 by its own ridge without an intercept, for ``rows`` as
    the pair knows them.

    By this much a learner without an intercept is short of the intercept b of the free one, with
    the same penalty: v^(x) = v^_free(x) - left_over(x) b. (Profile the intercept out: the equations
    of the two differ by the rank-one matrix that belongs to the mean of the rows.)
    """
    learned = learn(pair, projection, _constant(pair), alpha, "none")
    seen = rows if projection is None else rows @ pair.left.expressed(projection)
    return 1.0 - seen @ learned.coefficients


def _constant(pair: Pair) -> Codes:
    """The constant 1 as a code."""
    if isinstance(pair, RowsPair):
        return pair.codes_of(np.ones((pair.n_rows, 1)))
    right = pair.count * pair.mean_right[:, None]
    return Codes(np.zeros((pair.n_left, 1)), right, np.array([float(pair.count)]))


def fitted_codes(pair: RowsPair, codes: Codes, alpha: float, bias: str = "free") -> Array:
    """The training rows' codes as a ridge on all of the left block predicts them."""
    learned = learn(pair, None, codes, alpha, bias)
    return pair.left.times(learned.coefficients) + learned.intercept


def _turned(pair: Pair, projection: Array) -> tuple[Array, Array, Array]:
    """A rotation T, PT, and what rounding leaves of XcPT, where columns are ``graded``."""
    assert pair.left.variances is not None
    turn, P = graded_rotation(projection, pair.left.variances)
    return turn, P, direction_floor(P, pair.left.variances)
