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

from compactlearn.metrics._checks import as_matrix, row_blocks


@dataclass(frozen=True)
class Cells:
    """Some cells of a matrix, row by row, in the order of their columns.

    Parameters
    ----------
    indptr : ndarray of int64, shape (n_rows + 1,)
        Row i has the columns ``columns[indptr[i]:indptr[i + 1]]``.
    columns : ndarray of int64
    """

    indptr: np.ndarray
    columns: np.ndarray

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
    """The present and the unknown cells of a truth.

    Parameters
    ----------
    shape : (n_samples, n_labels)
    present : Cells
    unknown : Cells or None
        None where every cell is known, the usual case.
    """

    shape: tuple[int, int]
    present: Cells
    unknown: Cells | None

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
    """Return the cells of a truth of 0, 1 and NaN."""
    Y = as_matrix(Y_true, "Y_true")
    present, unknown = _cells_of_sparse(Y) if sparse.issparse(Y) else _cells_of_dense(Y)
    return Truth(Y.shape, present, unknown if unknown.columns.size else None)


def _cells_of_sparse(Y: sparse.csr_array) -> tuple[Cells, Cells]:
    _check_values(Y.data[Y.data != 0])
    return Cells.of_sparse(Y, Y.data == 1), Cells.of_sparse(Y, np.isnan(Y.data))


def _cells_of_dense(Y: np.ndarray) -> tuple[Cells, Cells]:
    present, unknown = [], []
    for block in row_blocks(Y.shape):
        # Through a boolean: NumPy has a fast path for it, and the copy is one block.
        rows, columns = np.divmod(np.flatnonzero(Y[block] != 0), Y.shape[1])
        rows += block.start
        values = Y[rows, columns]  # NaN is not zero either
        _check_values(values)
        one = values == 1
        present.append((rows[one], columns[one]))
        unknown.append((rows[~one], columns[~one]))
    return _joined(present, len(Y)), _joined(unknown, len(Y))


def _check_values(values: np.ndarray) -> None:
    """Raise ValueError for a stored value that is neither 1 nor NaN."""
    wrong = (values != 1) & ~np.isnan(values)
    if wrong.any():
        raise ValueError(
            "Y_true must hold 0 (absent), 1 (present) or NaN (unknown) only, but holds "
            f"{values[wrong].flat[0]:g}; pass a 0/1 indicator matrix."
        )


def _joined(parts: list[tuple[np.ndarray, np.ndarray]], n_rows: int) -> Cells:
    nothing = np.empty(0, dtype=np.int64)
    rows = np.concatenate([nothing, *(rows for rows, _ in parts)])
    columns = np.concatenate([nothing, *(columns for _, columns in parts)])
    counts = np.bincount(rows, minlength=n_rows)
    return Cells(np.concatenate([[0], np.cumsum(counts)]), columns)
