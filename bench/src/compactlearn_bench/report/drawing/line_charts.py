"""Kinds of figures: lines with deviations, points against a diagonal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compactlearn_bench.report.drawing.svg import (
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
)

__all__ = ["RIGHT", "TOP", "WIDTH", "Dot", "Series", "heading", "line_chart", "scatter"]

WIDTH, LEFT, RIGHT, TOP = 520, 62, 18, 34


@dataclass(frozen=True)
class Series:
    """A line: (x, y, deviation or None, tooltip) for each point, from left to right."""

    name: str
    points: Sequence[tuple[float, float, float | None, str]]
    style: int
    heavy: bool = False
    dashed: bool = False


@dataclass(frozen=True)
class Dot:
    """One value in a row of dots or one point of a cloud, with its tooltip."""

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
    xs = Scale.around([p[0] for p in points], LEFT, WIDTH - RIGHT, log=log_x, room=0.05)
    ends = [p[1] + sign * (p[2] or 0) for p in points for sign in (-1, 1)]
    ys = Scale.around(ends, height - bottom, TOP)
    ticks = xs.ticks(6) if names is None else [(float(k), name) for k, name in enumerate(names)]
    body = [*heading(title), *_frame(xs, ys, x_title, y_title, ticks)]
    for one in sorted(series, key=lambda s: s.heavy):
        body += _line(one, xs, ys)
    # A single line needs no legend if the title says whose it is.
    named = len(series) == 1 and series[0].name in title
    entries = [] if named else [(one.name, one.style) for one in series]
    parts, extra = legend(entries, LEFT, height + 8, WIDTH - LEFT - RIGHT)
    return document(WIDTH, height + extra, title, body + parts)


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
    xs = Scale.around(values, LEFT, WIDTH - RIGHT)
    ys = Scale.around(values, height - bottom, TOP)
    body = [*heading(title), *_frame(xs, ys, x_title, y_title, xs.ticks(6))]
    body.append(line(xs(xs.low), ys(ys.low), xs(xs.high), ys(ys.high), kind="axis"))
    body += [point(marker(xs(d.x), ys(d.y), d.style, 3.2), d.tip) for d in dots]
    parts, extra = legend(styles, LEFT, height + 8, WIDTH - LEFT - RIGHT)
    return document(WIDTH, height + extra, title, body + parts)


def heading(title: str) -> list[str]:
    """Return the title of a figure, cut off where it is too long."""
    return [label(16, 20, shortened(title, WIDTH - 24, 13), size=13, soft=False, bold=True)]


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
    if len(places) > 1:
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
