"""Products and factorisations of dense symmetric matrices of every order: one place for all.

The threaded symmetric product (syrk) of OpenBLAS brings the process down from some order on. The
orders fit a buffer of 32 MB that is written beyond its end: a thread packs some n / sqrt(threads)
columns of up to 384 entries (``GEMM_Q`` of the Skylake kernels), for which with two threads there
is no room from order 15,400 on, with more threads from somewhat later on. LAPACK's Cholesky
factorisation is made of such products; general products are cut to the buffer. What was tried
with two threads (NumPy 2.4.6 with OpenBLAS 0.3.31, SciPy 1.17.1 with OpenBLAS 0.3.30):

==========================  ===============  ====================================
call                        passes at order  dies at order
==========================  ===============  ====================================
``A @ A.T``, 384 columns    15,000           15,600 (and ``A.T @ A``)
``A @ A.T``, 64 columns     15,600           (does not fill the buffer)
``A @ B.T``, 384 columns    16,000           (cut to the buffer)
Cholesky factorisation      12,000           16,000 (NumPy, SciPy), 17,710 (SciPy)
LU, ``solve``               16,000           (not tried beyond)
syr2k of 32 columns, symv   20,000           (what ``eigh`` calls, step by step)
here: ``self_product``      16,000
here: ``solve_definite``    17,710
==========================  ===============  ====================================

Hence above ``PROVEN`` products are made strip by strip of different operands, which is a general
product, and a Cholesky factorisation from small ones and such products. Limiting the threads would
do as well, but their number belongs to the whole process.

Up to ``PROVEN`` nothing changes: the library's own routine is called.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from compactlearn.core._device_array import DeviceArray

Array = NDArray[np.float64]

# Up to this order every symmetric product and factorisation is left to the BLAS in one call. The
# bound found is 15,400; kernels for other processors pack less at a time.
PROVEN = 12_000

# Largest order of which eigenpairs are computed. No call that ``eigh`` is made of was seen to fail
# (see the table), but a whole one of such an order takes a quarter of an hour or more and 6 GB, so
# none is in the tests; above this, where symmetric products die, it is not trusted.
EIGEN_LIMIT = 15_000

# Strips of a large product: wide enough for full speed, and one of them is a small part of it.
STRIP = 2_048

# Blocks of a Cholesky factorisation: what is not a general product grows with their width.
BLOCK = 256

# NumPy and SciPy bring a BLAS each, with threads that go on spinning for some time after a call.
# A small Cholesky factorisation by SciPy just after NumPy's products waits a tenth of a second for
# a core (measured on two), so up to this order NumPy's LU, twice the operations, is taken instead.
LU_UP_TO = 4_000

# Blocks of fewer columns are orthonormalised by reflections: little is saved.
CHOLESKY_QR_FROM = 16

# NumPy's eigh holds two more matrices of the input's size than SciPy's, which works in place.
# From this order on that memory counts for more than a change of thread pools.
IN_PLACE_ABOVE = 1_200


# ---- products ---------------------------------------------------------------------------------


def self_product(A: Array) -> Array:
    """``A A'``, symmetric to the bit. ``self_product(A.T)`` is ``A'A``.

    >>> self_product(np.array([[1.0, 2.0], [0.0, 3.0]]))
    array([[5., 6.],
           [6., 9.]])
    """
    n = A.shape[0]
    if n <= PROVEN or isinstance(A, DeviceArray):
        return A @ A.T
    out = np.zeros((n, n))
    add_self_product(out, A)
    return out


def add_self_product(out: Array, A: Array) -> None:
    """``out += A A'``; a symmetric ``out`` stays symmetric to the bit."""
    n = A.shape[0]
    if n <= PROVEN:
        out += A @ A.T
        return
    for rows in _slices(n, STRIP):
        out[rows, rows] += A[rows] @ A[rows].T
        strip = A[rows] @ A[rows.stop :].T
        out[rows, rows.stop :] += strip
        out[rows.stop :, rows] += strip.T


def add_to_diagonal(matrix: Array, value: float) -> None:
    """``matrix += value I``."""
    if isinstance(matrix, DeviceArray):
        matrix += value * matrix.identity(matrix.shape[0])
    else:
        matrix[np.diag_indices_from(matrix)] += value


def symmetrise(matrix: Array) -> Array:
    """``(matrix + matrix') / 2`` in place, without a second matrix; returns it."""
    if isinstance(matrix, DeviceArray):
        return (matrix + matrix.T) / 2
    for rows in _slices(matrix.shape[0], STRIP):
        corner, strip = matrix[rows, rows], matrix[rows, rows.stop :]
        corner += corner.T.copy()
        corner /= 2
        strip += matrix[rows.stop :, rows].T
        strip /= 2
        matrix[rows.stop :, rows] = strip.T
    return matrix


# ---- definite matrices ------------------------------------------------------------------------


