"""Tables and pages made of records; nothing here runs a method."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from compactlearn_bench.records import Record, Results, Selection, aggregate
from compactlearn_bench.report.html.page import page
from compactlearn_bench.report.tables.csv_text import csv_text
from compactlearn_bench.report.tables.metric_tables import Entry, MetricTable, make_tables
from compactlearn_bench.report.words.summary import markdown_text

__all__ = [
    "Entry",
    "MetricTable",
    "collect",
    "make_tables",
    "render_html",
    "summary_markdown",
    "to_csv",
]


def collect(
    records: Iterable[Record], selections: Sequence[Selection] | None = None
) -> list[Results]:
    """Return the results of each selection that the records hold, each by itself.

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
    """Return one HTML file that works without a network.

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
    """Return every cell on a line; the parameters are those of `render_html`."""
    return csv_text(collect(records, selections), times=times)


def summary_markdown(
    records: Iterable[Record], *, selections: Sequence[Selection] | None = None
) -> str:
    """Return the findings in words and a few tables; the parameters are those of `render_html`."""
    return markdown_text(collect(records, selections))
