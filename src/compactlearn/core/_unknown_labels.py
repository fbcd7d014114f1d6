"""Labels of which some are not known: rows and columns that a fit learns from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._targets import Targets
from compactlearn.core._warn import warn_user


def rows_that_count(
    targets: Targets, weights: NDArray[np.float64] | None = None
) -> NDArray[np.intp] | None:
    """Return the rows that a fit learns from, or None where these are all.

    A row of weight 0 has no part in it, and neither has one of whose labels none is known.

    >>> from compactlearn.core._targets import check_labels
    >>> targets = check_labels([[0.0, 1.0], [np.nan, np.nan], [1.0, np.nan]], 3)
    >>> rows_that_count(targets), rows_that_count(targets, np.array([0.0, 1.0, 1.0]))
    (array([0, 2]), array([2]))
    """
    counts = np.ones(targets.matrix.shape[0], dtype=bool) if weights is None else weights > 0
    if targets.unknown is not None:
        counts &= np.diff(targets.unknown.indptr) < targets.unknown.shape[1]
        if not counts.any():
            raise ValueError(
                "Every label of every row that counts is unknown, so that there is nothing to "
                "learn from; pass rows with known labels."
            )
    return None if counts.all() else np.flatnonzero(counts)


def with_absent(targets: Targets) -> Targets:
    """Return targets in which labels that no row knows are absent, with a warning."""
    if targets.unknown is None:
        return targets
    never = never_known(targets.unknown)
    if not never.size:
        return targets
    first = int(never[0])
    name = "" if targets.names is None else f" ({targets.names[first]!r})"
    warn_user(
        f"{never.size} of the {targets.n_labels} labels are unknown in every row, label "
        f"{first}{name} the first of them: nothing is learnt about them, and they count as absent. "
        "Leave out such columns."
    )
    return replace(targets, unknown=known_somewhere(targets.unknown))


def never_known(unknown: Any) -> NDArray[np.intp]:
    """Return the columns that are marked in every row."""
    n_rows, n_labels = unknown.shape
    return np.flatnonzero(np.bincount(unknown.indices, minlength=n_labels) == n_rows)


def known_somewhere(unknown: Any) -> Any:
    """Return the marks without those of columns that no row knows; None if there are no others.

    >>> marks = scipy.sparse.csr_array([[1.0, 1.0], [1.0, 0.0]])
    >>> known_somewhere(marks).toarray()
    array([[0., 1.],
           [0., 0.]])
    """
    never = never_known(unknown)
    if not never.size:
        return unknown
    kept = np.ones(unknown.shape[1])
    kept[never] = 0.0
    marks = scipy.sparse.csr_array(unknown.multiply(kept))
    marks.eliminate_zeros()
    return marks if marks.nnz else None


def refuse_on_dask(unknown: Any, owner: str) -> None:
    """Raise ValueError for marks of unknown labels with rows on a cluster."""
    if unknown is not None:
        raise ValueError(
            f"{owner} takes unknown labels of rows in memory, and was given a Dask collection; "
            "compute X and y first, or fit the rows whose labels are all known."
        )


def expected_counts(
    Y: Any, unknown: Any, weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return (n_labels,) how many rows would have each label if it were known of all.

    A label is as frequent among rows that do not know it as among those that do and one more
    without it. ``unknown`` is None, or has a one for each label that is not known.

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
