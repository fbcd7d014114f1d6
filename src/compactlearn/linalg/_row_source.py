"""Rows that come in blocks: what a fit asks of wherever they are.

A fit from more rows than memory is a handful of sums over blocks. Files, iterators and clusters
differ only in how such a sum is made, so that is all a source has to offer: :meth:`RowSource.total`
goes through the blocks once, makes something of each, and adds that up. What is made, and how two
of them are added, are pure functions that can be pickled (module-level functions, or frozen
dataclasses that are called), so that a cluster can ship them to where the rows are.

Sums must not depend on who adds them, so ``add`` is associative but for rounding, and neither
function changes what it was given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Block:
    """Some consecutive rows, checked.

    Parameters
    ----------
    X : ndarray (float64 or float32) or csr_array of shape (n_rows, n_features)
        Finite numbers.
    Y : csr_array of shape (n_rows, n_labels), float64
        Ones.
    weights : ndarray of shape (n_rows,) or None
        Numbers >= 0; None where every row counts once.
    index : int
        The number of the block, from 0.
    start : int
        How many rows are in the blocks before. Which rows are held out is decided by the position
        of a row, so that it does not depend on where blocks begin.
    """

    X: Any
    Y: Any
    weights: Array | None
    index: int
    start: int

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.X.shape[0]


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows, with their positions among all."""

    X: Any
    Y: Any
    weights: Array | None
    positions: Integers

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.positions.size

    def take(self, rows: Any) -> Rows:
        """Some of them."""
        weights = None if self.weights is None else self.weights[rows]
        return Rows(self.X[rows], self.Y[rows], weights, self.positions[rows])


class RowSource(Protocol):
    """A source of blocks of rows."""

    @property
    def n_features(self) -> int:
        """Columns of X."""
        ...

    @property
    def n_labels(self) -> int:
        """Columns of Y."""
        ...

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the features, where they have such."""
        ...

    @property
    def label_names(self) -> tuple[str, ...] | None:
        """Names of the labels, where they have such."""
        ...

    @property
    def is_sparse(self) -> bool:
        """True where X is sparse."""
        ...

    @property
    def again(self) -> bool:
        """True where the blocks can be gone through more than once."""
        ...

    def total(self, part: Callable[[Block], T], add: Callable[[T, T], T], *, what: str) -> T:
        """``part`` of every block, added up: one pass over the rows.

        Parameters
        ----------
        part : callable
            From a checked block to its share of the sum; can be pickled.
        add : callable
            From two shares to that of both.
        what : str
            What the pass is for, in a few words, for a progress bar and for messages.
        """
        ...
