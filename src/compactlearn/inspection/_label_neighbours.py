"""Which labels are near which: cosines of their vectors, some labels at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.decoding._topk import top_labels

Array = NDArray[np.float64]

_COSINES = 1 << 22  # thirty-two megabytes of them at a time


def unit_vectors(vectors: Any) -> Any:
    """Rows divided by their lengths; a row of zeros stays one."""
    if scipy.sparse.issparse(vectors):
        vectors = scipy.sparse.csr_array(vectors, dtype=np.float64)
        lengths = np.sqrt(np.asarray(vectors.multiply(vectors).sum(axis=1)).ravel())
        factors = 1.0 / np.where(lengths > 0, lengths, 1.0)
        return scipy.sparse.csr_array(scipy.sparse.diags_array(factors) @ vectors)
    vectors = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(vectors, axis=1)
    return vectors / np.where(lengths > 0, lengths, 1.0)[:, None]


def nearest_labels(vectors: Any, asked: Any, k: int) -> tuple[NDArray[np.intp], Array]:
    """The k rows of largest cosine with each of the asked rows, itself left out, best first.

    >>> near, cosines = nearest_labels(np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 3.0]]), [0], 2)
    >>> near, np.round(cosines, 3)
    (array([[2, 1]]), array([[0.707, 0.   ]]))
    """
    units, asked = unit_vectors(vectors), np.asarray(asked, dtype=np.intp)
    n_labels = units.shape[0]
    k = min(k, n_labels - 1)
    near, cosines = np.empty((asked.size, k), dtype=np.intp), np.empty((asked.size, k))
    if k == 0:
        return near, cosines
    step = max(1, _COSINES // n_labels)
    for start in range(0, asked.size, step):
        rows = slice(start, start + step)
        own = asked[rows]
        found = units[own] @ units.T
        found = found.toarray() if scipy.sparse.issparse(found) else found
        found[np.arange(own.size), own] = -np.inf
        near[rows], cosines[rows] = top_labels(found, k)
    return near, np.clip(cosines, -1.0, 1.0)
