"""Ridge regressions on all columns of a block, from their Gram matrix."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from compactlearn.linalg.ridge import (
    PenaltyPath,
    mean_share,
    ridge_inverse,
    ridge_path,
    solve_ridge,
    with_ones,
)

Array = NDArray[np.float64]


@dataclass(frozen=True)
class GramSystem:
    """``Xc'Xc`` and the rows' mean, which are all that a ridge needs whatever its intercept is.

    A ``kind`` is one of ``HATS``, and stands for rows Z: the centred ones (a free intercept is
    left to the caller), those as they are, or these and a column of ones. A convention, one of
    ``BIASES`` or ``HATS``, says how much of the mean is left after the intercept is profiled out
    (:func:`~compactlearn.linalg.ridge.mean_share`).
    """

    gram: Array
    mean: Array
    count: float
    floor: Array  # what rounding leaves of the squared length of a column without variance
    raw_floor: Array | float = 0.0  # the same where the mean takes part

    def with_mean(self, share: float) -> Array:
        """The Gram matrix with a share of the mean."""
        if share == 0:
            return self.gram
        return self.gram + share * self.count * np.outer(self.mean, self.mean)

    def solve(
        self, cross: Array, alpha: float, convention: str, total: Array | None = None
    ) -> Array:
        """Coefficients for targets of products ``Xc'T`` and sums ``total``, None where these are 0
        or have been taken off."""
        share = mean_share(convention, alpha, self.count)
        if share and total is not None:
            cross = cross + share * np.outer(self.mean, total)
        without_mean = mean_share(convention, 0.0, self.count) == 0
        floor = self.floor if without_mean else self.raw_floor
        return solve_ridge(self.with_mean(share), cross, alpha, floor=floor)

    @cached_property
    def path(self) -> PenaltyPath:
        """That of the centred rows, shared by every balance, hat matrix and penalty."""
        return ridge_path(self.gram, floor=self.floor)

    def path_of(self, kind: str) -> PenaltyPath:
        """That of the rows Z."""
        if kind in ("centred", "intercept"):
            return self.path
        return ridge_path(self._gram_of(kind), floor=self.raw_floor)

    def inverse(self, kind: str, ridge: float) -> tuple[Array, float]:
        """``(Z'Z + ridge I)^-1``, and the trace of the hat matrix."""
        floor = self.floor if kind in ("centred", "intercept") else self.raw_floor
        if kind == "penalised" and np.ndim(floor):
            floor = np.append(0.0, floor)
        return ridge_inverse(self._gram_of(kind), ridge, floor=floor)

    def _gram_of(self, kind: str) -> Array:
        gram = self.with_mean(1.0 if kind in ("raw", "penalised") else 0.0)
        return with_ones(gram, self.mean, self.count) if kind == "penalised" else gram
