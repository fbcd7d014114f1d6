"""Tables and pages made of records; nothing here runs a method."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from compactlearn_bench.records import Record, Results, Selection, aggregate
from compactlearn_bench.report.drawing.all_charts import make_charts
from compactlearn_bench.report.drawing.chart import Chart
from compactlearn_bench.report.drawing.raster import png_bytes
from compactlearn_bench.report.html.page import page
from compactlearn_bench.report.tables.csv_latex import csv_text, latex_text
from compactlearn_bench.report.tables.metric_tables import Entry, MetricTable, make_tables
from compactlearn_bench.report.words.summary import markdown_text

__all__ = [
    "Chart",
    "Entry",
    "MetricTable",
    "collect",
    "make_charts",
    "make_tables",
    "render_html",
    "summary_markdown",
    "to_csv",
    "to_latex",
    "to_png",
    "to_svg",
]


def collect(
    records: Iterable[Record], selections: Sequence[Selection] | None = None
) -> list[Results]:
    """Results of each selection that the records hold, each by itself.

    Parameters
    ----------
    records : iterable of Record
        What was run, in any order.
    selections : sequence of "paper" and "nested", optional
        Only these; by default all.
    """
    known = list(records)
    wanted: Sequence[Selection] = ("paper", "nested") if selections is None else selections
    found = [aggregate(known, selection) for selection in wanted]
    return [results for results in found if results.n_records]


def render_html(
    records: Iterable[Record],
    *,
    selections: Sequence[Selection] | None = None,
    times: bool = True,
    heading: str = "Multi-label benchmark",
) -> str:
    """One HTML file that works without a network.

    Parameters
    ----------
    records : iterable of Record
        What was run, in any order.
    selections : sequence of "paper" and "nested", optional
        Only these; by default all, each in a view of its own.
    times : bool
        False leaves out seconds, which are all that differs between two runs of the same cells.
    heading : str
        The title of the page.
    """
    return page(collect(records, selections), heading, times=times)


def to_csv(
    records: Iterable[Record], *, selections: Sequence[Selection] | None = None, times: bool = True
) -> str:
    """Every cell on a line.

    Parameters
    ----------
    records, selections, times :
        As in `render_html`.
    """
    return csv_text(collect(records, selections), times=times)


def to_latex(records: Iterable[Record], *, selections: Sequence[Selection] | None = None) -> str:
    """Tables in the paper's form.

    Parameters
    ----------
    records, selections :
        As in `render_html`.
    """
    return latex_text(collect(records, selections))


def summary_markdown(
    records: Iterable[Record], *, selections: Sequence[Selection] | None = None
) -> str:
    """Return the findings as sentences and a few tables.

    Parameters
    ----------
    records, selections :
        As in `render_html`.
    """
    return markdown_text(collect(records, selections))


def to_svg(
    records: Iterable[Record], *, selections: Sequence[Selection] | None = None, times: bool = True
) -> dict[str, str]:
    """Every figure as SVG, by a name that may be a file's.

    Parameters
    ----------
    records, selections, times :
        As in `render_html`.
    """
    charts = [
        chart
        for results in collect(records, selections)
        for chart in make_charts(results, times=times)
    ]
    return {chart.name: chart.svg for chart in charts}


def to_png(
    records: Iterable[Record], *, selections: Sequence[Selection] | None = None, times: bool = True
) -> dict[str, bytes]:
    """Every figure as PNG; needs the extra "report".

    Parameters
    ----------
    records, selections, times :
        As in `render_html`.
    """
    drawn = to_svg(records, selections=selections, times=times)
    return {name: png_bytes(svg) for name, svg in drawn.items()}
