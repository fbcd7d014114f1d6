"""Metrics of probabilities: is what is called likely as frequent as it is called likely?

With many labels nearly all pairs of a row and a label are trivial zeros, and an average over all of
them is close to 0 for every model. What matters are the labels that a model suggests: the best k of
each row, or those above the threshold. Pairs whose truth is unknown are not counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from compactlearn.core._params import Real
from compactlearn.metrics._averages import KNOWN, SUGGESTED, warn_undefined
from compactlearn.metrics._checks import Matrix
from compactlearn.metrics._reliability import (
    ReliabilityTable,
    Selection,
    check_probabilities,
    probability_blocks,
    read_probabilities,
    reliability_of,
)
from compactlearn.metrics._truth import Truth, read_truth

__all__ = [
    "SuggestedMeasure",
    "calibration_error",
    "calibration_error_at_k",
    "calibration_error_of",
    "log_loss",
    "log_loss_of",
    "overconfidence_at_k",
    "predicted_calibration_error",
    "predicted_overconfidence",
    "suggested_error",
    "suggested_excess",
    "warn_nothing_suggested",
]


def log_loss(Y_true: Any, probabilities: Any, *, clip: float = 1e-6, mask: Any = None) -> float:
    """Mean over all cells of -log of the probability of what is true; 0 is best.

    This is the mean over the labels of scikit-learn's `log_loss` of each.

    Parameters
    ----------
    Y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        0 and 1; NaN where unknown: such a cell is not counted.
    probabilities : array-like of shape (n_samples, n_labels)
        Of the label being present, as ``predict_proba`` returns them.
    clip : float
        Probabilities are kept this far from 0 and 1, lest one wrong certainty cost without end.
    mask : boolean array-like or sparse matrix of shape (n_samples, n_labels), optional
        True where the label is known; another way to mark unknown ones.

    Returns
    -------
    float
        NaN, with an UndefinedMetricWarning, if no cell is known.

    Examples
    --------
    >>> log_loss([[1, 0], [0, 0]], [[0.5, 0.5], [0.5, 0.5]])
    0.693147...
    """
    truth = read_truth(Y_true, mask)
    return log_loss_of(truth, check_probabilities(probabilities, truth.shape), clip)


def log_loss_of(truth: Truth, P: np.ndarray, clip: Any) -> float:
    """`log_loss` of a truth that has been read."""
    if not Real(0, 0.5, open_low=True, open_high=True).accepts(clip):
        raise ValueError(
            f"clip must be a number above 0 and below 0.5, but is {clip!r}; pass such a number, "
            "1e-6 for instance."
        )
    n_cells, total = int(truth.n_known.sum()), 0.0
    for own, values in probability_blocks(truth, P):
        p = np.clip(values, clip, 1.0 - clip)
        losses = -np.log1p(-p)
        present = own.present.row_numbers(), own.present.columns
        losses[present] = -np.log(p[present])
        if own.unknown is not None:
            losses[own.unknown.row_numbers(), own.unknown.columns] = 0.0
        total += float(losses.sum())
    if not n_cells:
        warn_undefined("log_loss", KNOWN, truth.shape[0])
    return total / n_cells if n_cells else float("nan")


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
    P = read_probabilities(probabilities, truth.shape, options.get("k"))
    measure = suggested_excess if "overconfidence" in name else suggested_error
    value = measure(truth, P, **options)
    warn_nothing_suggested([name] if np.isnan(value) else [], truth.shape[0])
    return value
