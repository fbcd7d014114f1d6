"""Folds that keep rows together, and splits that users ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, check_cv

from compactlearn.core._params import Integer
from compactlearn.crossfit._together import held_out_together

Rows = NDArray[np.intp]
Split = tuple[Rows, Rows]  # training rows, held-out rows

NOWHERE = -1  # the fold of rows that no split holds out


@dataclass(frozen=True, eq=False)
class Folds:
    """Fold of every row: a row is held out with the rows of its fold, or never."""

    number: Rows  # (n_rows,) the fold of each row, or NOWHERE

    @classmethod
    def of_members(cls, member: Rows, n_folds: int) -> Folds:
        """Return folds of the rows' members, in turn."""
        return cls(member % n_folds)

    @classmethod
    def permuted(
        cls, member: NDArray[np.integer[Any]], n_folds: int, rng: np.random.RandomState
    ) -> Folds:
        """Return folds of about as many members each, by a random order.

        Where there are fewer members than folds, rows are divided one by one.
        """
        n_members = int(member.max(initial=-1)) + 1
        if n_members < n_folds:
            member, n_members = np.arange(member.size), member.size
        return cls(rng.permutation(np.arange(n_members) % n_folds)[member])

    @classmethod
    def of_splits(cls, splits: Sequence[Split], n_rows: int) -> Folds | None:
        """Return the folds that splits hold out, or None where they are no such folds.

        No row may be held out twice, and each training part must be all the other rows.

        >>> Folds.of_splits([([1, 2], [0]), ([0, 1], [2])], 3).number
        array([ 0, -1,  1])
        """
        number = np.full(n_rows, NOWHERE)
        for k, (train, test) in enumerate(splits):
            known = np.zeros(n_rows, dtype=bool)
            known[train] = True
            known[test] ^= True
            if not known.all() or len(train) + len(test) != n_rows or (number[test] >= 0).any():
                return None
            number[test] = k
        return cls(number)

    @cached_property
    def numbers(self) -> list[int]:
        """The numbers of all folds."""
        return [k for k in np.unique(self.number).tolist() if k != NOWHERE]

    @property
    def covers_all(self) -> bool:
        """Whether there are several folds, and every row is in one."""
        return len(self.numbers) > 1 and bool((self.number != NOWHERE).all())

    def held_out(self, *numbers: int) -> Rows:
        """Return the rows of some folds."""
        return np.flatnonzero(np.isin(self.number, numbers))

    def without(self, *numbers: int) -> Rows:
        """Return the rows of all other folds."""
        return np.flatnonzero(~np.isin(self.number, numbers))

    @cached_property
    def splits(self) -> list[Split]:
        """Training and held-out rows of every fold."""
        return [(self.without(k), self.held_out(k)) for k in self.numbers]


def make_splits(
    cv: Any,
    X: Any,
    y: Any,
    groups: Any,
    n_rows: int,
    *,
    seed: Any,
    together: Callable[[], Rows],
    classes: Any = None,
) -> list[Split]:
    """Return the splits that ``cv`` asks for: a number of folds, a splitter or pairs of rows.

    A number is that of shuffled folds, stratified by ``classes``, which keep the rows that have the
    same number in ``together`` in one fold. Splitters get ``X``, ``y`` and ``groups``.
    """
    is_count = Integer().accepts(cv)
    if isinstance(cv, str) or (is_count and not 2 <= cv <= n_rows):
        raise ValueError(_bad_cv(cv, n_rows))
    labels = np.zeros(n_rows) if isinstance(cv, KFold | ShuffleSplit) else y
    try:
        if is_count:
            found = list(shuffled_splits(together(), int(cv), seed, classes))
        else:
            found = list(check_cv(cv).split(X, labels, groups))
        parts = [(train, test) for train, test in found]
    except TypeError as error:
        raise ValueError(_bad_cv(cv, n_rows)) from error
    splits = [(_row_numbers(train, n_rows), _row_numbers(test, n_rows)) for train, test in parts]
    if not splits or not all(len(train) and len(test) for train, test in splits):
        raise ValueError(
            f"cv must give at least one split with training and validation rows, and "
            f"{cv!r:.80} gave {len(splits)}; pass a number of folds."
        )
    return splits


def _bad_cv(cv: Any, n_rows: int) -> str:
    return (
        f"cv must be at least 2 folds and at most one for each of the {n_rows} rows, a splitter or "
        f"pairs of row numbers, and is {cv!r:.80}; pass one of these."
    )


def _row_numbers(rows: Any, n_rows: int) -> Rows:
    """Return one part of a split as numbers of rows; a mask has an entry for each row."""
    rows = np.asarray(rows)
    if rows.dtype == bool and rows.shape == (n_rows,):
        return np.flatnonzero(rows)
    known = rows.dtype.kind in "iu" and rows.ndim == 1
    if rows.size and not (known and rows.min() >= 0 and rows.max() < n_rows):
        raise ValueError(
            f"The splits of cv must hold numbers of the {n_rows} rows, from 0 on, or masks of that "
            "length, and hold others; make them from these data."
        )
    return rows.astype(np.intp)


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
