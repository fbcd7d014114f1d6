"""Scores from features in the cheapest order of products."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_BLOCK_ENTRIES = 1 << 18  # two megabytes of scores: compared with the threshold while in cache


@dataclass(frozen=True)
class LinearScorer:
    """``X A_1 A_2 ... + intercept``: a linear model held as one or two factors.

    >>> scorer = LinearScorer.build(np.ones((4, 1)), np.ones((1, 3)), np.zeros(3))
    >>> len(scorer.factors), scorer.scores(np.eye(4)).shape
    (2, (4, 3))
    """

    factors: tuple[Array, ...]  # (D, m), (m, M); or their product (D, M)
    intercept: Array  # (M,)

    @classmethod
    def build(cls, codes: Array, decoder: Array | None, intercept: Array) -> LinearScorer:
        """Keep whichever form needs fewer multiplications for a row.

        ``codes`` (D, m) maps a row to its codes, ``decoder`` (m, M) codes to scores; None is the
        identity.
        """
        if decoder is None:
            return cls((codes,), intercept)
        D, m = codes.shape
        M = decoder.shape[1]
        if D * M <= D * m + m * M:
            return cls((codes @ decoder,), intercept)
        return cls((codes, decoder), intercept)

    def scores(self, X: Any) -> Array:
        """The scores of all rows of X at once."""
        scores = X
        for factor in self.factors:
            scores = scores @ factor
        scores += self.intercept
        return scores

    def blocks(self, X: Any) -> Iterator[tuple[slice, Array]]:
        """The scores a few rows at a time, for callers who keep less than all of them."""
        n_rows, width = X.shape[0], max(1, self.intercept.size)
        step = max(64, _BLOCK_ENTRIES // width)
        for start in range(0, n_rows, step):
            rows = slice(start, min(start + step, n_rows))
            yield rows, self.scores(X[rows])

    @property
    def coefficients(self) -> Array:
        """The (D, M) matrix, multiplied out."""
        return self.factors[0] if len(self.factors) == 1 else self.factors[0] @ self.factors[1]
