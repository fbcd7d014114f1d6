"""One log-odds from what retriever and neighbours say of a candidate.

Retrievers have scores in units of their own: shares, log-odds, distances. So the log-odds are a
piecewise linear function of the score, with corners where the labels that are present have their
scores, and one of the votes; how frequent a label is counts too. A logistic regression of a dozen
numbers, the same for all labels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from compactlearn.estimators.shortlisting.candidates import Candidates

Array = NDArray[np.float64]

_CORNERS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)  # quantiles of the scores of present labels
_PAIRS = 200_000  # are enough for a dozen numbers
_C = 10.0


@dataclass(frozen=True)
class FirstLook:
    """How a candidate's log-odds follow from its score, its votes and its label's frequency."""

    score_corners: Array
    vote_corners: Array
    frequency: Array  # (n_labels,) log of one more than the rows of a label
    coefficients: Array
    intercept: float

    @classmethod
    def learn(
        cls,
        candidates: Candidates,
        present: NDArray[np.bool_],
        counts: Array,
        rng: np.random.RandomState,
    ) -> FirstLook:
        """``candidates`` are those of rows that the retriever had not seen."""
        named = ~np.isnan(candidates.retrieved)
        blank = cls(
            _corners(candidates.retrieved[named], candidates.retrieved[named & present]),
            _corners(candidates.votes, candidates.votes[present & (candidates.votes > 0)]),
            np.log1p(counts) - np.log1p(counts).mean(),
            np.zeros(0),
            0.0,
        )
        n_pairs = candidates.labels.size
        chosen = np.arange(n_pairs)
        if n_pairs > _PAIRS:
            chosen = np.sort(rng.choice(n_pairs, _PAIRS, replace=False))
        y = present[chosen]
        if not y.size or y.all() or not y.any():
            width = blank.columns(candidates, chosen[:1]).shape[1]
            share = (present.sum() + 0.5) / (n_pairs + 1.0)
            return cls(*blank.fixed, np.zeros(width), float(np.log(share / (1 - share))))
        model = LogisticRegression(C=_C, solver="newton-cholesky", max_iter=100)
        model.fit(blank.columns(candidates, chosen), y)
        return cls(*blank.fixed, np.array(model.coef_[0]), float(model.intercept_[0]))

    @property
    def fixed(self) -> tuple[Array, Array, Array]:
        return self.score_corners, self.vote_corners, self.frequency

    def columns(self, candidates: Candidates, pairs: NDArray[np.integer] | slice) -> Array:
        """What the regression looks at."""
        score, votes = candidates.retrieved[pairs], candidates.votes[pairs]
        named = ~np.isnan(score)
        S = _hats(np.where(named, score, self.score_corners[0]), self.score_corners)
        S[~named] = 0.0
        V = _hats(votes, self.vote_corners)
        V[votes == 0] = 0.0
        frequency = self.frequency[candidates.labels[pairs]]
        level = S @ np.linspace(0.0, 1.0, S.shape[1])
        vote_level = V @ np.linspace(0.0, 1.0, V.shape[1])
        crossed = [frequency, frequency * level, frequency * vote_level, level * vote_level]
        return np.column_stack([S, V, *crossed])

    def log_odds(self, candidates: Candidates) -> NDArray[np.float32]:
        """Of every pair."""
        found = np.empty(candidates.labels.size, dtype=np.float32)
        for start in range(0, found.size, _PAIRS):
            pairs = slice(start, start + _PAIRS)
            found[pairs] = self.columns(candidates, pairs) @ self.coefficients + self.intercept
        return found


def _corners(values: NDArray[np.floating], present: NDArray[np.floating]) -> Array:
    """Increasing corners that span all values; two at least."""
    if not values.size:
        return np.array([0.0, 1.0])
    inner = np.quantile(present, _CORNERS) if present.size else np.zeros(0)
    ends = float(values.min()), float(values.max())
    corners = np.unique(np.concatenate([ends, inner]).astype(np.float64))
    return corners if corners.size > 1 else np.array([corners[0], corners[0] + 1.0])


def _hats(values: NDArray[np.floating], corners: Array) -> Array:
    """Weights of the corners that a value lies between; values beyond the ends count as the ends.

    >>> _hats(np.array([0.0, 0.25, 3.0]), np.array([0.0, 1.0, 2.0]))
    array([[1.  , 0.  , 0.  ],
           [0.75, 0.25, 0.  ],
           [0.  , 0.  , 1.  ]])
    """
    x = np.clip(values.astype(np.float64), corners[0], corners[-1])
    left = np.clip(np.searchsorted(corners, x, side="right") - 1, 0, corners.size - 2)
    part = (x - corners[left]) / (corners[left + 1] - corners[left])
    hats = np.zeros((x.size, corners.size))
    row = np.arange(x.size)
    hats[row, left] = 1.0 - part
    hats[row, left + 1] = part
    return hats
