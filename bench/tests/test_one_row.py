"""A metric is added by its row, a method by one in the library and one here; all else knows it.

These are two rows of "If this changes, touch only" in docs/contributing/architecture.md, taken at
their word: the tests write the functions and the row, and nothing else.
"""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_multilabel_classification

import compactlearn
from compactlearn import _method_table as library
from compactlearn.embeddings import PLST
from compactlearn.inspection.page_parts import arrow, metric_order
from compactlearn.metrics import evaluate
from compactlearn.metrics._measures import KNOWN, Measure
from compactlearn.metrics._table import ROWS as METRIC_ROWS
from compactlearn.metrics._table import Metric
from compactlearn_bench import Task, cells_of, entry_names, parse_spec
from compactlearn_bench.methods.engine_entry import EngineEntry
from compactlearn_bench.methods.grids import configurations
from compactlearn_bench.methods.library_entries import ENTRIES
from compactlearn_bench.methods.table import ROWS as METHOD_ROWS
from compactlearn_bench.methods.table import MethodRow
from compactlearn_bench.records import Cell, Record, aggregate
from compactlearn_bench.report import render_html
from compactlearn_bench.report.tables.names import title
from compactlearn_bench.report.tables.published import family_of, method_order
from compactlearn_bench.report.words.legend import describe, legend

X, Y = make_multilabel_classification(n_samples=90, n_features=8, n_classes=5, random_state=0)


# ---- two metrics: one of scores, one of labels ---------------------------------------------------


def burial(share=1.0):
    """Return the rank of the last present label, as a share."""
    return Measure(KNOWN, lambda rows: share * rows.max_by_row(rows.upto) / rows.truth.shape[1])


def excess():
    """Predicted labels that are wrong, for each row."""
    return Measure(KNOWN, lambda rows: rows.predicted - rows.hits)


@pytest.fixture(params=["burial", "excess"])
def metric(request, monkeypatch):
    row = {
        "burial": Metric("burial", "scores", False, "Burial depth", burial),
        "excess": Metric("excess", "labels", False, "Labels too many", excess),
    }[request.param]
    monkeypatch.setitem(METRIC_ROWS, row.name, row)
    return row


def of_model(metric, model, X, Y):
    answer = model.predict(X) if metric.needs == "labels" else model.decision_function(X)
    return metric.function(Y, answer)


def test_evaluate_knows_a_new_metric(metric):
    model = compactlearn.method("ORI").fit(X, Y)
    found = evaluate(Y, model.decision_function(X), labels=model.predict(X))
    assert found[metric.name] == pytest.approx(of_model(metric, model, X, Y))
    assert model.evaluate(X, Y)[metric.name] == found[metric.name]


def task_for(names, settings, selection="paper"):
    S = sparse.csr_array(Y)
    return Task(X[:60], S[:60], X[60:], S[60:], names, selection, settings, 0)


@pytest.mark.parametrize("name", ["ORI", "BR-logistic"])
def test_the_benchmark_judges_by_a_new_metric(metric, name):
    spec = parse_spec(
        {"name": "one", "datasets": ["emotions"], "methods": [name], "metrics": [metric.name]}
    )
    settings = dict(cells_of(spec)[0].settings) | {"alphas": [1.0], "Cs": [1.0], "threshold": 0.5}
    entry = ENTRIES[name]
    task = task_for((metric.name, "micro_f1"), settings)
    values = entry.answer(task).values[0]
    model = compactlearn.method("ORI", alpha=1.0).fit(X[:60], Y[:60])
    if name == "ORI":
        assert values[0] == pytest.approx(of_model(metric, model, X[60:], Y[60:]))
    assert np.isfinite(values).all()


def records_of(metric, methods=("ORI", "CMLL"), n_configurations=2):
    """Two folds of each method; the second configuration has the lower values."""
    values = np.linspace(0.5, 0.2, n_configurations)[:, None]
    return [
        Record(
            Cell("emotions", method, "paper", fold, 2, settings={"metrics": [metric]}),
            "done",
            metrics=[metric],
            configurations=[{"alpha": float(k)} for k in range(n_configurations)],
            values=values + 0.01 * fold,
        )
        for method in methods
        for fold in range(2)
    ]


