"""The tables for other programs: comma-separated values and LaTeX."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence

from compactlearn.inspection.page_parts import arrow, number
from compactlearn_bench.records import Gap, Results
from compactlearn_bench.records.significance import SIGNS
from compactlearn_bench.report.tables.metric_tables import Entry, MetricTable, make_tables
from compactlearn_bench.report.tables.names import HEADINGS, title

__all__ = ["csv_text", "latex_text"]

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
    score, known, test = entry.score, entry.published, entry.comparison
    sizes = score.sizes if score else ()
    return [
        table.selection,
        table.family,
        _plain(table.metric),
        _plain(entry.dataset),
        _plain(entry.method),
        f"{score.mean:.6f}" if score else "",
        f"{score.std:.6f}" if score and math.isfinite(score.std) else "",
        str(len(score.values)) if score else "",
        str(int(entry.best)) if score else "",
        test.mark if test and test.mark != "none" else "",
        f"{test.p_value:.4g}" if test else "",
        f"{known.mean:.4f}" if known else "",
        f"{known.std:.4f}" if known else "",
        f"{entry.distance:.2f}" if entry.distance is not None else "",
        json.dumps(list(score.configurations), sort_keys=True) if score else "",
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


def latex_text(found: Sequence[Results]) -> str:
    """A table for each metric and family, in the paper's form; needs the package booktabs."""
    parts = ["% Made by compactlearn from records. Needs \\usepackage{booktabs}."]
    for results in found:
        parts.append(f"% {results.selection}: {HEADINGS[results.selection]}")
        parts += [_latex_table(table) for table in make_tables(results)]
    return "\n".join(parts) + "\n"


def _latex_table(table: MetricTable) -> str:
    heading = f"{_tex(title(table.metric))} ${_ARROWS[arrow(table.metric)]}$"
    columns, rows = table.printed()
    lines = [
        "\\begin{table}",
        f"\\caption{{{heading}, {table.family} methods; {_tex(HEADINGS[table.selection])}."
        f"{_marks(table)}}}",
        f"\\begin{{tabular}}{{l{'c' * len(columns)}}}",
        "\\toprule",
        " & ".join(["", *map(_tex, columns)]) + r" \\",
        "\\midrule",
    ]
    for name, row in rows.items():
        lines.append(" & ".join([_tex(name), *map(_latex_cell, row)]) + r" \\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", "\\end{table}"])


def _marks(table: MetricTable) -> str:
    if table.reference is None:
        return ""
    return (
        f" $\\bullet$: {_tex(table.reference)} is significantly better, $\\circ$: worse "
        "(paired $t$-test, 10\\,\\%)."
    )


def _latex_cell(entry: Entry) -> str:
    if entry.score is None:
        return "--" if entry.cell is None else "incomplete"
    text = f"{number(entry.score.mean)}$\\pm${number(entry.score.std)}"
    sign = SIGNS[entry.comparison.mark] if entry.comparison else ""
    return (f"\\textbf{{{text}}}" if entry.best else text) + _MARKS[sign]


_ARROWS = {"↑": "\\uparrow", "↓": "\\downarrow"}
_MARKS = {"●": "$\\bullet$", "○": "$\\circ$", "": ""}
_TEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    **{letter: "\\" + letter for letter in "&%$#_{}"},
}


def _tex(text: str) -> str:
    """Text in which TeX finds no command.

    >>> print(_tex("CMLL_y & 5 %"))
    CMLL\\_y \\& 5 \\%
    """
    return "".join(_TEX.get(letter, letter) for letter in " ".join(text.split()))
