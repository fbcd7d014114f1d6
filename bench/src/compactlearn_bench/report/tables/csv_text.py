"""The tables for other programs: comma-separated values."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence

from compactlearn_bench.records import Gap, Results
from compactlearn_bench.report.tables.metric_tables import Entry, MetricTable, make_tables

__all__ = ["csv_text"]

_COLUMNS = (
    "selection",
    "family",
    "metric",
    "dataset",
    "method",
    "mean",
    "std",
    "n_folds",
    "best",
    "mark",
    "p_value",
    "published_mean",
    "published_std",
    "distance",
    "configurations",
    "size",
    "incomplete",
)


def csv_text(found: Sequence[Results], *, times: bool = True) -> str:
    """One line for each cell; "mark" says if the reference is significantly better or worse."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*_COLUMNS, *(["fit_seconds"] if times else [])])
    for results in found:
        for table in make_tables(results):
            for entry in table.ordered():
                if entry.cell is not None:
                    row = _csv_row(table, entry)
                    seconds = results.seconds.get((entry.dataset, entry.method), ())
                    mean = f"{sum(seconds) / len(seconds):.6g}" if seconds else ""
                    writer.writerow([*row, *([mean] if times else [])])
    return stream.getvalue()


def _csv_row(table: MetricTable, entry: Entry) -> list[str]:
    figure, known, test = entry.figure, entry.published, entry.comparison
    sizes = figure.sizes if figure else ()
    return [
        table.selection,
        table.family,
        _plain(table.metric),
        _plain(entry.dataset),
        _plain(entry.method),
        f"{figure.mean:.6f}" if figure else "",
        f"{figure.std:.6f}" if figure and math.isfinite(figure.std) else "",
        str(len(figure.values)) if figure else "",
        str(int(entry.best)) if figure else "",
        test.mark if test and test.mark != "none" else "",
        f"{test.p_value:.4g}" if test else "",
        f"{known.mean:.4f}" if known else "",
        f"{known.std:.4f}" if known else "",
        f"{entry.distance:.2f}" if entry.distance is not None else "",
        json.dumps(list(figure.configurations), sort_keys=True) if figure else "",
        f"{sum(sizes) / len(sizes):.0f}" if sizes else "",
        _plain(entry.cell.reason) if isinstance(entry.cell, Gap) else "",
    ]


def _plain(text: str) -> str:
    """Text on one line that no spreadsheet takes for a formula: such a one is quoted.

    >>> _plain("CMLL_y"), _plain("=1+1"), _plain("-x")
    ('CMLL_y', "'=1+1", "'-x")
    """
    line = " ".join(text.split())
    return f"'{line}" if line.startswith(("=", "+", "-", "@")) else line
