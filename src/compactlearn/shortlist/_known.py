"""How often labels are there, where some are not known."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

Array = NDArray[np.float64]


def expected_counts(Y: Any, unknown: Any, weights: Array | None = None) -> Array:
    """(n_labels,) how often each label would be there, were it known of all rows.

    As often in a row that does not know it as in one that does; one row more that knows it, and has
    it not, is taken for granted. ``unknown`` is None, or has a one for each label that is not
    known, where Y has none.

    >>> Y = scipy.sparse.csr_array([[1, 1], [1, 0], [0, 0]])
    >>> unknown = scipy.sparse.csr_array([[0, 0], [0, 1], [0, 1]])
    >>> expected_counts(Y, unknown)
    array([2., 2.])
    """
    w = np.ones(Y.shape[0]) if weights is None else weights
    found = np.asarray(Y.T @ w, dtype=np.float64)
    if unknown is None:
        return found
    total = w.sum()
    return found * ((total + 1.0) / (total - np.asarray(unknown.T @ w) + 1.0))


def at_places(values: Any, places: scipy.sparse.csr_array) -> Array:
    """The values of a sparse matrix, 0 or more, where another one, in order, has stored entries.

    >>> places = scipy.sparse.csr_array([[5, 0], [7, 9]])
    >>> at_places(scipy.sparse.csr_array([[0, 1], [2, 3]]), places)
    array([0., 2., 3.])
    """
    ones = scipy.sparse.csr_array(
        (np.ones(places.indices.size), places.indices, places.indptr), shape=places.shape
    )
    both = scipy.sparse.csr_array(ones + ones.multiply(values))
    both.sort_indices()  # a product's rows are in no order, and sums of such are in none
    return np.asarray(both.data) - 1.0
