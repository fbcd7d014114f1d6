"""Graphs of near rows, for LPP, NPE, MIFS and SLRM: sparse matrices of order N.

Only inner products of rows are used, so that a kernel matrix serves as well. The nearest rows of a
row are found among all (N^2 products, a block of rows at a time).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.linalg._left_rows import row_weighted
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._row_sums import row_blocks
from compactlearn.linalg._rows_pair import RowsPair

Array = NDArray[np.float64]
Places = NDArray[np.intp]

_SHIFT = 1e-3  # of the trace, added to the Gram matrix of neighbours: more of them than dimensions


@dataclass(frozen=True)
class RowProducts:
    """Inner products of rows; ``kernel`` where rows are known by these alone."""

    rows: Any | None
    kernel: Array | None
    squares: Array  # (N,)

    @classmethod
    def of_rows(cls, rows: Any) -> RowProducts:
        """Return those of a block; a dense one is best centred first, for its digits."""
        entries = rows.multiply(rows) if scipy.sparse.issparse(rows) else rows * rows
        return cls(rows, None, np.asarray(entries.sum(axis=1)).ravel())

    @classmethod
    def of_kernel(cls, kernel: Array) -> RowProducts:
        return cls(None, kernel, np.diag(kernel).copy())

    @classmethod
    def of_pair(cls, pair: RowsPair) -> RowProducts:
        """Return those of a pair's left rows, whatever their weights."""
        if pair.left.by_kernel:
            kernel = pair.left.kernel
            if pair.left.roots is not None:
                kernel = row_weighted(kernel.copy(), 1.0 / pair.left.roots)
            return cls.of_kernel(kernel)
        sparse = scipy.sparse.issparse(pair.left.rows)
        return cls.of_rows(pair.left.rows if sparse else pair.left.rows - pair.mean_left)

    @property
    def count(self) -> int:
        return self.squares.size

    def with_all(self, block: slice) -> Array:
        """(B, N) products of some rows with all."""
        if self.kernel is not None:
            return self.kernel[block]
        assert self.rows is not None
        found = self.rows[block] @ self.rows.T
        return found.toarray() if scipy.sparse.issparse(found) else found

    def between(self, i: Places, j: Places) -> Array:
        """Products of row ``i[n]`` with row ``j[n]``."""
        if self.kernel is not None:
            return self.kernel[i, j]
        assert self.rows is not None
        if scipy.sparse.issparse(self.rows):
            return np.asarray(self.rows[i].multiply(self.rows[j]).sum(axis=1)).ravel()
        return np.einsum("nd,nd->n", self.rows[i], self.rows[j])


def unweighted_rows(pair: Pair, owner: str) -> RowsPair:
    """Return the pair, whose rows have no weights; a graph needs rows, so sums are not enough."""
    assert isinstance(pair, RowsPair)
    if pair.weights is not None:
        raise ValueError(
            f"{owner} takes no sample_weight: a graph of nearest rows does not say what a row that "
            "counts twice is; leave it out, or repeat rows."
        )
    return pair


@dataclass(frozen=True)
class RowNeighbours:
    """The k nearest other rows of every row, nearest first."""

    places: Places  # (N, k)
    squares: Array  # (N, k) squared distances

    @classmethod
    def of(cls, products: RowProducts, k: int) -> RowNeighbours:
        """``k`` is cut to N - 1."""
        n = products.count
        k = min(k, n - 1)
        places, squares = np.empty((n, k), dtype=np.intp), np.empty((n, k))
        for block in row_blocks(n, n):
            distances = products.squares - 2.0 * products.with_all(block)
            distances += products.squares[block][:, None]
            np.maximum(distances, 0.0, out=distances)
            own = np.arange(n)[block]
            distances[np.arange(own.size), own] = np.inf
            found = np.sort(np.argpartition(distances, min(k, n - 1), axis=1)[:, :k], axis=1)
            theirs = np.take_along_axis(distances, found, axis=1)
            order = np.argsort(theirs, axis=1, kind="stable")
            places[block] = np.take_along_axis(found, order, axis=1)
            squares[block] = np.take_along_axis(theirs, order, axis=1)
        return cls(places, squares)

    def matrix(self, values: Array) -> Any:
        """The values (N, k) as a sparse matrix: entry (i, j) where j is a neighbour of i."""
        n, k = self.places.shape
        starts = np.arange(0, n * k + 1, max(k, 1))[: n + 1] if k else np.zeros(n + 1, dtype=int)
        parts = (values.ravel(), self.places.ravel(), starts)
        return scipy.sparse.csr_array(parts, shape=(n, n))


def affinities(near: RowNeighbours, width: float | str | None) -> Any:
    """Symmetric weights of neighbours, either of whom may be the other's: exp(-distance^2 / width),
    or 1 without a width; "auto" is the mean squared distance of neighbours.

    Where the width is so small that all of them would be 0 in double precision, all are multiplied
    by what makes the largest 1.
    """
    if isinstance(width, str):
        width = float(near.squares.mean()) if near.squares.size else 1.0
    if width is None or width <= 0:  # of rows that are all alike
        values = np.ones_like(near.squares)
    else:
        exponents = -near.squares / width
        values = np.exp(exponents)
        if not values.any():
            values = np.exp(exponents - exponents.max(initial=-np.inf))
    W = near.matrix(values)
    return W.maximum(W.T).tocsr()


def laplacian(W: Any) -> tuple[Any, Array]:
    """``D - W`` with the sums D of the rows of W, and these."""
    degrees = np.asarray(W.sum(axis=1)).ravel()
    return (scipy.sparse.diags_array(degrees) - W).tocsr(), degrees


def reconstruction(products: RowProducts, near: RowNeighbours) -> Any:
    """Weights, of sum 1 in every row, by which its neighbours reconstruct a row best: a sparse
    matrix. A thousandth of its trace is added to the Gram matrix of the differences, which would be
    singular with more neighbours than dimensions."""
    n, k = near.places.shape
    own = np.arange(n)
    to_own = [products.between(near.places[:, a], own) for a in range(k)]
    gram = np.empty((n, k, k))
    for a in range(k):
        for b in range(a + 1):
            both = products.between(near.places[:, a], near.places[:, b])
            gram[:, a, b] = both - to_own[a] - to_own[b] + products.squares
            gram[:, b, a] = gram[:, a, b]
    traces = np.trace(gram, axis1=1, axis2=2)
    shift = np.where(traces > 0, _SHIFT * traces, 1.0)
    gram += shift[:, None, None] * np.eye(k)
    weights = np.linalg.solve(gram, np.ones((n, k, 1)))[:, :, 0] if k else np.empty((n, 0))
    return near.matrix(weights / weights.sum(axis=1, keepdims=True))
