"""Co-occurrence re-ranking: final log-odds from a candidate and the other candidates of its row.

Label re-ranking judges every candidate by itself. Yet a label that comes with another in nine rows
of ten is hardly present without it: in a hierarchy a label is never there without those above it.
Four inputs describe the other candidates of the row: the strongest support, the weakest label that
this one needs, the mean log-probability of co-occurring labels, and the strongest of all. Together
with margin, prior and frequency they give the final log-odds: a sum of piecewise linear functions
of one input each, the same for all labels, found by a logistic regression. It also corrects
overconfident margins: the weights of a rare label fit its few rows too well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from compactlearn.core._compiled import read_only
from compactlearn.core._unknown_labels import expected_counts
from compactlearn.shortlist._candidates import Candidates
from compactlearn.shortlist._piecewise import corners_of, hats_of
from compactlearn.shortlist._sparse import Places, kept_entries, values_at

Array = NDArray[np.float64]
Floats = NDArray[np.floating[Any]]

_LEAST_SHARE = 0.1  # a label that comes with another less often is left out
_NEEDED = 0.8  # one that comes at least so often is one that the other cannot do without
_LIKELY = 0.01  # labels of less probability support no other
_SMALLEST = 1e-4  # probabilities have logarithms down to here
_BLOCK = 1 << 21  # scores of rows and labels, or pairs of labels of a row, at a time
_PRESENT_CORNERS = (0.0, 1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6, 1.0)  # quantiles of present labels
_ALL_CORNERS = (0.0, 0.5, 0.9, 0.97, 1.0)  # and of all candidates
_ABSENT = 200_000  # absent candidates that are enough for some dozens of coefficients
_C = 0.3
_BY_CORNERS = (0, 1, 2, 3, 4, 5, 7)  # inputs that enter as piecewise linear functions
_STRAIGHT = [0, 1, 6]  # inputs that enter as they are


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
        first = 0
        while first < candidates.n_rows:
            last = int(np.searchsorted(work, work[first] + _BLOCK, side="right")) - 1
            last = min(max(last, first + 1), candidates.n_rows)
            starts = candidates.starts[first : last + 1]
            pairs = slice(starts[0], starts[-1])
            row = np.repeat(np.arange(last - first), np.diff(starts))
            found[pairs, 3:7] = self._row_inputs(
                row, candidates.labels[pairs], p[pairs], last - first
            )
            first = last
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
        pair, entry = _entries(self.shares.indptr, labels)
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
    """Final log-odds of a candidate as a function of its inputs."""

    corners: tuple[Array, ...]  # of each input but any need, which is 0 or 1
    coefficients: Array
    intercept: float

    @classmethod
    def learn(
        cls,
        inputs: Array,
        present: NDArray[np.bool_],
        weights: Array,
        rng: np.random.RandomState,
    ) -> CooccurrenceReranking:
        """Fit to inputs of rows that all earlier stages had not seen."""
        corners = tuple(_corners(inputs[:, k], present) for k in _BY_CORNERS)
        blank = cls(corners, np.zeros(0), 0.0)
        pairs, absent = np.arange(present.size), np.flatnonzero(~present)
        if absent.size > _ABSENT:
            chosen = rng.choice(absent, _ABSENT, replace=False)
            pairs = np.sort(np.concatenate([np.flatnonzero(present), chosen]))
            weights = np.where(present, weights, weights * (absent.size / _ABSENT))
        y = present[pairs]
        if not y.any() or y.all():
            return cls(corners, np.eye(blank.columns(inputs[:0]).shape[1])[0], 0.0)
        model = LogisticRegression(C=_C, solver="newton-cholesky")
        model.fit(blank.columns(inputs[pairs]), y, sample_weight=weights[pairs])
        return cls(corners, np.array(model.coef_[0]), float(model.intercept_[0]))

    def columns(self, inputs: Array) -> Array:
        """Return the columns of the regression; margin and prior count beyond the last corners."""
        parts = [
            hats_of(inputs[:, k], corners)[:, 1:]
            for k, corners in zip(_BY_CORNERS, self.corners, strict=True)
        ]
        return np.column_stack([inputs[:, _STRAIGHT], *parts])

    def scores(self, inputs: Array) -> NDArray[np.float32]:
        """Return the log-odds of every candidate: ``columns @ coefficients + intercept``."""
        straight, heights = self._heights
        total = inputs[:, _STRAIGHT] @ straight + self.intercept
        for k, corners, height in zip(_BY_CORNERS, self.corners, heights, strict=True):
            total += np.interp(inputs[:, k], corners, np.append(0.0, height))
        return total.astype(np.float32)

    def term(self, k: int, values: Array) -> Array:
        """Return what values of input ``k`` add to the score, without the intercept."""
        straight, heights = self._heights
        if k == _STRAIGHT[-1]:
            return straight[2] * values
        place = _BY_CORNERS.index(k)
        found = np.interp(values, self.corners[place], np.append(0.0, heights[place]))
        return found + straight[k] * values if k < 2 else found

    def arrays(self) -> tuple[Any, ...]:
        """Return what compiled code reads: of each input its slope, and its corners and heights."""
        straight, heights = self._heights
        n_inputs = len({*_STRAIGHT, *_BY_CORNERS})
        slopes, functions = np.zeros(n_inputs), [np.zeros((2, 0))] * n_inputs
        slopes[_STRAIGHT] = straight
        for k, corners, height in zip(_BY_CORNERS, self.corners, heights, strict=True):
            functions[k] = np.stack([corners, np.append(0.0, height)])
        starts = np.cumsum([0, *(part.shape[1] for part in functions)])
        corners, heights = np.concatenate(functions, axis=1)
        return (
            read_only(slopes, np.float64),
            read_only(starts, np.int64),
            read_only(corners, np.float64),
            read_only(heights, np.float64),
            float(self.intercept),
        )

    @property
    def _heights(self) -> tuple[Array, list[Array]]:
        """Slopes of margin, prior and any need; heights at the corners of the other inputs."""
        ends = 3 + np.cumsum([0, *(corners.size - 1 for corners in self.corners)])
        straight, *heights = np.split(self.coefficients, ends[:-1])
        return straight, heights


def _corners(values: Array, present: NDArray[np.bool_]) -> Array:
    return corners_of(values, _ALL_CORNERS, values[present], _PRESENT_CORNERS)


def _strongest(p: Array, starts: Places) -> Array:
    """Return the largest probability in the row of each candidate.

    >>> _strongest(np.array([0.5, 0.9, 0.2, 0.7]), np.array([0, 3, 3, 4]))
    array([0.9, 0.9, 0.9, 0.7])
    """
    lengths = np.diff(starts)
    there = lengths > 0
    return np.repeat(np.maximum.reduceat(p, starts[:-1][there]), lengths[there]) if p.size else p


def _entries(starts: Places, rows: Places) -> tuple[Places, Places]:
    """Return whose they are, and which: the stored entries of some rows, row after row."""
    lengths = np.diff(starts)[rows]
    whose = np.repeat(np.arange(rows.size), lengths)
    ends = np.cumsum(lengths)
    return whose, np.arange(whose.size) + np.repeat(starts[rows] - (ends - lengths), lengths)


def _log_odds(p: Array) -> Array:
    return logit(np.clip(p, _SMALLEST, 1.0 - _SMALLEST))
