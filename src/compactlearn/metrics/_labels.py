"""Metrics of predicted label sets.

Cells whose truth is unknown are not counted; rows of which nothing is known neither.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import UndefinedMetricWarning

from compactlearn.core._warn import warn_user
from compactlearn.metrics._averages import KNOWN, warn_undefined
from compactlearn.metrics._checks import Matrix, check_labels, row_blocks
from compactlearn.metrics._truth import Truth, read_truth

__all__ = [
    "Counts",
    "count",
    "count_block",
    "example_f1",
    "example_f1_of",
    "hamming_loss",
    "hamming_loss_of",
    "macro_f1",
    "macro_f1_of",
    "merge",
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


def example_f1(Y_true: Any, labels: Any, *, mask: Any = None) -> float:
    """F1 of each row, 2 TP / (2 TP + FP + FN), averaged over rows; 1 is best.

    A row without labels for which none is predicted has the value 0.

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
    >>> example_f1([[1, 0, 1], [0, 1, 0]], [[1, 1, 1], [0, 0, 0]])
    0.4
    """
    return example_f1_of(_counts(Y_true, labels, mask))


def micro_f1(Y_true: Any, labels: Any, *, mask: Any = None) -> float:
    """F1 from the counts over all rows and labels, 2 TP / (2 TP + FP + FN); 1 is best.

    All rows count, empty ones too.

    Parameters
    ----------
    Y_true, labels, mask
        As in `hamming_loss`.


    Returns
    -------
    float
        0, with an UndefinedMetricWarning, if no label is present and none is predicted.

    Examples
    --------
    Two hits, one label too many, one missed:

    >>> micro_f1([[1, 0, 1], [0, 1, 0]], [[1, 1, 1], [0, 0, 0]])
    0.6666666666666666
    """
    return micro_f1_of(_counts(Y_true, labels, mask))


def macro_f1(Y_true: Any, labels: Any, *, mask: Any = None) -> float:
    """F1 of each label, 2 TP / (2 TP + FP + FN), averaged over labels; 1 is best.

    A label that no row has and none is predicted to have has the value 0; one of which nothing is
    known is left out.

    Parameters
    ----------
    Y_true, labels, mask
        As in `hamming_loss`.


    Returns
    -------
    float
        NaN, with an UndefinedMetricWarning, if nothing is known of any label.

    Examples
    --------
    >>> macro_f1([[1, 0, 1], [0, 1, 0]], [[1, 1, 1], [0, 0, 0]])
    0.6666666666666666
    """
    return macro_f1_of(_counts(Y_true, labels, mask))


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


def example_f1_of(counts: Counts) -> float:
    """`example_f1` from counts."""
    kept = counts.known > 0
    if not kept.any():
        return _undefined("example_f1", counts)
    marks = counts.present + counts.predicted
    return float(_f1(counts.hits, marks)[kept].mean())


def micro_f1_of(counts: Counts) -> float:
    """`micro_f1` from counts."""
    # 2 TP + FP + FN is the number of present labels plus the number of predicted ones.
    hits, marks = int(counts.hits.sum()), int((counts.present + counts.predicted).sum())
    if marks == 0:
        warn_user(
            "micro_f1 needs a present or a predicted label, but there is neither; the result is "
            "0. Evaluate on other rows or lower the threshold.",
            UndefinedMetricWarning,
        )
    return float(_f1(np.array(hits), np.array(marks)))


def macro_f1_of(counts: Counts) -> float:
    """`macro_f1` from counts."""
    kept = counts.label_known > 0
    if not kept.any():
        return _undefined("macro_f1", counts)
    marks = counts.label_present + counts.label_predicted
    return float(_f1(counts.label_hits, marks)[kept].mean())


def _counts(Y_true: Any, labels: Any, mask: Any) -> Counts:
    truth = read_truth(Y_true, mask)
    return count(truth, check_labels(labels, truth.shape))


def _f1(hits: np.ndarray, marks: np.ndarray) -> np.ndarray:
    return np.where(marks > 0, 2 * hits / np.maximum(marks, 1), 0.0)


def _undefined(name: str, counts: Counts) -> float:
    warn_undefined(name, KNOWN, len(counts.known))
    return float("nan")


@dataclass(frozen=True)
class Counts:
    """Numbers of known cells, along the rows and down the columns.

    Parameters
    ----------
    hits, predicted, present, known : ndarray of int, shape (n_samples,)
        Cells of each row that are present and predicted, predicted, present, known at all.
    label_hits, label_predicted, label_present, label_known : ndarray of int, shape (n_labels,)
        The same of each label.
    """

    hits: np.ndarray
    predicted: np.ndarray
    present: np.ndarray
    known: np.ndarray
    label_hits: np.ndarray
    label_predicted: np.ndarray
    label_present: np.ndarray
    label_known: np.ndarray


def count(truth: Truth, labels: Matrix) -> Counts:
    """The counts of a matrix of 0 and 1."""
    if sparse.issparse(labels):
        row = np.repeat(np.arange(truth.shape[0]), np.diff(labels.indptr))
        marked = labels.data != 0
        return _count_cells(truth, row[marked], labels.indices[marked].astype(np.int64))
    blocks = row_blocks(truth.shape)
    return merge((count_block(truth.rows(rows), labels[rows] != 0) for rows in blocks), truth)


def count_block(truth: Truth, predicted: np.ndarray) -> Counts:
    """The counts of a few rows; `predicted` is boolean and is changed at unknown cells."""
    if truth.unknown is not None:
        predicted[truth.unknown.row_numbers(), truth.unknown.columns] = False
    row, label = truth.present.row_numbers(), truth.present.columns
    hit = predicted[row, label]
    return _with_known(
        truth, row[hit], label[hit], predicted.sum(axis=1), predicted.sum(axis=0, dtype=np.int64)
    )


def merge(blocks: Iterable[Counts], truth: Truth) -> Counts:
    """The counts of all rows from those of consecutive blocks."""
    none = np.empty(0, dtype=np.int64)
    nothing = Counts(*(none,) * 4, *(np.zeros(truth.shape[1], dtype=np.int64),) * 4)
    parts = [nothing, *blocks]
    by_row = ("hits", "predicted", "present", "known")
    rows = (np.concatenate([getattr(part, name) for part in parts]) for name in by_row)
    labels = (sum(getattr(part, f"label_{name}") for part in parts) for name in by_row)
    return Counts(*rows, *labels)


def _count_cells(truth: Truth, row: np.ndarray, label: np.ndarray) -> Counts:
    """The counts where the predicted cells are listed."""
    n_rows, width = truth.shape
    if truth.unknown is not None:
        known = ~truth.unknown.holds(row, label, width)
        row, label = row[known], label[known]
    hit = truth.present.holds(row, label, width)
    by_row, by_label = np.bincount(row, minlength=n_rows), np.bincount(label, minlength=width)
    return _with_known(truth, row[hit], label[hit], by_row, by_label)


def _with_known(
    truth: Truth, row: np.ndarray, label: np.ndarray, by_row: np.ndarray, by_label: np.ndarray
) -> Counts:
    """From the cells that are hits and the numbers of predicted cells."""
    n_rows, width = truth.shape
    known = np.full(width, n_rows)
    if truth.unknown is not None:
        known -= np.bincount(truth.unknown.columns, minlength=width)
    return Counts(
        np.bincount(row, minlength=n_rows),
        by_row,
        truth.n_present,
        truth.n_known,
        np.bincount(label, minlength=width),
        by_label,
        np.bincount(truth.present.columns, minlength=width),
        known,
    )
