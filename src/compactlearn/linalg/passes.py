"""Sums over blocks of rows, for features and labels too many for a matrix of their products.

Each is a small callable that makes its share of a sum of a block; shares are added by ``np.add`` or
by the type's own. Letters as in :mod:`compactlearn.linalg.pairs`: Xc are centred rows times the
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

from compactlearn.linalg.arrays import scale_columns
from compactlearn.linalg.dense import self_product
from compactlearn.linalg.held_rows import Integers
from compactlearn.linalg.moments import column_moments, row_blocks, weighted_sum
from compactlearn.linalg.row_source import Block
from compactlearn.linalg.rowwise_pair import weighted_square_sum

Array = NDArray[np.float64]


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
        a, b = self.root * self.Q[:n_left], self.Q[n_left:]
        for X, Y, w in _portions(block, self.mean, self.Q.shape[1], self.skip):
            U = X @ a
            if scipy.sparse.issparse(X):
                U -= self.mean @ a
            U += Y @ b
            if w is not None:
                U *= w[:, None]
            out[:n_left] += X.T @ U
            if scipy.sparse.issparse(X):
                out[:n_left] -= np.outer(self.mean, U.sum(axis=0))
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
        for X, _, w in _portions(block, self.mean, self.C.shape[1], self.skip):
            U = X @ self.C
            if scipy.sparse.issparse(X):
                U -= self.mean @ self.C
            if w is not None:
                U *= w[:, None]
            out += X.T @ U
            if scipy.sparse.issparse(X):
                out -= np.outer(self.mean, U.sum(axis=0))
        return out


@dataclass(frozen=True, eq=False)
class GramOf:
    """``P'Xc'XcP`` for directions P."""

    P: Array
    mean: Array
    skip: Integers | None = None

    def __call__(self, block: Block) -> Array:
        out = np.zeros((self.P.shape[1], self.P.shape[1]))
        for X, _, w in _portions(block, self.mean, self.P.shape[1], self.skip):
            U = X @ self.P
            if scipy.sparse.issparse(X):
                U -= self.mean @ self.P
            if w is not None:
                U *= np.sqrt(w)[:, None]
            out += self_product(U.T)
        return out


def _portions(
    block: Block, mean: Array, width: int, skip: Integers | None
) -> Iterator[tuple[Any, Any, Array | None]]:
    """Rows whose products of so many columns fit in the cache; dense ones are centred."""
    weights = _weights(block, skip)
    for rows in row_blocks(block.n_rows, max(width, 1 if _sparse(block) else mean.size)):
        X = block.X[rows]
        if not _sparse(block):
            X = X - mean
        yield X, block.Y[rows], None if weights is None else weights[rows]


def _sparse(block: Block) -> bool:
    return scipy.sparse.issparse(block.X)


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
