"""The writer of SVG, and the kinds of figures drawn with it."""

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlearn_bench.report.drawing.line_charts import Dot, Series, line_chart, scatter
from compactlearn_bench.report.drawing.svg import Scale, element, label, marker

BAD = '<script>alert("&1")</script>'


@given(st.text())
def test_any_text_is_only_text(text):
    printable = "".join(letter for letter in text if letter.isprintable())
    assert ET.fromstring(label(0, 0, printable)).text in (printable, None)
    assert ET.fromstring(element("g", id=printable)).get("id") == printable


@given(st.floats(-1e3, 1e3), st.floats(1e-3, 1e3), st.integers(3, 8))
def test_ticks_are_few_and_inside(low, width, count):
    scale = Scale(low, low + width, 0, 100)
    ticks = scale.ticks(count)
    assert 1 <= len(ticks) <= 2 * count + 1
    for value, _ in ticks:
        assert -1e-6 <= scale(value) <= 100 + 1e-6


def drawings():
    points = [(0.1, 0.5, 0.1, BAD), (1.0, 0.7, None, "b")]
    yield line_chart(BAD, [Series(BAD, points, 0, True), Series("B", points, 1)], BAD, BAD)
    yield line_chart("one", [Series("A", points[:1], 0)], "x", "y", log_x=True)
    yield line_chart("named", [Series("A", [(0.0, 1.0, None, "t")], 3)], "x", "y", names=[BAD])
    yield scatter(BAD, [Dot(0.1, BAD, 0, 0.2)], BAD, BAD, [(BAD, 0)])


@pytest.mark.parametrize("svg", list(drawings()))
def test_drawings_are_well_formed_and_show_their_values(svg):
    root = ET.fromstring(svg)
    names = {node.tag.rpartition("}")[2] for node in root.iter()}
    assert "script" not in names
    assert names <= {"svg", "rect", "text", "line", "path", "g", "title"}
    points = [node for node in root.iter() if node.get("class") == "pt"]
    assert points
    assert all(node.find("{*}title").text for node in points)
    assert "nan" not in svg


@pytest.mark.parametrize("svg", list(drawings()))
def test_nothing_is_drawn_outside_the_picture(svg):
    root = ET.fromstring(svg)
    wide, tall = float(root.get("width")), float(root.get("height"))
    for node in root.iter():
        for name, limit in (("x", wide), ("x1", wide), ("x2", wide), ("y", tall), ("y1", tall)):
            if node.get(name) is not None:
                assert 0 <= float(node.get(name)) <= limit


def texts(svg):
    return [n.text for n in ET.fromstring(svg).iter() if n.tag.endswith("}text")]


def test_styles_of_54_methods_are_distinct():
    drawn = {marker(0, 0, style) for style in range(54)}
    assert len(drawn) == 54


def test_a_lonely_line_says_whose_it_is():
    one = [Series("k-CMLL", [(0.1, 0.5, None, "t"), (0.2, 0.5, None, "u")], 0)]
    assert "k-CMLL" in texts(line_chart("by frequency", one, "x", "y"))
    assert "k-CMLL" not in texts(line_chart("enron: of k-CMLL", one, "x", "y"))


@given(st.floats(1e-3, 1e6), st.floats(1.05, 1e4))
def test_a_logarithmic_scale_has_ticks_enough_to_read_a_value_by(low, factor):
    scale = Scale.around([low, low * factor], 0, 300, log=True)
    assert len(scale.ticks(6)) >= 2
    assert all(-1e-6 <= scale(value) <= 300 + 1e-6 for value, _ in scale.ticks(6))


def test_the_bars_of_a_line_reach_one_deviation_up_and_down():
    svg = line_chart("t", [Series("t", [(1.0, 0.5, 0.1, ""), (2.0, 0.7, 0.2, "")], 0)], "x", "y")
    root = ET.fromstring(svg)
    ticks = {n.text: float(n.get("y")) - 4 for n in root.iterfind(".//{*}text")}  # below its line
    ways = [n.get("d") for n in root.iterfind(".//{*}g/{*}path[@fill='none']")]
    low, top = (float(part) for part in ways[0].split("M")[1].split()[1].split("V"))
    assert low == pytest.approx(ticks["0.4"], abs=0.02)
    assert top == pytest.approx(ticks["0.6"], abs=0.02)
