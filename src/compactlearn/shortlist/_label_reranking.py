"""A sparse logistic regression for each label, on the rows that it is a candidate of.

Its features are those of the row and the probabilities that the first look gave the row's most
likely labels: what is known of other labels counts for this one, with weights that are learnt. The
first look's log-odds enter as an offset, at half their size since the words that they rest on are
looked at again. A label with a few rows only has small weights, and stays near the first look.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.special import expit

from compactlearn.linalg._many_logistic import Problems, Weights
from compactlearn.shortlist._candidates import Candidates

OFFSET = 0.5  # of the first look's log-odds
_BLOCK_SCORES = 1 << 22  # 16 MB of scores at a time
_LIKELY = 0.05  # labels of at least this probability are features
LABEL_C = 1.0  # the weight of the loss against the penalty of what labels say about each other


def with_likely_labels(
    X: scipy.sparse.csr_array, candidates: Candidates, log_odds: NDArray[np.float32], C: float
) -> scipy.sparse.csr_array:
    """Rows of unit length, and beside them what the first look takes for likely.

    ``C`` weighs the loss against the penalty of a row's own features; the others are scaled so that
    theirs is always the same.
    """
    p = expit(log_odds)
    kept = p >= _LIKELY
    starts = np.concatenate([[0], np.cumsum(kept)])[candidates.starts]
    shape = (candidates.n_rows, candidates.n_labels)
    values = (np.sqrt(LABEL_C / C) * p[kept]).astype(X.dtype)
    likely = scipy.sparse.csr_array((values, candidates.labels[kept], starts), shape=shape)
    return scipy.sparse.csr_array(scipy.sparse.hstack([X, likely], format="csr"))


def problems_of(
    candidates: Candidates, present: NDArray[np.bool_], log_odds: NDArray[np.float32]
) -> Problems:
    """One problem for each label: the rows that it is a candidate of."""
    order = np.argsort(candidates.labels, kind="stable")
    starts = np.searchsorted(candidates.labels[order], np.arange(candidates.n_labels + 1))
    return Problems(starts, candidates.rows[order], present[order], OFFSET * log_odds[order])


@dataclass(frozen=True)
class SecondLook:
    """Weights of every label."""

    columns: scipy.sparse.csr_array  # (n_features + n_labels, n_labels) weights
    intercepts: NDArray[np.float32]

    @classmethod
    def of(cls, weights: Weights, smallest: float = 0.0) -> SecondLook:
        """Keep the weights above ``smallest`` in size, by feature."""
        W = weights.coefficients
        kept = np.abs(W.data) > smallest
        starts = np.concatenate([[0], np.cumsum(kept)])[W.indptr]
        pruned = scipy.sparse.csr_array(
            (W.data[kept].astype(np.float32), W.indices[kept], starts), shape=W.shape
        )
        return cls(pruned.T.tocsr(), weights.intercepts.astype(np.float32))

    def margins(
        self, X: scipy.sparse.csr_array, candidates: Candidates, log_odds: NDArray[Any]
    ) -> NDArray[np.float32]:
        """w'x + b + half the first look's log-odds, of every candidate."""
        found = np.empty(candidates.labels.size, dtype=np.float32)
        step = max(1, _BLOCK_SCORES // max(1, candidates.n_labels))
        for first in range(0, candidates.n_rows, step):
            rows = slice(first, first + step)
            starts = candidates.starts[rows.start : rows.stop + 1]
            pairs = slice(starts[0], starts[-1])
            labels = candidates.labels[pairs]
            row = np.repeat(np.arange(starts.size - 1), np.diff(starts))
            part = X if step >= candidates.n_rows else X[rows]
            product = (part @ self.columns).toarray()
            found[pairs] = product[row, labels] + self.intercepts[labels]
        return found + np.float32(OFFSET) * log_odds
