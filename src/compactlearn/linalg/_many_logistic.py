"""Many penalised logistic regressions at once, each on rows of its own.

Problem j, with the rows i that are named for it, is

    minimise  |w|^2 / 2 + b^2 / 2 + C sum_i v_i log(1 + exp(-s_i (o_i + b + w'x_i)))

    x_i a sparse row, v_i its weight, s_i = +-1 its target, o_i an offset that is given, w and b to
    be found.

There may be thousands of problems, of some hundred rows each. One at a time, as LIBLINEAR would
solve them, most of the time goes into calls. Here some of them lie side by side in one
block-diagonal matrix: Newton's method with preconditioned conjugate gradients runs on all of them
together, each with step lengths of its own, and every operation is one sparse product or one
operation on long vectors. These let go of Python's lock, so that blocks are solved by several
threads at once; the answer does not depend on their number. Where Numba is installed, large sets of
problems are solved by :mod:`compactlearn.linalg._logistic_kernel`, one problem after the other, to
the same accuracy.

Weights may be restricted to features that a positive row has (``positive_only``). A rare label then
has some dozens of weights in place of thousands: what else its negative rows contain says little
about it that the words of its positive rows, by their absence, do not say as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.special import expit

from compactlearn.core._compiled import kernels
from compactlearn.core._deadline import watched
from compactlearn.linalg._arrays import kept_starts

Array = NDArray[np.floating[Any]]
Places = NDArray[np.integer[Any]]

# Stored entries of a block-diagonal matrix. Its arrays and some vectors stay in the cache of a
# core; measured on wordnet from 1e5 to 4e6.
_BLOCK_ENTRIES = 400_000
_BLOCK_PROBLEMS = 512
# From so many entries on, problems are solved by compiled code: some seconds of work, about what
# compiling takes once and a tenth of a second afterwards.
COMPILED_ENTRIES = 20_000_000
_KERNEL = "compactlearn.linalg._logistic_kernel"
_NEWTON_STEPS = 12
_INTERCEPT_STEPS = 6
_CG_STEPS = 10
_HALVINGS = 6
_SMALLEST = 1e-6  # of p(1 - p): rows that are certain still bound the curvature from below


@dataclass(frozen=True)
class Problems:
    """The rows of every problem, one problem after the other."""

    starts: Places  # (n_problems + 1,)
    rows: Places  # (n_pairs,)
    positive: NDArray[np.bool_]  # (n_pairs,)
    offsets: Array  # (n_pairs,)
    counts: Array | None = None  # (n_pairs,) how often each counts; None: once

    @property
    def count(self) -> int:
        return self.starts.size - 1

    def part(self, first: int, last: int) -> Problems:
        """The problems from ``first`` to ``last``, without the latter."""
        pairs = slice(self.starts[first], self.starts[last])
        return self._pairs(pairs, self.starts[first : last + 1] - self.starts[first])

    def among(self, wanted: NDArray[np.bool_]) -> Problems:
        """Return these problems on the wanted rows alone."""
        return self._kept(wanted[self.rows])

    def thinned(self, offset: float, n: int, n_rows: int, rng: np.random.RandomState) -> Problems:
        """Keep one in ``n`` of the negative pairs below an offset; each then counts n times.

        A pair is drawn by a number of its row, of ``n_rows``, and one of its problem: whether it is
        kept does not depend on the other pairs, and so on no other row's target.

        >>> one = Problems(np.array([0, 4]), np.arange(4), np.arange(4) < 1, -np.arange(4.0))
        >>> few = one.thinned(-1.5, 2, 4, np.random.RandomState(0))
        >>> few.rows, few.counts
        (array([0, 1, 2]), array([1., 1., 2.], dtype=float32))
        """
        of_rows, of_problems = rng.random_sample(n_rows), rng.random_sample(self.count)
        drawn = of_rows[self.rows] + np.repeat(of_problems, np.diff(self.starts))
        easy = ~self.positive & (self.offsets < offset)
        kept = ~easy | (drawn % 1.0 < 1 / n)
        counts = np.where(easy, np.float32(n), np.float32(1))
        return replace(self, counts=counts)._kept(kept)

    def with_more(self, other: Problems) -> Problems:
        """Return these problems, each with the pairs of the other's as well."""
        count = np.arange(self.count)
        problem = np.concatenate([np.repeat(count, np.diff(part.starts)) for part in (self, other)])
        order = np.argsort(problem, kind="stable")
        return Problems(
            self.starts + other.starts,
            np.concatenate([self.rows, other.rows])[order],
            np.concatenate([self.positive, other.positive])[order],
            np.concatenate([self.offsets, other.offsets])[order],
        )

    def weighted(self, weights: Array) -> Problems:
        """Multiply the losses of each problem by its weight.

        >>> two = Problems(np.array([0, 1, 3]), np.arange(3), np.arange(3) < 1, np.zeros(3))
        >>> two.weighted(np.array([2.0, 0.5])).counts
        array([2. , 0.5, 0.5], dtype=float32)
        """
        counts = np.repeat(weights, np.diff(self.starts)).astype(np.float32)
        return replace(self, counts=counts if self.counts is None else counts * self.counts)

    def chosen(self, problems: Places) -> Problems:
        """Some of the problems, in this order."""
        lengths = np.diff(self.starts)[problems]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        pairs = np.repeat(self.starts[problems] - starts[:-1], lengths) + np.arange(starts[-1])
        return self._pairs(pairs, starts)

    def _kept(self, kept: NDArray[np.bool_]) -> Problems:
        return self._pairs(kept, kept_starts(self.starts, kept))

    def _pairs(self, pairs: Any, starts: Places) -> Problems:
        counts = None if self.counts is None else self.counts[pairs]
        return Problems(starts, self.rows[pairs], self.positive[pairs], self.offsets[pairs], counts)


