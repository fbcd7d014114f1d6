"""Every cell on a line of its own, for those who look for one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from compactlearn.inspection.page_parts import head, number, number_cell, wrapped
from compactlearn_bench.records import Gap, Results
from compactlearn_bench.records.significance import SIGNS
from compactlearn_bench.report.tables.metric_tables import Entry, MetricTable
from compactlearn_bench.report.tables.names import configuration, p_value, signed, title

__all__ = ["long_table"]

_BLANK = re.compile(r"<td[^>]*></td>")
_COLUMNS = (
    "Metric",
    "Data set",
    "Method",
    "Mean",
    "Deviation",
    "Best",
    "Reference is",
    "p",
    "Published",
    "Distance",
    "Agreement",
    "Size",
)


def long_table(results: Results, tables: Sequence[MetricTable], name: str, *, times: bool) -> str:
    """A table of all cells, with the seconds if they are wanted; empty columns are left out."""
    columns = [*_COLUMNS, *(["Seconds"] if times else []), "Configuration"]
    found = [
        _row(results, entry, times=times)
        for table in tables
        for entry in table.ordered()
        if entry.cell is not None
    ]
    kept = [k for k in range(len(columns)) if any(not _BLANK.fullmatch(row[k]) for row in found)]
    heads = [head(columns[k]) for k in kept]
    rows = [f"<tr>{''.join(row[k] for k in kept)}</tr>" for row in found]
    return wrapped(name, "All cells", heads, rows, "", "All cells", kind="wide tall", table="words")


def _row(results: Results, entry: Entry, *, times: bool) -> list[str]:
    return [
        *(
            f"<td>{escape(text)}</td>"
            for text in (title(entry.metric), entry.dataset, entry.method)
        ),
        *_score_cells(entry),
        *_published_cells(entry),
        _mean_cell(entry.score.sizes if entry.score else (), ",.0f"),
        *([_mean_cell(results.seconds.get((entry.dataset, entry.method), ()), ".3g")] * times),
        f'<td class="wrap">{escape(_remark(entry))}</td>',
    ]


def _score_cells(entry: Entry) -> list[str]:
    score, test = entry.score, entry.comparison
    if score is None:
        return [number_cell(None, "incomplete"), *[number_cell(None, "")] * 4]
    mark = test.mark if test else "none"
    return [
        number_cell(score.mean, number(score.mean)),
        number_cell(score.std, number(score.std)),
        f"<td>{'best' if entry.best else ''}</td>",
        f"<td>{SIGNS[mark]}{'' if mark == 'none' else ' ' + mark}</td>",
        number_cell(test.p_value, p_value(test.p_value)) if test else number_cell(None, ""),
    ]


def _published_cells(entry: Entry) -> list[str]:
    known, distance = entry.published, entry.distance
    if known is None:
        return [number_cell(None, ""), number_cell(None, ""), "<td></td>"]
    first = number_cell(known.mean, f"{number(known.mean)} ±{number(known.std)}")
    if distance is None:
        return [first, number_cell(None, ""), "<td></td>"]
    side = "ahead" if entry.is_ahead else "behind"
    words = "within" if entry.is_close else f"outside, {side}"
    return [first, number_cell(distance, f"{signed(distance)}σ"), f'<td class="left">{words}</td>']


def _mean_cell(values: Sequence[float], form: str) -> str:
    if not values:
        return number_cell(None, "")
    mean = sum(values) / len(values)
    return number_cell(mean, format(mean, form))


def _remark(entry: Entry) -> str:
    """The configurations of a score, or the reason of a gap."""
    if isinstance(entry.cell, Gap):
        return entry.cell.reason
    found = entry.score.configurations if entry.score else ()
    return "; ".join(dict.fromkeys(map(configuration, found)))
