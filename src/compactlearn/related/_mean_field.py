"""Labels that are independent but for a few Gaussian observations of their combinations.

    log P(y) = sum_j y_j l_j - w sum_k (t_k'y - mu_k)^2 / (2 s_k^2) + const

    y in {0, 1}^M, l (M,) log-odds of the labels by themselves, t_k (M,) combinations, mu_k what was
    observed of them and s_k^2 its variance, w a weight.

The mean field is the product of independent labels, with chances q, that is nearest to P in the
sense of KL(q || P); each of its updates is the exact minimum in one label's chance.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Array = NDArray[np.float64]

ENOUGH = 1e-4  # change of a chance in a sweep
SWEEPS = 100


def mean_field(
    odds: Array,
    directions: Array,
    observed: Array,
    variances: Array,
    weight: float,
    *,
    enough: float = ENOUGH,
    sweeps: int = SWEEPS,
) -> Array:
    """Log-odds (n, M) of the labels of n rows, from log-odds (n, M) by themselves.

    ``directions`` is T (M, m), ``observed`` (n, m), ``variances`` (m,). Starting from the labels by
    themselves, one label after the other is updated, until no chance of a row changes by more than
    ``enough``.

    >>> T, nothing = np.array([[1.0], [1.0]]), np.zeros((1, 2))
    >>> np.round(expit(mean_field(nothing, T, np.array([[2.0]]), np.array([0.1]), 1.0)), 2)
    array([[0.99, 0.99]])
    """
    found = odds.copy()
    if weight == 0.0 or directions.shape[1] == 0:
        return found
    scaled = weight * directions / variances  # (M, m)
    own = np.einsum("jk,jk->j", directions, scaled)
    rows = np.arange(odds.shape[0])
    for _ in range(sweeps):
        found[rows], change = _sweep(
            odds[rows], found[rows], directions, scaled, own, observed[rows]
        )
        rows = rows[change > enough]
        if not rows.size:
            break
    return found


def _sweep(
    odds: Array, found: Array, directions: Array, scaled: Array, own: Array, observed: Array
) -> tuple[Array, Array]:
    """Every label once; the log-odds and how far the chances of each row have moved."""
    Q = expit(found).T.copy()  # a label's chances lie together
    L = found.T.copy()
    beyond = Q.T @ directions - observed  # (n, m)
    change = np.zeros(odds.shape[0])
    for j, column in enumerate(directions):
        L[j] = odds[:, j] - own[j] / 2 - (beyond @ scaled[j] - own[j] * Q[j])
        q = expit(L[j])
        step = q - Q[j]
        beyond += np.outer(step, column)
        np.maximum(change, np.abs(step), out=change)
        Q[j] = q
    return L.T, change
