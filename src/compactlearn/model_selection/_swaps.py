"""Swaps between folds that bring the counts of labels nearer to their shares.

The objective is F = sum over folds f and columns l of e_fl^2, where e is the count less the share
that the fold should have; the size of a fold is one more column. If units with counts p and q
change places between folds a and b, then with z = p - q and v = e_b - e_a

    F changes by 2 (z'v + z'z) = 2 (p'v - q'v + |p|^2 + |q|^2 - 2 p'q).

A unit that moves alone changes places with a unit of nothing. Counts are integers, so
z_l v_l + z_l^2 >= |z_l| (|z_l| - |v_l|) is negative for some z_l only if |v_l| > 1: two folds that
differ by one at most in every column cannot gain.

Shares are multiples of 1 / sum(weights). All numbers below are in that unit: integers, on which
float64 makes no errors, so that the same seed gives the same folds on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.model_selection._rarest_first import Folds, Integers, Units

Array = NDArray[np.float64]

# All three bound the work. Most sets are finished within five sweeps; half as many candidates
# raise the sum of deviations on corel5k by 1 %; up to 14 folds, 100 are all pairs of folds.
_SWEEPS = 10
_CANDIDATES = 128
_PAIRS_OF_FOLDS = 100


@dataclass(frozen=True)
class _Side:
    """Candidates of one fold; the last row of their counts is zero, for moves of one unit."""

    units: NDArray[np.intp]
    counts: Any  # csr_array (len(units) + 1, n_columns)
    squares: Array  # |p|^2 in the common unit


def improve(fold: Folds, units: Units, weights: Integers) -> Folds:
    """Swap units, and move groups, until no candidate lowers F; return the new folds.

    Single rows only change places, so that the sizes of folds stay.
    """
    fold = fold.copy()
    sizes = scipy.sparse.csr_array(units.sizes[:, None])
    counts = scipy.sparse.csr_array(scipy.sparse.hstack([units.counts, sizes]), dtype=np.float64)
    step = float(weights.sum())
    squares = step * np.asarray(counts.multiply(counts).sum(axis=1)).ravel()
    excess = _excess(fold, counts, weights)
    for _ in range(_SWEEPS):
        changed = False
        pull = counts @ excess.T  # chooses candidates only, so it may lag behind within a sweep
        for a, b in _uneven(excess, step):
            sides = [_side(fold, counts, squares, pull, *way) for way in ((a, b), (b, a))]
            distance = _distances(sides, step, may_move=not units.alone)
            changed |= _exchange(fold, excess, step, (a, b), sides, distance)
        if not changed:
            break
    return fold


def _excess(fold: Folds, counts: Any, weights: Integers) -> Array:
    """Return the excess e (n_folds, n_columns): the counts of each fold less its share."""
    n = len(fold)
    sums = scipy.sparse.csr_array((np.ones(n), (fold, np.arange(n))), shape=(len(weights), n))
    total = np.asarray(counts.sum(axis=0)).ravel()
    return weights.sum() * (sums @ counts).toarray() - np.outer(weights, total)


def _uneven(excess: Array, step: float) -> list[tuple[int, int]]:
    """Return the pairs of folds between which a swap could gain, the most promising first."""
    first, second = np.triu_indices(len(excess), 1)
    gains = np.concatenate(
        [
            np.maximum(np.abs(excess[a + 1 :] - excess[a]) - step, 0).sum(axis=1)
            for a in range(len(excess))
        ]
    )
    order = np.argsort(-gains, kind="stable")[:_PAIRS_OF_FOLDS]
    return [(int(first[p]), int(second[p])) for p in order if gains[p] > 0]


def _side(fold: Folds, counts: Any, squares: Array, pull: Array, a: int, b: int) -> _Side:
    """Return the units of fold a whose single move to fold b would lower F most."""
    members = np.flatnonzero(fold == a)
    if len(members) > _CANDIDATES:
        change = pull[members, b] - pull[members, a] + squares[members]  # p'v + |p|^2
        members = members[_least(change, _CANDIDATES)]
    rows = counts[members]
    indptr = np.append(rows.indptr, rows.indptr[-1])
    shape = len(members) + 1, counts.shape[1]
    with_nothing = scipy.sparse.csr_array((rows.data, rows.indices, indptr), shape=shape)
    return _Side(members, with_nothing, np.append(squares[members], 0.0))


def _least(values: Array, count: int) -> NDArray[np.intp]:
    """Return the positions of the least values; the first of equal ones, unlike argpartition.

    >>> _least(np.array([3.0, 1.0, 3.0, 2.0, 3.0]), 3).tolist()
    [1, 3, 0]
    """
    bound = np.partition(values, count - 1)[count - 1]
    below = np.flatnonzero(values < bound)
    return np.append(below, np.flatnonzero(values == bound)[: count - len(below)])


def _distances(sides: list[_Side], step: float, *, may_move: bool) -> Array:
    """Return |p - q|^2 of all pairs of candidates; infinity for pairs that may not be swapped."""
    one, other = sides
    products = (one.counts @ other.counts.T).toarray()
    distance = one.squares[:, None] + other.squares - 2 * step * products
    distance[-1, -1] = np.inf
    if may_move:  # but the first of each side only for another, or a fold could become empty
        distance[0, -1] = distance[-1, 0] = np.inf
    else:
        distance[-1, :] = distance[:, -1] = np.inf
    return distance


def _exchange(
    fold: Folds,
    excess: Array,
    step: float,
    pair: tuple[int, int],
    sides: list[_Side],
    distance: Array,
) -> bool:
    """Make the best swap of candidates until none gains; folds and excess change in place."""
    a, b = pair
    one, other = sides
    v = excess[b] - excess[a]
    changed = False
    while True:
        change = distance + (one.counts @ v)[:, None] - other.counts @ v
        i, j = divmod(int(change.argmin()), change.shape[1])
        if not change[i, j] < 0:
            return changed
        changed = True
        for side, place, source, goal in ((one, i, a, b), (other, j, b, a)):
            if place == len(side.units):  # nothing
                continue
            fold[side.units[place]] = goal
            span = slice(side.counts.indptr[place], side.counts.indptr[place + 1])
            columns, amounts = side.counts.indices[span], step * side.counts.data[span]
            excess[source, columns] -= amounts
            excess[goal, columns] += amounts
            v[columns] += 2 * amounts if goal == b else -2 * amounts
        # Once moved, a unit rests until the next sweep; nothing may be used again.
        if i < len(one.units):
            distance[i] = np.inf
        if j < len(other.units):
            distance[:, j] = np.inf
