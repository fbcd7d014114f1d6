"""Figures from records: which there are, and that they show the records' numbers."""

import re
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from compactlearn.records import aggregate
from compactlearn.report import to_png, to_svg
from compactlearn.report.figures import make_charts

from .factory import BETAS, RATIOS, record


def tips(svg):
    return [n.text for n in ET.fromstring(svg).iter() if n.tag.endswith("}title")]


@pytest.fixture(scope="module")
def charts(small):
    return make_charts(aggregate(small, "paper"))


def one(charts, kind, *words):
    (found,) = [c for c in charts if c.kind == kind and all(word in c.title for word in words)]
    return found


def test_every_kind_is_there(charts):
    kinds = {chart.kind for chart in charts}
    assert kinds == {
        "agreement", "ranks", "balance", "ratio", "surface", "frequency", "size", "time",
    }  # fmt: skip


def test_names_are_apart_and_safe_for_files(charts):
    names = [chart.name for chart in charts]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[\w.+-]+", name) for name in names)


def test_names_that_fall_together_are_kept_apart():
    records = [
        record(dataset=name, method=method, fold=k, values=[[0.1 * k]], n_folds=2,
               details={"by_frequency": {g: {"average_precision": 0.5} for g in ("rare", "often")}})
        for name in ("a/b", "a b") for method in ("ORI", "CMLL") for k in range(2)
    ]  # fmt: skip
    names = [c.name for c in make_charts(aggregate(records, "nested")) if c.dataset]
    assert len(names) == len(set(names)) == 2


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


def test_dependence_and_recovery_are_those_of_the_records(charts):
    found = tips(one(charts, "balance", "enron", "recovery of CMLL").svg)
    powers = np.arange(-4, 5)
    expected = [1 / (1 + np.exp(-1.5 * powers)), 1 / (1 + np.exp(1.2 * powers))]
    shown = [float(re.search(r": (0\.\d{4})", tip)[1]) for tip in found]
    np.testing.assert_allclose(shown, np.concatenate(expected), atol=6e-5)


def test_the_ratio_figure_takes_the_best_over_all_else(charts, small):
    found = tips(one(charts, "ratio", "enron", "label ratio", "linear").svg)
    grid = aggregate(small, "paper").grids["enron", "CMLL"]
    means = grid.values[:, :, 0].mean(axis=0)
    places = [k for k, c in enumerate(grid.configurations) if c.get("n_label_components") == 0.3]
    assert f"CMLL, label ratio ν 0.3: {means[places].max():.4f}" in found
    assert any(tip.startswith("ORI: ") for tip in found)
    assert not any(tip.startswith("MDDM") for tip in found)  # it has no label ratio


def test_accuracy_by_frequency_takes_whatever_metrics_there_are():
    def by(value):
        return {"by_frequency": {"rare": {"macro_f1": value}, "often": {"macro_f1": 0.9}}}

    records = [
        record(method=m, fold=k, n_folds=2, details=by(0.2 + 0.1 * k))
        for m in ("ORI", "CMLL")
        for k in range(2)
    ]
    chart = one(make_charts(aggregate(records, "nested")), "frequency", "macro-f1")
    assert "ORI, rare labels: 0.2500" in tips(chart.svg)


def test_numbers_that_are_missing_among_the_details_leave_the_figure_out():
    configurations = [{"beta": 10.0**k} for k in range(3)]
    details = {"dependence_between": [1.0, None, 0.2], "recovery_between": [None, None, None]}
    records = [
        record(selection="paper", fold=k, n_folds=2, values=[[0.1], [0.2], [0.3]],
               configurations=configurations, details=details)
        for k in range(2)
    ]  # fmt: skip
    drawn = [c.title for c in make_charts(aggregate(records, "paper")) if c.kind == "balance"]
    assert drawn == ["enron: average precision of CMLL against the balance"]


def test_distances_are_told_in_full_and_drawn_within_bounds():
    """CMLL's average precision on enron is published as 0.6965 ± 0.0153."""
    values = [[0.6965 - 20 * 0.0153]]
    far = [record(fold=k, n_folds=2, values=values, selection="paper") for k in range(2)]
    chart = one(make_charts(aggregate(far, "paper")), "agreement", "Distance")
    assert tips(chart.svg) == ["CMLL on enron: −20.0 deviations"]


def test_the_surface_has_a_tile_for_each_pair(charts):
    found = tips(one(charts, "surface", "enron", "of CMLL over").svg)
    assert len(found) == len(RATIOS) ** 2


def test_nested_records_have_no_grid_to_show(small):
    kinds = {chart.kind for chart in make_charts(aggregate(small, "nested"))}
    assert not kinds & {"balance", "surface", "ratio"}


def test_times_can_be_left_out(small):
    charts = make_charts(aggregate(small, "paper"), times=False)
    assert "time" not in {chart.kind for chart in charts}
    assert "size" in {chart.kind for chart in charts}


def test_records_with_next_to_nothing_still_make_a_report():
    assert to_svg([record(fold=0, values=[[0.5]], n_folds=1, selection="paper")]).keys() == {
        "paper--agreement", "paper--agreement--distance", "paper--size--linear",
    }  # fmt: skip
    assert to_svg([record(fold=0, values=[[0.5]], n_folds=1)]).keys() == {"nested--size--linear"}
    assert to_svg([record(values=[[0.5]], metrics=("applause",), sizes=[], n_folds=1)]) == {}


def test_ratios_given_as_counts_are_no_ratios():
    configurations = [{"n_label_components": k} for k in (5, 10)]
    records = [
        record(method="PLST", selection="paper", fold=k, values=[[0.1], [0.2]], n_folds=2,
               configurations=configurations)
        for k in range(2)
    ]  # fmt: skip
    assert not [c for c in make_charts(aggregate(records, "paper")) if c.kind == "ratio"]


def test_png_of_every_figure():
    pytest.importorskip("resvg_py")
    records = [record(method=m, fold=k, values=[[0.5 + 0.1 * k]], n_folds=2)
               for m in ("ORI", "CMLL") for k in range(2)]  # fmt: skip
    found = to_png(records)
    assert found.keys() == to_svg(records).keys()
    assert all(content.startswith(b"\x89PNG\r\n") for content in found.values())


def test_without_the_package_png_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(ImportError, match=r"A figure in PNG needs .* 'compactlearn\[report\]'"):
        to_png([record(n_folds=1)])
