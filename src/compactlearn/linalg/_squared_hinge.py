"""Linear support vector machines by few Newton steps, many targets side by side.

Target l is 0 or 1. Its weights w and constant b minimise the squared errors on the wrong side, of
scores below 1 where the target is 1 and above 0 where it is 0:

    sum_i v_i (t_il - z_i' w - b)^2 [wrong side] + alpha |w|^2

A Newton step is a ridge regression on the rows that are on the wrong side. From weights of zero
and a constant between 0 and 1 these are all rows. A few steps of conjugate gradients are enough for
each: what they leave, the next Newton step finds. Rows are centred, which makes these steps large,
and stay sparse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._deadline import checkpoint
from compactlearn.linalg._gradients import dots, ratio

Narrow = NDArray[Any]  # in single precision

TINY = np.finfo(np.float32).tiny


@dataclass(frozen=True)
class CentredRows:
    """Sparse rows less their mean, in single precision, with a constant column."""

    rows: scipy.sparse.csr_array
    columns: scipy.sparse.csr_array  # the transpose
    squares: scipy.sparse.csr_array  # of the columns, times the share of them that is variance
    mean: Narrow
    counts: Narrow  # (n_rows, 1) how often each row counts

    @classmethod
    def of(cls, X: Any, mean: Any, variances: Any, weights: Any = None) -> CentredRows:
        """Return the rows, whose columns have these means and variances."""
        rows = scipy.sparse.csr_array(X, dtype=np.float32)
        columns = scipy.sparse.csr_array(rows.T)
        total = variances + mean**2
        share = np.divide(variances, total, out=np.zeros_like(total), where=total > 0)
        squares = scipy.sparse.diags_array(share.astype(np.float32)) @ columns.power(2)
        counts = np.ones(rows.shape[0]) if weights is None else weights
        counts = counts.astype(np.float32)[:, None]
        squares = scipy.sparse.csr_array(squares)
        return cls(rows, columns, squares, mean.astype(np.float32), counts)

    def times(self, coefficients: Narrow) -> Narrow:
        """Return the products with (n_columns + 1, n_targets) coefficients."""
        weights, constants = coefficients[:-1], coefficients[-1]
        product = self.rows @ weights
        product += constants - self.mean @ weights
        return product

    def transposed(self, block: Narrow) -> Narrow:
        """Return the products of the transpose with (n_rows, n_targets) values."""
        total = block.sum(axis=0)
        product = np.vstack([self.columns @ block, total])
        product[:-1] -= np.outer(self.mean, total)
        return product

    def diagonal(self, counts: Narrow) -> Narrow:
        """Return about the squared length of each column, where ``counts`` say how rows count."""
        return np.vstack([self.squares @ counts, counts.sum(axis=0)])


def solve_squared_hinge(
    rows: CentredRows,
    targets: Narrow,
    alpha: float,
    *,
    n_rounds: int,
    n_steps: int,
    start: Narrow | None = None,
) -> Narrow:
    """Return (n_columns + 1, n_targets) coefficients, the constants last, of the centred rows.

    Parameters
    ----------
    rows : CentredRows
    targets : array of shape (n_rows, n_targets), 0 or 1, in single precision
    alpha : float
        The penalty; constants have none.
    n_rounds, n_steps : int
        Newton steps, and conjugate gradients of each.
    start : array of shape (n_columns + 1, n_targets), optional
        Coefficients to begin with; by default zeros, and the mean of each target.
    """
    penalties = np.full((rows.mean.size + 1, 1), alpha, dtype=np.float32)
    penalties[-1] = 0.0
    if start is None:
        start = np.zeros((penalties.size, targets.shape[1]), dtype=np.float32)
        start[-1] = (rows.counts * targets).sum(axis=0) / rows.counts.sum()
    found = start.copy()
    for _ in range(n_rounds):
        scores = rows.times(found)
        counts = rows.counts * np.where(targets > 0, scores < 1.0, scores > 0.0)
        residual = rows.transposed(counts * (targets - scores)) - penalties * found
        scale = np.maximum(rows.diagonal(counts) + penalties, TINY)
        improved = residual / scale
        direction, energy = improved.copy(), dots(residual, improved)
        for _ in range(n_steps):
            checkpoint()
            image = rows.transposed(counts * rows.times(direction))
            image += penalties * direction
            step = ratio(energy, dots(direction, image))
            found += step * direction
            residual -= step * image
            improved = residual / scale
            following = dots(residual, improved)
            direction *= ratio(following, energy)
            direction += improved
            energy = following
    return found
