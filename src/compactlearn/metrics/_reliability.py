"""Reliability tables: pairs of a row and a label in bins, by their probability."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from compactlearn.core._params import Integer
from compactlearn.metrics._checks import (
    Matrix,
    as_matrix,
    check_k,
    check_labels,
    check_shape,
    check_threshold,
    pieces,
    row_blocks,
)
from compactlearn.metrics._ranks import pairs_as_matrix
from compactlearn.metrics._truth import Cells, Truth, read_truth

__all__ = [
    "ReliabilityTable",
    "Selection",
    "check_probabilities",
    "probability_blocks",
    "read_probabilities",
    "reliability_of",
    "reliability_table",
]

Chosen = tuple[np.ndarray, np.ndarray]  # probability of each pair, and whether the label is present


@dataclass(frozen=True)
class ReliabilityTable:
    """Pairs of a row and a label, in bins of equal width by their probability.

    Made by `reliability_table`. Tables with the same bins can be added.

    Parameters
    ----------
    count : ndarray of int, shape (bins,)
        Number of pairs in each bin.
    probability_sum : ndarray of shape (bins,)
        Sum of their probabilities.
    present : ndarray of int, shape (bins,)
        Number of pairs whose label is present.
    """

    count: np.ndarray
    probability_sum: np.ndarray
    present: np.ndarray

    @property
    def edges(self) -> np.ndarray:
        """Bounds of the bins, one more than there are bins."""
        return np.linspace(0.0, 1.0, len(self.count) + 1)

    @property
    def mean_probability(self) -> np.ndarray:
        """Mean probability in each bin; NaN in an empty one."""
        return _ratio(self.probability_sum, self.count)

    @property
    def precision(self) -> np.ndarray:
        """Share of pairs in each bin whose label is present; NaN in an empty one."""
        return _ratio(self.present, self.count)

    @property
    def gap(self) -> np.ndarray:
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
            Bins with fewer pairs are not considered: their gap is mostly chance.

        Returns
        -------
        float
            NaN if no bin has that many.
        """
        counted = self.count >= max(1, min_count)
        return float(np.abs(self.gap[counted]).max()) if counted.any() else float("nan")

    def __add__(self, other: ReliabilityTable) -> ReliabilityTable:
        return ReliabilityTable(
            self.count + other.count,
            self.probability_sum + other.probability_sum,
            self.present + other.present,
        )

    def __str__(self) -> str:
        lines = ["probability    count  mean probability  precision     gap"]
        for k in np.flatnonzero(self.count):
            low, high = self.edges[k : k + 2]
            lines.append(
                f"{low:4.2f} to {high:4.2f} {self.count[k]:8d} {self.mean_probability[k]:17.3f} "
                f"{self.precision[k]:10.3f} {self.gap[k]:+7.3f}"
            )
        return "\n".join(lines)


