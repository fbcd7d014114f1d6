"""Checks of X, Y and weights, and the one place that knows scikit-learn's validation.

Targets of every accepted form become one :class:`Targets`: a CSR matrix of ones. Reading a dense
Y once gives both the check (is every non-zero entry a 1?) and the compressed form; scikit-learn's
``type_of_target`` alone would cost more than many fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _num_samples, check_array, validate_data

from compactlearn.core._compress import compress_rows, with_cells_once
from compactlearn.core._device_features import (
    check_device_features,
    checked_before,
    require_same_place,
)
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
    ragged_labels,
    refuse_collections,
    refuse_gaps,
    refuse_unread,
    why_not_numbers,
    why_swapped,
)
from compactlearn.core._joined import find_joined
from compactlearn.core._labels_by_name import names_in_order, read_labels_by_name
from compactlearn.core._memory import require_memory
from compactlearn.core._warn import warn_user

Array = NDArray[np.float64]

SMALLEST_WEIGHT, LARGEST_WEIGHT = 1e-100, 1e100


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


class UnknownLabelsError(ValueError):
    """Labels contain NaN where all have to be known."""


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Give the estimator its attributes back if the block raises.

    Fitted attributes are replaced, never changed in place, so a shallow copy is enough.
    """
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def check_features(estimator: Any, X: Any, *, reset: bool) -> Any:
    """X as a float ndarray or CSR matrix, finite, with the columns the estimator knows."""
    if isinstance(X, DeviceArray):
        return checked_before(estimator, X, reset=reset)
    if library_of(X) is not None and dispatches():
        return check_device_features(estimator, X, reset=reset)
    refuse_without_switch(X, "X")
    require_same_place(estimator, X, reset=reset)
    if not reset and _known_already(estimator, X):
        _refuse_not_finite(X)
        return with_cells_once(X)
    refuse_unread(X, "X")
    try:
        X = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=(np.float64, np.float32),
            ensure_all_finite=False,
        )
    except (TypeError, ValueError) as error:
        advice = next((advice for sign, advice in _ADVICE.items() if sign in str(error)), None)
        if advice is not None:
            raise ValueError(f"{str(error).strip().rstrip('.')}; {advice}") from error
        if "Complex data" in str(error):
            raise ValueError(
                "Complex data not supported: X must hold real numbers, and its type is "
                f"{np.asarray(X).dtype}; pass X.real, or real and imaginary parts as columns."
            ) from error
        reason = why_not_numbers(X)
        if reason is None:
            raise
        if isinstance(error, TypeError):  # scikit-learn's contract asks for NumPy's own words
            raise TypeError(f"{str(error).rstrip('.')}: {reason}") from error
        raise ValueError(reason) from error
    _refuse_not_finite(X)
    # Squares and counts of cells would take one that is stored twice for two.
    return with_cells_once(X) if scipy.sparse.issparse(X) else X


def _known_already(estimator: Any, X: Any) -> bool:
    """Whether X is sparse rows that scikit-learn's checks would hand back as they are.

    For a single row these checks take longer than a prediction.
    """
    return (
        scipy.sparse.issparse(X)
        and X.format == "csr"
        and X.dtype in (np.float64, np.float32)
        and X.ndim == 2
        and X.shape[0] > 0
        and X.shape[1] == getattr(estimator, "n_features_in_", None)
        and not hasattr(estimator, "feature_names_in_")  # which X, without names, must be told of
    )


def n_rows_of(X: Any) -> int:
    """How many rows anything array-like, framed or sparse has."""
    refuse_unread(X, "X")
    return int(_num_samples(X))


def with_rows_to_take(X: Any) -> Any:
    """X, or where it is a sparse matrix that cannot be indexed, its rows in CSR."""
    return X if not scipy.sparse.issparse(X) or hasattr(X, "indptr") else X.tocsr()


def take_rows(X: Any, rows: Any) -> Any:
    """Some rows of anything array-like, framed or sparse, in its own kind."""
    return X.take(rows) if isinstance(X, Targets) else _safe_indexing(X, rows)


def check_mapped(X: Any, feature_map: Any) -> Any:
    """What a feature map returned: a frame becomes an array, and all must be finite."""
    X = check_array(X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False)
    try:
        _refuse_not_finite(X)
    except ValueError as error:
        raise ValueError(f"feature_map={feature_map!r} returned this: {error}") from error
    return with_cells_once(X) if scipy.sparse.issparse(X) else X


# What scikit-learn's messages leave out: what to do.
_ADVICE = {
    "dim <= 2 is required": "pass one row per sample and one column per feature.",
    "0 sample(s)": "pass at least one row.",
    "0 feature(s)": "pass at least one column.",
    "features as input": "pass the same columns as in fit, in the same order.",
    "feature names should match": "pass X[model.feature_names_in_].",
}