@dataclass(frozen=True)
class Weights:
    """One row of weights and one intercept for each problem."""

    coefficients: scipy.sparse.csr_array  # (n_problems, n_features)
    intercepts: Array  # (n_problems,)

    def part(self, first: int, last: int) -> Weights:
        """Return the weights of problems ``first:last``."""
        return Weights(self.coefficients[first:last], self.intercepts[first:last])

    def chosen(self, problems: Places) -> Weights:
        """Return the weights of some problems, in this order."""
        return Weights(self.coefficients[problems], self.intercepts[problems])


# Of some problems that lie side by side: how many weights each has, of which features, the weights,
# and the intercepts.
Solved = tuple[Places, Places, Array, Array]


@dataclass(frozen=True, eq=False)
class BlockSolver:
    """The data and options that all blocks of problems have in common."""

    X: scipy.sparse.csr_array
    C: float
    row_weights: Array | None
    positive_only: bool
    tol: float
    compiled: bool = False

    def __call__(self, part: Problems, start: Weights | None) -> Solved:
        """Solve some problems side by side, or one after the other in compiled code."""
        costs = np.full(part.rows.size, self.C, dtype=self.X.dtype)
        for weights in (
            part.counts,
            None if self.row_weights is None else self.row_weights[part.rows],
        ):
            if weights is not None:
                costs *= weights.astype(self.X.dtype, copy=False)
        kernel = kernels(_KERNEL) if self.compiled else None
        if kernel is not None:
            return self._compiled(kernel, part, costs, start)
        block = _BlockDiagonal.of(self.X, part, positive_only=self.positive_only)
        begin = None if start is None else (start.coefficients, start.intercepts)
        w, b = block.solve(costs, begin, self.tol)
        return np.diff(block.column_starts), block.features, w, b

    def _compiled(
        self, kernel: ModuleType, part: Problems, costs: Array, start: Weights | None
    ) -> Solved:
        kind = self.X.dtype
        W = scipy.sparse.csr_array((0, 0)) if start is None else start.coefficients
        starts = np.zeros(0) if start is None else W.indptr
        intercepts = np.zeros(0) if start is None else start.intercepts
        return kernel.solve(
            self.X.indptr.astype(np.int64, copy=False),
            self.X.indices.astype(np.int32, copy=False),
            self.X.data,
            self.X.shape[1],
            part.starts.astype(np.int64, copy=False),
            part.rows.astype(np.int64, copy=False),
            part.positive,
            part.offsets.astype(kind, copy=False),
            costs,
            starts.astype(np.int64, copy=False),
            W.indices.astype(np.int32, copy=False),
            W.data.astype(kind, copy=False),
            intercepts.astype(kind, copy=False),
            self.positive_only,
            kind.type(self.tol),
        )


