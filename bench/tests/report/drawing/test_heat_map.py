"""Heat maps: which tile is marked, what is written on it, and how light it is."""

import math
import xml.etree.ElementTree as ET

from compactlearn_bench.report.drawing.heat_map import heat_map

BAD = '<script>alert("&1")</script>'


def luminance(colour):
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def texts(svg):
    return [n.text for n in ET.fromstring(svg).iter() if n.tag.endswith("}text")]


def test_names_are_only_text_and_what_is_missing_is_not_drawn():
    svg = heat_map(BAD, [0.1, 0.2], [0.5, 1.0], [[0.1, math.nan], [0.3, 0.2]], BAD, BAD)
    names = {node.tag.rpartition("}")[2] for node in ET.fromstring(svg).iter()}
    assert names <= {"svg", "rect", "text", "line", "path", "g", "title"}
    assert "nan" not in svg


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


def test_narrow_tiles_have_no_numbers_in_them():
    many = [k / 30 for k in range(30)]
    svg = heat_map("t", many, [0.1, 0.2], [many, many], "a", "b")
    assert not any(text.startswith(".") for text in texts(svg))
    few = heat_map("t", [0.1, 0.2], [0.1, 0.2], [[0.1, 0.2]] * 2, "a", "b")
    assert texts(few).count(".100") == 2


def test_tiles_stand_where_their_ratios_are_and_the_largest_is_the_lightest():
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
