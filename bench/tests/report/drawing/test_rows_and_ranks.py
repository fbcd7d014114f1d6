"""Rows of dots and ranks on a line can be read, however long the names are."""

import itertools
import xml.etree.ElementTree as ET

import pytest

from compactlearn.inspection.charts import Dot
from compactlearn.inspection.svg import text_width
from compactlearn_bench.report.drawing.rows_and_ranks import dot_rows, rank_line

BAD = '<script>alert("&1")</script>'


def texts(svg):
    return [n.text for n in ET.fromstring(svg).iter() if n.tag.endswith("}text")]


def inside(svg):
    """Whether every text, by a careful estimate of its width, lies within the picture."""
    root = ET.fromstring(svg)
    wide = float(root.get("width"))
    for node in root.iterfind(".//{*}text"):
        if node.get("transform") is None:
            x, long = (
                float(node.get("x")),
                text_width(node.text, 0.8 * float(node.get("font-size"))),
            )
            start = {None: x, "middle": x - long / 2, "end": x - long}[node.get("text-anchor")]
            if start < 0 or start + long > wide:
                return False
    return True


@pytest.mark.parametrize(
    "svg",
    [
        dot_rows(BAD, [(BAD, [Dot(1.0, BAD), Dot(5.0, "b", 2)]), ("none", [])], BAD),
        rank_line(BAD, [BAD, "B", "C"], [1.0, 2.2, 2.8], 1.1, [(1, 2)], "B"),
    ],
)
def test_names_are_only_text_and_points_tell_their_values(svg):
    root = ET.fromstring(svg)
    assert "script" not in {node.tag.rpartition("}")[2] for node in root.iter()}
    points = [node for node in root.iter() if node.get("class") == "pt"]
    assert points
    assert all(node.find("{*}title").text for node in points)
    assert inside(svg)


@pytest.mark.parametrize("n_methods", [3, 25, 60])
def test_ranks_of_many_methods_with_long_names_can_be_read(n_methods):
    names = [f"method {k} and everything that there is to say about it" for k in range(n_methods)]
    ranks = [1.0 + k for k in range(n_methods)]
    svg = rank_line("t", names, ranks, 2.5, [], None)
    assert inside(svg)
    shown = [n for n in ET.fromstring(svg).iterfind(".//{*}text") if n.text.isdigit()]
    places = [float(n.get("x")) for n in shown]
    assert len(places) >= 3
    assert all(b - a >= 15 for a, b in itertools.pairwise(places))
    tips = [n.text for n in ET.fromstring(svg).iterfind(".//{*}title")]
    assert f"{names[-1]}: average rank {ranks[-1]:.2f}" in tips


def test_a_critical_difference_longer_than_the_axis_says_so():
    long, fits = (
        texts(rank_line("t", list("abc"), [1.0, 2.0, 3.0], critical, [], None))
        for critical in (2.5, 1.5)
    )
    assert "critical difference 2.50, longer than the axis" in long
    assert "critical difference 1.50" in fits


def test_the_bar_of_the_critical_difference_has_its_length():
    root = ET.fromstring(rank_line("t", list("abc"), [1.0, 2.0, 3.0], 1.5, [(0, 1)], "a"))
    lines = root.findall(".//{*}line")
    (bar,) = [n for n in lines if n.get("y1") == n.get("y2") == "50"]
    axis = next(n for n in lines if n.get("y1") == n.get("y2") == "84")
    length, whole = (float(n.get("x2")) - float(n.get("x1")) for n in (bar, axis))
    assert length == pytest.approx(whole * 1.5 / 2)
    (group,) = [n for n in lines if n.get("stroke-width") == "4"]
    assert float(group.get("x2")) - float(group.get("x1")) == pytest.approx(whole / 2 + 8)


def test_rows_with_long_names_can_be_read():
    name = "a method of a very long name, longer than any margin could ever be"
    assert inside(dot_rows("t" * 200, [(name, [Dot(1.0, "x")])], "x", styles=[(name * 3, 0)]))


def test_a_row_has_its_bar_at_the_median():
    dots = [Dot(x, "") for x in (1.0, 2.0, 6.0, 9.0)]
    for log in (False, True):
        root = ET.fromstring(dot_rows("t", [("a", dots)], "x", log_x=log))
        (bar,) = [n for n in root.iterfind(".//{*}line") if n.get("stroke-width") == "2"]
        ticks = {n.text: float(n.get("x")) for n in root.iterfind(".//{*}text")}
        assert ticks["2"] < float(bar.get("x1")) < ticks["5" if log else "6"]
        if not log:
            assert float(bar.get("x1")) == pytest.approx(ticks["4"], abs=0.01)
