"""Figures from records: which there are, and that they show the records' numbers."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from bench.tests.makers import record
from bench.tests.report.factory import BETAS

from compactlearn_bench.records import aggregate
from compactlearn_bench.report import to_png, to_svg
from compactlearn_bench.report.drawing.all_charts import make_charts
from compactlearn_bench.report.drawing.grid_charts import balance_charts


def tips(svg):
    return [n.text for n in ET.fromstring(svg).iter() if n.tag.endswith("}title")]


@pytest.fixture(scope="module")
def charts(small):
    return make_charts(aggregate(small, "paper"))


def one(charts, kind, *words):
    (found,) = [c for c in charts if c.kind == kind and all(map(c.title.__contains__, words))]
    return found


def test_every_kind_is_there(charts):
    kinds = {chart.kind for chart in charts}
    assert kinds == {
        "agreement", "ranks", "balance", "ratio", "surface", "frequency", "size", "time",
    }  # fmt: skip


def test_the_balance_figure_shows_the_mean_at_each_balance(charts, small):
    chart = one(charts, "balance", "enron", "of CMLL against")
    found = tips(chart.svg)
    assert len(found) == len(BETAS)
    folds = [
        r for r in small
        if (r.cell.dataset, r.cell.method, r.cell.selection) == ("enron", "CMLL", "paper")
    ]  # fmt: skip
    wanted = {"n_feature_components": 0.5, "n_label_components": 0.5, "beta": 100.0}
    values = [r.value("average_precision", list(r.configurations).index(wanted)) for r in folds]
    text = f"β = 100: {np.mean(values):.4f} ± {np.std(values, ddof=1):.4f}"
    assert text in found
    assert "n_feature_components = 0.5" in chart.caption


def test_the_ratio_figure_takes_the_best_over_all_else(charts, small):
    found = tips(one(charts, "ratio", "enron", "label ratio", "linear").svg)
    grid = aggregate(small, "paper").grids["enron", "CMLL"]
    means = grid.values[:, :, 0].mean(axis=0)
    places = [k for k, c in enumerate(grid.configurations) if c.get("n_label_components") == 0.3]
    assert f"CMLL, label ratio ν 0.3: {means[places].max():.4f}" in found
    assert any(tip.startswith("ORI: ") for tip in found)
    assert not any(tip.startswith("MDDM") for tip in found)  # it has no label ratio


def test_distances_are_printed_in_full_and_drawn_within_bounds():
    """CMLL's average precision on enron is published as 0.6965 ± 0.0153."""
    values = [[0.6965 - 20 * 0.0153]]
    far = [record(fold=k, n_folds=2, values=values, selection="paper") for k in range(2)]
    chart = one(make_charts(aggregate(far, "paper")), "agreement", "Distance")
    assert tips(chart.svg) == ["CMLL on enron: −20.0 deviations"]


def test_records_with_next_to_nothing_still_make_a_report():
    assert to_svg([record(fold=0, values=[[0.5]], n_folds=1, selection="paper")]).keys() == {
        "paper--agreement", "paper--agreement--distance", "paper--size--linear",
    }  # fmt: skip
    assert to_svg([record(fold=0, values=[[0.5]], n_folds=1)]).keys() == {"nested--size--linear"}
    assert to_svg([record(values=[[0.5]], metrics=("applause",), sizes=[], n_folds=1)]) == {}


def test_png_of_every_figure():
    pytest.importorskip("resvg_py")
    records = [record(method=m, fold=k, values=[[0.5 + 0.1 * k]], n_folds=2)
               for m in ("ORI", "CMLL") for k in range(2)]  # fmt: skip
    found = to_png(records)
    assert found.keys() == to_svg(records).keys()
    assert all(content.startswith(b"\x89PNG\r\n") for content in found.values())


def test_names_that_differ_in_capitals_are_kept_apart_and_long_ones_cut():
    names = ("Zoo", "zoo", "z" * 300, "z" * 301)
    records = [
        record(dataset=name, fold=k, n_folds=2,
               details={"by_frequency": {g: {"micro_f1": 0.5} for g in ("rare", "often")}})
        for name in names for k in range(2)
    ]  # fmt: skip
    found = [c.name for c in make_charts(aggregate(records, "nested")) if c.dataset]
    assert len({name.casefold() for name in found}) == len(names)
    assert max(map(len, found)) < 200


def test_the_balance_figure_is_at_ratios_of_one_half_where_these_were_tried():
    """As in the paper, even if others are better."""
    configurations = [
        {"beta": beta, "n_feature_components": ratio, "n_label_components": ratio}
        for ratio in (0.3, 0.5, 0.8)
        for beta in (1.0, 10.0, 100.0)
    ]
    values = [[0.9]] * 3 + [[0.5]] * 3 + [[0.8]] * 3
    records = [
        record(selection="paper", fold=k, n_folds=2, values=values, configurations=configurations)
        for k in range(2)
    ]
    (chart,) = balance_charts(aggregate(records, "paper"), "enron", "average_precision")
    assert "n_label_components = 0.5" in chart.caption
    assert tips(chart.svg)[0] == "β = 1: 0.5000 ± 0.0000"
