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
from compactlearn.core._devices import dispatches, labels_on_host, library_of, refuse_without_switch
from compactlearn.core._forms import (
    continuous_labels,
    named_labels,
    not_an_array,
    ragged_labels,
    refuse_collections,
    refuse_gaps,
    refuse_unread,
    why_swapped,
)
from compactlearn.core._joined import find_joined
from compactlearn.core._labels_by_name import names_in_order, read_labels_by_name
from compactlearn.core._warn import warn_user


@dataclass(frozen=True)
class Targets:
    """Labels in the one form the numerics use, and how to speak of them afterwards."""

    matrix: Any  # csr_array (N, M) of float64 ones
    classes: NDArray[Any]
    kind: str  # "multilabel", "binary" or "multiclass"
    names: list[str] | None  # where Y was a frame or held names
    dtype: np.dtype[Any]  # of the labels that predict returns
    by_name: bool = False  # Y held names, and classes are these
    unknown: Any = None  # csr_array (N, M) with a one for each label that is not known, or None

    @property
    def vector_classes(self) -> NDArray[Any] | None:
        """The classes where the labels came as a vector, to read another one by."""
        return None if self.kind == "multilabel" else self.classes

    @property
    def n_labels(self) -> int:
        """How many columns the matrix has."""
        return self.matrix.shape[1]

    def take(self, rows: Any) -> Targets:
        """The same labels at some of the rows."""
        unknown = None if self.unknown is None else self.unknown[rows]
        return replace(self, matrix=self.matrix[rows], unknown=unknown)

    @property
    def truth(self) -> Any:
        """What metrics take: the matrix, with NaN where a label is not known."""
        if self.unknown is None:
            return self.matrix
        unknown = self.unknown.copy()
        unknown.data[:] = np.nan
        return scipy.sparse.csr_array(self.matrix + unknown)


def take_rows(X: Any, rows: Any) -> Any:
    """Some rows of anything array-like, framed or sparse, in its own kind."""
    return X.take(rows) if isinstance(X, Targets) else _safe_indexing(X, rows)


class UnknownLabelsError(ValueError):
    """Labels contain NaN where all have to be known."""


def check_targets(
    Y: Any,
    n_rows: int,
    *,
    classes: Any = None,
    names: Sequence[str] | None = None,
    sep: Any = None,
    owner: str = "fit",
    features: Any = None,
) -> Targets:
    """Check labels given as a matrix, a frame, a vector of classes, or by name.

    ``sep`` is what joins the names of a row, ``names`` those of an earlier fit (see
    :func:`compactlearn.core._labels_by_name.read_labels_by_name`). Where ``features`` are given,
    labels that fail are also judged as features, and these as labels: the two are easily swapped.
    Labels that have been read before, :class:`Targets`, are taken as they are.

    >>> check_targets([[0, 1], [1, 1]], 2).matrix.toarray()
    array([[0., 1.],
           [1., 1.]])
    >>> check_targets(["b", "a", "b"], 3).classes
    array(['a', 'b'], dtype='<U1')
    >>> check_targets([["b", "a"], []], 2).classes
    array(['a', 'b'], dtype='<U1')
    """
    if isinstance(Y, Targets):
        _check_rows(Y.matrix.shape[0], n_rows)
        return Y
    if Y is None:
        raise ValueError(
            f"{owner} requires y to be passed, but the target y is None; pass the labels as lists "
            "of names, as a 0/1 matrix with one row per sample, or as a vector of classes."
        )
    if library_of(Y) is not None:
        refuse_without_switch(Y, "Y")
        Y = labels_on_host(Y) if dispatches() else Y
    refuse_unread(Y, "Y")
    try:
        named = targets_by_name(Y, n_rows, classes, names, sep, owner)
        return _read_targets(Y, n_rows, classes) if named is None else named
    except UnknownLabelsError:
        raise
    except ValueError as error:
        reason = None if features is None else why_swapped(features, Y)
        if reason is None:
            raise
        raise ValueError(reason) from error


def targets_by_name(
    Y: Any, n_rows: int, classes: Any, names: Sequence[str] | None, sep: Any, owner: str
) -> Targets | None:
    """Return labels that are given by name; None for all others."""
    if names is None and classes is not None:
        names = names_in_order(classes)
    found = read_labels_by_name(Y, sep=sep, known=names, owner=owner)
    if found is None:
        return None
    _check_rows(found.matrix.shape[0], n_rows)
    known = np.array(found.names)
    return Targets(found.matrix, known, "multilabel", found.names, np.dtype(np.int64), by_name=True)