ShareOut = Callable[[BlockSolver, Sequence[tuple[Problems, Weights | None]]], list[Solved]]


def solve_many(
    X: scipy.sparse.csr_array,
    problems: Problems,
    C: float,
    *,
    row_weights: Array | None = None,
    start: Weights | None = None,
    positive_only: bool = False,
    tol: float = 0.03,
    n_threads: int = 1,
    share_out: ShareOut | None = None,
) -> Weights:
    """Solve every problem; the work is done in the type of X.

    ``C`` is the weight of the loss, ``row_weights`` say how often a row of X counts, and Newton's
    method begins at ``start``, say at the solution for a part of the rows. With ``positive_only``
    only features of a problem's positive rows have weights. ``tol`` is the length of the gradient
    at the end, relative to that at zero weights and the best intercept; rankings by weights that
    are known to 0.03 and to 0.01 have the same precision (measured on wordnet). ``share_out``
    works on the blocks in place of threads: given a solver, a pure function that can be pickled,
    and the blocks, it returns what the solver makes of each, in their order.

    >>> X = scipy.sparse.csr_array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> one = Problems(np.array([0, 3]), np.arange(3), np.array([True, False, True]), np.zeros(3))
    >>> found = solve_many(X, one, C=1.0, tol=1e-8)
    >>> found.coefficients.toarray().round(3), found.intercepts.round(3)
    (array([[ 0.652, -0.156]]), array([0.153]))
    """
    n_entries = int(np.diff(X.indptr)[problems.rows].sum())
    large = X.dtype == np.float32 and n_entries >= COMPILED_ENTRIES
    compiled = large and kernels(_KERNEL) is not None
    solver = BlockSolver(X, C, row_weights, positive_only, tol, compiled)
    blocks = [
        (problems.part(first, last), None if start is None else start.part(first, last))
        for first, last in _spans(X, problems)
    ]
    if share_out is not None:
        parts = share_out(solver, blocks)
    elif n_threads > 1 and len(blocks) > 1:
        with ThreadPoolExecutor(n_threads) as pool:
            parts = list(pool.map(watched(solver), *zip(*blocks, strict=True)))
    else:
        solve = watched(solver)
        parts = [solve(*block) for block in blocks]
    if not parts:
        return Weights(scipy.sparse.csr_array((0, X.shape[1])), np.zeros(0, dtype=X.dtype))
    counts, features, w, b = (np.concatenate(part) for part in zip(*parts, strict=True))
    starts = np.concatenate([[0], np.cumsum(counts)])
    shape = (problems.count, X.shape[1])
    return Weights(scipy.sparse.csr_array((w, features, starts), shape=shape), b)


def margins_of(X: scipy.sparse.csr_array, problems: Problems, weights: Weights) -> Array:
    """Return o + b + w'x for every pair of a problem, on any rows, and a row."""
    found = [np.zeros(0, dtype=X.dtype)]
    for first, last in _spans(X, problems):
        block = _BlockDiagonal.of(X, problems.part(first, last), positive_only=False)
        w, b = block.placed((weights.coefficients[first:last], weights.intercepts[first:last]))
        found.append(block.offsets + block.A @ w + b[block.pair_problem])
    return np.concatenate(found)


def _spans(X: scipy.sparse.csr_array, problems: Problems) -> Iterator[tuple[int, int]]:
    """Yield the first and last of problems that lie side by side."""
    entries = np.concatenate([[0], np.cumsum(np.diff(X.indptr)[problems.rows])])[problems.starts]
    first = 0
    while first < problems.count:
        last = int(np.searchsorted(entries, entries[first] + _BLOCK_ENTRIES, side="right")) - 1
        last = min(max(last, first + 1), first + _BLOCK_PROBLEMS, problems.count)
        yield first, last
        first = last


