"""Leading eigenpairs of symmetric positive semi-definite matrices, dense or given by products.

One call, :func:`leading_eigenpairs`, hides two routes. The dense route is LAPACK's; the Krylov
route is a block Lanczos iteration with full orthogonalisation and thick restarts, which needs
products with the matrix only. Blocks are used for two reasons: a product with eight columns
costs a fraction of eight products, and a block finds repeated eigenvalues that a single
starting vector cannot see.

Order and rank are judged here and nowhere else.

NumPy's LAPACK is called, but for a few pairs of a dense matrix and for large ones in place: NumPy
and SciPy bring a BLAS each, and where calls alternate their threads compete for the same cores
(measured: a fit of bibtex on two cores takes three times as long).
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from compactlearn.linalg import dense
from compactlearn.linalg.operators import Deflated

Array = NDArray[np.float64]

EPS = float(np.finfo(np.float64).eps)

# Residuals relative to the largest eigenvalue. The span of the leading vectors is off by about
# residual / gap, so this keeps it to 1e-8 wherever the relative gap is above 1e-6.
TOLERANCE = 16 * EPS


# An operator up to this order is multiplied out when the Krylov iteration does not converge.
DENSE_FALLBACK = 4_000


class Multiplies(Protocol):
    """Anything square that multiplies a dense block: an ndarray, or one of our operators."""

    @property
    def shape(self) -> tuple[int, int]: ...

    def __matmul__(self, block: Array, /) -> Array: ...


class Status(enum.Enum):
    """How a solve ended; the value is the advice shown to the user."""

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

    values: Array  # (r,), largest first, all above the rank tolerance
    vectors: Array  # (n, r), orthonormal columns
    status: Status
    stats: dict[str, Any] = field(default_factory=dict)  # route, products, restarts, residual


def numerical_rank(values: Array, size: int, scale: float = 0.0) -> int:
    """Count the eigenvalues of a Gram matrix that are above rounding.

    ``values`` are sorted, largest first; ``size`` is the order of the Gram matrix on which
    rank is judged. Singular values must be squared before they come here, so that every
    route judges the same numbers. ``scale`` is as in :func:`leading_eigenpairs`.

    >>> numerical_rank(np.array([2.0, 1.0, 1e-17]), 3)
    2
    >>> numerical_rank(np.array([0.0, 0.0]), 2)
    0
    """
    if values.size == 0 or values[0] <= 0:
        return 0
    return int(np.count_nonzero(values > size * EPS * max(values[0], scale)))


def leading_eigenpairs(
    matrix: Array | Multiplies,
    count: int,
    *,
    route: str = "auto",
    rank_size: int | None = None,
    scale: float = 0.0,
    overwrite: bool = False,
) -> EigenSolution:
    """Return the ``count`` leading eigenpairs of a symmetric positive semi-definite matrix.

    Parameters
    ----------
    matrix : ndarray of shape (n, n), or an operator with ``shape`` and ``@``
    count : int
        How many pairs are wanted; fewer come back when the rank is lower.
    route : {"auto", "dense", "krylov"}
        "auto" is dense for an ndarray unless few pairs of a large matrix are wanted, and
        Krylov for an operator unless a large share of its pairs is wanted.
    rank_size : int, optional
        The order used in the rank tolerance, when it differs from n.
    scale : float
        The size of what the matrix was computed from, where that may be larger than its own
        largest eigenvalue: rounding is judged against it.
    overwrite : bool
        Whether an ndarray may be destroyed (saves a copy on the dense route).

    Examples
    --------
    >>> solution = leading_eigenpairs(np.diag([1.0, 3.0, 2.0]), 2)
    >>> solution.values
    array([3., 2.])
    >>> leading_eigenpairs(np.diag([1.0, 0.0]), 2).status.name
    'RANK_DEFICIENT'
    """
    n = matrix.shape[0]
    count = min(count, n)
    is_array = isinstance(matrix, np.ndarray)
    if route == "auto":
        route = "krylov" if krylov_pays(n, count, is_array) else "dense"
    if route == "dense" or too_many_for_krylov(n, count):
        array = matrix if isinstance(matrix, np.ndarray) else _multiplied_out(matrix)
        values, vectors = _dense(array, count, overwrite=overwrite or not is_array)
        status, stats = Status.CONVERGED, {"route": "dense"}
    else:
        values, vectors, converged, stats = _block_lanczos(matrix, n, count, scale)
        status = Status.CONVERGED if converged else Status.MAX_ITER
        if not converged and n <= (dense.EIGEN_LIMIT if is_array else DENSE_FALLBACK):
            return leading_eigenpairs(
                matrix, count, route="dense", rank_size=rank_size, scale=scale, overwrite=overwrite
            )
    rank = numerical_rank(values, n if rank_size is None else rank_size, scale)
    if rank < count and status is Status.CONVERGED:
        status = Status.RANK_DEFICIENT
    return EigenSolution(values[:rank], vectors[:, :rank], status, stats)


def all_eigenpairs(matrix: Array, *, overwrite: bool = False) -> tuple[Array, Array]:
    """Every eigenpair of a dense symmetric matrix, largest first, nothing cut."""
    return _dense(matrix, matrix.shape[0], overwrite=overwrite)


def leading_range(columns: Array, scale: float = 0.0) -> tuple[Array, Array]:
    """Orthonormal basis of the range of C, by decreasing singular value, and their squares.

    ``scale`` is the square of the rounding that C carries from what it was computed from, over
    the machine's own: directions no longer than that are none.

    A QR factorisation followed by an eigenproblem of the small factor: several times faster than
    an SVD of C, and the basis is orthonormal to rounding. Only where C has not full rank is the
    small factor's SVD taken, because squaring would blur the smallest directions that remain.

    >>> basis, squares = leading_range(np.array([[0.0, 0.0], [3.0, 6.0], [0.0, 0.0]]))
    >>> basis.shape, np.round(squares, 12)
    ((3, 1), array([45.]))
    """
    Q, R = dense.qr(columns)
    squares, U = all_eigenpairs(dense.self_product(R), overwrite=True)
    if numerical_rank(squares, columns.shape[0], scale) < squares.size:
        U, singular, _ = dense.svd(R)
        squares = singular**2
        rank = numerical_rank(squares, columns.shape[0], scale)
        U, squares = U[:, :rank], squares[:rank]
    return Q @ U, squares


def _multiplied_out(matrix: Multiplies, width: int = 128) -> Array:
    """An operator as a symmetric array, some columns at a time: what its products hold on the way
    may be taller than the matrix itself."""
    n = matrix.shape[0]
    array = np.empty((n, n))
    for start in range(0, n, width):
        columns = slice(start, min(start + width, n))
        array[:, columns] = matrix @ np.eye(n, columns.stop - start, -start)
    return _symmetric(array)


def _symmetric(matrix: Array) -> Array:
    return (matrix + matrix.T) / 2


def too_many_for_krylov(n: int, count: int) -> bool:
    """Whether so large a share is wanted that a Krylov basis would fill the space."""
    return n <= 2 * (count + _block_size(count))


def many_wanted(n: int, count: int) -> bool:
    """Whether all pairs of a dense matrix are as cheap as the wanted ones.

    Divide and conquer computes all pairs but at matrix-product speed; bisection with inverse
    iteration computes only the wanted ones, slowly. They cross near an eighth of the spectrum.
    """
    return count * 8 > n


def krylov_pays(n: int, count: int, is_array: bool) -> bool:
    """Whether products with the matrix are the faster way, or the only one that is proven."""
    if n > dense.EIGEN_LIMIT:
        return not too_many_for_krylov(n, count)
    # Measured on two cores: tridiagonalisation of a dense matrix of order n costs about as much
    # as a few hundred products with it, so Lanczos wins only for a small share of a large matrix.
    return n >= 300 and count * 40 <= n if is_array else count * 4 <= n


def _dense(matrix: Array, count: int, *, overwrite: bool) -> tuple[Array, Array]:
    n = matrix.shape[0]
    if n == 0 or count == 0:
        return np.empty(0), np.empty((n, 0))
    if many_wanted(n, count):
        values, vectors = dense.all_pairs(matrix, overwrite=overwrite)
    else:
        values, vectors = dense.largest_pairs(matrix, count, overwrite=overwrite)
    return values[::-1][:count], np.ascontiguousarray(vectors[:, ::-1][:, :count])


def _small(matrix: Array) -> tuple[Array, Array]:
    """All pairs of a small matrix; NumPy's wrapper costs a tenth of SciPy's."""
    values, vectors = dense.all_pairs(matrix)
    return values[::-1], vectors[:, ::-1]


def _block_size(count: int) -> int:
    # Measured on enron, llog, bibtex and corel5k: eight columns make a sparse product cheap and
    # still cost only a tenth more products than single-vector Lanczos.
    return 8 if count >= 16 else 4


def _block_lanczos(
    matrix: Array | Multiplies, n: int, count: int, scale: float = 0.0, max_restarts: int = 60
) -> tuple[Array, Array, bool, dict[str, Any]]:
    """Leading pairs by rounds of :func:`_search`, until a fresh look finds none that was missed.

    Each round goes on from the pairs of the last and from what the fresh look found, with the
    number of restarts that is left.
    """
    b = _block_size(count)
    rng = np.random.default_rng(0)  # the start is a detail: the same input gives the same answer
    stats: dict[str, Any] = {"route": "krylov", "products": 0, "restarts": 0}
    found, vectors = np.empty(0), np.empty((n, 0))
    block = rng.standard_normal((n, b))

    def settled(theta: Array, residuals: Array) -> bool:
        return bool(residuals.max() <= TOLERANCE * max(theta[0], scale))

    while True:
        size = min(n - b, max(3 * count + 2 * b, count + 12 * b))
        limit = max_restarts - stats["restarts"]
        ritz = _search(matrix, count, (found, vectors), block, size, settled, limit, rng)
        stats["products"] += ritz.products
        stats["restarts"] += ritz.restarts
        found, vectors = ritz.values[:count], ritz.basis @ ritz.coefficients[:, :count]
        largest = max(found[0], scale)
        missed = _missed_copy(matrix, ritz.values, vectors, n * EPS * largest, b, rng, stats)
        if missed is None or stats["restarts"] >= max_restarts:
            residual = float(ritz.residuals.max())
            stats["residual"] = residual / found[0] if found[0] > 0 else 0.0
            return found, vectors, ritz.settled and missed is None, stats
        block = missed
        stats["restarts"] += 1


@dataclass(frozen=True)
class _Ritz:
    """Where a search stands: an orthonormal basis and the Rayleigh-Ritz pairs in it."""

    basis: Array  # (n, size)
    values: Array  # (size,), largest first
    coefficients: Array  # (size, size)
    residuals: Array  # (count,) norms, of the wanted pairs
    settled: bool
    products: int
    restarts: int


def _search(
    matrix: Array | Multiplies,
    count: int,
    known: tuple[Array, Array],
    block: Array,
    cap: int,
    settled: Callable[[Array, Array], bool],
    max_restarts: int,
    rng: np.random.Generator,
) -> _Ritz:
    """Thick-restart block Lanczos with full orthogonalisation, until ``settled`` says so of the
    Ritz values and the residual norms of the ``count`` wanted ones.

    The basis Q (n, size) holds known eigenvectors, kept Ritz vectors and Krylov blocks;
    T = Q'AQ is filled column block by column block from the orthogonalisation coefficients. After
    a Rayleigh-Ritz step the residual norms of the Ritz pairs are those of R S_last, where R is the
    triangular factor of the block that did not fit in the basis and S_last the last rows of the
    Ritz coefficients.
    """
    n, b = block.shape
    values, vectors = known
    keep = values.size
    Q = np.empty((n, cap + b), order="F")
    T = np.zeros((cap + b, cap + b))
    Q[:, :keep] = vectors
    T[np.arange(keep), np.arange(keep)] = values
    block, _ = _next_block(_orthogonalise(block, Q[:, :keep])[0], Q[:, :keep], 0.0, rng)
    size = keep
    next_check = min(keep + 2 * b, cap) if keep else count + b
    products = restarts = 0
    while True:
        Q[:, size : size + b] = block
        size += b
        active = slice(size - b, size)
        W, H = _orthogonalise(matrix @ Q[:, active], Q[:, :size])
        T[:size, active] = H
        T[active, :size] = H.T
        block, R = _next_block(W, Q[:, :size], np.abs(H).max(initial=0.0), rng)
        products += b
        full = size + b > cap
        if size < next_check and not full:
            continue
        theta, S = _small(_symmetric(T[:size, :size]))
        residuals = _lengths(R @ S[active, :count])
        done = settled(theta, residuals)
        if done or (full and restarts >= max_restarts):
            return _Ritz(Q[:, :size], theta, S, residuals, done, products, restarts)
        next_check = size + max(2 * b, size // 5)
        if full:
            keep = min(count + (size - count) // 2, cap - b)
            Q[:, :keep] = Q[:, :size] @ S[:, :keep]
            T[:] = 0.0
            T[np.arange(keep), np.arange(keep)] = theta[:keep]
            block = dense.qr(_orthogonalise(block, Q[:, :keep])[0])[0]
            restarts += 1
            size, next_check = keep, min(keep + 2 * b, cap)


def _missed_copy(
    matrix: Array | Multiplies,
    theta: Array,
    vectors: Array,
    rounding: float,
    b: int,
    rng: np.random.Generator,
    stats: dict[str, Any],
) -> Array | None:
    """Look for an eigenvalue above the smallest one found that the search has not seen.

    A search from one block shows an eigenvalue no more often than the block has columns. Another
    from a fresh random block, kept orthogonal to what was found, would show the other copies:
    Ritz values never exceed eigenvalues, so one above the smallest proves a miss. Where as many
    values as the block has columns lie together, copies may well be missing, and the second search
    goes on until its largest Ritz value is known to stay below; elsewhere four steps are enough
    of a check. Returns a block to continue from, or None.
    """
    n, count = vectors.shape
    smallest = max(theta[count - 1], rounding)
    crowded = _lie_together(theta[: count + b], b, rounding)
    width, steps = (b, 12) if crowded else (b // 2, 4)
    steps = min(steps, (n - count) // width - 1)  # a block must fit beside them
    if steps < 2:
        return None  # so small a matrix is never searched by products

    def settled(values: Array, residuals: Array) -> bool:
        if values[0] > smallest * (1 + 1e-9):
            return True
        # A vector with a share of a missed one in it has a residual of that share times a gap.
        return bool(residuals[0] <= max(0.1 * (smallest - values[0]), 1e-9 * smallest))

    nothing = np.empty(0), np.empty((n, 0))
    block = _orthogonalise(rng.standard_normal((n, width)), vectors)[0]
    rest = Deflated(matrix, vectors)
    ritz = _search(rest, 1, nothing, block, width * steps, settled, 20 if crowded else 0, rng)
    stats["products"] += ritz.products
    if ritz.values[0] <= smallest * (1 + 1e-9):
        return None
    return ritz.basis @ ritz.coefficients[:, :b]


def _lie_together(theta: Array, b: int, rounding: float) -> bool:
    """Whether ``b`` values, or more, are equal but for what a search can hardly tell apart."""
    theta = theta[theta > rounding]
    return bool(
        np.any(theta[: max(0, theta.size - b + 1)] - theta[b - 1 :] <= 1e-6 * theta[b - 1 :])
    )


def _lengths(columns: Array) -> Array:
    """Norms of the columns, whose squares need be neither finite nor more than 0."""
    unit = float(np.abs(columns).max(initial=0.0)) or 1.0
    return unit * np.linalg.norm(columns / unit, axis=0)


def _orthogonalise(W: Array, Q: Array) -> tuple[Array, Array]:
    """Take the part of W in span(Q) out, twice (once is not enough); return it and Q'W."""
    H = Q.T @ W
    W = W - Q @ H
    correction = Q.T @ W
    W -= Q @ correction
    return W, H + correction


def _next_block(W: Array, Q: Array, scale: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """Orthonormal basis of W and its factor; exhausted directions are replaced by random ones."""
    block, R = dense.qr(W)
    remaining = np.abs(np.diag(R))
    exhausted = remaining <= Q.shape[0] * EPS * scale
    if not exhausted.any() and remaining.min() > 1e-2 * _lengths(R).max():
        return block, R
    # Columns of W that nearly depend on each other leave a small remainder, which normalising
    # blows up together with its rounding; what comes out is no longer orthogonal to the basis.
    # Where nothing at all remains the Krylov space is invariant, and new directions are drawn.
    # R keeps the true remainder: it measures the residuals.
    block[:, exhausted] = rng.standard_normal((Q.shape[0], int(exhausted.sum())))
    for _ in range(2):
        block, _ = _orthogonalise(block, Q)
        block = dense.qr(block)[0]
    return block, R
