"""Heat maps, rows of dots and ranks on a line: their numbers are right, and they can be read."""

import itertools
import math
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from compactlearn_bench.records import aggregate
from compactlearn_bench.records.ranks import critical_difference, indistinguishable
from compactlearn_bench.report import make_tables
from compactlearn_bench.report.drawing.all_charts import rank_chart
from compactlearn_bench.report.drawing.heat_map import heat_map
from compactlearn_bench.report.drawing.line_charts import Dot
from compactlearn_bench.report.drawing.rows_and_ranks import dot_rows, rank_line
from compactlearn_bench.report.drawing.svg import text_width

BAD = '<script>alert("&1")</script>'


def texts(svg, tag="text"):
    return [n.text for n in ET.fromstring(svg).iter() if n.tag.endswith(f"}}{tag}")]


def inside(svg):
    """Return whether every text, by an estimate of its width, lies within the picture."""
    root = ET.fromstring(svg)
    for node in root.iterfind(".//{*}text"):
        if node.get("transform") is not None:
            continue
        x, long = float(node.get("x")), text_width(node.text, 0.8 * float(node.get("font-size")))
        start = {None: x, "middle": x - long / 2, "end": x - long}[node.get("text-anchor")]
        if start < 0 or start + long > float(root.get("width")):
            return False
    return True


@pytest.mark.parametrize(
    "svg",
    [
        heat_map(BAD, [0.1, 0.2], [0.5, 1.0], [[0.1, math.nan], [0.3, 0.2]], BAD, BAD),
        dot_rows(BAD, [(BAD, [Dot(1.0, BAD), Dot(5.0, "b", 2)]), ("none", [])], BAD),
        rank_line(BAD, [BAD, "B", "C"], [1.0, 2.2, 2.8], 1.1, [(1, 2)], "B"),
    ],
)
def test_names_are_only_text_and_points_have_their_values(svg):
    root = ET.fromstring(svg)
    assert "script" not in {node.tag.rpartition("}")[2] for node in root.iter()}
    assert "nan" not in svg
    points = [node for node in root.iter() if node.get("class") == "pt"]
    assert points
    assert all(node.find("{*}title").text for node in points)
    assert inside(svg)


@pytest.mark.parametrize("n_methods", [3, 25, 60])
def test_ranks_of_many_methods_with_long_names_can_be_read(n_methods):
    names = [f"method {k} and everything that there is to say about it" for k in range(n_methods)]
    svg = rank_line("t", names, [1.0 + k for k in range(n_methods)], 2.5, [], None)
    assert inside(svg)
    shown = [n for n in ET.fromstring(svg).iterfind(".//{*}text") if n.text.isdigit()]
    places = [float(n.get("x")) for n in shown]
    assert len(places) >= 3
    assert all(b - a >= 15 for a, b in itertools.pairwise(places))


def test_a_critical_difference_longer_than_the_axis_says_so():
    long, fits = (
        texts(rank_line("t", list("abc"), [1.0, 2.0, 3.0], critical, [], None))
        for critical in (2.5, 1.5)
    )
    assert "critical difference 2.50, longer than the axis" in long
    assert "critical difference 1.50" in fits


def test_the_bars_join_what_nemenyi_does_not_separate(small):
    tables = make_tables(aggregate(small, "nested"))
    charts = [rank_chart(table) for table in tables]
    assert len(charts) == 4
    for chart in charts:
        svg = chart.svg
        lines = [
            {name: float(n.get(name)) for name in ("x1", "x2", "y1", "stroke-width")}
            for n in ET.fromstring(svg).iterfind(".//{*}line")
        ]
        ranks = [float(tip.split()[-1]) for tip in texts(svg, "title")]
        axis = next(one for one in lines if one["stroke-width"] == 1.5)
        step = (axis["x2"] - axis["x1"]) / (len(ranks) - 1)
        drawn = [
            (1 + (one["x1"] + 4 - axis["x1"]) / step, 1 + (one["x2"] - 4 - axis["x1"]) / step)
            for one in lines
            if one["stroke-width"] == 4
        ]
        critical = critical_difference(len(ranks), 3)
        groups = [[ranks[k] for k in g] for g in indistinguishable(ranks, critical)]
        np.testing.assert_allclose(drawn, [(min(g), max(g)) for g in groups], atol=0.02)
        assert "Over 3 data sets" in chart.caption


def test_too_few_data_sets_have_no_diagram(small):
    one = [r for r in small if r.cell.dataset == "enron"]
    assert all(rank_chart(table) is None for table in make_tables(aggregate(one, "nested")))


def test_a_row_has_its_bar_at_the_median():
    dots = [Dot(x, "") for x in (1.0, 2.0, 6.0, 9.0)]
    root = ET.fromstring(dot_rows("t", [("a", dots)], "x", log_x=False))
    (bar,) = [n for n in root.iterfind(".//{*}line") if n.get("stroke-width") == "2"]
    ticks = {n.text: float(n.get("x")) for n in root.iterfind(".//{*}text")}
    assert float(bar.get("x1")) == pytest.approx(ticks["4"], abs=0.01)


def luminance(colour):
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_the_best_tile_has_the_star():
    svg = heat_map("t", [0.1, 0.2], [0.5, 1.0], [[0.1, 0.4], [0.3, 0.2]], "a", "b")
    least = heat_map(
        "t", [0.1, 0.2], [0.5, 1.0], [[0.1, 0.4], [0.3, 0.2]], "a", "b", greater_is_better=False
    )

    def framed(text):
        (frame,) = [n for n in ET.fromstring(text).iter() if n.get("stroke-width") == "2.5"]
        tiles = [n for n in ET.fromstring(text).iter() if n.get("class") == "pt"]
        for tile in tiles:
            if tile[0].get("x") == frame.get("x") and tile[0].get("y") == frame.get("y"):
                return tile.find("{*}title").text
        return None

    assert framed(svg) == "a 0.2, b 0.5: 0.4000"
    assert framed(least) == "a 0.1, b 0.5: 0.1000"


def test_tiles_are_where_their_ratios_are_and_the_largest_is_the_lightest():
    svg = heat_map("t", [0.1, 0.2], [0.5, 1.0], [[0.1, 0.4], [0.3, 0.2]], "a", "b")
    tiles = {n.find("{*}title").text: n[0] for n in ET.fromstring(svg).iterfind(".//{*}g")}
    low, high = tiles["a 0.1, b 0.5: 0.1000"], tiles["a 0.2, b 0.5: 0.4000"]
    assert float(low.get("x")) < float(high.get("x"))
    assert float(low.get("y")) == float(high.get("y")) > float(tiles["a 0.1, b 1: 0.3000"].get("y"))
    light = {tip: luminance(tile.get("fill")) for tip, tile in tiles.items()}
    assert [tip[-6:] for tip in sorted(light, key=light.get)] == ["0.1000", "0.2000", "0.3000",
                                                                  "0.4000"]  # fmt: skip
    for node in ET.fromstring(svg).iterfind(".//{*}g"):
        ink, ground = luminance(node[1].get("fill")), luminance(node[0].get("fill"))
        assert (max(ink, ground) + 0.05) / (min(ink, ground) + 0.05) >= 4.5
