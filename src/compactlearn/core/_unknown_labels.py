"""Labels of which some are not known: NaN in a label matrix, or cells marked beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._compress import compress_rows, with_cells_once
from compactlearn.core._devices import DeviceArray, host, labels_on_host, library_of
from compactlearn.core._validation import (
    Targets,
    UnknownLabelsError,
    check_partial_targets,
    check_targets,
)
from compactlearn.core._warn import warn_user


def check_labels(
    Y: Any,
    n_rows: int,
    *,
    unknown: Any = None,
    sep: Any = None,
    owner: str = "fit",
    features: Any = None,
) -> Targets:
    """Labels as :func:`check_targets` reads them, of which some may be unknown.

    Labels that are all known are read by that function alone.

    >>> targets = check_labels([[0.0, 1.0], [np.nan, 1.0]], 2)
    >>> targets.matrix.toarray(), targets.unknown.toarray()
    (array([[0., 1.],
           [0., 1.]]), array([[0., 0.],
           [1., 0.]]))
    """
    if unknown is None:
        try:
            return check_targets(Y, n_rows, sep=sep, owner=owner, features=features)
        except UnknownLabelsError:
            pass
    if isinstance(features, DeviceArray):
        raise ValueError(
            f"{owner} takes unknown labels with NumPy and SciPy arrays alone, and X is on a "
            "device; bring X to the host, or fill the unknown labels."
        )
    if library_of(Y) is not None:
        Y = labels_on_host(Y)
    targets, cells = check_partial_targets(
        Y,
        n_rows,
        hide=None if unknown is None else lambda shape: read_unknown(unknown, shape),
        sep=sep,
        owner=owner,
        features=features,
    )
    return replace(targets, unknown=cells)


def rows_that_count(
    targets: Targets, weights: NDArray[np.float64] | None = None
) -> NDArray[np.intp] | None:
    """The rows that a fit learns from, or None where these are all.

    A row of weight 0 has no part in it, and neither has one of whose labels none is known.

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
    """Labels that no row knows become absent ones, with a warning: nothing shows what they are."""
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
    """The columns that are marked in every row."""
    n_rows, n_labels = unknown.shape
    return np.flatnonzero(np.bincount(unknown.indices, minlength=n_labels) == n_rows)


def known_somewhere(unknown: Any) -> Any:
    """The marks without those of columns that no row knows, which so are absent; None without any.

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


def read_unknown(unknown: Any, shape: tuple[int, int]) -> Any:
    """A csr_array with a one for every cell that is marked."""
    if library_of(unknown) is not None:
        unknown = host(unknown)
    marks: Any = unknown if scipy.sparse.issparse(unknown) else np.asarray(unknown)
    if marks.shape != shape:
        raise ValueError(
            f"unknown must have the shape of Y, {shape}, True where a label is not known, and has "
            f"shape {marks.shape}; pass a matrix of that shape."
        )
    stored: Any = marks.data if scipy.sparse.issparse(marks) else marks
    if marks.dtype.kind not in "biuf" or not np.isin(stored, (0, 1)).all():
        raise ValueError(
            f"unknown must be Boolean, True where a label is not known, and its type is "
            f"{marks.dtype}; pass unknown.astype(bool)."
        )
    if not scipy.sparse.issparse(marks):
        return compress_rows(marks)
    cells = scipy.sparse.csr_array(with_cells_once(marks.tocsr()), dtype=np.float64, copy=True)
    cells.eliminate_zeros()
    cells.data[:] = 1.0
    return cells


def refuse_on_dask(unknown: Any, owner: str) -> None:
    """Refuse marks of unknown labels beside rows on a cluster."""
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
