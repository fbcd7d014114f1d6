"""Graphs of rows that are near each other: sparse matrices of order N with some k entries a row.

All that is asked of rows are their inner products, so that a kernel matrix serves as well. The
nearest rows of a row are found among all (N^2 products, a block of rows at a time).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.linalg._moments import row_blocks
from compactlearn.linalg._operators import Operator, Plain

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
        """Of a dense block, best centred first as distances need no more digits then, or of a
        sparse one."""
        entries = rows.multiply(rows) if scipy.sparse.issparse(rows) else rows * rows
        return cls(rows, None, np.asarray(entries.sum(axis=1)).ravel())

    @classmethod
    def of_kernel(cls, kernel: Array) -> RowProducts:
        return cls(None, kernel, np.diag(kernel).copy())

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


@dataclass(frozen=True)
class Neighbours:
    """The k nearest other rows of every row, nearest first."""

    places: Places  # (N, k)
    squares: Array  # (N, k) squared distances

    @classmethod
    def of(cls, products: RowProducts, k: int) -> Neighbours:
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


def affinities(near: Neighbours, width: float | str | None) -> Any:
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


def normalised_laplacian(W: Any) -> Any:
    """L with ``v'Lv = 1/2 sum_ij w_ij (v_i / sqrt(d_i) - v_j / sqrt(d_j))^2`` for the sums d of the
    rows of W, whose diagonal does not count. Eigenvalues are from 0 to 2; a row without any edge
    has none but zeros in L.

    >>> normalised_laplacian(scipy.sparse.csr_array([[9.0, 2.0], [2.0, 0.0]])).toarray()
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    edges = scipy.sparse.coo_array(W)
    i, j = edges.coords
    kept = (i != j) & (edges.data > 0)
    # In parts of the largest, as sums of large weights might overflow.
    i, j, values = i[kept], j[kept], edges.data[kept] / edges.data.max(initial=1e-300)
    degrees = np.bincount(i, values, minlength=W.shape[0])
    roots = np.sqrt(np.where(degrees > 0, degrees, 1.0))
    near = scipy.sparse.csr_array((values / roots[i] / roots[j], (i, j)), shape=W.shape)
    return (scipy.sparse.diags_array((degrees > 0).astype(np.float64)) - near).tocsr()


@dataclass(frozen=True)
class Roughness:
    """``weight tr V'LV``, which is to be small, for the normalised Laplacian L of a graph of rows.

    Where V'V = I it is a constant less ``weight tr V'(2I - L)V``, and 2I - L is positive
    semi-definite, as what leading eigenvectors are asked of must be.
    """

    laplacian: Any  # (N, N) sparse, of rows times the roots of their weights
    weight: float

    @classmethod
    def of(cls, graph: Any, weight: float, row_weights: Array | None) -> Roughness:
        """An edge counts as often as both its rows do."""
        if row_weights is not None:
            counts = scipy.sparse.diags_array(row_weights)
            graph = counts @ graph @ counts
        return cls(normalised_laplacian(graph), weight)

    @property
    def shift(self) -> float:
        """What the eigenvalues are too large by."""
        return 2.0 * self.weight

    @property
    def smooth(self) -> Any:
        """``weight (2I - L)``, sparse."""
        return self.shift * scipy.sparse.eye_array(self.laplacian.shape[0]) - (
            self.weight * self.laplacian
        )

    def operator(self) -> Operator:
        """The same as products."""
        return Plain(self.smooth.tocsr())

    def trace(self, V: Array) -> float:
        """``tr V'LV``, without the weight."""
        return float(np.sum(V * (self.laplacian @ V)))


def reconstruction(products: RowProducts, near: Neighbours) -> Any:
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
