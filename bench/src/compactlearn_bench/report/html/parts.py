"""Pieces of the page: tables, tiles, choosers, figures. Every text is escaped where it enters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from compactlearn.inspection.page_parts import (
    arrow,
    counted,
    head,
    number,
    number_cell,
    prose,
    wrapped,
)
from compactlearn_bench.records import Gap
from compactlearn_bench.records.significance import SIGNS
from compactlearn_bench.report.drawing.chart import Chart
from compactlearn_bench.report.tables.metric_tables import Entry, MetricTable
from compactlearn_bench.report.tables.names import p_value, signed, title
from compactlearn_bench.report.tables.ranking import Standing, standing
from compactlearn_bench.report.words.legend import describe
from compactlearn_bench.report.words.summary import agreement

__all__ = [
    "agreement_table",
    "chooser",
    "figures_block",
    "legend_block",
    "metric_table",
    "panel",
    "standing_table",
]


_MANY = 12  # methods in a table that still fit a printed page side by side


def chooser(name: str, heading: str, choices: Sequence[tuple[str, str]], *, whole: bool) -> str:
    """Buttons that show one panel at a time, or with `whole` all; hidden without the script."""
    if len(choices) < 2:
        return ""
    offered = [*choices, ("*", "All")] if whole else choices
    buttons = "".join(
        f'<button type="button" data-key="{escape(key)}" aria-pressed="false">'
        f"{escape(text)}</button>"
        for key, text in offered
    )
    return (
        f'<div class="chooser" id="{escape(name)}" role="group" aria-label="{escape(heading)}" '
        f"hidden>{buttons}</div>"
    )


def panel(of: str, key: str, *parts: str) -> str:
    """Return a panel that a chooser shows or hides."""
    return (
        f'<div class="panel" data-of="{escape(of)}" data-key="{escape(key)}">{"".join(parts)}</div>'
    )


def legend_block(lines: Sequence[tuple[str, str]]) -> str:
    """The methods in a line each; open where they are few."""
    if not lines:
        return ""
    inside = "".join(f"<div><dt>{escape(m)}</dt><dd>{prose(text)}</dd></div>" for m, text in lines)
    opened = " open" if len(lines) <= _MANY else ""
    return (
        f'<details class="legend" id="legend"{opened}><summary>What the methods are</summary>'
        f"<dl>{inside}</dl></details>"
    )


def metric_table(table: MetricTable, name: str) -> str:
    """Data sets down, methods across, the reference first; below each score the published one."""
    found = standing(table)
    # The first two columns stay in sight when the others are scrolled.
    methods = sorted(table.methods, key=lambda method: method != table.reference)
    heads = [head("Data set"), *(head(m, m == table.reference, describe(m)) for m in methods)]
    rows = [
        f'<tr><th scope="row">{escape(dataset)}</th>'
        + "".join(_cell(table.entries[dataset, method], table) for method in methods)
        + "</tr>"
        for dataset in table.datasets
    ]
    foot = ""
    if found is not None and len(found.datasets) > 1:
        ranks = dict(zip(found.methods, found.ranks, strict=True))
        kinds = [' class="ref"' if m == table.reference else "" for m in methods]
        texts = [f"{ranks[m]:.2f}" if m in ranks else "–" for m in methods]
        cells = "".join(f"<td{kind}>{text}</td>" for kind, text in zip(kinds, texts, strict=True))
        foot = f'<tfoot><tr><th scope="row">average rank</th>{cells}</tr></tfoot>'
    caption = (
        f'{escape(title(table.metric))} {arrow(table.metric)} <span class="soft">· '
        f"{table.family} methods, {escape(_against(table))}</span>"
    )
    region = f"{title(table.metric)}, {table.family}"
    kind = "grid many" if len(table.methods) > _MANY else "grid"
    return wrapped(name, caption, heads, rows, foot, region, table=kind)


def standing_table(found: Standing, name: str) -> str:
    """The methods by average rank, each against the reference."""
    heads = [
        head(text)
        for text in ("Method", "Average rank", "Wins – ties – losses", "p, ranks", "p, Wilcoxon")
    ]
    rows = []
    for method, rank in sorted(
        zip(found.methods, found.ranks, strict=True), key=lambda pair: pair[1]
    ):
        by_rank, by_sign, counts = found.against.get(method, (math.nan, math.nan, None))
        score = f"{counts.wins} – {counts.ties} – {counts.losses}" if counts else "–"
        rows.append(
            f'<tr><th scope="row">{escape(method)}</th><td data-v="{rank:.6f}">{rank:.2f}</td>'
            f'<td data-v="{counts.wins if counts else ""}">{score}</td>'
            f"{number_cell(by_rank, p_value(by_rank))}{number_cell(by_sign, p_value(by_sign))}"
            "</tr>"
        )
    reference = found.table.reference
    test = found.test
    friedman = (
        f"Friedman: χ² = {test.chi_squared:.2f}, p {_equals(test.p_value)}; Iman–Davenport: "
        f"F = {_two_digits(test.f_statistic)}, p {_equals(test.f_p_value)}"
        if test
        else "Too few for Friedman's test"
    )
    left = f". Left out as incomplete: {', '.join(found.left_out)}" if found.left_out else ""
    against = (
        f". Wins and p-values (Holm-adjusted) are of {reference} against each"
        if found.against
        else ""
    )
    caption = (
        f'{escape(title(found.table.metric))} {arrow(found.table.metric)} <span class="soft">· '
        f"{found.table.family} methods on {counted(len(found.datasets), 'data set')}. "
        f"{escape(friedman + against + left)}.</span>"
    )
    return wrapped(name, caption, heads, rows, "", "Ranks")


def agreement_table(tables: Sequence[MetricTable], name: str) -> str:
    """Return the table of how many published cells are near ours, metric by metric."""
    heads = [
        head(text)
        for text in ("Metric", "Covered", "Within 2 deviations", "Share", "Better, outside",
                     "Worse, outside")
    ]  # fmt: skip
    rows = []
    for metric in dict.fromkeys(table.metric for table in tables):
        near = agreement([table for table in tables if table.metric == metric])
        if not near.covered:
            continue
        ahead = sum(bool(entry.is_ahead) for entry in near.outside)
        share = 100 * near.share
        rows.append(
            f'<tr><th scope="row">{escape(title(metric))}</th>'
            f"{_count_cell(near.covered)}{_count_cell(near.within)}"
            f'<td data-v="{share:.4f}">{share:.0f} % <span class="meter" aria-hidden="true">'
            f'<i style="width:{share:.1f}%"></i></span></td>'
            f"{_count_cell(ahead)}{_count_cell(len(near.outside) - ahead)}</tr>"
        )
    return wrapped(name, "Compared with the published scores", heads, rows, "", "Agreement")


def figures_block(charts: Sequence[Chart]) -> str:
    """Figures side by side."""
    inside = "".join(
        f"<figure>{chart.svg}<figcaption>{prose(chart.caption)}</figcaption></figure>"
        for chart in charts
    )
    return f'<div class="figures">{inside}</div>' if charts else ""


def _cell(entry: Entry, table: MetricTable) -> str:
    cls = "ref" if entry.method == table.reference else ""
    known = _published(entry)
    if entry.score is None:
        if entry.cell is None:
            return f'<td data-v="" class="{cls}">–{known}</td>'
        reason = entry.cell.reason if isinstance(entry.cell, Gap) else ""
        return (
            f'<td data-v="" class="gap {cls}" title="{escape(reason)}">incomplete'
            f'<span class="hide">: {escape(reason)}</span>{known}</td>'
        )
    mean, std = number(entry.score.mean), number(entry.score.std)
    strong = f"<b>{mean}</b>" if entry.best else mean
    return (
        f'<td data-v="{entry.score.mean:.6f}" class="{cls}">{strong} '
        f'<span class="sd">±{std}</span>'
        f"{_mark(entry, table.reference)}{known}</td>"
    )


def _mark(entry: Entry, reference: str | None) -> str:
    mark = entry.comparison.mark if entry.comparison else "none"
    if mark == "none" or reference is None:
        return '<span class="mk"></span>'
    words = f"{reference} is significantly {mark}"
    return (
        f'<span class="mk" title="{escape(words)}" aria-hidden="true">{SIGNS[mark]}</span>'
        f'<span class="hide"> {escape(words)}</span>'
    )


def _published(entry: Entry) -> str:
    if entry.published is None:
        return ""
    text = number(entry.published.mean)
    if entry.distance is not None:
        text += f" {_distance(entry)}"
    return f'<span class="pub">{text}</span>'


def _distance(entry: Entry) -> str:
    text = f"{signed(entry.distance or 0)}σ"
    if entry.is_close:
        return text
    word, sign = ("ahead", "▲") if entry.is_ahead else ("behind", "▼")
    return f'<span class="far {word}">{sign} {text}</span>'


def _count_cell(count: int) -> str:
    return number_cell(count, f"{count}")


def _against(table: MetricTable) -> str:
    if table.reference is None:
        return "mean ± deviation over the folds"
    return (
        f"mean ± deviation over the folds; ● {table.reference} significantly better, ○ worse "
        "(paired t-test, 10 %)"
    )


def _two_digits(value: float) -> str:
    return "∞" if math.isinf(value) else f"{value:.2f}"


def _equals(p: float) -> str:
    text = p_value(p)
    return text.replace("<", "< ") if text.startswith("<") else f"= {text}"
