"""Rows held out of a sum over blocks, from which decoder and threshold will be learnt.

The held-out rows depend on the positions of rows alone, not on the blocks. Rows are numbered from
0, and sixteen consecutive rows are a *run*. A hash of its position gives every run a number between
0 and 1. The runs of the smallest numbers are held out: a fifth of all runs, up to a bound.

The number of rows is not known before the last block. So a row is set aside as long as it may be
among the held-out rows, and added to the sum of the others as soon as it cannot be. Nothing is
subtracted from a sum: a column that varies in the held-out rows alone would keep rounding errors in
place of zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.linalg._row_source import Block, Integers, Rows

Array = NDArray[np.float64]
T = TypeVar("T")

RUN = 16  # rows that are held out together, so that the others remain in long stretches
ONE_IN = 5  # at most one run in five is held out
MOST_ROWS = 1 << 14  # upper bound of the number of held-out rows
FEWEST_ROWS = 1 << 10  # lower limit of this bound where rows are long
HELD_OUT_BYTES = 1 << 26  # memory that they should use at most

# Up to this number of rows all are set aside, and then this share: the quantile of one fifth is
# known to within a few hundredths only after some hundreds of runs.
ALL_UP_TO = 1 << 12
SHARE_AFTER = 0.35
MARGIN = 1.3  # factor on the share that the bound corresponds to, so that it suffices

# Where a block is left in more stretches than this, its rows are copied instead.
MOST_STRETCHES = 8

_MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def joined(pieces: tuple[Rows, ...]) -> Rows:
    """Return the rows of several pieces as one, in the order of their positions."""
    X, Y = (_stacked([getattr(piece, name) for piece in pieces]) for name in ("X", "Y"))
    weights = None
    if any(piece.weights is not None for piece in pieces):
        parts = [np.ones(p.n_rows) if p.weights is None else p.weights for p in pieces]
        weights = np.concatenate(parts)
    whole = Rows(X, Y, weights, np.concatenate([piece.positions for piece in pieces]))
    order = np.argsort(whole.positions, kind="stable")
    return whole if (np.diff(order) == 1).all() else whole.take(order)


def run_numbers(runs: Integers) -> Array:
    """Return a number in [0, 1) for each run, by a hash of its position (splitmix64).

    >>> bool(abs(run_numbers(np.arange(10_000)).mean() - 0.5) < 0.01)
    True
    """
    z = (runs.astype(np.uint64) + np.uint64(1)) * _MIX[0]
    z = (z ^ (z >> np.uint64(30))) * _MIX[1]
    z = (z ^ (z >> np.uint64(27))) * _MIX[2]
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) / 2.0**53


def max_held_out(n_features: int, *, sparse: bool) -> int:
    """Return the largest number of held-out rows: fewer where a row needs much memory.

    >>> max_held_out(300, sparse=False), max_held_out(10_000, sparse=False)
    (16384, 1024)
    """
    room = MOST_ROWS if sparse else HELD_OUT_BYTES // (8 * max(1, n_features))
    return int(np.clip(room, FEWEST_ROWS, MOST_ROWS)) // RUN * RUN


def may_be_held_out(positions: Integers, numbers: Array, most: int) -> NDArray[np.bool_]:
    """Return whether rows may be held out in the end, judged by their positions."""
    first = positions // RUN * RUN
    share = np.minimum(SHARE_AFTER, MARGIN * most / np.maximum(first, 1))
    return numbers < np.where(first < ALL_UP_TO, 1.0, share)


@dataclass(frozen=True, eq=False)
class Apart(Generic[T]):
    """Sum of some rows, and the rows that have been set aside."""

    rest: T
    aside: tuple[Rows, ...]
    n_rows: int  # in all

    @property
    def n_aside(self) -> int:
        """Number of rows that have been set aside."""
        return sum(piece.n_rows for piece in self.aside)


@dataclass(frozen=True)
class SetApart(Generic[T]):
    """Sum over blocks that leaves out the rows to be held out.

    ``part`` sums the rows of a block, ``add`` adds two sums, and ``most`` is the largest number of
    held-out rows; 0 means none.
    """

    part: Callable[[Block], T]
    add: Callable[[T, T], T]
    most: int

    def of_block(self, block: Block) -> Apart[T]:
        """Return the sum of one block without the rows that are set aside, and these rows."""
        if not self.most or not block.n_rows:
            return Apart(self.part(block), (), block.n_rows)
        positions = np.arange(block.start, block.start + block.n_rows)
        own = may_be_held_out(positions, run_numbers(positions // RUN), self.most)
        if not own.any():
            return Apart(self.part(block), (), block.n_rows)
        rows = np.flatnonzero(own)
        aside = Rows(block.X, block.Y, block.weights, positions).take(rows)
        parts = [self.part(some) for some in _without(block, own)]
        return Apart(self._sum(parts), (aside,), block.n_rows)

    def both(self, one: Apart[T], other: Apart[T]) -> Apart[T]:
        """Return the sum and the set-aside rows of two parts together."""
        rest = self.add(one.rest, other.rest)
        found = Apart(rest, one.aside + other.aside, one.n_rows + other.n_rows)
        return self._settled(found, self.most) if found.n_aside > 2 * self.most else found

    def ended(self, total: Apart[T]) -> tuple[T, Rows | None]:
        """Return the sum of the other rows and the held-out rows, after the last block."""
        n_runs = -(-total.n_rows // RUN)
        n_held_out = min(self.most, RUN * max(1, n_runs // ONE_IN))
        if not self.most or n_runs < 2:
            n_held_out = 0
        settled = self._settled(total, n_held_out)
        return settled.rest, settled.aside[0] if settled.aside else None

    def _settled(self, total: Apart[T], n_held_out: int) -> Apart[T]:
        """Keep the runs of smallest numbers, ``n_held_out`` rows; add the others to the sum."""
        if not total.aside:
            return total
        rows = joined(total.aside)
        numbers = run_numbers(rows.positions // RUN)
        runs = np.unique(numbers)
        stays = np.zeros(len(numbers), bool)
        if n_held_out:
            stays = numbers < np.append(runs, 2.0)[n_held_out // RUN]
        block = Block(rows.X, rows.Y, rows.weights, 0, 0)
        rest = self._sum([total.rest, *(self.part(some) for some in _without(block, stays))])
        kept = (rows.take(np.flatnonzero(stays)),) if stays.any() else ()
        return Apart(rest, kept, total.n_rows)

    def _sum(self, parts: list[T]) -> T:
        total = parts[0]
        for part in parts[1:]:
            total = self.add(total, part)
        return total


def _without(block: Block, own: NDArray[np.bool_]) -> Iterator[Block]:
    """Yield a block without some of its rows: as views, or as one copy; at least one block."""
    edges = np.flatnonzero(np.diff(np.concatenate([[True], own, [True]])))
    stretches = edges.reshape(-1, 2)
    if len(stretches) == 0 or len(stretches) > MOST_STRETCHES:
        yield _some(block, np.flatnonzero(~own))
        return
    for start, stop in stretches.tolist():
        yield _some(block, slice(start, stop))


def _some(block: Block, rows: Any) -> Block:
    weights = None if block.weights is None else block.weights[rows]
    return replace(block, X=block.X[rows], Y=block.Y[rows], weights=weights)


def _stacked(parts: list[Any]) -> Any:
    if len(parts) == 1:
        return parts[0]
    if any(scipy.sparse.issparse(part) for part in parts):
        return scipy.sparse.csr_array(scipy.sparse.vstack(parts, format="csr"))
    return np.concatenate(parts)
