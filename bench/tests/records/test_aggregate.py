"""From folds to scores: what is averaged, what is chosen, and what is refused."""

import itertools
import math

import numpy as np
import pytest
from bench.tests import makers
from hypothesis import given
from hypothesis import strategies as st

from compactlearn_bench.records import Cell, Record, Score, aggregate


def record(fold, values, configurations=None, metrics=("average_precision",), **more):
    values = np.reshape(values, (-1, len(metrics)))
    more = {"n_folds": 2, **more}
    return makers.record(
        fold=fold, values=values, metrics=metrics, configurations=configurations, **more
    )


def score(records, selection="nested", metric="average_precision", **where):
    results = aggregate(records, selection)
    return results.cell(where.get("dataset", "enron"), where.get("method", "CMLL"), metric)


def test_nested_takes_the_one_configuration_of_each_fold():
    found = score([record(1, [0.7], [{"alpha": 9}]), record(0, [0.5], [{"alpha": 1}])])
    assert found.values == (0.5, 0.7)
    assert found.configurations == ({"alpha": 1}, {"alpha": 9})
    assert (found.mean, found.std) == pytest.approx((0.6, math.sqrt(0.02)))
    assert found.sizes == (10, 10)


def test_paper_takes_the_best_mean_over_all_folds_for_each_metric():
    metrics = ("average_precision", "one_error")
    tables = [[[0.5, 0.2], [0.6, 0.4], [0.9, 0.9]], [[0.6, 0.3], [0.7, 0.2], [0.1, 0.9]]]
    records = [
        record(fold, table, metrics=metrics, selection="paper") for fold, table in enumerate(tables)
    ]
    best = score(records, "paper")
    assert best.values == (0.6, 0.7)
    assert best.configurations == ({"alpha": 1},)
    assert best.sizes == (20, 20)
    least = score(records, "paper", "one_error")
    assert least.values == (0.2, 0.3)
    assert least.configurations == ({"alpha": 0},)


def test_configurations_are_matched_by_content_and_must_be_in_every_fold():
    records = [
        record(0, [0.5, 0.6, 0.99], [{"a": 1, "b": 2}, {"a": 2}, {"a": 3}], selection="paper"),
        record(1, [0.7, 0.4], [{"a": 2}, {"b": 2, "a": 1}], selection="paper"),
    ]
    found = score(records, "paper")
    assert found.values == (0.6, 0.7)
    assert found.configurations == ({"a": 2},)


def test_a_configuration_that_is_undefined_somewhere_is_not_chosen():
    records = [
        record(0, [0.5, np.nan], selection="paper"),
        record(1, [0.5, 1.0], selection="paper"),
    ]
    assert score(records, "paper").values == (0.5, 0.5)
    loss = [record(k, [np.nan, 0.5], metrics=("one_error",), selection="paper") for k in range(2)]
    assert score(loss, "paper", "one_error").values == (0.5, 0.5)
    assert "not defined" in score([record(0, [np.nan]), record(1, [0.5])]).reason


@given(st.permutations(range(6)))
def test_the_order_of_records_does_not_matter(order):
    records = [
        record(fold, [0.1 * fold + 0.01 * k], method=method)
        for k, (method, fold) in enumerate(itertools.product(("A", "B", "C"), range(2)))
    ]
    results = aggregate([records[k] for k in order], "nested")
    assert list(results.cells.items()) == list(aggregate(records, "nested").cells.items())


def test_selections_are_never_mixed():
    nested = [record(k, [0.5]) for k in range(2)]
    paper = [record(k, [0.9], selection="paper") for k in range(2)]
    for selection, value in (("nested", 0.5), ("paper", 0.9)):
        results = aggregate(nested + paper, selection)
        assert {key[0] for key in results.cells} == {selection}
        assert results.score("enron", "CMLL", "average_precision").mean == value
        assert all(found.selection == selection for found in results.scores())
    assert not aggregate(nested, "paper").cells
    gap = score([nested[0], paper[1]])  # a fold of the other fills no gap
    assert gap.reason == "1 of 2 folds: no record of fold 1"


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("failed", "failed"),
        ("timeout", "ran out of time"),
        ("memory", "ran out of memory"),
        ("absent", "was not run"),
    ],
)
def test_a_failed_fold_is_reported_with_its_reason(status, words):
    bad = makers.record(fold=1, n_folds=2, status=status, reason="It was Monday.")
    other = [record(k, [0.5], method="ORI") for k in range(2)]
    results = aggregate([record(0, [0.5]), bad, *other], "nested")
    (gap,) = results.gaps()
    assert gap.reason == f"1 of 2 folds: fold 1 {words} (It was Monday)"
    assert isinstance(results.cell("enron", "ORI", "average_precision"), Score)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"settings": {"grid": "small"}}, "differ in settings"),
        ({"seed": 3}, "differ in seed"),
        ({"rows": 100}, "differ in rows"),
        ({"n_folds": 3}, "differ in n_folds"),
    ],
)
@pytest.mark.parametrize("fold", [0, 1])
def test_two_runs_under_one_name_are_refused(change, words, fold):
    records = [record(0, [0.5]), record(fold, [0.6], **change)]
    with pytest.raises(ValueError, match=f"room for one run of CMLL on enron .* {words}"):
        aggregate(records, "nested")