def solve_definite(matrix: Array, right: Array, *, overwrite: bool = False) -> Array:
    """Solve ``matrix @ B = right`` for a symmetric positive definite matrix.

    ``overwrite`` says whether the matrix may be destroyed, which saves a copy of a large one.

    >>> solve_definite(np.array([[4.0, 2.0], [2.0, 3.0]]), np.array([[8.0], [8.0]]))
    array([[1.],
           [2.]])
    """
    n = matrix.shape[0]
    if n <= LU_UP_TO or isinstance(matrix, DeviceArray):
        return solve(matrix, right)
    if n <= PROVEN:
        factor = scipy.linalg.cho_factor(
            matrix, lower=True, overwrite_a=overwrite, check_finite=False
        )
        return scipy.linalg.cho_solve(factor, right, check_finite=False)
    L = factorise(matrix if overwrite else matrix.copy())
    B = np.array(right, dtype=np.float64)
    _substitute_forward(L, B)
    _substitute_backward(L, B)
    return B


def inverse_definite(matrix: Array, *, overwrite: bool = False) -> Array:
    """The inverse of a symmetric positive definite matrix, symmetric to the bit.

    >>> inverse_definite(np.array([[4.0, 0.0], [0.0, 2.0]]))
    array([[0.25, 0.  ],
           [0.  , 0.5 ]])
    """
    n = matrix.shape[0]
    if n <= LU_UP_TO or isinstance(matrix, DeviceArray):
        inverse: Any = np.linalg.inv(matrix)
        return symmetrise(inverse)
    L = factorise(matrix if overwrite else matrix.copy())
    inverse = np.empty((n, n))
    for columns in _slices(n, STRIP):
        # Of these columns the rows from the diagonal on depend on this corner of L alone.
        corner = L[columns.start :, columns.start :]
        part = np.eye(n - columns.start, columns.stop - columns.start)
        _substitute_forward(corner, part)
        _substitute_backward(corner, part)
        inverse[columns.start :, columns] = part
        inverse[columns, columns.stop :] = part[columns.stop - columns.start :].T
    for columns in _slices(n, STRIP):
        symmetrise(inverse[columns, columns])
    return inverse


def reciprocal_condition(matrix: Array) -> float:
    """An estimate of 1 over the condition of a symmetric matrix; 0 where it is not definite."""
    n = matrix.shape[0]
    if n == 0:
        return 1.0
    if n <= PROVEN:
        factor, failed = scipy.linalg.lapack.dpotrf(matrix, lower=1, clean=0)
        if failed:
            return 0.0
    else:
        try:
            factor = factorise(matrix.copy())
        except np.linalg.LinAlgError:
            return 0.0
    norm = float(np.abs(matrix).sum(axis=0).max())
    return float(scipy.linalg.lapack.dpocon(factor, norm, uplo="L")[0])


def factorise(matrix: Array) -> Array:
    """Put the lower Cholesky factor in the lower half of a matrix; what is above stays.

    Column block by column block: what the columns to the left explain is taken off by one
    general product, and what remains needs a factorisation of the order of a block.
    """
    n = matrix.shape[0]
    for columns in _slices(n, BLOCK):
        start, stop = columns.start, columns.stop
        matrix[start:, columns] -= matrix[start:, :start] @ matrix[columns, :start].T
        corner = cholesky(matrix[columns, columns])
        matrix[columns, columns] = corner
        matrix[stop:, columns] = _solve_lower(corner, matrix[stop:, columns].T).T
    return matrix


def _substitute_forward(L: Array, B: Array) -> None:
    """``B <- L^-1 B``, of L the lower half."""
    for rows in _slices(L.shape[0], BLOCK):
        B[rows] = _solve_lower(np.tril(L[rows, rows]), B[rows])
        B[rows.stop :] -= L[rows.stop :, rows] @ B[rows]


def _substitute_backward(L: Array, B: Array) -> None:
    """``B <- L'^-1 B``, of L the lower half."""
    for rows in reversed(list(_slices(L.shape[0], BLOCK))):
        B[rows] -= L[rows.stop :, rows].T @ B[rows.stop :]
        B[rows] = solve(np.tril(L[rows, rows]).T, B[rows])


def _solve_lower(L: Array, B: Array) -> Array:
    """``L^-1 B`` by NumPy's general solver: no pivots are sought below the diagonal of an upper
    triangular matrix, which L is when it is read from its end."""
    return solve(L[::-1, ::-1], B[::-1])[::-1]


def _slices(n: int, width: int) -> Iterator[slice]:
    for start in range(0, n, width):
        yield slice(start, min(start + width, n))


# ---- what has no large order, or is LAPACK's in any case ----------------------------------------


def solve(matrix: Array, right: Any) -> Any:
    """Solve a square system of moderate order."""
    return np.linalg.solve(matrix, right)


def cholesky(matrix: Array) -> Any:
    """The lower Cholesky factor of a matrix of moderate order, zero above the diagonal."""
    return np.linalg.cholesky(matrix)


