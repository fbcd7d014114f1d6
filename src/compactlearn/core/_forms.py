"""Sentences for data in forms that cannot be read as they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sized
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._chunked import refuse_dask
from compactlearn.core._plain import plain

_NUMERIC = "biuf"  # kinds of NumPy's types


def refuse_unread(data: Any, name: str) -> None:
    """Refuse what NumPy would read, but not as it was meant; ``name`` is what the user calls it."""
    refuse_dask(data, name)
    kind = type(data)
    if kind.__name__ == "LazyFrame" and kind.__module__.partition(".")[0] == "polars":
        raise TypeError(
            f"{name} must hold data in memory, and is a polars LazyFrame, a query that has not "
            f"been run; pass {name}.collect()."
        )
    if isinstance(data, np.ma.MaskedArray) and np.ma.is_masked(data):
        raise ValueError(
            f"{name} must have a value in every cell, and is a masked array with "
            f"{int(np.ma.count_masked(data))} masked cells; fill them, for example with "
            f"{name}.filled(0), or drop their rows. Where masked labels are unknown, "
            f"CMLLClassifier and metrics take {name}.astype(float).filled(numpy.nan)."
        )


# ---- features -----------------------------------------------------------------------------------


def why_not_numbers(X: Any) -> str | None:
    """Return the sentence for an X that no numbers can be made of, or None."""
    if scipy.sparse.issparse(X):
        return None
    reason = None if hasattr(X, "shape") else _why_no_matrix(X)
    if reason is None:
        found = next(_not_numbers(X), None)
        reason = None if found is None else _why_no_number(plain(found[0]), found[1], X)
    return None if reason is None else f"X must hold numbers, one row per sample, and {reason}"


def _why_no_matrix(X: Any) -> str | None:
    kind = type(X).__name__
    for features, labels in (("X", "Y"), ("data", "target")):
        if hasattr(X, features) and hasattr(X, labels):
            return f"is a whole {kind}; pass its two parts: fit(data.{features}, data.{labels})."
    if isinstance(X, Mapping):
        return f"is a {kind}; if its values are columns, pass pandas.DataFrame(X)."
    if isinstance(X, str | bytes | PathLike):
        return (
            f"is the text {X!r:.60}; read a file first: data = compactlearn.datasets.read(path, "
            "labels=...), then fit(data.X, data.Y)."
        )
    if isinstance(X, Iterable) and not isinstance(X, Sized):
        return f"is a {kind}, which can be read only once; pass numpy.array(list(X))."
    return None


def _why_no_number(value: Any, where: str, X: Any) -> str | None:
    if isinstance(value, Mapping):
        remedy = "make columns of dictionaries with sklearn.feature_extraction.DictVectorizer."
    elif not isinstance(value, str | bytes):
        return None
    elif len(getattr(X, "columns", ())) > 1:
        remedy = (
            "encode that column with sklearn.preprocessing.OneHotEncoder (compactlearn fit "
            "--categories in the shell) or TfidfVectorizer, or drop it."
        )
    else:
        remedy = (
            "turn texts into numbers with X = TfidfVectorizer().fit_transform(texts), from "
            "sklearn.feature_extraction.text, and new ones with that vectorizer's transform "
            "(compactlearn.text_classifier does both), and categories with "
            "sklearn.preprocessing.OneHotEncoder."
        )
    return f"has {value!r:.40}{where}; {remedy}"


def _not_numbers(X: Any) -> Iterator[tuple[Any, str]]:
    """Yield values that are no numbers, and where they are."""
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


def refuse_gaps(y: Any) -> None:
    """Raise ValueError if a class in a list or an object vector is missing or is a collection.

    NumPy would convert a NaN in a list of strings to the string "nan", which would become a class.
    """
    if not isinstance(y, list | tuple) and y.dtype.kind != "O":
        return
    for row, value in enumerate(y):
        if isinstance(value, Iterable) and not isinstance(value, str | bytes):
            raise ValueError(not_an_array(value))
        if value is None or type(value).__name__ == "NAType" or value != value:
            raise ValueError(
                f"A vector y must hold one class for each row, and has {value!r} in row {row}; "
                "drop the rows without a class, or give them one of their own."
            )


def named_labels(Y: NDArray[Any]) -> str:
    """Return the sentence for a matrix of words."""
    value = next((cell for cell in Y.ravel() if not _is_number(cell)), Y.ravel()[0])
    return (
        f"Labels must be 0 or 1, and Y has entries such as {plain(value)!r:.40}; if its rows are "
        "lists of names, pass them as such, Y.tolist(), and if not, make every label 0 or 1, for "
        "example by Y == 'yes'."
    )


def not_an_array(Y: Any) -> str:
    """Return the sentence for labels that are no array, or rows of different lengths."""
    return (
        "Labels must be lists of names, a 0/1 matrix with one row per sample or a vector of "
        f"classes; got a {type(Y).__name__} that is none of these. Pass a list, an array, a frame "
        "or a sparse matrix, with the names of labels as strings."
    )


def continuous_labels(y: NDArray[Any], kind: str) -> str:
    """Return the sentence for numbers that are no classes, ``kind`` in scikit-learn's word."""
    value = y[y != np.round(y)][0]
    return (
        f"Unknown label type: {kind}. A vector y must hold one class for each row, as whole "
        f"numbers or words, and holds {value:g}; for a regression use a regressor, and to make "
        "classes of numbers cut them, for example with numpy.digitize."
    )
