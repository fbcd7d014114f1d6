"""Codes predicted for rows that the learner has not seen.

Where the features are kept, the closed form of leave-one-out gives them without refitting:
v_-i = (v^_i - h_i v_i) / (1 - h_i) with the leverage h_i. Equal rows are left out together, so that
a row of weight two is that row twice. Where a projection was learnt the closed form does not hold,
because P has seen the labels of every row: there the rows are held out fold by fold, and P and the
learner (not the codes) are fitted to the others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.embeddings.base import Embedded, Embedding
from compactlearn.linalg.moments import Moments, without_each
from compactlearn.linalg.moments_pair import MomentsPair
from compactlearn.linalg.pairs import Codes
from compactlearn.linalg.rows_pair import RowsPair

Array = NDArray[np.float64]
Folds = NDArray[np.intp]

N_FOLDS = 5

# Eight digits are left of a leave-one-out prediction when it is divided by this much.
SMALL_REST = 1e-8

# What a learner does with one part of the rows: (pair, projection, codes) -> a function from rows
# of the left block, as the pair knows them, to codes.
Fitter = Callable[[RowsPair, Array | None, Codes], Callable[[Any], Array]]


@dataclass(frozen=True)
class Honest:
    """Honest codes of all rows, and which rows were held out together."""

    codes: Array  # (N, m)
    folds: Folds  # (N,)
    how: str  # "leave-one-out" or "cross-fitted"


def honest_codes(
    pair: RowsPair,
    result: Embedded,
    embedding: Embedding,
    fit_learner: Fitter,
    X: Any,
    groups: Any = None,
    *,
    alpha: float | None = None,
    bias: str = "free",
) -> Honest:
    """Predict every row's codes by a learner that has not seen it.

    Leave-one-out where ``alpha`` is given (the learner is a ridge), features are kept, there are
    no groups of rows that differ, and no row decides its own prediction alone.
    """
    members = row_groups(X) if groups is None else np.asarray(groups)
    distinct, member = np.unique(members, return_inverse=True)
    folds = member % N_FOLDS
    V = pair.code_rows(result.codes)
    alone = groups is None and distinct.size > 1
    if alpha is not None and result.projection is None and alone and pair.has_leverages:
        left_out = leave_one_out(pair, result.codes, V, member, alpha, bias)
        if left_out is not None:
            return Honest(left_out, folds, "leave-one-out")
    codes = np.empty_like(V)
    for fold in np.unique(folds):
        held = np.flatnonzero(folds == fold)
        rest = np.flatnonzero(folds != fold)
        if not rest.size:  # one group of rows only: nothing is known of others
            w = np.ones(len(V)) if pair.weights is None else pair.weights
            codes[held] = (w @ V) / w.sum()
            continue
        part, rows = pair.part(rest, held)
        d = 0 if result.projection is None else result.projection.shape[1]
        kept = result.codes.right is None and result.codes.right_weights is None
        part_codes = part.right_codes() if kept else part.codes_of(V[rest])
        P = embedding._project(part, part_codes, d)
        codes[held] = fit_learner(part, P, part_codes)(rows)
    return Honest(codes, folds, "cross-fitted")


def leave_one_out(
    pair: RowsPair, codes: Codes, V: Array, member: Folds, alpha: float, bias: str
) -> Array | None:
    """The closed form, for a ridge on all the features; None where that would be 0 / 0.

    ``member`` (N,) numbers the distinct rows. Equal ones count as one row of their mean code and of
    all their weight, and so of the sum of their leverages.
    """
    n = len(V)
    w = np.ones(n) if pair.weights is None else pair.weights
    weight = np.bincount(member, w)[:, None]
    rest = 1.0 - np.bincount(member, pair.leverages(alpha, bias))[:, None]
    if rest.min() < SMALL_REST:
        return None
    if bias == "target":  # no intercept, but a mean of the codes that changes with the row
        V = np.hstack([V, np.ones((n, 1))])
        codes = pair.codes_of(V)
    sums = scipy.sparse.csr_array((w, (member, np.arange(n))), shape=(len(weight), n)) @ V
    own = (sums / weight)[member]
    fitted = pair.fitted_codes(codes, alpha, "none" if bias == "target" else bias)
    left_out = own + (fitted - own) / rest[member]
    if bias != "target":
        return left_out
    # What predicts V less the others' mean predicts V, less that mean times what it makes of ones.
    mean = ((sums.sum(axis=0) - sums) / (weight.sum() - weight))[member, :-1]
    return left_out[:, :-1] + (1.0 - left_out[:, -1:]) * mean


def honest_code_moments(
    folds: Sequence[Moments],
    result: Embedded,
    embedding: Embedding,
    mean: Array,
    alpha: float,
    bias: str,
) -> Moments:
    """Moments of cross-fitted codes and labels, from the moments of each fold.

    P and ridge are functions of the other folds' moments, and codes predicted by them are linear in
    the rows. ``mean`` is that of all the features, about which the codes were found.
    """
    d = 0 if result.projection is None else result.projection.shape[1]
    predicted = []
    for fold, others in zip(folds, without_each(folds), strict=True):
        part = MomentsPair(others)
        codes = part.codes_like(result.codes, mean)
        P = embedding._project(part, codes, d)
        learned = part.learn(P, codes, alpha, bias)
        B = learned.coefficients
        predicted.append(fold.mapped(B if P is None else P @ B, learned.intercept))
    return sum(predicted[1:], predicted[0])


def row_groups(X: Any) -> NDArray[np.uint64]:
    """A number for each row that depends on its content alone: equal rows share it."""
    X = scipy.sparse.csr_array(X, dtype=np.float64, copy=True)  # the caller's stays as it is
    X.sort_indices()
    X.eliminate_zeros()
    columns, values = X.indices.astype(np.int64), X.data
    numbers = np.empty(X.shape[0], dtype=np.uint64)
    for row, (start, stop) in enumerate(zip(X.indptr[:-1], X.indptr[1:], strict=True)):
        digest = hashlib.blake2b(columns[start:stop].tobytes(), digest_size=8)
        digest.update(values[start:stop].tobytes())
        numbers[row] = int.from_bytes(digest.digest(), "little")
    return numbers