def qr(columns: Array) -> tuple[Array, Array]:
    """Orthonormal columns and the triangular factor: general products only, at every order."""
    Q, R = np.linalg.qr(columns)
    return Q, R


def thin_qr(columns: Array) -> tuple[Array, Array]:
    """The same for a tall block: where it is wide enough, by two Cholesky factorisations of its
    Gram matrix, which are products and so several times faster (Yamamoto et al. 2015).

    The second makes up for what the first loses, as long as the columns are far from dependent on
    each other; otherwise Householder reflections are taken.

    >>> Q, R = thin_qr(np.eye(40, 20) * 3.0)
    >>> bool(np.allclose(Q @ R, np.eye(40, 20) * 3.0)), Q.shape
    (True, (40, 20))
    """
    if columns.shape[1] < CHOLESKY_QR_FROM:
        return qr(columns)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            first = np.linalg.cholesky(columns.T @ columns)
        sizes = np.diag(first)
        if not (np.isfinite(first).all() and sizes.min() > 1e-4 * sizes.max()):
            return qr(columns)
        Q = columns @ np.linalg.inv(first).T
        second = np.linalg.cholesky(Q.T @ Q)
    except np.linalg.LinAlgError:
        return qr(columns)
    return Q @ np.linalg.inv(second).T, second.T @ first.T


def pivoted_qr(columns: Array, *, overwrite: bool = False) -> tuple[Array, Array, Any]:
    """The same with the longest remaining column first; also the places the columns came from."""
    Q, R, places = scipy.linalg.qr(
        columns, mode="economic", pivoting=True, overwrite_a=overwrite, check_finite=False
    )
    return Q, R, places


def solve_upper(R: Array, right: Array) -> Array:
    """``R^-1 right`` for an upper triangular R."""
    return scipy.linalg.solve_triangular(R, right, check_finite=False)


def svd(matrix: Array) -> tuple[Array, Array, Array]:
    """Thin singular value decomposition of a small matrix.

    Divide and conquer gives up on some finite matrices (seen with OpenBLAS 0.3.30: a triangular
    factor of order 153 and rank 141). QR iteration is slower, and ends on them.
    """
    try:
        U, singular, Vt = np.linalg.svd(matrix, full_matrices=False)
    except np.linalg.LinAlgError:
        if not np.isfinite(matrix).all():
            raise
        U, singular, Vt = scipy.linalg.svd(
            matrix, full_matrices=False, lapack_driver="gesvd", check_finite=False
        )
    return U, singular, Vt


# ---- eigenpairs -------------------------------------------------------------------------------


def all_pairs(matrix: Array, *, overwrite: bool = False) -> tuple[Array, Array]:
    """Every eigenvalue of a symmetric matrix, smallest first, and the eigenvectors."""
    n = matrix.shape[0]
    if isinstance(matrix, DeviceArray):
        return np.linalg.eigh(matrix)
    _refuse_unproven(n)
    if n > IN_PLACE_ABOVE and overwrite:
        return scipy.linalg.eigh(matrix, driver="evd", overwrite_a=True, check_finite=False)
    values, vectors = np.linalg.eigh(matrix)
    return values, vectors


def largest_pairs(matrix: Array, count: int, *, overwrite: bool = False) -> tuple[Array, Array]:
    """The ``count`` largest eigenvalues, smallest first, and their eigenvectors."""
    n = matrix.shape[0]
    if isinstance(matrix, DeviceArray):
        values, vectors = np.linalg.eigh(matrix)
        return values[n - count :], vectors[:, n - count :]
    _refuse_unproven(n)
    diagonal = matrix.diagonal().copy()
    values, vectors = scipy.linalg.eigh(
        matrix,
        driver="evx",
        subset_by_index=(n - count, n - 1),
        overwrite_a=overwrite,
        check_finite=False,
    )
    if len(values) < count:
        # Bisection misses eigenvalues of high multiplicity on some processors (seen with 40 equal
        # ones: none was found, and no error reported). The upper triangle is never overwritten.
        upper = np.triu(matrix, 1)
        values, vectors = all_pairs(upper + upper.T + np.diag(diagonal), overwrite=True)
        values, vectors = values[n - count :], vectors[:, n - count :]
    return values, vectors


def eigenvalues(matrix: Array) -> Any:
    """Every eigenvalue of a symmetric matrix, smallest first."""
    if not isinstance(matrix, DeviceArray):
        _refuse_unproven(matrix.shape[0])
    return np.linalg.eigvalsh(matrix)


def _refuse_unproven(n: int) -> None:
    """Refuse eigenpairs of an order at which LAPACK was never seen to come back."""
    if n > EIGEN_LIMIT:
        raise ValueError(
            f"A dense eigenvalue problem may have order {EIGEN_LIMIT} at most (larger ones "
            f"are not known to come back, and take hours), and one of order {n} was asked for; use "
            "solver='krylov' with fewer components, project the features, or raise alpha above "
            "1e-8 times the sum of squares of the features, which needs no eigenvalues."
        )
