"""Logistic decoder for large numbers of rows, codes and labels.

It solves the problem of :mod:`compactlearn.decoding._logistic`, with these savings:

* labels are solved in blocks, by falling frequency, so that no N x M matrix exists;
* scores are mapped to log-odds by their histogram: all rows of a bin have the score of the bin;
* a block of labels is fitted to the rows that have one of them and to a sample of the others. A row
  is drawn with a probability that grows with that of its likeliest label in the block, is always
  drawn where it has one of these labels, and is weighted by the inverse of that probability, so
  that sums over the sample estimate sums over all rows without bias (local case-control sampling:
  Fithian and Hastie 2014). Tens of thousands of rows far from all labels of a block carry the same
  information. The intercepts are set at the end from all rows, so that the expected number of rows
  with a label is the actual one;
* of very many labels the most frequent ones get slopes of their own, and the others keep those of
  the linear decoder, scaled to log-odds;
* arithmetic is in float32, and a gradient has converged at a fiftieth of its first value;
* the penalty is selected on some of the labels.

The seed is fixed: the same data give the same decoder.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.core import _memory as memory
from compactlearn.core._deadline import watched
from compactlearn.core._threads import blas_threads, free_cores_to_use
from compactlearn.decoding._held_out import CodeDecoder, DecoderData, HeldOutFold
from compactlearn.decoding._logistic import (
    PENALTIES,
    DecoderProblem,
    Scaling,
    Units,
    as_log_odds,
    log_losses,
    scaling_of,
)

Array = NDArray[Any]
Indices = NDArray[np.intp]

BLOCK = 64  # labels that are solved side by side
WIDE = 256  # those that keep their slopes, at a time
TOLERANCE = 2e-2  # of a gradient; with a tenth of it the loss on new rows is the same

# Number of labels with slopes of their own. They lower the log-loss of every label, by up to a
# sixth. But of wordnet's 8,821 labels the others have at most sixteen of 65,041 rows each, one in
# nine of all positive cells: precision among the first labels hardly differs.
SOLVED = 2_048

# The penalty is selected on this number of labels, evenly spread over those with own slopes.
JUDGED = 64

# A row is certain to be drawn from this probability of a label on. Of the rows without any at least
# so many are drawn, and at least that share.
CERTAIN = 0.07
FEWEST, LEAST_SHARE = 3_000, 1 / 24

MOST_THREADS = 4  # each has scores of all rows and of a block's labels
LEVELLING = 3  # Newton steps, from intercepts that are almost right
BINS = 256  # of scores
AT_ONCE = 2_048  # rows whose scores are processed together, in the cache
FINEST = 0.5  # deviations of a score: bins are even up to there, and then even in its logarithm


def learn_at_size(data: DecoderData, penalty: float) -> CodeDecoder:
    """Fit log-odds of every label on out-of-fold codes, shrunken towards the linear decoder."""
    problem = LargeProblem.of(data)
    n_labels = data.labels.shape[1]
    W, intercept = np.empty((data.codes.shape[1], n_labels)), np.empty(n_labels)
    order = by_frequency(data)
    blocks = [slice(start, start + BLOCK) for start in range(0, min(n_labels, SOLVED), BLOCK)]
    blocks += [slice(start, start + WIDE) for start in range(len(blocks) * BLOCK, n_labels, WIDE)]

    def solved(place: slice) -> Array:
        labels = order[place]
        B = problem.prior(labels)
        if place.start < SOLVED:
            B = problem.sampled(labels, B).solved(penalty, tol=TOLERANCE)
            B[-1] = problem.levelled(labels, B)
        return B.astype(np.float64)

    def keep(place: slice, B: Array) -> None:
        labels = order[place]
        W[:, labels] = problem.units.restored(B[:-1])
        intercept[labels] = B[-1] - problem.units.mean @ W[:, labels]

    # The models that compute the scores are fitted when the first block needs them. After that,
    # blocks are solved in parallel: one block is too small for several threads of the BLAS.
    keep(blocks[0], solved(blocks[0]))
    n_threads = _threads()
    with blas_threads(1 if n_threads > 1 else None), ThreadPoolExecutor(n_threads) as pool:
        for place, B in zip(blocks[1:], pool.map(watched(solved), blocks[1:]), strict=True):
            keep(place, B)
    return CodeDecoder(W, intercept, penalty)


def choose_penalty_at_size(
    folds: Sequence[HeldOutFold], penalties: NDArray[np.float64] = PENALTIES
) -> float:
    """Return one penalty for all labels: that of least log-loss of some on held-out rows.

    The strongest is tried, the third, and then one after the other until the loss rises: always
    from stronger to weaker ones, since a rough solution stays close to its start. Without any fold
    the strongest is returned.
    """
    if not folds or len(penalties) == 1:
        return float(penalties[0])
    judges = [_Judge(part) for part in folds]
    tried, losses = penalties[[0, *range(2, len(penalties))]], [np.inf]
    for penalty in tried:
        losses.append(sum(judge.loss(float(penalty)) for judge in judges))
        if losses[-1] > losses[-2]:
            break
    return float(tried[int(np.argmin(losses)) - 1])


class _Judge:
    """Some labels of a held-out fold, and their decoder so far."""

    def __init__(self, part: HeldOutFold) -> None:
        problem, solved = LargeProblem.of(part.train), by_frequency(part.train)[:SOLVED]
        labels = solved[:: -(-solved.size // JUDGED)]
        self.B = problem.prior(labels)
        Z = problem.units.standardised(part.codes).astype(np.float32)
        self.new = Z, _dense(part.labels.tocsc(), labels), part.weights
        self.problem = problem.sampled(labels, self.B)

    def loss(self, penalty: float) -> float:
        """Return the log-loss of the held-out rows; the solution is the start of the next call.

        Log-odds are scaled and shifted first, all labels alike: the codes of held-out rows are by a
        learner of more rows than those of the training rows, and so a little larger. A decoder of
        all rows is affected less. Without the scaling the strongest penalties would be favoured.
        """
        self.B = self.problem.solved(penalty, start=self.B, tol=TOLERANCE)
        Z, T, weights = self.new
        log_odds = (Z @ self.B[:-1] + self.B[-1]).reshape(-1, 1)
        present, w = T.reshape(-1, 1), np.repeat(weights, T.shape[1])
        one = scaling_of(log_odds, w[:, None] * present, w[:, None], np.ones(1), tol=1e-3)
        return float(w @ log_losses(log_odds * one.slope + one.intercept, present)[:, 0])


def by_frequency(data: DecoderData) -> Indices:
    """Return the labels, the most frequent first."""
    return np.argsort(-np.asarray(data.labels.T @ data.weights).ravel(), kind="stable")


def cells_at_size(counts: Array, n_rows: int) -> float:
    """Estimate the number of pairs of a row and a label solved for, given the rows of each label.

    For each row that has a label of a block, another one or two are drawn for their scores. The
    scores of all rows and labels are one product, and as much work as a few of the pairs.
    """
    ordered = np.sort(counts)[::-1]
    cells = n_rows * ordered.size / 80
    for start in range(0, min(ordered.size, SOLVED), BLOCK):
        block = ordered[start : start + BLOCK]
        cells += block.size * min(n_rows, _share(n_rows) * n_rows + 2.0 * float(block.sum()))
    return cells


@dataclass(frozen=True)
class LargeProblem:
    """Logistic regressions of all labels, available block by block."""

    data: DecoderData
    units: Units
    Z: Array  # (N, m) float32
    columns: Any  # (N, M) labels, CSC
    scored: Any  # (N', M) labels of the rows with scores, CSC

    @classmethod
    def of(cls, data: DecoderData) -> LargeProblem:
        n_rows, n_codes = data.codes.shape
        n_labels = min(data.labels.shape[1], WIDE)
        memory.require_memory(
            4 * n_rows * (4 * n_codes + 4 * n_labels * _threads()),
            what=f"Logistic regressions on {n_rows} rows and {n_codes} codes",
            remedy="Use decoder='linear', fewer rows or fewer label components.",
        )
        units = Units.of(data.codes, data.weights)
        Z = units.standardised(data.codes).astype(np.float32)
        columns = data.labels.tocsc()
        scored = columns if data.others is None else data.scored[0].tocsc()
        return cls(data, units, Z, columns, scored)

    def prior(self, labels: Indices) -> Array:
        """Return the linear decoder (m + 1, b) of these labels, scaled to log-odds."""
        scores: Array = self.data.scores(labels).astype(np.float32, copy=False)
        w = self.data.scored[1]
        # Standardised codes have mean 0, and so have their scores by the linear decoder.
        scores -= (w / w.sum()).astype(np.float32) @ scores
        scaling = scaling_by_bins(scores, self.scored[:, labels], w)
        linear = self.units.rescaled(self.data.linear[:, labels])
        return scaling.coefficients(linear).astype(np.float32)

    def sampled(self, labels: Indices, prior: Array) -> DecoderProblem:
        """Return the problem of these labels on a sample of the rows, in float32."""
        log_odds = self.Z @ prior[:-1]
        log_odds += prior[-1]
        likeliest = 1.0 / (1.0 + np.exp(-np.maximum(log_odds.max(axis=1), -80)))
        present = self.columns[:, labels]
        likeliest[present.indices] = 1.0
        rows, counts = drawn_rows(likeliest)
        T = _dense(present)
        weights: Array = (self.data.weights[rows] * counts).astype(np.float32)
        if rows.size == likeliest.size:
            return DecoderProblem(self.units, self.Z, T, prior, weights)
        return DecoderProblem(self.units, self.Z[rows], T[rows], prior, weights)

    def levelled(self, labels: Indices, B: Array) -> Array:
        """Return intercepts (b,) for which as many rows are expected to have a label as do.

        Coefficients that are fitted to a sample overestimate probabilities of rows outside it.
        """
        log_odds, c, weights = self.Z @ B[:-1], B[-1].astype(np.float64), self.data.weights
        present = np.asarray(self.columns[:, labels].T @ weights).ravel()
        varies = (present > 0) & (present < weights.sum())
        w = weights.astype(np.float32)
        for _ in range(LEVELLING):
            expected, curvature = np.zeros(c.size), np.zeros(c.size)
            for start in range(0, w.size, AT_ONCE):
                rows = slice(start, start + AT_ONCE)
                P = log_odds[rows] + c.astype(np.float32)
                np.exp(np.negative(np.maximum(P, -80, out=P), out=P), out=P)
                P = 1.0 / (1.0 + P)
                expected += w[rows] @ P
                curvature += w[rows] @ (P * (1.0 - P))
            step = (present - expected) / np.maximum(curvature, 1e-3 * present)
            c[varies] += np.clip(step[varies], -1.0, 1.0)
        return c


def scaling_by_bins(scores: Array, present: Any, w: Array) -> Scaling:
    """Fit :func:`as_log_odds` to many rows, binned by their scores.

    ``scores`` (n, b) are about 0, and ``present`` (n, b) is a CSC matrix.
    """
    n, b = scores.shape
    if n <= 16 * BINS:
        single: Array = w.astype(np.float32)
        return as_log_odds(scores, _dense(present), single, tol=1e-4)
    squares = np.einsum("ij,ij->j", scores, scores) if _even(w) else w @ scores**2 / w.mean()
    unit = np.sqrt(squares.astype(np.float64) / n)
    finest: Array = np.divide(1 / FINEST, unit, out=np.zeros(b), where=unit > 0).astype(np.float32)
    furthest = np.maximum(scores.max(axis=0), -scores.min(axis=0))
    last = float(np.log1p(furthest * finest).max(initial=0.0))
    width = max(2 * last / (BINS - 1), 1e-30)
    first_bin = np.arange(b, dtype=np.int32) * BINS
    bins, total = np.empty((n, b), dtype=np.int32), np.zeros(b * BINS)
    for start in range(0, n, AT_ONCE):
        rows = slice(start, start + AT_ONCE)
        places = np.abs(scores[rows])
        places *= finest
        places += 1.0
        np.log(places, out=places)
        np.copysign(places, scores[rows], out=places)
        places *= 1.0 / width
        places += last / width + 0.5
        np.add(places.astype(np.int32), first_bin, out=bins[rows])
        weights = None if _even(w) else np.repeat(w[rows], b)
        total += np.bincount(bins[rows].ravel(), weights, minlength=total.size)
    if _even(w):
        total *= w[0]
    label = np.repeat(np.arange(b), np.diff(present.indptr))
    have: Array = np.bincount(
        bins[present.indices, label], w[present.indices], minlength=total.size
    )
    middle = np.arange(BINS) * width - last
    S = np.sign(middle) * FINEST * np.expm1(np.abs(middle))
    both = have.reshape(b, BINS).T, total.reshape(b, BINS).T
    return scaling_of(np.broadcast_to(S[:, None], (BINS, b)), *both, unit, tol=1e-4)


def drawn_rows(likeliest: Array) -> tuple[Indices, NDArray[np.float64]]:
    """Draw rows at random, and return them with the number of rows that each represents.

    ``likeliest`` (N,) is the largest probability among a row's labels; 1 where it has a label.

    >>> rows, counts = drawn_rows(np.r_[np.ones(10), np.zeros(100_000)])
    >>> float(counts[:10].max()), 4_000 < rows.size < 4_400, 97_000 < float(counts.sum()) < 103_000
    (1.0, True, True)
    """
    n = likeliest.size
    probability = np.clip(likeliest / CERTAIN, _share(n), 1.0)
    rows = np.flatnonzero(np.random.default_rng(0).random(n) < probability)
    return rows, 1.0 / probability[rows]


def _threads() -> int:
    return min(free_cores_to_use(), MOST_THREADS)


def _even(w: Array) -> bool:
    return bool((w == w[0]).all())


def _share(n_rows: int) -> float:
    return min(1.0, max(LEAST_SHARE, FEWEST / max(n_rows, 1)))


def _dense(columns: Any, labels: Indices | slice = slice(None)) -> Array:
    return columns[:, labels].astype(np.float32).toarray()
