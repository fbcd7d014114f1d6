"""The best labels of each row."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

Array = NDArray[np.float64]


def top_labels(scores: Array, k: int) -> tuple[NDArray[np.intp], Array]:
    """Indices and scores of the k largest entries of each row, best first.

    Equal scores are ordered by index, lowest first.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        Scores.
    k : int
        How many labels.

    Examples
    --------
    >>> top_labels(np.array([[0.1, 0.9, 0.9, 0.3]]), 3)
    (array([[1, 2, 3]]), array([[0.9, 0.9, 0.3]]))
    """
    n_labels = scores.shape[1]
    if k >= n_labels:
        order = np.argsort(-scores, axis=1, kind="stable")
        return order, np.take_along_axis(scores, order, axis=1)
    # The k-th largest value decides; among its equals the lowest indices stay.
    bound = -np.partition(-scores, k - 1, axis=1)[:, k - 1 : k]
    room = k - np.count_nonzero(scores > bound, axis=1, keepdims=True)
    equal = scores == bound
    chosen = (scores > bound) | (equal & (np.cumsum(equal, axis=1) <= room))
    columns = np.nonzero(chosen)[1].reshape(len(scores), k)
    values = np.take_along_axis(scores, columns, axis=1)
    order = np.argsort(-values, axis=1, kind="stable")
    return np.take_along_axis(columns, order, axis=1), np.take_along_axis(values, order, axis=1)


def as_stored(indices: NDArray[np.intp], best: Array, n_labels: int) -> Any:
    """The same as one CSR matrix (N, M), with the k scores of each row stored.

    >>> as_stored(np.array([[2, 0]]), np.array([[0.9, 0.3]]), 4).toarray()
    array([[0.3, 0. , 0.9, 0. ]])
    """
    n_rows, k = indices.shape
    starts = np.arange(n_rows + 1) * k
    matrix = scipy.sparse.csr_array(
        (best.ravel(), indices.ravel(), starts), shape=(n_rows, n_labels)
    )
    matrix.sort_indices()
    return matrix
