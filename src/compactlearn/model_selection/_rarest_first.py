"""Iterative stratification: the rarest label first, to the folds that lack it most.

After Sechidis, Tsoumakas and Vlahavas, "On the Stratification of Multi-Label Data", ECML PKDD 2011.
Their algorithm hands out the rows of one label one by one, each to the fold that desires the label
most, then to the fold that desires rows most, then at random. None of this looks at the other
labels of the row. So the whole sequence of folds is known as soon as the label is chosen, as the
solution of a water-filling problem, and all rows of a label are dealt in one step.

Two things differ from the paper. A fold that is full takes no more rows, so that sizes are exact;
what this costs in balance, and more, ``_swaps`` gains back. And desires are integers, in units of
1 / n_folds of a row: ties are then ties, not rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Folds = NDArray[np.intp]

_DONE = np.iinfo(np.int64).max


def deal(Y: Any, n_folds: int, rng: np.random.RandomState | None) -> Folds:
    """Return a fold for each row of a label matrix; equal rows are dealt in their order.

    Sizes differ by one row at most, and the first folds are the larger ones. ``rng`` breaks the
    last ties; without it the lower fold wins them.
    """
    n_rows, n_labels = Y.shape
    by_label = scipy.sparse.csc_array(Y)
    total = np.diff(by_label.indptr).astype(np.int64)
    left = np.where(total == 0, _DONE, total)  # rows not yet dealt
    have = np.zeros((n_folds, n_labels), dtype=np.int64)
    room = (n_rows + np.arange(n_folds)[::-1]) // n_folds
    fold = np.full(n_rows, -1, dtype=np.intp)
    while n_labels and left[rarest := int(left.argmin())] != _DONE:
        rows = by_label.indices[by_label.indptr[rarest] : by_label.indptr[rarest + 1]]
        rows = rows[fold[rows] < 0]
        desire = total[rarest] - n_folds * have[:, rarest]
        fold[rows] = spread(fill(desire, room, rows.size, _ties(n_folds, rng)))
        room -= np.bincount(fold[rows], minlength=n_folds)
        dealt = Y[rows]
        np.add.at(have, (np.repeat(fold[rows], np.diff(dealt.indptr)), dealt.indices), 1)
        np.subtract.at(left, dealt.indices, 1)
        left[dealt.indices[left[dealt.indices] == 0]] = _DONE
    rest = np.flatnonzero(fold < 0)  # no labels: what they are needed for is the size
    fold[rest] = spread(fill(room * n_folds, room, rest.size, _ties(n_folds, rng)))
    return fold


def fill(desire: Integers, room: Integers, count: int, ties: NDArray[np.intp]) -> Integers:
    """Return how many of ``count`` rows each fold gets, none more than its room.

    Each row goes to the fold of largest desire, then room, then lowest tie; the desire drops by the
    number of folds.

    >>> fill(np.array([8, 4, 0]), np.array([9, 9, 9]), 4, np.arange(3))
    array([3, 1, 0])
    >>> fill(np.array([8, 4, 0]), np.array([1, 9, 9]), 4, np.arange(3))
    array([1, 2, 1])
    """
    filled = np.zeros_like(room)
    free = np.flatnonzero(room > 0)
    while count:
        share = _level(desire[free], room[free], count, room.size, ties[free])
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


def _ties(n_folds: int, rng: np.random.RandomState | None) -> NDArray[np.intp]:
    return np.arange(n_folds) if rng is None else rng.permutation(n_folds)