def _read_targets(Y: Any, n_rows: int, classes: Any) -> Targets:
    names = column_names(Y)
    if scipy.sparse.issparse(Y):
        matrix, dtype = _check_sparse(Y), Y.dtype
    else:
        if np.ndim(given := label_array(Y)) == 0:
            raise ValueError(not_an_array(Y))
        if isinstance(Y, list | tuple) and given.ndim == 1:
            refuse_gaps(Y)
        Y = given
        if Y.ndim == 2 and Y.shape[1] == 1:
            warn_user(
                "A column-vector y was passed when a 1d array was expected; it is treated as one "
                "class per row. Pass y.ravel(), or a sparse (N, 1) matrix to mean a single label.",
                DataConversionWarning,
            )
            Y = Y.ravel()
        if Y.ndim == 1:
            _check_rows(Y.shape[0], n_rows)
            return _check_vector(Y, classes)
        if Y.ndim != 2:
            raise ValueError(
                f"Labels must be a matrix with one row per sample or a vector of classes, and "
                f"have {Y.ndim} dimensions with shape {Y.shape}; reshape them."
            )
        matrix, dtype = _check_dense(Y), Y.dtype
    _check_rows(matrix.shape[0], n_rows, matrix.shape[1])
    n_labels = matrix.shape[1]
    if n_labels == 0:
        raise ValueError("Y has no columns; it needs at least one label. Pass a 0/1 matrix.")
    if classes is not None and len(classes) != n_labels:
        raise ValueError(
            f"classes names {len(classes)} labels, but Y has {n_labels} columns; for a label "
            "matrix leave classes out or pass one entry per column."
        )
    return Targets(
        matrix,
        np.arange(n_labels),
        "multilabel",
        names,
        dtype if dtype.kind in "iu" else np.dtype(np.int64),
    )


def label_array(Y: Any) -> NDArray[Any]:
    """Return labels as an array; rows of different lengths are refused."""
    try:
        return np.asarray(Y)
    except ValueError as error:  # rows of different lengths: sets of labels
        raise ValueError(ragged_labels()) from error


def column_names(Y: Any) -> list[str] | None:
    """Return the names of the columns of a frame, None for all else."""
    columns = getattr(Y, "columns", None)
    if columns is None or len(np.shape(Y)) != 2:
        return None
    return [str(name) for name in columns]


def _check_rows(given: int, expected: int, n_columns: int | None = None) -> None:
    if given != expected:
        remedy = "pass the labels of exactly the rows of X."
        if n_columns == expected:
            remedy = f"Y has {n_columns} columns: if it lies on its side, pass Y.T."
        raise ValueError(
            f"X and Y must have as many rows as each other, and have {expected} and {given} "
            f"(inconsistent numbers of samples); {remedy}"
        )


def _check_sparse(Y: Any) -> Any:
    Y = with_cells_once(scipy.sparse.csr_array(Y, copy=False))
    data = Y.data.astype(np.float64)
    _refuse_other_values(data[data != 0])
    matrix = scipy.sparse.csr_array((data, Y.indices, Y.indptr), shape=Y.shape)
    if data.size and not data.all():
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    return matrix


def _check_dense(Y: NDArray[Any]) -> Any:
    if Y.dtype.kind not in "biuf":
        try:
            Y = Y.astype(np.float64)
        except (TypeError, ValueError) as error:
            if any(type(value).__name__ == "NAType" for value in Y.ravel()):
                _refuse_other_values(np.array([np.nan]))
            raise ValueError(named_labels(Y)) from error
    return compress_rows(Y, check=_refuse_other_values)


def _refuse_other_values(values: NDArray[Any]) -> None:
    good = values == 1
    if good.all():
        return
    value = values[~good][0]
    if np.isnan(value):
        raise UnknownLabelsError(
            "Every label must be 0 or 1, and Y contains NaN, which would mean an unknown label; "
            "fill the unknown labels, drop their rows, or use CompactClassifier or CMLLClassifier, "
            "whose fit accepts them."
        )
    if np.isinf(value):
        raise ValueError("Y contains infinity; every label must be 0 or 1. Repair those entries.")
    raise ValueError(
        f"Every label must be 0 or 1, and Y contains {value}; for -1/+1 labels pass Y > 0, where "
        "rows are lists of label numbers pass sets, [set(row) for row in Y], and for several "
        "classes per column binarise them first."
    )


def _check_vector(y: NDArray[Any], classes: Any) -> Targets:
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError(
            "Input y contains NaN or infinity; every row needs a class. Drop those rows."
        )
    if y.dtype.kind == "c":
        raise ValueError("Complex data not supported in y; pass the classes as plain values.")
    refuse_collections(y)
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
            f"{joined.remedy()}."
        )
