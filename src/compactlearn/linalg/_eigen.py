"""Leading eigenpairs of symmetric positive semi-definite matrices, dense or given by products.

One call, :func:`leading_eigenpairs`, hides two routes. The dense route is LAPACK's; the Krylov
route (:mod:`compactlearn.linalg._lanczos`) needs products with the matrix only.

Order and rank are judged here and nowhere else.

NumPy's LAPACK is called, but for a few pairs of a dense matrix and for large ones in place: NumPy
and SciPy bring a BLAS each, and where calls alternate their threads compete for the same cores
(measured: a fit of bibtex on two cores takes three times as long).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.core._devices import DeviceArray, is_array
from compactlearn.linalg import _dense as dense
from compactlearn.linalg._arrays import zeros_on_device_of
from compactlearn.linalg._lanczos import (
    EPS,
    EigenSolution,
    Multiplies,
    Status,
    block_size,
    enough_pairs,
    exact_pairs,
)

Array = NDArray[np.float64]

# An operator up to this order is multiplied out when the Krylov iteration does not converge.
DENSE_FALLBACK = 4_000

# A search that need not be exact has a basis of up to four times as many columns as pairs, which
# must be a small part of the space.
ENOUGH_ABOVE = 8


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
    share: float = 1.0,
    seed: int = 0,
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
    share : float
        How much of the largest sum of ``count`` eigenvalues is enough; 1 where the pairs must be
        exact. Only the Krylov route saves anything by it.
    seed : int
        Of the start of a search that need not be exact.

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
    has_entries = is_array(matrix)
    if route == "auto":
        route = "krylov" if krylov_pays(n, count, has_entries) else "dense"
    if route == "dense" or too_many_for_krylov(n, count):
        array: Any = matrix if has_entries else multiplied_out(matrix)
        values, vectors = _dense(array, count, overwrite=overwrite or not has_entries)
        found = EigenSolution(values, vectors)
    else:
        exact = share >= 1.0 or count == 0 or n <= ENOUGH_ABOVE * count
        found = (
            exact_pairs(matrix, count, scale) if exact else enough_pairs(matrix, count, share, seed)
        )
        limit = dense.EIGEN_LIMIT if has_entries else DENSE_FALLBACK
        if found.status is Status.MAX_ITER and n <= limit:
            return leading_eigenpairs(
                matrix, count, route="dense", rank_size=rank_size, scale=scale, overwrite=overwrite
            )
    return above_rounding(found, n if rank_size is None else rank_size, scale)


def above_rounding(found: EigenSolution, size: int, scale: float = 0.0) -> EigenSolution:
    """Return the pairs of a solution above the tolerance of :func:`numerical_rank`."""
    rank, status = numerical_rank(found.values, size, scale), found.status
    if rank < found.values.size and status is Status.CONVERGED:
        status = Status.RANK_DEFICIENT
    images = None if found.images is None else found.images[:, :rank]
    return EigenSolution(found.values[:rank], found.vectors[:, :rank], status, found.share, images)


def all_eigenpairs(matrix: Array, *, overwrite: bool = False) -> tuple[Array, Array]:
    """Every eigenpair of a dense symmetric matrix, largest first, nothing cut."""
    return _dense(matrix, matrix.shape[0], overwrite=overwrite)


def symmetric_roots(gram: Array, scale: float = 0.0) -> tuple[Array, Array]:
    """Return the symmetric roots of a Gram matrix and of its pseudo-inverse.

    Directions in which the matrix is zero but for rounding are left out of both; ``scale`` is the
    size of what the matrix was computed from, as the trace before it was centred.

    >>> root, inverse = symmetric_roots(np.array([[4.0, 0.0], [0.0, 0.0]]))
    >>> root, inverse
    (array([[2., 0.],
           [0., 0.]]), array([[0.5, 0. ],
           [0. , 0. ]]))
    """
    values, vectors = all_eigenpairs(gram)
    rank = numerical_rank(values, values.size, scale)
    roots, E = np.sqrt(values[:rank]), vectors[:, :rank]
    return (E * roots) @ E.T, (E / roots) @ E.T


def leading_range(columns: Array, scale: float = 0.0) -> tuple[Array, Array]:
    """Orthonormal basis of the range of C, by decreasing singular value, and their squares.

    ``scale`` is the square of the rounding that C carries from what it was computed from, over
    the machine's own: directions no longer than that are none.

    A QR factorisation followed by an eigenproblem of the small factor: several times faster than
    an SVD of C, and the basis is orthonormal to rounding. Only if C is rank-deficient is
    the small factor's SVD used, because squaring would blur the smallest directions that remain.

    >>> basis, squares = leading_range(np.array([[0.0, 0.0], [3.0, 6.0], [0.0, 0.0]]))
    >>> basis.shape, np.round(squares, 12)
    ((3, 1), array([45.]))
    """
    Q, R = dense.thin_qr(columns)
    squares, U = all_eigenpairs(dense.self_product(R), overwrite=True)
    if numerical_rank(squares, columns.shape[0], scale) < squares.size:
        U, singular, _ = dense.svd(R)
        squares = singular**2
        rank = numerical_rank(squares, columns.shape[0], scale)
        U, squares = U[:, :rank], squares[:rank]
    return Q @ U, squares


def multiplied_out(matrix: Multiplies, width: int = 128) -> Array:
    """An operator as a symmetric array, some columns at a time: what its products hold on the way
    may be taller than the matrix itself."""
    n = matrix.shape[0]
    array = zeros_on_device_of((n, n), matrix)
    for start in range(0, n, width):
        columns = slice(start, min(start + width, n))
        array[:, columns] = matrix @ np.eye(n, columns.stop - start, -start)
    return (array + array.T) / 2


def too_many_for_krylov(n: int, count: int) -> bool:
    """Return whether so large a share is wanted that a Krylov basis would fill the space."""
    return n <= 2 * (count + block_size(count))


def many_wanted(n: int, count: int) -> bool:
    """Return whether all pairs of a dense matrix are as cheap as the wanted ones.

    Divide and conquer computes all pairs but at matrix-product speed; bisection with inverse
    iteration computes only the wanted ones, slowly. They cross near an eighth of the spectrum.
    """
    return count * 8 > n


def krylov_pays(n: int, count: int, is_array: bool) -> bool:
    """Return whether products with the matrix are faster, or the only route that is proven."""
    if n > dense.EIGEN_LIMIT:
        return not too_many_for_krylov(n, count)
    # Measured on two cores: tridiagonalisation of a dense matrix of order n costs about as much
    # as a few hundred products with it, so Lanczos wins only for a small share of a large matrix.
    return n >= 300 and count * 40 <= n if is_array else count * 4 <= n


def _dense(matrix: Array, count: int, *, overwrite: bool) -> tuple[Array, Array]:
    n = matrix.shape[0]
    if n == 0 or count == 0:
        return zeros_on_device_of((0,), matrix), zeros_on_device_of((n, 0), matrix)
    if many_wanted(n, count):
        values, vectors = dense.all_pairs(matrix, overwrite=overwrite)
    else:
        values, vectors = dense.largest_pairs(matrix, count, overwrite=overwrite)
    values, vectors = values[::-1][:count], vectors[:, ::-1][:, :count]
    return values, vectors if isinstance(vectors, DeviceArray) else np.ascontiguousarray(vectors)
