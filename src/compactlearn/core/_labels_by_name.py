"""Labels given by name: lists of names, or joined names in a column, become one sparse matrix.

``[["jazz", "blues"], [], ["jazz"]]`` has a row for each list and a column for each name, in sorted
order. Names are strings. Whole numbers are names where they cannot be anything else: in sets, and
in lists of different lengths that hold more than 0 and 1; lists of numbers that are equally long
are a matrix. Blank names are dropped, and a name counts once in a row.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse

_NO_COLLECTIONS = (str, bytes, Mapping, scipy.sparse.sparray, scipy.sparse.spmatrix)
_SHOWN = 5  # names in a message


@dataclass(frozen=True)
class NamedLabels:
    """A csr_array of ones, and the names of its columns."""

    matrix: Any
    names: list[str]


def read_labels_by_name(
    Y: Any, *, sep: Any = None, known: Sequence[str] | None = None, owner: str = "fit"
) -> NamedLabels | None:
    """Return labels by name as a matrix; None where Y is a matrix or a vector of classes.

    With ``sep`` Y must be a column of joined names. ``known`` holds the names of an earlier fit, in
    the order of their columns: others are refused, and so are all where it is empty, which means
    that the columns of that fit had no names.

    >>> found = read_labels_by_name([["jazz", "blues"], [], ["jazz"]])
    >>> found.names, found.matrix.toarray()
    (['blues', 'jazz'], array([[1., 1.],
           [0., 0.],
           [0., 1.]]))
    >>> read_labels_by_name(["jazz; blues", "", "jazz"], sep=";").names
    ['blues', 'jazz']
    >>> read_labels_by_name([[0, 1], [1, 1]])
    """
    rows = _rows_of_names(Y) if sep is None else _split(Y, sep, owner)
    if rows is None:
        return None
    if known is not None and not len(known):
        raise ValueError(
            f"{owner} was given labels by name, and the labels of fit were columns without names; "
            "pass a 0/1 matrix with the columns of fit, or fit with names."
        )
    place: dict[Any, int] = {}
    columns, starts = array("q"), array("q", [0])
    for number, row in enumerate(rows):
        if not _is_collection(row):
            raise ValueError(_no_collection(row, number))
        try:
            columns.extend(place.setdefault(name, len(place)) for name in row)
        except TypeError as error:  # a name that cannot be looked up: a list in a list
            raise ValueError(_no_name(list(row), number)) from error
        starts.append(len(columns))
    found = _checked_names(place, rows)
    names = list(known) if known is not None else names_in_order(found)
    if not names:
        raise ValueError(
            "The labels name no label at all: every row is empty; pass at least one row that has "
            "a label."
        )
    return NamedLabels(_matrix(columns, starts, _columns_of(place, names, owner), names), names)


def names_in_order(names: Iterable[Any]) -> list[str]:
    """Return different names in sorted order, whole numbers by their size, as strings.

    >>> names_in_order(["b", "a", "b"]), names_in_order([10, 9])
    (['a', 'b'], ['9', '10'])
    """
    return [str(name) for name in sorted(set(names))]


def _columns_of(place: Mapping[Any, int], names: Sequence[str], owner: str) -> Any:
    """Return the column of each name that was met, in the order of meeting; -1 for a blank one."""
    column = {name: k for k, name in enumerate(names)}
    if len(column) < len(names):
        raise ValueError(
            f"{owner} was given labels by name, and several columns of fit have the same name; "
            "pass a 0/1 matrix with the columns of fit."
        )
    strange = [str(name) for name in place if str(name) not in column and str(name).strip()]
    if strange:
        shown = ", ".join(map(repr, sorted(strange)[:_SHOWN]))
        more = f" and {len(strange) - _SHOWN} more" if len(strange) > _SHOWN else ""
        remedy = "leave these names out, or fit to rows that have them."
        if owner == "partial_fit":
            remedy = "name all labels by classes= at the first call of partial_fit."
        raise ValueError(
            f"{owner} knows the {len(names)} labels that fit had, and was given others: "
            f"{shown}{more}; {remedy}"
        )
    return np.array([column.get(str(name), -1) for name in place], dtype=np.int64)


def _matrix(columns: array[int], starts: array[int], place: Any, names: Sequence[str]) -> Any:
    n_rows = len(starts) - 1
    own = np.frombuffer(columns, dtype=np.int64) if len(columns) else np.empty(0, dtype=np.int64)
    indices = place[own] if own.size else own
    bounds = np.frombuffer(starts, dtype=np.int64)
    kept = indices >= 0
    if not kept.all():
        bounds = np.concatenate([[0], np.cumsum(kept)])[bounds]
        indices = indices[kept]
    if max(indices.size, len(names)) < 2**31:
        indices, bounds = indices.astype(np.int32), bounds.astype(np.int32)
    matrix = scipy.sparse.csr_array(
        (np.ones(indices.size), indices, bounds), shape=(n_rows, len(names))
    )
    matrix.sum_duplicates()  # sorts, too
    matrix.data[:] = 1.0  # a name counts once
    return matrix


def _checked_names(place: Mapping[Any, int], rows: Sequence[Any]) -> list[Any]:
    """Return the names that are not blank, all of them strings or all of them whole numbers."""
    texts = [name for name in place if isinstance(name, str)]
    numbers = [name for name in place if _is_whole(name)]
    wrong = [name for name in place if not isinstance(name, str) and not _is_whole(name)]
    if texts and numbers:
        wrong = numbers
    if wrong:
        row = next(k for k, row in enumerate(rows) if any(one is wrong[0] for one in row))
        raise ValueError(_no_name(wrong[0], row))
    return numbers or [text for text in texts if text.strip()]


def _no_name(value: Any, row: int) -> str:
    return (
        "The names of labels must be all strings or all whole numbers, in one flat list for each "
        f"row, and row {row} holds {value!r:.60}; leave it out, or write all names as strings."
    )


# ---- which form they have -----------------------------------------------------------------------


def _rows_of_names(Y: Any) -> Sequence[Any] | None:
    """Return the rows of Y where they are collections of names."""
    rows = _rows(Y)
    if rows is None or not len(rows):
        return None
    kinds = set(map(type, rows))
    if not any(_is_collection_type(kind) for kind in kinds):
        return None
    if any(issubclass(kind, set | frozenset) for kind in kinds):
        return rows
    if not all(_is_collection_type(kind) for kind in kinds):
        return rows  # a mixture, which reading refuses
    first = next(chain.from_iterable(rows), "")  # where all rows are empty they are lists of names
    if isinstance(first, str):
        return rows
    equally_long = len(set(map(len, rows))) == 1
    if equally_long and not any(isinstance(value, str) for value in rows[0]):
        return None
    whole = all(_is_whole(value) for value in chain.from_iterable(rows))
    if whole and any(value not in (0, 1) for value in chain.from_iterable(rows)):
        return rows
    return None


def _rows(Y: Any) -> Sequence[Any] | None:
    """Return Y as a sequence of its rows; None for matrices and what is no sequence."""
    if isinstance(Y, list | tuple):
        return Y
    if isinstance(Y, np.ndarray):
        return Y.tolist() if Y.ndim == 1 and Y.dtype.kind in "OUT" else None
    columns = getattr(Y, "columns", None)
    if columns is not None:
        if len(np.shape(Y)) != 2 or len(columns) != 1:
            return None
        Y = Y[columns[0]]
    if hasattr(Y, "to_list") and len(np.shape(Y)) == 1:  # pandas and polars
        return Y.to_list()
    return None


def _is_collection(row: Any) -> bool:
    return _is_collection_type(type(row)) and getattr(row, "ndim", 1) == 1


def _is_collection_type(kind: type) -> bool:
    many = issubclass(kind, Iterable) and issubclass(kind, Sized)
    return many and not issubclass(kind, _NO_COLLECTIONS)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.bool_)


def _no_collection(row: Any, number: int) -> str:
    """Return the sentence for a row that is no collection of names."""
    remedy = "pass a list of names there, an empty one for a row without labels."
    if isinstance(row, str):
        remedy = f"write [{row!r:.60}], or pass sep=';' where all rows are strings of joined names."
    return (
        "Labels by name must be a list, a tuple or a set of names for each row, and row "
        f"{number} is {row!r:.60} ({type(row).__name__}); {remedy}"
    )


# ---- joined names -------------------------------------------------------------------------------


def _split(Y: Any, sep: Any, owner: str) -> list[list[str]]:
    """Return the names in the strings of a column."""
    if not isinstance(sep, str) or not sep:
        raise ValueError(
            f"sep must be the sign between the names of a row, a string such as ';', and is "
            f"{sep!r:.40}; pass such a string, or leave sep out where labels are lists."
        )
    rows = _rows(Y)
    wrong = next((k for k, row in enumerate(rows or ()) if not isinstance(row, str)), None)
    if rows is None or wrong is not None:
        shape = f" of shape {tuple(Y.shape)}" if hasattr(Y, "shape") else ""
        found = f"{type(Y).__name__}{shape}"
        if rows is not None and wrong is not None:
            found += f" whose row {wrong} is {rows[wrong]!r:.60}"
        raise ValueError(
            f"{owner} with sep={sep!r} splits a column of strings, '' for a row without labels; "
            f"got a {found}. Pass such a column, or leave sep out where rows are lists."
        )
    return [[part for part in map(str.strip, row.split(sep)) if part] for row in rows]
