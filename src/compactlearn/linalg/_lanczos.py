"""Leading eigenpairs of a symmetric positive semi-definite matrix by products with it.

A block Lanczos iteration with full orthogonalisation and thick restarts. Blocks are used for two
reasons: a product with several columns costs a fraction of as many products, and a block finds
repeated eigenvalues that a single starting vector cannot see.

:func:`exact_pairs` iterates until every residual is rounding. :func:`enough_pairs` stops when the
sum of the values found provably is all but a small share of the largest possible sum. It uses wider
blocks, which read memory faster, and a smaller basis, for problems where exact pairs take long and
the results do not depend on the difference.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from compactlearn.core._deadline import checkpoint
from compactlearn.core._devices import host
from compactlearn.core._threads import look_again
from compactlearn.linalg import _dense as dense
from compactlearn.linalg._arrays import column_store, to_device_of, zeros_on_device_of
from compactlearn.linalg._operators import Deflated

Array = NDArray[np.float64]

EPS = float(np.finfo(np.float64).eps)

# Residuals relative to the largest eigenvalue. The span of the leading vectors is off by about
# residual / gap, so this keeps it to 1e-8 wherever the relative gap is above 1e-6.
TOLERANCE = 16 * EPS

# Rounds of a search that need not be exact, each to a quarter of the residuals of the one before.
ROUNDS = 6

# Columns and steps of a probe of the rest of the space from a random block, and how often the probe
# may restart where it cannot separate new directions from those found.
PROBE = (8, 8)
PROBE_RESTARTS = 12


class Multiplies(Protocol):
    """Anything square that multiplies a dense block: an ndarray, or one of our operators."""

    @property
    def shape(self) -> tuple[int, int]: ...

    def __matmul__(self, block: Array, /) -> Array: ...


class Status(enum.Enum):
    """The end of a solve; the value is the advice shown to the user."""

    CONVERGED = "converged"
    RANK_DEFICIENT = (
        "the matrix has fewer independent directions than were asked for; ask for fewer components"
    )
    MAX_ITER = (
        "the Krylov iteration reached its limit before every residual was small; use a dense route "
        "(solver='moments' or 'dual'), or ask for fewer components"
    )


@dataclass(frozen=True)
class EigenSolution:
    """Eigenpairs, largest first, and how they were found."""

    values: Array  # (r,), largest first
    vectors: Array  # (n, r), orthonormal columns
    status: Status = Status.CONVERGED
    share: float = 1.0  # of the largest sum that as many eigenvalues can have, at least
    images: Array | None = None  # (n, r) the matrix times the vectors, where these are not exact


def block_size(count: int) -> int:
    """Columns of a block of the exact search."""
    # Measured on enron, llog, bibtex and corel5k: eight columns make a sparse product cheap and
    # still cost only a tenth more products than single-vector Lanczos.
    return 8 if count >= 16 else 4


def wide_block_size(count: int) -> int:
    """Columns of a block where the basis is large: orthogonalising then reads it less often.

    Measured on wordnet with 300 pairs: blocks of 32 need a seventh more columns than blocks of 8,
    and a quarter of the passes over the basis.
    """
    return int(np.clip(count // 8, block_size(count), 32))


def exact_pairs(
    matrix: Array | Multiplies, count: int, scale: float = 0.0, max_restarts: int = 60
) -> EigenSolution:
    """Return leading pairs by rounds of a search, until a random probe finds no missed pair.

    Each round continues from the pairs of the last one and from the probe's vectors, with the
    remaining number of restarts.
    """
    n, b = matrix.shape[0], block_size(count)
    rng = np.random.default_rng(0)  # the start is a detail: the same input gives the same answer
    restarts = 0
    found, vectors = zeros_on_device_of((0,), matrix), zeros_on_device_of((n, 0), matrix)
    block = to_device_of(rng.standard_normal((n, b)), matrix)

    def settled(theta: Array, coupling: Array) -> bool:
        return bool(_lengths(coupling).max() <= TOLERANCE * max(theta[0], scale))

    while True:
        size = min(n - b, max(3 * count + 2 * b, count + 12 * b))
        limit = max_restarts - restarts
        ritz = _search(matrix, count, (found, vectors), block, size, settled, limit, rng)
        restarts += ritz.restarts + 1
        found, vectors = ritz.values[:count], ritz.vectors(count)
        rounding = n * EPS * max(found[0], scale)
        missed = _missed_copy(matrix, ritz.values, vectors, rounding, b, rng)
        if missed is None or restarts > max_restarts:
            converged = ritz.settled and missed is None
            status = Status.CONVERGED if converged else Status.MAX_ITER
            return EigenSolution(found, vectors, status)
        block = missed


def enough_pairs(
    matrix: Array | Multiplies, count: int, share: float, seed: int = 0
) -> EigenSolution:
    """Return pairs whose values reach a ``share`` of the largest sum of ``count`` values.

    A round ends when the coupling of the Ritz vectors to the rest of the space is small. The
    shortfall of the sum is then bounded from above (:func:`largest_sum`), with a random probe of
    the rest. If the bound is too large, the next round continues from the Ritz vectors, the
    directions that couple them to the rest, and the vectors of the probe.
    """
    n, b = matrix.shape[0], wide_block_size(count)
    rng = np.random.default_rng(seed)
    known = zeros_on_device_of((0,), matrix), zeros_on_device_of((n, 0), matrix)
    block, small = to_device_of(rng.standard_normal((n, b)), matrix), (1.0 - share) / 2

    def settled(theta: Array, coupling: Array) -> bool:
        return bool(dense.svd(coupling)[1].sum() <= small * theta[:count].sum())

    for round_number in range(1, ROUNDS + 1):
        cap = min(n - block.shape[1], 3 * count + 2 * block.shape[1])
        first = known[0].size if round_number > 1 else count + count // 2
        ritz = _search(matrix, count, known, block, cap, settled, 10, rng, (first, 2 * b))
        vectors = ritz.vectors(count)
        total, smallest = ritz.values[:count].sum(), ritz.values[count - 1]
        limit = smallest + (1.0 - share) / 4 * total / count
        below = partial(_lies_below, limit)
        rest = _fresh_look(matrix, vectors, *PROBE, below, PROBE_RESTARTS, rng)
        largest = _at_most(rest.values, rest.coupling)
        bound = largest_sum(ritz.values, ritz.coupling, count, largest)
        reached = min(1.0, float(total / bound)) if bound > 0 else 1.0
        if reached >= share or round_number == ROUNDS:
            break
        small /= 4
        keep = min(count + (ritz.values.size - count) // 2, n // 2)
        known = ritz.values[:keep], ritz.vectors(keep)
        block = np.hstack([ritz.beyond, rest.vectors(PROBE[0])])
    values = ritz.values[:count]
    images = ritz.beyond @ ritz.coupling[:, :count]
    images += vectors * values
    status = Status.CONVERGED if reached >= share else Status.MAX_ITER
    return EigenSolution(values, vectors, status, reached, images)


def largest_sum(theta: Array, coupling: Array, count: int, largest: float) -> float:
    """An upper bound of the sum of the ``count`` largest eigenvalues.

    With the Ritz vectors V of the ``count`` largest Ritz values, ``A V = V diag(theta) + Q E`` for
    orthonormal columns Q outside the span of V. If no eigenvalue of A in the complement of V is
    above mu, A is at most ``[[diag(theta), E'], [E, mu I]]``, where E has few rows.
    """
    E = coupling[:, :count]
    beyond = theta[count : count + 1] + _lengths(coupling[:, count : count + 1])
    mu = max(largest, float(beyond.max(initial=0.0)))
    order, b = E.shape[1], E.shape[0]
    theta, E = host(theta), host(E)  # small
    both = np.zeros((order + b, order + b))
    both[np.arange(order), np.arange(order)] = theta[:count]
    both[order:, :order], both[:order, order:] = E, E.T
    both[np.arange(order, order + b), np.arange(order, order + b)] = mu
    values = np.concatenate([dense.eigenvalues(both), np.full(count, mu)])
    return float(np.sort(values)[::-1][:count].sum())


@dataclass(frozen=True)
class _Ritz:
    """The state of a search: an orthonormal basis and the Rayleigh-Ritz pairs in it."""

    basis: Array  # (n, size)
    values: Array  # (size,), largest first
    coefficients: Array  # (size, size)
    beyond: Array  # (n, b) orthonormal, what the products have outside the basis
    coupling: Array  # (b, size): A basis coefficients is (basis coefficients) values + beyond this
    settled: bool
    restarts: int

    def vectors(self, count: int) -> Array:
        """The leading Ritz vectors."""
        return self.basis @ self.coefficients[:, :count]


def _search(
    matrix: Array | Multiplies,
    count: int,
    known: tuple[Array, Array],
    block: Array,
    cap: int,
    settled: Callable[[Array, Array], bool],
    max_restarts: int,
    rng: np.random.Generator,
    checks: tuple[int, int] | None = None,
) -> _Ritz:
    """Thick-restart block Lanczos with full orthogonalisation, until ``settled`` says so of the
    Ritz values and of what couples the ``count`` wanted ones to the rest of the space.

    The basis Q (n, size) holds known Ritz vectors and Krylov blocks; T = Q'AQ is filled column
    block by column block from the orthogonalisation coefficients. After a Rayleigh-Ritz step what
    the Ritz vectors leave is ``block R S_last``, where R is the triangular factor of the block that
    did not fit in the basis and S_last the last rows of the Ritz coefficients.

    A product has parts in the last two blocks (in all that is kept, for the first block after it)
    and, but for rounding, in no other. These are taken off first; what remains is as short as it
    will be, and one pass over the whole basis takes the rounding off.
    """
    n, b = block.shape
    values, vectors = known
    keep = values.size
    Q = column_store((n, cap + b), block)
    T = np.zeros((cap + b, cap + b))
    Q[:, :keep] = vectors
    T[np.arange(keep), np.arange(keep)] = host(values)
    block, _ = next_block(orthogonalise(block, Q[:, :keep])[0], Q[:, :keep], 0.0, rng)
    size = keep
    first, spacing = checks or (keep + 2 * b if keep else count + b, 0)
    next_check = min(first, cap)
    restarts = 0
    while True:
        checkpoint()
        look_again()
        Q[:, size : size + b] = block
        size += b
        active = slice(size - b, size)
        near = slice(max(keep, size - 2 * b) if size - b > keep else 0, size)
        W, H = orthogonalise(matrix @ Q[:, active], Q[:, :size], near)
        H = host(H)
        T[:size, active] = H
        T[active, :size] = H.T
        block, R = next_block(W, Q[:, :size], np.abs(H).max(initial=0.0), rng)
        full = size + b > cap
        if size < next_check and not full:
            continue
        theta, S = (to_device_of(part, block) for part in small_pairs(T[:size, :size]))
        coupling = R @ S[active]
        done = settled(theta, coupling[:, :count])
        if done or (full and restarts >= max_restarts):
            return _Ritz(Q[:, :size], theta, S, block, coupling, done, restarts)
        next_check = size + (spacing or max(2 * b, size // 5))
        if full:
            keep = min(count + (size - count) // 2, cap - b)
            Q[:, :keep] = Q[:, :size] @ S[:, :keep]
            T[:] = 0.0
            T[np.arange(keep), np.arange(keep)] = host(theta[:keep])
            block = dense.thin_qr(orthogonalise(block, Q[:, :keep])[0])[0]
            restarts += 1
            size, next_check = keep, min(keep + 2 * b, cap)


def _missed_copy(
    matrix: Array | Multiplies,
    theta: Array,
    vectors: Array,
    rounding: float,
    b: int,
    rng: np.random.Generator,
) -> Array | None:
    """Look for an eigenvalue above the smallest one found that the search has not seen.

    A search from one block shows an eigenvalue no more often than the block has columns. Another
    from a fresh random block, kept orthogonal to what was found, would show the other copies:
    Ritz values never exceed eigenvalues, so one above the smallest proves a miss. Where as many
    values as the block has columns lie together, copies may well be missing, and the second search
    continues until its largest Ritz value is known to stay below; elsewhere four steps are a
    sufficient check. Returns a block to continue from, or None.
    """
    n, count = vectors.shape
    smallest = max(theta[count - 1], rounding)
    crowded = _lie_together(theta[: count + b], b, rounding)
    width, steps = (b, 12) if crowded else (b // 2, 4)
    steps = min(steps, (n - count) // width - 1)  # a block must fit into the rest of the space
    if steps < 2:
        return None  # so small a matrix is never searched by products

    def settled(values: Array, coupling: Array) -> bool:
        if values[0] > smallest * (1 + 1e-9):
            return True
        # A vector with a share of a missed one in it has a residual of that share times a gap.
        return bool(_lengths(coupling)[0] <= max(0.1 * (smallest - values[0]), 1e-9 * smallest))

    ritz = _fresh_look(matrix, vectors, width, steps, settled, 20 if crowded else 0, rng)
    if ritz.values[0] <= smallest * (1 + 1e-9):
        return None
    return ritz.vectors(b)


def _fresh_look(
    matrix: Array | Multiplies,
    vectors: Array,
    width: int,
    steps: int,
    settled: Callable[[Array, Array], bool],
    max_restarts: int,
    rng: np.random.Generator,
) -> _Ritz:
    """A short search, from a random block, for the largest value in the complement of vectors."""
    n = vectors.shape[0]
    nothing = zeros_on_device_of((0,), vectors), zeros_on_device_of((n, 0), vectors)
    block = orthogonalise(to_device_of(rng.standard_normal((n, width)), vectors), vectors)[0]
    rest = Deflated(matrix, vectors)
    return _search(rest, 1, nothing, block, width * steps, settled, max_restarts, rng)


def _at_most(values: Array, coupling: Array) -> float:
    """Return what the largest eigenvalue is at most, as far as a short search shows."""
    return float(values[0] + _lengths(coupling)[0])


def _lies_below(limit: float, values: Array, coupling: Array) -> bool:
    return _at_most(values, coupling) <= limit


def small_pairs(matrix: Array, *, in_place: bool = False) -> tuple[Array, Array]:
    """All pairs of a small matrix, symmetric but for rounding; largest first.

    ``in_place`` holds fewer matrices of that order at once.
    """
    symmetric = matrix + matrix.T
    symmetric /= 2
    values, vectors = dense.all_pairs(symmetric, overwrite=in_place)
    return values[::-1], vectors[:, ::-1]


def _lie_together(theta: Array, b: int, rounding: float) -> bool:
    """Return whether at least ``b`` values are equal to the precision that a search resolves."""
    theta = theta[theta > rounding]
    return bool(
        np.any(theta[: max(0, theta.size - b + 1)] - theta[b - 1 :] <= 1e-6 * theta[b - 1 :])
    )


def _lengths(columns: Array) -> Array:
    """Norms of the columns, whose squares need be neither finite nor more than 0."""
    unit = float(np.abs(columns).max(initial=0.0)) or 1.0
    return unit * np.linalg.norm(columns / unit, axis=0)


def orthogonalise(W: Array, Q: Array, near: slice = slice(None)) -> tuple[Array, Array]:
    """Take the part of W in span(Q) out, twice (once is not enough); return it and Q'W.

    The first time only ``near`` columns of Q count, where W has no part in the others to speak of.
    """
    # Products of the transposes: for a tall Q, stored by columns, the BLAS takes two thirds of the
    # time that it takes for Q'W and QH.
    first = W.T @ Q[:, near]
    rows = W.T - first @ Q[:, near].T
    H = rows @ Q
    rows -= H @ Q.T
    H[:, near] += first
    return rows.T, H.T


def next_block(
    W: Array, Q: Array | list[Array], scale: float, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Orthonormal basis of W and its factor; exhausted directions are replaced by random ones.

    Q is the basis so far, in one piece or in blocks of columns, which are joined only where needed.
    """
    block, R = dense.thin_qr(W)
    limit = W.shape[0] * EPS * scale
    remaining = np.abs(np.diag(R))
    if remaining.min() > max(limit, 1e-2 * _lengths(R).max()):
        return block, R
    # Columns of W that nearly depend on each other leave a small remainder, which normalising
    # blows up together with its rounding; what comes out is no longer orthogonal to the basis.
    # Where nothing at all remains the Krylov space is invariant, and new directions are drawn.
    # Singular directions show what remains. (A column of an unpivoted factorisation cannot be
    # replaced: later columns of W have parts in it, however little is left of its own.)
    U, singular, Vt = dense.svd(R)
    block, R = block @ U, singular[:, None] * Vt
    exhausted = singular <= limit
    block[:, exhausted] = rng.standard_normal((W.shape[0], int(exhausted.sum())))
    Q = np.hstack(Q) if isinstance(Q, list) else Q
    for _ in range(2):
        block, factor = dense.qr(orthogonalise(block, Q)[0])
        block = block * np.sign(np.diag(factor))  # the directions of W, which R describes
    return block, R
