"""What a splitter deals out: rows, or whole groups of rows, as counts of labels.

Stratified folds are a matter of counts alone. Here labels, pairs of labels and groups become one
sparse matrix of counts, and after that nothing needs to know which of them a column was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._memory import require_memory

Integers = NDArray[np.int64]

# Codes, their sorting and the matrix, per pair of labels that some row has.
_BYTES_PER_PAIR = 48


@dataclass(frozen=True)
class Units:
    """Rows or groups of rows, none of which may be divided."""

    counts: Any  # csr_array (n_units, n_columns) of int64: rows of the unit that have the label
    sizes: Integers  # (n_units,) rows of each

    @property
    def alone(self) -> bool:
        """Whether every unit is a single row."""
        return bool((self.sizes == 1).all())

    @property
    def n_rows(self) -> int:
        """How many rows the units have together."""
        return int(self.sizes.sum())

    def reordered(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Units:
        """The same units and columns in another order."""
        counts = self.counts[rows][:, columns]
        counts.sort_indices()
        return Units(counts, self.sizes[rows])


def make_units(matrix: Any, member: NDArray[np.intp] | None, order: int) -> Units:
    """Units of a label matrix: its rows, or the groups that ``member`` numbers.

    >>> units = make_units(scipy.sparse.csr_array([[1, 1], [0, 1], [1, 1]]), np.array([0, 0, 1]), 2)
    >>> units.counts.toarray()  # two labels, and then their pair
    array([[1, 2, 1],
           [1, 1, 1]])
    >>> units.sizes
    array([2, 1])
    """
    counts = matrix.astype(np.int64)
    if order == 2:
        counts = scipy.sparse.csr_array(scipy.sparse.hstack([counts, label_pairs(counts)]))
    if member is None:
        return Units(counts, np.ones(counts.shape[0], dtype=np.int64))
    n = member.size
    joined = scipy.sparse.csr_array(
        (np.ones(n, dtype=np.int64), (member, np.arange(n))), shape=(member.max() + 1, n)
    )
    return Units(scipy.sparse.csr_array(joined @ counts), np.bincount(member))


def label_pairs(matrix: Any) -> Any:
    """Which rows have both labels of a pair, for every pair that two rows or more have.

    A pair that only one row has is as balanced as it can be wherever that row goes.

    >>> label_pairs(scipy.sparse.csr_array([[1, 1, 0], [1, 1, 1], [0, 0, 1]])).toarray()
    array([[1],
           [1],
           [0]])
    """
    n_rows, n_labels = matrix.shape
    lengths = np.diff(matrix.indptr).astype(np.int64)
    n_pairs = int((lengths * (lengths - 1) // 2).sum())
    require_memory(
        n_pairs * _BYTES_PER_PAIR,
        what=f"Counting the {n_pairs} pairs of labels in {n_rows} rows",
        remedy="Use order=1, which counts single labels only.",
    )
    # Entry p of a row that ends at `end` is joined with the entries p + 1, ..., end - 1.
    after = np.repeat(matrix.indptr[1:].astype(np.int64), lengths) - np.arange(matrix.nnz) - 1
    first = np.repeat(np.arange(matrix.nnz), after)
    second = first + 1 + _places(after)
    code = matrix.indices[first].astype(np.int64) * n_labels + matrix.indices[second]
    row = np.repeat(np.repeat(np.arange(n_rows), lengths), after)
    _, column, count = np.unique(code, return_inverse=True, return_counts=True)
    kept = count > 1
    chosen = kept[column]
    return scipy.sparse.csr_array(
        (
            np.ones(int(chosen.sum()), dtype=np.int64),
            (row[chosen], (np.cumsum(kept) - 1)[column[chosen]]),
        ),
        shape=(n_rows, int(kept.sum())),
    )


def entries_of(matrix: Any, rows: NDArray[Any]) -> tuple[Integers, Integers]:
    """Where the entries of some rows lie in a CSR matrix, and how many each row has.

    >>> entries_of(scipy.sparse.csr_array([[1, 1], [0, 0], [0, 1]]), np.array([2, 0]))
    (array([2, 0, 1]), array([1, 2]))
    """
    start = matrix.indptr[rows].astype(np.int64)
    lengths = matrix.indptr[rows + 1] - start
    return np.repeat(start, lengths) + _places(lengths), lengths


def _places(lengths: Integers) -> Integers:
    """0, 1, ..., for each length in turn.

    >>> _places(np.array([2, 0, 3]))
    array([0, 1, 0, 1, 2])
    """
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if ends.size else 0
    return np.arange(total) - np.repeat(ends - lengths, lengths)
