"""All figures of a report, from results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from compactlearn.inspection.page_parts import metric_order, number
from compactlearn_bench.records import Results
from compactlearn_bench.records.ranks import indistinguishable
from compactlearn_bench.report.drawing.chart import Chart, style_of
from compactlearn_bench.report.drawing.grid_charts import (
    balance_charts,
    ratio_charts,
    surface_charts,
)
from compactlearn_bench.report.drawing.line_charts import Dot, Series, line_chart, scatter
from compactlearn_bench.report.drawing.rows_and_ranks import dot_rows, rank_line
from compactlearn_bench.report.tables.metric_tables import CLOSE, MetricTable, families, make_tables
from compactlearn_bench.report.tables.names import signed, title
from compactlearn_bench.report.tables.published import REFERENCES, dataset_order, method_order
from compactlearn_bench.report.tables.ranking import standing

__all__ = ["agreement_chart", "distance_chart", "make_charts", "rank_chart"]

#: The metric of the paper's figures.
METRIC = "average_precision"
_FARTHEST = 10.0  # deviations; a published 0.0003 would leave no room for the others


def make_charts(results: Results, *, times: bool = True, metric: str = METRIC) -> list[Chart]:
    """Return every figure that the records have results for.

    Parameters
    ----------
    results : Results
        Of one selection.
    times : bool
        False leaves out what differs from run to run.
    metric : str
        Of the figures over parameters; where the records lack it, these are left out.
    """
    tables = make_tables(results)
    charts = [agreement_chart(results, tables), distance_chart(results, tables)]
    charts += [rank_chart(table) for table in tables]
    for dataset in sorted(results.datasets, key=dataset_order):
        for make in (balance_charts, ratio_charts, surface_charts):
            charts += make(results, dataset, metric)
        charts += _frequency_charts(results, dataset)
    charts += _size_charts(results, metric)
    charts += _time_charts(results) if times else []
    return _named_apart([chart for chart in charts if chart is not None])


def agreement_chart(results: Results, tables: Sequence[MetricTable]) -> Chart | None:
    """Our means against the published ones."""
    metrics = list(dict.fromkeys(table.metric for table in tables))
    dots = [
        Dot(
            entry.published.mean,
            f"{entry.method} on {entry.dataset}, {title(entry.metric)}: ours "
            f"{number(entry.score.mean)}, published {number(entry.published.mean)}",
            metrics.index(entry.metric),
            entry.score.mean,
        )
        for table in tables
        for entry in table.ordered()
        if entry.score is not None and entry.published is not None
    ]
    if not dots:
        return None
    used = {dot.style for dot in dots}
    styles = [(title(metric), k) for k, metric in enumerate(metrics) if k in used]
    return Chart.of(
        "agreement",
        results.selection,
        None,
        (),
        "Ours against the published scores",
        "One point for each published cell that the records cover; on the line they are equal.",
        partial(scatter, dots=dots, x_title="published mean", y_title="our mean", styles=styles),
    )


def distance_chart(results: Results, tables: Sequence[MetricTable]) -> Chart | None:
    """Return the chart of distances between our means and the published ones, by metric."""
    rows: dict[str, list[Dot]] = {}
    for entry in (entry for table in tables for entry in table.ordered()):
        if entry.distance is not None:
            style = 0 if entry.is_close else (2 if entry.is_ahead else 1)
            tip = f"{entry.method} on {entry.dataset}: {signed(entry.distance)} deviations"
            shown = min(max(entry.distance, -_FARTHEST), _FARTHEST)
            rows.setdefault(title(entry.metric), []).append(Dot(shown, tip, style))
    if not rows:
        return None
    return Chart.of(
        "agreement",
        results.selection,
        None,
        ("distance",),
        "Distance from the published scores",
        f"Ours less the published mean, in published deviations; the lines are at ±{CLOSE:g}, "
        f"and what is farther than {_FARTHEST:g} is drawn there.",
        partial(
            dot_rows,
            rows=list(rows.items()),
            x_title="published deviations",
            log_x=False,
            styles=[("within", 0), ("better, outside", 2), ("worse, outside", 1)],
            guides=(-CLOSE, CLOSE),
        ),
    )


def rank_chart(table: MetricTable) -> Chart | None:
    """The critical-difference diagram of a table, if it has enough methods and data sets."""
    found = standing(table)
    if found is None or found.critical is None:
        return None
    return Chart.of(
        "ranks",
        table.selection,
        None,
        (table.family, table.metric),
        f"{title(table.metric)}: average ranks of the {table.family} methods",
        f"Over {len(found.datasets)} data sets, best on the left. A bar joins methods that "
        "Nemenyi's test at 5 % does not separate.",
        partial(
            rank_line,
            methods=found.methods,
            ranks=found.ranks,
            critical=found.critical,
            groups=indistinguishable(found.ranks, found.critical),
            reference=table.reference,
        ),
    )


def _frequency_charts(results: Results, dataset: str) -> list[Chart]:
    charts = []
    for family, methods in families(results):
        known = {m: results.by_frequency.get((dataset, m), {}) for m in methods}
        groups = list(dict.fromkeys(group for found in known.values() for group in found))
        metrics = {m for found in known.values() for values in found.values() for m in values}
        metrics.discard("n_labels")  # the size of the group, no metric
        for metric in metric_order(metrics) if len(groups) > 1 else ():
            series = [_by_group(m, found, groups, metric, results) for m, found in known.items()]
            charts.append(
                Chart.of(
                    "frequency",
                    results.selection,
                    dataset,
                    (family, metric),
                    f"{dataset}: {title(metric).lower()} by label frequency ({family})",
                    "Labels in groups by how many rows have them; means over the folds.",
                    partial(
                        line_chart,
                        series=[one for one in series if one.points],
                        x_title="labels",
                        y_title=title(metric),
                        names=groups,
                    ),
                )
            )
    return charts


def _by_group(
    method: str,
    found: Mapping[str, Mapping[str, float]],
    groups: Sequence[str],
    metric: str,
    results: Results,
) -> Series:
    points = [
        (float(k), found[g][metric], None, f"{method}, {g} labels: {number(found[g][metric])}")
        for k, g in enumerate(groups)
        if metric in found.get(g, {})
    ]
    style = style_of(method, results.methods)
    return Series(method, points, style, heavy=method in REFERENCES.values())


def _size_charts(results: Results, metric: str) -> list[Chart]:
    values = {
        (dataset, method): (
            float(sum(score.sizes)) / len(score.sizes),
            f"{sum(score.sizes) / len(score.sizes):,.0f} parameters",
        )
        for dataset in results.datasets
        for method in results.methods
        if (score := results.score(dataset, method, metric)) is not None and score.sizes
    }
    return _rows_charts(
        results,
        values,
        "size",
        "Model size",
        "number of parameters",
        f"Numbers that the model reported for {title(metric).lower()} keeps to predict, mean over "
        "the folds; a dot is a data set, the bar their median.",
    )


def _time_charts(results: Results) -> list[Chart]:
    values = {
        where: (sum(seconds) / len(seconds), f"{sum(seconds) / len(seconds):.3g} s")
        for where, seconds in results.seconds.items()
    }
    of = "all configurations" if results.selection == "paper" else "the search and the fit"
    return _rows_charts(
        results,
        values,
        "time",
        "Seconds of fitting",
        "seconds for one fold",
        f"Seconds of fitting for {of}, mean over the folds; a dot is a data set, the bar their "
        "median. They depend on the machine.",
    )


def _rows_charts(
    results: Results,
    values: dict[tuple[str, str], tuple[float, str]],
    kind: str,
    heading: str,
    axis: str,
    caption: str,
) -> list[Chart]:
    charts = []
    datasets = sorted(results.datasets, key=dataset_order)
    for family, methods in families(results):
        rows = [
            (
                method,
                [
                    Dot(values[d, method][0], f"{method} on {d}: {values[d, method][1]}", k)
                    for k, d in enumerate(datasets)
                    if (d, method) in values and values[d, method][0] > 0
                ],
            )
            for method in sorted(methods, key=method_order)
        ]
        if any(dots for _, dots in rows):
            used = {dot.style for _, dots in rows for dot in dots}
            styles = [(dataset, k) for k, dataset in enumerate(datasets) if k in used]
            charts.append(
                Chart.of(
                    kind,
                    results.selection,
                    None,
                    (family,),
                    f"{heading}, {family} methods",
                    caption,
                    partial(dot_rows, rows=rows, x_title=axis, styles=styles),
                )
            )
    return charts


def _named_apart(charts: Sequence[Chart]) -> list[Chart]:
    """Names that are made safe for files may fall together; a number keeps them apart.

    So may names that differ in capitals alone, on systems that do not see these.
    """
    seen: dict[str, int] = {}
    found = []
    for chart in charts:
        key = chart.name.casefold()
        seen[key] = seen.get(key, 0) + 1
        found.append(chart if seen[key] == 1 else replace(chart, name=f"{chart.name}--{seen[key]}"))
    return found
