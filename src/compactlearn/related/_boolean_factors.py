"""A Boolean matrix as a Boolean product of two thin ones: Y ~ V o W, by a greedy search (ASSO).

    (V o W)_nj = 1  where row n uses some factor k (V_nk = 1) that has label j (W_kj = 1)

Candidates for a factor are the labels that go with one label: row i of the candidates has label j
where the share of label i's rows that also have label j is at least tau. One candidate after the
other is taken, each time that which gains most: ones that are covered for the first time, less
zeros that are. A row uses a factor where that gains something.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

Array = NDArray[np.float64]

_TIE = 1e-9  # gains are sums of weights, equal but for rounding


@dataclass(frozen=True)
class Factors:
    """The product, and what it gains of Y with each factor more."""

    usage: scipy.sparse.csr_array  # V (N, m)
    basis: scipy.sparse.csr_array  # W (m, M)
    gains: Array  # (m,), positive


def boolean_factors(
    Y: Any, size: int, tau: float, cost: float = 1.0, weights: Array | None = None
) -> Factors:
    """Up to ``size`` factors; fewer where no candidate gains anything more.

    A zero that is covered costs ``cost``; a row counts by its weight. Y is a CSR matrix of ones,
    and nothing here is denser than it, the candidates and the product.
    """
    candidates = candidate_rows(Y, tau, weights)
    lengths = np.diff(candidates.indptr).astype(np.float64)
    n_rows = Y.shape[0]
    w = np.ones(n_rows) if weights is None else weights
    uncovered, covered = Y.copy(), scipy.sparse.csr_array(Y.shape)
    usage: list[Any] = []
    chosen: list[int] = []
    gains: list[float] = []
    for _ in range(size):
        own = _gains(uncovered, covered, candidates, lengths, cost)
        totals = np.asarray(own.T @ w).ravel()
        best = int(np.argmax(totals >= totals.max() * (1.0 - _TIE)))
        if totals[best] <= _TIE:
            break
        column = (own[:, [best]] > 0).astype(np.float64)
        newly = (column @ candidates[[best]]).tocsr()
        covered = _ones(covered + newly)
        uncovered = _ones(uncovered - uncovered.multiply(newly))
        usage.append(column)
        chosen.append(best)
        gains.append(float(totals[best]))
    V = scipy.sparse.hstack(usage, format="csr") if usage else scipy.sparse.csr_array((n_rows, 0))
    return Factors(
        scipy.sparse.csr_array(V), scipy.sparse.csr_array(candidates[chosen]), np.array(gains)
    )


def candidate_rows(Y: Any, tau: float, weights: Array | None = None) -> Any:
    """(M, M) Boolean: the labels that at least a share ``tau`` of a label's rows also have."""
    heavy = Y if weights is None else scipy.sparse.diags_array(weights) @ Y
    together = scipy.sparse.csr_array(Y.T @ heavy)
    own = together.diagonal()
    shares = together.data / np.repeat(np.where(own > 0, own, 1.0), np.diff(together.indptr))
    together.data = (shares >= tau - _TIE).astype(np.float64)
    together.eliminate_zeros()
    return together


def boolean_product(usage: Any, basis: Any) -> Any:
    """V o W as a CSR matrix of ones."""
    return _ones(scipy.sparse.csr_array(usage @ basis))


def _gains(uncovered: Any, covered: Any, candidates: Any, lengths: Array, cost: float) -> Any:
    """What each row gains by each candidate, where that is more than nothing (N, M), sparse.

    Of a candidate's labels, a row has some ones that are not covered yet, some labels that are
    covered already, and the rest are zeros that would be. Without the first there is no gain, so
    their pattern is all that is looked at.
    """
    ones = scipy.sparse.csr_array(uncovered @ candidates.T)
    known = ones.sign().multiply(covered @ candidates.T).tocsr()
    zeros = _where(ones, lengths[ones.indices]) - ones - known
    gains = scipy.sparse.csr_array(ones - cost * zeros)
    gains.data[gains.data < _TIE] = 0.0
    gains.eliminate_zeros()
    return gains


def _where(pattern: Any, values: Array) -> Any:
    return scipy.sparse.csr_array((values, pattern.indices, pattern.indptr), shape=pattern.shape)


def _ones(matrix: Any) -> Any:
    found = scipy.sparse.csr_array(matrix)
    found.data = (found.data > 0).astype(np.float64)
    found.eliminate_zeros()
    return found
