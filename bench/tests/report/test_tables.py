"""Tables as data and on the page: best, marks, distances, and ranks."""

import re

import numpy as np
import pytest
from bench.tests.makers import record
from scipy import stats

from compactlearn_bench.records import aggregate
from compactlearn_bench.records.ranks import average_ranks
from compactlearn_bench.records.significance import detectable_difference
from compactlearn_bench.report import make_tables, render_html
from compactlearn_bench.report.tables.names import greater_is_better
from compactlearn_bench.report.tables.ranking import check_marks, standing
from compactlearn_bench.report.words.summary import agreement


def folds(values, **more):
    return [record(fold=k, values=[[v]], n_folds=len(values), **more) for k, v in enumerate(values)]


def table_of(*methods, metric="average_precision", dataset="enron"):
    records = []
    for name, values in methods:
        records += folds(values, method=name, metrics=(metric,), dataset=dataset, selection="paper")
    (table,) = make_tables(aggregate(records, "paper"))
    return table


def test_the_best_is_best_in_the_metrics_direction():
    for metric, best in (("average_precision", "CMLL"), ("one_error", "ORI")):
        table = table_of(("ORI", [0.1, 0.2, 0.3]), ("CMLL", [0.5, 0.6, 0.8]), metric=metric)
        assert [m for m in table.methods if table.entries["enron", m].best] == [best]
        mark = table.entries["enron", "ORI"].comparison.mark
        assert mark == ("better" if best == "CMLL" else "worse")
        assert table.entries["enron", "CMLL"].comparison is None


def test_the_distance_counts_published_deviations():
    """CMLL on enron: 0.6965 ± 0.0153."""
    table = table_of(("CMLL", [0.6965 + 2.5 * 0.0153] * 2))
    entry = table.entries["enron", "CMLL"]
    assert entry.distance == pytest.approx(2.5)
    assert (entry.is_close, entry.is_ahead) == (False, True)
    loss = table_of(("CMLL", [0.1, 0.1]), metric="one_error").entries["enron", "CMLL"]
    assert loss.distance < -2  # published is 0.2462
    assert loss.is_ahead
    unknown = table_of(("CMLL", [0.7, 0.7]), dataset="elsewhere").entries["elsewhere", "CMLL"]
    assert unknown.distance is unknown.is_close is unknown.is_ahead is None


def test_kernel_methods_have_their_own_table_and_reference():
    records = [
        r for name in ("ORI", "CMLL", "k-ORI", "k-CMLL") for r in folds([0.4, 0.5], method=name)
    ]
    tables = make_tables(aggregate(records, "nested"))
    assert [(t.family, t.reference, t.methods) for t in tables] == [
        ("linear", "CMLL", ("ORI", "CMLL")),
        ("kernel", "k-CMLL", ("k-ORI", "k-CMLL")),
    ]


def test_other_methods_have_a_table_in_which_cmll_is_a_guest():
    names = ("ORI", "CMLL", "RRR")
    records = [r for m in names for r in folds([0.4, 0.5], method=m, selection="paper")]
    records += folds([0.1, 0.1], method="ORI", dataset="plant", selection="paper")
    linear, other = make_tables(aggregate(records, "paper"))
    assert (other.family, other.methods, other.guests) == ("other", ("RRR", "CMLL"), ("CMLL",))
    assert (linear.guests, linear.datasets, other.datasets) == ((), ("plant", "enron"), ("enron",))
    assert [entry.method for entry in other.ordered()] == ["RRR"]
    assert other.entries["enron", "RRR"].comparison is not None
    assert other.printed() == (
        ("enron",),
        {name: [other.entries["enron", name]] for name in ("RRR", "CMLL")},
    )
    assert linear.printed()[0] == ("ORI", "CMLL")


def test_a_gap_is_neither_best_nor_compared():
    records = [*folds([0.1, 0.2], method="CMLL"), folds([0.9, 0.9], method="ORI")[0]]
    (table,) = make_tables(aggregate(records, "nested"))
    entry = table.entries["enron", "ORI"]
    assert entry.score is None
    assert "no record of fold 1" in entry.cell.reason
    assert not entry.best
    assert entry.comparison is None
    assert table.entries["enron", "CMLL"].best


def test_ranks_are_over_complete_data_sets_only(small):
    cut = [r for r in small if (r.cell.dataset, r.cell.method, r.cell.fold) != ("llog", "PLST", 2)]
    table = make_tables(aggregate(cut, "nested"))[0]
    found = standing(table)
    assert found.datasets == ("plant", "enron")
    assert found.left_out == ("llog",)
    means = [[table.entries[d, m].score.mean for m in found.methods] for d in found.datasets]
    assert found.ranks == pytest.approx(average_ranks(means))
    assert set(found.against) == {"ORI", "PLST", "MDDM"}
    cut = [r for r in small if r.cell.method != "PLST" or r.cell.dataset == "enron"]
    found = standing(make_tables(aggregate(cut, "nested"))[0])  # without the method instead
    assert (found.left_out, len(found.datasets)) == (("PLST",), 3)


def test_the_agreement_counts_published_cells_only(small):
    tables = make_tables(aggregate(small, "paper"))
    near = agreement(tables)
    assert near.covered == 3 * 7 * 2
    assert near.within + len(near.outside) == near.covered
    distances = [abs(entry.distance) for entry in near.outside]
    assert distances == sorted(distances, reverse=True)
    assert all(distance > 2 for distance in distances)


