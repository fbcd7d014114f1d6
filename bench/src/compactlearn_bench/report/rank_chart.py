"""The critical-difference diagram of a table, as a string of SVG."""

from __future__ import annotations

from collections.abc import Sequence

from compactlearn.inspection.charts import heading
from compactlearn.inspection.svg import (
    Scale,
    document,
    label,
    line,
    marker,
    point,
    shortened,
    text_width,
)
from compactlearn_bench.records.ranks import indistinguishable
from compactlearn_bench.report.tables.metric_tables import MetricTable
from compactlearn_bench.report.tables.names import title
from compactlearn_bench.report.tables.ranking import standing

__all__ = ["rank_chart", "rank_line"]


def rank_chart(table: MetricTable) -> tuple[str, str] | None:
    """Return the diagram of a table and its caption, if it has enough methods and data sets."""
    found = standing(table)
    if found is None or found.critical is None:
        return None
    drawn = rank_line(
        f"{title(table.metric)}: average ranks of the {table.family} methods",
        found.methods,
        found.ranks,
        found.critical,
        indistinguishable(found.ranks, found.critical),
        table.reference,
    )
    return drawn, (
        f"Over {len(found.datasets)} data sets, best on the left. A bar joins methods that "
        "Nemenyi's test at 5 % cannot tell apart."
    )


def rank_line(
    title: str,
    methods: Sequence[str],
    ranks: Sequence[float],
    critical: float,
    groups: Sequence[Sequence[int]],
    reference: str | None,
) -> str:
    """Draw the diagram: best on the left, bars join what cannot be told apart."""
    left = _room_for(methods, least=110, most=240)
    right, axis = left + 300, 84  # long names make the picture wider, not the axis shorter
    xs = Scale(1, len(methods), left, right)
    body = heading(title)
    body.append(line(left, axis, right, axis, kind="axis", width=1.5))
    body += _rank_ticks(xs, axis, len(methods))
    fits = 1 + critical <= len(methods)
    end = xs(1 + critical) if fits else right
    body.append(line(left, 50, end, 50, kind="ink", width=2))
    body += [line(x, 46, x, 54, kind="ink", width=2) for x in ((left, end) if fits else (left,))]
    more = "" if fits else ", longer than the axis"
    body.append(label(left, 42, f"critical difference {critical:.2f}{more}"))
    order = sorted(range(len(methods)), key=lambda k: (ranks[k], methods[k]))
    first = axis + 22 + 9 * len(groups)
    half = (len(order) + 1) // 2
    for place, k in enumerate(order):
        on_left = place < half
        row = place if on_left else len(order) - 1 - place
        at_y, at_x = first + 22 * row, xs(ranks[k])
        edge = left - 8 if on_left else right + 8
        stem = line(at_x, axis, at_x, at_y, kind="axis") + line(at_x, at_y, edge, at_y, kind="axis")
        side = "end" if on_left else "start"
        name = label(
            edge + (-6 if on_left else 6),
            at_y + 4,
            shortened(methods[k], left - 20),
            anchor=side,
            soft=False,
            bold=methods[k] == reference,
        )
        dot = marker(at_x, axis, 0 if methods[k] == reference else 4, 4.5)
        body += [stem, point(dot + name, f"{methods[k]}: average rank {ranks[k]:.2f}")]
    for level, group in enumerate(groups):
        ends = [xs(ranks[k]) for k in group]
        y = axis + 14 + 9 * level
        body.append(line(min(ends) - 4, y, max(ends) + 4, y, kind="ink", width=4))
    return document(right + left, first + 22 * half + 6, title, body)


def _rank_ticks(xs: Scale, axis: float, count: int) -> list[str]:
    """Draw a tick for each rank, and as many numbers as have room."""
    room = xs.end - xs.start
    every = next(k for k in (1, 2, 5, 10, 20, count) if 18 * count <= room * k)
    parts = []
    for rank in range(1, count + 1):
        named = rank % every == 0
        parts.append(line(xs(rank), axis - (6 if named else 3), xs(rank), axis, kind="axis"))
        parts += [label(xs(rank), axis - 11, str(rank), anchor="middle")] if named else []
    return parts


def _room_for(names: Sequence[str], *, least: float, most: float) -> float:
    """Return the margin that the names need, within bounds; longer ones will be cut off."""
    widest = max((text_width(name) for name in names), default=0.0)
    return min(max(least, widest + 20), most)
