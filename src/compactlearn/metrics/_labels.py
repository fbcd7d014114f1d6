"""Metrics of predicted label sets.

Cells whose truth is unknown are not counted; rows of which nothing is known neither.
"""

from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from compactlearn.core._warn import warn_user
from compactlearn.metrics._averages import KNOWN, warn_undefined
from compactlearn.metrics._checks import Convention, check_convention, check_labels
from compactlearn.metrics._hit_counts import Counts, count
from compactlearn.metrics._truth import read_truth

__all__ = [
    "example_f1",
    "example_f1_of",
    "hamming_loss",
    "hamming_loss_of",
    "macro_f1",
    "macro_f1_of",
    "micro_f1",
    "micro_f1_of",
    "subset_accuracy",
    "subset_accuracy_of",
]


def hamming_loss(Y_true: Any, labels: Any, *, mask: Any = None) -> float:
    """Share of cells in which truth and prediction differ; 0 is best.

    Parameters
    ----------
    Y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        0 and 1; NaN where unknown: such a cell is not counted.
    labels : array-like or sparse matrix of shape (n_samples, n_labels)
        Predicted labels, 0 and 1.
    mask : boolean array-like or sparse matrix of shape (n_samples, n_labels), optional
        True where the label is known; another way to mark unknown ones.

    Returns
    -------
    float
        NaN, with an UndefinedMetricWarning, if no cell is known.

    Examples
    --------
    >>> hamming_loss([[1, 0, 1], [0, 1, 0]], [[1, 1, 1], [0, 0, 0]])
    0.3333333333333333
    """
    return hamming_loss_of(_counts(Y_true, labels, mask))


def subset_accuracy(Y_true: Any, labels: Any, *, mask: Any = None) -> float:
    """Share of rows in which every known label is predicted right; 1 is best.

    Parameters
    ----------
    Y_true, labels, mask
        As in `hamming_loss`.

    Returns
    -------
    float
        NaN, with an UndefinedMetricWarning, if no row has a known label.

    Examples
    --------
    >>> subset_accuracy([[1, 0, 1], [0, 1, 0]], [[1, 0, 1], [0, 0, 0]])
    0.5
    """
    return subset_accuracy_of(_counts(Y_true, labels, mask))


def example_f1(
    Y_true: Any, labels: Any, *, convention: Convention = "zhang", mask: Any = None
) -> float:
    """F1 of each row, 2 TP / (2 TP + FP + FN), averaged over rows; 1 is best.

    Parameters
    ----------
    Y_true, labels, mask
        As in `hamming_loss`.
    convention : "zhang", "sklearn" or "mulan"
        A row without labels for which none is predicted has the value 1 for "mulan", else 0.

    Returns
    -------
    float
        NaN, with an UndefinedMetricWarning, if no row has a known label.

    Examples
    --------
    >>> example_f1([[1, 0, 1], [0, 1, 0]], [[1, 1, 1], [0, 0, 0]])
    0.4
    """
    return example_f1_of(_counts(Y_true, labels, mask), convention)


def micro_f1(
    Y_true: Any, labels: Any, *, convention: Convention = "zhang", mask: Any = None
) -> float:
    """F1 from the counts over all rows and labels, 2 TP / (2 TP + FP + FN); 1 is best.

    All rows count, empty ones too.

    Parameters
    ----------
    Y_true, labels, mask
        As in `hamming_loss`.
    convention : "zhang", "sklearn" or "mulan"
        What the value is if no label is present and none is predicted.

    Returns
    -------
    float
        If no label is present and none is predicted: 1 for "mulan", else 0 with an
        UndefinedMetricWarning.

    Examples
    --------
    Two hits, one label too many, one missed:

    >>> micro_f1([[1, 0, 1], [0, 1, 0]], [[1, 1, 1], [0, 0, 0]])
    0.6666666666666666
    """
    return micro_f1_of(_counts(Y_true, labels, mask), convention)


def macro_f1(
    Y_true: Any, labels: Any, *, convention: Convention = "zhang", mask: Any = None
) -> float:
    """F1 of each label, 2 TP / (2 TP + FP + FN), averaged over labels; 1 is best.

    Parameters
    ----------
    Y_true, labels, mask
        As in `hamming_loss`.
    convention : "zhang", "sklearn" or "mulan"
        A label that no row has and none is predicted to have has the value 1 for "mulan", else
        0. A label of which nothing is known is left out.

    Returns
    -------
    float
        NaN, with an UndefinedMetricWarning, if nothing is known of any label.

    Examples
    --------
    >>> macro_f1([[1, 0, 1], [0, 1, 0]], [[1, 1, 1], [0, 0, 0]])
    0.6666666666666666
    """
    return macro_f1_of(_counts(Y_true, labels, mask), convention)


def hamming_loss_of(counts: Counts) -> float:
    """`hamming_loss` from counts."""
    n_cells = int(counts.known.sum())
    if n_cells == 0:
        return _undefined("hamming_loss", counts)
    wrong = counts.present + counts.predicted - 2 * counts.hits
    return int(wrong.sum()) / n_cells


def subset_accuracy_of(counts: Counts) -> float:
    """`subset_accuracy` from counts."""
    kept = counts.known > 0
    if not kept.any():
        return _undefined("subset_accuracy", counts)
    right = (counts.present == counts.hits) & (counts.predicted == counts.hits)
    return float(right[kept].mean())


def example_f1_of(counts: Counts, convention: Any) -> float:
    """`example_f1` from counts."""
    check_convention(convention)
    kept = counts.known > 0
    if not kept.any():
        return _undefined("example_f1", counts)
    marks = counts.present + counts.predicted
    return float(_f1(counts.hits, marks, convention)[kept].mean())


def micro_f1_of(counts: Counts, convention: Any) -> float:
    """`micro_f1` from counts."""
    check_convention(convention)
    # 2 TP + FP + FN is the number of present labels plus the number of predicted ones.
    hits, marks = int(counts.hits.sum()), int((counts.present + counts.predicted).sum())
    if marks == 0 and convention != "mulan":
        warn_user(
            "micro_f1 needs a present or a predicted label, but there is neither; the result is "
            "0. Evaluate on other rows or lower the threshold.",
            UndefinedMetricWarning,
        )
    return float(_f1(np.array(hits), np.array(marks), convention))


def macro_f1_of(counts: Counts, convention: Any) -> float:
    """`macro_f1` from counts."""
    check_convention(convention)
    kept = counts.label_known > 0
    if not kept.any():
        return _undefined("macro_f1", counts)
    marks = counts.label_present + counts.label_predicted
    return float(_f1(counts.label_hits, marks, convention)[kept].mean())


def _counts(Y_true: Any, labels: Any, mask: Any) -> Counts:
    truth = read_truth(Y_true, mask)
    return count(truth, check_labels(labels, truth.shape))


def _f1(hits: np.ndarray, marks: np.ndarray, convention: str) -> np.ndarray:
    nothing = 1.0 if convention == "mulan" else 0.0
    return np.where(marks > 0, 2 * hits / np.maximum(marks, 1), nothing)


def _undefined(name: str, counts: Counts) -> float:
    warn_undefined(name, KNOWN, len(counts.known))
    return float("nan")
