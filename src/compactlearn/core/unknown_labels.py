"""Labels of which some are not known: NaN in a label matrix, or cells marked beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core.compress import compress_rows, with_cells_once
from compactlearn.core.devices import DeviceArray, host, labels_on_host, library_of
from compactlearn.core.validation import (
    Targets,
    UnknownLabelsError,
    check_partial_targets,
    check_targets,
)


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


def require_known(targets: Targets, weights: NDArray[np.float64] | None = None) -> Targets:
    """Refuse labels of which a column, or a row that counts, is unknown altogether."""
    unknown = targets.unknown
    if unknown is None:
        return targets
    places = np.arange(unknown.shape[0]) if weights is None else np.flatnonzero(weights)
    unknown = unknown[places]
    n_rows, n_labels = unknown.shape
    of_label = np.bincount(unknown.indices, minlength=n_labels)
    if (of_label == n_rows).any():
        label = int(np.argmax(of_label))
        name = "" if targets.names is None else f" ({targets.names[label]!r})"
        raise ValueError(
            f"Every label needs a row in which it is known, and label {label}{name} is unknown in "
            f"all {n_rows} rows; leave that column out."
        )
    of_row = np.diff(unknown.indptr)
    if (of_row == n_labels).any():
        row = int(places[np.argmax(of_row)])
        count = int(np.sum(of_row == n_labels))
        raise ValueError(
            f"Every row needs a label that is known, and of row {row} all {n_labels} are unknown "
            f"({count} such rows in all); leave out rows whose labels are all unknown."
        )
    return targets


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
