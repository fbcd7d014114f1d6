"""The report as sentences: how near the published scores are, and who is first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, nan

from compactlearn.inspection.page_parts import arrow, counted, number
from compactlearn_bench.records import Results
from compactlearn_bench.records.significance import SIGNS
from compactlearn_bench.report.tables.metric_tables import CLOSE, Entry, MetricTable, make_tables
from compactlearn_bench.report.tables.names import (
    EXPLANATIONS,
    HEADINGS,
    greater_is_better,
    signed,
    title,
)
from compactlearn_bench.report.tables.published import (
    PUBLISHED,
    REFERENCES,
    dataset_order,
    published_first,
)
from compactlearn_bench.report.tables.ranking import MarkCheck, check_marks

__all__ = [
    "Agreement",
    "agreement",
    "first_places",
    "gaps_by_reason",
    "markdown_text",
    "marks_sentence",
]


_SHOWN = ("average_precision", "micro_f1")  # the page has all six


@dataclass(frozen=True)
class Agreement:
    """Number of covered published cells, and those from which ours are far."""

    covered: int
    within: int
    outside: tuple[Entry, ...]  # farthest first

    @property
    def share(self) -> float:
        """Share of the covered cells that are within the limit."""
        return self.within / self.covered if self.covered else float("nan")


def agreement(tables: Sequence[MetricTable]) -> Agreement:
    """Compare with the paper, cell by cell."""
    known = [e for table in tables for e in table.ordered() if e.is_close is not None]
    outside = sorted(
        (entry for entry in known if not entry.is_close), key=lambda e: -abs(e.distance or 0)
    )
    return Agreement(len(known), len(known) - len(outside), tuple(outside))


def first_places(table: MetricTable) -> tuple[list[str], list[tuple[str, Entry]]]:
    """Data sets on which the reference is best, and those on which another is, with that one."""
    first, other = [], []
    for dataset in table.datasets:
        own = table.entries.get((dataset, table.reference or ""))
        if own is None or own.score is None:
            continue
        if own.best:
            first.append(dataset)
        else:
            other.append((dataset, next(e for e in table.row(dataset) if e.best)))
    return first, other


def gaps_by_reason(results: Results) -> dict[tuple[str, str, str], list[str]]:
    """From (dataset, method, reason) to the metrics that have no score; empty where none has."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for gap in results.gaps():
        found.setdefault((gap.dataset, gap.method, gap.reason), []).append(title(gap.metric))
    return {
        where: [] if len(names) == len(results.metrics) else names for where, names in found.items()
    }


def marks_sentence(check: MarkCheck) -> str:
    """Return a sentence on the marks under stricter tests; there must be comparisons."""

    def both(counts: tuple[int, int]) -> str:
        return f"better in {counts[0]} and worse in {counts[1]}"

    return (
        f"Of {counted(check.n_comparisons, 'comparison')} with a reference, it is significantly "
        f"{both(check.plain)} by the paper's paired t-test at 10 %. That test takes the folds as "
        f"independent, which they are not: by the corrected resampled t-test it is "
        f"{both(check.corrected)}, and with Holm's correction for all comparisons together "
        f"{both(check.adjusted)}. In the median comparison, the paper's test would notice a true "
        f"difference of {number(check.detectable)} in four cases of five, and smaller ones less "
        "often: no mark does not mean no difference."
    )


def markdown_text(found: Sequence[Results]) -> str:
    """A page in Markdown, selection by selection."""
    lines = ["# Results", ""]
    for results in found:
        lines += _selection(results)
    return "\n".join(lines).rstrip() + "\n"


def _selection(results: Results) -> list[str]:
    tables = make_tables(results)
    near = agreement(tables)
    lines = [
        f"## {HEADINGS[results.selection]} (`{results.selection}`)",
        "",
        EXPLANATIONS[results.selection],
        "",
        f"{counted(results.n_records, 'record')}: {counted(len(results.datasets), 'data set')}, "
        f"{counted(len(results.methods), 'method')}, {counted(len(results.metrics), 'metric')}.",
        "",
    ]
    for table in tables:
        if table.metric in _SHOWN:
            lines += _means(table)
    if near.covered:
        lines += [
            "### Compared with the published scores",
            "",
            f"Of the {len(PUBLISHED)} published cells, {near.covered} are covered; "
            f"{near.within} of these ({near.share:.0%}) lie within {CLOSE:g} published standard "
            "deviations.",
            "",
            *_by_metric(tables),
            "",
            *_outside(near),
        ]
    first, check = _first(tables), check_marks(tables)
    lines += ["", "### Who is first", "", *first] if first else []
    if check.n_comparisons:
        lines += ["", "### What the marks can bear", "", marks_sentence(check)]
    lines.append("")
    return [*lines, *_by_frequency(results), *_gaps(results)]


def _means(table: MetricTable) -> list[str]:
    """Data sets down, methods across, or turned; the best bold, the paper's marks behind."""
    heading = f"### {_cell(title(table.metric))} {arrow(table.metric)}, {table.family} methods"
    marks = ""
    if table.reference is not None:
        marks = f"● {table.reference} is significantly better, ○ worse (paired t-test, 10 %)."
    columns, rows = table.printed()
    lines = [
        heading,
        "",
        f"| | {' | '.join(map(_cell, columns))} |",
        "|---" + "|--:" * len(columns) + "|",
        *(f"| {_cell(name)} | {' | '.join(map(_mean, row))} |" for name, row in rows.items()),
        "",
    ]
    return [*lines, marks, ""] if marks else lines


