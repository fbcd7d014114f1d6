"""The logistic decoder where rows times codes times labels are too many for the plain one.

The same problem as in :mod:`compactlearn.decoding.logistic`, with four savings:

* labels are solved in blocks, by falling frequency, so that no N x M matrix exists;
* a block sees the rows that matter to it, and a sample of the others. A row is drawn with a
  probability that grows with its largest score of a label in the block, is certain where it has
  one of these labels, and counts by the inverse of that probability, so that sums over the sample
  estimate sums over all rows without bias (local case-control sampling: Fithian and Hastie 2014).
  Rows far from all labels of a block say the same thing, "no", tens of thousands of times;
* numbers are float32, and a gradient has converged at a few thousandths of what it was;
* the penalty is chosen on some of the labels, evenly spread over the frequencies.

What is drawn depends on the number of rows alone: the same data have the same decoder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.core import memory
from compactlearn.decoding.held_out import DecoderData, HeldOutFold
from compactlearn.decoding.learned import CodeDecoder
from compactlearn.decoding.logistic import (
    PENALTIES,
    Units,
    as_log_odds,
    fit_logistic,
    log_losses,
    rising,
)

Array = NDArray[Any]
Indices = NDArray[np.intp]

BLOCK = 256  # labels that are solved side by side
JUDGED = 128  # labels on which the penalty is chosen
TOLERANCE, ROUGH = 3e-3, 1e-2  # of the decoder, and of those that penalties are ranked by

# A row is certain to be drawn from this score of a label on: one in twenty of such rows has it.
# Of rows without any score at least so many are drawn, and at least that share.
CERTAIN = 0.05
FEWEST, LEAST_SHARE = 4_000, 1 / 16


def learn_at_size(data: DecoderData, penalty: float) -> CodeDecoder:
    """Log-odds of every label from honest codes, shrunken towards the linear decoder."""
    problem = LargeProblem.of(data)
    n_labels = data.labels.shape[1]
    W, intercept = np.empty((data.codes.shape[1], n_labels)), np.empty(n_labels)
    order = by_frequency(data)
    for start in range(0, n_labels, BLOCK):
        labels = order[start : start + BLOCK]
        block = problem.block(labels)
        B = fit_logistic(
            block.Z, block.T, penalty, block.weights, prior=block.prior, tol=TOLERANCE
        ).coefficients.astype(np.float64)
        W[:, labels] = problem.units.restored(B[:-1])
        intercept[labels] = B[-1] - problem.units.mean @ W[:, labels]
    return CodeDecoder(W, intercept, penalty)


def choose_penalty_at_size(
    folds: Sequence[HeldOutFold], penalties: NDArray[np.float64] = PENALTIES
) -> float:
    """One penalty for all labels: that of least log-loss of some labels on new rows."""
    losses = np.zeros(len(penalties))
    for part in folds:
        problem, order = LargeProblem.of(part.train), by_frequency(part.train)
        labels = order[:: -(-order.size // JUDGED)]
        block = problem.block(labels)
        Z = problem.units.standardised(part.codes).astype(np.float32)
        T = _dense(part.labels.tocsc(), labels)
        B, own = block.prior, []
        for penalty in penalties:
            B = fit_logistic(
                block.Z,
                block.T,
                float(penalty),
                block.weights,
                prior=block.prior,
                start=B,
                tol=ROUGH,
            ).coefficients
            own.append(float(part.weights @ log_losses(Z @ B[:-1] + B[-1], T).sum(axis=1)))
            if rising(own):
                break
        losses += np.append(own, np.full(len(penalties) - len(own), np.inf))
    return float(penalties[int(np.argmin(losses))])


def by_frequency(data: DecoderData) -> Indices:
    """Labels, the most frequent first."""
    return np.argsort(-np.asarray(data.labels.T @ data.weights).ravel(), kind="stable")


def cells_at_size(counts: Array, n_rows: int) -> float:
    """About how many pairs of a row and a label are solved for, given the rows of each label.

    For each row that has a label of a block, another one or two are drawn for their scores.
    """
    ordered = np.sort(counts)[::-1]
    cells = 0.0
    for start in range(0, ordered.size, BLOCK):
        block = ordered[start : start + BLOCK]
        cells += block.size * min(n_rows, _share(n_rows) * n_rows + 2.5 * float(block.sum()))
    return cells


@dataclass(frozen=True)
class Block:
    """The logistic regressions of some labels on a sample of the rows, in float32."""

    Z: Array  # (n, m)
    T: Array  # (n, b)
    weights: Array  # (n,)
    prior: Array  # (m + 1, b), the intercept last


@dataclass(frozen=True)
class LargeProblem:
    """The logistic regressions of all labels, to be had block by block."""

    data: DecoderData
    units: Units
    Z: Array  # (N, m) float32
    columns: Any  # (N, M) labels, CSC

    @classmethod
    def of(cls, data: DecoderData) -> LargeProblem:
        n_rows, n_codes = data.codes.shape
        n_labels = min(data.labels.shape[1], BLOCK)
        memory.require_memory(
            4 * n_rows * (2 * n_codes + 10 * n_labels),
            what=f"Logistic regressions on {n_rows} rows and {n_codes} codes",
            remedy="Use decoder='learned', fewer rows or fewer label components.",
        )
        units = Units.of(data.codes, data.weights)
        Z = units.standardised(data.codes).astype(np.float32)
        return cls(data, units, Z, data.labels.tocsc())

    def block(self, labels: Indices) -> Block:
        """The problem of these labels."""
        scores, T = self.data.scores(labels), _dense(self.columns, labels)
        rows, counts = drawn_rows(np.maximum(scores, T).max(axis=1))
        whole = rows.size == scores.shape[0]
        if not whole:
            scores, T = scores[rows], T[rows]
        w = self.data.weights[rows] * counts
        # Standardised codes have mean 0, and so has what the linear decoder makes of them.
        centred = (scores - (w @ scores) / w.sum()).astype(np.float32)
        weights: Array = w.astype(np.float32)
        scaling = as_log_odds(centred, T, weights, tol=1e-3)
        prior = scaling.coefficients(self.units.rescaled(self.data.linear[:, labels]))
        Z = self.Z if whole else self.Z[rows]
        return Block(Z, T, weights, prior.astype(np.float32))


def drawn_rows(highest: Array) -> tuple[Indices, NDArray[np.float64]]:
    """Which rows are drawn, and for how many rows each of them stands.

    ``highest`` (N,) is a row's largest score; 1 where it has one of the labels.

    >>> rows, counts = drawn_rows(np.r_[np.ones(10), np.zeros(100_000)])
    >>> float(counts[:10].max()), 6_000 < rows.size < 6_500, 98_000 < float(counts.sum()) < 102_000
    (1.0, True, True)
    """
    n = highest.size
    chance = np.clip(highest / CERTAIN, _share(n), 1.0)
    rows = np.flatnonzero(np.random.default_rng(0).random(n) < chance)
    return rows, 1.0 / chance[rows]


def _share(n_rows: int) -> float:
    return min(1.0, max(LEAST_SHARE, FEWEST / max(n_rows, 1)))


def _dense(columns: Any, labels: Indices) -> Array:
    return columns[:, labels].astype(np.float32).toarray()
