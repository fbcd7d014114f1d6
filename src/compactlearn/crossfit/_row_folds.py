"""Rows that are held out together, and folds that keep them together.

Groups that the user gives decide alone. Without them equal rows belong together, whatever their
labels: a copy in the training part would give away what the other is judged by.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold

from compactlearn.compact._inputs import check_groups
from compactlearn.core._devices import DeviceArray, held, library_of
from compactlearn.core._validation import n_rows_of
from compactlearn.crossfit._scores import row_groups

__all__ = ["held_out_together", "member_splits", "numbered", "shuffled_splits", "validation_rows"]

Rows = NDArray[np.intp]
Split = tuple[Rows, Rows]


def held_out_together(X: Any, groups: Any = None) -> Rows:
    """Return (n_rows,) a number for each row: rows of the same number are held out together.

    Numbers count from 0 in the order of first appearance, so that a row of weight 2 has the number
    of that row twice, and rows that all differ have those of their positions.

    Parameters
    ----------
    X : array-like, sparse matrix, or sequence of rows such as texts
    groups : array-like of shape (n_rows,), optional
        Rows of a group have the same number; by default equal rows have.

    Examples
    --------
    >>> held_out_together([[2.0, 1.0], [0.0, 1.0], [2.0, 1.0]])
    array([0, 1, 0])
    >>> held_out_together(["a text", "another", "a text"], groups=[7, 7, 3])
    array([0, 0, 1])
    """
    keys = check_groups(groups, n_rows_of(X))
    keys = _row_keys(X) if keys is None else keys
    member = numbered(keys)
    if groups is not None and not member.any():
        raise ValueError(
            "groups must name at least 2 groups, of which one can be held out; got 1. Leave groups "
            "out, or divide the rows."
        )
    return member


def numbered(keys: NDArray[Any]) -> Rows:
    """Number equal keys alike, from 0 in the order of first appearance.

    >>> numbered(np.array([7, 3, 7, 5]))
    array([0, 1, 0, 2])
    """
    _, first, member = np.unique(keys, return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.intp)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[member]


def shuffled_splits(
    member: Rows, n_folds: int, random_state: Any, classes: Any = None
) -> Iterator[Split]:
    """Yield training and validation rows of shuffled folds that keep members together.

    There are fewer folds than ``n_folds`` where there are fewer members. Rows that all differ have
    the folds of scikit-learn's ``KFold``; with ``classes``, one for each row, those of
    ``StratifiedKFold``, for members of several rows by the class of the first one.
    """
    n_members = int(member.max()) + 1
    if n_members == 1:  # nothing is known of others, however rows are divided
        member, n_members = np.arange(member.size), member.size
    n_folds = min(n_folds, n_members)
    kind: Any = KFold
    if classes is not None:
        counts = np.unique(np.asarray(classes)[_first_rows(member)], return_counts=True)[1]
        if n_members == member.size or counts.max() >= n_folds:
            kind = StratifiedKFold
    folds = kind(n_folds, shuffle=True, random_state=random_state)
    return member_splits(folds, member, classes)


def member_splits(splitter: Any, member: Rows, classes: Any = None) -> Iterator[Split]:
    """Yield splits of rows, where a splitter divides the members that they belong to."""
    first = _first_rows(member)
    if first.size == member.size:
        yield from splitter.split(np.zeros(member.size), classes)
        return
    known = None if classes is None else np.asarray(classes)[first]
    for train, test in splitter.split(np.zeros(first.size), known):
        yield _rows_of(member, train), _rows_of(member, test)


def validation_rows(X: Any, order: Rows, n_rows: int) -> tuple[Rows, Rows]:
    """Return ``n_rows`` validation rows, the first in a random ``order``, and all other rows.

    Equal rows go together, so that there may be a few more; both parts are sorted. Where that would
    leave no other rows, copies are divided.

    >>> validation_rows([[1.0], [2.0], [1.0], [3.0]], np.array([2, 1, 3, 0]), 1)
    (array([0, 2]), array([1, 3]))
    """
    chosen = np.zeros(order.size, dtype=bool)
    chosen[order[:n_rows]] = True
    if n_rows:
        member = held_out_together(X)
        _, first, counts = np.unique(member[order], return_index=True, return_counts=True)
        by = np.argsort(first)
        before = np.cumsum(counts[by]) - counts[by]
        together = np.isin(member, by[before < n_rows])
        chosen = chosen if together.all() else together
    return np.flatnonzero(chosen), np.flatnonzero(~chosen)


def _first_rows(member: Rows) -> Rows:
    return np.unique(member, return_index=True)[1]


def _rows_of(member: Rows, some: Rows) -> Rows:
    return np.flatnonzero(np.isin(member, some))


def _row_keys(X: Any) -> NDArray[Any]:
    """Return a key for each row that depends on its content alone."""
    if scipy.sparse.issparse(X) or isinstance(X, DeviceArray):
        return row_groups(X)
    if library_of(X) is not None:
        return row_groups(held(X))
    if hasattr(X, "columns") or (isinstance(X, list | tuple) and not isinstance(X[0], str)):
        X = np.asarray(X)
    if isinstance(X, np.ndarray) and X.dtype.kind in "biuf":
        return row_groups(X.reshape(len(X), -1))
    known: dict[Any, int] = {}
    keys = (row if isinstance(row, str) else repr(np.asarray(row).tolist()) for row in X)
    return np.array([known.setdefault(key, len(known)) for key in keys])
