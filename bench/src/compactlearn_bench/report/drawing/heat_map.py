"""A heat map: a table of numbers whose colours can be read from afar."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from compactlearn.inspection.page_parts import number
from compactlearn_bench.report.drawing.svg import document, element, label, point, shortened

__all__ = ["heat_map"]

_WIDTH, _LEFT, _RIGHT, _TOP = 520, 62, 18, 34
# From dark blue to yellow: its lightness alone shows the order, whatever colours the eye sees.
_HEAT = ("#00224e", "#213b6e", "#4c556c", "#6c6e72", "#8b8779", "#aca175", "#cfbc66", "#fee838")


def heat_map(
    title: str,
    xs: Sequence[float],
    ys: Sequence[float],
    values: Sequence[Sequence[float]],
    x_title: str,
    y_title: str,
    *,
    greater_is_better: bool = True,
) -> str:
    """`values[i][j]` at ys[i] (upwards) and xs[j]; the best has a frame and a star."""
    known = [v for row in values for v in row if math.isfinite(v)] or [0.0]
    low, high = min(known), max(known)
    best = high if greater_is_better else low
    left, top, bottom, bar = _LEFT, _TOP, 46, 46
    wide = (_WIDTH - left - _RIGHT - bar) / len(xs)
    tall = min(wide * 0.7, 30.0)
    height = top + tall * len(ys) + bottom
    heading = shortened(title, _WIDTH - 24, 13)
    body = [label(16, 20, heading, size=13, soft=False, bold=True)]
    frame = ""
    for i, y in enumerate(ys):
        at_y = top + tall * (len(ys) - 1 - i)
        body.append(label(left - 8, at_y + tall / 2 + 4, f"{y:g}", anchor="end"))
        for j, x in enumerate(xs):
            value = values[i][j]
            if not math.isfinite(value):
                continue
            at_x = left + wide * j
            share = (value - low) / (high - low) if high > low else 0.5
            body.append(_tile(at_x, at_y, wide, tall, share, value, (x_title, x, y_title, y)))
            if value == best and not frame:
                frame = _star(at_x, at_y, wide, tall, share)
    body.append(frame)
    for j, x in enumerate(xs):
        body.append(label(left + wide * (j + 0.5), height - bottom + 16, f"{x:g}", anchor="middle"))
    middle = left + wide * len(xs) / 2
    body.append(label(middle, height - 8, x_title, anchor="middle"))
    middle = top + tall * len(ys) / 2
    body.append(label(16, middle, y_title, anchor="middle", turn=-90))
    body += _heat_bar(_WIDTH - _RIGHT - bar + 12, top, tall * len(ys), low, high)
    return document(_WIDTH, height, title, body)


def _tile(
    x: float,
    y: float,
    wide: float,
    tall: float,
    share: float,
    value: float,
    where: tuple[str, float, str, float],
) -> str:
    x_title, at_x, y_title, at_y = where
    box = element("rect", x=x, y=y, width=wide - 1, height=tall - 1, rx=2, fill=_heat(share))
    text = element(
        "text",
        f"{value:.3f}".removeprefix("0"),
        x=x + wide / 2,
        y=y + tall / 2 + 4,
        text_anchor="middle",
        font_size=10,
        fill=_ink(share),
    )
    inside = box + text if wide >= 24 else box  # a narrow tile has no room for its number
    return point(inside, f"{x_title} {at_x:g}, {y_title} {at_y:g}: {number(value)}")


def _star(x: float, y: float, wide: float, tall: float, share: float) -> str:
    edge = "#d1105a"
    box = element(
        "rect",
        x=x,
        y=y,
        width=wide - 1,
        height=tall - 1,
        rx=2,
        fill="none",
        stroke=edge,
        stroke_width=2.5,
        pointer_events="none",
    )
    star = element(
        "text", "★", x=x + 3, y=y + 10, font_size=8, fill=_ink(share), pointer_events="none"
    )
    return box + star


def _heat_bar(x: float, y: float, tall: float, low: float, high: float) -> list[str]:
    steps = 24
    parts = [
        element(
            "rect",
            x=x,
            y=y + tall * (1 - (k + 1) / steps),
            width=10,
            height=tall / steps + 0.5,
            fill=_heat((k + 0.5) / steps),
        )
        for k in range(steps)
    ]
    parts.append(label(x + 13, y + 8, f"{high:.2f}", size=10))
    parts.append(label(x + 13, y + tall, f"{low:.2f}", size=10))
    return parts


def _heat(share: float) -> str:
    at = min(max(share, 0.0), 1.0) * (len(_HEAT) - 1)
    k = min(int(at), len(_HEAT) - 2)
    first, second = list(pairwise(_HEAT))[k]
    mixed = [
        round(int(first[c : c + 2], 16) * (1 - at + k) + int(second[c : c + 2], 16) * (at - k))
        for c in (1, 3, 5)
    ]
    return "#" + "".join(f"{value:02x}" for value in mixed)


def _ink(share: float) -> str:
    """Black or white, whichever can be read better on the colour."""
    colour = _heat(share)
    red, green, blue = (
        ((int(colour[c : c + 2], 16) / 255 + 0.055) / 1.055) ** 2.4 for c in (1, 3, 5)
    )
    return "#111111" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 else "#ffffff"
