"""Sums over blocks of rows that are never all in memory, and the pair whose products are passes.

For features and labels too many for a matrix of moments: text, above all. Codes are found by a few
wide products (:mod:`compactlearn.linalg._few_passes`), and are as good as the ``share`` of the
objective that they come back with; projection and learner take one more pass. What several models
ask for is found in the same passes (:func:`find_codes`, :func:`find_grams`), and kept by their
pairs until they are asked.

A sum is a small callable that makes its share of a block; shares are added by ``np.add`` or by the
type's own. Letters as in :mod:`compactlearn.linalg._pairs`: Xc are centred rows times the roots of
their weights, Z = [root Xc, Y]. Held-out rows (``skip``, their positions among all) count nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.linalg._arrays import scale_columns
from compactlearn.linalg._codes import Codes, code_rows, offset_scale
from compactlearn.linalg._dense import self_product
from compactlearn.linalg._eigen import EigenSolution
from compactlearn.linalg._few_passes import search, together
from compactlearn.linalg._left import LeftBlock
from compactlearn.linalg._operators import Operator
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._routes import ENOUGH
from compactlearn.linalg._row_source import Block, Integers, Rows, RowSource
from compactlearn.linalg._row_sums import (
    BLOCK_BYTES,
    column_moments,
    row_blocks,
    weighted_square_sum,
    weighted_sum,
)

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
        """Return the sums after the left columns have been multiplied by factors."""
        mean, deviations = self.mean_left * factors, self.deviations * factors**2
        return replace(self, mean_left=mean, deviations=deviations)


def column_sums(block: Block) -> ColumnSums:
    """Return the column sums of a block."""
    X, Y, w = block.X, block.Y, block.weights
    if block.n_rows == 0 or (w is not None and not w.any()):
        nothing = np.zeros(X.shape[1])
        return ColumnSums(0.0, nothing, nothing, np.zeros(Y.shape[1]), 0.0)
    mean, variances, count = column_moments(X, w)
    return ColumnSums(count, mean, count * variances, weighted_sum(Y, w), weighted_square_sum(Y, w))


@dataclass(frozen=True, eq=False)
class ImagesOf:
    """``Z'Z Q`` for columns Q of height D + M, or ``Xc'Xc Q`` for columns of height D."""

    Q: Array
    mean: Array  # (D,)
    skip: Integers | None = None
    root: float = 1.0

    def __call__(self, block: Block) -> Array:
        n_left, out = self.mean.size, np.zeros(self.Q.shape)
        both = self.Q.shape[0] > n_left
        a, b = self.Q[:n_left], self.Q[n_left:] if both else None
        for X, Y, U in _images(block, a, b, self.mean, self.skip, root=self.root):
            _add_product(out[:n_left], X, U, self.mean)
            if both:
                out[n_left:] += Y.T @ U
        out[:n_left] *= self.root
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
    """Add two shares of :class:`Several`."""
    return tuple(a + b for a, b in zip(one, other, strict=True))


@dataclass(frozen=True, eq=False)
class Scaled:
    """A sum of rows whose left columns are multiplied by factors first."""

    part: Any
    factors: Array

    def __call__(self, block: Block) -> Any:
        return self.part(replace(block, X=scale_columns(block.X, self.factors)))


# ---- the pair ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AskedCodes:
    """A request for leading codes of a pair."""

    size: int
    balance: float
    seed: int = 0


@dataclass(frozen=True)
class LeftGram(Operator):
    """``Xc'Xc``; each product is a pass."""

    pair: PassesPair

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return self.pair.n_left, self.pair.n_left

    def _multiply(self, block: Array) -> Array:
        pair = self.pair
        part = pair.scaled(ImagesOf(block, pair.mean_left, pair.skip))
        return pair.source.total(part, np.add, what="more directions")

    _multiply_transposed = _multiply


class PassesLeft(LeftBlock):
    """The left block of a pair whose products are passes; Gram matrices that were found are kept.

    Sparse rows are multiplied before they are centred, which subtracts ``mean_energy``.
    """

    def __init__(self, pair: PassesPair, sums: ColumnSums, *, is_sparse: bool) -> None:
        super().__init__(sums.count, sums.mean_left, LeftGram(pair), sums.deviations)
        self.pair, self.grams = pair, list[tuple[Array, Array]]()
        self.mean_energy = self.count * float(self.mean @ self.mean) if is_sparse else 0.0
        self.rounding_scale = self.energy + self.mean_energy if is_sparse else 0.0

    def projected_gram(self, projection: Array) -> Array:
        for P, gram in self.grams:
            if P is projection or (P.shape == projection.shape and np.array_equal(P, projection)):
                return gram
        find_grams([(self.pair, projection)])
        return self.grams[-1][1]


