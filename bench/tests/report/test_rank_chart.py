"""The critical-difference diagram: its numbers are the table's, and it can be read."""

import itertools
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from compactlearn.inspection.svg import text_width
from compactlearn_bench.records import aggregate
from compactlearn_bench.records.ranks import critical_difference, indistinguishable
from compactlearn_bench.report import make_tables
from compactlearn_bench.report.rank_chart import rank_chart, rank_line

BAD = '<script>alert("&1")</script>'


def texts(svg, tag="text"):
    return [n.text for n in ET.fromstring(svg).iter() if n.tag.endswith(f"}}{tag}")]


def inside(svg):
    """Whether every text, by a careful estimate of its width, lies within the picture."""
    root = ET.fromstring(svg)
    for node in root.iterfind(".//{*}text"):
        x, long = float(node.get("x")), text_width(node.text, 0.8 * float(node.get("font-size")))
        start = {None: x, "middle": x - long / 2, "end": x - long}[node.get("text-anchor")]
        if start < 0 or start + long > float(root.get("width")):
            return False
    return True


def test_names_are_only_text_and_points_tell_their_values():
    svg = rank_line(BAD, [BAD, "B", "C"], [1.0, 2.2, 2.8], 1.1, [(1, 2)], "B")
    root = ET.fromstring(svg)
    assert "script" not in {node.tag.rpartition("}")[2] for node in root.iter()}
    assert inside(svg)
    assert texts(svg, "title") == [
        f"{BAD}: average rank 1.00",
        "B: average rank 2.20",
        "C: average rank 2.80",
    ]


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


def test_the_bars_join_what_nemenyi_cannot_tell_apart(small):
    tables = make_tables(aggregate(small, "nested"))
    charts = [rank_chart(table) for table in tables]
    assert len(charts) == 4
    for svg, caption in charts:
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
        assert "Over 3 data sets" in caption


def test_too_few_data_sets_have_no_diagram(small):
    one = [r for r in small if r.cell.dataset == "enron"]
    assert all(rank_chart(table) is None for table in make_tables(aggregate(one, "nested")))
