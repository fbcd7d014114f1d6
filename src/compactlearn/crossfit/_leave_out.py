"""Out-of-fold predictions of a ridge in closed form.

:func:`leave_one_out` predicts codes of rows that are left out one by one, from their leverages;
:func:`held_out_predictions` predicts whole folds.

With K the inner products of the rows (N x N, of features or of a kernel), T their targets, W their
weights on a diagonal and a free intercept, the ridge of penalty a solves

    G [c; b] = [T; 0],    G = [[K + a W^-1, 1], [1', 0]].

The residuals of rows S that are left out follow from the inverse of G of all rows:

    T_S - prediction_S = ((G^-1)_SS)^-1 (G^-1 [T; 0])_S

(the block form of the leave-one-out residual, by the Schur complement). One eigendecomposition of K
serves every penalty, and the folds need small solves only: the results of fits for all folds and
penalties, at the cost of little more than one fit.

The coefficients of a model without the rows S are those of all rows with the predictions in place
of their targets, ``c - (G^-1)_S missed_S``: with them, rows that change where they are held out
(:mod:`compactlearn.linalg._unseen_features`) are predicted from their own inner products.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._devices import host
from compactlearn.crossfit._learner import RidgeLearner
from compactlearn.linalg._codes import Codes
from compactlearn.linalg._dense import all_pairs, solve
from compactlearn.linalg._learning import fitted_codes
from compactlearn.linalg._rows_pair import RowsPair
from compactlearn.linalg._rows_ridge import RowsRidge

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

# Eight digits are left of a leave-one-out prediction when it is divided by this much.
SMALL_REST = 1e-8


def held_out_predictions(
    K: Array,
    T: Array,
    fold: NDArray[np.intp],
    penalties: Sequence[float],
    weights: Array | None = None,
    held_out: Array | None = None,
) -> Iterator[Array]:
    """Yield (N, M) predictions for each penalty, every row by a ridge on the rows of other folds.

    K (N, N) are inner products of the rows, and T (N, M) their targets; there are two folds at
    least, and penalties and weights are above 0. ``held_out`` (N, N) are inner products of each
    row, as it is where it is held out, with the rows of K; by default those of K.

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


def leave_one_out(
    pair: RowsPair,
    codes: Codes,
    V: Array,
    member: Rows,
    learner: RidgeLearner,
    scaling: Array | None = None,
) -> Array | None:
    """Return leave-one-out codes of a ridge on all the features; None where that would be 0 / 0.

    ``member`` (N,) numbers the distinct rows. Equal ones count as one row of their mean code and of
    all their weight, and so of the sum of their leverages. The features of a row that is left out
    are multiplied by its ``scaling`` (N,).
    """
    n, alpha, bias = len(V), learner.alpha, learner.bias
    V = host(V)
    w = np.ones(n) if pair.weights is None else host(pair.weights)
    weight = np.bincount(member, w)[:, None]
    rest = 1.0 - np.bincount(member, host(RowsRidge(pair).leverages(alpha, bias)))[:, None]
    if rest.min() < SMALL_REST:
        return None
    sums = scipy.sparse.csr_array((w, (member, np.arange(n))), shape=(len(weight), n)) @ V
    own = (sums / weight)[member]
    fitted = host(fitted_codes(pair, codes, alpha, bias))
    left_out = own + (fitted - own) / rest[member]
    if scaling is None:
        return left_out
    intercept = _intercepts_without(pair, V, member, learner, left_out)
    if intercept is None:
        return None
    return intercept + scaling[:, None] * (left_out - intercept)


def _intercepts_without(
    pair: RowsPair, V: Array, member: Rows, learner: RidgeLearner, left_out: Array
) -> Array | None:
    """Return (N, k) the intercepts of the ridges without each row and its copies, or None.

    The model without some rows is that of all rows whose targets there are its own predictions, and
    the intercept is linear in the targets: with e = 1 - H 1, where H is the hat matrix of the ridge
    without an intercept, it is e'WV / e'W1.
    """
    n, alpha = len(V), learner.alpha
    if learner.bias == "none":
        return np.zeros(V.shape[1])
    ones = np.ones((n, 1))
    left_over = 1.0 - host(fitted_codes(pair, pair.codes_of(ones), alpha, "none"))[:, 0]
    share = left_over if pair.weights is None else left_over * host(pair.weights)
    total = share.sum()
    if total < SMALL_REST * n:
        return None
    share = share / total
    own = scipy.sparse.csr_array((share, (member, np.arange(n))))
    return share @ V + (own.sum(axis=1)[:, None])[member] * left_out - (own @ V)[member]
