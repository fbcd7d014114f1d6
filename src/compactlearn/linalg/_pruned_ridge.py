"""Ridge regressions on few of their weights.

Target l is regressed on the columns that are kept for it, S_l, and on a constant:

    minimise  sum_i v_i (t_il - b_l - sum_{j in S_l} x_ij w_jl)^2 + sum_{j in S_l} p_j w_jl^2

Each is a system of as many equations as columns are kept. With all columns kept this is the ridge
regression on all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._deadline import checkpoint
from compactlearn.linalg._dense import solve_definite

Array = NDArray[np.float64]
Places = NDArray[np.intp]


def largest_places(sizes: Array, count: int) -> Places:
    """Return the indices of the ``count`` largest entries, ascending; fewer if others are zero.

    Among equal entries the first are selected.

    >>> largest_places(np.array([0.1, 3.0, 0.0, 2.0, 3.0]), 2)
    array([1, 4])
    >>> largest_places(np.array([0.0, 3.0, 0.0]), 2)
    array([1])
    """
    flat = np.ravel(sizes)
    present = np.flatnonzero(flat)
    if count >= present.size:
        return present
    if count < 1:
        return present[:0]
    values = flat[present]
    least = np.partition(values, values.size - count)[values.size - count]
    above, equal = np.flatnonzero(values > least), np.flatnonzero(values == least)
    return present[np.sort(np.concatenate([above, equal[: count - above.size]]))]


def refit_kept(
    X: Any, targets: Any, kept: scipy.sparse.csr_array, penalties: Array, weights: Array | None
) -> tuple[scipy.sparse.csr_array, Array]:
    """Return the weights (n_targets, n_features) where ``kept`` has stored entries, and an
    intercept for each target.

    ``penalties`` (n_features,) are above 0; ``weights`` (n_rows,) say how often a row counts.
    """
    n_rows = X.shape[0]
    v = np.ones(n_rows) if weights is None else weights
    total = v.sum()
    sparse = scipy.sparse.issparse(X)
    columns = scipy.sparse.csc_array(X) if sparse else X
    weighted = columns
    if weights is not None:
        weighted = columns.multiply(v[:, None]).tocsc() if sparse else X * v[:, None]
    mean = np.asarray(weighted.sum(axis=0)).ravel() / total
    share = np.asarray(targets.T @ v).ravel() / total
    # x_j't_l for all pairs would be as large as all the weights: only those of a target at a time.
    truth = scipy.sparse.csc_array(targets)
    values, intercepts = np.empty(kept.nnz), share.copy()
    for label in range(kept.shape[0]):
        checkpoint()
        span = slice(kept.indptr[label], kept.indptr[label + 1])
        own = kept.indices[span]
        if not own.size:
            continue
        part, heavy = columns[:, own], weighted[:, own]
        gram = heavy.T @ part
        gram = gram.toarray() if sparse else gram
        gram -= total * np.outer(mean[own], mean[own])
        gram[np.diag_indices_from(gram)] += penalties[own]
        stored = slice(truth.indptr[label], truth.indptr[label + 1])
        t = np.zeros(n_rows)
        t[truth.indices[stored]] = truth.data[stored]
        right = np.asarray(heavy.T @ t).ravel() - total * mean[own] * share[label]
        found = solve_definite(gram, right[:, None])[:, 0]
        values[span] = found
        intercepts[label] -= mean[own] @ found
    shape = kept.shape
    return scipy.sparse.csr_array((values, kept.indices, kept.indptr), shape=shape), intercepts
