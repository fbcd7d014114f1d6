"""Unknown cells of the right block, filled in so that a method can be solved as if all were known.

Two ways, both of which minimise a sum of squares over the known cells alone. Letters: X the left
block, Y (N, M) the right one, of which some cells are unknown, F the right block with these filled.

*By the ridge alone* (:func:`fill_by_ridge`). Where every column is to be regressed on all of X,

    minimise over B, b    sum over known cells of (Y - XB - 1b')^2 + alpha ||B||^2

has the same solution as the ridge of F, if an unknown cell of F is what that ridge predicts for it.
With the hat matrix H of the ridge this is (I - H_uu) f = H_uk y for the unknown cells u of a
column, which conjugate gradients solve for all columns side by side. A product is one ridge of all
rows, whose factorisation the columns share; the condition is that of the known rows among all.

*By ridge and codes* (:func:`fill_by_codes`). What a row's known cells say about its unknown ones is
worth having too: an image of the sea that is known to show a beach. So let a matrix R of low rank
take what X does not explain:

    minimise over B, b, R, F    ||F - XB - 1b' - R||^2 + alpha ||B||^2 + 2 strength ||R||_*

with the sum of singular values ||R||_*, and F = Y at the known cells. It is jointly convex. Each
round minimises it over (B, b) by a ridge, over R by shrinking the singular values of F - XB - 1b'
by ``strength``, and over the unknown cells of F, which become XB + 1b' + R: block coordinate
descent, so that no step raises the objective. Without X it is soft imputation (Mazumder, Hastie and
Tibshirani 2010). The start is each column's mean over its known rows.

Weights of rows multiply their squares; a row of weight two is that row twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.linalg._codes import Codes
from compactlearn.linalg._dense import add_to_diagonal, all_pairs, inverse_definite, self_product
from compactlearn.linalg._learning import fitted_codes, ridge_of
from compactlearn.linalg._rows_pair import RowsPair

Array = NDArray[np.float64]

COLUMNS = 256  # that are worked on side by side where they do not depend on each other
INVERSE_LIMIT = 4_000  # the largest order of a Gram matrix that is inverted
EXACT = 1e-11  # the residual of conjugate gradients, relative to their right-hand side


def column_means(right: Any, unknown: Any, weights: Array | None) -> Array:
    """(M,) means over the known cells; 0 for a column that is known nowhere."""
    w = np.ones(right.shape[0]) if weights is None else weights
    known = w.sum() - np.asarray(unknown.T @ w).ravel()
    total = np.asarray(right.T @ w).ravel()
    return np.divide(total, known, out=np.zeros(total.size), where=known > 0)


def with_cells(right: Any, unknown: Any, values: Array) -> Any:
    """The right block with ``values`` (nnz,) in its unknown cells, in the order of their rows."""
    cells = scipy.sparse.csr_array((values, unknown.indices, unknown.indptr), shape=unknown.shape)
    return scipy.sparse.csr_array(right + cells)


# ---- by the ridge alone -----------------------------------------------------------------------


def fill_by_ridge(pair: RowsPair, unknown: Any, alpha: float, bias: str) -> Any:
    """Return the right block, its unknown cells filled by the ridge of the known ones.

    ``unknown`` is a CSR matrix with a one for each unknown cell, where the pair's right block is 0.
    """
    columns = np.unique(unknown.indices)
    marks, right = unknown.tocsc(), pair.right.tocsc()
    filled = marks.copy()
    filled.data = filled.data.astype(np.float64)
    means = column_means(pair.right, unknown, pair.weights)

    def predict(T: Array) -> Array:
        return fitted_codes(pair, _targets(pair, T), alpha, bias)

    for start in range(0, columns.size, COLUMNS):
        some = columns[start : start + COLUMNS]
        mask = marks[:, some].toarray() > 0
        found = _fixed_point(predict, right[:, some].toarray(), mask, means[some], pair.weights)
        for place, column in enumerate(some):
            cells = slice(filled.indptr[column], filled.indptr[column + 1])
            filled.data[cells] = found[filled.indices[cells], place]
    return scipy.sparse.csr_array(pair.right + filled.tocsr())


def _targets(pair: RowsPair, T: Array) -> Codes:
    """Targets given row by row, for a ridge."""
    weighted = pair.weighted(T)
    return Codes(left=pair.left.Xc.T @ weighted, right=None, total=pair.ones @ weighted, rows=T)


def _fixed_point(
    predict: Callable[[Array], Array],
    Y: Array,
    mask: NDArray[np.bool_],
    start: Array,
    weights: Array | None,
) -> Array:
    """F (N, k) whose unknown cells are predicted from all of F as they are.

    Conjugate gradients on (I - H_uu) f = H_uk y in the inner product of the weights, in which the
    hat matrix H is symmetric.
    """
    w = np.ones((len(Y), 1)) if weights is None else weights[:, None]
    F = np.where(mask, start, Y)
    residual = np.where(mask, predict(F) - F, 0.0)
    scale = np.sqrt((w * np.where(mask, predict(Y), 0.0) ** 2).sum(axis=0))
    direction, energy = residual.copy(), (w * residual**2).sum(axis=0)
    for _ in range(10 + 2 * int(mask.sum(axis=0).max(initial=0))):
        going = np.sqrt(energy) > EXACT * np.maximum(scale, 1e-300)
        if not going.any():
            break
        image = np.where(mask, direction - predict(direction), 0.0)
        bend = (w * direction * image).sum(axis=0)
        # Where a direction is fitted whatever it is, the known rows do not decide: it stays.
        step = np.where(going & (bend > 1e-14 * energy), energy / np.maximum(bend, 1e-300), 0.0)
        if not step.any():
            break
        F = F + step * direction
        residual = residual - step * image
        after = (w * residual**2).sum(axis=0)
        moved = step > 0
        ratio = np.divide(after, energy, out=np.zeros_like(after), where=moved)
        direction = np.where(moved, residual + ratio * direction, 0.0)
        energy = np.where(moved, after, 0.0)
    return F


# ---- by ridge and codes -----------------------------------------------------------------------


def fill_by_codes(
    pair: RowsPair,
    unknown: Any,
    alpha: float,
    strength: float,
    *,
    tol: float = 1e-5,
    max_iter: int = 100,
) -> Any:
    """Return the right block, its unknown cells filled by ridge and codes, until a round lowers
    the objective by ``tol`` of what is left of it or less."""
    Y, mask = pair.right.toarray(), unknown.toarray() > 0
    start = column_means(pair.right, unknown, pair.weights)
    F, _ = complete(pair, Y, mask, start, alpha, strength, tol=tol, max_iter=max_iter)
    return with_cells(pair.right, unknown, F[mask])


def complete(
    pair: RowsPair,
    Y: Array,
    mask: NDArray[np.bool_],
    start: Array,
    alpha: float,
    strength: float,
    *,
    tol: float,
    max_iter: int,
) -> tuple[Array, list[float]]:
    """Y (N, M) with the cells of the mask filled, and the objective after each round.

    ``start`` (M,) or (N, M) is what the cells are at first.
    """
    ridge = RidgeRows.of(pair, alpha)
    w = None if pair.weights is None else pair.weights[:, None]
    F = np.where(mask, start, Y)
    R: Array | float = 0.0
    objectives: list[float] = []
    for _ in range(max_iter):
        fitted, penalty = ridge.fit(F - R)
        E = F - fitted
        R, rest = shrunken(E, strength, w)
        objectives.append(rest + alpha * penalty)
        F = np.where(mask, fitted + R, Y)
        if len(objectives) > 1 and objectives[-2] - objectives[-1] <= tol * objectives[-1]:
            break
    return F, objectives


def shrunken(E: Array, strength: float, w: Array | None = None) -> tuple[Array, float]:
    """R of least ``||E - R||^2 + 2 strength ||R||_*``, and that; rows count by their weights.

    The singular values of R are those of E, each less ``strength``, and 0 where that is negative.

    >>> R, least = shrunken(np.diag([3.0, 1.0]), 2.0)
    >>> R, least
    (array([[1., 0.],
           [0., 0.]]), 9.0)
    """
    rows = E if w is None else E * np.sqrt(w)
    squares, Q = all_pairs(self_product(rows.T))
    values = np.sqrt(np.maximum(squares, 0.0))
    kept = values > strength
    least = float(np.sum(values[~kept] ** 2))
    least += float(np.sum(strength**2 + 2.0 * strength * (values[kept] - strength)))
    Q = Q[:, kept]
    return ((E @ Q) * (1.0 - strength / values[kept])) @ Q.T, least


@dataclass(frozen=True)
class RidgeRows:
    """Ridge regressions of all rows with a free intercept, prepared once for many targets."""

    pair: RowsPair
    alpha: float
    inverse: Array | None  # of the smaller Gram matrix plus the penalty
    dual: bool

    @classmethod
    def of(cls, pair: RowsPair, alpha: float) -> RidgeRows:
        if min(pair.left.shape) > INVERSE_LIMIT:
            return cls(pair, alpha, None, dual=False)
        dual = not pair.left.narrow
        gram = np.array(pair.left.kernel if dual else pair.left.gram_system.gram)
        add_to_diagonal(gram, alpha)
        return cls(pair, alpha, inverse_definite(gram), dual)

    def fit(self, T: Array) -> tuple[Array, float]:
        """Return predictions for the rows, and the sum of squares of the coefficients."""
        pair = self.pair
        if self.inverse is None:
            codes = _targets(pair, T)
            B, _ = ridge_of(pair).solve(codes, self.alpha, "free")
            intercept = codes.total / pair.count - pair.mean_left @ B
            return pair.left.times(B) + intercept, float(np.vdot(B, B))
        mean = (pair.ones @ pair.weighted(T)) / pair.count
        centred = pair.weighted(T - mean)
        if self.dual:
            c = self.inverse @ centred
            image = pair.left.kernel @ c
            return pair.unweighted(image) + mean, float(np.vdot(c, image))
        B = self.inverse @ (pair.left.Xc.T @ centred)
        return pair.unweighted(pair.left.Xc @ B) + mean, float(np.vdot(B, B))
