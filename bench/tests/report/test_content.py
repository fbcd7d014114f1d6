"""What the page, the CSV and the summary say of a single figure: bold, marks, sides, ranks."""

import csv
import io
import re

import pytest
from bench.tests.makers import record

from compactlearn_bench.records import aggregate
from compactlearn_bench.report import render_html, to_csv
from compactlearn_bench.report.tables.metric_tables import make_tables
from compactlearn_bench.report.tables.ranking import standing

# Of the paper, on enron: average precision 0.6965 ± 0.0153 (CMLL), 0.5039 ± 0.0111 (ORI); one error
# 0.2462 ± 0.0215 (CMLL). ORI is far better here by average precision, CMLL by one error.
METRICS = ("average_precision", "one_error")
VALUES = {
    "CMLL": ((0.70, 0.05), (0.70, 0.06), (0.70, 0.07)),
    "ORI": ((0.80, 0.9), (0.81, 0.9), (0.82, 0.8)),
    "POP": ((0.5, 0.5), (0.9, 0.1), (0.7, 0.06)),
}


@pytest.fixture(scope="module")
def records():
    return [
        record(dataset, method, "paper", k, [values[k]], METRICS, n_folds=3)
        for dataset in ("enron", "llog")
        for method, values in VALUES.items()
        for k in range(3)
    ]


@pytest.fixture(scope="module")
def page(records):
    return render_html(records)


def cells(page, table, row="enron"):
    """The cells of a row, as markup."""
    body = re.search(rf'<table id="{table}".*?</table>', page)[0]
    found = re.search(rf'<tr><th scope="row">{row}</th>(.*?)</tr>', body)[1]
    return re.findall(r"<td[^>]*>(.*?)</td>", found)


def test_only_the_best_of_a_row_is_bold(page):
    cmll, ori, pop = cells(page, "paper-t0")
    assert ori.startswith("<b>0.8100</b>")
    assert pop.startswith("0.7000 ")
    assert cmll.startswith("0.7000 ")
    assert [cell.startswith("<b>") for cell in cells(page, "paper-t1")] == [True, False, False]


def test_a_mark_says_whether_the_reference_is_better_or_worse(page):
    cmll, ori, pop = cells(page, "paper-t0")
    assert "○" in ori
    assert "CMLL is significantly worse" in ori
    assert "significantly" not in pop + cmll
    loss = cells(page, "paper-t1")[1]
    assert "●" in loss
    assert "CMLL is significantly better" in loss


def test_beyond_two_deviations_the_side_is_that_of_the_metric(page):
    cmll, ori, _ = cells(page, "paper-t0")
    assert '0.5039 <span class="far ahead">▲ +27.6σ</span>' in ori
    assert '<span class="pub">0.6965 +0.2σ</span>' in cmll
    cmll, ori, _ = cells(page, "paper-t1")
    assert re.search(r'<span class="far behind">▼ \+[\d.]+σ</span>', ori)
    assert re.search(r'<span class="far ahead">▲ −[\d.]+σ</span>', cmll)


def test_csv_has_the_best_and_the_marks(records):
    rows = {
        (row["metric"], row["method"]): row
        for row in csv.DictReader(io.StringIO(to_csv(records)))
        if row["dataset"] == "enron"
    }
    said = {where: (row["best"], row["mark"]) for where, row in rows.items()}
    assert said == {
        ("average_precision", "ORI"): ("1", "worse"),
        ("average_precision", "POP"): ("0", ""),
        ("average_precision", "CMLL"): ("0", ""),
        ("one_error", "ORI"): ("0", "better"),
        ("one_error", "POP"): ("0", ""),
        ("one_error", "CMLL"): ("1", ""),
    }
    assert {row["n_folds"] for row in rows.values()} == {"3"}
    assert float(rows["average_precision", "ORI"]["std"]) == pytest.approx(0.01)


def test_wilcoxons_p_values_are_adjusted_for_their_number():
    """Seven wins over three rivals: 2 / 2^7 each, times three."""
    records = [
        record(f"d{d}", method, fold=k, values=[[value + 0.01 * d + 0.001 * k]], n_folds=2)
        for d in range(7)
        for method, value in (("CMLL", 0.5 + 0.001 * d), ("ORI", 0.4), ("POP", 0.3), ("PLST", 0.2))
        for k in range(2)
    ]
    (table,) = make_tables(aggregate(records, "nested"))
    found = standing(table)
    for _, by_sign, counts in found.against.values():
        assert by_sign == pytest.approx(3 * 2 / 2**7)
        assert counts == (7, 0, 0)
