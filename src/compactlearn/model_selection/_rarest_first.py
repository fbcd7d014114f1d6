"""Iterative stratification: the rarest label first, to the folds that lack it most.

After Sechidis, Tsoumakas and Vlahavas, "On the Stratification of Multi-Label Data", ECML PKDD 2011.
Their algorithm hands out the rows of one label one by one, each to the fold that desires the label
most, then to the fold that desires rows most, then at random. None of this looks at the other
labels of the row. So the whole sequence of folds is known as soon as the label is chosen, as the
solution of a water-filling problem, and all rows of a label are dealt in one step. Labels, pairs of
labels and groups of rows are one sparse matrix of counts.

Two things differ from the paper. A fold that is full takes no more rows, so that sizes are exact;
what this costs in balance, and more, ``_swaps`` gains back. And desires are integers, in units of
1 / sum(weights): ties are then ties, not rounding.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._memory import require_memory

Integers = NDArray[np.int64]
Folds = NDArray[np.intp]

# Codes, their sorting and the matrix, per pair of labels that some row has.
_BYTES_PER_PAIR = 48


@dataclass(frozen=True)
class Units:
    """Rows or groups of rows, none of which may be divided."""

    counts: Any  # csr_array (n_units, n_columns) of int64: rows of the unit that have the label
    sizes: Integers  # (n_units,) rows of each

    @property
    def alone(self) -> bool:
        """Return whether every unit is a single row."""
        return bool((self.sizes == 1).all())

    @property
    def n_rows(self) -> int:
        """Return the number of rows of all units."""
        return int(self.sizes.sum())

    def reordered(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Units:
        """Return the same units and columns in another order."""
        counts = self.counts[rows][:, columns]
        counts.sort_indices()
        return Units(counts, self.sizes[rows])


def make_units(matrix: Any, member: NDArray[np.intp] | None, order: int) -> Units:
    """Return the units of a label matrix: its rows, or the groups that ``member`` numbers.

    >>> units = make_units(scipy.sparse.csr_array([[1, 1], [0, 1], [1, 1]]), np.array([0, 0, 1]), 2)
    >>> units.counts.toarray()  # two labels, and then their pair
    array([[1, 2, 1],
           [1, 1, 1]])
    >>> units.sizes
    array([2, 1])
    """
    counts = matrix.astype(np.int64)
    if order == 2:
        counts = scipy.sparse.csr_array(scipy.sparse.hstack([counts, label_pairs(counts)]))
    if member is None:
        return Units(counts, np.ones(counts.shape[0], dtype=np.int64))
    n = member.size
    joined = scipy.sparse.csr_array(
        (np.ones(n, dtype=np.int64), (member, np.arange(n))), shape=(member.max() + 1, n)
    )
    return Units(scipy.sparse.csr_array(joined @ counts), np.bincount(member))


def label_pairs(matrix: Any) -> Any:
    """Return the rows that have both labels, for every pair that two rows or more have.

    A pair that only one row has is as balanced as it can be wherever that row goes.

    >>> label_pairs(scipy.sparse.csr_array([[1, 1, 0], [1, 1, 1], [0, 0, 1]])).toarray()
    array([[1],
           [1],
           [0]])
    """
    n_rows, n_labels = matrix.shape
    lengths = np.diff(matrix.indptr).astype(np.int64)
    n_pairs = int((lengths * (lengths - 1) // 2).sum())
    require_memory(
        n_pairs * _BYTES_PER_PAIR,
        what=f"Counting the {n_pairs} pairs of labels in {n_rows} rows",
        remedy="Use order=1, which counts single labels only.",
    )
    # Entry p of a row that ends at `end` is joined with the entries p + 1, ..., end - 1.
    after = np.repeat(matrix.indptr[1:].astype(np.int64), lengths) - np.arange(matrix.nnz) - 1
    first = np.repeat(np.arange(matrix.nnz), after)
    ends = np.cumsum(after)
    second = first + 1 + np.arange(first.size) - np.repeat(ends - after, after)
    code = matrix.indices[first].astype(np.int64) * n_labels + matrix.indices[second]
    row = np.repeat(np.repeat(np.arange(n_rows), lengths), after)
    _, column, count = np.unique(code, return_inverse=True, return_counts=True)
    kept = count > 1
    chosen = kept[column]
    return scipy.sparse.csr_array(
        (
            np.ones(int(chosen.sum()), dtype=np.int64),
            (row[chosen], (np.cumsum(kept) - 1)[column[chosen]]),
        ),
        shape=(n_rows, int(kept.sum())),
    )


_DONE = np.iinfo(np.int64).max


def deal(
    units: Units, weights: Integers, quotas: Integers, rng: np.random.RandomState | None
) -> Folds:
    """Return a fold for each unit; equal units are dealt in their order.

    The share of each label that a fold should have is its weight over the sum of ``weights``
    (n_folds,). ``quotas`` (n_folds,) are the rows of each fold, exact where all units are single
    rows. ``rng`` breaks the last ties; without it the lower fold wins them.
    """
    n_folds, step = len(weights), int(weights.sum())
    n_units, n_columns = units.counts.shape
    counts, by_column = units.counts, scipy.sparse.csc_array(units.counts)
    total = np.asarray(counts.sum(axis=0), dtype=np.int64).ravel()
    left = np.diff(by_column.indptr).astype(np.int64)  # units not yet dealt
    left[left == 0] = _DONE
    have = np.zeros((n_folds, n_columns), dtype=np.int64)
    room = quotas.astype(np.int64)
    fold = np.full(n_units, -1, dtype=np.intp)
    while n_columns and left[rarest := int(left.argmin())] != _DONE:
        span = slice(by_column.indptr[rarest], by_column.indptr[rarest + 1])
        waiting = fold[by_column.indices[span]] < 0
        rows, amounts = by_column.indices[span][waiting], by_column.data[span][waiting]
        desire = total[rarest] * weights - step * have[:, rarest]
        chosen = place(amounts, units.sizes[rows], desire, room, step, _ties(n_folds, rng))
        fold[rows] = chosen
        np.subtract.at(room, chosen, units.sizes[rows])
        dealt = counts[rows]
        columns = dealt.indices
        np.add.at(have, (np.repeat(chosen, np.diff(dealt.indptr)), columns), dealt.data)
        np.subtract.at(left, columns, 1)
        left[columns[left[columns] == 0]] = _DONE
    rest = np.flatnonzero(fold < 0)  # no labels: what they are needed for is the size
    sizes = units.sizes[rest]
    fold[rest] = place(sizes, sizes, room * step, room, step, _ties(n_folds, rng))
    return fold


def place(
    amounts: Integers,
    sizes: Integers,
    desire: Integers,
    room: Integers,
    step: int,
    ties: NDArray[np.intp],
) -> Folds:
    """Return the folds of all units that have one label.

    ``amounts`` says how often each has it; each takes ``step`` times that from the desire of its
    fold, and its size from the room.

    >>> one = np.ones(5, dtype=int)
    >>> place(one, one, np.array([3, 5]), np.array([9, 9]), 2, np.arange(2)).tolist()
    [1, 0, 1, 0, 1]
    """
    if (amounts == 1).all() and (sizes == 1).all():
        return spread(fill(desire, room, len(amounts), step, ties))
    # The largest first, as for any packing; each to the fold that is first by desire, room, tie.
    # A full fold comes last, but is not out: groups seldom fit exactly.
    desires, rooms = desire.tolist(), room.tolist()
    heap = [
        (r <= 0, -d, -r, t, f)
        for f, (d, r, t) in enumerate(zip(desires, rooms, ties.tolist(), strict=True))
    ]
    heapq.heapify(heap)
    chosen = np.empty(len(amounts), dtype=np.intp)
    order = np.lexsort((-sizes, -amounts))
    for unit in order:
        _, less_desire, less_room, tie, f = heap[0]
        less_desire += step * int(amounts[unit])
        less_room += int(sizes[unit])
        heapq.heapreplace(heap, (less_room >= 0, less_desire, less_room, tie, f))
        chosen[unit] = f
    return chosen


def fill(
    desire: Integers, room: Integers, count: int, step: int, ties: NDArray[np.intp]
) -> Integers:
    """Return how many of ``count`` single rows each fold gets, none more than its room.

    >>> fill(np.array([8, 4, 0]), np.array([9, 9, 9]), 4, 3, np.arange(3))
    array([3, 1, 0])
    >>> fill(np.array([8, 4, 0]), np.array([1, 9, 9]), 4, 3, np.arange(3))
    array([1, 2, 1])
    """
    filled = np.zeros_like(room)
    free = np.flatnonzero(room > 0)
    while count:
        share = _level(desire[free], room[free], count, step, ties[free])
        over = share > room[free]
        if not over.any():
            filled[free] = share
            break
        # With those out, the others' shares only grow: a fold found too full stays so.
        full = free[over]
        filled[full] = room[full]
        count -= int(room[full].sum())
        free = free[~over]
    return filled


def _level(
    desire: Integers, room: Integers, count: int, step: int, ties: NDArray[np.intp]
) -> Integers:
    """Return shares that always serve the largest desire, which drops by ``step`` each time.

    The level L at which sum(max(0, desire - L)) = count * step is rounded up to an integer. Then
    every desire that stays above it is served for certain, and fewer rows than folds above the
    level are left, one for each at most.
    """
    falling = np.sort(desire)[::-1]
    surplus = np.cumsum(falling) - count * step
    above = int(np.flatnonzero(falling * np.arange(1, len(falling) + 1) > surplus)[-1])
    level = -(-int(surplus[above]) // (above + 1))
    share = np.maximum(0, (desire - level) // step)
    last = np.lexsort((ties, share - room, step * share - desire))[: count - int(share.sum())]
    share[last] += 1
    return share


def spread(shares: Integers) -> Folds:
    """Return a sequence of folds with the given shares, each spread as evenly as possible.

    >>> spread(np.array([1, 4])).tolist()
    [1, 1, 0, 1, 1]
    """
    fold = np.repeat(np.arange(len(shares)), shares)
    start = np.repeat(np.cumsum(shares) - shares, shares)
    return fold[np.argsort((np.arange(fold.size) - start + 0.5) / shares[fold], kind="stable")]


def fill_empty(fold: Folds, units: Units, n_folds: int) -> None:
    """Give every fold a unit, in place: the smallest one of the fold that has most."""
    members = np.bincount(fold, minlength=n_folds)
    for empty in np.flatnonzero(members == 0):
        rich = np.flatnonzero(fold == members.argmax())
        fold[rich[units.sizes[rich].argmin()]] = empty
        members = np.bincount(fold, minlength=n_folds)


def _ties(n_folds: int, rng: np.random.RandomState | None) -> NDArray[np.intp]:
    return np.arange(n_folds) if rng is None else rng.permutation(n_folds)
