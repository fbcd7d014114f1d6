"""Data in forms that cannot be read as they are, and the sentence that says what to do.

The checks of ``validation.py`` come here for what a new user is likely to have in hand: texts,
sets of names, a query that has not been run, a masked array, features and labels the wrong way
round. None of this costs anything while the data are as they should be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sized
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._chunked import refuse_dask

_NUMERIC = "biuf"  # kinds of NumPy's types
_FILL = {
    "Y_true": (
        "fill them; where masked means unknown, metrics take "
        "Y_true.astype(float).filled(numpy.nan)."
    ),
    "Y": (
        "fill them, for example with Y.filled(0), or drop their rows; where masked means unknown, "
        "CMLLClassifier takes Y.astype(float).filled(numpy.nan)."
    ),
}


def refuse_unread(data: Any, name: str) -> None:
    """Refuse what NumPy would read, but not as it was meant; ``name`` is what the user calls it."""
    refuse_dask(data, name)
    if is_lazy(data):
        raise TypeError(
            f"{name} must hold data in memory, and is a polars LazyFrame, a query that has not "
            f"been run; pass {name}.collect()."
        )
    if isinstance(data, np.ma.MaskedArray) and np.ma.is_masked(data):
        fill = f"fill them, for example with {name}.filled(0), or drop their rows."
        raise ValueError(
            f"{name} must have a value in every cell, and is a masked array with "
            f"{int(np.ma.count_masked(data))} masked cells, whose hidden values would be taken "
            f"for true ones; {_FILL.get(name, fill)}"
        )


def is_lazy(data: Any) -> bool:
    """Whether ``data`` is a polars LazyFrame; polars itself need not be there."""
    kind = type(data)
    return kind.__name__ == "LazyFrame" and kind.__module__.split(".")[0] == "polars"


# ---- features -----------------------------------------------------------------------------------


def why_not_numbers(X: Any) -> str | None:
    """The sentence for an X that no numbers can be made of, or None where that is not the fault."""
    if scipy.sparse.issparse(X):
        return None
    if not hasattr(X, "shape"):
        for features, labels in (("X", "Y"), ("data", "target")):
            if hasattr(X, features) and hasattr(X, labels):
                return (
                    f"X must be a matrix of features, and is a whole {type(X).__name__} with "
                    f"labels; pass its two parts: fit(data.{features}, data.{labels})."
                )
        if isinstance(X, Mapping):
            return (
                f"X must be a matrix of features, and is a {type(X).__name__}; if its values are "
                "columns, pass pandas.DataFrame(X)."
            )
        if isinstance(X, str | bytes | PathLike):
            return (
                f"X must be a matrix of features, and is the text {X!r:.60}; if that is a file, "
                "read it first: data = compactlearn.datasets.read(path, labels=...), then "
                "fit(data.X, data.Y)."
            )
        if isinstance(X, Iterable) and not isinstance(X, Sized):
            return (
                f"X must be a matrix of features, and is a {type(X).__name__}, which can be read "
                "only once; pass numpy.array(list(X)), or large data in blocks to partial_fit."
            )
    found = next(_not_numbers(X), None)
    if found is None:
        return None
    value, where = _plain(found[0]), found[1]
    if isinstance(value, Mapping):
        return (
            f"X must hold numbers, and has {value!r:.40}{where}; make columns of dictionaries "
            "with sklearn.feature_extraction.DictVectorizer."
        )
    if not isinstance(value, str | bytes):
        return None
    columns = getattr(X, "columns", None)
    if columns is not None and len(columns) > 1:
        remedy = (
            "encode that column as numbers, categories with sklearn.preprocessing.OneHotEncoder "
            "(compactlearn fit --categories in the shell) and texts with "
            "sklearn.feature_extraction.text.TfidfVectorizer, or drop it."
        )
    else:
        remedy = (
            "turn texts into numbers first, for example with "
            "X = TfidfVectorizer().fit_transform(texts), from sklearn.feature_extraction.text, "
            "where texts is a list of strings, one for each row; for new rows use that "
            "vectorizer's transform (compactlearn.text_classifier does both). For categories use "
            "sklearn.preprocessing.OneHotEncoder (compactlearn fit --categories in the shell)."
        )
    return f"X must hold numbers, and has the text {value!r:.40}{where}; {remedy}"


def _not_numbers(X: Any) -> Iterator[tuple[Any, str]]:
    """Values that are no numbers, and where they are."""
    columns = getattr(X, "columns", None)
    if columns is not None and len(np.shape(X)) == 2:
        for name in columns:
            column = np.asarray(X[name])
            for value in () if column.dtype.kind in _NUMERIC else column:
                if not _is_number(value):
                    yield value, f" in column {name!r}"
    elif isinstance(X, Iterable) and getattr(getattr(X, "dtype", None), "kind", "O") in "OSUT":
        for row, entry in enumerate(X):
            for value in _entries(entry):
                if not _is_number(value):
                    yield value, f" in row {row}"


def _plain(value: Any) -> Any:
    """The value without NumPy's wrapping, which would show in its repr."""
    return value.item() if isinstance(value, np.generic) else value


