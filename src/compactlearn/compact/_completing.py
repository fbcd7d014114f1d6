"""Unknown labels filled in before a method is solved, for all rows and again for those of a fold.

Where labels and features are both kept and the learner is the built-in ridge, the cells are what
this ridge predicts for them, so that the fit is the ridge of each label on the rows that know it,
exactly (:func:`compactlearn.linalg._filling.fill_by_ridge`). Every other method is solved for
labels completed by a ridge and by codes of what it does not explain
(:func:`~compactlearn.linalg._filling.fill_by_codes`), with the two strengths by which held-out
known cells are predicted best. Models of some of the folds complete the labels of these folds by
themselves, so that no row's labels take part in its out-of-fold score.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.compact._penalty import resolved_penalty
from compactlearn.core import _memory as memory
from compactlearn.crossfit._training_rows import TrainingRows
from compactlearn.embeddings._base import Embedding
from compactlearn.linalg._filling import column_means, complete, fill_by_codes, fill_by_ridge
from compactlearn.linalg._moments import Moments
from compactlearn.linalg._moments_pair import MomentsPair
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._rows_pair import RowsPair

Array = NDArray[np.float64]

# Penalties of the ridge, in units of alpha="auto", and shares of the noise by which codes are
# shrunken: the grid that is searched, from a point near its middle.
PENALTIES = (0.1, 1.0, 10.0, 100.0, 1000.0)
SHARES = (2.0, 1.0, 0.5, 0.25, 0.125)
START = (1, 2)

TRIED_ROWS = 2_000  # that the two are chosen on, of which known cells judge
HELD_OUT = 0.1
FEWEST_CELLS = 50  # that can judge; with fewer the start is kept
# Of the draw of these cells. No small number: who hides cells with the same stream of random
# numbers hides those that would judge, and nothing is left to choose by.
SEED = 0x6B6E6F776E  # "known"

MOST_LABELS = 4_000  # whose codes are found; of more the ridge alone completes
COPIES = 8  # of labels as a dense matrix that completing by codes needs


@dataclass(frozen=True)
class Completion:
    """A method of completing unknown labels, with its constants."""

    alpha: float
    bias: str = "free"
    share: float | None = None  # of the noise, that codes are shrunken by; None: the ridge alone

    def fill(self, pair: RowsPair, unknown: Any) -> Any:
        """Return the right block of a pair with its unknown cells filled."""
        if not unknown.nnz:
            return pair.right
        if self.share is None:
            return fill_by_ridge(pair, unknown, self.alpha, self.bias)
        strength = self.share * noise(pair, unknown)
        return fill_by_codes(pair, unknown, self.alpha, strength)


def noise(pair: RowsPair, unknown: Any) -> float:
    """Return about the largest singular value of labels if all cells were independent.

    A matrix of independent cells of deviation s has singular values up to s (sqrt(N) + sqrt(M)),
    and unknown cells hold no noise.
    """
    w = np.ones(pair.n_rows) if pair.weights is None else pair.weights
    known = w.sum() - np.asarray(unknown.T @ w).ravel()
    p = column_means(pair.right, unknown, pair.weights)
    squares = column_means(pair.right.multiply(pair.right), unknown, pair.weights)
    energy = max(0.0, float(known @ (squares - p * p)))
    n_labels = pair.n_right
    return float(np.sqrt(energy / n_labels) * (1.0 + np.sqrt(n_labels / pair.count)))


def choose_completion(pair: RowsPair, unknown: Any) -> Completion:
    """Return the penalty and the share by which held-out known cells are predicted best."""
    unit = resolved_penalty("auto", pair)
    n_rows, n_labels = unknown.shape
    free = memory.available_bytes()
    if n_labels > MOST_LABELS or (free is not None and 8 * COPIES * n_rows * n_labels > 0.5 * free):
        return Completion(unit)
    rng = np.random.default_rng(SEED)
    if n_rows > TRIED_ROWS:
        rows = np.sort(rng.choice(n_rows, TRIED_ROWS, replace=False))
        pair, unknown = pair.part(rows, np.arange(0))[0], unknown[rows]
    hidden = unknown.toarray() > 0
    known = np.flatnonzero(~hidden)
    n_judges = int(HELD_OUT * known.size)
    place = START
    if n_judges >= FEWEST_CELLS:
        judges = np.zeros(hidden.shape, dtype=bool)
        judges.flat[rng.choice(known, n_judges, replace=False)] = True
        place = _descended(_loss_of(pair, hidden, judges, unit), place)
    return Completion(PENALTIES[place[0]] * unit, share=SHARES[place[1]])


def _loss_of(
    pair: RowsPair, hidden: NDArray[np.bool_], judges: NDArray[np.bool_], unit: float
) -> Callable[[tuple[int, int]], float]:
    """Return a function of places on the grid: squared errors of held-out cells."""
    Y = pair.right.toarray()
    mask = hidden | judges
    marks = scipy.sparse.csr_array(mask.astype(np.float64))
    scale = noise(pair.with_right(scipy.sparse.csr_array(np.where(mask, 0.0, Y))), marks)
    means = column_means(scipy.sparse.csr_array(np.where(mask, 0.0, Y)), marks, pair.weights)
    w = np.ones(len(Y)) if pair.weights is None else pair.weights

    @cache
    def loss(place: tuple[int, int]) -> float:
        alpha, strength = PENALTIES[place[0]] * unit, SHARES[place[1]] * scale
        F, _ = complete(pair, Y, mask, means, alpha, strength, tol=1e-3, max_iter=20)
        return float(w @ np.where(judges, (F - Y) ** 2, 0.0).sum(axis=1))

    return loss


def _descended(loss: Callable[[tuple[int, int]], float], place: tuple[int, int]) -> tuple[int, int]:
    """Step to the better neighbour on the grid until there is none."""
    while True:
        i, j = place
        near = [(i, j + 1), (i, j - 1), (i + 1, j), (i - 1, j)]
        inside = [(a, b) for a, b in near if 0 <= a < len(PENALTIES) and 0 <= b < len(SHARES)]
        best = min(inside, key=loss)
        if loss(best) >= loss(place):
            return place
        place = best


def keeps_everything(embedding: Embedding, pair: Pair) -> bool:
    """Return whether a method regresses the labels themselves on all the features."""
    plan = embedding.plan(pair.n_left, pair.n_right, pair.given_left)
    return plan.components == 0 and plan.keeps_features


def completed(
    training: TrainingRows,
    embedding: Embedding,
    unknown: Any,
    alpha: Any,
    bias: str,
    regressor: Any,
) -> TrainingRows:
    """Return the training rows with unknown labels completed, and with the completion."""
    rows = training.with_rows()
    if regressor is None and keeps_everything(embedding, training.pair):
        completion = Completion(resolved_penalty(alpha, training.pair), bias)
    else:
        completion = choose_completion(rows, unknown)
    return with_completed(training, rows, unknown, completion)


def with_completed(
    training: TrainingRows, rows: RowsPair, unknown: Any, completion: Completion
) -> TrainingRows:
    """Return the training rows with labels completed by ``completion``."""
    right = completion.fill(rows, unknown)
    pair: Pair
    if isinstance(training.pair, MomentsPair):
        assert training.blocks is not None
        moments = Moments.from_arrays(training.blocks[0], right, training.weights)
        pair = MomentsPair(moments, given_left=training.pair.given_left)
    else:
        pair = rows.with_right(right)
    blocks = None if training.blocks is None else (training.blocks[0], right)
    return replace(
        training, pair=pair, blocks=blocks, moments=None, unknown=unknown, completion=completion
    )