@dataclass(frozen=True)
class _BlockDiagonal:
    """Some problems as one block-diagonal matrix.

    Pairs of a problem are neighbours among the rows of A, and its weights among the columns.
    """

    A: scipy.sparse.csr_array  # (n_pairs, n_weights)
    squares: scipy.sparse.csr_array  # its entries squared
    positive: NDArray[np.bool_]
    offsets: Array
    pair_starts: Places
    pair_problem: Places
    column_starts: Places
    column_problem: Places
    features: Places  # which feature a weight belongs to
    n_features: int

    @classmethod
    def of(
        cls, X: scipy.sparse.csr_array, part: Problems, *, positive_only: bool
    ) -> _BlockDiagonal:
        n, D = part.count, X.shape[1]
        pair_problem = np.repeat(np.arange(n), np.diff(part.starts))
        selected = X[part.rows]
        lengths = np.diff(selected.indptr)
        keys = selected.indices + np.repeat(pair_problem * D, lengths)
        values, row_starts = selected.data, selected.indptr
        occurs = np.zeros(n * D, dtype=bool)
        if positive_only:
            occurs[keys[np.repeat(part.positive, lengths)]] = True
            kept = occurs[keys]
            row_starts = kept_starts(row_starts, kept)
            keys, values = keys[kept], values[kept]
        else:
            occurs[keys] = True
        used = np.flatnonzero(occurs)
        place = np.cumsum(occurs, dtype=np.int32)
        place -= 1
        shape = (part.rows.size, used.size)
        columns = place[keys]
        starts = row_starts.astype(np.int32)
        column_starts = np.searchsorted(used, np.arange(n + 1) * D)
        return cls(
            scipy.sparse.csr_array((values, columns, starts), shape=shape),
            scipy.sparse.csr_array((values * values, columns, starts), shape=shape),
            part.positive,
            part.offsets.astype(X.dtype),
            part.starts,
            pair_problem,
            column_starts,
            np.repeat(np.arange(n), np.diff(column_starts)),
            (used % D).astype(np.int32),
            D,
        )

    def by_pairs(self, values: Array) -> Array:
        """Sums over the pairs of each problem."""
        return _segment_sums(values, self.pair_starts)

    def by_columns(self, values: Array) -> Array:
        """Sums over the weights of each problem."""
        return _segment_sums(values, self.column_starts)

    def placed(self, start: tuple[scipy.sparse.csr_array, Array]) -> tuple[Array, Array]:
        """Weights that were found elsewhere, at the places that they have here."""
        given, intercepts = start
        w = np.zeros(self.features.size, dtype=self.A.dtype)
        own = self.column_problem * np.int64(self.n_features) + self.features
        rows = np.repeat(np.arange(given.shape[0]), np.diff(given.indptr))
        keys = rows * np.int64(self.n_features) + given.indices
        at = np.minimum(np.searchsorted(own, keys), max(own.size - 1, 0))
        here = own[at] == keys if own.size else np.zeros(keys.size, dtype=bool)
        w[at[here]] = given.data[here]
        return w, intercepts.astype(self.A.dtype)

    def solve(
        self, costs: Array, start: tuple[scipy.sparse.csr_array, Array] | None, tol: float
    ) -> tuple[Array, Array]:
        """Newton's method with line search, on all problems together.

        ``costs`` are the weights of the losses, one for each pair or one for all.
        """
        A, sign = self.A, np.where(self.positive, 1, -1).astype(self.A.dtype)
        w, b = np.zeros(self.features.size, dtype=A.dtype), self._intercepts(costs)
        margins = self.offsets + b[self.pair_problem]
        at_zero = self._gradient(costs, margins, w, b)[2]
        if start is not None:
            w, b = self.placed(start)
            margins = self.offsets + A @ w + b[self.pair_problem]
        value = self._value(costs, sign, margins, w, b)
        for _ in range(_NEWTON_STEPS):
            g, g_b, length, curvature = self._gradient(costs, margins, w, b)
            active = length > tol * tol * at_zero
            if not active.any():
                break
            d, d_b, d_margins = self._newton_direction(g, g_b, curvature, active)
            step = active.astype(A.dtype)
            for halving in range(_HALVINGS + 1):
                new = (
                    margins + step[self.pair_problem] * d_margins,
                    w + step[self.column_problem] * d,
                    b + step * d_b,
                )
                new_value = self._value(costs, sign, *new)
                worse = new_value > value
                if not worse.any():
                    break
                # Where no step is any better, rounding is all that is left.
                step[worse] *= 0.5 if halving < _HALVINGS - 1 else 0.0
            (margins, w, b), value = new, new_value
            if not step.any():
                break
        return w, b

    def _intercepts(self, costs: Array) -> Array:
        """Return the best intercepts without any weights.

        Of a few positive rows among thousands, the intercept alone explains almost all the loss.
        """
        b = np.zeros(self.pair_starts.size - 1, dtype=self.A.dtype)
        for _ in range(_INTERCEPT_STEPS):
            p = expit(self.offsets + b[self.pair_problem])
            slope = b + self.by_pairs(costs * (p - self.positive))
            b -= np.clip(slope / (1 + self.by_pairs(costs * (p * (1 - p)))), -1, 1)
        return b

    def _value(self, costs: Array, sign: Array, margins: Array, w: Array, b: Array) -> Array:
        loss = np.logaddexp(0, -sign * margins)
        return self.by_pairs(costs * loss) + (self.by_columns(w * w) + b * b) / 2

    def _gradient(
        self, costs: Array, margins: Array, w: Array, b: Array
    ) -> tuple[Array, Array, Array, Array]:
        """Gradient, that of the intercepts, squared lengths, and the curvature of each pair."""
        p = expit(margins)
        curvature = costs * np.maximum(p * (1 - p), p.dtype.type(_SMALLEST))
        p -= self.positive
        p *= costs
        g, g_b = w + self.A.T @ p, b + self.by_pairs(p)
        return g, g_b, self.by_columns(g * g) + g_b * g_b, curvature

    def _newton_direction(
        self, g: Array, g_b: Array, curvature: Array, active: NDArray[np.bool_]
    ) -> tuple[Array, Array, Array]:
        """The solution of H d = -g by conjugate gradients, and A d + d_b."""
        A, pair, column = self.A, self.pair_problem, self.column_problem
        scale = 1 / (1 + self.squares.T @ curvature)
        scale_b = 1 / (1 + self.by_pairs(curvature))
        x, x_b = np.zeros_like(g), np.zeros_like(g_b)
        moved = np.zeros_like(curvature)
        r, r_b = -g, -g_b
        z, z_b = scale * r, scale_b * r_b
        d, d_b = z, z_b
        rz = self.by_columns(r * z) + r_b * z_b
        enough = rz * rz.dtype.type(0.01)
        for _ in range(_CG_STEPS):
            live = active & (rz > enough)
            if not live.any():
                break
            Ad = A @ d + d_b[pair]
            hAd = curvature * Ad
            Hd, Hd_b = d + A.T @ hAd, d_b + self.by_pairs(hAd)
            dHd = self.by_columns(d * Hd) + d_b * Hd_b
            a = np.divide(rz, dHd, out=np.zeros_like(rz), where=live & (dHd > 0))
            x += a[column] * d
            x_b += a * d_b
            moved += a[pair] * Ad
            r -= a[column] * Hd
            r_b -= a * Hd_b
            z, z_b = scale * r, scale_b * r_b
            new = self.by_columns(r * z) + r_b * z_b
            ratio = np.divide(new, rz, out=np.zeros_like(rz), where=live & (rz > 0))
            d = z + ratio[column] * d
            d_b = z_b + ratio * d_b
            rz = np.where(live, new, rz)
        return x, x_b, moved


def _segment_sums(values: Array, starts: Places) -> Array:
    """Sums of the values between one start and the next; nothing sums to 0.

    >>> _segment_sums(np.array([1.0, 2.0, 4.0]), np.array([0, 2, 2, 3]))
    array([3., 0., 4.])
    """
    if not values.size:
        return np.zeros(starts.size - 1, dtype=values.dtype)
    sums = np.add.reduceat(np.append(values, values.dtype.type(0)), starts[:-1])
    sums[starts[:-1] == starts[1:]] = 0
    return sums
