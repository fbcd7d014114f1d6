"""Centroids of labels: the mean directions of their rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._compiled import read_only
from compactlearn.shortlist._candidates import Candidates
from compactlearn.shortlist._sparse import kept_entries, products_at, slices_of, work_of

# Smaller entries of a centroid of length 1 are left out: on EURLEX57K a twentieth of all is kept,
# with the same precision.
_SMALLEST = 0.06
_ENTRIES = 4_000_000  # stored features of the rows of all labels that are summed at a time


@dataclass(frozen=True)
class Centroids:
    """Sums of the rows of each label, divided by their lengths, without small entries."""

    columns: scipy.sparse.csr_array  # (n_features, n_labels)

    @classmethod
    def of(
        cls,
        rows: scipy.sparse.csr_array,
        Y: scipy.sparse.csr_array,
        weights: NDArray[np.float64] | None = None,
    ) -> Centroids:
        """Sum the rows of each label; ``weights`` say how often a row counts.

        >>> rows = scipy.sparse.csr_array(np.array([[3.0, 4.0], [0.0, 5.0]], dtype=np.float32))
        >>> Centroids.of(rows, scipy.sparse.csr_array([[1, 0], [0, 1]])).columns.toarray()
        array([[0.6, 0. ],
               [0.8, 1. ]], dtype=float32)
        """
        counts = np.ones(Y.shape[0]) if weights is None else weights / weights.max(initial=0.0)
        of_labels = scipy.sparse.csr_array((Y * counts[:, None]).T, dtype=np.float32)
        parts = [scipy.sparse.csr_array((0, rows.shape[1]), dtype=np.float32)]
        for some in slices_of(work_of(of_labels, rows), _ENTRIES):
            sums = scipy.sparse.csr_array(of_labels[some] @ rows)
            sums.sort_indices()
            lengths = np.sqrt(np.asarray(sums.multiply(sums).sum(axis=1)).ravel())
            sums.data /= np.repeat(np.where(lengths > 0, lengths, 1), np.diff(sums.indptr))
            parts.append(kept_entries(sums, np.abs(sums.data) >= _SMALLEST))
        everything = scipy.sparse.vstack(parts, format="csr")
        return cls(scipy.sparse.csr_array(everything.T, dtype=np.float32))

    def similarities(
        self, rows: scipy.sparse.csr_array, candidates: Candidates
    ) -> NDArray[np.float32]:
        """Return the products of rows with the centroids of their candidates."""
        return products_at(rows, self.columns, candidates.starts, candidates.labels)

    def arrays(self) -> tuple[Any, ...]:
        """Return what compiled code reads."""
        return (
            read_only(self.columns.indptr, np.int64),
            read_only(self.columns.indices, np.uint32),
            read_only(self.columns.data, np.float32),
        )