def test_records_and_report_know_title_and_direction_of_a_new_metric(metric):
    found = aggregate(records_of(metric.name), "paper").score("emotions", "ORI", metric.name)
    assert found.mean == pytest.approx(0.205)  # the lower
    assert (title(metric.name), arrow(metric.name)) == (metric.title, "↓")
    assert metric_order(["other", metric.name]) == [metric.name, "other"]
    assert metric.title in render_html(records_of(metric.name))


# ---- a method ------------------------------------------------------------------------------------


class Last(PLST):
    """An embedding that is new in nothing but its name."""


@pytest.fixture(autouse=True)
def new_method(monkeypatch):
    row = library.MethodRow("LAST", f"{__name__}:Last")
    monkeypatch.setitem(library.ROWS, "LAST", row)
    line = "A method that the tests have added by its row."
    shown = MethodRow("LAST", "linear", line, axes=("label_ratios", "alphas"))
    monkeypatch.setitem(METHOD_ROWS, "LAST", shown)


def test_a_new_method_is_made_by_its_name():
    model = compactlearn.method("LAST", n_label_components=2, alpha=1.0)
    assert type(model.embedding) is Last
    assert model.get_params()["embedding__n_label_components"] == 2
    assert model.threshold == 0.5  # the paper's
    assert model.fit(X, Y).predict(X).shape == Y.shape


def test_a_spec_takes_a_new_method_and_its_grid():
    assert "LAST" in entry_names()
    given = {"name": "LAST", "label_ratios": [0.4, 1.0], "alphas": [0.1, 1.0, 10.0]}
    spec = parse_spec({"name": "one", "datasets": ["emotions"], "methods": [given], "folds": 2})
    settings = cells_of(spec)[0].settings
    assert len(configurations(settings, ENTRIES["LAST"].axes)) == 6
    for selection, n_kept in (("paper", 6), ("nested", 1)):
        answer = ENTRIES["LAST"].answer(
            task_for(("average_precision",), {**settings, "inner_folds": 2}, selection)
        )
        assert answer.values.shape == (n_kept, 1)
        assert set(answer.configurations[0]) == {"n_label_components", "alpha"}


def test_the_report_knows_a_new_method():
    line = "A method that the tests have added by its row."
    assert describe("LAST") == line
    assert describe("k-LAST").startswith("As LAST, with a Gaussian kernel")
    assert legend(["CMLL", "LAST"])[0] == ("LAST", line)
    assert (family_of("LAST"), family_of("LAST, twice")) == ("linear", "other")
    assert sorted(["CMLL", "LAST", "ORI"], key=method_order) == ["ORI", "LAST", "CMLL"]
    page = render_html(records_of("average_precision", ("ORI", "LAST", "CMLL")))
    assert line in page


def control(row):
    """An entry of the benchmark that is no method of the library."""
    return EngineEntry(row, lambda settings, seed: compactlearn.method("ORI"))


def test_a_control_of_the_benchmark_is_added_by_a_row_and_its_maker(monkeypatch):
    line = "Control: plain ridge under another name, which the tests have added."
    row = MethodRow("CONTROL", "other", line, axes=("alphas",), made_by=f"{__name__}:control")
    monkeypatch.setitem(METHOD_ROWS, "CONTROL", row)
    found = {
        name: ENTRIES[name].answer(task_for(("one_error",), ENTRIES[name].settings({}))).values
        for name in ("CONTROL", "ORI")
    }
    np.testing.assert_array_equal(found["CONTROL"], found["ORI"])
    assert (describe("CONTROL"), family_of("CONTROL")) == (line, "other")
    with pytest.raises(ValueError, match="There is no method 'CONTROL'"):
        compactlearn.method("CONTROL")


def test_every_row_names_something_that_is_there():
    for row in library.ROWS.values():
        assert callable(row.maker()), row.name
    for row in METHOD_ROWS.values():
        assert ENTRIES[row.name].settings({}) is not None
        assert bool(row.made_by) == (row.family == "other")
