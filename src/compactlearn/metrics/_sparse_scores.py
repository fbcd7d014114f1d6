"""Predictions that name only a few labels per row: sparse scores, or pairs of labels and scores.

Only the named labels are ranked. A row with fewer of them than asked for has empty places at its
end, and nothing is right there. The matrix of all scores is never made.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from compactlearn.metrics._checks import (
    Matrix,
    as_matrix,
    check_finite,
    check_scores,
    check_shape,
    row_blocks,
)
from compactlearn.metrics._label_ranks import LabelRanks, label_ranks
from compactlearn.metrics._truth import Truth

__all__ = ["pairs_as_matrix", "ranked_blocks"]


def ranked_blocks(truth: Truth, scores: Any, k: int) -> Iterator[LabelRanks]:
    """The ranks of the present labels, for scores in any of the three forms.

    Parameters
    ----------
    truth : Truth
        The labels that are present, and those that are known.
    scores : array-like or sparse matrix of shape (n_samples, n_labels), or a tuple (labels, scores)
        As `precision_at_k` takes them.
    k : int
        How many labels per row the caller looks at.
    """
    if isinstance(scores, tuple) and len(scores) == 2:
        return _stored_ranks(truth, pairs_as_matrix(scores, truth.shape, k))
    if not sparse.issparse(scores):
        return label_ranks(truth, check_scores(scores, truth.shape))
    stored = as_matrix(scores, "scores")
    check_shape("scores", stored.shape, truth.shape)
    check_finite(stored)
    return _stored_ranks(truth, stored)


def pairs_as_matrix(pair: tuple[Any, Any], shape: tuple[int, int], k: int) -> sparse.csr_array:
    """The labels and scores of `predict_topk` as a matrix that stores them and nothing else."""
    labels, scores = as_matrix(pair[0], "The labels"), as_matrix(pair[1], "The scores")
    n_rows, n_labels = shape
    if labels.shape != scores.shape or len(labels) != n_rows:
        raise ValueError(
            f"A pair (labels, scores) must hold two arrays of one shape with the {n_rows} rows of "
            f"Y_true, but they have the shapes {labels.shape} and {scores.shape}; pass what "
            "predict_topk returns for the same rows."
        )
    if labels.shape[1] < k:
        raise ValueError(
            f"k must be at most the number of labels predicted for each row, {labels.shape[1]}, "
            f"but is {k}; predict more labels or lower k."
        )
    if labels.dtype.kind not in "iu" or (labels.size and not _within(labels, n_labels)):
        raise ValueError(
            f"The labels of a pair (labels, scores) must be integers from 0 to {n_labels - 1}, "
            f"but are of type {labels.dtype}{_extremes(labels)}; pass the columns of Y_true."
        )
    check_finite(scores)
    starts = np.arange(n_rows + 1) * labels.shape[1]
    stored = sparse.csr_array((scores.ravel(), labels.ravel(), starts), shape=shape, copy=True)
    stored.sum_duplicates()
    if stored.nnz < labels.size:
        raise ValueError(
            "The labels of a pair (labels, scores) must differ within each row, but a row names "
            "one twice; pass each label once."
        )
    return stored


def _within(labels: np.ndarray, n_labels: int) -> bool:
    return bool(labels.min() >= 0 and labels.max() < n_labels)


def _extremes(labels: np.ndarray) -> str:
    return f" and run from {labels.min():g} to {labels.max():g}" if labels.size else ""


def _stored_ranks(truth: Truth, stored: Matrix) -> Iterator[LabelRanks]:
    n_rows = truth.shape[0]
    # As many rows at once as fill a block with stored cells, of the truth or of the scores.
    cells = len(truth.present.columns) + stored.nnz
    for block in row_blocks((n_rows, -(-cells // max(1, n_rows)))):
        yield _ranks_of_stored(truth.rows(block), stored[block])


def _ranks_of_stored(truth: Truth, stored: sparse.csr_array) -> LabelRanks:
    width = truth.shape[1]
    row = np.repeat(np.arange(truth.shape[0]), np.diff(stored.indptr))
    label, score = stored.indices.astype(np.int64), stored.data
    if truth.unknown is not None:
        known = ~truth.unknown.holds(row, label, width)
        row, label, score = row[known], label[known], score[known]
    # Ascending within each row, and stable: of equal scores the lowest index comes first.
    order = np.lexsort((score, row))
    label, score = label[order], score[order]
    counts = np.bincount(row, minlength=truth.shape[0])
    stop = np.cumsum(counts)[row]
    new_run = np.ones(len(row), dtype=bool)
    new_run[1:] = (row[1:] != row[:-1]) | (score[1:] != score[:-1])
    first = np.flatnonzero(new_run)
    lengths = np.diff(first, append=len(row))
    run_start, run_stop = np.repeat(first, lengths), np.repeat(first + lengths, lengths)
    place = np.arange(len(row))
    above, upto = stop - run_stop, stop - run_start
    found = truth.present.holds(row, label, width)
    ranks = above, upto, above + 1 + (place - run_start), stop - place
    return LabelRanks(truth, row[found], label[found], *(rank[found] for rank in ranks))