class PassesPair(Pair):
    """Two blocks of columns whose rows are in a source, known by their sums.

    The rows ``held_out`` are skipped, and are not in the ``sums`` either. Left columns are
    multiplied by ``factors``, if given; sums and held-out rows are multiplied already. Such a pair
    has only leading codes, for a projection of as many features, and models of these. Its callers
    raise an error for other models, which would take hundreds of passes.
    """

    solver = "passes"
    left: PassesLeft  # type: ignore[override]

    def __init__(
        self,
        source: RowSource,
        sums: ColumnSums,
        held_out: Rows | None = None,
        *,
        factors: Array | None = None,
        enough: float = ENOUGH,
    ) -> None:
        self.source, self.sums, self.held_out = source, sums, held_out
        self.factors, self.enough = factors, enough
        self.skip = None if held_out is None else held_out.positions
        self.left = PassesLeft(self, sums, is_sparse=source.is_sparse)
        self.n_right, self.given_left = sums.sum_right.size, self.left.n
        self.mean_right = sums.sum_right / sums.count
        self.found: tuple[AskedCodes, Codes] | None = None

    def scaled(self, part: Any) -> Any:
        """Return a sum over blocks of the columns as this pair has them."""
        return part if self.factors is None else Scaled(part, self.factors)

    @property
    def right_energy(self) -> float:
        return self.sums.right_energy

    def leading_codes(
        self,
        size: int,
        balance: float,
        projection: Array | None = None,
        seed: int = 0,
    ) -> Codes:
        assert projection is None
        asked = AskedCodes(size, balance, seed)
        if self.found is None or self.found[0] != asked:
            find_codes([(self, asked)])
        assert self.found is not None
        return self.found[1]

    def codes_like(self, codes: Codes, mean: Array) -> Codes:
        """Return the part of codes of all rows that belongs to the rows of this pair.

        ``codes`` are the codes of all rows, ``mean`` their mean. The sums over the
        held-out rows are subtracted.
        """
        rows = self.held_out
        assert rows is not None
        assert codes.right is not None
        w = np.ones(rows.n_rows) if rows.weights is None else rows.weights
        V = code_rows(codes, rows.X, rows.Y, mean) * w[:, None]
        total = codes.total - V.sum(axis=0)
        left = codes.left - (rows.X.T @ V - np.outer(mean, V.sum(axis=0)))
        left -= np.outer(self.mean_left - mean, total)
        return Codes(left, codes.right - rows.Y.T @ V, total)


def find_codes(asked: Sequence[tuple[PassesPair, AskedCodes]]) -> None:
    """Find leading codes of several pairs of one source in the same passes; the pairs keep them."""
    searches = []
    for pair, want in asked:
        order = pair.n_left + pair.n_right
        scale = offset_scale(want.balance * pair.left.mean_energy, order)
        searches.append(search(order, want.size, pair.enough, scale, want.seed))
    roots = [float(np.sqrt(want.balance)) for _, want in asked]
    source = asked[0][0].source
    made = 0

    def multiply(blocks: dict[int, Array]) -> dict[int, Array]:
        nonlocal made
        made += 1
        parts = []
        for place, Q in blocks.items():
            pair = asked[place][0]
            parts.append(pair.scaled(ImagesOf(Q, pair.mean_left, pair.skip, roots[place])))
        images = source.total(Several(tuple(parts)), add_several, what=f"codes, product {made}")
        return dict(zip(blocks, images, strict=True))

    for (pair, want), root, found in zip(asked, roots, together(searches, multiply), strict=True):
        pair.found = want, _codes_of(pair, root, found)


def find_grams(asked: Sequence[tuple[PassesPair, Array]]) -> None:
    """Find ``P'Xc'XcP`` for several pairs of one source in one pass; the pairs keep them."""
    parts = tuple(pair.scaled(GramOf(P, pair.mean_left, pair.skip)) for pair, P in asked)
    grams = asked[0][0].source.total(Several(parts), add_several, what="the learner")
    for (pair, P), gram in zip(asked, grams, strict=True):
        pair.left.grams.append((P, gram))


def _codes_of(pair: PassesPair, root: float, found: EigenSolution) -> Codes:
    q, w = found.vectors, np.sqrt(found.values)
    images = q * w if found.images is None else found.images / w
    a, b = root * q[: pair.n_left] / w, q[pair.n_left :] / w
    return Codes(
        left=images[: pair.n_left] / root if root else np.zeros((pair.n_left, w.size)),
        right=images[pair.n_left :],
        total=pair.count * (pair.mean_right @ b),
        status=found.status,
        left_weights=a,
        right_weights=b,
        values=found.values,
        share=found.share,
    ).oriented()
