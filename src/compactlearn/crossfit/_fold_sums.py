"""Moments of the folds of rows in a stream, by one pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compactlearn.core._memory import require_memory
from compactlearn.crossfit._folds import NOWHERE, Folds, Split
from compactlearn.crossfit._held_out_rows import joined
from compactlearn.linalg._arrays import working_form
from compactlearn.linalg._moments import Moments, without_each
from compactlearn.linalg._row_source import Block, Rows, RowSource

Array = NDArray[np.float64]

# Validation rows are loaded into memory: all of them up to this number of bytes. Beyond that, as
# many of each fold as fit are drawn with a fixed seed; of sparse rows a fixed number.
JUDGING_BYTES = 1 << 28
FEWEST_JUDGES, MOST_SPARSE_JUDGES = 2_000, 20_000

# Matrices of the moments' order in memory at once, in addition to one for each fold.
EXTRA_MATRICES = 5


@dataclass(frozen=True, eq=False)
class SummedFolds:
    """Moments of each training part of a stream of rows, and its validation rows."""

    training: tuple[Moments, ...]  # of each split
    total: Moments  # of all rows
    rows: Rows  # validation rows of all splits
    held_out: list[NDArray[np.intp]]  # positions of each split's validation rows among these


def sum_folds(source: RowSource, n_rows: int, splits: Sequence[Split]) -> SummedFolds:
    """Return the moments of all training parts and the validation rows, from one pass.

    Validation parts must be disjoint, and each training part all the other rows.
    """
    order, n_splits = source.n_features + source.n_labels, len(splits)
    require_memory(
        8 * (n_splits + EXTRA_MATRICES) * order**2,
        what=f"A search over {n_splits} folds of {order} columns of features and labels",
        remedy="Use fewer folds or columns.",
    )
    folds = Folds.of_splits(splits, n_rows)
    if folds is None:
        raise ValueError(
            "Folds of rows on Dask are summed in one pass, so that no row may be in the validation "
            "part of two splits, and every training part must be all the other rows; cv is not "
            "like that. Pass a number of folds, or KFold."
        )
    chosen = _judging(splits, source)
    judges = np.zeros(n_rows, dtype=bool)
    judges[np.concatenate(chosen)] = True
    ask = _FoldMoments(folds.number.astype(np.int16), judges)
    found = source.total(ask.of_block, ask.both, what="folds")
    rows = joined(found.rows)
    numbers = [*range(n_splits), NOWHERE]
    parts = [found.sums[number] for number in numbers if number in found.sums]
    training = tuple(without_each(parts))[:n_splits] if len(parts) > 1 else ()
    places = [np.searchsorted(rows.positions, own) for own in chosen]
    return SummedFolds(training, sum(parts[1:], parts[0]), rows, places)


def _judging(splits: Sequence[Split], source: RowSource) -> list[NDArray[np.intp]]:
    """Return the rows of each validation part that are loaded, in their order."""
    room = MOST_SPARSE_JUDGES
    if not source.is_sparse:
        room = max(FEWEST_JUDGES, JUDGING_BYTES // (8 * source.n_features * len(splits)))
    rng = np.random.default_rng(0)
    return [
        np.sort(test if len(test) <= room else rng.choice(test, room, replace=False))
        for _, test in splits
    ]


@dataclass(frozen=True, eq=False)
class _FoldCodes:
    """Moments of some folds, and some of their validation rows."""

    sums: dict[int, Moments]
    rows: tuple[Rows, ...]


@dataclass(frozen=True, eq=False)
class _FoldMoments:
    """Moments of the folds of a block, summed over blocks.

    Both arrays have an entry for each row: three bytes in all.
    """

    number: NDArray[np.int16]  # of the fold that each row is in
    judges: NDArray[np.bool_]  # whether the row is loaded for validation

    def of_block(self, block: Block) -> _FoldCodes:
        """Return the moments and the validation rows of one block."""
        places = np.arange(block.start, block.start + block.n_rows)
        folds = self.number[places]
        every = Rows(block.X, block.Y, block.weights, places)
        sums = {
            int(fold): _moments(every.take(np.flatnonzero(folds == fold)))
            for fold in np.unique(folds)
        }
        return _FoldCodes(sums, (every.take(np.flatnonzero(self.judges[places])),))

    def both(self, one: _FoldCodes, other: _FoldCodes) -> _FoldCodes:
        """Return the moments and the validation rows of two parts together."""
        sums = dict(one.sums)
        for fold, part in other.sums.items():
            sums[fold] = sums[fold] + part if fold in sums else part
        return _FoldCodes(sums, one.rows + other.rows)


def _moments(rows: Rows) -> Moments:
    return Moments.from_arrays(working_form(rows.X), rows.Y, rows.weights)
