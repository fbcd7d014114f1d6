"""A linear support vector machine of each label, in about a second."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.compact._penalty import penalty_of_columns
from compactlearn.compact._pruned import KeptWeights
from compactlearn.linalg._arrays import working_form
from compactlearn.linalg._row_sums import column_moments
from compactlearn.linalg._squared_hinge import CentredRows, solve_squared_hinge

Array = NDArray[np.float64]

ROUNDS, STEPS = 2, 3  # Newton steps, and conjugate gradients of each
_BLOCK_ENTRIES = 1 << 20  # of weights or scores that are computed at a time


class QuickSVM(KeptWeights):
    """The largest weights of a linear support vector machine of each label, by few steps.

    It is meant for sparse rows of unit length and many labels. The penalty is ``alpha="auto"`` of
    :class:`CompactClassifier`.

    >>> from compactlearn.datasets import load
    >>> data = load("enron")
    >>> X, Y = scipy.sparse.csr_array(data.X), scipy.sparse.csr_array(data.Y)
    >>> QuickSVM(700).fit(X, Y).weights_.nnz <= 700
    True
    """

    def __init__(self, n_weights: int) -> None:
        self.n_weights = n_weights

    def fit(
        self, X: Any, Y: Any, sample_weight: Array | None = None, *, start: QuickSVM | None = None
    ) -> Self:
        """Fit the weights of some labels at a time; X and Y are checked already.

        ``start``, fitted to some of the rows, leaves a single Newton step to be done.
        """
        mean, variances, count = column_moments(working_form(X), sample_weight)
        alpha = penalty_of_columns(mean, count * variances, count)
        rows = CentredRows.of(X, mean, variances, sample_weight)
        deviations = np.sqrt(variances).astype(np.float32)[:, None]
        labels = scipy.sparse.csc_array(Y, dtype=np.float32)
        width = max(1, _BLOCK_ENTRIES // max(X.shape))
        weights, constants = [], []
        for first in range(0, Y.shape[1], width):
            some = slice(first, first + width)
            found = solve_squared_hinge(
                rows,
                labels[:, some].toarray(),
                alpha,
                n_rounds=ROUNDS if start is None else 1,
                n_steps=STEPS,
                start=None if start is None else start._coefficients(some, mean),
            )
            own = found[:-1]
            most = self.n_weights * own.shape[1] // Y.shape[1]
            weights.append(_largest(own, np.abs(own) * deviations, most))
            constants.append(found[-1])
        stacked = scipy.sparse.vstack(weights, format="csr", dtype=np.float64)
        self.weights_ = scipy.sparse.csr_array(stacked)
        self.intercept_ = np.concatenate(constants) - self.weights_ @ mean
        return self

    def _coefficients(self, labels: slice, mean: Array) -> NDArray[np.float32]:
        """Return the coefficients of some labels on rows less ``mean``, the constants last."""
        weights = self.weights_[labels]
        constants = self.intercept_[labels] + weights @ mean
        return np.vstack([weights.T.toarray(), constants]).astype(np.float32)


def _largest(weights: Any, sizes: Any, count: int) -> scipy.sparse.csr_array:
    """Return the transpose of ``weights`` with the ``count`` entries of largest size."""
    if count < sizes.size:
        least = np.partition(sizes, sizes.size - count - 1, axis=None)[sizes.size - count - 1]
        weights = np.where(sizes > least, weights, np.float32(0.0))
    return scipy.sparse.csr_array(weights.T)
