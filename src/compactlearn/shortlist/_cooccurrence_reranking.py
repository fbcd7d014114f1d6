"""Co-occurrence re-ranking: final log-odds from a candidate and the other candidates of its row.

Label re-ranking judges every candidate by itself. Yet a label that comes with another in nine rows
of ten is hardly present without it: in a hierarchy a label is never there without those above it.
Five inputs describe the other candidates of the row: the strongest support, the weakest label that
this one needs and whether there is any, the mean log-probability of co-occurring labels, and the
strongest of all. Margin, prior, frequency, votes, whether the retriever names the label, the
similarity of the row to the label's centroid, and the evidence of its features are the others. A
small network, the same for all labels, makes the final log-odds of them. It also corrects
overconfident margins: the weights of a rare label fit its few rows too well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.special import expit, logit

from compactlearn.core._compiled import read_only
from compactlearn.core._threads import blas_threads
from compactlearn.core._unknown_labels import expected_counts
from compactlearn.shortlist._candidates import Candidates
from compactlearn.shortlist._centroids import Centroids
from compactlearn.shortlist._evidence import Evidence
from compactlearn.shortlist._networks import trained
from compactlearn.shortlist._sparse import (
    Places,
    kept_entries,
    slices_of,
    stored_entries,
    values_at,
)

Array = NDArray[np.float64]
Floats = NDArray[np.floating[Any]]

_LEAST_SHARE = 0.1  # a label that comes with another less often is left out
_NEEDED = 0.8  # one that comes at least so often is one that the other cannot do without
_LIKELY = 0.01  # labels of less probability support no other
_SMALLEST = 1e-4  # probabilities have logarithms down to here
_BLOCK = 1 << 21  # scores of rows and labels, or pairs of labels of a row, at a time
_EPOCHS, _PENALTY = 20, 5.0  # passes over the candidates; penalty against the sum of losses
_BATCHES, _FEWEST_STEPS = (32, 512), 2_000  # candidates of a batch, and steps at least
_LARGEST_PENALTY = 1e2  # where weights are tiny
_ABSENT = 30_000  # absent candidates that are enough for some hundreds of weights
_EASIEST = 1e-3  # added to the probabilities by which they are drawn
_PAIRS = 1 << 15  # scored at a time


@dataclass(frozen=True)
class Cooccurrence:
    """Conditional frequencies of labels."""

    shares: scipy.sparse.csr_array  # (n_labels, n_labels) [j, k]: frequency of k among rows of j
    frequency: Array  # (n_labels,) log of the share of rows

    @classmethod
    def of(
        cls, Y: scipy.sparse.csr_array, weights: Array | None = None, unknown: Any = None
    ) -> Cooccurrence:
        """Count rows that know both labels, and one row more without either.

        >>> Cooccurrence.of(scipy.sparse.csr_array([[1, 1], [1, 0], [1, 0]])).shares.toarray()
        array([[0.  , 0.25],
               [0.5 , 0.  ]], dtype=float32)
        """
        given = np.ones(Y.shape[0]) if weights is None else weights
        weighed = scipy.sparse.csr_array(Y, dtype=np.float64, copy=True)
        weighed.data *= np.repeat(given, np.diff(Y.indptr))
        counts = scipy.sparse.csr_array(Y.T @ weighed)
        row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        total = np.asarray(Y.T @ given, dtype=np.float64)
        rows = total[row]
        if unknown is not None:
            counts.sort_indices()
            rows = rows - values_at(weighed.T @ unknown, counts)
        share = counts.data / (rows + 1.0)
        kept = (share >= _LEAST_SHARE) & (counts.indices != row)
        shares = scipy.sparse.csr_array(
            (share.astype(np.float32), counts.indices, counts.indptr), shape=counts.shape
        )
        often = expected_counts(Y, unknown, given)
        frequency = np.log(often + 1.0) - np.log(given.sum() + 1.0)
        return cls(kept_entries(shares, kept), frequency)

    def inputs(self, candidates: Candidates, margins: Floats, log_odds: Floats) -> Array:
        """Return the eight inputs of the final log-odds, for every pair of a row and a candidate.

        Margin, prior, frequency, support, weakest need, mean of co-occurring labels, any need, and
        the strongest candidate of the row.
        """
        found = np.empty((candidates.labels.size, 8))
        found[:, 0] = margins
        found[:, 1] = log_odds
        found[:, 2] = self.frequency[candidates.labels]
        p = expit(found[:, 0])
        n_others = np.diff(self.shares.indptr)[candidates.labels]
        work = np.concatenate([[0], np.cumsum(n_others, dtype=np.int64)])[candidates.starts]
        work += np.arange(candidates.n_rows + 1) * candidates.n_labels
        for rows in slices_of(work, _BLOCK):
            starts = candidates.starts[rows.start : rows.stop + 1]
            pairs = slice(starts[0], starts[-1])
            row = np.repeat(np.arange(starts.size - 1), np.diff(starts))
            found[pairs, 3:7] = self._row_inputs(
                row, candidates.labels[pairs], p[pairs], starts.size - 1
            )
        found[:, 7] = _log_odds(_strongest(p, candidates.starts))
        return found

    def alone(self, margins: Floats) -> Array:
        """Return the last five inputs of candidates without co-occurring ones in their row."""
        found = np.zeros((margins.size, 5))
        found[:, 0] = _log_odds(np.zeros(1))[0]
        found[:, 1] = found[:, 4] = _log_odds(expit(np.asarray(margins, dtype=np.float64)))
        return found

    def arrays(self) -> tuple[Any, ...]:
        """Return what compiled code reads: conditional frequencies, frequencies and bounds."""
        return (
            read_only(self.shares.indptr, np.int64),
            read_only(self.shares.indices, np.uint32),
            read_only(self.shares.data, np.float32),
            read_only(self.frequency, np.float64),
            _LIKELY,
            _NEEDED,
            _SMALLEST,
        )

    def strongest_labels(
        self, candidates: Candidates, margins: Floats, pair: int
    ) -> tuple[int, int]:
        """Return the label that supports a candidate most, and the weakest it needs; -1: none."""
        row = int(np.searchsorted(candidates.starts, pair, side="right")) - 1
        pairs = np.arange(candidates.starts[row], candidates.starts[row + 1])
        labels, p = candidates.labels[pairs], expit(margins[pairs].astype(np.float64))
        own = int(candidates.labels[pair])
        gives = np.asarray(self.shares[labels][:, [own]].toarray()).ravel() * p * (p >= _LIKELY)
        support = int(labels[gives.argmax()]) if gives.any() else -1
        needed = np.asarray(self.shares[[own]].toarray()).ravel()[labels] >= _NEEDED
        need = int(labels[needed][p[needed].argmin()]) if needed.any() else -1
        return support, need

    def _row_inputs(self, row: Places, labels: Places, p: Array, n_rows: int) -> Array:
        n_labels, others, shares = self.shares.shape[1], self.shares.indices, self.shares.data
        place = row * np.int64(n_labels)
        pair, entry = stored_entries(self.shares.indptr, labels)
        other, share = place[pair] + others[entry], shares[entry]

        block = np.zeros(n_rows * n_labels)
        likely = p[pair] >= _LIKELY
        np.maximum.at(block, other[likely], p[pair[likely]] * share[likely])
        support = block[place + labels]

        block.fill(np.nan)
        block[place + labels] = p
        q = block[other]
        there = ~np.isnan(q)  # the others are no candidates
        pair, q, share = pair[there], q[there], share[there]
        total = np.bincount(pair, share * np.log(np.maximum(q, _SMALLEST)), labels.size)
        mean = total / np.maximum(np.bincount(pair, share, labels.size), 1.0)
        weakest = np.full(labels.size, 2.0)
        needed = share >= _NEEDED
        np.minimum.at(weakest, pair[needed], q[needed])
        needs = weakest < 2.0
        weakest = np.where(needs, weakest, p)
        return np.column_stack(
            [_log_odds(support), _log_odds(weakest), mean, needs.astype(np.float64)]
        )


@dataclass(frozen=True)
class CooccurrenceReranking:
    """Final log-odds of a candidate as a function of its inputs: a layer of rectified units."""

    first: Array  # (n_inputs, n_units)
    biases: Array  # (n_units,)
    second: Array  # (n_units,)
    intercept: float

    @classmethod
    def learn(
        cls,
        inputs: Array,
        present: NDArray[np.bool_],
        weights: Array,
        rng: np.random.RandomState,
    ) -> CooccurrenceReranking:
        """Fit to inputs of rows that all earlier stages had not seen; the mean of some networks."""
        if present.all() or not present.any():
            margin = np.eye(inputs.shape[1])[:, :1]
            return cls(np.hstack([margin, -margin]), np.zeros(2), np.array([1.0, -1.0]), 0.0)
        pairs, counts = _sampled(inputs, present, weights, rng)
        used = inputs[pairs]
        means, scales = used.mean(axis=0), used.std(axis=0)
        scales = np.where(scales > 1e-6 * (1.0 + np.abs(means)), scales, 1.0)
        # Weights count relative to others, and the penalty relative to all weights.
        batch, mean = min(int(np.clip(pairs.size // 100, *_BATCHES)), pairs.size), counts.mean()
        with blas_threads(1):  # products of a batch are too small for several
            first, biases, second, intercept = trained(
                ((used - means) / scales).astype(np.float32),
                present[pairs].astype(np.float32),
                (counts / mean).astype(np.float32),
                penalty=min(_PENALTY / pairs.size / mean, _LARGEST_PENALTY),
                batch=batch,
                n_steps=max(_FEWEST_STEPS, _EPOCHS * pairs.size // batch),
                rng=rng,
            )
        first = first.astype(np.float64) / scales[:, None]
        biases = biases.astype(np.float64) - means @ first
        return cls(first, biases, second.astype(np.float64), intercept)

    def scores(self, inputs: Array) -> NDArray[np.float32]:
        """Return the log-odds of every candidate."""
        found = np.empty(inputs.shape[0], dtype=np.float32)
        for start in range(0, found.size, _PAIRS):
            pairs = slice(start, start + _PAIRS)
            found[pairs] = self.exact_scores(inputs[pairs])
        return found

    def exact_scores(self, inputs: Array) -> Array:
        """Return the log-odds in double precision."""
        units = np.maximum(inputs @ self.first + self.biases, 0.0)
        return np.asarray(units @ self.second + self.intercept)

    def mean_gradients(self, before: Array, after: Array) -> Array:
        """Return the mean gradient of the scores on the straight line between two inputs.

        Times ``after - before`` it has the change of the scores as its sum: Aumann and Shapley's
        shares, which are exact here, as a unit is linear on either side of 0.
        """
        start, change = before @ self.first + self.biases, (after - before) @ self.first
        rise = np.maximum(start + change, 0.0) - np.maximum(start, 0.0)
        still = np.abs(change) <= 1e-12 * (1.0 + np.abs(start))
        slopes = np.where(still, start > 0, rise / np.where(still, 1.0, change))
        return (slopes * self.second) @ self.first.T

    def arrays(self) -> tuple[Any, ...]:
        """Return what compiled code reads: the weights of each unit in a row of their own."""
        return (
            read_only(self.first.T, np.float64),
            read_only(self.biases, np.float64),
            read_only(self.second, np.float64),
            float(self.intercept),
        )


def all_inputs(
    cooccurrence: Cooccurrence,
    centroids: Centroids,
    evidence: Evidence,
    rows: scipy.sparse.csr_array,
    candidates: Candidates,
    margins: Floats,
    log_odds: Floats,
) -> Array:
    """Return the inputs of the last stage.

    After those of :meth:`Cooccurrence.inputs` come the votes, whether the retriever names the
    label, the similarity to its centroid, and the two of :meth:`Evidence.inputs`.
    """
    named = ~np.isnan(candidates.retrieved)
    similar = centroids.similarities(rows, candidates)
    others = cooccurrence.inputs(candidates, margins, log_odds)
    by_features = evidence.inputs(rows, candidates)
    found = np.column_stack([others, candidates.votes, named, similar, by_features])
    return found.astype(np.float64, copy=False)


def _sampled(
    inputs: Array, present: NDArray[np.bool_], weights: Array, rng: np.random.RandomState
) -> tuple[Places, Array]:
    """Return candidates to learn from, and how often each counts.

    Of many absent candidates some are drawn, those that resemble present ones more often; the
    weight of each is divided by its probability of being drawn.
    """
    if np.count_nonzero(~present) <= _ABSENT:
        return np.arange(present.size), weights
    hard = np.maximum(expit(inputs[:, 0]), 0.5 * expit(inputs[:, 1])) + _EASIEST
    share = np.minimum(1.0, _ABSENT * hard / hard[~present].sum())
    share[present] = 1.0
    pairs = np.flatnonzero(rng.random_sample(present.size) < share)
    return pairs, weights[pairs] / share[pairs]


def _strongest(p: Array, starts: Places) -> Array:
    """Return the largest probability in the row of each candidate.

    >>> _strongest(np.array([0.5, 0.9, 0.2, 0.7]), np.array([0, 3, 3, 4]))
    array([0.9, 0.9, 0.9, 0.7])
    """
    lengths = np.diff(starts)
    there = lengths > 0
    return np.repeat(np.maximum.reduceat(p, starts[:-1][there]), lengths[there]) if p.size else p


def _log_odds(p: Array) -> Array:
    return logit(np.clip(p, _SMALLEST, 1.0 - _SMALLEST))
