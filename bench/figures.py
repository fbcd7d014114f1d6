"""Draw the figure of the README from the records in this folder.

    python bench/figures.py                  # writes docs/figures/size.svg
    python bench/figures.py --check          # status 1 where figure and records differ

Shown is what a bound on its size costs `AutoCompactClassifier`: its average precision as a share of
that of tuned ridge, against its number of parameters as a share of ridge's. One line for each data
set.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from compactlearn_bench.records import Record, aggregate, open_records
from compactlearn_bench.report.drawing.svg import (
    COLOURS,
    Scale,
    document,
    element,
    label,
    line,
    marker,
    point,
    short,
)

ROOT = Path(__file__).resolve().parents[1]
FIGURE = ROOT / "docs" / "figures" / "size.svg"
RECORDS = ROOT / "bench" / "auto" / "records.jsonl.xz"
WIDTH, HEIGHT = 640, 340
LEFT, RIGHT, TOP, BOTTOM = 64, 500, 24, 284
APART = 14  # between names at the ends of lines
# Inside an image a page's style is not known; the reader's scheme is.
STYLE = (
    "@media (prefers-color-scheme: dark) {"
    ".bg{fill:#0d1117}.ink{fill:#e6edf3}.soft{fill:#a5adb8}.l-grid{stroke:#2b3138}"
    ".l-axis{stroke:#a5adb8}.l-ink{stroke:#e6edf3}.curve{filter:brightness(1.6)}}"
)


@dataclass(frozen=True)
class Curve:
    """Scores of models of some sizes on a data set; smallest first, in shares of ridge."""

    dataset: str
    sizes: tuple[float, ...]
    scores: tuple[float, ...]


def curves(records: Iterable[Record]) -> list[Curve]:
    """One for each data set with ridge and with bounded models, by what the smallest reaches."""
    records = list(records)
    found = aggregate(records, "nested")
    ridge, bounded = _methods(records)
    drawn = []
    for dataset in found.datasets:
        whole = _first(found.score(dataset, name, "average_precision") for name in sorted(ridge))
        scores = [found.score(dataset, name, "average_precision") for name in sorted(bounded)]
        known = [score for score in scores if score is not None]
        if whole is not None and known:
            n_parameters = np.mean(whole.sizes)
            pairs = sorted(
                (np.mean(one.sizes) / n_parameters, one.mean / whole.mean) for one in known
            )
            sizes, scores = zip(*pairs, strict=True)
            drawn.append(Curve(dataset, tuple(map(float, sizes)), tuple(map(float, scores))))
    return sorted(drawn, key=lambda curve: -curve.scores[0])


def _methods(records: Sequence[Record]) -> tuple[set[str], set[str]]:
    """Return the names of ridge, and of Auto under bounds, in the records."""
    entries = {
        record.cell.method: (
            record.cell.settings.get("entry", record.cell.method),
            record.cell.settings.get("size_budget"),
        )
        for record in records
    }
    ridge = {name for name, (entry, _) in entries.items() if entry == "ORI"}
    bounded = {
        name for name, (entry, size) in entries.items() if entry == "Auto" and size is not None
    }
    return ridge, bounded


def _first(found: Iterable[Any]) -> Any:
    return next((one for one in found if one is not None), None)


def drawing(drawn: Sequence[Curve]) -> str:
    """The figure: a line for each data set, and ridge as the line at 1."""
    smallest = min(size for curve in drawn for size in curve.sizes)
    across = Scale(smallest * 0.8, 1.2, LEFT, RIGHT, log=True)
    values = [score for curve in drawn for score in curve.scores]
    up = Scale.around([*values, 1.0], BOTTOM, TOP)
    parts = [element("style", STYLE)]
    for value, name in up.ticks():
        parts.append(line(LEFT, up(value), RIGHT, up(value)))
        parts.append(label(LEFT - 8, up(value) + 4, name, anchor="end"))
    for share in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0):
        if across.low <= share <= across.high:
            parts.append(line(across(share), TOP, across(share), BOTTOM))
            parts.append(label(across(share), BOTTOM + 18, f"{share:.0%}", anchor="middle"))
    parts.append(line(LEFT, up(1.0), RIGHT, up(1.0), kind="ink", width=1.5))
    parts.append(label(LEFT + 6, up(1.0) - 6, "tuned ridge, all its parameters", soft=False))
    middle = (LEFT + RIGHT) / 2
    parts.append(label(middle, HEIGHT - 14, "number of parameters, ridge = 100%", anchor="middle"))
    turned = (TOP + BOTTOM) / 2
    parts.append(label(18, turned, "average precision, ridge = 1", anchor="middle", turn=-90))
    for style, curve in enumerate(drawn):
        parts.append(_curve(curve, style, across, up))
    for style, curve, y in _names(drawn, up):
        parts.append(element("g", marker(RIGHT + 16, y - 4, style), class_="curve"))
        parts.append(label(RIGHT + 26, y, curve.dataset, soft=False))
    return document(WIDTH, HEIGHT, "Average precision against the size of the model", parts) + "\n"


def _curve(curve: Curve, style: int, across: Scale, up: Scale) -> str:
    places = [(across(x), up(y)) for x, y in zip(curve.sizes, curve.scores, strict=True)]
    path = element(
        "path",
        d="M" + "L".join(f"{short(x)} {short(y)}" for x, y in places),
        fill="none",
        stroke=COLOURS[style % len(COLOURS)],
        stroke_width=1.8,
    )
    points = [
        point(
            marker(x, y, style),
            f"{curve.dataset}: {size:.1%} of the parameters, {score:.3f} of ridge",
        )
        for (x, y), size, score in zip(places, curve.sizes, curve.scores, strict=True)
    ]
    return element("g", path, *points, class_="curve")


def _names(drawn: Sequence[Curve], up: Scale) -> list[tuple[int, Curve, float]]:
    """Draw names next to the ends of their lines, in their order, without overlap."""
    order = sorted(enumerate(drawn), key=lambda pair: up(pair[1].scores[-1]))
    found: list[tuple[int, Curve, float]] = []
    for style, curve in order:
        y = up(curve.scores[-1]) + 4
        found.append((style, curve, max(y, found[-1][2] + APART) if found else y))
    beyond = found[-1][2] - (BOTTOM + 4) if found else 0.0
    shift = max(0.0, beyond)
    return [(style, curve, y - shift) for style, curve, y in found]


def main(arguments: list[str] | None = None) -> int:
    """Draw, or only compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; status 1 if stale")
    options = parser.parse_args(arguments)
    text = drawing(curves(open_records(RECORDS)))
    if options.check:
        return int(FIGURE.read_text(encoding="utf-8") != text)
    FIGURE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
