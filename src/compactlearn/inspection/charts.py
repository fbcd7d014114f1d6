"""Kinds of figures: lines, heat maps, rows of dots, points against a diagonal, ranks on a line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from compactlearn.inspection.svg import (
    COLOURS,
    Scale,
    document,
    element,
    label,
    legend,
    line,
    marker,
    point,
    short,
    shortened,
    text_width,
)

__all__ = ["Dot", "Series", "dot_rows", "line_chart", "rank_line", "scatter"]

_WIDTH, _LEFT, _RIGHT, _TOP = 520, 62, 18, 34


@dataclass(frozen=True)
class Series:
    """A line: (x, y, deviation or None, what to tell) for each point, from left to right."""

    name: str
    points: Sequence[tuple[float, float, float | None, str]]
    style: int
    heavy: bool = False
    dashed: bool = False
    loose: bool = False  # points without a line between them


@dataclass(frozen=True)
class Dot:
    """One value in a row of dots or one point of a cloud, with what to tell about it."""

    x: float
    tip: str
    style: int = 0
    y: float = 0.0


def line_chart(
    title: str,
    series: Sequence[Series],
    x_title: str,
    y_title: str,
    *,
    log_x: bool = False,
    names: Sequence[str] | None = None,
) -> str:
    """Lines with markers and bars of one deviation; `names` turn x = 0, 1, ... into words."""
    height, bottom = 300, 46
    points = [p for one in series for p in one.points]
    xs = Scale.around([p[0] for p in points], _LEFT, _WIDTH - _RIGHT, log=log_x, room=0.05)
    ends = [p[1] + sign * (p[2] or 0) for p in points for sign in (-1, 1)]
    ys = Scale.around(ends, height - bottom, _TOP)
    ticks = xs.ticks(6) if names is None else [(float(k), name) for k, name in enumerate(names)]
    body = [*_title(title), *_frame(xs, ys, x_title, y_title, ticks)]
    for one in sorted(series, key=lambda s: s.heavy):
        body += _line(one, xs, ys)
    # A single line needs no legend if the title says whose it is.
    told = len(series) == 1 and series[0].name in title
    entries = [] if told else [(one.name, one.style) for one in series]
    parts, extra = legend(entries, _LEFT, height + 8, _WIDTH - _LEFT - _RIGHT)
    return document(_WIDTH, height + extra, title, body + parts)


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
    height = _TOP + step * len(rows) + bottom
    values = [*(dot.x for _, dots in rows for dot in dots), *guides]
    xs = Scale.around(values, left, _WIDTH - _RIGHT, log=log_x)
    body = _title(title)
    for value, name in xs.ticks(6):
        at = xs(value)
        body.append(line(at, _TOP, at, height - bottom))
        body.append(label(at, height - bottom + 16, name, anchor="middle"))
    body += [line(xs(v), _TOP, xs(v), height - bottom, kind="axis", width=1.5) for v in guides]
    for place, (name, dots) in enumerate(rows):
        at_y = _TOP + step * (place + 0.5)
        named = shortened(name, left - 16)
        body.append(label(left - 10, at_y + 4, named, anchor="end", soft=False))
        body.append(line(left, at_y, _WIDTH - _RIGHT, at_y))
        middle = _median([dot.x for dot in dots])
        if math.isfinite(middle):
            at = xs(middle)
            body.append(line(at, at_y - 9, at, at_y + 9, kind="ink", width=2))
        body += [point(marker(xs(dot.x), at_y, dot.style), dot.tip) for dot in dots]
    body.append(label((left + _WIDTH - _RIGHT) / 2, height - 8, x_title, anchor="middle"))
    parts, extra = legend(styles, left, height + 10, _WIDTH - left - _RIGHT)
    return document(_WIDTH, height + extra, title, body + parts)


def scatter(
    title: str,
    dots: Sequence[Dot],
    x_title: str,
    y_title: str,
    styles: Sequence[tuple[str, int]],
) -> str:
    """Points around the diagonal of equal values."""
    height, bottom = 380, 46
    values = [v for dot in dots for v in (dot.x, dot.y)]
    xs = Scale.around(values, _LEFT, _WIDTH - _RIGHT)
    ys = Scale.around(values, height - bottom, _TOP)
    body = [*_title(title), *_frame(xs, ys, x_title, y_title, xs.ticks(6))]
    body.append(line(xs(xs.low), ys(ys.low), xs(xs.high), ys(ys.high), kind="axis"))
    body += [point(marker(xs(d.x), ys(d.y), d.style, 3.2), d.tip) for d in dots]
    parts, extra = legend(styles, _LEFT, height + 8, _WIDTH - _LEFT - _RIGHT)
    return document(_WIDTH, height + extra, title, body + parts)


def rank_line(
    title: str,
    methods: Sequence[str],
    ranks: Sequence[float],
    critical: float,
    groups: Sequence[Sequence[int]],
    reference: str | None,
) -> str:
    """A critical-difference diagram: best on the left, bars join what cannot be told apart."""
    left = _room_for(methods, least=110, most=240)
    right, axis = left + 300, 84  # long names make the picture wider, not the axis shorter
    xs = Scale(1, len(methods), left, right)
    body = _title(title)
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
    """A tick for each rank, and as many numbers as have room."""
    room = xs.end - xs.start
    every = next(k for k in (1, 2, 5, 10, 20, count) if 18 * count <= room * k)
    parts = []
    for rank in range(1, count + 1):
        named = rank % every == 0
        parts.append(line(xs(rank), axis - (6 if named else 3), xs(rank), axis, kind="axis"))
        parts += [label(xs(rank), axis - 11, str(rank), anchor="middle")] if named else []
    return parts


def _title(title: str) -> list[str]:
    return [label(16, 20, shortened(title, _WIDTH - 24, 13), size=13, soft=False, bold=True)]


def _room_for(names: Sequence[str], *, least: float, most: float) -> float:
    """The margin that the names need, within bounds; what is longer still will be cut off."""
    widest = max((text_width(name) for name in names), default=0.0)
    return min(max(least, widest + 20), most)


def _frame(
    xs: Scale, ys: Scale, x_title: str, y_title: str, x_ticks: Sequence[tuple[float, str]]
) -> list[str]:
    parts = []
    for value, name in ys.ticks(5):
        parts.append(line(xs.start, ys(value), xs.end, ys(value)))
        parts.append(label(xs.start - 8, ys(value) + 4, name, anchor="end"))
    for value, name in x_ticks:
        parts.append(line(xs(value), ys.start, xs(value), ys.start + 4, kind="axis"))
        parts.append(label(xs(value), ys.start + 17, name, anchor="middle"))
    parts.append(line(xs.start, ys.start, xs.end, ys.start, kind="axis"))
    parts.append(label((xs.start + xs.end) / 2, ys.start + 37, x_title, anchor="middle"))
    parts.append(label(16, (ys.start + ys.end) / 2, y_title, anchor="middle", turn=-90))
    return parts


def _line(one: Series, xs: Scale, ys: Scale) -> list[str]:
    colour, cls = COLOURS[one.style % len(COLOURS)], f"k{one.style % len(COLOURS)}"
    places = [(xs(x), ys(y)) for x, y, _, _ in one.points]
    parts = []
    if len(places) > 1 and not one.loose:
        way = "M" + "L".join(f"{short(x)} {short(y)}" for x, y in places)
        parts.append(
            element(
                "path",
                d=way,
                fill="none",
                stroke=colour,
                stroke_width=2.6 if one.heavy else 1.5,
                stroke_dasharray="5 4" if one.dashed else None,
                stroke_linejoin="round",
                class_=cls,
            )
        )
    for (x, y), (_, value, deviation, tip) in zip(places, one.points, strict=True):
        bars = ""
        if deviation:
            top, low = ys(value + deviation), ys(value - deviation)
            way = f"M{short(x)} {short(low)}V{short(top)}M{short(x - 3)} {short(top)}h6"
            way += f"M{short(x - 3)} {short(low)}h6"
            bars = element("path", d=way, fill="none", stroke=colour, class_=cls)
        parts.append(point(bars + marker(x, y, one.style, 4.5 if one.heavy else 3.4), tip))
    return parts


def _median(values: Sequence[float]) -> float:
    known = sorted(v for v in values if math.isfinite(v))
    if not known:
        return math.nan
    half = len(known) // 2
    return known[half] if len(known) % 2 else (known[half - 1] + known[half]) / 2
