"""SLEEC's codes: inner products of label vectors, kept where rows are near each other.

    minimise  || P_Omega(S - Z Z') ||^2   over codes Z (n, m),  S = inner products of label vectors

Omega are the pairs of a row and its nearest rows by S, either way round. With all pairs the
solution is the truncated eigendecomposition of S.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.linalg import _dense as dense
from compactlearn.linalg._eigen import leading_eigenpairs
from compactlearn.linalg._operators import Gram, Plain, Sum

Array = NDArray[np.float64]

_AT_ONCE = 1 << 22  # entries of a block of dense inner products, or of factors of pairs
_TINY = (
    1e-10  # added to the length of a label vector, as the program does; a ridge of least squares
)


@dataclass(frozen=True)
class Codes:
    """Codes of rows, and the loss after each step."""

    Z: Array  # (n, m)
    losses: tuple[float, ...] = ()


def unit_labels(Y: Any) -> Any:
    """Label vectors of length 1; a row without labels stays zero."""
    lengths = np.sqrt(np.asarray(Y.multiply(Y).sum(axis=1)).ravel())
    return scipy.sparse.csr_array(scipy.sparse.diags_array(1.0 / (lengths + _TINY)) @ Y)


def eigen_codes(Y: Any, m: int) -> Array:
    """``E sqrt(w)`` of the m leading eigenpairs of ``YY'``; fewer where its rank is lower."""
    found = leading_eigenpairs(Gram(Plain(Y.T.tocsr())), min(m, *Y.shape))
    return found.vectors * np.sqrt(found.values)


def near_pairs(Y: Any, n_similar: int) -> Any:
    """S on Omega, as a symmetric CSR matrix whose stored entries, zeros among them, are Omega."""
    n = Y.shape[0]
    count = min(n_similar, n)
    Yt = Y.T.tocsr()
    rows, columns = [], []
    step = max(1, _AT_ONCE // n)
    for start in range(0, n, step):
        block = (Y[start : start + step] @ Yt).toarray()
        best = np.argsort(-block, axis=1, kind="stable")[:, :count]
        rows.append(np.repeat(np.arange(start, start + len(block)), count))
        columns.append(best.ravel())
    i, j = np.concatenate(rows), np.concatenate(columns)
    either = scipy.sparse.csr_array(
        (np.ones(2 * i.size), (np.concatenate([i, j]), np.concatenate([j, i]))), shape=(n, n)
    )
    either.sum_duplicates()
    either.data = products_at(either, Y, Y)
    return either


def products_at(pairs: Any, left: Any, right: Any) -> Array:
    """Inner products of rows of two matrices, for the stored entries of a CSR matrix of pairs."""
    i = np.repeat(np.arange(pairs.shape[0]), np.diff(pairs.indptr))
    found = np.empty(pairs.nnz)
    step = max(1, _AT_ONCE // max(1, left.shape[1]))
    for start in range(0, pairs.nnz, step):
        part = slice(start, start + step)
        one, other = left[i[part]], right[pairs.indices[part]]
        if scipy.sparse.issparse(one):
            found[part] = np.asarray(one.multiply(other).sum(axis=1)).ravel()
        else:
            found[part] = np.einsum("ik,ik->i", one, other)
    return found


def codes_by_projection(pairs: Any, start: Array, *, max_iter: int, tol: float) -> Codes:
    """Singular value projection: a gradient step of length 1, then the nearest matrix of rank m.

    The gradient of half the loss is 1-Lipschitz, so no step raises the loss.
    """
    Z, m = start, start.shape[1]
    residual = pairs.copy()
    residual.data = pairs.data - products_at(pairs, Z, Z)
    losses = [float(residual.data @ residual.data)]
    for _ in range(max_iter):
        matrix = Sum(((1.0, Gram(Plain(np.ascontiguousarray(Z.T)))), (1.0, Plain(residual))))
        found = leading_eigenpairs(matrix, m)
        new = found.vectors * np.sqrt(found.values)
        data = pairs.data - products_at(pairs, new, new)
        reached = float(data @ data)
        if reached > losses[-1]:  # by rounding alone
            break
        Z, residual.data = new, data
        losses.append(reached)
        if losses[-2] - reached <= tol * losses[0]:
            break
    return Codes(Z, tuple(losses))


def codes_by_alternation(pairs: Any, start: Array, *, max_iter: int, tol: float) -> Codes:
    """Two sets of codes U and V with U V' near S on Omega, by least squares in turn; U is kept.

    What the authors' program does: the last codes are kept when a round does not improve on them.
    """
    U, V = start, start
    losses = [_loss(pairs, U, V)]
    for _ in range(max_iter):
        new_U = _least_squares(pairs, V)
        new_V = _least_squares(pairs, new_U)
        reached = _loss(pairs, new_U, new_V)
        if reached > losses[-1]:
            break
        U, V = new_U, new_V
        losses.append(reached)
        if losses[-2] - reached <= tol * losses[0]:
            break
    return Codes(U, tuple(losses))


def _loss(pairs: Any, U: Array, V: Array) -> float:
    missed = pairs.data - products_at(pairs, U, V)
    return float(missed @ missed)


def _least_squares(pairs: Any, V: Array) -> Array:
    """Row i is the u that minimises ``sum_j (s_ij - u'v_j)^2`` over its pairs."""
    n, m = V.shape
    ridge = _TINY * float(np.sum(V * V)) * np.eye(m)
    right, U = pairs @ V, np.zeros((n, m))
    for i in range(n):
        own = V[pairs.indices[pairs.indptr[i] : pairs.indptr[i + 1]]]
        U[i] = dense.solve(dense.self_product(own.T) + ridge, right[i])
    return U
