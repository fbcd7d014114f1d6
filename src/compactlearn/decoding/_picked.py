"""Predicted labels of each row, best first, and their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Pairs = list[list[tuple[str, float]]]


@dataclass(frozen=True)
class Picked:
    """Some labels of each row and their scores, one row after the other."""

    starts: NDArray[np.integer[Any]]  # (n_rows + 1,)
    labels: NDArray[np.integer[Any]]
    scores: Array

    @classmethod
    def best(cls, labels: NDArray[np.integer[Any]], scores: Array) -> Picked:
        """Return the same number of labels for every row; both arrays are (n_rows, k), sorted."""
        n_rows, k = labels.shape
        return cls(np.arange(n_rows + 1) * k, labels.ravel(), scores.ravel())

    @classmethod
    def ordered(
        cls,
        rows: NDArray[np.integer[Any]],
        labels: NDArray[np.integer[Any]],
        scores: Array,
        n_rows: int,
    ) -> Picked:
        """Sort pairs of a row and a label by row and score; of equal scores the first label wins.

        >>> Picked.ordered(np.array([1, 1]), np.array([0, 2]), np.array([0.2, 0.9]), 2).labels
        array([2, 0])
        """
        order = np.lexsort((labels, -scores, rows))
        starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_rows))])
        return cls(starts, labels[order], scores[order])

    @classmethod
    def above(cls, scores: Array, threshold: float | Array) -> Picked:
        """Return the labels whose scores are strictly above a threshold.

        >>> Picked.above(np.array([[0.1, 0.7, 0.9], [0.2, 0.3, 0.1]]), 0.5).named("abc")
        [[('c', 0.9), ('b', 0.7)], []]
        """
        rows, labels = np.nonzero(scores > threshold)
        return cls.ordered(rows, labels, scores[rows, labels], scores.shape[0])

    def named(self, names: Sequence[str], scores: Array | None = None) -> Pairs:
        """Return pairs of a name and a score for each row; ``scores`` replaces the own scores."""
        shown = (self.scores if scores is None else scores).tolist()
        pairs = [(names[j], s) for j, s in zip(self.labels.tolist(), shown, strict=True)]
        bounds = self.starts.tolist()
        return [pairs[a:b] for a, b in pairwise(bounds)]
