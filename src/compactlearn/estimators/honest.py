"""Codes predicted for rows that the learner has not seen.

Where the features are kept, the closed form of leave-one-out gives them without refitting:
v_-i = (v^_i - h_i v_i) / (1 - h_i) with the leverage h_i. Equal rows are left out together, so that
a row of weight two is that row twice. Where a projection was learnt the closed form does not hold,
because P has seen the labels of every row: there the rows are held out fold by fold, and P and the
learner (not the codes) are fitted to the others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.decoding.logistic import Rehearsal
from compactlearn.embeddings.base import Embedded, Embedding
from compactlearn.linalg.moments import Moments, without_each
from compactlearn.linalg.moments_pair import MomentsPair
from compactlearn.linalg.pairs import Codes
from compactlearn.linalg.rows_pair import RowsPair

Array = NDArray[np.float64]
Folds = NDArray[np.intp]

N_FOLDS = 5
N_REHEARSALS = 3

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
    rehearsals: tuple[Rehearsal, ...] = ()


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
    rehearse: bool = False,
) -> Honest:
    """Predict every row's codes by a learner that has not seen it.

    Leave-one-out where ``alpha`` is given (the learner is a ridge), features are kept, there are
    no groups of rows that differ, and no row decides its own prediction alone. ``rehearse``: the
    same once more without some of the folds (two, two and one of five), and the codes of their
    rows by the learner of the others.
    """
    members = row_groups(X) if groups is None else np.asarray(groups)
    member = np.unique(members, return_inverse=True)[1]
    P, codes = result.projection, result.codes
    way = _Way(
        embedding,
        fit_learner,
        d=0 if P is None else P.shape[1],
        labels=codes.right is None and codes.right_weights is None,
        alpha=alpha if P is None and groups is None else None,
        bias=bias,
    )
    V = pair.code_rows(codes)
    predicted, how = way.honest(pair, codes, V, member)
    rehearsals = tuple(way.rehearsals(pair, V, member)) if rehearse else ()
    return Honest(predicted, member % N_FOLDS, how, rehearsals)


@dataclass(frozen=True)
class _Way:
    """How codes are predicted for rows that are left out."""

    embedding: Embedding
    fit_learner: Fitter
    d: int
    labels: bool  # the codes are the labels themselves
    alpha: float | None  # of a ridge that has the closed form
    bias: str

    def honest(self, pair: RowsPair, codes: Codes, V: Array, member: Folds) -> tuple[Array, str]:
        """Every row's codes, and how; equal entries of ``member`` are left out together."""
        several = member.size > 0 and member.min() < member.max()
        if self.alpha is not None and several and pair.has_leverages:
            numbers = np.unique(member, return_inverse=True)[1]  # of a part: without gaps
            left_out = leave_one_out(pair, codes, V, numbers, self.alpha, self.bias)
            if left_out is not None:
                return left_out, "leave-one-out"
        predicted = np.empty_like(V)
        folds = member % N_FOLDS
        for fold in np.unique(folds):
            held, rest = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            if rest.size:
                part, part_codes, rows = self._part(pair, V, rest, held)
                predicted[held] = self._elsewhere(part, part_codes, rows)
            else:  # one group of rows only: nothing is known of others
                w = np.ones(len(V)) if pair.weights is None else pair.weights
                predicted[held] = (w @ V) / w.sum()
        return predicted, "cross-fitted"

    def rehearsals(self, pair: RowsPair, V: Array, member: Folds) -> Iterator[Rehearsal]:
        """Some folds at a time held out of everything, but for the choice of V."""
        thirds = member % N_FOLDS % N_REHEARSALS
        for third in np.unique(thirds):
            held, rest = np.flatnonzero(thirds == third), np.flatnonzero(thirds != third)
            if rest.size:
                part, part_codes, rows = self._part(pair, V, rest, held)
                codes = np.empty_like(V)
                codes[rest] = self.honest(part, part_codes, V[rest], member[rest])[0]
                codes[held] = self._elsewhere(part, part_codes, rows)
                yield Rehearsal(thirds == third, codes)

    def _part(
        self, pair: RowsPair, V: Array, rest: Folds, held: Folds
    ) -> tuple[RowsPair, Codes, Any]:
        part, rows = pair.part(rest, held)
        return part, part.right_codes() if self.labels else part.codes_of(V[rest]), rows

    def _elsewhere(self, part: RowsPair, codes: Codes, rows: Any) -> Array:
        """The codes of other rows by projection and learner of a part."""
        return self.fit_learner(part, self.embedding._project(part, codes, self.d), codes)(rows)


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
    columns, values = X.indices.astype(np.int64).tobytes(), X.data.tobytes()
    ends = (8 * X.indptr.astype(np.int64)).tolist()
    digests = []
    for start, stop in pairwise(ends):
        digest = hashlib.blake2b(columns[start:stop], digest_size=8)
        digest.update(values[start:stop])
        digests.append(digest.digest())
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)
