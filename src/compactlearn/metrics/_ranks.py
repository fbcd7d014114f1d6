"""Ranks of the present labels among the scores of each row.

Every ranking metric can be read off the ranks of the present labels alone, and those are few. So
rows are sorted by value, not by index (which vector instructions do several times faster), and
each present label looks up its place by bisection.

The sort is in single precision. Rounding keeps the order: a < b rounds to a <= b. Where a present
label meets no equal in single precision its place is therefore exact; a row in which one does is
sorted again, in full precision and stably, which also settles who comes first among equals.

Of predictions that name only a few labels per row, sparse scores or pairs of labels and scores,
only the named labels are ranked. A row with fewer of them than asked for has empty places at its
end, and nothing is right there. The matrix of all scores is never made.
"""

from collections.abc import Iterator
from dataclasses import dataclass
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
from compactlearn.metrics._truth import Truth


@dataclass(frozen=True)
class LabelRanks:
    """Present labels of a block of rows and their ranks, 1 for the best.

    Unknown labels have no rank. One entry per present label that has a score, row by row.
    """

    truth: Truth  # of the block
    row: np.ndarray
    label: np.ndarray
    above: np.ndarray  # how many labels score higher
    upto: np.ndarray  # its worst place: how many score as high or higher, itself included
    lowest_first: np.ndarray  # its place if, of equal scores, the lowest index comes first
    highest_first: np.ndarray  # its place if the highest comes first

    def sum_by_row(self, values: np.ndarray) -> np.ndarray:
        """Return the sum of the values of each row's entries."""
        return np.bincount(self.row, weights=values, minlength=self.truth.shape[0])

    def max_by_row(self, values: np.ndarray) -> np.ndarray:
        """Return the largest value of each row's entries, 0 where it has none."""
        largest = np.zeros(self.truth.shape[0], dtype=values.dtype)
        np.maximum.at(largest, self.row, values)
        return largest

    def ordered(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the values sorted within each row, and the number of values up to each."""
        # One sort of whole numbers serves all rows: the row is the leading digit.
        base = int(values.max(initial=0)) + 1
        keys = np.sort(self.row * base + values)
        start = np.cumsum(self.truth.n_present) - self.truth.n_present
        last = np.flatnonzero(np.diff(keys, append=-1))  # of each run of equal keys
        position = np.repeat(last + 1, np.diff(last, prepend=-1)) - start[self.row]
        return keys - self.row * base, position


def ranks_of_block(truth: Truth, scores: np.ndarray) -> LabelRanks:
    """Return the ranks of rows that are few enough to be sorted at once.

    Scores that are not finite are refused here, while the block is in the cache, and not in a
    pass of their own.
    """
    row, label = truth.present.row_numbers(), truth.present.columns
    with np.errstate(over="ignore"):  # two that round to infinity are equals like any other
        rough = scores.astype(np.float32, order="C")  # a copy in any case: it is sorted in place
    if not np.isfinite(rough).all():
        check_finite(scores)
    rough = _unknown_last(truth, rough)
    value = rough[row, label]
    rough.sort(axis=1)
    below = _count(np.less, rough, row, value)
    alone = _alone(rough, row, value, below)
    upto = truth.shape[1] - below
    if alone.all():
        return LabelRanks(truth, row, label, upto - 1, upto, upto, upto)
    ranks = np.stack([upto - 1, upto, upto, upto])
    tied = np.zeros(truth.shape[0], dtype=bool)
    tied[row[~alone]] = True
    again = tied[row]
    new_row = (np.cumsum(tied) - 1)[row[again]]
    exact = _unknown_last(truth, scores)[tied]
    ranks[:, again] = _ranks_among_equals(exact, new_row, label[again])
    return LabelRanks(truth, row, label, *ranks)


def _unknown_last(truth: Truth, scores: np.ndarray) -> np.ndarray:
    """Return the scores with those of unknown labels below all others, which are finite."""
    if truth.unknown is None:
        return scores
    lowered = scores.astype(np.result_type(scores, np.float32), copy=True)
    lowered[truth.unknown.row_numbers(), truth.unknown.columns] = -np.inf
    return lowered


def _count(less: np.ufunc, ordered: np.ndarray, row: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Count the entries of the ascending row that are less than each value, or `less_equal`."""
    width = ordered.shape[1]
    before, flat = row * width - 1, ordered.ravel()
    count = np.zeros(len(row), dtype=np.int64)
    step = 1 << width.bit_length() >> 1  # largest power of two <= width
    while step:
        reached = count + step
        # Beyond the row's end its last entry is compared: it passes only if the whole row does.
        passed = less(flat[before + np.minimum(reached, width)], value)
        count = np.where(passed, reached, count)
        step >>= 1
    return np.minimum(count, width)


def _alone(
    ordered: np.ndarray, row: np.ndarray, value: np.ndarray, below: np.ndarray
) -> np.ndarray:
    """Return whether the entry after the first one equal to the value is another."""
    width = ordered.shape[1]
    following = ordered[row, np.minimum(below + 1, width - 1)]
    return (following > value) | (below + 1 == width)


def _ranks_among_equals(
    scores: np.ndarray, row: np.ndarray, label: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return above, upto, lowest_first and highest_first of some labels by a stable sort."""
    width = scores.shape[1]
    order = np.argsort(scores, axis=1, kind="stable")
    ordered = np.take_along_axis(scores, order, axis=1)
    position = np.empty_like(order)
    np.put_along_axis(position, order, np.arange(width)[None], axis=1)
    own, value = position[row, label], scores[row, label]
    below = _count(np.less, ordered, row, value)
    above = width - _count(np.less_equal, ordered, row, value)
    return above, width - below, above + 1 + (own - below), width - own


def ranked_blocks(truth: Truth, scores: Any, k: int | None = None) -> Iterator[LabelRanks]:
    """Return the ranks of blocks of rows, for all labels or for the best ``k`` of each row.

    For the best ``k``, scores may be sparse, or a pair of labels and scores, as `precision_at_k`
    takes them.
    """
    if k is not None and isinstance(scores, tuple) and len(scores) == 2:
        return _stored_ranks(truth, pairs_as_matrix(scores, truth.shape, k))
    if k is None or not sparse.issparse(scores):
        S = check_scores(scores, truth.shape)
        return (ranks_of_block(truth.rows(block), S[block]) for block in row_blocks(truth.shape))
    stored = as_matrix(scores, "scores")
    check_shape("scores", stored.shape, truth.shape)
    check_finite(stored)
    return _stored_ranks(truth, stored)


def pairs_as_matrix(pair: tuple[Any, Any], shape: tuple[int, int], k: int) -> sparse.csr_array:
    """Return the labels and scores of `predict_topk` as a sparse matrix."""
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
    outside = (labels < 0) | (labels >= n_labels)
    if labels.dtype.kind not in "iu" or outside.any():
        wrong = labels[outside][:1] if outside.any() else labels[:1, 0]
        raise ValueError(
            f"The labels of a pair (labels, scores) must be integers from 0 to {n_labels - 1}; got "
            f"{wrong.item()!r}. Pass the columns of Y_true."
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