def test_the_same_record_twice_is_one_and_a_finished_one_replaces_a_failed_one():
    bad = failed("CMLL")
    good = [record(0, [0.5], circumstances={"host": "a"}), record(1, [0.7])]
    again = record(0, [0.5], circumstances={"host": "b"})
    for records in ([bad, *good], [*good, bad], [*good, again]):
        assert score(records).values == (0.5, 0.7)


def test_two_answers_to_one_question_are_refused():
    with pytest.raises(ValueError, match="one answer, and the records hold two for enron--CMLL"):
        aggregate([record(0, [0.5]), record(0, [0.6])], "nested")


def test_methods_on_different_folds_are_not_compared():
    records = [record(0, [0.5]), record(0, [0.5], method="ORI", rows=100)]
    with pytest.raises(ValueError, match=r"those of ORI and CMLL differ .*\(2, 0, 100\)"):
        aggregate(records, "nested")


def test_what_else_the_records_say_is_joined():
    def one(fold):
        details = {
            "dependence": [1.0 + fold, 2.0],
            "note": "x",
            "by_frequency": {"rare": {"average_precision": 0.2 + 0.2 * fold}},
        }
        seconds = {"seconds": {"fit": 3.0 + fold}}
        return record(
            fold,
            [0.5, 0.6],
            selection="paper",
            details=details,
            circumstances=seconds,
            versions={"numpy": f"2.{fold}"},
        )

    results = aggregate([one(0), one(1)], "paper")
    where = ("enron", "CMLL")
    assert results.seconds[where] == (3.0, 4.0)
    assert results.by_frequency[where] == {"rare": {"average_precision": pytest.approx(0.3)}}
    assert results.grids[where].details["dependence"].tolist() == [[1.0, 2.0], [2.0, 2.0]]
    assert list(results.grids[where].details) == ["dependence"]
    assert results.versions == {"numpy": ("2.0", "2.1")}
    assert (results.n_records, results.n_folds) == (2, {"enron": 2})


def failed(method="X", fold=0, **settings):
    return Record(Cell("enron", method, "nested", fold, 2, settings=settings), "failed", "No.")


@pytest.mark.parametrize(
    ("settings", "metrics"),
    [
        ({"metrics": ["one_error", "average_precision"]}, ("average_precision", "one_error")),
        ({}, ("every metric",)),
    ],
)
def test_where_every_cell_failed_each_is_still_named(settings, metrics):
    results = aggregate([failed(fold=k, **settings) for k in range(2)], "nested")
    assert results.metrics == metrics
    assert [gap.metric for gap in results.gaps()] == list(metrics)
    assert all("fold 0 failed (No); fold 1 failed (No)" in gap.reason for gap in results.gaps())


def test_a_nested_fold_without_a_configuration_is_a_gap():
    empty = Record(Cell("enron", "CMLL", "nested", 1, 2), "done", None, ("average_precision",),
                   [], np.empty((0, 1)))  # fmt: skip
    assert "no configuration in common" in score([record(0, [0.5]), empty]).reason


@pytest.mark.parametrize("value", [None, np.nan])
def test_an_undefined_value_of_a_group_of_labels_is_not_averaged(value):
    records = [
        record(k, [0.5], details={"by_frequency": {"rare": {"micro_f1": v, "macro_f1": 0.25}}})
        for k, v in enumerate((0.5, value))
    ]
    found = aggregate(records, "nested").by_frequency["enron", "CMLL"]
    assert found == {"rare": {"macro_f1": 0.25}}


def test_details_follow_the_configurations_they_belong_to():
    """The second fold has them in another order, and its grid is put into the first one's."""
    both = [{"a": 1}, {"a": 2}]
    records = [
        record(0, [0.5, 0.6], both, selection="paper", details={"d": [1.0, 2.0]}),
        record(1, [0.6, 0.5], both[::-1], selection="paper", details={"d": [20.0, None]}),
    ]
    grid = aggregate(records, "paper").grids["enron", "CMLL"]
    np.testing.assert_array_equal(grid.details["d"], [[1.0, 2.0], [np.nan, 20.0]])
    assert grid.values[:, :, 0].tolist() == [[0.5, 0.6], [0.5, 0.6]]
    assert grid.sizes.tolist() == [[10, 20], [20, 10]]


@pytest.mark.parametrize(
    "odd",
    [
        {"details": {"more": [10**400]}},
        {"details": {"by_frequency": {"rare": {"x": 10**400}}}},
        {"details": {"by_frequency": {"rare": 5}}},
        {"circumstances": {"seconds": {"fit": 10**400}}},
        {"circumstances": {"seconds": {"fit": 1e308}}},
        {"settings": {"metrics": 5}},
    ],
    ids=["detail", "band", "no band", "whole seconds", "seconds", "metrics"],
)
def test_odd_further_values_leave_the_answer(odd):
    usual = {
        "details": {"more": [1], "by_frequency": {"rare": {"x": 0.5}}},
        "circumstances": {"seconds": {"fit": 2.0}},
    }
    settings = {"settings": odd.get("settings", {})}
    results = aggregate(
        [record(0, [0.5], **usual | settings), record(1, [0.7], **usual | odd)], "nested"
    )
    assert results.score("enron", "CMLL", "average_precision").values == (0.5, 0.7)
    known = {} if "circumstances" in odd else {("enron", "CMLL"): (2.0, 2.0)}
    assert results.seconds == known