def _mean(entry: Entry) -> str:
    if entry.score is None:
        return "" if entry.cell is None else "–"
    text = f"{entry.score.mean:.3f}"
    mark = SIGNS[entry.comparison.mark] if entry.comparison is not None else ""
    return f"{f'**{text}**' if entry.best else text} {mark}".rstrip()


def _by_metric(tables: Sequence[MetricTable]) -> list[str]:
    lines = [
        "| metric | covered | within | better, outside | worse, outside |",
        "|---|--:|--:|--:|--:|",
    ]
    for metric in dict.fromkeys(table.metric for table in tables):
        near = agreement([table for table in tables if table.metric == metric])
        if near.covered:
            ahead = sum(bool(entry.is_ahead) for entry in near.outside)
            behind = len(near.outside) - ahead
            lines.append(
                f"| {_cell(title(metric))} | {near.covered} | {near.within} | {ahead} | {behind} |"
            )
    return lines


def _outside(near: Agreement) -> list[str]:
    if not near.outside:
        return ["None lies outside."]
    lines = [
        "Outside, the farthest first:",
        "",
        "| metric | data set | method | ours | published | distance |",
        "|---|---|---|--:|--:|--:|",
    ]
    rows = [
        f"| {_cell(title(entry.metric))} | {_cell(entry.dataset)} | {_cell(entry.method)} "
        f"| {number(entry.score.mean)} ± {number(entry.score.std)} "
        f"| {number(entry.published.mean)} ± {number(entry.published.std)} "
        f"| {signed(entry.distance or 0)} |"
        for entry in near.outside
        if entry.score and entry.published
    ]
    return lines + rows


def _first(tables: Sequence[MetricTable]) -> list[str]:
    lines = []
    for table in tables:
        if table.reference is None:
            continue
        first, other = first_places(table)
        if first or other:
            better = "highest" if greater_is_better(table.metric) else "lowest"
            own = [f"{_cell(d)}{_as_published(table, d)}" for d in first]
            others = [f"{_cell(d)} ({_cell(e.method)}){_as_published(table, d)}" for d, e in other]
            text = (
                f"- {_cell(title(table.metric))} {arrow(table.metric)}, {table.family}: "
                f"{table.reference} has the {better} mean on {len(first)} of "
                f"{len(first) + len(other)} data sets"
            )
            text += f": {', '.join(own)}" if own else ""
            lines.append(text + (f"; not on {', '.join(others)}." if others else "."))
    return lines


def _as_published(table: MetricTable, dataset: str) -> str:
    """Return the paper's best methods on a data set, in brackets, where both are comparable."""
    if not any(entry.published for entry in table.row(dataset)):
        return ""
    better = greater_is_better(table.metric)
    names = published_first(dataset, table.family, table.metric, greater=better)
    return f" [paper: {', '.join(map(_cell, names))}]" if names else ""


def _by_frequency(results: Results) -> list[str]:
    """The bands of every data set: plain ridge, the references, the shortlist, and the best."""
    metric = "label_average_precision"
    asked = ("ORI", *dict.fromkeys(REFERENCES.values()), "Shortlist")
    shown = [method for method in asked if method in results.methods]
    rows = []
    for dataset in sorted(results.datasets, key=dataset_order):
        known = {m: results.by_frequency.get((dataset, m), {}) for m in results.methods}
        for band in dict.fromkeys(band for found in known.values() for band in found):
            bands = {m: found[band] for m, found in known.items() if band in found}
            values = {m: v[metric] for m, v in bands.items() if isfinite(v.get(metric, nan))}
            if values and band != "0":  # of labels without training rows nothing can be learnt
                best = max(values, key=lambda m: values[m])
                cells = [f"{values[m]:.3f}" if m in values else "" for m in shown]
                n_labels = f"{bands[best].get('n_labels', nan):.0f}"
                cells = [_cell(dataset), _cell(band), n_labels, *cells]
                rows.append(f"| {' | '.join(cells)} | {values[best]:.3f} ({_cell(best)}) |")
    if not rows:
        return []
    return [
        "### By label frequency",
        "",
        "Average precision of the rows that a label's scores rank, mean of the labels that so many "
        "training rows have.",
        "",
        f"| data set | rows | labels | {' | '.join(map(_cell, shown))} | best |",
        "|---|---|--:" + "|--:" * len(shown) + "|---|",
        *rows,
        "",
    ]


def _gaps(results: Results) -> list[str]:
    found = gaps_by_reason(results)
    if not found:
        return []
    lines = ["### Incomplete", ""]
    for (dataset, method, reason), only in found.items():
        of = f" ({_cell(', '.join(only))})" if only else ""
        lines.append(f"- {_cell(method)} on {_cell(dataset)}{of}: {_cell(reason)}.")
    return [*lines, ""]


def _cell(text: str) -> str:
    """Text that neither breaks a table nor becomes markup."""
    plain = " ".join(text.split()).replace("&", "&amp;").replace("\\", "\\\\")
    for letter in "|<>*`[]~$":
        plain = plain.replace(letter, f"&#{ord(letter)};")
    return plain.replace("_", "\\_")
