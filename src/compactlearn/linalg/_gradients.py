"""Ridge regressions by products with the rows alone: preconditioned conjugate gradients.

For shapes where no Gram matrix fits, and for sparse rows of so many columns that a dense
factorisation would take longer than all the products, or is not proven at that order.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.core._deadline import checkpoint, watched
from compactlearn.core._threads import blas_threads, free_cores_to_use
from compactlearn.linalg._eigen import leading_eigenpairs
from compactlearn.linalg._graded import badly_scaled
from compactlearn.linalg._operators import ColumnScaled, Operator, gram

Array = NDArray[np.float64]

# The error of an iterate is estimated from the gain of this number of last steps (half as many at
# first), compared with the gain of as many steps before them.
LOOK_BACK = 12

# Columns solved for at a time: temporary arrays are several times as large as these columns.
WIDTH = 128

# Directions of largest variance that a preconditioner takes out, and how well it must know them.
RANKS = (32, 256)
KNOWN = 0.9


def solve_ridge_iteratively(
    rows: Operator,
    cross: Array,
    alpha: float,
    *,
    variances: Array | None = None,
    tol: float = 1e-13,
    enough: float = 0.0,
    rank: int = 0,
    max_iter: int = 2000,
) -> tuple[Array, bool]:
    """Conjugate gradients on ``(Z'Z + alpha I) B = cross``, all columns side by side.

    Returns the coefficients and whether every column has settled: its residual is below ``tol``
    times its right-hand side, or the error E of its coefficients, in the norm
    ``|ZE|^2 + alpha |E|^2``, is estimated to be below ``enough`` times their own. What is predicted
    for the rows Z is then known to that share of its length.

    ``rank`` directions of largest variance are sought first and taken out of the condition of the
    problem. ``variances`` are the squared lengths of Z's columns: where these differ by orders of
    magnitude, all are scaled to one length on the way. Not so without a penalty and with more
    columns than rows: of many solutions the one of least norm is meant, and scaled coefficients
    would have another.
    """
    unique = alpha > 0 or rows.shape[0] >= rows.shape[1]
    stop = _Stop(tol, enough, max_iter)
    if variances is not None and unique and (badly_scaled(variances) or _far_from_one(variances)):
        sizes = variances + alpha
        roots = np.sqrt(np.where(sizes > 0, sizes, 1.0))
        scaled = ColumnScaled(rows, 1.0 / roots)
        penalties = (alpha / roots**2)[:, None]
        B, solved = _in_parts(scaled, cross / roots[:, None], penalties, None, stop)
        return B / roots[:, None], solved
    leading = _leading(rows, alpha, rank) if rank else None
    return _in_parts(rows, cross, alpha, leading, stop)


def iterative_rank(n_targets: int) -> int:
    """Return the number of directions of a preconditioner for so many right-hand sides."""
    return int(np.clip(n_targets // 2, *RANKS))


@dataclass(frozen=True)
class _Stop:
    """When a column has settled."""

    tol: float
    enough: float
    max_iter: int


@dataclass(frozen=True)
class _Leading:
    """``I + U diag(gains) U'``: what makes the leading eigenvalues of ``Z'Z + alpha I`` equal to
    the smallest one known (Frangella, Tropp and Udell 2023)."""

    vectors: Array  # (p, r) U
    gains: Array  # (r,)

    def __matmul__(self, residual: Array) -> Array:
        # Products of the transposes, which the BLAS makes faster for tall columns.
        shares = (residual.T @ self.vectors) * self.gains
        return (residual.T + shares @ self.vectors.T).T


def _leading(rows: Operator, alpha: float, rank: int) -> _Leading | None:
    found = leading_eigenpairs(gram(rows), rank, route="krylov", share=KNOWN)
    if found.values.size == 0:
        return None
    return _Leading(
        np.asfortranarray(found.vectors),
        (found.values[-1] + alpha) / (found.values + alpha) - 1.0,
    )


def _far_from_one(variances: Array) -> bool:
    """Return whether squares of products with the rows may leave the range of numbers."""
    largest = float(variances.max(initial=0.0))
    return largest > 0 and not 1e-50 < largest < 1e50


def _in_parts(
    rows: Operator, cross: Array, penalties: Array | float, leading: _Leading | None, stop: _Stop
) -> tuple[Array, bool]:
    """Some columns at a time, on as many cores as are free: products with sparse rows, of which
    nearly all the work is made, have one thread each."""
    parts = [cross[:, start : start + WIDTH] for start in range(0, cross.shape[1], WIDTH)]
    if len(parts) == 1:
        return _conjugate_gradients(rows, cross, penalties, leading, stop)

    def solved(part: Array) -> tuple[Array, bool]:
        return _conjugate_gradients(rows, part, penalties, leading, stop)

    with blas_threads(1), ThreadPoolExecutor(min(len(parts), free_cores_to_use())) as pool:
        found = list(pool.map(watched(solved), parts))
    return np.hstack([part for part, _ in found]), all(done for _, done in found)


def _conjugate_gradients(
    rows: Operator, cross: Array, penalties: Array | float, leading: _Leading | None, stop: _Stop
) -> tuple[Array, bool]:
    """Solve by conjugate gradients; leave converged columns out of the products once they are many.

    Every step reduces the squared error in the norm of the matrix by ``step * energy`` (Hestenes
    and Stiefel 1952). The remaining error is estimated as the sum of all future reductions, if
    these keep falling at the rate between the last steps and as many before.
    """
    found = np.zeros_like(cross)
    places = np.arange(cross.shape[1])
    B, residual = np.zeros_like(cross), cross.copy()
    improved = residual if leading is None else leading @ residual
    direction = improved.copy()
    energy = dots(residual, improved)
    target = stop.tol**2 * dots(cross, cross)
    gained, gains = np.zeros(places.size), deque(maxlen=2 * LOOK_BACK)
    for _ in range(stop.max_iter):
        checkpoint()
        settled = dots(residual, residual) <= target
        if stop.enough and len(gains) >= LOOK_BACK:
            settled |= _left(np.array(gains)) <= stop.enough**2 * gained
        if settled.all():
            break
        if np.count_nonzero(settled) * 4 >= settled.size:
            found[:, places[settled]] = B[:, settled]
            going = ~settled
            B, residual, direction = B[:, going], residual[:, going], direction[:, going]
            places, energy, target = places[going], energy[going], target[going]
            gained = gained[going]
            gains = deque((part[going] for part in gains), 2 * LOOK_BACK)
        image = rows.T @ (rows @ direction)
        image += penalties * direction
        step = ratio(energy, dots(direction, image))
        B += step * direction
        residual -= step * image
        gains.append(step * energy)
        gained += gains[-1]
        improved = residual if leading is None else leading @ residual
        new_energy = dots(residual, improved)
        direction *= ratio(new_energy, energy)
        direction += improved
        energy = new_energy
    else:
        settled = dots(residual, residual) <= target
    found[:, places] = B
    return found, bool(settled.all())


def _left(gains: Array) -> Array:
    """The squared error that is left, from the gains of the last steps (steps, columns)."""
    half = len(gains) // 2
    before, last = gains[:half].sum(axis=0), gains[-half:].sum(axis=0)
    fall = np.minimum(ratio(last, before), 0.95)
    return last * np.maximum(fall / (1.0 - fall), 1.0)


def dots(A: NDArray[Any], B: NDArray[Any]) -> NDArray[Any]:
    """Return the inner products of the columns of one with those of the other."""
    return np.einsum("ij,ij->j", A, B)


def ratio(upper: NDArray[Any], lower: NDArray[Any]) -> NDArray[Any]:
    """Upper over lower; 0 where there is nothing to divide by."""
    ratio: Any = np.divide(upper, lower, out=np.zeros_like(upper), where=lower > 0)
    return ratio
