"""Out-of-fold codes where only the moments of each fold are known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from compactlearn.core._warn import quiet
from compactlearn.decoding._learned import CodeSums
from compactlearn.embeddings._base import Embedded, Embedding
from compactlearn.linalg._codes import Codes
from compactlearn.linalg._learner import RidgeLearner
from compactlearn.linalg._moments import Moments, without_each
from compactlearn.linalg._moments_pair import MomentsPair

Array = NDArray[np.float64]


def held_out_sums(
    folds: Sequence[Moments], result: Embedded, embedding: Embedding, learner: RidgeLearner
) -> Iterator[tuple[CodeSums, Array, CodeSums]]:
    """Held-out folds for the ridge decoder where only the moments of each fold are known.

    What it is learnt from, the linear decoder of the same rows, and the sums of the new rows.
    """
    d = 0 if result.projection is None else result.projection.shape[1]
    for fold, others in zip(folds, without_each(folds), strict=True):
        rest = [part for part in folds if part is not fold]
        pair = MomentsPair(others)
        with quiet():
            own = embedding.within(pair).solve(pair)
        new = _mapped(fold, pair, own.projection, own.codes, learner)
        seen = out_of_fold_code_moments(rest, own, embedding, d, pair.mean_left, learner)
        W = np.eye(pair.n_right) if own.decoder is None else own.decoder
        yield CodeSums.of_moments(seen), W, CodeSums.of_moments(new)


def out_of_fold_code_moments(
    folds: Sequence[Moments],
    result: Embedded,
    embedding: Embedding,
    d: int,
    mean: Array,
    learner: RidgeLearner,
) -> Moments:
    """Moments of cross-fitted codes and labels, from the moments of each fold.

    P and ridge are functions of the other folds' moments, and codes predicted by them are linear in
    the rows. ``mean`` is that of all the features, about which the codes were found.
    """
    if len(folds) == 1:  # nothing is known of others
        whole = MomentsPair(folds[0]).codes_like(result.codes, mean)
        nothing = np.zeros((folds[0].n_left, whole.size))
        return folds[0].mapped(nothing, whole.total / folds[0].count)
    predicted = []
    for fold, others in zip(folds, without_each(folds), strict=True):
        part = MomentsPair(others)
        codes = part.codes_like(result.codes, mean)
        P = embedding.project(part, codes, d)
        predicted.append(_mapped(fold, part, P, codes, learner))
    return sum(predicted[1:], predicted[0])


def _mapped(
    fold: Moments, part: MomentsPair, P: Array | None, codes: Codes, learner: RidgeLearner
) -> Moments:
    """The moments of a fold after the learner of others has predicted its codes."""
    learned = learner.fit(part, P, codes)
    B = learned.coefficients
    return fold.mapped(B if P is None else P @ B, learned.intercept)
