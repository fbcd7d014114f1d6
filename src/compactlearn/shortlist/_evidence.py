"""Evidence of single features: how much more often a label is where a feature is.

A regression of a label divides its weight among all features that come with it, and one with few
rows has small weights. Counts divide nothing: where nine rows of ten with a word have the label,
the word speaks for it however many other words do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.special import expit, logit

from compactlearn.core._compiled import read_only
from compactlearn.core._unknown_labels import expected_counts
from compactlearn.shortlist._candidates import Candidates
from compactlearn.shortlist._sparse import (
    kept_entries,
    maxima_at,
    products_at,
    slices_of,
    values_at,
    work_of,
)

Array = NDArray[np.float64]

# Entries with a smaller share of rows are dropped: on EURLEX57K a sixth of all is kept, with the
# same precision.
_LEAST_SHARE = 0.03
_ENTRIES = 4_000_000  # stored features of the rows of all labels that are counted at a time


@dataclass(frozen=True)
class Evidence:
    """Log-odds of labels among the rows that have a feature, less those among all rows."""

    columns: scipy.sparse.csr_array  # (n_features, n_labels) where the difference is positive
    usual: NDArray[np.float32]  # (n_labels,) log-odds among all rows

    @classmethod
    def of(
        cls,
        rows: scipy.sparse.csr_array,
        Y: scipy.sparse.csr_array,
        weights: Array | None = None,
        unknown: Any = None,
    ) -> Evidence:
        """Count the rows with a feature, a value above 0, that know the label, and one usual row.

        >>> rows = scipy.sparse.csr_array([[1.0, 0.0], [1.0, 2.0], [0.0, 1.0], [0.0, 1.0]])
        >>> found = Evidence.of(rows, scipy.sparse.csr_array([[1, 0], [1, 0], [0, 0], [0, 1]]))
        >>> expit(found.columns.toarray() + found.usual).round(2)
        array([[0.83, 0.33],
               [0.5 , 0.33]], dtype=float32)
        """
        given = np.ones(Y.shape[0]) if weights is None else weights
        often = expected_counts(Y, unknown, given)
        usual = (often + 1.0) / (given.sum() + 2.0)
        there = positive(rows)
        there.data = np.ones(there.data.size)
        with_feature = there.T @ given
        of_labels = scipy.sparse.csr_array((Y * given[:, None]).T, dtype=np.float64)
        not_known, work = None, work_of(of_labels, there)
        if unknown is not None:
            not_known = scipy.sparse.csr_array((unknown * given[:, None]).T, dtype=np.float64)
            work += work_of(not_known, there)
        parts = [scipy.sparse.csr_array((0, rows.shape[1]), dtype=np.float32)]
        for labels in slices_of(work, _ENTRIES):
            counts = scipy.sparse.csr_array(of_labels[labels] @ there)
            counts.sort_indices()
            total = with_feature[counts.indices]
            if not_known is not None:
                total = total - values_at(not_known[labels] @ there, counts)
            own = np.repeat(usual[labels], np.diff(counts.indptr))
            share = (counts.data + own) / (total + 1.0)
            counts.data = (logit(share) - logit(own)).astype(np.float32)
            parts.append(kept_entries(counts, (share >= _LEAST_SHARE) & (counts.data > 0)))
        columns = scipy.sparse.vstack(parts, format="csr").T.tocsr()
        return cls(scipy.sparse.csr_array(columns), logit(usual).astype(np.float32))

    def inputs(self, rows: scipy.sparse.csr_array, candidates: Candidates) -> Array:
        """Return sum and largest share for every pair of a row and a candidate.

        The sum is that of the features' evidence times their values. The largest share of rows
        with the label has the feature of most evidence; it is 0 if no feature speaks for the label.
        """
        there, pairs = positive(rows), (candidates.starts, candidates.labels)
        total = products_at(there, self.columns, *pairs)
        there.data = np.ones(there.data.size, dtype=there.dtype)
        most = maxima_at(there, self.columns, *pairs)
        share = expit(most + self.usual[candidates.labels])
        return np.column_stack([total, np.where(most > 0, share, 0.0)]).astype(np.float64)

    def arrays(self) -> tuple[Any, ...]:
        """Return what compiled code reads."""
        return (
            read_only(self.columns.indptr, np.int64),
            read_only(self.columns.indices, np.uint32),
            read_only(self.columns.data, np.float32),
            read_only(self.usual, np.float32),
        )


def positive(rows: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    """Return rows with the features that they have, those of a value above 0."""
    return kept_entries(rows, rows.data > 0)
