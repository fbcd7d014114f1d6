"""Labels in every accepted form, read into one: a CSR matrix of ones.

Reading a dense Y once gives both the check (is every non-zero entry a 1?) and the compressed form;
scikit-learn's ``type_of_target`` alone would cost more than many fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from compactlearn.core._compress import compress_rows, with_cells_once
from compactlearn.core._devices import (
    DeviceArray,
    dispatches,
    host,
    labels_on_host,
    library_of,
    refuse_without_switch,
)
from compactlearn.core._forms import (
    continuous_labels,
    named_labels,
    not_an_array,
    refuse_gaps,
    refuse_unread,
)
from compactlearn.core._joined import find_joined
from compactlearn.core._labels_by_name import names_in_order, read_labels_by_name
from compactlearn.core._warn import warn_user


@dataclass(frozen=True)
class Targets:
    """Labels as a matrix, with the classes and names that predictions are reported by."""

    matrix: Any  # csr_array (N, M) of float64 ones
    classes: NDArray[Any]
    kind: str  # "multilabel", "binary" or "multiclass"
    names: list[str] | None  # where Y was a frame or had label names
    dtype: np.dtype[Any]  # of the labels that predict returns
    by_name: bool = False  # Y had label names, which are the classes
    unknown: Any = None  # csr_array (N, M) with a one for each label that is not known, or None

    @property
    def vector_classes(self) -> NDArray[Any] | None:
        """The classes if the labels were given as a vector, and None otherwise."""
        return None if self.kind == "multilabel" else self.classes

    @property
    def n_labels(self) -> int:
        """The number of labels."""
        return self.matrix.shape[1]

    def take(self, rows: Any) -> Targets:
        """Return the labels of some of the rows."""
        unknown = None if self.unknown is None else self.unknown[rows]
        return replace(self, matrix=self.matrix[rows], unknown=unknown)

    @property
    def truth(self) -> Any:
        """The label matrix for metrics, with NaN for each unknown label."""
        if self.unknown is None:
            return self.matrix
        unknown = self.unknown.copy()
        unknown.data[:] = np.nan
        return scipy.sparse.csr_array(self.matrix + unknown)


def take_rows(X: Any, rows: Any) -> Any:
    """Some rows of anything array-like, framed or sparse, in its own kind."""
    return X.take(rows) if isinstance(X, Targets) else _safe_indexing(X, rows)


def check_targets(
    Y: Any,
    n_rows: int,
    *,
    classes: Any = None,
    names: Sequence[str] | None = None,
    sep: Any = None,
    owner: str = "fit",
) -> Targets:
    """Check labels, all of them known, given as a matrix, a frame, a vector of classes, or by name.

    ``sep`` is what joins the names of a row, ``names`` those of an earlier fit (see
    :func:`compactlearn.core._labels_by_name.read_labels_by_name`).
    Labels that have been read before, :class:`Targets`, are taken as they are.

    >>> check_targets([[0, 1], [1, 1]], 2).matrix.toarray()
    array([[0., 1.],
           [1., 1.]])
    >>> check_targets(["b", "a", "b"], 3).classes
    array(['a', 'b'], dtype='<U1')
    >>> check_targets([["b", "a"], []], 2).classes
    array(['a', 'b'], dtype='<U1')
    """
    targets = _read(Y, n_rows, None, classes, names, sep, owner)
    if targets is not Y and targets.unknown is not None:
        raise ValueError(
            "Every label must be 0 or 1, and Y contains NaN, which would mean an unknown label; "
            "fill the unknown labels, drop their rows, or use CompactClassifier or CMLLClassifier, "
            "whose fit accepts them."
        )
    return targets


def check_labels(
    Y: Any,
    n_rows: int,
    *,
    unknown: Any = None,
    sep: Any = None,
    owner: str = "fit",
    features: Any = None,
) -> Targets:
    """Check labels as :func:`check_targets` does, of which some may be unknown.

    Unknown are those that are NaN in a matrix, and those that ``unknown`` marks.

    >>> targets = check_labels([[0.0, 1.0], [np.nan, 1.0]], 2)
    >>> targets.matrix.toarray(), targets.unknown.toarray()
    (array([[0., 1.],
           [0., 1.]]), array([[0., 0.],
           [1., 0.]]))
    """
    targets = _read(Y, n_rows, unknown, None, None, sep, owner)
    if targets.unknown is not None and isinstance(features, DeviceArray):
        raise ValueError(
            f"{owner} takes unknown labels with NumPy and SciPy arrays alone, and X is on a "
            "device; bring X to the host, or fill the unknown labels."
        )
    return targets


def _read(
    Y: Any, n_rows: int, unknown: Any, classes: Any, names: Any, sep: Any, owner: str
) -> Targets:
    if Y is None:
        raise ValueError(
            f"{owner} requires y to be passed, but the target y is None; pass the labels as lists "
            "of names, as a 0/1 matrix with one row per sample, or as a vector of classes."
        )
    if library_of(Y) is not None:
        refuse_without_switch(Y, "Y")
        Y = labels_on_host(Y) if dispatches() else Y
    refuse_unread(Y, "Y")
    targets = Y if isinstance(Y, Targets) else _by_name(Y, classes, names, sep, owner)
    if targets is None:
        targets = _read_array(Y, n_rows, classes, unknown)
    _check_rows(targets.matrix.shape[0], n_rows, targets.matrix.shape[1])
    if unknown is None or targets.kind != "multilabel" or not (targets is Y or targets.by_name):
        return targets
    matrix, marks = _split(targets.matrix, read_unknown(unknown, targets.matrix.shape))
    return replace(targets, matrix=matrix, unknown=marks)


def _by_name(Y: Any, classes: Any, names: Any, sep: Any, owner: str) -> Targets | None:
    """Return labels that are given by name; None for all others."""
    if names is None and classes is not None:
        names = names_in_order(classes)
    found = read_labels_by_name(Y, sep=sep, known=names, owner=owner)
    if found is None:
        return None
    known = np.array(found.names)
    return Targets(found.matrix, known, "multilabel", found.names, np.dtype(np.int64), by_name=True)


def _read_array(Y: Any, n_rows: int, classes: Any, unknown: Any) -> Targets:
    """Return a matrix of labels, or a vector of classes."""
    names, given = column_names(Y), Y
    if not scipy.sparse.issparse(Y):
        given = _array(Y)
        if isinstance(Y, list | tuple) and given.ndim == 1:
            refuse_gaps(Y)
        if given.ndim == 2 and given.shape[1] == 1:
            warn_user(
                "A column-vector y was passed when a 1d array was expected; it is treated as one "
                "class per row. Pass y.ravel(), or a sparse (N, 1) matrix to mean a single label.",
                DataConversionWarning,
            )
            given = given.ravel()
        if given.ndim == 1 and unknown is not None:
            raise ValueError(
                "unknown says which labels of a matrix are unknown, and y is a vector of classes; "
                "leave out the rows whose class is unknown, or pass a sparse (N, 1) matrix to mean "
                "a single label."
            )
        if given.ndim == 1:
            _check_rows(given.shape[0], n_rows)
            return _check_vector(given, classes)
    if given.ndim == 2 and given.shape[1] == 0:
        raise ValueError("Y has no columns; it needs at least one label.")
    if given.ndim != 2:
        raise ValueError(
            "Labels must be a 0/1 matrix with one row per sample and one column per label, lists "
            f"of names, or a vector of classes; got an array of shape {given.shape}. Reshape it."
        )
    if classes is not None and len(classes) != given.shape[1]:
        raise ValueError(
            f"classes names {len(classes)} labels, but Y has {given.shape[1]} columns; for a label "
            "matrix leave classes out or pass one entry per column."
        )
    rows = with_cells_once(given.tocsr()) if scipy.sparse.issparse(given) else _compressed(given)
    matrix, marks = _split(rows, None if unknown is None else read_unknown(unknown, rows.shape))
    dtype = given.dtype if given.dtype.kind in "iu" else np.dtype(np.int64)
    named = None if names is None else list(names)
    return Targets(matrix, np.arange(matrix.shape[1]), "multilabel", named, dtype, unknown=marks)


def _array(Y: Any) -> NDArray[Any]:
    """Return labels as an array; raise ValueError where they are none."""
    try:
        found = np.asarray(Y)
    except ValueError as error:  # rows of different lengths that hold no names
        raise ValueError(not_an_array(Y)) from error
    if found.ndim == 0:
        raise ValueError(not_an_array(Y))
    return found


def column_names(matrix: Any) -> tuple[str, ...] | None:
    """Return the names of the columns of a frame, None for all else."""
    columns = getattr(matrix, "columns", None)
    return None if columns is None or np.ndim(matrix) != 2 else tuple(map(str, columns))


def _check_rows(given: int, expected: int, n_columns: int | None = None) -> None:
    if given != expected:
        remedy = "pass the labels of exactly the rows of X."
        if n_columns == expected:
            remedy = f"Y has {n_columns} columns: if it lies on its side, pass Y.T."
        raise ValueError(
            f"X and Y must have as many rows as each other, and have {expected} and {given} "
            f"(inconsistent numbers of samples); {remedy}"
        )


def _compressed(Y: NDArray[Any]) -> Any:
    """Return a dense matrix as CSR, in which a missing value of pandas is NaN."""
    if Y.dtype.kind not in "biuf":
        missing = [[type(value).__name__ == "NAType" for value in row] for row in Y]
        try:
            Y = np.where(missing, np.nan, Y).astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(named_labels(Y)) from error
    return compress_rows(Y)


def _split(rows: Any, hidden: Any) -> tuple[Any, Any]:
    """Return the present labels of a CSR matrix, and the unknown ones: NaN or ``hidden``."""
    data = rows.data.astype(np.float64)
    Y = scipy.sparse.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)
    if hidden is not None:  # whatever is written there
        Y = scipy.sparse.csr_array(Y - Y.multiply(hidden))
    gaps = np.isnan(Y.data)
    _refuse_other_values(Y.data[(Y.data != 0) & ~gaps])
    unknown = hidden
    if gaps.any():
        unknown = _cells(Y, gaps)
        unknown = unknown if hidden is None else scipy.sparse.csr_array(unknown.maximum(hidden))
    present, marked = Y.data == 1, unknown is not None and unknown.nnz > 0
    return (Y if present.all() else _cells(Y, present)), unknown if marked else None


def _cells(matrix: Any, chosen: NDArray[np.bool_]) -> Any:
    """Return ones in place of some of the stored values, and nothing in place of the others."""
    before = np.concatenate([[0], np.cumsum(chosen)])
    indptr = before[matrix.indptr].astype(matrix.indptr.dtype)
    return scipy.sparse.csr_array(
        (np.ones(indptr[-1]), matrix.indices[chosen], indptr), shape=matrix.shape
    )


def read_unknown(unknown: Any, shape: tuple[int, int]) -> Any:
    """Return a csr_array with a one for every cell that is marked."""
    if library_of(unknown) is not None:
        unknown = host(unknown)
    marks: Any = unknown if scipy.sparse.issparse(unknown) else np.asarray(unknown)
    stored: Any = marks.data if scipy.sparse.issparse(marks) else marks
    valid = marks.dtype.kind in "biuf" and np.isin(stored, (0, 1)).all()
    if marks.shape != shape or not valid:
        raise ValueError(
            f"unknown must be a Boolean matrix of the shape of Y, {shape}, True where a label is "
            f"not known; got shape {marks.shape} and type {marks.dtype}. Pass such a matrix."
        )
    cells = with_cells_once(marks.tocsr()) if scipy.sparse.issparse(marks) else compress_rows(marks)
    return _cells(cells, cells.data != 0)


def _refuse_other_values(values: NDArray[Any]) -> None:
    wrong = values[values != 1]
    if wrong.size:
        raise ValueError(
            f"Every label must be 0 or 1, and Y contains {wrong[0]:g}; for -1/+1 labels pass "
            "Y > 0, where rows are lists of label numbers pass sets, [set(row) for row in Y], "
            "for several classes per column binarise them first, and if features and labels are "
            "swapped pass X first."
        )


def _check_vector(y: NDArray[Any], classes: Any) -> Targets:
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError(
            "Input y contains NaN or infinity; every row needs a class. Drop those rows."
        )
    if y.dtype.kind == "c":
        raise ValueError("Complex data not supported in y; pass the classes as plain values.")
    refuse_gaps(y)
    kind = type_of_target(y)
    if "continuous" in kind:
        raise ValueError(continuous_labels(y, kind))
    check_classification_targets(y)
    known = np.unique(y) if classes is None else np.unique(np.asarray(classes))
    index = np.searchsorted(known, y)
    index[index == known.size] = 0
    if not (known[index] == y).all():
        stranger = y[known[index] != y].tolist()[0]
        raise ValueError(
            f"y contains the class {stranger!r}, which is not among the classes {known.tolist()}; "
            "name every class at the first call of partial_fit."
        )
    if known.size < 2:
        raise ValueError(
            f"A classifier needs at least 2 classes in y, and was given one class, "
            f"{known.tolist()}; add rows of another class, or name all classes by "
            "classes= at the first call of partial_fit."
        )
    if y.dtype.kind in "OSU":
        _warn_joined(known, np.bincount(index, minlength=known.size))
    n = y.shape[0]
    if known.size == 2:
        rows = np.flatnonzero(index == 1)
        matrix = scipy.sparse.csr_array(
            (np.ones(rows.size), (rows, np.zeros(rows.size, dtype=np.int32))), shape=(n, 1)
        )
        return Targets(matrix, known, "binary", None, known.dtype)
    matrix = scipy.sparse.csr_array(
        (np.ones(n), index.astype(np.int32), np.arange(n + 1, dtype=np.int32)),
        shape=(n, known.size),
    )
    return Targets(matrix, known, "multiclass", None, known.dtype)


def _warn_joined(classes: NDArray[Any], counts: NDArray[np.intp]) -> None:
    """Say so where class names look like several labels each."""
    names = classes.tolist()
    joined = find_joined(names, counts.tolist()) if all(isinstance(n, str) for n in names) else None
    if joined is not None:
        warn_user(
            f"A vector y is read as one class for each row, and {joined.n_rows} of its "
            f"{int(counts.sum())} values look like several labels joined by "
            f"{joined.separator!r}, such as {joined.example!r:.60}: every combination becomes a "
            f"class of its own, {classes.size} in all. If they are labels, say so: "
            f"fit(X, y, sep={joined.separator!r})."
        )
