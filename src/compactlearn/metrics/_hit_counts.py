"""Hits, predicted and present labels by row and by label: all that a label metric needs."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from compactlearn.metrics._checks import Matrix, row_blocks
from compactlearn.metrics._truth import Truth

__all__ = ["Counts", "count", "count_block", "merge"]


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
    return _counts(
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
    return _counts(truth, row[hit], label[hit], by_row, by_label)


def _counts(
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
