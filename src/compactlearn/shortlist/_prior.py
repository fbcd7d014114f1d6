"""Candidate prior: log-odds of a candidate from the retriever's score and the neighbours' votes.

Retrievers have scores in units of their own: shares, log-odds, distances. So the log-odds are
piecewise linear functions of the score and of the votes, and depend on the label's frequency. A
score of 0.02 is low for a label of every tenth row and high for one of every thousandth: a third
function is of the score about the mean of the label's own candidates, in units of their deviation.
All coefficients are those of one logistic regression, the same for all labels.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from compactlearn.core._compiled import read_only
from compactlearn.shortlist._candidates import Candidates
from compactlearn.shortlist._piecewise import corners_of, hats_of

Array = NDArray[np.float64]

_CORNERS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)  # quantiles of the scores of present labels
LEARNT_PAIRS = 200_000  # are enough for a dozen numbers
_C = 10.0
_PRIOR = 10.0  # candidates that a label's mean and deviation borrow from all labels


@dataclass(frozen=True)
class CandidatePrior:
    """Log-odds of a candidate as a function of score, votes and the label's frequency."""

    score_corners: Array
    vote_corners: Array
    own_corners: Array
    centres: NDArray[np.float32]  # (n_labels,) mean score of the label's candidates
    scales: NDArray[np.float32]  # (n_labels,) and its deviation
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
        weights: Array | None = None,
    ) -> CandidatePrior:
        """Fit to candidates of rows that the retriever had not seen."""
        named = ~np.isnan(candidates.retrieved)
        scores, labels = candidates.retrieved[named], candidates.labels[named]
        centres, scales = _label_units(scores, labels, candidates.n_labels)
        own = (scores - centres[labels]) / scales[labels]
        blank = cls(
            _corners(scores, scores[present[named]]),
            _corners(candidates.votes, candidates.votes[present & (candidates.votes > 0)]),
            _corners(own, own[present[named]]),
            centres,
            scales,
            np.log1p(counts) - np.log1p(counts).mean(),
            np.zeros(0),
            0.0,
        )
        n_pairs = candidates.labels.size
        chosen = np.arange(n_pairs)
        if n_pairs > LEARNT_PAIRS:
            chosen = np.sort(rng.choice(n_pairs, LEARNT_PAIRS, replace=False))
        y = present[chosen]
        if not y.size or y.all() or not y.any():
            width = blank.columns(candidates, chosen[:1]).shape[1]
            share = (present.sum() + 0.5) / (n_pairs + 1.0)
            return replace(
                blank, coefficients=np.zeros(width), intercept=float(np.log(share / (1 - share)))
            )
        model = LogisticRegression(C=_C, solver="newton-cholesky", max_iter=100)
        own = None if weights is None else weights[chosen]
        model.fit(blank.columns(candidates, chosen), y, sample_weight=own)
        return replace(
            blank, coefficients=np.array(model.coef_[0]), intercept=float(model.intercept_[0])
        )

    def columns(self, candidates: Candidates, pairs: NDArray[np.integer[Any]]) -> Array:
        """Return the columns of the regression."""
        given = self._given(candidates, pairs)
        hats = [hats_of(values, corners) * there[:, None] for values, corners, there in given]
        levels = [part @ np.linspace(0.0, 1.0, part.shape[1]) for part in hats]
        return np.column_stack([*hats, *self._crossed(candidates.labels[pairs], *levels)])

    def log_odds(self, candidates: Candidates) -> NDArray[np.float32]:
        """Return ``columns @ coefficients + intercept`` of every pair, without the columns."""
        found = np.empty(candidates.labels.size, dtype=np.float32)
        *heights, crossed = self._heights
        for start in range(0, found.size, LEARNT_PAIRS):
            pairs = slice(start, start + LEARNT_PAIRS)
            total, levels = self.intercept, []
            for (values, corners, there), height in zip(
                self._given(candidates, pairs), heights, strict=True
            ):
                total = total + np.interp(values, corners, height) * there
                levels.append(np.interp(values, corners, np.linspace(0, 1, corners.size)) * there)
            for part, coefficient in zip(
                self._crossed(candidates.labels[pairs], *levels), crossed, strict=True
            ):
                total += coefficient * part
            found[pairs] = total
        return found

    def parts(self, candidates: Candidates, pairs: Any) -> tuple[Array, Array, Array]:
        """Return the log-odds of some pairs as a sum: base, by the retriever, by the neighbours.

        The base is the value at the mean score of the label and without votes. Of products of both
        each gets the mean of what it adds before and after the other (Shapley 1953).
        """
        labels = candidates.labels[pairs]
        f, usual = self.frequency[labels], self.centres[labels]
        (score, _, named), (votes, vote_corners, voted), _ = self._given(candidates, pairs)
        _, vote_heights, _, crossed = self._heights
        level = np.interp(votes, vote_corners, np.linspace(0, 1, vote_corners.size)) * voted
        retrieved, height = self._retrieved(score, labels, named)
        mostly, usual_height = self._retrieved(usual, labels, np.ones_like(named))
        by_votes = np.interp(votes, vote_corners, vote_heights) * voted + crossed[3] * f * level
        both = crossed[4] * level
        return (
            self.intercept + crossed[0] * f + mostly,
            retrieved - mostly + both * (height - usual_height) / 2,
            by_votes + both * (height + usual_height) / 2,
        )

    def _retrieved(self, score: Any, labels: Any, named: Any) -> tuple[Array, Array]:
        """Return what a retriever's score adds by itself, and its level, from 0 to 1."""
        f, (by_score, _, by_own, crossed) = self.frequency[labels], self._heights
        own = (score - self.centres[labels]) / self.scales[labels]
        total, levels = np.zeros(labels.size), []
        for values, corners, height in (
            (score, self.score_corners, by_score),
            (own, self.own_corners, by_own),
        ):
            total += np.interp(values, corners, height) * named
            levels.append(np.interp(values, corners, np.linspace(0, 1, corners.size)) * named)
        return total + f * (crossed[1] * levels[0] + crossed[2] * levels[1]), levels[0]

    def arrays(self) -> tuple[Any, ...]:
        """Return what compiled code reads: corners and heights, units and frequencies of labels."""
        corners = (self.score_corners, self.vote_corners, self.own_corners)
        *heights, crossed = self._heights
        pairs = zip(corners, heights, strict=True)
        return (
            *(read_only(part, np.float64) for pair in pairs for part in pair),
            read_only(crossed, np.float64),
            read_only(self.centres, np.float32),
            read_only(self.scales, np.float32),
            read_only(self.frequency, np.float64),
            float(self.intercept),
        )

    @property
    def _heights(self) -> list[Array]:
        """Heights at the corners of score, votes and own view, and coefficients of the products."""
        sizes = self.score_corners.size, self.vote_corners.size, self.own_corners.size
        return np.split(self.coefficients, np.cumsum(sizes))

    def _given(self, candidates: Candidates, pairs: Any) -> list[tuple[Any, Array, Any]]:
        """Values, corners, and where there is a value: of score, votes and the label's own view."""
        score, votes = candidates.retrieved[pairs], candidates.votes[pairs]
        labels = candidates.labels[pairs]
        named = ~np.isnan(score)
        score = np.where(named, score, np.float32(0.0))
        own = (score - self.centres[labels]) / self.scales[labels]
        return [
            (score, self.score_corners, named),
            (votes, self.vote_corners, votes != 0),
            (own, self.own_corners, named),
        ]

    def _crossed(self, labels: Any, level: Array, votes: Array, own: Array) -> list[Array]:
        f = self.frequency[labels]
        return [f, f * level, f * own, f * votes, level * votes]


def _label_units(
    scores: NDArray[np.float32], labels: NDArray[np.integer[Any]], n_labels: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return mean and deviation of each label's scores; with few, nearer to those of all."""
    if not scores.size:
        return np.zeros(n_labels, dtype=np.float32), np.ones(n_labels, dtype=np.float32)
    count = np.bincount(labels, minlength=n_labels) + _PRIOR
    centre = (np.bincount(labels, scores, n_labels) + _PRIOR * scores.mean()) / count
    away = scores - centre[labels]
    square = (np.bincount(labels, away * away, n_labels) + _PRIOR * scores.var()) / count
    scale = np.sqrt(square)
    scale[scale == 0.0] = 1.0
    return centre.astype(np.float32), scale.astype(np.float32)


def _corners(values: NDArray[np.floating], present: NDArray[np.floating]) -> Array:
    return corners_of(values, (0.0, 1.0), present, _CORNERS)
