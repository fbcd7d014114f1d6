"""Texts with several fields: names and weights of the fields, and where their columns are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import scipy.sparse

from compactlearn.core._forms import refuse_unread
from compactlearn.core._params import Real, nearest

# Beyond these a product in single precision may overflow or vanish.
_WEIGHT = Real(1e-9, 1e9)


def check_fields(fields: Any) -> dict[str, float]:
    """Return the weight of each field.

    >>> check_fields(["title", "body"])
    {'title': 1.0, 'body': 1.0}
    >>> check_fields({"title": 2, "body": 1})
    {'title': 2.0, 'body': 1.0}
    """
    listed = isinstance(fields, Iterable) and not isinstance(fields, str | bytes | set | frozenset)
    names = list(fields) if listed else []
    if not names or not all(isinstance(name, str) for name in names):
        remedy = f" Pass [{fields!r:.40}]." if isinstance(fields, str) else ""
        raise ValueError(
            "fields must be a list of column names, such as ['title', 'body'], or a mapping from "
            f"names to weights, such as {{'title': 2, 'body': 1}}; got {fields!r:.60}.{remedy}"
        )
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(
            f"fields must name each column once; got {twice!r} {names.count(twice)} times. For a "
            f"larger weight pass a mapping, such as {{{twice!r}: {names.count(twice)}}}."
        )
    weights = dict(fields) if isinstance(fields, Mapping) else dict.fromkeys(names, 1)
    for name, weight in weights.items():
        if not _WEIGHT.accepts(weight):
            raise ValueError(
                f"The weight of a field must be a positive number, from 1e-9 to 1e9; got "
                f"{weight!r:.40} for {name!r}. To leave a field out, do not name it."
            )
    return {str(name): float(weight) for name, weight in weights.items()}


def field_columns(X: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return the column of each field, as it is given.

    >>> field_columns([{"title": "Bread"}, {"title": "Rain", "body": "and wind"}], ["body"])
    {'body': [None, 'and wind']}
    """
    refuse_unread(X, "X")
    known, source = _known_columns(X)
    if known is None:
        raise ValueError(
            f"X must have a column for each field ({_joined(names)}): a data frame, a mapping from "
            f"names to columns, or a list of dicts; got {_described(X)}. Pass one of these, or for "
            "a single column of texts leave fields out."
        )
    for name in names:
        if name not in known:
            raise ValueError(
                f"X must have a column for each field ({_joined(names)}), and none is called "
                f"{name!r}; there are {', '.join(map(repr, known)):.200}. Pass X with this column, "
                f"or name others in fields.{nearest(name, map(str, known))}"
            )
    if isinstance(source, list):
        return {name: [row.get(name) for row in source] for name in names}
    return {name: source[name] for name in names}


def _known_columns(X: Any) -> tuple[list[Any] | None, Any]:
    """Return the names of the columns, None without any, and what has them: a list is of rows."""
    if isinstance(X, Mapping):
        return list(X), X
    if len(getattr(X, "shape", ())) == 2 and hasattr(X, "columns"):
        return list(X.columns), X
    names = getattr(getattr(X, "dtype", None), "names", None)
    if names is not None:
        return list(names), X
    if isinstance(X, str | bytes) or not isinstance(X, Iterable) or scipy.sparse.issparse(X):
        return None, X
    rows = list(X)
    if not rows or not all(isinstance(row, Mapping) for row in rows):
        return None, X
    return list(dict.fromkeys(name for row in rows for name in row)), rows


def _described(X: Any) -> str:
    kind, shape = type(X).__name__, getattr(X, "shape", None)
    if shape is not None:
        return f"a {kind} of shape {tuple(shape)}"
    if isinstance(X, str | bytes) or not isinstance(X, Iterable):
        return f"{X!r:.40}"
    first = next((row for row in X if not isinstance(row, Mapping)), None)
    return f"an empty {kind}" if first is None else f"a {kind} that has {first!r:.40}"


def _joined(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))
