"""Candidate labels of rows, with the retriever's scores and the neighbours' votes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.compact._empty_rows import rows_of_zeros
from compactlearn.linalg._arrays import kept_starts
from compactlearn.shortlist._sparse import Places, entry_keys, has_entries

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Candidates:
    """Pairs of a row and a label, row by row, the labels of a row in ascending order."""

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

    @property
    def keys(self) -> NDArray[np.int64]:
        """The position of each pair in the matrix of all rows and labels."""
        return self.rows * np.int64(self.n_labels) + self.labels

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
        voted = entry_keys(votes)
        joined = _union(keys, voted)
        both = np.full(joined.size, np.nan, dtype=np.float32)
        both[np.searchsorted(joined, keys)] = values
        share = np.zeros(joined.size, dtype=np.float32)
        share[np.searchsorted(joined, voted)] = votes.data
        starts = np.searchsorted(joined, np.arange(n_rows + 1, dtype=np.int64) * n_labels)
        return cls(starts, (joined % n_labels).astype(np.int32), both, share, n_labels)

    @classmethod
    def stacked(cls, parts: list[Candidates]) -> Candidates:
        """Put the candidates of some rows after those of others."""
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

    def of_rows(self, rows: Places) -> Candidates:
        """Return the candidates of these rows, in this order."""
        lengths = np.diff(self.starts)[rows]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        pairs = np.repeat(self.starts[rows] - starts[:-1], lengths) + np.arange(starts[-1])
        return Candidates(
            starts, self.labels[pairs], self.retrieved[pairs], self.votes[pairs], self.n_labels
        )

    def where(self, kept: NDArray[np.bool_]) -> Candidates:
        """Return those of the pairs that are kept, of the same rows."""
        return Candidates(
            kept_starts(self.starts, kept),
            self.labels[kept],
            self.retrieved[kept],
            self.votes[kept],
            self.n_labels,
        )

    def present(self, Y: scipy.sparse.csr_array) -> NDArray[np.bool_]:
        """Return which of the pairs have an entry in Y."""
        return has_entries(Y, self.keys)

    def missed(self, Y: scipy.sparse.csr_array) -> Candidates:
        """Return the labels of Y that are no candidates: neither named nor voted for."""
        keys, true = self.keys, np.sort(entry_keys(Y))
        at = np.minimum(np.searchsorted(keys, true), max(keys.size - 1, 0))
        absent = true[keys[at] != true] if keys.size else true
        starts = np.searchsorted(absent, np.arange(self.n_rows + 1, dtype=np.int64) * self.n_labels)
        nothing = np.full(absent.size, np.nan, dtype=np.float32)
        labels = (absent % self.n_labels).astype(np.int32)
        return Candidates(starts, labels, nothing, np.zeros_like(nothing), self.n_labels)

    def matrix(self, values: NDArray[Any]) -> scipy.sparse.csr_array:
        """Return a value for each pair as a matrix of rows and labels."""
        shape = (self.n_rows, self.n_labels)
        return scipy.sparse.csr_array((values, self.labels, self.starts), shape=shape)


def with_base_candidates(
    candidates: Candidates, scores: Any, X: Any, base: Any, count: int
) -> tuple[Candidates, Any]:
    """Return candidates and scores, for rows of zeros the ``count`` most frequent labels.

    ``base`` has the scores of a row of zeros; None replaces nothing.
    """
    empty = rows_of_zeros(X) if base is not None else np.zeros(0, dtype=bool)
    if not empty.any():
        return candidates, scores
    labels = np.sort(np.argsort(-base, kind="stable")[:count]).astype(candidates.labels.dtype)
    own = base[labels].astype(scores.dtype)
    starts, n_labels = np.array([0, labels.size]), candidates.n_labels
    given = Candidates(candidates.starts, candidates.labels, scores, candidates.votes, n_labels)
    frequent = Candidates(starts, labels, own, np.zeros_like(own), n_labels)
    both = Candidates.stacked([given, frequent])
    both = both.of_rows(np.where(empty, candidates.n_rows, np.arange(candidates.n_rows)))
    return both, both.retrieved


def _union(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sorted keys that are in either; sorted runs are merged in one pass."""
    keys = np.concatenate([a, b])
    keys.sort(kind="stable")
    first = np.ones(keys.size, dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    return keys[first]
