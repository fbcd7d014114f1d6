"""Some rows kept out of a sum: those that decoder and threshold will be learnt from.

Which rows these are is a matter of their positions alone, whatever the blocks that they come in.
The rows are numbered from 0, sixteen in a row are a *run*, every run has a number between 0 and 1
by a hash of its place, and those of the smallest numbers are held out: a fifth of all runs, and no
more than a bound.

How many rows there are is not known before the last has been seen. So a row is set aside while it
may still turn out to be one, and added to the sum of the others as soon as it cannot: nothing is
ever taken off a sum, since a column that varies in the rows held out alone would be left with
rounding in place of zeros.
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
ONE_IN = 5  # as many runs, at most, are held out as one in five
MOST_ROWS = 1 << 14  # held out, however many there are
FEWEST_ROWS = 1 << 10  # that this bound goes down to where rows are long
HELD_BYTES = 1 << 26  # that they should take at most

# Until so many rows have been seen all are set aside, and then so large a share: the number of the
# fifth part is known to within a few hundredths only when some hundreds of runs have been seen.
ALL_UP_TO = 1 << 12
SHARE_AFTER = 0.35
MARGIN = 1.3  # of the share that is sure to be enough where the bound holds

# Where more stretches than this are left of a block, its rows are copied instead.
MOST_STRETCHES = 8

_MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def joined(pieces: tuple[Rows, ...]) -> Rows:
    """Rows of several pieces in one, in the order of their positions."""
    X, Y = (_stacked([getattr(piece, name) for piece in pieces]) for name in ("X", "Y"))
    weights = None
    if any(piece.weights is not None for piece in pieces):
        parts = [np.ones(p.n_rows) if p.weights is None else p.weights for p in pieces]
        weights = np.concatenate(parts)
    whole = Rows(X, Y, weights, np.concatenate([piece.positions for piece in pieces]))
    order = np.argsort(whole.positions, kind="stable")
    return whole if (np.diff(order) == 1).all() else whole.take(order)


def run_numbers(runs: Integers) -> Array:
    """A number in [0, 1) for each run, by a hash of its place (splitmix64).

    >>> bool(abs(run_numbers(np.arange(10_000)).mean() - 0.5) < 0.01)
    True
    """
    z = (runs.astype(np.uint64) + np.uint64(1)) * _MIX[0]
    z = (z ^ (z >> np.uint64(30))) * _MIX[1]
    z = (z ^ (z >> np.uint64(27))) * _MIX[2]
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) / 2.0**53


def most_held(n_features: int, *, sparse: bool) -> int:
    """How many rows are held out at most: fewer where a row takes much memory.

    >>> most_held(300, sparse=False), most_held(10_000, sparse=False)
    (16384, 1024)
    """
    room = MOST_ROWS if sparse else HELD_BYTES // (8 * max(1, n_features))
    return int(np.clip(room, FEWEST_ROWS, MOST_ROWS)) // RUN * RUN


def may_be_held(positions: Integers, numbers: Array, most: int) -> NDArray[np.bool_]:
    """Whether rows may turn out to be held out, as far as their positions tell."""
    first = positions // RUN * RUN
    share = np.minimum(SHARE_AFTER, MARGIN * most / np.maximum(first, 1))
    return numbers < np.where(first < ALL_UP_TO, 1.0, share)


@dataclass(frozen=True, eq=False)
class Apart(Generic[T]):
    """A sum of rows, and rows that have been set aside."""

    rest: T
    aside: tuple[Rows, ...]
    n_rows: int  # in all

    @property
    def n_aside(self) -> int:
        """How many rows have been set aside."""
        return sum(piece.n_rows for piece in self.aside)


@dataclass(frozen=True)
class SetApart(Generic[T]):
    """A sum over blocks that leaves out the rows to be held.

    ``part`` makes the sum of a block without them, ``add`` adds two; ``most`` is how many rows are
    held out at most, and 0 means none.
    """

    part: Callable[[Block], T]
    add: Callable[[T, T], T]
    most: int

    def of_block(self, block: Block) -> Apart[T]:
        """The share of one block."""
        if not self.most or not block.n_rows:
            return Apart(self.part(block), (), block.n_rows)
        positions = np.arange(block.start, block.start + block.n_rows)
        own = may_be_held(positions, run_numbers(positions // RUN), self.most)
        if not own.any():
            return Apart(self.part(block), (), block.n_rows)
        rows = np.flatnonzero(own)
        aside = Rows(block.X, block.Y, block.weights, positions).take(rows)
        parts = [self.part(some) for some in _without(block, own)]
        return Apart(self._sum(parts), (aside,), block.n_rows)

    def both(self, one: Apart[T], other: Apart[T]) -> Apart[T]:
        """The share of two."""
        rest = self.add(one.rest, other.rest)
        found = Apart(rest, one.aside + other.aside, one.n_rows + other.n_rows)
        return self._settled(found, self.most) if found.n_aside > 2 * self.most else found

    def ended(self, total: Apart[T]) -> tuple[T, Rows | None]:
        """When all blocks have been added: the sum of the others, and the rows held out."""
        n_runs = -(-total.n_rows // RUN)
        held = min(self.most, RUN * max(1, n_runs // ONE_IN))
        if not self.most or n_runs < 2:
            held = 0
        settled = self._settled(total, held)
        return settled.rest, settled.aside[0] if settled.aside else None

    def _settled(self, total: Apart[T], held: int) -> Apart[T]:
        """Keep the runs of smallest numbers, as many as ``held`` rows are in; add the others."""
        if not total.aside:
            return total
        rows = joined(total.aside)
        numbers = run_numbers(rows.positions // RUN)
        runs = np.unique(numbers)
        stays = (
            numbers < np.append(runs, 2.0)[held // RUN] if held else np.zeros(len(numbers), bool)
        )
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
    """A block without some of its rows: as views, or as one copy; always one block or more."""
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
