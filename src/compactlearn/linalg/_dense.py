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
``A @ B.T``, 384 columns    16,000           (cut to the buffer)
Cholesky factorisation      12,000           16,000 (NumPy, SciPy), 17,710 (SciPy)
LU, ``solve``               16,000           (not tried beyond)
syr2k of 32 columns, symv   20,000           (what ``eigh`` calls, step by step)
==========================  ===============  ====================================

Hence above ``PROVEN`` products are made of different operands, which is a general product, and
systems are solved by LU. Limiting the threads would do as well, but their number belongs to the
whole process.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from compactlearn.core._device_array import DeviceArray

Array = NDArray[np.float64]

# Up to this order symmetric products and Cholesky factorisations are left to the BLAS. The bound
# found is 15,400; kernels for other processors pack less at a time.
PROVEN = 12_000

# Largest order of which eigenpairs are computed. No call that ``eigh`` is made of was seen to fail
# (see the table), but a whole one of such an order takes a quarter of an hour or more and 6 GB, so
# none is in the tests; above this, where symmetric products die, it is not trusted.
EIGEN_LIMIT = 15_000

# Rows that are symmetrised at a time.
STRIP = 2_048

# NumPy and SciPy bring a BLAS each, with threads that keep spinning for some time after a call.
# A small Cholesky factorisation by SciPy just after NumPy's products waits a tenth of a second for
# a core (measured on two), so NumPy's LU, twice the operations, is used up to this order.
LU_UP_TO = 4_000

# Blocks of fewer columns are orthonormalised by reflections: little is saved.
CHOLESKY_QR_FROM = 16

# NumPy's eigh holds two more matrices of the input's size than SciPy's, which works in place.
# From this order on that memory counts for more than a change of thread pools.
IN_PLACE_ABOVE = 1_200


# ---- products ---------------------------------------------------------------------------------


def self_product(A: Array) -> Array:
    """Return ``A A'``, symmetric to the bit. ``self_product(A.T)`` is ``A'A``.

    >>> self_product(np.array([[1.0, 2.0], [0.0, 3.0]]))
    array([[5., 6.],
           [6., 9.]])
    """
    if A.shape[0] <= PROVEN or isinstance(A, DeviceArray):
        return A @ A.T
    return symmetrise(A @ A.copy().T)  # of a copy NumPy does not see that it is symmetric


def add_to_diagonal(matrix: Array, value: float) -> None:
    """``matrix += value I``."""
    if isinstance(matrix, DeviceArray):
        matrix += value * matrix.identity(matrix.shape[0])
    else:
        matrix[np.diag_indices_from(matrix)] += value


def symmetrise(matrix: Array) -> Array:
    """Return ``(matrix + matrix') / 2``, in place where it is on the host."""
    if isinstance(matrix, DeviceArray):
        return (matrix + matrix.T) / 2
    for start in range(0, matrix.shape[0], STRIP):
        rows, rest = slice(start, start + STRIP), slice(start + STRIP, None)
        corner, strip = matrix[rows, rows], matrix[rows, rest]
        corner += corner.T.copy()
        corner /= 2
        strip += matrix[rest, rows].T
        strip /= 2
        matrix[rest, rows] = strip.T
    return matrix


# ---- definite matrices ------------------------------------------------------------------------


def solve_definite(matrix: Array, right: Array, *, overwrite: bool = False) -> Array:
    """Solve ``matrix @ B = right`` for a symmetric positive definite matrix.

    ``overwrite`` says whether the matrix may be destroyed, which saves a copy of a large one.

    >>> solve_definite(np.array([[4.0, 2.0], [2.0, 3.0]]), np.array([[8.0], [8.0]]))
    array([[1.],
           [2.]])
    """
    if isinstance(matrix, DeviceArray) or not LU_UP_TO < matrix.shape[0] <= PROVEN:
        return solve(matrix, right)
    factor = scipy.linalg.cho_factor(matrix, lower=True, overwrite_a=overwrite, check_finite=False)
    return scipy.linalg.cho_solve(factor, right, check_finite=False)


def inverse_definite(matrix: Array) -> Array:
    """Return the inverse of a symmetric positive definite matrix, symmetric to the bit.

    >>> inverse_definite(np.array([[4.0, 0.0], [0.0, 2.0]]))
    array([[0.25, 0.  ],
           [0.  , 0.5 ]])
    """
    return symmetrise(np.linalg.inv(matrix))  # type: ignore[arg-type]


def reciprocal_condition(matrix: Array) -> float:
    """Return an estimate of 1 over the condition of a symmetric matrix."""
    if matrix.shape[0] == 0:
        return 1.0
    factor, _, failed = scipy.linalg.lapack.dgetrf(matrix)
    norm = float(np.abs(matrix).sum(axis=0).max())
    return 0.0 if failed else float(scipy.linalg.lapack.dgecon(factor, norm)[0])


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
    """Do the same for a tall block: where it is wide enough, by two Cholesky factorisations of its
    Gram matrix, which are products and so several times faster (Yamamoto et al. 2015).

    The second makes up for what the first loses, as long as the columns are far from dependent on
    each other; otherwise Householder reflections are used.

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
    """Every eigenvalue of a symmetric matrix, smallest first, and the eigenvectors.

    Divide and conquer gives up on some finite matrices (seen with OpenBLAS 0.3.31: order 116,
    values of high multiplicity). QR iteration is slower, and ends on them.
    """
    n = matrix.shape[0]
    if isinstance(matrix, DeviceArray):
        return np.linalg.eigh(matrix)
    _refuse_unproven(n)
    if n > IN_PLACE_ABOVE and overwrite:
        return scipy.linalg.eigh(matrix, driver="evd", overwrite_a=True, check_finite=False)
    try:
        values, vectors = np.linalg.eigh(matrix)
    except np.linalg.LinAlgError:
        if not np.isfinite(matrix).all():
            raise
        values, vectors = scipy.linalg.eigh(matrix, driver="ev", check_finite=False)
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
