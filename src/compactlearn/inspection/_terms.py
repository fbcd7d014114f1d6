"""Scores as sums: a base, and terms in groups, for many pairs of a row and a label at once.

Two rules make terms of everything. A sum keeps its terms. And a function f of one number,
s = b + sum of c_j, multiplies each of them by its mean slope between b and s:

    f(s) = f(b) + sum of c_j (f(s) - f(b)) / (s - b).

That is exact, keeps the proportions of the terms, and is what Aumann and Shapley's rule says of
such a function (Sundararajan, Taly, Yan. Axiomatic attribution for deep networks. ICML 2017). Where
functions follow one another it is the rescale rule of DeepLIFT (Shrikumar, Greenside, Kundaje. ICML
2017).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

Array = NDArray[np.float64]

_SMALL = 1e-7  # of the size of a number: below that a difference quotient is a derivative


@dataclass(frozen=True)
class Terms:
    """Terms of one kind: a column for each that there may be, a row for each pair."""

    kind: str
    contributions: scipy.sparse.csr_array  # (n_pairs, n_columns)
    values: Any = None  # the same shape; NaN where there is none; None: those of X
    names: Sequence[str] | None = None  # of the columns; None: those of X, or of the labels

    def speaks_of_the_same(self, other: Terms) -> bool:
        """Return whether columns of both mean the same."""
        return self.kind == other.kind and self.names == other.names


@dataclass(frozen=True)
class Parts:
    """Parts of the scores of some pairs: ``base`` and the terms that are added to it."""

    base: Array  # (n_pairs,)
    groups: tuple[Terms, ...] = ()

    @property
    def total(self) -> Array:
        """The scores."""
        return self.base + self.change

    @property
    def change(self) -> Array:
        """The sum of all terms."""
        change = np.zeros_like(self.base)
        for group in self.groups:
            change += np.asarray(group.contributions.sum(axis=1)).ravel()
        return change

    def plus(self, constant: float | Array) -> Parts:
        """Return the same terms on another base."""
        return replace(self, base=self.base + constant)

    def times(self, factor: float | Array) -> Parts:
        """Return the scores multiplied by one factor, or by one for each pair."""
        factors = np.broadcast_to(np.asarray(factor, dtype=np.float64), self.base.shape)
        groups = tuple(
            replace(group, contributions=scale_rows(group.contributions, factors))
            for group in self.groups
        )
        return Parts(self.base * factors, groups)

    def through(self, function: Callable[[Array], Array]) -> Parts:
        """Return the parts of a function of the scores, by its mean slope; see above.

        >>> two = Terms("feature", scipy.sparse.csr_array([[1.0, 2.0]]))
        >>> square = Parts(np.array([1.0]), (two,)).through(np.square)
        >>> square.base, square.groups[0].contributions.toarray()
        (array([1.]), array([[ 5., 10.]]))
        """
        change = self.change
        slope = mean_slope(function, self.base, change)
        after = function(self.base + change)
        return replace(self.times(slope), base=after - slope * change)

    def replaced(self, where: NDArray[np.bool_], scores: Array) -> Parts:
        """Return the same with other scores for some pairs, which are their bases alone."""
        if not where.any():
            return self
        kept = scipy.sparse.diags_array(np.where(where, 0.0, 1.0), format="csr")
        groups = []
        for group in self.groups:
            contributions = scipy.sparse.csr_array(
                kept @ group.contributions
            )  # with its own arrays
            contributions.eliminate_zeros()
            groups.append(replace(group, contributions=contributions))
        return Parts(np.where(where, scores, self.base), tuple(groups))

    def named(self, prefix: str) -> Parts:
        """Return the same, with a word before the names of terms that no other model has."""
        groups = tuple(
            group
            if group.names is None
            else replace(group, names=[f"{prefix}: {name}" for name in group.names])
            for group in self.groups
        )
        return replace(self, groups=groups)

    def __add__(self, other: Parts) -> Parts:
        """Terms of the same feature, label or part of a model become one."""
        groups = list(self.groups)
        for group in other.groups:
            same = (k for k, mine in enumerate(groups) if mine.speaks_of_the_same(group))
            place = next(same, None)
            if place is None:
                groups.append(group)
                continue
            mine = groups[place]
            groups[place] = replace(
                mine,
                contributions=scipy.sparse.csr_array(mine.contributions + group.contributions),
                values=group.values if mine.values is None else mine.values,
            )
        return Parts(self.base + other.base, tuple(groups))


def mean_slope(function: Callable[[Array], Array], before: Array, change: Array) -> Array:
    """Return slopes of a function between ``before`` and ``before + change``; of no change, there.

    >>> mean_slope(np.square, np.array([1.0, 1.0]), np.array([2.0, 0.0]))
    array([4., 2.])
    """
    step = _SMALL * (1.0 + np.abs(before))
    near = np.abs(change) <= step
    rise = (function(before + step) - function(before - step)) / (2 * step)
    whole = (function(before + change) - function(before)) / np.where(near, 1.0, change)
    return np.where(near, rise, whole)


def scale_rows(matrix: scipy.sparse.csr_array, factors: Array) -> scipy.sparse.csr_array:
    """Return each row times its factor."""
    data = matrix.data * np.repeat(factors, np.diff(matrix.indptr))
    return scipy.sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def single_terms(kind: str, names: Sequence[str], contributions: Array, values: Any) -> Terms:
    """Return some terms that every pair has, as columns of dense matrices."""
    return Terms(kind, scipy.sparse.csr_array(contributions), np.asarray(values), list(names))


def products(rows: Any, weights: Array, which: Any) -> scipy.sparse.csr_array:
    """Return ``rows[i] * weights[which[i]]``; a sparse row has terms where it has entries.

    >>> rows = scipy.sparse.csr_array([[0.0, 2.0], [3.0, 0.0]])
    >>> products(rows, np.array([[5.0, 7.0]]), np.array([0, 0])).toarray()
    array([[ 0., 14.],
           [15.,  0.]])
    """
    if not scipy.sparse.issparse(rows):
        return scipy.sparse.csr_array(np.asarray(rows, dtype=np.float64) * weights[which])
    rows = scipy.sparse.csr_array(rows)
    row = np.repeat(which, np.diff(rows.indptr))
    data = rows.data.astype(np.float64) * weights[row, rows.indices]
    return scipy.sparse.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)
