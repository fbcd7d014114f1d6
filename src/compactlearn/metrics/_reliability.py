"""Metrics of probabilities: comparison of predicted probabilities with observed frequencies.

With many labels nearly all pairs of a row and a label are trivial zeros, and an average over all of
them is close to 0 for every model. What matters are the labels that a model suggests: the best k of
each row, or those that it predicts. Pairs whose truth is unknown are not counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from compactlearn.metrics._checks import (
    Matrix,
    as_matrix,
    check_bins,
    check_k,
    check_labels,
    check_shape,
    check_threshold,
    pieces,
    row_blocks,
)
from compactlearn.metrics._measures import KNOWN, SUGGESTED, Measure, Rule
from compactlearn.metrics._ranks import pairs_as_matrix
from compactlearn.metrics._truth import Cells, Truth, read_truth

Array = np.ndarray

_CLIP = (
    1e-6  # probabilities are kept this far from 0 and 1, lest one wrong certainty cost without end
)


@dataclass(frozen=True)
class ReliabilityTable:
    """Pairs of a row and a label, in bins of equal width by their probability.

    Made by `reliability_table`.

    Parameters
    ----------
    count : ndarray of int, shape (bins,)
        Number of pairs in each bin.
    probability_sum : ndarray of shape (bins,)
        Sum of their probabilities.
    present : ndarray of int, shape (bins,)
        Number of pairs whose label is present.
    """

    count: Array
    probability_sum: Array
    present: Array

    @property
    def edges(self) -> Array:
        """Bounds of the bins, one more than there are bins."""
        return np.linspace(0.0, 1.0, len(self.count) + 1)

    @property
    def mean_probability(self) -> Array:
        """Mean probability in each bin; NaN in an empty one."""
        return _ratio(self.probability_sum, self.count)

    @property
    def precision(self) -> Array:
        """Share of pairs in each bin whose label is present; NaN in an empty one."""
        return _ratio(self.present, self.count)

    @property
    def gap(self) -> Array:
        """Mean probability minus precision; positive where the model is overconfident."""
        return self.mean_probability - self.precision

    @property
    def total(self) -> int:
        """Number of pairs in all bins."""
        return int(self.count.sum())

    @property
    def expected_calibration_error(self) -> float:
        """Mean of the absolute gaps, each bin weighted by its count; NaN without pairs."""
        distance = np.abs(self.probability_sum - self.present).sum()
        return float(distance) / self.total if self.total else float("nan")

    @property
    def overconfidence(self) -> float:
        """Mean probability minus precision over all bins; NaN without pairs."""
        excess = self.probability_sum.sum() - self.present.sum()
        return float(excess) / self.total if self.total else float("nan")

    def largest_gap(self, min_count: int = 1) -> float:
        """Return the largest absolute gap of the bins with at least ``min_count`` pairs.

        Parameters
        ----------
        min_count : int
            Bins with fewer pairs are not considered: their gap is mostly due to random variation.

        Returns
        -------
        float
            NaN if no bin has that many.
        """
        counted = self.count >= max(1, min_count)
        return float(np.abs(self.gap[counted]).max()) if counted.any() else float("nan")

    def __str__(self) -> str:
        lines = ["probability    count  mean probability  precision     gap"]
        for k in np.flatnonzero(self.count):
            low, high = self.edges[k : k + 2]
            lines.append(
                f"{low:4.2f} to {high:4.2f} {self.count[k]:8d} {self.mean_probability[k]:17.3f} "
                f"{self.precision[k]:10.3f} {self.gap[k]:+7.3f}"
            )
        return "\n".join(lines)


def _ratio(above: Array, below: Array) -> Array:
    return np.divide(above, below, out=np.full(len(below), np.nan), where=below > 0)


def reliability_table(
    Y_true: Any,
    probabilities: Any,
    *,
    k: int | None = None,
    threshold: Any = None,
    labels: Any = None,
    bins: int = 10,
) -> ReliabilityTable:
    """Compare the probabilities of suggested labels with their precision, bin by bin.

    Parameters
    ----------
    Y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        0 and 1; NaN where unknown: such a label is not counted.
    probabilities : array-like or sparse matrix (n_samples, n_labels), or (labels, probabilities)
        As ``predict_proba`` returns them. Of a sparse matrix, such as that of
        ``ShortlistClassifier``, only stored entries are counted. A tuple holds the columns of some
        labels of each row and their probabilities. Neither is made dense.
    k : int, optional
        Count the k labels of largest probability of each row; of equal ones, the lowest index
        first.
    threshold : float or array-like of shape (n_labels,), optional
        Count labels whose probability is strictly greater.
    labels : array-like or sparse matrix of shape (n_samples, n_labels), optional
        Count labels that are 1 here, as ``predict`` returns them; then `threshold` is not used.
    bins : int
        Number of bins of equal width; a probability on the boundary of two belongs to the upper
        one, 1 to the last.

    Returns
    -------
    ReliabilityTable
        Count, mean probability, precision and gap of each bin. Without `k`, `threshold` and
        `labels` all pairs of a row and a label are counted.

    Examples
    --------
    Of four labels with a probability of 0.9 or more, two are present:

    >>> Y = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]]
    >>> P = [[0.9, 0.0, 0.1], [0.0, 0.9, 0.1], [0.9, 0.0, 0.1], [0.0, 0.9, 0.1]]
    >>> table = reliability_table(Y, P, k=1, bins=5)
    >>> print(table)
    probability    count  mean probability  precision     gap
    0.80 to 1.00        4             0.900      0.500  +0.400
    >>> table.largest_gap(min_count=4)
    0.4
    """
    truth = read_truth(Y_true)
    width = truth.shape[1]
    measure = Reliability(
        check_bins(bins, width),
        k=None if k is None else check_k(k, width),
        threshold=None if threshold is None else check_threshold(threshold, width),
        predicted=labels is not None,
    )
    return measure.table(probability_blocks(truth, probabilities, labels, k))


@dataclass(frozen=True)
class ProbabilityBlock:
    """Truth, probabilities and, where given, predicted labels of a block of rows."""

    truth: Truth
    P: Matrix
    labels: Cells | None


def probability_blocks(
    truth: Truth, probabilities: Any, labels: Any = None, k: Any = None
) -> Iterator[ProbabilityBlock]:
    """Return blocks of rows of probabilities in any of the three forms, and of predicted labels."""
    if isinstance(probabilities, tuple) and len(probabilities) == 2:
        probabilities = pairs_as_matrix(probabilities, truth.shape, 1 if k is None else k)
    P = check_probabilities(probabilities, truth.shape)
    given = None if labels is None else read_truth(check_labels(labels, truth.shape)).present
    cells = P.nnz if sparse.issparse(P) else P.size
    n_rows = truth.shape[0]
    for rows in row_blocks((n_rows, -(-cells // max(1, n_rows)))):
        own = None if given is None else given.rows(rows)
        yield ProbabilityBlock(truth.rows(rows), P[rows].astype(np.float64), own)


def check_probabilities(probabilities: Any, shape: tuple[int, int]) -> Matrix:
    """Return probabilities of the shape of the truth, all of them within [0, 1]."""
    P = as_matrix(probabilities, "probabilities")
    check_shape("probabilities", P.shape, shape)
    for values in pieces(P):
        wrong = ~((values >= 0) & (values <= 1))  # so that NaN is wrong
        if wrong.any():
            raise ValueError(
                f"probabilities must lie between 0 and 1; got {values[wrong].flat[0]:g}. Pass what "
                "predict_proba returns, not scores."
            )
    return P


# ---- measures -----------------------------------------------------------------------------------


def log_loss() -> Measure:
    def losses(block: ProbabilityBlock) -> Array:
        p = np.clip(block.P, _CLIP, 1.0 - _CLIP)
        cells = -np.log1p(-p)
        present, unknown = block.truth.present, block.truth.unknown
        at = present.row_numbers(), present.columns
        cells[at] = -np.log(p[at])
        if unknown is not None:
            cells[unknown.row_numbers(), unknown.columns] = 0.0
        return cells.sum(axis=1)

    return Measure(KNOWN, losses, lambda block: block.truth.n_known)


def calibration_error(bins: int = 15) -> Reliability:
    return Reliability(bins, rule=KNOWN)


def predicted_calibration_error(threshold: Any = 0.5, bins: int = 10) -> Reliability:
    return Reliability(bins, threshold=threshold, predicted=True)


def calibration_error_at(k: int = 5, bins: int = 10) -> Reliability:
    return Reliability(bins, k=k)


@dataclass(frozen=True)
class Reliability:
    """The calibration error of the pairs of a row and a label that meet all conditions."""

    bins: int
    k: int | None = None  # among the best k of the row
    threshold: Any = None  # above the threshold of the label: a number, or one for each label
    predicted: bool = False  # predicted, where labels are given, which then replace the threshold
    rule: Rule = SUGGESTED
    undefined: float = float("nan")

    def table(self, blocks: Iterator[ProbabilityBlock]) -> ReliabilityTable:
        """Return the table of all blocks."""
        return _table(sum((self.sums(block) for block in blocks), np.zeros((3, self.bins))))

    def sums(self, block: ProbabilityBlock) -> Array:
        """Return number of pairs, sum of probabilities and number of present labels by bin."""
        p, there = self._pairs(block)
        place = np.minimum((p * self.bins).astype(np.intp), self.bins - 1)
        counted = (place, place, place[there])
        weights = (None, p, None)
        return np.stack(
            [
                np.bincount(where, weight, minlength=self.bins)
                for where, weight in zip(counted, weights, strict=True)
            ]
        )

    def value(self, sums: Array) -> float:
        """Return the expected calibration error."""
        return _table(sums).expected_calibration_error

    def _pairs(self, block: ProbabilityBlock) -> tuple[Array, Array]:
        """Return the probability of each counted pair, and whether its label is present."""
        truth, width = block.truth, block.truth.shape[1]
        labels = block.labels if self.predicted else None
        bounds = None if labels is not None else self.threshold
        if self.k is None and labels is None and bounds is None and not sparse.issparse(block.P):
            return _all_pairs(block)
        row, label, p = self._candidates(block, labels, bounds)
        kept = np.ones(len(row), dtype=bool)
        if truth.unknown is not None:
            kept &= ~truth.unknown.holds(row, label, width)
        if self.k is not None:
            kept[kept] = _among_best(row[kept], label[kept], p[kept], self.k)
        if bounds is not None:
            kept &= p > np.broadcast_to(bounds, (width,))[label]
        if labels is not None:
            kept &= labels.holds(row, label, width)
        return p[kept], truth.present.holds(row[kept], label[kept], width)

    def _candidates(
        self, block: ProbabilityBlock, labels: Cells | None, bounds: Any
    ) -> tuple[Array, Array, Array]:
        """Return row, label and probability of the pairs that may be counted."""
        P, unknown = block.P, block.truth.unknown
        if sparse.issparse(P):
            row = np.repeat(np.arange(P.shape[0]), np.diff(P.indptr))
            return row, P.indices.astype(np.int64), P.data
        if self.k is not None:  # not below the k-th best of the known labels
            known = P.copy()
            if unknown is not None:
                known[unknown.row_numbers(), unknown.columns] = -1.0
            row, label = np.nonzero(known >= np.partition(known, -self.k, axis=1)[:, [-self.k]])
        elif labels is not None:
            row, label = labels.row_numbers(), labels.columns
        else:
            row, label = np.nonzero(P > bounds)
        return row, label, P[row, label]


def _table(sums: Array) -> ReliabilityTable:
    count, total, present = sums
    return ReliabilityTable(count.astype(np.int64), total, present.astype(np.int64))


def _all_pairs(block: ProbabilityBlock) -> tuple[Array, Array]:
    """Return probability and presence of all known pairs of dense probabilities."""
    there, known = np.zeros(block.P.shape, dtype=bool), np.ones(block.P.shape, dtype=bool)
    present, unknown = block.truth.present, block.truth.unknown
    there[present.row_numbers(), present.columns] = True
    if unknown is not None:
        known[unknown.row_numbers(), unknown.columns] = False
    return block.P[known], there[known]


def _among_best(row: Array, label: Array, p: Array, k: int) -> Array:
    """Mark the k best pairs of each row; of equal ones the lowest label is first."""
    order = np.lexsort((label, -p, row))
    ordered = row[order]
    place = np.arange(len(row)) - np.searchsorted(ordered, ordered)
    best = np.empty(len(row), dtype=bool)
    best[order] = place < k
    return best