def _refuse_not_finite(X: Any) -> None:
    data = X.data if scipy.sparse.issparse(X) else X
    with np.errstate(all="ignore"):
        total = data.sum()  # one pass without a temporary; only an overflow needs a second look
    if np.isfinite(total) or np.isfinite(data).all():
        return
    first = int(np.flatnonzero(~np.isfinite(data))[0])
    if scipy.sparse.issparse(X):
        row = int(np.searchsorted(X.indptr, first, side="right")) - 1
        column = int(X.indices[first])
    else:
        row, column = divmod(first, X.shape[1])
    kind = "NaN" if np.isnan(data.ravel()[first]) else "infinity (inf)"
    raise ValueError(
        f"X must hold finite numbers only, and contains {kind}, first in row {row}, column "
        f"{column}; drop such rows or fill them, for example with sklearn.impute.SimpleImputer "
        "(compactlearn fit --categories auto in the shell)."
    )


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
    Y = _from_device(Y, "Y")
    refuse_unread(Y, "Y")
    try:
        named = _targets_by_name(Y, n_rows, classes, names, sep, owner)
        return _read_targets(Y, n_rows, classes) if named is None else named
    except UnknownLabelsError:
        raise
    except ValueError as error:
        reason = None if features is None else why_swapped(features, Y)
        if reason is None:
            raise
        raise ValueError(reason) from error


def _targets_by_name(
    Y: Any, n_rows: int, classes: Any, names: Sequence[str] | None, sep: Any, owner: str
) -> Targets | None:
    if names is None and classes is not None:
        names = names_in_order(classes)
    found = read_labels_by_name(Y, sep=sep, known=names, owner=owner)
    if found is None:
        return None
    _check_rows(found.matrix.shape[0], n_rows)
    known = np.array(found.names)
    return Targets(found.matrix, known, "multilabel", found.names, np.dtype(np.int64), by_name=True)


def _read_targets(Y: Any, n_rows: int, classes: Any) -> Targets:
    names = _column_names(Y)
    if scipy.sparse.issparse(Y):
        matrix, dtype = _check_sparse(Y), Y.dtype
    else:
        if np.ndim(given := _as_array(Y)) == 0:
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
    named = Y if isinstance(Y, Targets) else _targets_by_name(Y, n_rows, None, names, sep, owner)
    if named is not None:
        if mask is None and hide is None:
            return check_targets(named, n_rows), None
        known, unknown = check_partial_targets(
            named.matrix, n_rows, mask=mask, hide=hide, owner=owner
        )
        return replace(named, matrix=known.matrix), unknown
    own_names, labels = _column_names(Y), _with_nan(Y)
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
    array = _as_array(Y)
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


def check_weights(sample_weight: Any, n_rows: int) -> Array | None:
    """Row weights as finite non-negative numbers, not all zero; None stays None."""
    if sample_weight is None:
        return None
    sample_weight = _from_device(sample_weight, "sample_weight")
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"sample_weight must hold one number for each of the {n_rows} rows, and is "
            f"{sample_weight!r:.60}; pass a vector of numbers."
        ) from error
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must hold one number for each of the {n_rows} rows, and has shape "
            f"{weights.shape}; pass a vector of that length."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        bad = weights[~(np.isfinite(weights) & (weights >= 0))][0]
        raise ValueError(
            f"sample_weight must hold finite numbers >= 0, and contains {bad}; drop those rows or "
            "repair their weights."
        )
    if not weights.any():
        raise ValueError(
            "All sample_weight are zero, so no row would count; give at least one row a positive "
            "weight."
        )
    largest = float(weights.max())
    if not SMALLEST_WEIGHT <= largest <= LARGEST_WEIGHT:
        raise ValueError(
            f"The largest sample_weight must lie between {SMALLEST_WEIGHT:g} and "
            f"{LARGEST_WEIGHT:g}, so that squares of sums remain numbers, and is {largest:g}; "
            "divide all weights by it, and penalties with them."
        )
    return weights


def _from_device(given: Any, name: str) -> Any:
    """Labels or weights of another library as NumPy's or SciPy's: they follow X, and are checked on
    the host. Without the switch NumPy reads what it can."""
    if library_of(given) is None:
        return given
    refuse_without_switch(given, name)
    if not dispatches():
        return given
    return labels_on_host(given) if name == "Y" else host(given)


def _as_array(Y: Any) -> NDArray[Any]:
    try:
        return np.asarray(Y)
    except ValueError as error:  # rows of different lengths: sets of labels
        raise ValueError(ragged_labels()) from error


def _column_names(Y: Any) -> list[str] | None:
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
            "fill the unknown labels, drop their rows, or use CompactClassifier, CMLLClassifier or "
            "C2AEClassifier, whose fit accepts them."
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
