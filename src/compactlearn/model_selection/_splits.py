"""Folds in which every label has nearly its share of rows.

A plain random fold may hold no example at all of a rare label. Iterative stratification (Sechidis,
Tsoumakas and Vlahavas, ECML PKDD 2011) deals the rows so that it does, as far as possible.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator

from compactlearn.core._params import Constraint, Flag, Integer, Seed, check_parameters
from compactlearn.core._seeds import seeded
from compactlearn.core._targets import check_targets
from compactlearn.core._validation import n_rows_of
from compactlearn.model_selection._rarest_first import Folds, deal
from compactlearn.model_selection._swaps import improve

Indices = NDArray[np.intp]


class IterativeStratification(BaseCrossValidator):
    """Multi-label stratified k-fold cross-validation.

    Every row is in the test part of exactly one fold. Sizes of folds differ by one row at most, and
    each label's rows are divided as evenly as can be found; for a vector of classes this is
    stratified k-fold.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    shuffle : bool, default=True
        Whether rows are dealt in random order and ties between folds are broken at random. Without
        it nothing is random.
    random_state : int, RandomState, Generator or None, default=None
        Source of randomness; an integer gives the same folds at every call.

    Notes
    -----
    Labels may be dense, sparse or a frame; the folds do not depend on which, and a sparse matrix
    stays sparse. After the rows are dealt, rows change places between folds where that brings
    counts nearer to their shares.

    Single rows are divided; for groups of rows use scikit-learn's ``GroupKFold``.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [1, 1], [1, 1], [0, 0], [0, 0]])
    >>> folds = IterativeStratification(2, random_state=0)
    >>> [Y[test].sum(axis=0).tolist() for _, test in folds.split(Y, Y)]
    [[2, 2], [2, 2]]
    >>> folds
    IterativeStratification(n_splits=2, random_state=0, shuffle=True)
    """

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "n_splits": (Integer(2),),
        "shuffle": (Flag(),),
        "random_state": (Seed(),),
    }

    def __init__(
        self, n_splits: int = 5, *, shuffle: bool = True, random_state: Any = None
    ) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds.

        Parameters
        ----------
        X, y, groups : object, optional
            Not used; there for compatibility with scikit-learn.
        """
        check_parameters(self, {"n_splits": self._constraints["n_splits"]})
        return int(self.n_splits)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Indices, Indices]]:
        """Yield the indices of the training and test rows of each fold, ascending.

        Parameters
        ----------
        X : anything with rows, or None
            Only its number of rows is looked at.
        y : array-like, frame or sparse matrix of shape (n_samples, n_labels), or vector of classes
            Labels, 0 or 1.
        groups : None
            Raises ValueError for anything else, since a fold would divide groups.
        """
        check_parameters(self, self._constraints)
        if not self.shuffle and self.random_state is not None:
            raise ValueError(
                f"With shuffle=False nothing is random, and random_state={self.random_state!r} was "
                "given; leave random_state out, or set shuffle=True."
            )
        if groups is not None:
            raise ValueError(
                "IterativeStratification divides single rows, and groups were given, which it "
                "would not keep together; use GroupKFold, or a number of folds as cv of a search."
            )
        n_rows, k = 0 if y is None else n_rows_of(y if X is None else X), int(self.n_splits)
        Y = check_targets(y, n_rows, owner="IterativeStratification.split").matrix
        if n_rows < k:
            raise ValueError(
                f"IterativeStratification makes n_splits={k} folds and needs at least one of the "
                f"rows for each, but was given {n_rows}; lower n_splits or pass more rows."
            )
        fold = _stratified(Y, k, seeded(self.random_state) if self.shuffle else None)
        for test in range(k):
            yield np.flatnonzero(fold != test), np.flatnonzero(fold == test)


def _stratified(Y: Any, n_folds: int, rng: np.random.RandomState | None) -> Folds:
    """Return a fold for each row; rows are dealt in random order if there is a generator."""
    order = np.arange(Y.shape[0])
    if rng is not None:
        order = rng.permutation(order.size)
        Y = Y[order][:, rng.permutation(Y.shape[1])]
    Y = scipy.sparse.csr_array(Y, dtype=np.int64)
    Y.sort_indices()
    fold = np.empty(order.size, dtype=np.intp)
    fold[order] = improve(deal(Y, n_folds, rng), Y, n_folds)
    return fold
