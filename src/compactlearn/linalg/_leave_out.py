"""Ridge predictions of every row by a model that was fitted without its fold, in closed form.

With K the inner products of the rows (N x N, of features or of a kernel), T their targets, W their
weights on a diagonal and a free intercept, the ridge of penalty a solves

    G [c; b] = [T; 0],    G = [[K + a W^-1, 1], [1', 0]].

Where the rows S are left out, what they miss by is read off the inverse of G of all rows:

    T_S - prediction_S = ((G^-1)_SS)^-1 (G^-1 [T; 0])_S

(the block form of the leave-one-out residual, by the Schur complement). One eigendecomposition of K
serves every penalty, and the folds cost small solves only: what K folds times A penalties of fits
would give, for little more than one fit.

The coefficients of a model without the rows S are those of all rows with the predictions in place
of their targets, ``c - (G^-1)_S missed_S``: with them, rows that change where they are held out
(:mod:`compactlearn.linalg._unseen_features`) are predicted from their own inner products.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from compactlearn.linalg._dense import all_pairs, solve

Array = NDArray[np.float64]


def held_out_predictions(
    K: Array,
    T: Array,
    fold: NDArray[np.intp],
    penalties: Sequence[float],
    weights: Array | None = None,
    held_out: Array | None = None,
) -> Iterator[Array]:
    """(N, M) predictions for each penalty, every row by a ridge on the rows of other folds.

    Parameters
    ----------
    K : ndarray of shape (N, N)
        Inner products of the rows, symmetric and positive semi-definite.
    T : ndarray of shape (N, M)
    fold : ndarray of shape (N,)
        The fold of each row; two folds at least.
    penalties : sequence of float
        All above 0.
    weights : ndarray of shape (N,), optional
        All above 0.
    held_out : ndarray of shape (N, N), optional
        Inner products of each row, as it is where it is held out, with the rows of K; by default
        those of K.

    Examples
    --------
    >>> X, T = np.array([[0.0], [1.0], [2.0]]), np.array([[1.0], [3.0], [5.0]])
    >>> (predicted,) = held_out_predictions(X @ X.T, T, np.arange(3), [1e-9])
    >>> bool(np.allclose(predicted, T))
    True
    """
    N = K.shape[0]
    s = np.ones(N) if weights is None else np.sqrt(weights)
    share = s**2 / (s @ s)
    # Rows centred at their weighted mean and scaled by s: the intercept then is a direction apart,
    # u = s / |s|, which K~ maps to 0, so that G^-1 = (K~ + a)^-1 - u u' / a.
    means = share @ K
    centred = (K - means) - (means - means @ share)[:, None]
    values, Q = all_pairs(centred * s * s[:, None])
    values = np.maximum(values, 0.0)
    u = s / np.sqrt(s @ s)
    targets = s[:, None] * T
    targets -= u[:, None] * (u @ targets)
    turned = Q.T @ targets
    moved = moved_mean = None
    if held_out is not None:
        moved = (held_out - K) * s
        moved, moved_mean = moved @ Q, moved @ u
    groups = [np.flatnonzero(fold == k) for k in np.unique(fold)]
    for a in penalties:
        inverse = 1.0 / (values + a)
        solved = Q @ (inverse[:, None] * turned)
        missed, change = np.empty_like(solved), np.zeros_like(solved)
        for S in groups:
            block = (Q[S] * inverse) @ Q[S].T - np.outer(u[S], u[S]) / a
            missed[S] = solve(block, solved[S])
            if moved is not None and moved_mean is not None:
                change[S] = moved[S] @ (inverse[:, None] * (turned - Q[S].T @ missed[S]))
                change[S] += np.outer(moved_mean[S], u[S] @ missed[S]) / a
        yield T - missed / s[:, None] + change
