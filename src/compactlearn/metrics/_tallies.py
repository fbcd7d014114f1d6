"""Every metric of the table from sums over blocks of rows, wherever these are judged.

A :class:`Tally` is what one block has to say. Tallies add, and their sum says what `evaluate` says
of all rows at once: rankings are quotients of sums over rows, and label metrics need no more than
how often each combination of hits, predicted, present and known labels occurs in a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.metrics._averages import Sums
from compactlearn.metrics._checks import check_labels, check_scores, row_blocks
from compactlearn.metrics._evaluation import (
    Asked,
    Wanted,
    measures_of,
    suggested_tables,
    suggested_values,
)
from compactlearn.metrics._labels import Counts, count
from compactlearn.metrics._ranks import ranks_of_block
from compactlearn.metrics._reliability import ReliabilityTable, check_probabilities
from compactlearn.metrics._truth import read_truth

__all__ = ["Tally", "add_tallies", "judged", "tally"]

_OF_ROWS = ("hits", "predicted", "present", "known")


@dataclass(frozen=True)
class Tally:
    """Sums over some rows."""

    n_rows: int
    above: dict[str, float]  # the two sums of each metric that ranks labels
    below: dict[str, float]
    rows: NDArray[np.int64]  # (u, 4) the distinct counts of rows, in the order of _OF_ROWS
    times: NDArray[np.int64]  # (u,) how many rows have them
    by_label: NDArray[np.int64]  # (4, M) the same counts down the columns
    tables: dict[str, ReliabilityTable] | None = None  # of each metric of suggested labels


def tally(
    asked: Asked, Y: Any, scores: Any, labels: Any, mask: Any = None, probabilities: Any = None
) -> Tally:
    """Some rows: their truth, scores, decisions and probabilities.

    >>> one = tally(Asked((1,)), [[1, 0]], [[0.9, 0.2]], [[1, 0]])
    >>> both = add_tallies(one, tally(Asked((1,)), [[1, 0]], [[0.1, 0.2]], [[0, 0]]))
    >>> judged(Asked((1,)), both)["one_error"]
    0.5
    """
    truth = read_truth(Y, mask)
    S = check_scores(scores, truth.shape)
    sums = Sums(measures_of(asked.metrics()))
    for rows in row_blocks(truth.shape):
        sums.add(ranks_of_block(truth.rows(rows), S[rows]))
    counts = count(truth, check_labels(labels, truth.shape))
    of_rows = np.column_stack([getattr(counts, name) for name in _OF_ROWS])
    distinct, times = np.unique(of_rows, axis=0, return_counts=True)
    by_label = np.stack([getattr(counts, f"label_{name}") for name in _OF_ROWS])
    tables = None
    if probabilities is not None:
        P = check_probabilities(probabilities, truth.shape, allow_sparse=True)
        tables = suggested_tables(_wanted(asked, True), truth, P, labels)
    return Tally(truth.shape[0], sums.above, sums.below, distinct, times, by_label, tables)


def add_tallies(one: Tally, other: Tally) -> Tally:
    """The tally of the rows of both."""
    distinct, places = np.unique(np.vstack([one.rows, other.rows]), axis=0, return_inverse=True)
    times = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(times, places.ravel(), np.concatenate([one.times, other.times]))
    return Tally(
        one.n_rows + other.n_rows,
        {name: value + other.above[name] for name, value in one.above.items()},
        {name: value + other.below[name] for name, value in one.below.items()},
        distinct,
        times,
        one.by_label + other.by_label,
        _add_tables(one.tables, other.tables),
    )


def _add_tables(
    one: dict[str, ReliabilityTable] | None, other: dict[str, ReliabilityTable] | None
) -> dict[str, ReliabilityTable] | None:
    if one is None or other is None:
        return None
    return {name: table + other[name] for name, table in one.items()}


def _wanted(asked: Asked, probabilities: bool) -> list[Wanted]:
    return asked.metrics(probabilities=probabilities, suggested_alone=True)


def judged(asked: Asked, total: Tally) -> dict[str, float]:
    """Name to value, as `evaluate` returns them."""
    wanted = _wanted(asked, total.tables is not None)
    sums = Sums(measures_of(wanted))
    sums.above, sums.below = total.above, total.below
    ranked = sums.quotients(total.n_rows)
    counts = _counts(total)
    known = ranked | suggested_values(wanted, total.tables or {}, total.n_rows)
    return {
        name: known[name] if name in known else row.measure(counts, **given)
        for name, row, given in wanted
    }


def _counts(total: Tally) -> Counts:
    """The counts of every row again, in numbers as small as they are."""
    small = np.int16 if total.rows.max(initial=0) < 2**13 else np.int64
    rows = (np.repeat(column.astype(small), total.times) for column in total.rows.T)
    return Counts(*rows, *total.by_label)
