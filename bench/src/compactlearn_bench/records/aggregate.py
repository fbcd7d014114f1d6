"""From the records of single folds to one score for each data set, method and metric.

A `Results` knows one selection. "paper" and "nested" answer different questions, so there is no
function here that would take both: ask `aggregate` twice.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from compactlearn.metrics import METRICS, greater_is_better
from compactlearn_bench.records.grouping import grouped, incomplete
from compactlearn_bench.records.record import SELECTIONS, Record, Selection
from compactlearn_bench.records.significance import mean_and_std

__all__ = ["LOSSES", "Gap", "Grid", "Results", "Score", "aggregate"]

#: Metrics of which less is better; of all others, more is.
LOSSES = frozenset(name for name, metric in METRICS.items() if not metric.greater_is_better)


@dataclass(frozen=True)
class Score:
    """Scores of the folds in one cell of a table.

    Parameters
    ----------
    values : tuple of float
        One for each fold, in their order.
    configurations : tuple of mappings
        For "paper" the one that is reported, for "nested" that of each fold.
    sizes : tuple of int
        Number of parameters of the model of each fold; empty where not recorded.
    """

    selection: Selection
    dataset: str
    method: str
    metric: str
    values: tuple[float, ...]
    configurations: tuple[Mapping[str, Any], ...]
    sizes: tuple[int, ...] = ()

    @property
    def mean(self) -> float:
        """Over the folds."""
        return mean_and_std(self.values)[0]

    @property
    def std(self) -> float:
        """Over the folds, with n - 1; NaN of a single fold."""
        return mean_and_std(self.values)[1]


@dataclass(frozen=True)
class Gap:
    """A cell that has no score, and why."""

    selection: Selection
    dataset: str
    method: str
    metric: str
    reason: str


@dataclass(frozen=True, eq=False)  # holds arrays
class Grid:
    """Every configuration that all folds of a method know.

    Parameters
    ----------
    values : ndarray of shape (n_folds, n_configurations, n_metrics)
    details : mapping from name to ndarray of shape (n_folds, n_configurations)
        Lists among the records' details that have one number for each configuration.
    """

    metrics: tuple[str, ...]
    configurations: tuple[Mapping[str, Any], ...]
    values: NDArray[np.float64]
    sizes: NDArray[np.int64]  # (n_folds, n_configurations), or (n_folds, 0) where not recorded
    details: Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True, eq=False)  # holds arrays
class Results:
    """All scores of one selection; what is incomplete is a `Gap` and never an average.

    Parameters
    ----------
    selection : "paper" or "nested"
    datasets, methods, metrics : tuple of str
        In the order of the alphabet.
    cells : mapping from (selection, dataset, method, metric) to Score or Gap
    grids : mapping from (dataset, method) to Grid
    seconds : mapping from (dataset, method) to the seconds of fitting in each fold
    by_frequency : mapping from (dataset, method) to group to metric to value
        Means over the folds.
    n_folds : mapping from dataset to int
    rows : mapping from dataset to int or None
        How many rows were drawn; None is all.
    versions : mapping from package to the versions seen
    n_records : int
    """

    selection: Selection
    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    metrics: tuple[str, ...]
    cells: Mapping[tuple[str, str, str, str], Score | Gap]
    grids: Mapping[tuple[str, str], Grid]
    seconds: Mapping[tuple[str, str], tuple[float, ...]]
    by_frequency: Mapping[tuple[str, str], Mapping[str, Mapping[str, float]]]
    n_folds: Mapping[str, int]
    rows: Mapping[str, int | None]
    versions: Mapping[str, tuple[str, ...]]
    n_records: int

    def cell(self, dataset: str, method: str, metric: str) -> Score | Gap | None:
        """Return a score, a gap with its reason, or None if it was not asked for.

        Parameters
        ----------
        dataset, method, metric : str
            Their names, as the records have them.
        """
        return self.cells.get((self.selection, dataset, method, metric))

    def score(self, dataset: str, method: str, metric: str) -> Score | None:
        """Return a score, or None.

        Parameters
        ----------
        dataset, method, metric : str
            Their names, as the records have them.
        """
        found = self.cell(dataset, method, metric)
        return found if isinstance(found, Score) else None

    def scores(self) -> list[Score]:
        """Return all scores."""
        return [cell for cell in self.cells.values() if isinstance(cell, Score)]

    def gaps(self) -> list[Gap]:
        """All that are missing."""
        return [cell for cell in self.cells.values() if isinstance(cell, Gap)]


def aggregate(
    records: Iterable[Record], selection: Selection, *, losses: Collection[str] | None = None
) -> Results:
    """Join the folds of one selection; records of the other are left aside.

    Parameters
    ----------
    records : iterable of Record
        Of any number of runs; their order does not matter.
    selection : "paper" or "nested"
        "paper": for each metric the configuration with the best mean over all folds, among those
        that every fold tried. "nested": the one configuration of each fold.
    losses : collection of str, optional
        Metrics of which less is better; by default as `compactlearn.metrics.METRICS` says.

    Raises
    ------
    ValueError
        If the records hold two different questions under one name (other settings, rows or seed
        for the same data set and method), two answers to one question, or methods that met
        different folds of a data set: none of these can be compared in a table.
    """
    if selection not in SELECTIONS:
        raise ValueError(
            f"A selection must be {' or '.join(map(repr, SELECTIONS))}; got {selection!r}. They "
            "are never joined: ask for one at a time."
        )
    groups = grouped(records, selection)
    metrics = _metrics(groups.values())
    if losses is None:
        losses = [metric for metric in metrics if not greater_is_better(metric)]
    cells: dict[tuple[str, str, str, str], Score | Gap] = {}
    grids, seconds, by_frequency = {}, {}, {}
    for (dataset, method), group in groups.items():
        trouble = incomplete(group)
        if trouble is None:
            grids[dataset, method] = _grid(group)
            seconds[dataset, method] = _seconds(group)
            by_frequency[dataset, method] = _mean_by_frequency(group)
        for metric in metrics:
            where = (selection, dataset, method, metric)
            cells[where] = (
                _score(group, grids[dataset, method], metric, metric in losses)
                if trouble is None
                else Gap(*where, trouble)
            )
    used = [record for group in groups.values() for record in group]
    return Results(
        selection,
        tuple(sorted({dataset for dataset, _ in groups})),
        tuple(sorted({method for _, method in groups})),
        tuple(metrics),
        cells,
        grids,
        {where: found for where, found in seconds.items() if found},
        {where: found for where, found in by_frequency.items() if found},
        {dataset: group[0].cell.n_folds for (dataset, _), group in groups.items()},
        {dataset: group[0].cell.rows for (dataset, _), group in groups.items()},
        _versions(used),
        len(used),
    )


def _metrics(groups: Iterable[Sequence[Record]]) -> list[str]:
    """All that were recorded; where nothing was, those that were asked for.

    Cells that failed have recorded none, and are to be named all the same.
    """
    records = [record for group in groups for record in group]
    recorded = {name for record in records for name in record.metrics}
    wanted = [record.cell.settings.get("metrics") for record in records]
    asked = {str(name) for names in wanted if isinstance(names, list | tuple) for name in names}
    return sorted(recorded or asked or ({"every metric"} if records else set()))


def _grid(group: Sequence[Record]) -> Grid:
    """Return the configurations that all folds have in common, aligned."""
    metrics = [name for name in group[0].metrics if all(name in r.metrics for r in group)]
    places = _common_places(group)
    values = [
        record.values[np.ix_(rows, [list(record.metrics).index(name) for name in metrics])]
        for record, rows in zip(group, places, strict=True)
    ]
    sized = all(record.sizes for record in group)
    sizes = [
        [r.sizes[k] for k in rows] if sized else [] for r, rows in zip(group, places, strict=True)
    ]
    return Grid(
        tuple(metrics),
        tuple(group[0].configurations[k] for k in places[0]),
        np.array(values),
        np.array(sizes, dtype=np.int64),
        _aligned_details(group, places),
    )


def _common_places(group: Sequence[Record]) -> list[list[int]]:
    """For each fold, where the configurations lie that all folds know, in the first one's order.

    A nested fold has one configuration, chosen for it, and it stands for the others' as it is.
    """
    first = list(group[0].configurations)
    nested = group[0].cell.selection == "nested"
    if nested or all(list(record.configurations) == first for record in group):
        fewest = min(len(record.configurations) for record in group)
        return [list(range(min(fewest, 1) if nested else fewest)) for _ in group]
    by_content = [
        {json.dumps(c, sort_keys=True): k for k, c in enumerate(record.configurations)}
        for record in group
    ]
    common = [key for key in by_content[0] if all(key in known for known in by_content)]
    return [[known[key] for key in common] for known in by_content]


def _aligned_details(
    group: Sequence[Record], places: Sequence[Sequence[int]]
) -> dict[str, NDArray[np.float64]]:
    def aligned(record: Record, name: str) -> bool:
        value = record.details.get(name)
        return isinstance(value, list | tuple) and len(value) == len(record.configurations) > 0

    found = {}
    for name in group[0].details:
        if all(aligned(record, name) for record in group):
            rows = [
                [record.details[name][k] for k in chosen]
                for record, chosen in zip(group, places, strict=True)
            ]
            if all(value is None or _fits_a_float(value) for row in rows for value in row):
                found[name] = np.array(rows, dtype=np.float64)
    return found


def _score(group: Sequence[Record], grid: Grid, metric: str, loss: bool) -> Score | Gap:
    cell = group[0].cell
    where = (cell.selection, cell.dataset, cell.method, metric)
    if metric not in grid.metrics:
        return Gap(*where, "not every fold has recorded this metric")
    if not grid.configurations:
        return Gap(*where, "the folds have no configuration in common")
    values = grid.values[:, :, grid.metrics.index(metric)]
    defined = np.isfinite(values).all(axis=0)
    if not defined.any():
        return Gap(*where, "the metric is not defined on every fold")
    means = np.where(defined, values.mean(axis=0), np.inf if loss else -np.inf)
    best = int(means.argmin() if loss else means.argmax())
    chosen = (
        (grid.configurations[best],)
        if cell.selection == "paper"
        else tuple(record.configurations[0] for record in group)
    )
    sizes = tuple(grid.sizes[:, best].tolist()) if grid.sizes.size else ()
    return Score(*where, tuple(values[:, best].tolist()), chosen, sizes)


def _seconds(group: Sequence[Record]) -> tuple[float, ...]:
    parts = [record.circumstances.get("seconds") for record in group]
    found = [part.get("fit") if isinstance(part, Mapping) else None for part in parts]
    # Nobody waits so long or measures so finely; without the bounds a chart's axis would burst.
    known = tuple(round(float(v), 12) for v in found if _is_number(v) and abs(v) < 1e12)
    return known if len(known) == len(group) else ()


def _mean_by_frequency(group: Sequence[Record]) -> dict[str, dict[str, float]]:
    found = [record.details.get("by_frequency") for record in group]
    if not all(isinstance(part, Mapping) for part in found):
        return {}
    parts = [part for part in found if isinstance(part, Mapping)]
    means: dict[str, dict[str, float]] = {}
    for name, of_first in parts[0].items():
        for metric in of_first if isinstance(of_first, Mapping) else ():
            bands = [part.get(name) for part in parts]
            values = [band.get(metric) if isinstance(band, Mapping) else None for band in bands]
            numbers = [value for value in values if _is_number(value)]
            if len(numbers) == len(values):
                means.setdefault(str(name), {})[str(metric)] = float(np.mean(numbers))
    return means


def _is_number(value: object) -> TypeGuard[float]:
    return _fits_a_float(value) and math.isfinite(value)


def _fits_a_float(value: object) -> TypeGuard[float]:
    """Whether it is a number, and no integer that is too large for what is done with numbers."""
    if isinstance(value, int):
        return abs(value) <= sys.float_info.max
    return isinstance(value, float)


def _versions(records: Sequence[Record]) -> dict[str, tuple[str, ...]]:
    pairs = {
        (name, str(version)) for record in records for name, version in record.versions.items()
    }
    names = sorted({name for name, _ in pairs})
    return {name: tuple(sorted(v for n, v in pairs if n == name)) for name in names}
