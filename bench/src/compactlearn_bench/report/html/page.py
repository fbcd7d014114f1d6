"""The report as one page that needs nothing else: no network, no other file, no framework."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from compactlearn.inspection.page_parts import (
    counted,
    filter_box,
    prose,
    said,
    tile,
    whole_page,
)
from compactlearn_bench.records import Results
from compactlearn_bench.report.drawing.all_charts import make_charts, rank_chart
from compactlearn_bench.report.drawing.chart import Chart
from compactlearn_bench.report.html.long_table import long_table
from compactlearn_bench.report.html.parts import (
    agreement_table,
    chooser,
    figures_block,
    legend_block,
    metric_table,
    panel,
    standing_table,
)
from compactlearn_bench.report.tables.metric_tables import CLOSE, MetricTable, make_tables
from compactlearn_bench.report.tables.names import EXPLANATIONS, HEADINGS, title
from compactlearn_bench.report.tables.published import PUBLISHED, dataset_order
from compactlearn_bench.report.tables.ranking import check_marks, standing
from compactlearn_bench.report.words.legend import legend
from compactlearn_bench.report.words.summary import (
    agreement,
    first_places,
    gaps_by_reason,
    marks_sentence,
)
from compactlearn_bench.report.words.verdict import verdict

__all__ = ["page"]


def page(found: Sequence[Results], heading: str, *, times: bool = True) -> str:
    """The whole page; the same results give the same bytes."""
    # What may be expected of new data comes first.
    found = sorted(found, key=lambda results: results.selection != "nested")
    views = [(results.selection, HEADINGS[results.selection]) for results in found]
    tables = [make_tables(results) for results in found]
    bodies = [
        panel("view", results.selection, _selection(results, own, times=times))
        for results, own in zip(found, tables, strict=True)
    ]
    return whole_page(
        heading,
        f"{_lede(found)}{said(verdict(found))}{_legend(found)}",
        chooser("view", "Selection", views, whole=False),
        "".join(bodies),
        _origin(found, any(map(_published, tables))),
    )


def _lede(found: Sequence[Results]) -> str:
    datasets = {name for results in found for name in results.datasets}
    methods = {name for results in found for name in results.methods}
    n_records = sum(results.n_records for results in found)
    more = (
        " Two ways of choosing a method's configuration are kept separate throughout; "
        "choose one below."
        if len(found) > 1
        else ""
    )
    return (
        f'<p class="lede">{counted(n_records, "record")} of {counted(len(methods), "method")} on '
        f"{counted(len(datasets), 'data set')}.{more}</p>"
    )


def _legend(found: Sequence[Results]) -> str:
    return legend_block(legend(method for results in found for method in results.methods))


def _selection(results: Results, tables: Sequence[MetricTable], *, times: bool) -> str:
    charts = make_charts(results, times=times)
    name = results.selection
    ranks, figures = _ranks(name, tables), _figures(results, charts)
    links = [
        ("tables", "Tables"),
        *([("ranks", "Ranks")] if ranks else []),
        *([("figures", "Figures")] if figures else []),
        ("cells", "All cells"),
        *([("times", "Times")] if times and any(c.kind == "time" for c in charts) else []),
        *([("gaps", "Incomplete")] if results.gaps() else []),
    ]
    jumps = " · ".join(f'<a href="#{name}-{key}">{text}</a>' for key, text in links)
    parts = [
        f"<h2>{escape(HEADINGS[name])}</h2><p>{escape(EXPLANATIONS[name])}</p>",
        f'<p class="soft">{jumps}</p>',
        _overview(results, tables, charts),
        _tables(name, tables),
        ranks,
        figures,
        _narrowing(name, tables),
        long_table(results, tables, f"{name}-all", times=times),
        _times(name, charts) if times else "",
        _gaps(results),
    ]
    return "".join(parts)


def _narrowing(name: str, tables: Sequence[MetricTable]) -> str:
    """Return the heading and the filter of the list of all cells."""
    published = _published(tables)
    more = (
        ", or <code>outside</code> for what is far from the published score. A distance counts "
        "published deviations"
        if published
        else ""
    )
    return (
        f'<h3 id="{name}-cells">All cells</h3>'
        f"<p>Words narrow the list: <code>enron cmll</code>{more}.</p>"
        f"{filter_box(f'{name}-all', 'enron cmll outside' if published else 'enron cmll')}"
    )


def _published(tables: Sequence[MetricTable]) -> bool:
    return any(entry.published for table in tables for entry in table.ordered())


def _overview(results: Results, tables: Sequence[MetricTable], charts: Sequence[Chart]) -> str:
    near, check = agreement(tables), check_marks(tables)
    places = [first_places(t) for t in tables if t.reference and not t.guests]
    first = sum(len(own) for own, _ in places)
    compared = first + sum(len(others) for _, others in places)
    agreeing = tile(
        f"{near.within}",
        f"of {near.covered}",
        f"covered published cells lie within {CLOSE:g} published deviations "
        f"({len(PUBLISHED)} were published)",
    )
    leads = tile(
        f"{first}", f"of {compared}", "times the reference, CMLL or k-CMLL, has the best mean"
    )
    marks = tile(
        f"{check.plain[0]} ● {check.plain[1]} ○",
        f"of {check.n_comparisons}",
        "comparisons in which the reference is significantly better ●, worse ○",
    )
    gaps = tile(f"{len(results.gaps())}", f"of {len(results.cells)}", "cells are incomplete")
    tiles = [
        *([agreeing] if near.covered else []),
        *([leads] if compared else []),
        *([marks] if check.n_comparisons else []),
        *([gaps] if results.gaps() else []),
    ]
    picture = [chart for chart in charts if chart.kind == "agreement"]
    table = agreement_table(tables, f"{results.selection}-agreement") if near.covered else ""
    sentence = f"<p>{prose(marks_sentence(check))}</p>" if check.n_comparisons else ""
    shown = f'<div class="tiles">{"".join(tiles)}</div>' if tiles else ""
    return f"{shown}{sentence}{table}{figures_block(picture)}"


def _tables(name: str, tables: Sequence[MetricTable]) -> str:
    metrics = list(dict.fromkeys(table.metric for table in tables))
    group = f"{name}-metric"
    explanation = (
        "Below a score is the published one, and how far ours is from it in published "
        f"deviations σ; beyond {CLOSE:g} σ, ▲ is better than published and ▼ worse. "
        if _published(tables)
        else ""
    )
    parts = [
        f'<h3 id="{name}-tables">Tables</h3>',
        f"<p>The best mean of a row is bold. {explanation}A heading sorts by its column.</p>",
        chooser(group, "Metric", [(m, title(m)) for m in metrics], whole=True),
    ]
    for metric in metrics:
        inside = []
        for place, table in enumerate(tables):
            if table.metric == metric:
                inside.append(filter_box(f"{name}-t{place}", "enron"))
                inside.append(metric_table(table, f"{name}-t{place}"))
        parts.append(panel(group, metric, *inside))
    return "".join(parts)


def _ranks(name: str, tables: Sequence[MetricTable]) -> str:
    found = [(place, table, standing(table)) for place, table in enumerate(tables)]
    known = [(place, table, one) for place, table, one in found if one is not None]
    if not known:
        return ""
    metrics = list(dict.fromkeys(table.metric for _, table, _ in known))
    group = f"{name}-rank"
    parts = [
        f'<h3 id="{name}-ranks">Ranks over the data sets</h3>',
        "<p>Rank 1 is the best on a data set; ties share the mean of their ranks. Few data sets "
        "separate few methods: look at the critical difference before the order.</p>",
        chooser(group, "Metric of the ranks", [(m, title(m)) for m in metrics], whole=True),
    ]
    for metric in metrics:
        drawn = [rank_chart(table) for table in tables if table.metric == metric]
        inside = [
            standing_table(one, f"{name}-r{place}")
            for place, table, one in known
            if table.metric == metric
        ]
        parts.append(panel(group, metric, figures_block([c for c in drawn if c]), *inside))
    return "".join(parts)


def _figures(results: Results, charts: Sequence[Chart]) -> str:
    name = results.selection
    shown = [c for c in charts if c.dataset is not None or c.kind == "size"]
    if not shown:
        return ""
    datasets = sorted({c.dataset for c in shown if c.dataset is not None}, key=dataset_order)
    group = f"{name}-figure"
    parts = [
        f'<h3 id="{name}-figures">Figures</h3>',
        "<p>Point at a mark for its values; with the keyboard, go into a figure by Tab and from "
        "mark to mark by the arrows.</p>",
        chooser(group, "Data set of the figures", [(d, d) for d in datasets], whole=True),
        *(panel(group, d, figures_block([c for c in shown if c.dataset == d])) for d in datasets),
    ]
    sizes = [c for c in shown if c.kind == "size"]
    parts += ["<h3>Model size</h3>", figures_block(sizes)] if sizes else []
    return "".join(parts)


def _times(name: str, charts: Sequence[Chart]) -> str:
    drawn = [chart for chart in charts if chart.kind == "time"]
    return f'<h3 id="{name}-times">Times</h3>{figures_block(drawn)}' if drawn else ""


def _gaps(results: Results) -> str:
    metrics = gaps_by_reason(results)
    if not metrics:
        return ""
    items = "".join(
        f"<li><b>{escape(method)}</b> on <b>{escape(dataset)}</b>"
        + (f" ({escape(', '.join(names))})" if names else "")
        + f": {escape(reason)}.</li>"
        for (dataset, method, reason), names in metrics.items()
    )
    return (
        f'<h3 id="{results.selection}-gaps">Incomplete</h3>'
        "<p>Folds that are missing or failed are never averaged over; these cells have no "
        "score.</p>"
        f'<ul class="gaps">{items}</ul>'
    )


def _origin(found: Sequence[Results], published: bool) -> str:
    """Versions, and where published scores come from if there are any."""
    versions = {
        (name, version)
        for results in found
        for name, known in results.versions.items()
        for version in known
    }
    names = sorted({name for name, _ in versions})
    listed = ", ".join(
        f"{name} {' and '.join(sorted(v for n, v in versions if n == name))}" for name in names
    )
    source = "Published scores: arXiv 2009.08607. " if published else ""
    source += "Made by compactlearn from records alone."
    return f"<p>{escape(f'Versions in the records: {listed}. ' if listed else '')}{source}</p>"
