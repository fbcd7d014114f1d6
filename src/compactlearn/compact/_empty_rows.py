"""Sparse rows without any feature, of which nothing is known but how frequent labels are.

A text without a known word is such a row. For models that were fitted to sparse rows its
probabilities are the frequencies of the labels among the training rows. Among dense features a row
of zeros is a row like any other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.special import logit

from compactlearn.core._devices import host
from compactlearn.core._unknown_labels import expected_counts

Array = NDArray[np.float64]


def rows_of_zeros(X: Any) -> NDArray[np.bool_]:
    """Return which rows of a matrix hold nothing but zeros.

    >>> rows_of_zeros(scipy.sparse.csr_array([[0, 2], [0, 0]])).tolist()
    [False, True]
    """
    if not scipy.sparse.issparse(X):
        return np.logical_not(np.any(host(X), axis=1))
    X = X.tocsr()
    lengths = np.diff(X.indptr)
    if lengths.all() and X.data.all():  # no row is empty, and no stored entry is zero
        return np.zeros(lengths.size, dtype=bool)
    row = np.repeat(np.arange(lengths.size), lengths)
    return np.bincount(row[X.data != 0], minlength=X.shape[0]) == 0


def base_scores(X: Any, Y: Any, weights: Array | None, unknown: Any) -> Array | None:
    """Return the log-odds of the frequencies of labels; None where the rows are not sparse."""
    if not scipy.sparse.issparse(X):
        return None
    total = float(X.shape[0] if weights is None else weights.sum())
    least = 0.5 / (total + 1.0)  # of a label that no row has, or all
    return logit(np.clip(expected_counts(Y, unknown, weights) / total, least, 1.0 - least))


def with_base_scores(scores: Array, X: Any, base: Array | None) -> Array:
    """Replace the scores of rows of zeros in place, by ``base`` where it is not None."""
    if base is not None:
        scores[rows_of_zeros(X)] = base
    return scores
