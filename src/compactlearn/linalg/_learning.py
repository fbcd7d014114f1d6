"""The ridge learner from the left block of a pair, projected or not, to codes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.linalg._codes import Codes
from compactlearn.linalg._graded import direction_floor, graded_rotation
from compactlearn.linalg._moments_pair import MomentsPair, MomentsRidge
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._ridge import (
    SMALL_PENALTY,
    Learned,
    LearnedPath,
    PenaltyPath,
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
    path = ridge_path(pair.left.projected_gram(P), floor=floor)
    inside = path.inside(pair.left.inner(P, codes.left))
    centre = pair.mean_left @ pair.left.expressed(projection)
    outside = path.outside
    if turn is not None:
        outside = turn if outside is None else turn @ outside
    return LearnedPath(path, outside, inside, centre)


@dataclass(frozen=True)
class RowsOnPath:
    """Rows in the coordinates of a :class:`LearnedPath`, less the mean of the training rows."""

    spectrum: PenaltyPath
    inside: Array  # (r, k) products of the targets
    rows: Array  # (n, r)

    @classmethod
    def of(cls, path: LearnedPath, rows: Any) -> RowsOnPath:
        if path.outside is None:
            rows = rows.toarray() if scipy.sparse.issparse(rows) else rows
            return cls(path.spectrum, path.inside, rows - path.mean_left)
        coordinates = rows @ path.outside - path.mean_left @ path.outside
        return cls(path.spectrum, path.inside, coordinates)

    def codes(self, alpha: float) -> Array:
        """(n, k) predicted codes, less their mean in training."""
        return self.rows @ self.spectrum.shrunk(self.inside, alpha)

    def with_inside(self, inside: Array) -> RowsOnPath:
        """Return these rows for other targets, which predictions are linear in: with products
        Xc'VW in place of Xc'V they are decoded codes."""
        return replace(self, inside=inside)


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