def _entries(row: Any) -> Iterable[Any]:
    nested = isinstance(row, Iterable) and not isinstance(row, str | bytes | Mapping)
    return row if nested else (row,)


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


# ---- labels -------------------------------------------------------------------------------------


def refuse_collections(Y: NDArray[Any]) -> None:
    """Refuse a vector whose entries are collections that no names can be read from."""
    if Y.dtype.kind != "O":
        return
    entry = next((entry for entry in Y if _is_collection(entry)), None)
    if entry is not None:
        raise ValueError(
            f"Labels must be lists of names, a 0/1 matrix or a vector of classes, and rows of Y "
            f"are of the type {type(entry).__name__}; pass a list of names for each row."
        )


def refuse_gaps(y: Any) -> None:
    """Refuse a list or vector of objects in which a class is None, NaN or missing for pandas.

    Beside words in a list NumPy would make the word "nan" of it, and a class of that.
    """
    if not isinstance(y, list | tuple) and y.dtype.kind != "O":
        return
    for row, value in enumerate(y):
        if value is None or type(value).__name__ == "NAType" or value != value:
            raise ValueError(
                f"A vector y must hold one class for each row, and has {value!r} in row {row}; "
                "drop the rows without a class, or give them one of their own."
            )


def _is_collection(entry: Any) -> bool:
    return isinstance(entry, Iterable) and not isinstance(entry, str | bytes)


def ragged_labels() -> str:
    """The sentence for rows of different lengths that hold no names."""
    return (
        "Labels must be lists of names, a 0/1 matrix or a vector of classes, and were given as "
        "rows of different lengths that hold something else than names; complete the matrix, or "
        "write the names of labels as strings."
    )


def named_labels(Y: NDArray[Any]) -> str:
    """The sentence for a matrix of words."""
    value = next((cell for cell in Y.ravel() if not _is_number(cell)), Y.ravel()[0])
    return (
        f"Labels must be 0 or 1, and Y has entries such as {_plain(value)!r:.40}; if its rows are "
        "lists of names, pass them as such, Y.tolist(), and if not, make every label 0 or 1, for "
        "example by Y == 'yes'."
    )


def why_swapped(X: Any, Y: Any) -> str | None:
    """The sentence for features and labels the wrong way round, or None if they do not look it.

    X then has what labels have, nothing but 0 and 1, and Y has not. Labels of -1 and +1, or with a
    third value here and there, are other mistakes.
    """
    features = _values(X)
    if not features.size or not np.isin(features, (0, 1)).all():
        return None
    others = np.setdiff1d(_values(Y), (-1, 0, 1))
    if others.size < 3:
        return None
    return (
        f"Labels must be 0 or 1, and what was given as labels holds numbers such as "
        f"{others[0]:g}, while what was given as features holds nothing but 0 and 1; if the two "
        "are swapped, pass them the other way round, X first and Y second; if not, make every "
        "label 0 or 1."
    )


def _values(data: Any) -> NDArray[Any]:
    """The distinct numbers in a matrix; none where it holds something else."""
    try:
        values = np.asarray(data.data if scipy.sparse.issparse(data) else data, dtype=np.float64)
    except (TypeError, ValueError):
        return np.empty(0)
    return np.unique(values)


def not_an_array(Y: Any) -> str:
    """The sentence for labels that are no array at all."""
    return (
        f"Labels must be lists of names, a 0/1 matrix with one row per sample or a vector of "
        f"classes, and are a {type(Y).__name__}; pass a list, an array, a frame or a sparse matrix."
    )


def continuous_labels(y: NDArray[Any], kind: str) -> str:
    """The sentence for a vector of numbers that are no classes, ``kind`` in scikit-learn's word."""
    value = y[y != np.round(y)][0]
    return (
        f"Unknown label type: {kind}. A vector y must hold one class for each row, as whole "
        f"numbers or words, and holds {value:g}; for a regression use a regressor, and to make "
        "classes of numbers cut them, for example with numpy.digitize."
    )
