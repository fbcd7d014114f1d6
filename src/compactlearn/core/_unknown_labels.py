"""Labels of which some are not known: NaN in a label matrix, or cells marked beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._compress import compress_rows, with_cells_once
from compactlearn.core._devices import DeviceArray, host, labels_on_host, library_of
from compactlearn.core._forms import refuse_unread
from compactlearn.core._memory import require_memory
from compactlearn.core._targets import (
    Targets,
    UnknownLabelsError,
    check_targets,
    column_names,
    label_array,
    targets_by_name,
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


def check_partial_targets(
    Y: Any,
    n_rows: int,
    *,
    mask: Any = None,
    hide: Callable[[tuple[int, int]], Any] | None = None,
    names: Sequence[str] | None = None,
    sep: Any = None,
    owner: str = "fit",
    features: Any = None,
) -> tuple[Targets, Any]:
    """Labels of which some are not known: NaN in a label matrix, or False in ``mask``.

    ``hide`` may stand in for a mask: from the shape of the labels to a csr_array with a one for
    each that is not known.

    Returns the targets, with unknown labels as absent, and a csr_array with a one for each
    unknown label, or None where all are known.

    >>> targets, unknown = check_partial_targets([[0.0, 1.0], [np.nan, 1.0]], 2)
    >>> targets.matrix.toarray(), unknown.toarray()
    (array([[0., 1.],
           [0., 1.]]), array([[0., 0.],
           [1., 0.]]))
    """
    refuse_unread(Y, "Y")
    if Y is None:
        return check_targets(Y, n_rows, owner=owner), None
    named = Y if isinstance(Y, Targets) else targets_by_name(Y, n_rows, None, names, sep, owner)
    if named is not None:
        if mask is None and hide is None:
            return check_targets(named, n_rows), None
        known, unknown = check_partial_targets(
            named.matrix, n_rows, mask=mask, hide=hide, owner=owner
        )
        return replace(named, matrix=known.matrix), unknown
    own_names, labels = column_names(Y), _with_nan(Y)
    if np.ndim(labels) != 2 or (not scipy.sparse.issparse(labels) and labels.shape[1] == 1):
        if mask is not None or hide is not None:
            name = "mask" if hide is None else "unknown"
            raise ValueError(
                f"{name} says which labels of a matrix are known, and y is a vector of classes; "
                "leave out the rows whose class is not known, or pass a sparse (N, 1) matrix to "
                "mean a single label."
            )
        return check_targets(Y, n_rows, owner=owner, features=features), None
    if scipy.sparse.issparse(labels):
        filled, unknown = scipy.sparse.csr_array(with_cells_once(labels)), None
        empty = np.isnan(filled.data)
        if empty.any():
            unknown = filled.astype(np.float64)  # a copy: Y itself stays as it is
            unknown.data = empty.astype(np.float64)
            filled = filled.copy()
            filled.data[empty] = 0.0
    else:
        empty = np.isnan(labels) if labels.dtype.kind == "f" else None
        if empty is not None and empty.any():
            filled, unknown = np.where(empty, 0.0, labels), compress_rows(empty)
        else:
            filled, unknown = labels, None
    if mask is not None or hide is not None:
        hidden = _hidden(mask, filled.shape) if hide is None else hide(filled.shape)
        unknown = hidden if unknown is None else unknown.maximum(hidden)
        filled = _without(filled, hidden)
    targets = replace(
        check_targets(filled, n_rows, owner=owner, features=features), names=own_names
    )
    own = _dtype_of(Y)
    if own is not None:
        targets = replace(targets, dtype=own)
    if unknown is None:
        return targets, None
    unknown = scipy.sparse.csr_array(unknown)
    unknown.eliminate_zeros()
    if not unknown.nnz:
        return targets, None
    known = targets.matrix - targets.matrix.multiply(unknown)
    known = scipy.sparse.csr_array(known)
    known.eliminate_zeros()
    return replace(targets, matrix=known), unknown


def _with_nan(Y: Any) -> Any:
    """Labels as an array in which what a frame calls missing is NaN."""
    if Y is None or scipy.sparse.issparse(Y):
        return Y
    if hasattr(Y, "to_numpy") and np.ndim(Y) == 2:  # pandas and polars
        try:
            return np.asarray(Y.to_numpy(), dtype=np.float64)
        except (TypeError, ValueError):  # pandas has its own missing value
            try:
                return Y.to_numpy(dtype=np.float64, na_value=np.nan)
            except (TypeError, ValueError):
                pass
    array = label_array(Y)
    if array.dtype.kind == "O" and array.ndim == 2:
        gaps = [[type(value).__name__ == "NAType" for value in row] for row in array]
        array = np.where(gaps, np.nan, array)
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError):
            return array
    return array


def _without(labels: Any, hidden: Any) -> Any:
    """Labels with zeros under hidden cells, whatever was there."""
    if scipy.sparse.issparse(labels):
        return scipy.sparse.csr_array(labels - labels.multiply(hidden))
    if labels.dtype.kind not in "biuf":
        return labels
    labels = labels.copy()
    labels[hidden.nonzero()] = 0
    return labels


def _dtype_of(Y: Any) -> np.dtype[Any] | None:
    """The one integer type of a frame of numbers without gaps."""
    if not hasattr(Y, "to_numpy") or scipy.sparse.issparse(Y):
        return None
    kind = Y.iloc[:0].to_numpy().dtype if hasattr(Y, "iloc") else Y[:0].to_numpy().dtype
    return kind if kind.kind in "iu" else None


def _hidden(mask: Any, shape: tuple[int, int]) -> Any:
    """A csr_array with a one wherever the mask is False."""
    if np.shape(mask) != shape:
        raise ValueError(
            f"mask must have the shape of Y, {shape}, True where a label is known, and has shape "
            f"{np.shape(mask)}; pass a matrix of that shape."
        )
    known = mask if scipy.sparse.issparse(mask) else np.asarray(mask)
    if known.dtype.kind != "b":
        raise ValueError(
            f"mask must be boolean, True where a label is known, and its type is {known.dtype}; "
            "pass mask.astype(bool)."
        )
    return _complement(known) if scipy.sparse.issparse(known) else compress_rows(~known)


def _complement(mask: Any) -> Any:
    """A csr_array with a one wherever a sparse boolean matrix has none, a row at a time."""
    known = scipy.sparse.csr_array(mask, copy=True)
    known.sum_duplicates()
    known.eliminate_zeros()
    n_columns = known.shape[1]
    pointers = np.concatenate([[0], np.cumsum(n_columns - np.diff(known.indptr))])
    require_memory(
        12 * int(pointers[-1]),
        what=f"A mask with {int(pointers[-1])} unknown labels",
        remedy="Leave out rows and labels of which little is known.",
    )
    indices = np.empty(pointers[-1], dtype=np.int32 if pointers[-1] < 2**31 else np.int64)
    hidden = np.ones(n_columns, dtype=bool)
    for row in range(known.shape[0]):
        own = known.indices[known.indptr[row] : known.indptr[row + 1]]
        hidden[own] = False
        indices[pointers[row] : pointers[row + 1]] = np.flatnonzero(hidden)
        hidden[own] = True
    return scipy.sparse.csr_array((np.ones(indices.size), indices, pointers), shape=known.shape)


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
