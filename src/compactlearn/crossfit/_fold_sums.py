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

# Rows that judge are brought here: all of them up to so many bytes, and beyond that as many of each
# fold as make so many in all, drawn by a fixed seed; of sparse rows so many.
JUDGING_BYTES = 1 << 28
FEWEST_JUDGES, MOST_SPARSE_JUDGES = 2_000, 20_000

# Matrices of the moments' order that are held at once, beside one for each fold.
HELD_BESIDE = 5


@dataclass(frozen=True, eq=False)
class SummedFolds:
    """What a search needs of rows in a stream: sums to learn from, and rows that judge."""

    training: tuple[Moments, ...]  # of each split
    total: Moments  # of all rows
    rows: Rows  # that judge
    held_out: list[NDArray[np.intp]]  # positions of each split's among these


def sum_folds(source: RowSource, n_rows: int, splits: Sequence[Split]) -> SummedFolds:
    """Return sums of all training parts and the rows that judge, from one pass.

    Validation parts must be disjoint, and each training part all the other rows.
    """
    order, n_splits = source.n_features + source.n_labels, len(splits)
    require_memory(
        8 * (n_splits + HELD_BESIDE) * order**2,
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
    """The rows of each validation part that judge, in their order."""
    room = MOST_SPARSE_JUDGES
    if not source.is_sparse:
        room = max(FEWEST_JUDGES, JUDGING_BYTES // (8 * source.n_features * len(splits)))
    rng = np.random.default_rng(0)
    return [
        np.sort(test if len(test) <= room else rng.choice(test, room, replace=False))
        for _, test in splits
    ]


@dataclass(frozen=True, eq=False)
class _Found:
    """Sums of some folds, and rows of them that judge."""

    sums: dict[int, Moments]
    rows: tuple[Rows, ...]


@dataclass(frozen=True, eq=False)
class _FoldMoments:
    """What is asked of blocks. Both arrays have an entry for each row: three bytes in all."""

    held: NDArray[np.int16]
    judges: NDArray[np.bool_]

    def of_block(self, block: Block) -> _Found:
        """The share of one block."""
        places = np.arange(block.start, block.start + block.n_rows)
        folds = self.held[places]
        every = Rows(block.X, block.Y, block.weights, places)
        sums = {
            int(fold): _moments(every.take(np.flatnonzero(folds == fold)))
            for fold in np.unique(folds)
        }
        return _Found(sums, (every.take(np.flatnonzero(self.judges[places])),))

    def both(self, one: _Found, other: _Found) -> _Found:
        """The share of two."""
        sums = dict(one.sums)
        for fold, part in other.sums.items():
            sums[fold] = sums[fold] + part if fold in sums else part
        return _Found(sums, one.rows + other.rows)


def _moments(rows: Rows) -> Moments:
    return Moments.from_arrays(working_form(rows.X), rows.Y, rows.weights)
