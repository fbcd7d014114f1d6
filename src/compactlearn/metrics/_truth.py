"""Truth of the metrics: the present and the unknown labels of each row.

Labels are few per row. Whatever form the truth comes in, it is kept as the list of its present
cells and the list of its unknown ones; all other cells are absent. So no metric needs more than
one look at a dense truth, and none makes a sparse one dense.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from compactlearn.core._compress import compress_rows
from compactlearn.metrics._checks import as_matrix


@dataclass(frozen=True)
class Cells:
    """Some cells of a matrix, row by row, in the order of their columns."""

    indptr: np.ndarray  # row i has the columns[indptr[i]:indptr[i + 1]]
    columns: np.ndarray  # int64

    @classmethod
    def of_sparse(cls, matrix: sparse.csr_array, chosen: np.ndarray) -> "Cells":
        """Return the stored cells of a canonical CSR matrix for which `chosen` is True."""
        before = np.concatenate([[0], np.cumsum(chosen)])
        return cls(before[matrix.indptr], matrix.indices[chosen].astype(np.int64))

    @property
    def counts(self) -> np.ndarray:
        """Return the number of cells in each row."""
        return np.diff(self.indptr)

    def rows(self, block: slice) -> "Cells":
        """Return the cells of a block of rows."""
        indptr = self.indptr[block.start : block.stop + 1]
        return Cells(indptr - indptr[0], self.columns[indptr[0] : indptr[-1]])

    def matrix(self, width: int) -> sparse.csr_array:
        """Return the cells as ones in a matrix of `width` columns."""
        ones, shape = np.ones(self.columns.size), (len(self.indptr) - 1, width)
        return sparse.csr_array((ones, self.columns, self.indptr), shape=shape)

    def repeated(self, times: int) -> "Cells":
        """Return the cells of the matrix stacked several times."""
        counts = np.tile(self.counts, times)
        return Cells(np.concatenate([[0], np.cumsum(counts)]), np.tile(self.columns, times))

    def row_numbers(self) -> np.ndarray:
        """Return the row of each cell."""
        return np.repeat(np.arange(len(self.indptr) - 1), self.counts)

    def holds(self, rows: np.ndarray, columns: np.ndarray, width: int) -> np.ndarray:
        """Return whether each (row, column) is a cell of this matrix of `width` columns."""
        if not self.columns.size:
            return np.zeros(len(rows), dtype=bool)
        own = self.row_numbers() * width + self.columns  # ascending: rows, then columns
        asked = rows * width + columns
        found = np.minimum(np.searchsorted(own, asked), len(own) - 1)
        return own[found] == asked


@dataclass(frozen=True)
class Truth:
    """The present and the unknown cells of a truth."""

    shape: tuple[int, int]
    present: Cells
    unknown: Cells | None  # None where every cell is known, the usual case

    @cached_property
    def n_present(self) -> np.ndarray:
        """Present labels of each row."""
        return self.present.counts

    @cached_property
    def n_known(self) -> np.ndarray:
        """Known labels of each row."""
        n_rows, n_labels = self.shape
        every = np.full(n_rows, n_labels)
        return every if self.unknown is None else every - self.unknown.counts

    def repeated(self, times: int) -> "Truth":
        """Return the truth stacked several times."""
        n_rows, n_labels = self.shape
        unknown = None if self.unknown is None else self.unknown.repeated(times)
        return Truth((times * n_rows, n_labels), self.present.repeated(times), unknown)

    def rows(self, block: slice) -> "Truth":
        """Return the truth of a block of rows."""
        n_rows, n_labels = self.shape
        stop = min(block.stop, n_rows)
        unknown = None if self.unknown is None else self.unknown.rows(block)
        return Truth((stop - block.start, n_labels), self.present.rows(block), unknown)


def read_truth(Y_true: Any) -> Truth:
    """Return the cells of a truth of 0, 1 and NaN, or the truth itself if it has been read."""
    if isinstance(Y_true, Truth):
        return Y_true
    Y = as_matrix(Y_true, "Y_true")
    Y = Y if sparse.issparse(Y) else compress_rows(Y)
    present, unknown = Y.data == 1, np.isnan(Y.data)
    wrong = ~(present | unknown | (Y.data == 0))
    if wrong.any():
        raise ValueError(
            "Y_true must hold 0 (absent), 1 (present) or NaN (unknown) only, but holds "
            f"{Y.data[wrong][0]:g}; pass a 0/1 indicator matrix."
        )
    of_unknown = Cells.of_sparse(Y, unknown) if unknown.any() else None
    return Truth(Y.shape, Cells.of_sparse(Y, present), of_unknown)
