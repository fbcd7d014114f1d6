"""Label re-ranking: a sparse logistic regression for each label.

A regression is learnt from the rows whose candidate the label is. Its features are those of the row
and the prior probabilities of the row's likely labels. The prior log-odds enter as an offset, at
half their size since the features that they rest on are used again. A label with a few rows only
has small weights, and stays near the prior.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.special import expit, logit

from compactlearn.core._compiled import read_only
from compactlearn.linalg._arrays import kept_starts
from compactlearn.linalg._many_logistic import Problems, ShareOut, Weights, margins_of, solve_many
from compactlearn.shortlist._candidates import Candidates
from compactlearn.shortlist._sparse import kept_entries, products_at, side_by_side

Rows = NDArray[np.integer[Any]]

OFFSET = 0.5  # of the prior log-odds
_LIKELY = 0.05  # labels of at least this probability are features
_LABEL_C = 1.0  # the weight of the loss against the penalty of likely labels' weights
_CS = (0.25, 1.0, 4.0, 16.0)
_NEARLY = 1.01  # times the smallest loss: as good, up to the noise of some labels
JUDGING_PAIRS = 60_000  # of the labels that choose the penalty
# Beyond so many pairs, negative rows of less prior probability are sampled, one in four.
THINNED_PAIRS, _EASY, _ONE_IN = 1_000_000, 0.01, 4
_USUAL_ROWS, _LARGEST_WEIGHT = 100.0, 10.0  # labels of fewer rows are rare


def with_likely_labels(
    X: scipy.sparse.csr_array, candidates: Candidates, log_odds: NDArray[np.float32], C: float
) -> scipy.sparse.csr_array:
    """Return rows with the prior probabilities of likely labels as further columns.

    ``C`` weighs the loss against the penalty of a row's own features; the others are scaled so that
    theirs is always the same.
    """
    p = expit(log_odds)
    kept = p >= _LIKELY
    shape = (candidates.n_rows, candidates.n_labels)
    values = (np.sqrt(_LABEL_C / C) * p[kept]).astype(X.dtype)
    starts = kept_starts(candidates.starts, kept)
    likely = scipy.sparse.csr_array((values, candidates.labels[kept], starts), shape=shape)
    return side_by_side(X, likely)


def thinned(problems: Problems, n_rows: int, rng: np.random.RandomState) -> Problems:
    """Return problems with fewer of the negative rows that the prior explains, if they are many."""
    if problems.rows.size < THINNED_PAIRS:
        return problems
    return problems.thinned(OFFSET * float(logit(_EASY)), _ONE_IN, n_rows, rng)


def label_weights(counts: NDArray[Any], exponent: float) -> NDArray[np.float64]:
    """Return the weights of the losses of labels with so many rows.

    >>> label_weights(np.array([0, 1, 25, 100, 400]), 0.5)
    array([10., 10.,  2.,  1.,  1.])
    """
    share = np.clip(counts, 1.0, _USUAL_ROWS) / _USUAL_ROWS
    return np.minimum(share**-exponent, _LARGEST_WEIGHT)


def problems_of(
    candidates: Candidates, present: NDArray[np.bool_], log_odds: NDArray[np.float32]
) -> Problems:
    """Return one problem for each label: the rows whose candidate it is."""
    order = np.argsort(candidates.labels, kind="stable")
    starts = np.searchsorted(candidates.labels[order], np.arange(candidates.n_labels + 1))
    return Problems(starts, candidates.rows[order], present[order], OFFSET * log_odds[order])


@dataclass(frozen=True)
class LabelReranking:
    """Weights of all labels."""

    columns: scipy.sparse.csr_array  # (n_features + n_labels, n_labels) weights
    intercepts: NDArray[np.float32]
    C: float

    @classmethod
    def of(cls, weights: Weights, C: float, smallest: float = 0.0) -> LabelReranking:
        """Keep the weights above ``smallest`` in size, by feature."""
        W = weights.coefficients
        pruned = kept_entries(W, np.abs(W.data) > smallest).astype(np.float32)
        return cls(pruned.T.tocsr(), weights.intercepts.astype(np.float32), C)

    def margins(
        self, X: scipy.sparse.csr_array, candidates: Candidates, log_odds: NDArray[Any]
    ) -> NDArray[np.float32]:
        """Return ``w'x + b`` plus half the prior log-odds of every candidate.

        X is the result of :func:`with_likely_labels`.
        """
        found = products_at(X, self.columns, candidates.starts, candidates.labels)
        found += self.intercepts[candidates.labels]
        return found + np.float32(OFFSET) * log_odds

    def arrays(self) -> tuple[Any, ...]:
        """Return what compiled code reads: weights, intercepts, and what the inputs are made of."""
        columns = self.columns
        return (
            read_only(columns.indptr, np.int64),
            read_only(columns.indices, np.uint32),
            read_only(columns.data, np.float32),
            read_only(self.intercepts, np.float32),
            columns.shape[0] - columns.shape[1],
            float(np.sqrt(_LABEL_C / self.C)),
            _LIKELY,
            OFFSET,
        )


@dataclass(frozen=True)
class LabelProblems:
    """The regressions of all labels, for any penalty and on any of the rows."""

    rows: scipy.sparse.csr_array
    weights: NDArray[np.float64] | None  # of the rows
    candidates: Candidates
    log_odds: NDArray[np.float32]  # of the candidates, by the prior
    problems: Problems
    n_threads: int
    share_out: ShareOut | None = None  # to whom, where it is not threads of this process

    def solve(self, C: float, outside: NDArray[np.bool_], start: Weights | None = None) -> Weights:
        """Return the weights of all labels, learnt from the rows outside a fold.

        ``start`` has weights to begin with. A label without any row there has no weights. Its
        margins differ from their offsets by as much as those of the labels with the fewest rows do
        on average.
        """
        problems, features = self.problems.among(outside), self._features(C)
        found = self._solve(features, problems, C, start)
        count = self._rows_with_label(outside)
        if count.all() or not count.any():
            return found
        rare = np.flatnonzero(count == count[count > 0].min())
        pairs = problems.chosen(rare)
        change = margins_of(features, pairs, found.chosen(rare)) - pairs.offsets
        mean = np.average(change, weights=pairs.counts)
        return replace(found, intercepts=np.where(count == 0, mean, found.intercepts))

    def best_C(self, inside: NDArray[np.bool_], rng: np.random.RandomState) -> float:
        """Return the smallest penalty under which other rows explain the rows of a fold well.

        Some of the labels decide. Penalties are tried from the largest on, until one explains less
        than the last, and then the two on either side of the best. Of those that are nearly as good
        as the best the smallest is selected: the last stage corrects margins that are too large.
        """
        problems = self.problems.chosen(self._some_labels(rng))
        learnt, judged = problems.among(~inside), problems.among(inside)
        sign = np.where(judged.positive, -1.0, 1.0)
        weights = np.ones(judged.rows.size) if self.weights is None else self.weights[judged.rows]
        weights = weights if judged.counts is None else weights * judged.counts

        usual = with_likely_labels(self.rows, self.candidates, self.log_odds, _LABEL_C)
        solved: Weights | None = None

        def loss(C: float) -> float:
            nonlocal solved
            values = usual.data.copy()
            values[usual.indices >= self.rows.shape[1]] *= np.float32(np.sqrt(_LABEL_C / C))
            features = scipy.sparse.csr_array(
                (values, usual.indices, usual.indptr), shape=usual.shape
            )
            solved = self._solve(features, learnt, C, solved)
            margins = margins_of(features, judged, solved)
            return float(weights @ np.logaddexp(0.0, sign * margins))

        found = {_CS[0]: loss(_CS[0])}
        for C in _CS[1:]:
            found[C] = loss(C)
            if found[C] > min(found.values()):
                break
        best = min(found, key=found.__getitem__)
        found |= {C: loss(C) for C in (best / 2, best * 2)}
        return max(C for C in found if found[C] <= _NEARLY * min(found.values()))

    def _features(self, C: float) -> scipy.sparse.csr_array:
        return with_likely_labels(self.rows, self.candidates, self.log_odds, C)

    def _rows_with_label(self, outside: NDArray[np.bool_]) -> Rows:
        """Return (n_labels,) the number of rows outside a fold that have each label."""
        there = self.problems.positive & outside[self.problems.rows]
        return np.diff(kept_starts(self.problems.starts, there))

    def _some_labels(self, rng: np.random.RandomState) -> Rows:
        """Return labels that are enough to choose a number which all labels share."""
        order = rng.permutation(self.problems.count)
        pairs = np.cumsum(np.diff(self.problems.starts)[order])
        return np.sort(order[: max(1, int(np.searchsorted(pairs, JUDGING_PAIRS)))])

    def _solve(
        self, features: Any, problems: Problems, C: float, start: Weights | None = None
    ) -> Weights:
        return solve_many(
            features,
            problems,
            C,
            row_weights=self.weights,
            start=start,
            positive_only=True,
            n_threads=self.n_threads,
            share_out=self.share_out,
        )
