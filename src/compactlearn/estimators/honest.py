"""Codes predicted for rows that the learner has not seen.

Where the features are kept, the closed form of leave-one-out gives them without refitting:
v_-i = (v^_i - h_i v_i) / (1 - h_i) with the leverage h_i. Where a projection was learnt it does
not, because P has seen the labels of every row: there the rows are held out fold by fold, and P and
the learner (not the codes) are fitted to the others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.embeddings.base import Embedded, Embedding
from compactlearn.linalg.pairs import Codes
from compactlearn.linalg.rows_pair import RowsPair

Array = NDArray[np.float64]
Folds = NDArray[np.intp]

N_FOLDS = 5

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
) -> Honest:
    """Predict every row's codes by a learner that has not seen it.

    Leave-one-out where ``alpha`` is given (a ridge with a free intercept), features are kept, and
    every row is its own: not weighted, not in a group, not equal to another.
    """
    members = row_groups(X) if groups is None else np.asarray(groups)
    distinct, member = np.unique(members, return_inverse=True)
    folds = member % N_FOLDS
    alone = groups is None and pair.weights is None and distinct.size == len(member)
    V = pair.code_rows(result.codes)
    if alpha is not None and result.projection is None and alone:
        return Honest(leave_one_out(pair, result.codes, V, alpha), folds, "leave-one-out")
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


def leave_one_out(pair: RowsPair, codes: Codes, V: Array, alpha: float) -> Array:
    """The closed form, for a ridge with a free intercept on all the features."""
    h = pair.leverages(alpha)[:, None]
    return (pair.fitted_codes(codes, alpha) - h * V) / np.maximum(1.0 - h, 1e-9)


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
