"""Calibration of the scores of candidates by the best one of their row.

The best of many candidates is right more often than its score says where all of the row's scores
are low, and others are right less often. Three numbers, which all labels share, correct that by a
logistic regression on the score and on the best score of the row. The second is the same for all
candidates of a row, so that their order stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from compactlearn.estimators.shortlisting.candidates import Places
from compactlearn.estimators.shortlisting.third_look import some_pairs

Array = NDArray[np.float64]
Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class RowReading:
    """Slopes of a score and of the best score of its row, and an intercept."""

    slope: float = 1.0
    best_slope: float = 0.0
    intercept: float = 0.0

    @classmethod
    def learn(
        cls,
        scores: Floats,
        starts: Places,
        present: NDArray[np.bool_],
        weights: Array,
        rng: np.random.RandomState,
    ) -> RowReading:
        """Learn from the candidates of held-out rows; scores stay as they are if order would not.

        Parameters
        ----------
        scores : array of shape (n_pairs,)
        starts : array of shape (n_rows + 1,)
            Where the candidates of each row begin.
        present : array of bool, shape (n_pairs,)
        weights : array of shape (n_pairs,)
        rng : RandomState
            Chooses among labels that are not there, where these are very many.
        """
        pairs, weights = some_pairs(present, weights, rng)
        y = present[pairs]
        if not y.any() or y.all():
            return cls()
        columns = np.column_stack([scores, best_of_row(scores, starts)])
        model = LogisticRegression(C=1.0, solver="newton-cholesky")
        model.fit(columns[pairs], y, sample_weight=weights[pairs])
        slope, best_slope = (float(value) for value in model.coef_[0])
        if slope <= 0 or slope + best_slope <= 0:
            return cls()
        return cls(slope, best_slope, float(model.intercept_[0]))

    def scores(self, scores: Floats, starts: Places) -> NDArray[np.float32]:
        """Return the calibrated scores of the candidates of some rows."""
        best = best_of_row(scores, starts)
        return (self.slope * scores + self.best_slope * best + self.intercept).astype(np.float32)

    def raw_best(self, best: Floats) -> Floats:
        """Return the best scores of rows from the best calibrated ones."""
        return (best - self.intercept) / (self.slope + self.best_slope)


def best_of_row(scores: Floats, starts: Places) -> Floats:
    """Return the largest score in the row of each candidate.

    >>> best_of_row(np.array([0.5, 0.9, 0.2, 0.7]), np.array([0, 3, 3, 4]))
    array([0.9, 0.9, 0.9, 0.7])
    """
    lengths = np.diff(starts)
    there = lengths > 0
    if not scores.size:
        return scores
    return np.repeat(np.maximum.reduceat(scores, starts[:-1][there]), lengths[there])
