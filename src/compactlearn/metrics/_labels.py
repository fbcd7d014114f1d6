"""Metrics of predicted label sets, from counts of known cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from compactlearn.metrics._checks import Matrix, row_blocks
from compactlearn.metrics._measures import KNOWN, MARKED, Measure, Rule
from compactlearn.metrics._truth import Truth

Array = np.ndarray


@dataclass(frozen=True)
class Counts:
    """Numbers of known cells of a block of rows."""

    truth: Truth  # of the block
    hits: Array  # cells of each row that are present and predicted
    predicted: Array  # cells of each row that are predicted
    by_label: Array  # (4, n_labels) cells that are present and predicted, predicted, present, known

    @property
    def marks(self) -> Array:
        """2 TP + FP + FN of each row: its present labels plus its predicted ones."""
        return self.truth.n_present + self.predicted


def hamming_loss() -> Measure:
    return Measure(KNOWN, lambda rows: rows.marks - 2 * rows.hits, lambda rows: rows.truth.n_known)


def subset_accuracy() -> Measure:
    return Measure(KNOWN, lambda rows: rows.marks == 2 * rows.hits)


def example_f1() -> Measure:
    return Measure(KNOWN, lambda rows: _f1(rows.hits, rows.marks))


def micro_f1() -> Measure:
    return Measure(MARKED, lambda rows: 2 * rows.hits, lambda rows: rows.marks, undefined=0.0)


class MacroF1:
    """Mean F1 of the labels with a known cell."""

    rule: Rule = KNOWN
    undefined: float = float("nan")

    def sums(self, block: Counts) -> Array:
        """Return the counts of each label."""
        return block.by_label

    def value(self, sums: Array) -> float:
        """Return the mean."""
        hits, predicted, present, known = sums
        return float(_f1(hits, present + predicted)[known > 0].mean())


def _f1(hits: Array, marks: Array) -> Array:
    return np.where(marks > 0, 2 * hits / np.maximum(marks, 1), 0.0)


def count(truth: Truth, labels: Matrix) -> Iterator[Counts]:
    """Return the counts of a checked matrix of 0 and 1, by blocks of rows."""
    if not sparse.issparse(labels):
        for rows in row_blocks(truth.shape):
            yield count_block(truth.rows(rows), labels[rows] != 0)
        return
    row = np.repeat(np.arange(truth.shape[0]), np.diff(labels.indptr))
    marked = labels.data != 0
    row, label = row[marked], labels.indices[marked].astype(np.int64)
    width = truth.shape[1]
    if truth.unknown is not None:
        known = ~truth.unknown.holds(row, label, width)
        row, label = row[known], label[known]
    hit = truth.present.holds(row, label, width)
    by_row = np.bincount(row, minlength=truth.shape[0])
    yield _counts(truth, row[hit], label[hit], by_row, np.bincount(label, minlength=width))


def count_block(truth: Truth, predicted: Array) -> Counts:
    """Return the counts of a few rows; `predicted` is Boolean and is changed at unknown cells."""
    if truth.unknown is not None:
        predicted[truth.unknown.row_numbers(), truth.unknown.columns] = False
    row, label = truth.present.row_numbers(), truth.present.columns
    hit = predicted[row, label]
    by_label = predicted.sum(axis=0, dtype=np.int64)
    return _counts(truth, row[hit], label[hit], predicted.sum(axis=1), by_label)


def _counts(truth: Truth, row: Array, label: Array, by_row: Array, by_label: Array) -> Counts:
    """Return the counts from the cells that are hits and the numbers of predicted cells."""
    n_rows, width = truth.shape
    known = np.full(width, n_rows)
    if truth.unknown is not None:
        known -= np.bincount(truth.unknown.columns, minlength=width)
    hits = np.bincount(label, minlength=width)
    present = np.bincount(truth.present.columns, minlength=width)
    of_labels = np.stack([hits, by_label, present, known])
    return Counts(truth, np.bincount(row, minlength=n_rows), by_row, of_labels)
