"""Folds and random splits in which every label has nearly its share of each part.

A plain random fold may hold no example at all of a rare label. Iterative stratification (Sechidis,
Tsoumakas and Vlahavas, ECML PKDD 2011; pairs of labels: Szymański and Kajdanowicz, PMLR 74, 2017)
deals the rows so that it does, as far as whole rows allow.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator, BaseShuffleSplit

from compactlearn.core._params import (
    Constraint,
    Flag,
    Integer,
    Nothing,
    Real,
    Seed,
    check_parameters,
)
from compactlearn.core._seeds import seeded
from compactlearn.core._targets import check_targets
from compactlearn.core._validation import n_rows_of
from compactlearn.crossfit._together import check_groups
from compactlearn.model_selection._rarest_first import (
    Folds,
    Integers,
    Units,
    deal,
    fill_empty,
    make_units,
)
from compactlearn.model_selection._swaps import improve

Indices = NDArray[np.intp]

_SHARE = (Nothing(), Real(0, 1, open_low=True, open_high=True), Integer(1))


class _Stratified:
    """Base of stratified folds and random splits."""

    # With this, scikit-learn's metadata routing passes groups on by default.
    __metadata_request__split: ClassVar[dict[str, bool]] = {"groups": True}

    n_splits: Any
    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]]

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits; the arguments are there for scikit-learn's sake.

        Parameters
        ----------
        X, y, groups : object, optional
            Not used; there for compatibility with scikit-learn.
        """
        check_parameters(self, {"n_splits": self._constraints["n_splits"]})
        return int(self.n_splits)


class IterativeStratification(_Stratified, BaseCrossValidator):
    """Multi-label stratified k-fold cross-validation.

    Every row is in the test part of exactly one fold. Sizes of folds differ by one row at most, and
    each label's rows are divided as evenly as can be found; for a vector of classes this is
    stratified k-fold.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    order : {1, 2}, default=1
        What is balanced: labels, or labels and the pairs of labels that rows have in common.
    shuffle : bool, default=True
        Whether rows are dealt in random order and ties between folds are broken at random. Without
        it nothing is random.
    random_state : int, RandomState, Generator or None, default=None
        Source of randomness; an integer gives the same folds at every call.

    See Also
    --------
    IterativeStratifiedShuffleSplit : Random splits of a given size.

    Notes
    -----
    Labels may be dense, sparse or a frame; the folds do not depend on which, and a sparse matrix
    stays sparse. After the rows are dealt, rows change places between folds where that brings
    counts nearer to their shares.

    With ``groups``, the rows of a group stay together. Whole groups seldom fit exactly: then sizes
    are one more count to be balanced, with the weight of a label.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [1, 1], [1, 1], [0, 0], [0, 0]])
    >>> folds = IterativeStratification(2, random_state=0)
    >>> [Y[test].sum(axis=0).tolist() for _, test in folds.split(Y, Y)]
    [[2, 2], [2, 2]]
    >>> folds
    IterativeStratification(n_splits=2, order=1, random_state=0, shuffle=True)
    """

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "n_splits": (Integer(2),),
        "order": (Integer(1, 2),),
        "shuffle": (Flag(),),
        "random_state": (Seed(),),
    }

    def __init__(
        self,
        n_splits: int = 5,
        *,
        order: int = 1,
        shuffle: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_splits = n_splits
        self.order = order
        self.shuffle = shuffle
        self.random_state = random_state

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Indices, Indices]]:
        """Yield the indices of the training and test rows of each fold, ascending.

        Parameters
        ----------
        X : anything with rows, or None
            Only its number of rows is looked at.
        y : array-like, frame or sparse matrix of shape (n_samples, n_labels), or vector of classes
            Labels, 0 or 1.
        groups : array-like of shape (n_samples,), optional
            Rows with equal entries stay together.
        """
        check_parameters(self, self._constraints)
        if not self.shuffle and self.random_state is not None:
            raise ValueError(
                f"With shuffle=False nothing is random, and random_state={self.random_state!r} was "
                "given; leave random_state out, or set shuffle=True."
            )
        owner = type(self).__name__
        units, member = _read(X, y, groups, int(self.order), owner)
        n_units, k = len(units.sizes), int(self.n_splits)
        if n_units < k:
            kind = "rows" if member is None else "groups"
            raise ValueError(
                f"{owner} makes n_splits={k} folds and needs at least one of the {kind} for each, "
                f"but was given {n_units}; lower n_splits or pass more {kind}."
            )
        rng = seeded(self.random_state) if self.shuffle else None
        quotas = (units.n_rows + np.arange(k)[::-1]) // k  # the first folds are the larger ones
        fold = _stratify(units, np.ones(k, dtype=np.int64), quotas, rng)
        fold = fold if member is None else fold[member]
        for test in range(k):
            yield np.flatnonzero(fold != test), np.flatnonzero(fold == test)


