"""A small writer of SVG: elements, scales with round ticks, axes, markers, legends.

Colours are in the attributes of each element, so that a figure alone in a file has them; the
page's style sheet overrules them by class, and so the same figure follows a dark page.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape

__all__ = [
    "COLOURS",
    "Scale",
    "document",
    "element",
    "label",
    "legend",
    "line",
    "marker",
    "point",
    "short",
    "shortened",
    "text_width",
]

# Each has a contrast of at least 3 : 1 on white, and none is used alone: a style is also a marker.
COLOURS = (
    "#0b62a4",
    "#c8500a",
    "#00795a",
    "#a8357e",
    "#5b5f66",
    "#8a6a00",
    "#6a45b8",
    "#2a93b5",
    "#9c2f2f",
)
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_INK, _SOFT, _GRID = "#22262b", "#565c64", "#dfe2e6"
# Named ones first: renderers that know no "sans-serif" still know one of these.
_FONTS = "Inter, 'Helvetica Neue', Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"


def text_width(text: str, size: float = 11) -> float:
    """Return about how wide a text is drawn; rather more than less.

    >>> text_width("CMLL") > text_width("cmll") > text_width("cml")
    True
    """
    return size * sum(0.75 if letter.isupper() or ord(letter) > 0x2E7F else 0.58 for letter in text)


def shortened(text: str, width: float, size: float = 11) -> str:
    """Return a text that fits, cut off where it does not.

    >>> shortened("CMLL", 100), shortened("a name that is too long", 60)
    ('CMLL', 'a name t…')
    """
    if text_width(text, size) <= width:
        return text
    kept = text
    while kept and text_width(kept + "…", size) > width:
        kept = kept[:-1]
    return kept.rstrip() + "…"


def short(value: float) -> str:
    """Return a coordinate of at most two digits after the point.

    >>> short(3.14159), short(2.0), short(-0.001)
    ('3.14', '2', '0')
    """
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def element(tag: str, *children: str, **attributes: str | float | None) -> str:
    """An element; `class_` is class, an underscore inside a name a hyphen, None is left out.

    Children are markup and must be escaped already; attributes are escaped here.

    >>> element("text", "a &lt; b", x=1.5, class_="t")
    '<text x="1.5" class="t">a &lt; b</text>'
    """
    parts = [
        f' {name.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for name, value in attributes.items()
        if value is not None
    ]
    inside = "".join(children)
    return f"<{tag}{''.join(parts)}>{inside}</{tag}>" if inside else f"<{tag}{''.join(parts)}/>"


def _value(value: str | float) -> str:
    return _plain(value) if isinstance(value, str) else short(value)


def _plain(text: str) -> str:
    """Text escaped, and without the characters that XML has no way to write."""
    return escape(_UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", text))


def document(width: float, height: float, title: str, body: Sequence[str]) -> str:
    """Return a whole figure, alone in a file or inside a page."""
    return element(
        "svg",
        element("rect", width=width, height=height, fill="#ffffff", class_="bg"),
        *body,
        xmlns="http://www.w3.org/2000/svg",
        width=width,
        height=height,
        viewBox=f"0 0 {short(width)} {short(height)}",
        font_family=_FONTS,
        role="group",
        aria_label=title,
    )


def label(
    x: float,
    y: float,
    text: str,
    *,
    anchor: str = "start",
    size: float = 11,
    soft: bool = True,
    bold: bool = False,
    turn: float | None = None,
) -> str:
    """Text, escaped here."""
    return element(
        "text",
        _plain(text),
        x=x,
        y=y,
        text_anchor=None if anchor == "start" else anchor,
        font_size=size,
        font_weight="600" if bold else None,
        fill=_SOFT if soft else _INK,
        class_="soft" if soft else "ink",
        transform=None if turn is None else f"rotate({short(turn)} {short(x)} {short(y)})",
    )


def line(
    x1: float, y1: float, x2: float, y2: float, *, kind: str = "grid", width: float = 1
) -> str:
    """Return a straight line of the frame: "grid", "axis" or "ink"."""
    colour = {"grid": _GRID, "axis": _SOFT, "ink": _INK}[kind]
    return element(
        "line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=colour, stroke_width=width, class_=f"l-{kind}"
    )


def marker(x: float, y: float, style: int, size: float = 4.0) -> str:
    """One of six shapes, filled with the style's colour; 54 styles are distinct."""
    s = short
    a, b = size * 1.2, size * 0.55
    shapes = (
        f"M{s(x - size)} {s(y)}a{s(size)} {s(size)} 0 1 0 {s(2 * size)} 0"
        f"a{s(size)} {s(size)} 0 1 0 {s(-2 * size)} 0z",
        f"M{s(x - size)} {s(y - size)}h{s(2 * size)}v{s(2 * size)}h{s(-2 * size)}z",
        f"M{s(x)} {s(y - a)}L{s(x + a)} {s(y + a * 0.8)}H{s(x - a)}z",
        f"M{s(x)} {s(y - a * 1.1)}L{s(x + a * 1.1)} {s(y)}L{s(x)} {s(y + a * 1.1)}"
        f"L{s(x - a * 1.1)} {s(y)}z",
        f"M{s(x)} {s(y + a)}L{s(x + a)} {s(y - a * 0.8)}H{s(x - a)}z",
        f"M{s(x - b)} {s(y - a)}h{s(2 * b)}v{s(a - b)}h{s(a - b)}v{s(2 * b)}h{s(b - a)}v{s(a - b)}"
        f"h{s(-2 * b)}v{s(b - a)}h{s(b - a)}v{s(-2 * b)}h{s(a - b)}z",
    )
    return element(
        "path",
        # The rest shifts the shapes against the colours where their common multiple is used up.
        d=shapes[(style + style // 18) % len(shapes)],
        fill=COLOURS[style % len(COLOURS)],
        class_=f"f{style % len(COLOURS)}",
    )


def point(shape: str, tip: str) -> str:
    """Return a shape with a tooltip; the page's script finds it by its class."""
    return element("g", shape, element("title", _plain(tip)), class_="pt")


@dataclass(frozen=True)
class Scale:
    """From values to coordinates.

    >>> Scale(0, 10, 100, 200)(5)
    150.0
    >>> Scale(1, 100, 0, 10, log=True)(10)
    5.0
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """Return the coordinate of a value."""
        low, high, at = (
            (math.log10(v) for v in (self.low, self.high, value))
            if self.log
            else (self.low, self.high, value)
        )
        share = (at - low) / (high - low) if high != low else 0.5
        return self.start + share * (self.end - self.start)

    def ticks(self, count: int = 5) -> list[tuple[float, str]]:
        """Round values inside the scale, with their names."""
        if self.log:
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.log10(self.high) + 1e-9
            if last - first < 1.5:  # too few powers of ten to read a value by
                found = self._between_powers(first - 1)
                if len(found) > 2:
                    return [(v, f"{v:g}") for v in found]
                return replace(self, log=False).ticks(count)
            step = max(1, math.ceil((last - first) / (count + 3)))
            powers = range(first, math.floor(last) + 1, step)
            return [(10.0**power, _power(power)) for power in powers]
        step = _round_step((self.high - self.low) / max(count, 1))
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        digits = max(0, -math.floor(math.log10(step) + 1e-9))
        return [(k * step, f"{k * step:.{digits}f}") for k in range(first, last + 1)]

    def _between_powers(self, first: int) -> list[float]:
        """1, 2 and 5 times powers of ten inside the scale."""
        found = [k * 10.0**power for power in range(first, first + 4) for k in (1, 2, 5)]
        return [v for v in found if self.low <= v <= self.high]

    @classmethod
    def around(
        cls,
        values: Sequence[float],
        start: float,
        end: float,
        *,
        log: bool = False,
        room: float = 0.06,
    ) -> Scale:
        """Return a scale that has room for the values on both sides."""
        known = [v for v in values if math.isfinite(v) and (v > 0 or not log)] or [1.0]
        low, high = min(known), max(known)
        if log:
            wide = max(math.log10(high / low), 1.0) * room
            return cls(low / 10**wide, high * 10**wide, start, end, log=True)
        wide = (high - low) * room or abs(high) * room or 1.0
        return cls(low - wide, high + wide, start, end)


def _power(power: int) -> str:
    if -3 < power < 4:
        return f"{10.0**power:g}"
    return "10" + str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _round_step(step: float) -> float:
    """1, 2 or 5 times a power of ten."""
    if step <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(step))
    return next(power * k for k in (1, 2, 5, 10) if step <= power * k * (1 + 1e-9))


def legend(
    entries: Sequence[tuple[str, int]], x: float, y: float, width: float
) -> tuple[list[str], float]:
    """Names with their markers in rows from (x, y) on; also the height of it all."""
    parts, at_x, at_y = [], x, y
    for name, style in entries:
        name = shortened(name, width - 30)
        wide = 30 + text_width(name)
        if at_x + wide > x + width and at_x > x:
            at_x, at_y = x, at_y + 18
        parts.append(marker(at_x + 6, at_y - 4, style))
        parts.append(label(at_x + 16, at_y, name, soft=False))
        at_x += wide
    return parts, at_y - y + 18 if entries else 0.0
