"""Best labels of each row."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._device_array import DeviceArray

Array = NDArray[np.float64]

_GROUPS = 8  # for each label that is wanted
_FEW = 1024  # scores that are sorted as soon as anything else


def top_labels(scores: Array, k: int) -> tuple[NDArray[np.intp], Array]:
    """Return indices and scores of the k largest entries of each row, best first.

    Equal scores are ordered by index, lowest first; NaN comes last.

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
    n_rows, n_labels = scores.shape
    if k >= n_labels or n_rows * n_labels <= _FEW or isinstance(scores, DeviceArray):
        return _sorted(scores, k)
    # The labels are divided into groups. At least k scores are as large as the k-th largest of the
    # groups' maxima, so smaller scores cannot be among the k best. After two passes over the scores
    # only a few are left to be sorted. A group has every n_groups-th label, so that maxima of
    # neighbouring groups are computed from adjacent scores.
    width = max(1, n_labels // (_GROUPS * k))
    n_groups = n_labels // width
    maxima = scores[:, : n_groups * width].reshape(n_rows, width, n_groups).max(axis=1)
    if np.isnan(maxima).any():  # NaN is no bound
        return _sorted(scores, k)
    bound = np.partition(maxima, n_groups - k, axis=1)[:, n_groups - k : n_groups - k + 1]
    row, column = np.divmod(np.flatnonzero(scores >= bound), n_labels)
    counts = np.bincount(row, minlength=n_rows)
    place = np.arange(row.size) - np.repeat(np.cumsum(counts) - counts, counts)
    left = np.zeros((n_rows, counts.max(initial=k)), dtype=np.intp)  # k columns of no rows too
    values = np.full(left.shape, -np.inf, dtype=scores.dtype)
    left[row, place] = column
    values[row, place] = scores[row, column]
    order = np.argsort(-values, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(left, order, axis=1), np.take_along_axis(values, order, axis=1)


def _sorted(scores: Array, k: int) -> tuple[NDArray[np.intp], Array]:
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(scores, order, axis=1)


def as_stored(indices: NDArray[np.intp], best: Array, n_labels: int) -> Any:
    """Return the k best scores of each row as one CSR matrix (N, M).

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
