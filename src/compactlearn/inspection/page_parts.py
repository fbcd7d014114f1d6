"""Pieces of HTML that pages are made of, a whole page, and how they write metrics and numbers.

Every text is escaped where it enters. Used by the page about a model and by compactlearn-bench.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Iterable, Sequence
from html import escape
from importlib import resources

from compactlearn.metrics._table import METRICS, PAPER, get_metric, greater_is_better

__all__ = [
    "arrow",
    "counted",
    "filter_box",
    "head",
    "metric_order",
    "number",
    "number_cell",
    "prose",
    "said",
    "tile",
    "title",
    "whole_page",
    "wrapped",
]


def title(metric: str) -> str:
    """Return a metric's heading, or its name if there is no such metric.

    >>> title("precision_at_3"), title("one_error")
    ('Precision@3', 'One error')
    """
    try:
        return get_metric(metric).title
    except ValueError:
        return metric


def arrow(metric: str) -> str:
    """Return the direction of good, as the paper shows it."""
    return "↑" if greater_is_better(metric) else "↓"


def metric_order(metrics: Iterable[str]) -> list[str]:
    """Sort metrics: the paper's first, then in the order of the registry, then the rest by name."""
    known = [*PAPER, *METRICS]
    return sorted(
        metrics, key=lambda name: (known.index(name) if name in known else len(known), name)
    )


def number(value: float) -> str:
    """Return a number with four digits after the point, fewer where there are many before it.

    >>> number(0.69651), number(183.25), number(12345.6), number(float("nan"))
    ('0.6965', '183.2', '12346', '–')
    """
    if not math.isfinite(value):
        return "–"
    if abs(value) < 10:
        return f"{value:.4f}"
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"


def counted(count: int, noun: str) -> str:
    """Return a count with its noun.

    >>> counted(1, "data set"), counted(2, "method")
    ('1 data set', '2 methods')
    """
    return f"{count} {noun}{'' if count == 1 else 's'}"


def prose(text: str) -> str:
    """Return running text as HTML, in which a per cent sign stays with its number."""
    return escape(text).replace(" %", "&nbsp;%")


def said(sentences: Sequence[str]) -> str:
    """Return the block of sentences at the top of a page; nothing where there are none."""
    if not sentences:
        return ""
    return (
        '<section class="says" aria-label="What this says"><h2>What this says</h2>'
        f"<p>{prose(' '.join(sentences))}</p></section>"
    )


def tile(value: str, of: str, text: str) -> str:
    """Return a tile with a number to take away."""
    small = f" <small>{escape(of)}</small>" if of else ""
    return f'<div class="tile"><b>{escape(value)}{small}</b><span>{escape(text)}</span></div>'


def filter_box(table: str, example: str) -> str:
    """Return a field that narrows a table to rows with all its words; hidden without script."""
    return (
        f'<div class="tools" hidden><label for="{table}-filter">Filter rows</label>'
        f'<input id="{table}-filter" type="search" data-filter="{table}" '
        f'placeholder="{escape(example)}" autocomplete="off" spellcheck="false">'
        f'<output id="{table}-filter-count" for="{table}-filter" aria-live="polite"></output></div>'
    )


def wrapped(
    name: str,
    caption: str,
    heads: Sequence[str],
    rows: Sequence[str],
    foot: str,
    region: str,
    *,
    kind: str = "wide",
    table: str = "",
) -> str:
    """Return a table that scrolls inside its frame, with a cue if it does so sideways."""
    cls = f' class="{table}"' if table else ""
    return (
        '<div class="frame"><p class="cue" hidden>Scroll sideways for more columns →</p>'
        f'<div class="{kind}" tabindex="0" role="region" aria-label="{escape(region)}">'
        f'<table id="{name}"{cls} style="--columns:{len(heads)}"><caption>{caption}</caption>'
        f"<thead><tr>{''.join(heads)}</tr></thead><tbody>{''.join(rows)}</tbody>{foot}</table>"
        "</div></div>"
    )


def head(text: str, reference: bool = False, about: str | None = None) -> str:
    """Return the heading of a column, which sorts; `about` is shown when it is pointed at."""
    cls = ' class="ref"' if reference else ""
    tooltip = f' title="{escape(about)}"' if about else ""
    return (
        f'<th scope="col" aria-sort="none"{cls}{tooltip}><button type="button">{escape(text)}'
        "</button></th>"
    )


def number_cell(value: float | None, text: str, *, bar: bool = False) -> str:
    """Return a cell that is sorted by its number; without one it is empty and comes last.

    With ``bar`` a value from 0 to 1 is also drawn.
    """
    if value is None or not math.isfinite(value):
        return f'<td data-v="">{escape(text) if value is None else "–"}</td>'
    drawn = f' class="share" style="--share:{100 * value:.1f}%"' if bar else ""
    return f'<td data-v="{value:.6g}"{drawn}>{escape(text)}</td>'


def whole_page(heading: str, header: str, bar: str, main: str, footer: str) -> str:
    """One file that needs nothing else: no network, no other file, no framework.

    Parameters
    ----------
    heading : str
        The title, escaped here; all other parts are markup.
    header, bar, main, footer : str
        Below the title, in the bar that stays in sight, the content, and the last lines.
    """
    style, script = (_asset(name) for name in ("page.css", "page.js"))
    # The script is named by its digest: should any text ever slip through unescaped, no browser
    # would run it; and nothing may be fetched from anywhere.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<title>{escape(heading)}</title><link rel="icon" href="data:,">',
            f"<style>{style}</style></head><body>",
            '<a class="skip" href="#main">To the results</a>',
            f"<header><h1>{escape(heading)}</h1>{header}</header>",
            '<nav class="bar" aria-label="View"><div>',
            bar,
            '<button type="button" class="plain push" id="theme" hidden>Light or dark</button>',
            "</div></nav>",
            f'<main id="main">{main}</main>',
            f"<footer>{footer}</footer>",
            '<div id="tip" role="tooltip" hidden></div>',
            f"<script>{script}</script></body></html>\n",
        ]
    )


def _asset(name: str) -> str:
    return resources.files("compactlearn.inspection").joinpath(name).read_text("utf-8")
