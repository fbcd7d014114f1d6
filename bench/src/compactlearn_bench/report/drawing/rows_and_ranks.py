"""Rows of dots, and ranks on a line."""

from __future__ import annotations

import math
from collections.abc import Sequence

from compactlearn_bench.report.drawing.line_charts import RIGHT, TOP, WIDTH, Dot, heading
from compactlearn_bench.report.drawing.svg import (
    Scale,
    document,
    label,
    legend,
    line,
    marker,
    point,
    shortened,
    text_width,
)

__all__ = ["dot_rows", "rank_line"]


def dot_rows(
    title: str,
    rows: Sequence[tuple[str, Sequence[Dot]]],
    x_title: str,
    *,
    log_x: bool = True,
    styles: Sequence[tuple[str, int]] = (),
    guides: Sequence[float] = (),
) -> str:
    """A row for each name with its dots, and a bar at their median; guides cross all rows."""
    bottom, step = 46, 24
    left = _room_for([name for name, _ in rows], least=118, most=220)
    height = TOP + step * len(rows) + bottom
    values = [*(dot.x for _, dots in rows for dot in dots), *guides]
    xs = Scale.around(values, left, WIDTH - RIGHT, log=log_x)
    body = heading(title)
    for value, name in xs.ticks(6):
        at = xs(value)
        body.append(line(at, TOP, at, height - bottom))
        body.append(label(at, height - bottom + 16, name, anchor="middle"))
    body += [line(xs(v), TOP, xs(v), height - bottom, kind="axis", width=1.5) for v in guides]
    for place, (name, dots) in enumerate(rows):
        at_y = TOP + step * (place + 0.5)
        named = shortened(name, left - 16)
        body.append(label(left - 10, at_y + 4, named, anchor="end", soft=False))
        body.append(line(left, at_y, WIDTH - RIGHT, at_y))
        middle = _median([dot.x for dot in dots])
        if math.isfinite(middle):
            at = xs(middle)
            body.append(line(at, at_y - 9, at, at_y + 9, kind="ink", width=2))
        body += [point(marker(xs(dot.x), at_y, dot.style), dot.tip) for dot in dots]
    body.append(label((left + WIDTH - RIGHT) / 2, height - 8, x_title, anchor="middle"))
    parts, extra = legend(styles, left, height + 10, WIDTH - left - RIGHT)
    return document(WIDTH, height + extra, title, body + parts)


def rank_line(
    title: str,
    methods: Sequence[str],
    ranks: Sequence[float],
    critical: float,
    groups: Sequence[Sequence[int]],
    reference: str | None,
) -> str:
    """Draw a critical-difference diagram; bars join methods that do not differ significantly."""
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
    """Draw a tick for each rank, with labels where there is room."""
    room = xs.end - xs.start
    every = next(k for k in (1, 2, 5, 10, 20, count) if 18 * count <= room * k)
    parts = []
    for rank in range(1, count + 1):
        named = rank % every == 0
        parts.append(line(xs(rank), axis - (6 if named else 3), xs(rank), axis, kind="axis"))
        parts += [label(xs(rank), axis - 11, str(rank), anchor="middle")] if named else []
    return parts


def _room_for(names: Sequence[str], *, least: float, most: float) -> float:
    """The margin that the names need, within bounds; what is longer still will be cut off."""
    widest = max((text_width(name) for name in names), default=0.0)
    return min(max(least, widest + 20), most)


def _median(values: Sequence[float]) -> float:
    known = sorted(v for v in values if math.isfinite(v))
    if not known:
        return math.nan
    half = len(known) // 2
    return known[half] if len(known) % 2 else (known[half - 1] + known[half]) / 2
