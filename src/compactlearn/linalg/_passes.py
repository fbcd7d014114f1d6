"""Sums over blocks of rows, for features and labels too many for a matrix of their products.

Each is a small callable that makes its share of a sum of a block; shares are added by ``np.add`` or
by the type's own. Letters as in :mod:`compactlearn.linalg._pairs`: Xc are centred rows times the
roots of their weights, Z = [root Xc, Y].

Rows that are held out (``skip``, their positions among all) count nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.linalg._arrays import scale_columns
from compactlearn.linalg._dense import self_product
from compactlearn.linalg._moments import BLOCK_BYTES, column_moments, row_blocks, weighted_sum
from compactlearn.linalg._row_source import Block, Integers
from compactlearn.linalg._rowwise_pair import weighted_square_sum

Array = NDArray[np.float64]

SPARSE_BYTES = 1 << 26  # of the images of sparse rows that are made at a time


@dataclass(frozen=True, eq=False)
class ColumnSums:
    """Weight, means and squared deviations of the left columns, sums of the right ones."""

    count: float
    mean_left: Array  # (D,)
    deviations: Array  # (D,) sums of squared deviations from the mean
    sum_right: Array  # (M,)
    right_energy: float  # sum of squares of the right block

    def __add__(self, other: ColumnSums) -> ColumnSums:
        count = self.count + other.count
        share = other.count / count if count else 0.0
        shift = other.mean_left - self.mean_left
        return ColumnSums(
            count,
            self.mean_left + share * shift,
            self.deviations + other.deviations + self.count * share * shift**2,
            self.sum_right + other.sum_right,
            self.right_energy + other.right_energy,
        )

    def rescaled(self, factors: Array) -> ColumnSums:
        """Those after the left columns have been multiplied by factors."""
        mean, deviations = self.mean_left * factors, self.deviations * factors**2
        return replace(self, mean_left=mean, deviations=deviations)


def column_sums(block: Block) -> ColumnSums:
    """Those of a block."""
    X, Y, w = block.X, block.Y, block.weights
    if block.n_rows == 0 or (w is not None and not w.any()):
        nothing = np.zeros(X.shape[1])
        return ColumnSums(0.0, nothing, nothing, np.zeros(Y.shape[1]), 0.0)
    mean, variances, count = column_moments(X, w)
    return ColumnSums(count, mean, count * variances, weighted_sum(Y, w), weighted_square_sum(Y, w))


@dataclass(frozen=True, eq=False)
class ImagesOf:
    """``Z'Z Q`` for columns Q of height D + M."""

    Q: Array
    root: float
    mean: Array  # (D,)
    skip: Integers | None = None

    def __call__(self, block: Block) -> Array:
        n_left, out = self.mean.size, np.zeros(self.Q.shape)
        sides = self.Q[:n_left], self.Q[n_left:]
        for X, Y, U in _images(block, *sides, self.mean, self.skip, root=self.root):
            _add_product(out[:n_left], X, U, self.mean)
            out[n_left:] += Y.T @ U
        out[:n_left] *= self.root
        return out


@dataclass(frozen=True, eq=False)
class LeftImagesOf:
    """``Xc'Xc C`` for columns C of height D."""

    C: Array
    mean: Array
    skip: Integers | None = None

    def __call__(self, block: Block) -> Array:
        out = np.zeros(self.C.shape)
        for X, _, U in _images(block, self.C, None, self.mean, self.skip):
            _add_product(out, X, U, self.mean)
        return out


@dataclass(frozen=True, eq=False)
class GramOf:
    """``P'Xc'XcP`` for directions P."""

    P: Array
    mean: Array
    skip: Integers | None = None

    def __call__(self, block: Block) -> Array:
        out = np.zeros((self.P.shape[1], self.P.shape[1]))
        for _, _, U in _images(block, self.P, None, self.mean, self.skip, roots=True):
            out += self_product(U.T)
        return out


def _images(
    block: Block,
    a: Array,
    b: Array | None,
    mean: Array,
    skip: Integers | None,
    *,
    root: float = 1.0,
    roots: bool = False,
) -> Iterator[tuple[Any, Any, Array]]:
    """``root (x - mean) a + y b`` of the rows, times their weights or the ``roots`` of these.

    Dense rows, which are centred here, come in portions that fit in the cache. Of sparse rows there
    are as many as have images of a few dozen megabytes: what is made of a portion next is as tall
    as there are columns, whatever the number of its rows.
    """
    weights = _weights(block, skip)
    if weights is not None and roots:
        weights = np.sqrt(weights)
    sparse = scipy.sparse.issparse(block.X)
    step = max(1, SPARSE_BYTES // (8 * max(1, a.shape[1])))
    portions = row_blocks(block.n_rows, max(a.shape[1], mean.size))
    if sparse:
        starts = range(0, block.n_rows, step)
        portions = (slice(start, min(start + step, block.n_rows)) for start in starts)
    for rows in portions:
        X, Y = block.X[rows], block.Y[rows]
        if not sparse:
            X = X - mean
        U = np.asarray(X @ a)
        if sparse:
            U -= mean @ a
        if b is not None:
            U *= root
            U += Y @ b
        if weights is not None:
            U *= weights[rows, None]
        yield X, Y, U


def _add_product(out: Array, X: Any, U: Array, mean: Array) -> None:
    """``out += Xc'U``, where dense rows are centred and sparse ones are not."""
    out += X.T @ U
    if scipy.sparse.issparse(X):
        total = U.sum(axis=0)
        step = max(1, BLOCK_BYTES // (8 * max(1, total.size)))
        for start in range(0, mean.size, step):  # no second matrix as tall as there are columns
            out[start : start + step] -= np.outer(mean[start : start + step], total)


def _weights(block: Block, skip: Integers | None) -> Array | None:
    if skip is None:
        return block.weights
    first, last = np.searchsorted(skip, [block.start, block.start + block.n_rows])
    if first == last:
        return block.weights
    weights = np.ones(block.n_rows) if block.weights is None else block.weights.copy()
    weights[skip[first:last] - block.start] = 0.0
    return weights


@dataclass(frozen=True, eq=False)
class Several:
    """Several sums in one pass."""

    parts: tuple[Any, ...]

    def __call__(self, block: Block) -> tuple[Any, ...]:
        return tuple(part(block) for part in self.parts)


def add_several(one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
    """Two shares of :class:`Several`."""
    return tuple(a + b for a, b in zip(one, other, strict=True))


@dataclass(frozen=True, eq=False)
class Scaled:
    """A sum of rows whose left columns are multiplied by factors first."""

    part: Any
    factors: Array

    def __call__(self, block: Block) -> Any:
        return self.part(replace(block, X=scale_columns(block.X, self.factors)))
