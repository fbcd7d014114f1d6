"""Calibration: whether labels are as frequent as their probabilities say.

With many labels nearly all pairs of a row and a label are trivial zeros, and an average over all of
them is close to 0 for every model. What matters are the labels that a model suggests: the best k of
each row, or those above the threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from compactlearn.core._params import Integer
from compactlearn.metrics._averages import KNOWN, SUGGESTED, warn_undefined
from compactlearn.metrics._checks import Matrix, check_k, check_labels, check_threshold, row_blocks
from compactlearn.metrics._probabilities import check_probabilities, probability_blocks
from compactlearn.metrics._sparse_scores import pairs_as_matrix
from compactlearn.metrics._truth import Cells, Truth, read_truth

__all__ = [
    "ReliabilityTable",
    "SuggestedMeasure",
    "calibration_error",
    "calibration_error_at_k",
    "calibration_error_of",
    "overconfidence_at_k",
    "predicted_calibration_error",
    "predicted_overconfidence",
    "reliability_of",
    "reliability_table",
    "suggested_error",
    "suggested_excess",
    "warn_nothing_suggested",
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
    P = _read(probabilities, truth.shape, k)
    chosen = Selection.of(truth.shape, k, threshold, labels)
    return reliability_of(truth, P, bins, chosen)


def calibration_error(
    Y_true: Any, probabilities: Any, *, bins: int = 15, mask: Any = None
) -> float:
    """Expected calibration error over all pairs of a row and a label; 0 is best.

    All pairs are put into bins of equal width by their probability. In each bin the mean
    probability is compared with the share of labels that are present; the error is the mean of
    the absolute differences, each bin weighted by its pairs.

    Parameters
    ----------
    Y_true, probabilities, mask
        As in `log_loss`.
    bins : int
        How many; a probability on the boundary of two belongs to the upper one, 1 to the last.

    Returns
    -------
    float
        NaN, with an UndefinedMetricWarning, if no pair is known.

    Notes
    -----
    With many labels nearly all pairs are trivial zeros, which are easy to predict: the error is
    then close to 0 for every model, also for one whose suggestions are badly overconfident. To
    judge the probabilities of suggested labels use `calibration_error_at_k`,
    `predicted_calibration_error` or `reliability_table`.

    Examples
    --------
    Two pairs of 0.9, of which one is present:

    >>> calibration_error([[1, 0]], [[0.9, 0.9]])
    0.4
    """
    truth = read_truth(Y_true, mask)
    return calibration_error_of(truth, check_probabilities(probabilities, truth.shape), bins)


def calibration_error_of(truth: Truth, P: Matrix, bins: Any) -> float:
    """Return `calibration_error` of a truth that has been read."""
    found = reliability_of(truth, P, bins).expected_calibration_error
    if np.isnan(found):
        warn_undefined("calibration_error", KNOWN, truth.shape[0])
    return found


def calibration_error_at_k(
    Y_true: Any, probabilities: Any, k: int = 5, *, bins: int = 10, mask: Any = None
) -> float:
    """Expected calibration error of the k labels of largest probability; 0 is best.

    Parameters
    ----------
    Y_true, probabilities, k, bins, mask
        As in `reliability_table`, of whose table this is the mean absolute gap, each bin weighted
        by its count.

    Returns
    -------
    float
        NaN, with an UndefinedMetricWarning, if no label counts.

    Examples
    --------
    A first label of probability 0.9 is right in one row of two:

    >>> calibration_error_at_k([[1, 0, 0], [0, 1, 0]], [[0.9, 0, 0], [0.9, 0, 0]], k=1)
    0.4
    """
    options = {"k": k, "bins": bins}
    return _of_suggested("calibration_error_at_k", Y_true, probabilities, mask, options)


def overconfidence_at_k(
    Y_true: Any, probabilities: Any, k: int = 5, *, bins: int = 10, mask: Any = None
) -> float:
    """Mean probability minus precision of the k labels of largest probability; 0 is best.

    A positive value means that the model is overconfident, a negative one that it is too careful.
    So do not select a model by it: use `calibration_error_at_k`.

    Parameters
    ----------
    Y_true, probabilities, k, mask
        As in `reliability_table`.
    bins : int
        Has no effect here.

    Returns
    -------
    float
        NaN, with an UndefinedMetricWarning, if no label counts.

    Examples
    --------
    >>> overconfidence_at_k([[1, 0, 0], [0, 1, 0]], [[0.9, 0, 0], [0.9, 0, 0]], k=1)
    0.4
    """
    options = {"k": k, "bins": bins}
    return _of_suggested("overconfidence_at_k", Y_true, probabilities, mask, options)


def predicted_calibration_error(
    Y_true: Any,
    probabilities: Any,
    threshold: Any = 0.5,
    *,
    labels: Any = None,
    bins: int = 10,
    mask: Any = None,
) -> float:
    """Expected calibration error of the labels that are predicted; 0 is best.

    Parameters
    ----------
    Y_true, probabilities, bins, mask
        As in `reliability_table`, of whose table this is the mean absolute gap, each bin weighted
        by its count.
    threshold : float or array-like of shape (n_labels,)
        A label is predicted where its probability is strictly greater.
    labels : array-like or sparse matrix of shape (n_samples, n_labels), optional
        The predicted labels, 0 and 1, as ``predict`` returns them; then `threshold` is not used.

    Returns
    -------
    float
        NaN, with an UndefinedMetricWarning, if no label is predicted.

    Examples
    --------
    >>> predicted_calibration_error([[1, 0, 0], [0, 1, 0]], [[0.9, 0.1, 0], [0.9, 0.1, 0]])
    0.4
    """
    options = {"threshold": threshold, "labels": labels, "bins": bins}
    return _of_suggested("predicted_calibration_error", Y_true, probabilities, mask, options)


def predicted_overconfidence(
    Y_true: Any,
    probabilities: Any,
    threshold: Any = 0.5,
    *,
    labels: Any = None,
    bins: int = 10,
    mask: Any = None,
) -> float:
    """Mean probability minus precision of the labels that are predicted; 0 is best.

    A positive value means that the model is overconfident, a negative one that it is too careful.
    So do not select a model by it: use `predicted_calibration_error`.

    Parameters
    ----------
    Y_true, probabilities, threshold, labels, mask
        As in `predicted_calibration_error`.
    bins : int
        Has no effect here.

    Returns
    -------
    float
        NaN, with an UndefinedMetricWarning, if no label is predicted.

    Examples
    --------
    >>> predicted_overconfidence([[1, 0, 0], [0, 1, 0]], [[0.9, 0.1, 0], [0.9, 0.1, 0]])
    0.4
    """
    options = {"threshold": threshold, "labels": labels, "bins": bins}
    return _of_suggested("predicted_overconfidence", Y_true, probabilities, mask, options)


@dataclass(frozen=True)
class SuggestedMeasure:
    """A metric that is read off the reliability table of suggested labels.

    Parameters
    ----------
    value : callable
        The metric of a table; NaN of an empty one.
    """

    value: Callable[[ReliabilityTable], float]

    def table(
        self,
        truth: Truth,
        P: Matrix,
        *,
        bins: Any,
        k: Any = None,
        threshold: Any = None,
        labels: Any = None,
    ) -> ReliabilityTable:
        """Return the table of checked probabilities; tables of several blocks can be added."""
        threshold = threshold if labels is None else None
        return reliability_of(truth, P, bins, Selection.of(truth.shape, k, threshold, labels))

    def __call__(self, truth: Truth, P: Matrix, **options: Any) -> float:
        """Return the metric of a truth that has been read."""
        return self.value(self.table(truth, P, **options))


suggested_error = SuggestedMeasure(lambda table: table.expected_calibration_error)
suggested_excess = SuggestedMeasure(lambda table: table.overconfidence)


def warn_nothing_suggested(names: list[str], n_rows: int) -> None:
    """Warn that metrics of suggested labels are NaN."""
    if names:
        warn_undefined(" and ".join(names), SUGGESTED, n_rows)


def _of_suggested(
    name: str, Y_true: Any, probabilities: Any, mask: Any, options: dict[str, Any]
) -> float:
    """Return one of the four metrics of suggested labels."""
    truth = read_truth(Y_true, mask)
    P = _read(probabilities, truth.shape, options.get("k"))
    measure = suggested_excess if "overconfidence" in name else suggested_error
    value = measure(truth, P, **options)
    warn_nothing_suggested([name] if np.isnan(value) else [], truth.shape[0])
    return value


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


def _read(probabilities: Any, shape: tuple[int, int], k: Any) -> Matrix:
    """Return checked probabilities in any of the three forms."""
    if isinstance(probabilities, tuple) and len(probabilities) == 2:
        probabilities = pairs_as_matrix(probabilities, shape, 1 if k is None else k)
    return check_probabilities(probabilities, shape, allow_sparse=True)


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    return np.divide(above, below, out=np.full(len(below), np.nan), where=below > 0)
