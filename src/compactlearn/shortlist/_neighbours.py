"""Votes of the most similar training rows, by sparse products.

The similarity of two rows is the product of their unit lengths. A feature that very many rows have
costs the square of their number and shows little similarity: the most frequent features are left
out, as many as it takes to keep the work within bounds.

A neighbour that does not know a label has no vote on it: the others' votes are then shares of what
those have who know it, and of one more of mean weight without the label, so that a label of which
one neighbour alone is known is not certain.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._compiled import kernels, read_only
from compactlearn.core._deadline import watched
from compactlearn.shortlist._sparse import kept_entries, slices_of, values_at, work_of

# Multiply-adds of all rows against all rows: so many for each row, or so many altogether. On
# wordnet all features together take 56,000 a row and find one label in a hundred more.
WORK_PER_ROW = 3_000
WORK_AT_LEAST = 200_000_000
_BLOCK_WORK = 4_000_000  # multiply-adds, and so stored similarities, at a time
_BLOCK_ROWS = 4_096
_COMPILED_WORK = 100_000_000  # multiply-adds from which on compiled code is used
_KERNEL = "compactlearn.shortlist._votes_kernel"


@dataclass(frozen=True)
class Neighbours:
    """The training rows, arranged for finding those similar to a row, and their labels."""

    columns: scipy.sparse.csr_array  # (n_features, n_rows): which rows have a feature
    labels: scipy.sparse.csr_array  # (n_rows, n_labels)
    count: int  # how many neighbours vote
    weights: NDArray[np.float32] | None = None  # how often each of them does; None: once
    unknown: scipy.sparse.csr_array | None = None  # a one for each label that a row does not know
    rows: NDArray[np.int32] | None = None  # their numbers in fit

    @classmethod
    def of(
        cls,
        X: scipy.sparse.csr_array,
        labels: Any,
        count: int,
        weights: NDArray[np.floating[Any]] | None = None,
        unknown: Any = None,
        rows: NDArray[np.int32] | None = None,
    ) -> Neighbours:
        """Arrange rows of unit length."""
        frequency = np.bincount(X.indices, minlength=X.shape[1]).astype(np.float64)
        order = np.argsort(frequency, kind="stable")
        work = np.cumsum(frequency[order] ** 2)
        kept = np.zeros(X.shape[1], dtype=bool)
        kept[order[work <= max(WORK_PER_ROW * X.shape[0], WORK_AT_LEAST)]] = True
        columns = scipy.sparse.csr_array(X.T, dtype=np.float32)
        columns = kept_entries(columns, np.repeat(kept, np.diff(columns.indptr)))
        own = None if weights is None else (weights / weights.max()).astype(np.float32)
        marks = None if unknown is None else scipy.sparse.csr_array(unknown, dtype=np.float32)
        labels = scipy.sparse.csr_array(labels, dtype=np.float32)
        return cls(columns, labels, count, own, marks, rows)

    def votes(
        self,
        X: scipy.sparse.csr_array,
        size: int,
        *,
        groups: NDArray[np.integer[Any]] | None = None,
        n_threads: int = 1,
    ) -> scipy.sparse.csr_array:
        """Return the ``size`` labels of most votes of each row, and their shares of all votes.

        A neighbour votes for each of its labels with the square of its similarity. ``groups`` are
        given where X are the training rows themselves: then no row votes for one of its group.
        """

        kernel, training, work = None, (), work_of(X, self.columns)
        if self.unknown is None and work[-1] >= _COMPILED_WORK:
            kernel = kernels(_KERNEL)
        if kernel is not None:
            training = self.arrays()

        @watched
        def block(rows: slice) -> Any:
            part = X if rows == slice(0, X.shape[0]) else X[rows]
            if kernel is not None:
                return self._compiled_votes(kernel, training, part, size, rows.start, groups)
            return _largest(self._block_votes(part, rows.start, groups), size)

        if n_threads > 1:
            with ThreadPoolExecutor(n_threads) as pool:
                parts = list(pool.map(block, self._blocks(work)))
        else:
            parts = [block(rows) for rows in self._blocks(work)]
        if len(parts) == 1:
            return parts[0]
        empty = scipy.sparse.csr_array((0, self.labels.shape[1]), dtype=np.float32)
        return scipy.sparse.vstack([empty, *parts], format="csr")

    def _blocks(self, work: NDArray[np.int64]) -> Iterator[slice]:
        most = _BLOCK_ROWS
        if self.unknown is not None:  # nearly every label has a neighbour that does not know it
            most = min(most, max(1, _BLOCK_WORK // self.labels.shape[1]))
        return slices_of(work, _BLOCK_WORK, most)

    def voters(
        self, X: scipy.sparse.csr_array, labels: NDArray[np.integer[Any]], k: int
    ) -> list[list[tuple[int, float]]]:
        """Return training rows that vote for a label of each row, and their shares of its votes.

        The k largest shares, largest first; of equal shares the lowest row number first.
        """
        assert self.rows is not None
        nearest, total = self._nearest(X)
        found = []
        for i, label in enumerate(labels):
            own = slice(nearest.indptr[i], nearest.indptr[i + 1])
            with_label = self.labels[nearest.indices[own]][:, [label]].toarray().ravel() > 0
            places, votes = nearest.indices[own][with_label], nearest.data[own][with_label]
            numbers = self.rows[places]
            best = np.lexsort((numbers, -votes))[:k]
            found.append([(int(numbers[j]), float(votes[j] / total[i])) for j in best])
        return found

    def _nearest(
        self,
        X: scipy.sparse.csr_array,
        first: int = 0,
        groups: NDArray[np.integer[Any]] | None = None,
    ) -> tuple[Any, Any]:
        """Return the votes of the neighbours of each row, and their sums."""
        similar = X.astype(np.float32, copy=False) @ self.columns
        if groups is not None:
            own = groups[first : first + X.shape[0]]
            similar.data[groups[similar.indices] == np.repeat(own, np.diff(similar.indptr))] = 0
        nearest = _largest(similar, self.count)
        nearest.data **= 2
        if self.weights is not None:
            nearest.data *= self.weights[nearest.indices]
        return nearest, np.asarray(nearest.sum(axis=1)).ravel()

    def arrays(self) -> tuple[Any, ...]:
        """Return what compiled code reads of the training rows."""
        columns, labels, weights = self.columns, self.labels, self.weights
        return (
            read_only(columns.indptr, np.int64),
            read_only(columns.indices, np.uint32),
            read_only(columns.data, np.float32),
            read_only(labels.indptr, np.int64),
            read_only(labels.indices, np.uint32),
            read_only(labels.data, np.float32),
            labels.shape[1],
            read_only(np.zeros(0) if weights is None else weights, np.float32),
        )

    def _compiled_votes(
        self,
        kernel: ModuleType,
        training: tuple[Any, ...],
        X: scipy.sparse.csr_array,
        size: int,
        first: int,
        groups: Any,
    ) -> scipy.sparse.csr_array:
        starts, named, shares = kernel.votes(
            read_only(X.indptr, np.int64),
            read_only(X.indices, np.uint32),
            read_only(X.data, np.float32),
            training,
            self.count,
            min(size, self.labels.shape[1]),
            read_only(np.zeros(0) if groups is None else groups, np.int64),
            first,
        )
        shape = (X.shape[0], self.labels.shape[1])
        return scipy.sparse.csr_array((shares, named.view(np.int32), starts), shape=shape)

    def _block_votes(
        self, X: scipy.sparse.csr_array, first: int, groups: NDArray[np.integer[Any]] | None
    ) -> Any:
        nearest, total = self._nearest(X, first, groups)
        votes = nearest @ self.labels
        counts = np.diff(votes.indptr)
        votes.data /= np.repeat(np.maximum(total, np.finfo(np.float32).tiny), counts)
        if self.unknown is not None:
            votes.sort_indices()
            one = total / np.maximum(np.diff(nearest.indptr), 1)
            silent = values_at(nearest @ self.unknown, votes)
            all_and_one = np.repeat(total + one, counts)
            votes.data *= (all_and_one / (all_and_one - silent)).astype(np.float32)
        return votes


def _largest(matrix: scipy.sparse.csr_array, size: int) -> scipy.sparse.csr_array:
    """Return the largest ``size`` entries of each row that are above 0."""
    if size == 0:
        return kept_entries(matrix, np.zeros(matrix.data.size, dtype=bool))
    kept = matrix.data > 0
    lengths = np.diff(matrix.indptr)
    for row in np.flatnonzero(lengths > size):
        first, last = matrix.indptr[row], matrix.indptr[row + 1]
        values = matrix.data[first:last]
        bound = np.partition(values, values.size - size)[values.size - size]
        above = values > bound
        if bound > 0:
            equal = np.flatnonzero(values == bound)
            if equal.size > 1:  # of equals the first, in the order of their indices
                equal = equal[np.argsort(matrix.indices[first:last][equal], kind="stable")]
            above[equal[: size - np.count_nonzero(above)]] = True
            kept[first:last] = above
    return kept_entries(matrix, kept)
