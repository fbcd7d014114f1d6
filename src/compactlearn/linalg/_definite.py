"""Whether a symmetric matrix can be a Gram matrix: what its extreme eigenvalues say."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compactlearn.linalg._dense import eigenvalues
from compactlearn.linalg._eigen import EPS

Array = NDArray[np.float64]

# Up to this order all eigenvalues are computed, in well under a second.
EXACT_UP_TO = 1_000
STEPS = 30


def eigenvalue_range(matrix: Array) -> tuple[float, float]:
    """Smallest and largest eigenvalue of a symmetric matrix; an inner estimate of a large one.

    Up to order ``EXACT_UP_TO`` both are exact. Above it they are Ritz values of ``STEPS`` steps
    of the Lanczos method, at a cost of as many products with the matrix. Ritz values lie between
    the extreme eigenvalues, so a negative one proves a negative eigenvalue; a positive one
    proves nothing.

    >>> eigenvalue_range(np.array([[1.0, 2.0], [2.0, 1.0]]))
    (-1.0, 3.0)
    """
    exact = matrix.shape[0] <= EXACT_UP_TO
    values = eigenvalues(matrix) if exact else _ritz_values(matrix)
    return float(values[0]), float(values[-1])


def _ritz_values(matrix: Array) -> Array:
    """Eigenvalues of Q'AQ, smallest first, Q an orthonormal basis of a Krylov space of A."""
    n = matrix.shape[0]
    rng = np.random.default_rng(0)  # the same matrix gives the same answer
    Q = np.empty((n, STEPS), order="F")
    T = np.zeros((STEPS, STEPS))
    w = rng.standard_normal(n)
    size, scale = 0, 0.0
    while size < STEPS:
        norm = float(np.linalg.norm(w))
        if size and norm <= n * EPS * scale:
            break  # the space is invariant: what follows would be normalised rounding
        Q[:, size] = w / norm
        basis = Q[:, : size + 1]
        w = matrix @ basis[:, -1]
        scale = max(scale, float(np.linalg.norm(w)))
        h = basis.T @ w
        w -= basis @ h
        w -= basis @ (basis.T @ w)  # once is not enough to stay orthogonal
        T[: size + 1, size] = T[size, : size + 1] = h
        size += 1
    return eigenvalues(T[:size, :size])