def test_means_that_differ_in_what_a_record_cuts_off_are_equal():
    """Twelve errors in five folds of thirty rows, otherwise spread, are twelve errors."""

    def shares(*errors):
        return [float(f"{error / 30:.7g}") for error in errors]

    table = table_of(
        ("ORI", shares(1, 1, 1, 4, 5)),
        ("CMLL", shares(3, 0, 0, 4, 5)),
        ("POP", shares(3, 0, 0, 4, 6)),
        metric="one_error",
    )
    means = [entry.score.mean for entry in table.ordered()]
    assert len(set(means)) == 3
    assert [entry.best for entry in table.ordered()] == [True, False, True]
    found = standing(table)
    assert found.ranks == (1.5, 3.0, 1.5)
    assert found.against["ORI"][2] == (0, 1, 0)
    assert found.against["POP"][2] == (1, 0, 0)


@pytest.mark.parametrize(
    ("dataset", "rows", "compared"),
    [("enron", None, True), ("enron", 200, False), ("bibtex", 5000, True), ("bibtex", 500, False)],
)
def test_published_scores_are_compared_with_runs_on_the_papers_rows_only(dataset, rows, compared):
    records = folds([0.5, 0.6], dataset=dataset, rows=rows, selection="paper")
    (table,) = make_tables(aggregate(records, "paper"))
    assert (table.entries[dataset, "CMLL"].published is not None) == compared


def test_one_data_set_bears_no_test_over_data_sets():
    table = table_of(("ORI", [0.1, 0.2]), ("POP", [0.3, 0.9]), ("CMLL", [0.5, 0.6]))
    found = standing(table)
    assert found.test is found.critical is None
    for by_rank, by_sign, counts in found.against.values():
        assert np.isnan([by_rank, by_sign]).all()
        assert counts.wins + counts.losses == 1


def test_ranks_and_wins_follow_the_direction_of_a_loss(small):
    cut = [r for r in small if r.cell.selection == "nested"]
    table = next(t for t in make_tables(aggregate(cut, "nested")) if t.metric == "one_error")
    found = standing(table)
    means = np.array([[table.entries[d, m].score.mean for m in found.methods]
                      for d in found.datasets])  # fmt: skip
    assert found.ranks == pytest.approx(stats.rankdata(means, axis=1).mean(axis=0))
    own = means[:, found.methods.index("CMLL")]
    for method, (by_rank, by_sign, counts) in found.against.items():
        other = means[:, found.methods.index(method)]
        assert counts == ((own < other).sum(), (own == other).sum(), (own > other).sum())
        assert 0 <= by_rank <= 1
        assert 0 <= by_sign <= 1


def test_the_stricter_counts_by_hand(small):
    """The correction of five folds is 1/5 + 1/4; Holm's runs over all comparisons of all tables."""
    tables = make_tables(aggregate(small, "nested"))
    p_values, signs, spreads = [], [], []
    for table in tables:
        for entry in table.ordered():
            if entry.method != table.reference:
                own = table.entries[entry.dataset, table.reference].score.values
                gains = np.subtract(own, entry.score.values)
                gains = gains if greater_is_better(table.metric) else -gains
                t = gains.mean() / np.sqrt((1 / 5 + 1 / 4) * gains.var(ddof=1))
                p_values.append(2 * stats.t.sf(abs(t), 4))
                signs.append(np.sign(gains.mean()))
                spreads.append(gains.std(ddof=1))
    signs, p_values = np.array(signs), np.array(p_values)
    check = check_marks(tables)
    assert check.corrected == tuple(((p_values <= 0.1) & (signs == s)).sum() for s in (1, -1))
    order = np.argsort(p_values)
    raised = p_values[order] * np.arange(p_values.size, 0, -1)
    kept = signs[order][np.maximum.accumulate(raised) <= 0.1]
    assert check.adjusted == ((kept > 0).sum(), (kept < 0).sum())
    assert check.adjusted[0] > 0
    assert check.detectable == pytest.approx(detectable_difference(float(np.median(spreads)), 5))


def test_wilcoxons_p_values_are_adjusted_for_their_number():
    """Seven wins over three other methods: 2 / 2^7 each, times three."""
    records = [
        one
        for d in range(7)
        for method, value in (("CMLL", 0.5 + 0.001 * d), ("ORI", 0.4), ("POP", 0.3), ("PLST", 0.2))
        for one in folds(
            [value + 0.01 * d, value + 0.01 * d + 0.001], dataset=f"d{d}", method=method
        )
    ]
    (table,) = make_tables(aggregate(records, "nested"))
    for _, by_sign, counts in standing(table).against.values():
        assert by_sign == pytest.approx(3 * 2 / 2**7)
        assert counts == (7, 0, 0)


def test_the_page_has_the_best_in_bold_marks_and_sides():
    """The paper has, on enron: 0.6965 ± 0.0153 (CMLL), 0.5039 ± 0.0111 (ORI)."""
    values = {"CMLL": (0.70, 0.70, 0.70), "ORI": (0.80, 0.81, 0.82), "POP": (0.5, 0.9, 0.7)}
    page = render_html(
        [one for m, own in values.items() for one in folds(own, method=m, selection="paper")]
    )
    body = re.search(r'<table id="paper-t0".*?</table>', page)[0]
    cmll, ori, pop = re.findall(r"<td[^>]*>(.*?)</td>", body.partition("<tbody>")[2])[:3]
    assert ori.startswith("<b>0.8100</b>")
    assert "CMLL is significantly worse" in ori
    assert '0.5039 <span class="far ahead">▲ +27.6σ</span>' in ori
    assert cmll.startswith("0.7000 ")
    assert '<span class="pub">0.6965 +0.2σ</span>' in cmll
    assert pop.startswith("0.7000 ")
    assert "significantly" not in pop + cmll
