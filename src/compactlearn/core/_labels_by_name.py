"""Labels given by name: lists of names, or joined names in a column, become one sparse matrix.

``[["jazz", "blues"], [], ["jazz"]]`` has a row for each list and a column for each name, in sorted
order. Names are strings. Whole numbers are names where they cannot be anything else: in sets, and
in lists of different lengths that hold more than 0 and 1; lists of numbers that are equally long
are a matrix. Blank names are dropped, and a name counts once in a row.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse

__all__ = ["NamedLabels", "names_in_order", "read_labels_by_name", "read_names"]

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
    """Labels by name as a matrix; None where Y is something else, a matrix or a vector of classes.

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
    if sep is not None:
        rows: Sequence[Any] | None = _split(Y, sep, owner)
    else:
        rows = _rows_of_names(Y)
    return None if rows is None else read_names(rows, known, owner)


def read_names(
    rows: Sequence[Any], known: Sequence[str] | None = None, owner: str = "fit"
) -> NamedLabels:
    """The matrix of rows that are collections of names."""
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
            raise ValueError(
                f"A row of labels must hold names, strings or whole numbers, and row {number} "
                f"holds {_shown_row(row)}; pass one flat list of names for each row."
            ) from error
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
    """Different names in sorted order, whole numbers by their size, as strings.

    >>> names_in_order(["b", "a", "b"]), names_in_order([10, 9])
    (['a', 'b'], ['9', '10'])
    """
    return [str(name) for name in sorted(set(names))]


def _columns_of(place: Mapping[Any, int], names: Sequence[str], owner: str) -> Any:
    """The column of each name that was met, in the order of meeting; -1 for a blank one."""
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
    """The names that are not blank, all of them strings or all of them whole numbers."""
    words = [name for name in place if isinstance(name, str)]
    numbers = [name for name in place if _is_whole(name)]
    if len(words) + len(numbers) < len(place):
        wrong = next(n for n in place if not isinstance(n, str) and not _is_whole(n))
        raise ValueError(
            f"A label's name must be a string or a whole number, and row {_row_with(wrong, rows)} "
            f"of the labels holds {wrong!r:.40}; leave it out, or write it as a string."
        )
    if words and numbers:
        raise ValueError(
            f"The names of labels must be strings or whole numbers, and are a mixture of both, "
            f"such as {words[0]!r:.40} and {numbers[0]!r}; write all of them as strings."
        )
    return numbers or [word for word in words if word.strip()]


def _row_with(name: Any, rows: Sequence[Any]) -> int:
    return next(k for k, row in enumerate(rows) if any(one is name for one in row))


# ---- which form they have -----------------------------------------------------------------------


def _rows_of_names(Y: Any) -> Sequence[Any] | None:
    """The rows of Y where they are collections of names."""
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
    """Y as a sequence of what stands in its rows; None for matrices and what is no sequence."""
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
    return (
        issubclass(kind, Iterable)
        and issubclass(kind, Sized)
        and not issubclass(kind, _NO_COLLECTIONS)
    )


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.bool_)


def _no_collection(row: Any, number: int) -> str:
    """The sentence for a row that is no collection of names."""
    asked = (
        "Labels by name must be a list, a tuple or a set of names for each row, and row "
        f"{number} is "
    )
    if isinstance(row, str):
        return (
            f"{asked}the string {row!r:.60}; write [{row!r:.60}] for a single label, and pass "
            "sep=';' (or another sign) where all rows are strings of joined names."
        )
    if row is None or type(row).__name__ == "NAType" or row != row:
        return f"{asked}{row!r}; write an empty list for a row without labels."
    return f"{asked}{row!r:.60}, of the type {type(row).__name__}; pass a list of names there."


def _shown_row(row: Any) -> str:
    return repr(list(row))[:60]


# ---- joined names -------------------------------------------------------------------------------


def _split(Y: Any, sep: Any, owner: str) -> list[list[str]]:
    """The names in the strings of a column."""
    if not isinstance(sep, str) or not sep:
        raise ValueError(
            f"sep must be the sign between the names of a row, a string such as ';', and is "
            f"{sep!r:.40}; pass such a string, or leave sep out where labels are lists."
        )
    rows = _rows(Y)
    if rows is None:
        shape = "" if not hasattr(Y, "shape") else f" of shape {tuple(Y.shape)}"
        raise ValueError(
            f"{owner} was given sep={sep!r}, which splits a column of strings, and labels that "
            f"are a {type(Y).__name__}{shape}; pass such a column, or leave sep out."
        )
    return list(_parts(rows, sep))


def _parts(rows: Iterable[Any], sep: str) -> Iterator[list[str]]:
    for number, row in enumerate(rows):
        if isinstance(row, str):
            yield [part for part in map(str.strip, row.split(sep)) if part]
            continue
        remedy = (
            "leave sep out where rows are lists."
            if _is_collection(row)
            else ("fill it with '' where a row has no label.")
        )
        raise ValueError(
            f"With sep={sep!r} the labels of a row must be a string of joined names, and row "
            f"{number} is {row!r:.60}; {remedy}"
        )
