"""Tables as data: which score is best, how it compares, how far it lies from the published one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compactlearn.inspection.page_parts import metric_order
from compactlearn_bench.records import Gap, Results, Score, Selection
from compactlearn_bench.records.significance import Comparison, paired_t_test
from compactlearn_bench.report.tables.names import greater_is_better
from compactlearn_bench.report.tables.published import (
    REFERENCES,
    Family,
    Published,
    dataset_order,
    family_of,
    has_its_rows,
    method_order,
    published,
)

__all__ = ["CLOSE", "Entry", "MetricTable", "families", "make_tables", "settled"]

#: In published deviations: what is at most so far away counts as the same.
CLOSE = 2.0


@dataclass(frozen=True)
class Entry:
    """A score and all that is said about it.

    Parameters
    ----------
    cell : Score, Gap or None
        None: nobody asked for it.
    best : bool
        No other method of the table has a better mean on this data set.
    comparison : Comparison or None
        The reference against this method; None for the reference itself.
    published : Published or None
    """

    dataset: str
    method: str
    metric: str
    cell: Score | Gap | None
    best: bool
    comparison: Comparison | None
    published: Published | None

    @property
    def score(self) -> Score | None:
        """The score, if there is one."""
        return self.cell if isinstance(self.cell, Score) else None

    @property
    def distance(self) -> float | None:
        """Ours less the published mean, in published deviations; None where one is lacking."""
        if self.score is None or self.published is None or self.published.std == 0:
            return None
        return (self.score.mean - self.published.mean) / self.published.std

    @property
    def is_close(self) -> bool | None:
        """Whether ours is within `CLOSE` of the published score; None if that cannot be said."""
        return None if self.distance is None else abs(self.distance) <= CLOSE

    @property
    def is_ahead(self) -> bool | None:
        """Whether ours is better than the published score."""
        if self.distance is None:
            return None
        return self.distance > 0 if greater_is_better(self.metric) else self.distance < 0


@dataclass(frozen=True)
class MetricTable:
    """Data sets down, methods across, for one selection, one metric and one family.

    Parameters
    ----------
    guests : tuple of str
        Methods that have a table of their own as well, and are here for comparison only.
    """

    selection: Selection
    family: Family
    metric: str
    reference: str | None
    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    entries: Mapping[tuple[str, str], Entry]
    guests: tuple[str, ...] = ()

    def printed(self) -> tuple[tuple[str, ...], dict[str, list[Entry]]]:
        """Columns and named rows for paper: the methods go down where they are many."""
        if self.family in ("linear", "kernel"):
            return self.methods, {dataset: self.row(dataset) for dataset in self.datasets}
        rows = {m: [self.entries[d, m] for d in self.datasets] for m in self.methods}
        return self.datasets, rows

    def row(self, dataset: str) -> list[Entry]:
        """The entries of a data set, in the order of the methods.

        Parameters
        ----------
        dataset : str
            Its name.
        """
        return [self.entries[dataset, method] for method in self.methods]

    def ordered(self) -> list[Entry]:
        """All entries but those of guests, row by row: every cell is in one table only."""
        return [
            entry
            for dataset in self.datasets
            for entry in self.row(dataset)
            if entry.method not in self.guests
        ]


def settled(mean: float) -> float:
    """A mean by which methods may be ranked: six digits.

    A record keeps seven of each fold. Three errors in thirty rows of one fold are as many as one
    in each of three folds, but 0.1 is not 0.03333333 three times: the rest is no difference.

    >>> settled(0.09999999 / 5) == settled(0.1 / 5)
    True
    """
    return float(f"{mean:.6g}")


def families(results: Results) -> list[tuple[Family, list[str]]]:
    """The methods of each of the tables that have any, with the reference."""
    found: list[tuple[Family, list[str]]] = []
    for family, reference in REFERENCES.items():
        methods = {m for m in results.methods if family_of(m) == family}
        if methods:
            methods |= {reference} & set(results.methods)
            found.append((family, sorted(methods, key=method_order)))
    return found


def make_tables(results: Results) -> list[MetricTable]:
    """Metric by metric: linear, kernel, related, other methods; empty tables are left out.

    Parameters
    ----------
    results : Results
        Of one selection.
    """
    found = [
        _table(results, family, methods, metric)
        for metric in metric_order(results.metrics)
        for family, methods in families(results)
    ]
    return [table for table in found if table.datasets]


def _table(results: Results, family: Family, methods: Sequence[str], metric: str) -> MetricTable:
    datasets = [
        dataset
        for dataset in sorted(results.datasets, key=dataset_order)
        if any(
            results.cell(dataset, method, metric) is not None
            for method in methods
            if family_of(method) == family
        )
    ]
    reference = REFERENCES[family] if REFERENCES[family] in methods else None
    entries = {}
    for dataset in datasets:
        found = [results.cell(dataset, method, metric) for method in methods]
        against = results.score(dataset, reference, metric) if reference else None
        best = _best([settled(cell.mean) for cell in found if isinstance(cell, Score)], metric)
        # Published scores were chosen on the test folds, of all rows that the paper had: nothing
        # else is comparable.
        comparable = results.selection == "paper" and has_its_rows(dataset, results.rows[dataset])
        for method, cell in zip(methods, found, strict=True):
            entries[dataset, method] = Entry(
                dataset,
                method,
                metric,
                cell,
                isinstance(cell, Score) and settled(cell.mean) == best,
                None if method == reference else _compare(against, cell, metric),
                published(dataset, method, metric) if comparable else None,
            )
    return MetricTable(
        results.selection,
        family,
        metric,
        reference,
        tuple(datasets),
        tuple(methods),
        entries,
        tuple(method for method in methods if family_of(method) != family),
    )


def _best(means: Sequence[float], metric: str) -> float:
    if not means:
        return math.nan
    return max(means) if greater_is_better(metric) else min(means)


def _compare(reference: Score | None, cell: Score | Gap | None, metric: str) -> Comparison | None:
    if reference is None or not isinstance(cell, Score) or len(cell.values) < 2:
        return None
    return paired_t_test(reference.values, cell.values, greater_is_better=greater_is_better(metric))
