"""The candidate labels of each row, and what is known of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Places = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Candidates:
    """Pairs of a row and a label, row by row, the labels of a row in their order."""

    starts: Places  # (n_rows + 1,)
    labels: Places  # (n_pairs,)
    retrieved: Floats  # the retriever's score; NaN where it did not name the label
    votes: Floats  # the share of the neighbours' votes
    n_labels: int

    @property
    def n_rows(self) -> int:
        return self.starts.size - 1

    @property
    def rows(self) -> Places:
        """The row of each pair."""
        return np.repeat(np.arange(self.n_rows, dtype=np.int32), np.diff(self.starts))

    @classmethod
    def of(cls, retrieved: Any, votes: scipy.sparse.csr_array | None, n_labels: int) -> Candidates:
        """Join what ``predict_topk`` returned, (labels, scores), with the neighbours' votes."""
        named, scores = retrieved
        n_rows, k = named.shape
        row = np.arange(n_rows, dtype=np.int64)[:, None]
        keys = (row * n_labels + named).ravel()
        order = np.argsort(keys)
        keys, values = keys[order], np.asarray(scores, dtype=np.float32).ravel()[order]
        if votes is None:
            starts = np.arange(n_rows + 1, dtype=np.int64) * k
            labels = (keys % n_labels).astype(np.int32)
            return cls(starts, labels, values, np.zeros_like(values), n_labels)
        votes.sort_indices()
        voted = _keys(votes)
        joined = _union(keys, voted)
        both = np.full(joined.size, np.nan, dtype=np.float32)
        both[np.searchsorted(joined, keys)] = values
        share = np.zeros(joined.size, dtype=np.float32)
        share[np.searchsorted(joined, voted)] = votes.data
        starts = np.searchsorted(joined, np.arange(n_rows + 1, dtype=np.int64) * n_labels)
        return cls(starts, (joined % n_labels).astype(np.int32), both, share, n_labels)

    @classmethod
    def stacked(cls, parts: list[Candidates]) -> Candidates:
        """Those of some rows after those of others."""
        ends = np.cumsum([0, *(part.labels.size for part in parts)])
        return cls(
            np.concatenate(
                [[0], *(p.starts[1:] + end for p, end in zip(parts, ends[:-1], strict=True))]
            ),
            np.concatenate([part.labels for part in parts]),
            np.concatenate([part.retrieved for part in parts]),
            np.concatenate([part.votes for part in parts]),
            parts[0].n_labels,
        )

    def taken(self, rows: Places) -> Candidates:
        """Those of these rows, in this order."""
        lengths = np.diff(self.starts)[rows]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        pairs = np.repeat(self.starts[rows] - starts[:-1], lengths) + np.arange(starts[-1])
        return Candidates(
            starts, self.labels[pairs], self.retrieved[pairs], self.votes[pairs], self.n_labels
        )

    def where(self, kept: NDArray[np.bool_]) -> Candidates:
        """Those of the pairs that are kept, of the same rows."""
        return Candidates(
            np.concatenate([[0], np.cumsum(kept)])[self.starts],
            self.labels[kept],
            self.retrieved[kept],
            self.votes[kept],
            self.n_labels,
        )

    def present(self, Y: scipy.sparse.csr_array) -> NDArray[np.bool_]:
        """Which of the pairs are there in Y."""
        keys = self.rows * np.int64(self.n_labels) + self.labels
        true = np.sort(_keys(Y))
        if not true.size:
            return np.zeros(keys.size, dtype=bool)
        at = np.minimum(np.searchsorted(true, keys), true.size - 1)
        return true[at] == keys

    def missed(self, Y: scipy.sparse.csr_array) -> Candidates:
        """The labels of Y that are no candidates: neither named nor voted for."""
        keys = self.rows * np.int64(self.n_labels) + self.labels
        true = np.sort(_keys(Y))
        at = np.minimum(np.searchsorted(keys, true), max(keys.size - 1, 0))
        absent = true[keys[at] != true] if keys.size else true
        starts = np.searchsorted(absent, np.arange(self.n_rows + 1, dtype=np.int64) * self.n_labels)
        nothing = np.full(absent.size, np.nan, dtype=np.float32)
        labels = (absent % self.n_labels).astype(np.int32)
        return Candidates(starts, labels, nothing, np.zeros_like(nothing), self.n_labels)

    def matrix(self, values: NDArray[Any]) -> scipy.sparse.csr_array:
        """A value for each pair, as a matrix of rows and labels."""
        shape = (self.n_rows, self.n_labels)
        return scipy.sparse.csr_array((values, self.labels, self.starts), shape=shape)


def _keys(matrix: scipy.sparse.csr_array) -> NDArray[np.int64]:
    """The place of each stored entry, counted row by row."""
    row = np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr))
    return row * matrix.shape[1] + matrix.indices


def _union(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sorted keys that are in either; sorted runs are merged in one pass."""
    keys = np.concatenate([a, b])
    keys.sort(kind="stable")
    first = np.ones(keys.size, dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    return keys[first]