class IterativeStratifiedShuffleSplit(_Stratified, BaseShuffleSplit):
    """Random splits into a training and a test part with the same shares of every label.

    Parameters
    ----------
    n_splits : int, default=10
        Number of splits, each drawn anew.
    test_size, train_size : float, int or None, default=None
        Fraction or number of rows. If one is None it has all rows that are not in the other; if
        both are None, the test part is a tenth. Remaining rows are in neither part.
    order : {1, 2}, default=1
        What is balanced: labels, or labels and the pairs of labels that rows have in common.
    random_state : int, RandomState, Generator or None, default=None
        Source of randomness; an integer gives the same splits at every call.

    See Also
    --------
    IterativeStratification : Folds, which have every row in one test part.

    Notes
    -----
    Sizes are exact; with ``groups``, whose rows stay together, as nearly as whole groups allow.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.repeat([[1, 0], [0, 1], [1, 1], [0, 0]], 10, axis=0)
    >>> split = IterativeStratifiedShuffleSplit(1, test_size=0.2, random_state=0)
    >>> [(len(test), Y[test].sum(axis=0).tolist()) for _, test in split.split(Y, Y)]
    [(8, [4, 4])]
    """

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "n_splits": (Integer(1),),
        "test_size": _SHARE,
        "train_size": _SHARE,
        "order": (Integer(1, 2),),
        "random_state": (Seed(),),
    }

    def __init__(
        self,
        n_splits: int = 10,
        *,
        test_size: float | int | None = None,
        train_size: float | int | None = None,
        order: int = 1,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_splits, test_size=test_size, train_size=train_size, random_state=random_state
        )
        self.order = order

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Indices, Indices]]:
        """Yield the indices of the training and test rows of each split, in random order.

        Parameters
        ----------
        X : anything with rows, or None
            Only its number of rows is looked at.
        y : array-like, frame or sparse matrix of shape (n_samples, n_labels), or vector of classes
            Labels, 0 or 1.
        groups : array-like of shape (n_samples,), optional
            Rows with equal entries stay together.
        """
        check_parameters(self, self._constraints)
        owner = type(self).__name__
        units, member = _read(X, y, groups, int(self.order), owner)
        n_train, n_test = part_sizes(units.n_rows, self.train_size, self.test_size, owner)
        quotas = np.array([n_train, n_test, units.n_rows - n_train - n_test], dtype=np.int64)
        quotas = quotas[: 3 if quotas[2] else 2]
        if len(units.sizes) < len(quotas):
            raise ValueError(
                f"{owner} divides the groups into {len(quotas)} parts and needs at least one for "
                f"each, but was given {len(units.sizes)}; pass rows of more groups."
            )
        rng = seeded(self.random_state)
        for _ in range(int(self.n_splits)):
            part = _stratify(units, quotas, quotas, rng)
            part = part if member is None else part[member]
            train, test = (np.flatnonzero(part == which) for which in (0, 1))
            yield rng.permutation(train), rng.permutation(test)


def part_sizes(n_rows: int, train: Any, test: Any, owner: str) -> tuple[int, int]:
    """Return the numbers of training and test rows; the latter round up as in scikit-learn.

    >>> part_sizes(25, None, None, "split"), part_sizes(25, None, 0.3, "split")
    ((22, 3), (17, 8))
    """
    if train is None and test is None:
        test = 0.1
    if test is None:
        n_train = _rows(train, n_rows, math.floor)
        n_test = n_rows - n_train
    else:
        n_test = _rows(test, n_rows, math.ceil)
        n_train = n_rows - n_test if train is None else _rows(train, n_rows, math.floor)
    if min(n_train, n_test) < 1 or n_train + n_test > n_rows:
        raise ValueError(
            f"{owner} needs at least 1 row in each part and both parts within the {n_rows} rows, "
            f"but train_size={train} and test_size={test} ask for {n_train} and {n_test}; change "
            "one of them, or pass more rows."
        )
    return n_train, n_test


def _rows(share: Any, n_rows: int, rounded: Any) -> int:
    if Integer().accepts(share):
        return int(share)
    # 0.07 of 100 rows is 7.000000000000001 in floating point, and means 7.
    return int(rounded(round(float(share) * n_rows, 9)))


def _read(
    X: Any, y: Any, groups: Any, order: int, owner: str
) -> tuple[Units, NDArray[np.intp] | None]:
    """Return the units to distribute, and the group of each row if there are groups."""
    n_rows = 0 if y is None else n_rows_of(y if X is None else X)
    matrix = check_targets(y, n_rows, owner=f"{owner}.split").matrix
    groups, member = check_groups(groups, n_rows), None
    if groups is not None:
        try:
            member = np.unique(groups, return_inverse=True)[1]
        except TypeError as error:
            raise ValueError(
                "groups must hold entries of one kind that can be put in order, such as all "
                f"numbers or all strings, and comparing two of them failed ({error}); convert them "
                "to strings."
            ) from error
    return make_units(matrix, member, order), member


def _stratify(
    units: Units, weights: Integers, quotas: Integers, rng: np.random.RandomState | None
) -> Folds:
    """Return a fold for each unit; units are dealt in random order if there is a generator."""
    n_units, n_columns = units.counts.shape
    order = np.arange(n_units)
    if rng is not None:
        order = rng.permutation(n_units)
        units = units.reordered(order, rng.permutation(n_columns))
    fold = deal(units, weights, quotas, rng)
    fill_empty(fold, units, len(weights))
    fold = improve(fold, units, weights)
    result = np.empty_like(fold)
    result[order] = fold
    return result
