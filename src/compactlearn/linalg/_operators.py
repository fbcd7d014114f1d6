"""Matrices that are never formed: centred, scaled, weighted, stacked.

An operator has a ``shape``, multiplies a dense block from the left (``A @ B``) and has a
transpose (``A.T @ B``). A sparse matrix inside stays sparse: centring is a rank-one correction
of the product, scaling acts on the block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.core._device_array import DeviceArray

Array = NDArray[np.float64]


class Operator:
    """Base of all operators: products with the matrix and with its transpose."""

    shape: tuple[int, int]

    def _multiply(self, block: Array) -> Array:
        raise NotImplementedError

    def _multiply_transposed(self, block: Array) -> Array:
        raise NotImplementedError

    def __matmul__(self, block: Array) -> Array:
        return self._multiply(block)

    @property
    def T(self) -> Operator:
        return Transposed(self)


@dataclass(frozen=True)
class Transposed(Operator):
    """``A'``."""

    inner: Operator

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return self.inner.shape[1], self.inner.shape[0]

    def _multiply(self, block: Array) -> Array:
        return self.inner._multiply_transposed(block)

    def _multiply_transposed(self, block: Array) -> Array:
        return self.inner._multiply(block)


@dataclass(frozen=True)
class Plain(Operator):
    """A dense or sparse matrix as it is."""

    matrix: Any

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return self.matrix.shape

    def _multiply(self, block: Array) -> Array:
        return _dense(self.matrix @ block)

    def _multiply_transposed(self, block: Array) -> Array:
        return _dense(self.matrix.T @ block)


@dataclass(frozen=True)
class Changed(Operator):
    """An operator of the shape of another."""

    inner: Any

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return self.inner.shape


@dataclass(frozen=True)
class Centred(Changed):
    """``A - 1 mean'``: every row less the given mean.

    >>> A = np.array([[1.0, 2.0], [3.0, 6.0]])
    >>> centred(A, A.mean(axis=0)) @ np.eye(2)
    array([[-1., -2.],
           [ 1.,  2.]])
    """

    mean: Array

    def _multiply(self, block: Array) -> Array:
        product = self.inner @ block
        product -= self.mean @ block
        return product

    def _multiply_transposed(self, block: Array) -> Array:
        product = self.inner.T @ block
        product -= np.outer(self.mean, block.sum(axis=0))
        return product


@dataclass(frozen=True)
class ColumnScaled(Changed):
    """``A diag(factors)``; a single number scales the whole matrix."""

    factors: Array | float

    def _multiply(self, block: Array) -> Array:
        return self.inner @ (block * np.reshape(self.factors, (-1, 1)))

    def _multiply_transposed(self, block: Array) -> Array:
        product = self.inner.T @ block
        product *= np.reshape(self.factors, (-1, 1))
        return product


@dataclass(frozen=True)
class Stacked(Operator):
    """``[A_1, A_2, ...]``: matrices of equal height side by side."""

    parts: Sequence[Operator]

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return self.parts[0].shape[0], sum(part.shape[1] for part in self.parts)

    def _multiply(self, block: Array) -> Array:
        widths = np.cumsum([part.shape[1] for part in self.parts])[:-1]
        pieces = np.split(block, widths)
        product = self.parts[0] @ pieces[0]
        for part, piece in zip(self.parts[1:], pieces[1:], strict=True):
            product += part @ piece
        return product

    def _multiply_transposed(self, block: Array) -> Array:
        return np.concatenate([part.T @ block for part in self.parts])


@dataclass(frozen=True)
class Product(Operator):
    """``A B``, one after the other."""

    first: Operator
    second: Operator

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return self.first.shape[0], self.second.shape[1]

    def _multiply(self, block: Array) -> Array:
        return self.first @ (self.second @ block)

    def _multiply_transposed(self, block: Array) -> Array:
        return self.second.T @ (self.first.T @ block)


@dataclass(frozen=True)
class Sum(Operator):
    """``c_1 A_1 + c_2 A_2 + ...`` for matrices of one shape.

    >>> Sum(((2.0, Plain(np.eye(2))), (1.0, Plain(np.ones((2, 2)))))) @ np.eye(2)
    array([[3., 1.],
           [1., 3.]])
    """

    terms: Sequence[tuple[float, Operator]]

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return self.terms[0][1].shape

    def _multiply(self, block: Array) -> Array:
        (factor, matrix), *others = self.terms
        total = factor * (matrix @ block)
        for factor, matrix in others:
            total += factor * (matrix @ block)
        return total

    def _multiply_transposed(self, block: Array) -> Array:
        return Sum([(factor, matrix.T) for factor, matrix in self.terms]) @ block


@dataclass(frozen=True)
class Updated(Changed):
    """``A + column row'``: a rank-one update that is never formed."""

    column: Array
    row: Array

    def _multiply(self, block: Array) -> Array:
        return self.inner @ block + np.outer(self.column, self.row @ block)

    def _multiply_transposed(self, block: Array) -> Array:
        return self.inner.T @ block + np.outer(self.row, self.column @ block)


@dataclass(frozen=True)
class Deflated(Changed):
    """``(I - PP') A (I - PP')`` for a symmetric A and orthonormal columns P."""

    basis: Array

    def _multiply(self, block: Array) -> Array:
        return self._outside(self.inner @ self._outside(block))

    def _outside(self, block: Array) -> Array:
        # Products of the transposes, which the BLAS makes faster for a tall basis.
        return (block.T - (block.T @ self.basis) @ self.basis.T).T

    _multiply_transposed = _multiply


def _dense(product: Any) -> Any:
    return product if isinstance(product, DeviceArray) else np.asarray(product)


def gram(matrix: Operator) -> Operator:
    """Return ``A'A`` by two products."""
    return Product(matrix.T, matrix)


def sandwich(outer: Operator, inner: Operator) -> Operator:
    """Return ``A' B A`` for a symmetric B."""
    return Product(outer.T, Product(inner, outer))


def weighted(matrix: Any, root_weights: Array | None = None) -> Operator:
    """Return the operator of a matrix, or of an operator, with its rows times root weights."""
    operator = matrix if isinstance(matrix, Operator) else Plain(matrix)
    return operator if root_weights is None else ColumnScaled(operator.T, root_weights).T


def centred(matrix: Any, mean: Array, root_weights: Array | None = None) -> Operator:
    """Return the centred, and where weights are given row-weighted, operator of a matrix."""
    return weighted(Centred(Plain(matrix), mean), root_weights)