def reliability_table(
    Y_true: Any,
    probabilities: Any,
    *,
    k: int | None = None,
    threshold: Any = None,
    labels: Any = None,
    bins: int = 10,
    mask: Any = None,
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
        Count labels that are 1 here, as ``predict`` returns them.
    bins : int
        Number of bins of equal width; a probability on the boundary of two belongs to the upper
        one, 1 to the last.
    mask : boolean array-like or sparse matrix of shape (n_samples, n_labels), optional
        True where the label is known; another way to mark unknown ones.

    Returns
    -------
    ReliabilityTable
        Count, mean probability, precision and gap of each bin. Where several of `k`, `threshold`
        and `labels` are given, pairs that meet all of them are counted; where none is, all pairs.

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
    truth = read_truth(Y_true, mask)
    P = read_probabilities(probabilities, truth.shape, k)
    chosen = Selection.of(truth.shape, k, threshold, labels)
    return reliability_of(truth, P, bins, chosen)


@dataclass(frozen=True)
class Selection:
    """Pairs of a row and a label that are counted: those that meet every condition.

    Parameters
    ----------
    k : int or None
        Among the best k of the row.
    bounds : ndarray of shape (n_labels,) or None
        Above the bound of the label.
    labels : Cells or None
        Predicted.
    """

    k: int | None = None
    bounds: np.ndarray | None = None
    labels: Cells | None = None

    @classmethod
    def of(cls, shape: tuple[int, int], k: Any, threshold: Any, labels: Any) -> Selection:
        """Return the checked conditions."""
        bounds = None if threshold is None else check_threshold(threshold, shape[1])
        return cls(
            None if k is None else check_k(k, shape[1]),
            None if bounds is None else np.broadcast_to(bounds, shape[1:]),
            None if labels is None else read_truth(check_labels(labels, shape)).present,
        )

    @property
    def everything(self) -> bool:
        """Return whether there is no condition."""
        return self.k is None and self.bounds is None and self.labels is None

    def rows(self, block: slice) -> Selection:
        """Return the conditions for a block of rows."""
        labels = None if self.labels is None else self.labels.rows(block)
        return Selection(self.k, self.bounds, labels)


def reliability_of(
    truth: Truth, P: Matrix, bins: Any, chosen: Selection | None = None
) -> ReliabilityTable:
    """Return the table of checked probabilities; without a condition, of all known pairs."""
    if not Integer(1).accepts(bins):
        raise ValueError(f"bins must be {Integer(1).describe()}, but is {bins!r}; pass such a one.")
    count, total, present = np.zeros((3, bins))
    if (chosen is None or chosen.everything) and not sparse.issparse(P):
        parts = (_all_pairs(own, values) for own, values in probability_blocks(truth, P))
    else:
        parts = _chosen_pairs(truth, P, chosen or Selection())
    for p, there in parts:
        place = np.minimum((p * bins).astype(np.intp), bins - 1)
        count += np.bincount(place, minlength=bins)
        total += np.bincount(place, p, minlength=bins)
        present += np.bincount(place[there], minlength=bins)
    return ReliabilityTable(count.astype(np.int64), total, present.astype(np.int64))


def _all_pairs(truth: Truth, values: np.ndarray) -> Chosen:
    """All known pairs of a block."""
    there = np.zeros(values.shape, dtype=bool)
    there[truth.present.row_numbers(), truth.present.columns] = True
    if truth.unknown is None:
        return values.ravel(), there.ravel()
    known = np.ones(values.shape, dtype=bool)
    known[truth.unknown.row_numbers(), truth.unknown.columns] = False
    return values[known], there[known]


def _chosen_pairs(truth: Truth, P: Matrix, chosen: Selection) -> Iterator[Chosen]:
    """The pairs that meet all conditions, a block of rows at a time."""
    n_rows, width = truth.shape
    cells = P.nnz if sparse.issparse(P) else P.size
    for block in row_blocks((n_rows, -(-cells // max(1, n_rows)))):
        own, wanted = truth.rows(block), chosen.rows(block)
        row, label, p = _candidates(own, P[block], wanted)
        kept = np.ones(len(row), dtype=bool)
        if own.unknown is not None:
            kept &= ~own.unknown.holds(row, label, width)
        if wanted.k is not None:
            kept[kept] = _among_best(row[kept], label[kept], p[kept], wanted.k)
        if wanted.bounds is not None:
            kept &= p > wanted.bounds[label]
        if wanted.labels is not None:
            kept &= wanted.labels.holds(row, label, width)
        row, label, p = row[kept], label[kept], p[kept]
        yield p, own.present.holds(row, label, width)


def _candidates(
    truth: Truth, P: Matrix, chosen: Selection
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row, label and probability of the pairs of a block that may be chosen."""
    if sparse.issparse(P):
        row = np.repeat(np.arange(P.shape[0]), np.diff(P.indptr))
        return row, P.indices.astype(np.int64), P.data.astype(np.float64)
    if chosen.k is not None:  # not below the k-th best of the known labels
        known = P.astype(np.float64)
        if truth.unknown is not None:
            known[truth.unknown.row_numbers(), truth.unknown.columns] = -1.0
        wanted = known >= np.partition(known, -chosen.k, axis=1)[:, [-chosen.k]]
    elif chosen.bounds is not None:
        wanted = P > chosen.bounds
    else:
        assert chosen.labels is not None
        row, label = chosen.labels.row_numbers(), chosen.labels.columns
        return row, label, P[row, label].astype(np.float64)
    row, label = np.nonzero(wanted)
    return row, label, P[row, label].astype(np.float64)


def _among_best(row: np.ndarray, label: np.ndarray, p: np.ndarray, k: int) -> np.ndarray:
    """Mark the k best pairs of each row; of equal ones the lowest label is first."""
    order = np.lexsort((label, -p, row))
    ordered = row[order]
    place = np.arange(len(row)) - np.searchsorted(ordered, ordered)
    best = np.empty(len(row), dtype=bool)
    best[order] = place < k
    return best


def read_probabilities(probabilities: Any, shape: tuple[int, int], k: Any) -> Matrix:
    """Return checked probabilities in any of the three forms."""
    if isinstance(probabilities, tuple) and len(probabilities) == 2:
        probabilities = pairs_as_matrix(probabilities, shape, 1 if k is None else k)
    return check_probabilities(probabilities, shape, allow_sparse=True)


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    return np.divide(above, below, out=np.full(len(below), np.nan), where=below > 0)


def check_probabilities(
    probabilities: Any, shape: tuple[int, int], *, allow_sparse: bool = False
) -> Any:
    """Return probabilities of the shape of the truth, all of them within [0, 1]."""
    if sparse.issparse(probabilities) and not allow_sparse:
        raise TypeError(
            "probabilities must be a dense array, since every label of every row has one, but a "
            "sparse matrix was given; pass probabilities.toarray()."
        )
    P = as_matrix(probabilities, "probabilities")
    check_shape("probabilities", P.shape, shape)
    for values in pieces(P):
        wrong = ~((values >= 0) & (values <= 1))  # so that NaN is wrong
        if wrong.any():
            raise ValueError(
                "probabilities must lie between 0 and 1, but hold "
                f"{values[wrong].flat[0]:g}; pass what predict_proba returns, not scores."
            )
    return P


def probability_blocks(truth: Truth, P: np.ndarray) -> Iterator[tuple[Truth, np.ndarray]]:
    """Return truth and probabilities of each block of rows."""
    return ((truth.rows(rows), P[rows].astype(np.float64)) for rows in row_blocks(truth.shape))
