"""Training rows of a shortlist, each of its kind once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._unknown_labels import expected_counts, known_somewhere
from compactlearn.crossfit._together import numbered, row_hashes
from compactlearn.shortlist._candidates import Candidates

Array = NDArray[np.float64]
Rows = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class ShortlistRows:
    """Rows that differ in features or labels, and how often each counts."""

    X: Any
    Y: scipy.sparse.csr_array
    weights: Array | None = None  # None: once
    unknown: Any = None  # csr_array with a one for each label that is not known
    copies: Rows | None = None  # rows of equal features share a number; None: there are none
    numbers: Rows | None = None  # of the rows in fit

    @classmethod
    def merged(
        cls, X: Any, Y: scipy.sparse.csr_array, weights: Any, unknown: Any, numbers: Rows | None
    ) -> ShortlistRows:
        """Merge rows of equal features and labels, in an order that follows from their content.

        Otherwise a row would vote for its own copy, and weight 2 be something else than twice.
        """
        features = row_hashes(X)
        again = np.flatnonzero(_repeated(features))
        keys = [features]
        for labels in (Y, unknown):
            if labels is not None:  # they distinguish only rows of equal features
                key = np.zeros_like(features)
                key[again] = row_hashes(labels[again])
                keys.insert(0, key)
        order = np.lexsort(keys)
        differs = np.any([np.diff(key[order]) != 0 for key in keys], axis=0)
        starts = np.flatnonzero(np.concatenate([[True], differs]))
        given = np.ones(order.size) if weights is None else weights
        total = np.add.reduceat(given[order], starts)
        rows = order[starts]
        return cls(
            X[rows],
            Y[rows],
            None if (total == 1.0).all() else total,
            None if unknown is None else unknown[rows],
            features[rows],
            rows if numbers is None else numbers[rows],
        )

    def subset(self, rows: Rows) -> ShortlistRows:
        """Return some of the rows; a label that none of them knows is absent there."""
        return ShortlistRows(
            self.X[rows],
            self.Y[rows],
            None if self.weights is None else self.weights[rows],
            None if self.unknown is None else known_somewhere(self.unknown[rows]),
            None if self.copies is None else self.copies[rows],
            None if self.numbers is None else self.numbers[rows],
        )

    @property
    def groups(self) -> Rows:
        """A number for each row: rows of equal features share it."""
        return np.arange(self.X.shape[0]) if self.copies is None else numbered(self.copies)

    @property
    def n_present(self) -> float:
        """Number of labels that all rows have together."""
        return float(expected_counts(self.Y, self.unknown).sum())

    @property
    def label_counts(self) -> Array:
        """Number of rows of each label."""
        return expected_counts(self.Y, self.unknown, self.weights)

    def known(self, candidates: Candidates) -> NDArray[np.bool_]:
        """Return for which candidates of these rows it is known whether they are present."""
        if self.unknown is None:
            return np.ones(candidates.labels.size, dtype=bool)
        return ~candidates.present(self.unknown)


def _repeated(keys: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return which keys are there more than once."""
    _, member, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return counts[member] > 1
