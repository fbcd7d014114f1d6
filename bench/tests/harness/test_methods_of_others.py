"""Methods that are not the library's: classifiers with a grid, plug-ins, modules next to a spec."""

import sys
from importlib.metadata import EntryPoint

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import KFold

from compactlearn.datasets import load
from compactlearn.metrics import average_precision, inverse_propensities, micro_f1, psp_at_k
from compactlearn_bench import ClassifierEntry, SpecError, Task, cells_of, entry_names, parse_spec
from compactlearn_bench.methods import finding

METRICS = ("average_precision", "micro_f1", "psp_at_1")


@pytest.fixture(scope="module")
def parts():
    data = load("emotions")
    Y = sparse.csr_array(data.Y)
    return data.X[:200], Y[:200], data.X[200:300], Y[200:300]


def task(entry, parts, selection, given=None):
    settings = entry.settings({"inner_folds": 3, "ridge": "wide"} | (given or {}))
    return Task(*parts, METRICS, selection, settings, 5, 6)


def ridge(alpha, X, Y):
    return RidgeClassifier(alpha=alpha).fit(X, Y.toarray())


def test_paper_judges_every_configuration_on_the_test_rows(parts):
    entry = ClassifierEntry(RidgeClassifier, {"alpha": [0.1, 100.0]})
    answer = entry.answer(task(entry, parts, "paper"))
    assert answer.configurations == [{"alpha": 0.1}, {"alpha": 100.0}]
    X, Y, X_test, Y_test = parts
    for row, alpha in zip(answer.values, (0.1, 100.0), strict=True):
        model = ridge(alpha, X, Y)
        scores = model.decision_function(X_test)
        weights = inverse_propensities(Y)
        wanted = [
            average_precision(Y_test, scores),
            micro_f1(Y_test, model.predict(X_test)),
            psp_at_k(Y_test, scores, 1, weights=weights),
        ]
        np.testing.assert_allclose(row, wanted)
    assert answer.fit_seconds > 0
    assert answer.predict_seconds > 0
    assert list(answer.sizes) == [6 * 72 + 6 + 6] * 2  # coefficients, intercepts, classes


def test_nested_chooses_by_inner_folds_of_the_training_rows(parts):
    alphas = [1e-3, 1e2, 1e9]
    entry = ClassifierEntry(RidgeClassifier, {"alpha": alphas})
    answer = entry.answer(task(entry, parts, "nested"))
    X, Y, _, _ = parts
    cut = KFold(3, shuffle=True, random_state=6)
    means = [
        np.mean(
            [
                average_precision(Y[b], ridge(alpha, X[a], Y[a]).decision_function(X[b]))
                for a, b in cut.split(X)
            ]
        )
        for alpha in alphas
    ]
    assert answer.details["inner_score"] == pytest.approx(max(means))
    assert answer.configurations == [{"alpha": alphas[int(np.argmax(means))]}]
    paper = entry.answer(task(entry, parts, "paper"))
    np.testing.assert_array_equal(answer.values[0], paper.values[int(np.argmax(means))])


def test_the_spec_s_parameters_come_before_the_grid_s(parts):
    entry = ClassifierEntry(RidgeClassifier, {"alpha": [0.1, 100.0]})
    given = {"alpha": 3.0, "fit_intercept": [True, False]}
    answer = entry.answer(task(entry, parts, "paper", given))
    assert answer.configurations == [
        {"alpha": 3.0, "fit_intercept": True},
        {"alpha": 3.0, "fit_intercept": False},
    ]
    with pytest.raises(ValueError, match=r"RidgeClassifier has the parameters .*mean 'alpha'"):
        entry.settings({"alhpa": 1})


@pytest.fixture
def plugin(monkeypatch, helpers):
    def install(name, value):
        point = EntryPoint(name, value, finding.GROUP)
        monkeypatch.setattr(
            finding, "entry_points", lambda group: [point] if group == finding.GROUP else []
        )
        finding._plugins.cache_clear()

    yield install
    finding._plugins.cache_clear()


@pytest.mark.parametrize("name", ["method", "ridge"])
def test_an_installed_package_brings_a_method(plugin, name):
    plugin("theirs", f"plugged:{name}")
    assert "theirs" in entry_names()
    spec = parse_spec({"name": "x", "datasets": ["emotions"], "methods": ["theirs"]})
    cell = cells_of(spec)[0]
    assert "estimator" not in cell.settings
    entry = finding.entry_of(cell.method, cell.settings)
    assert isinstance(entry, ClassifierEntry) == (name == "ridge")
    if name == "ridge":
        assert cell.settings["parameters"] == {"alpha": [1e-3, 1e3]}


def test_a_plug_in_that_cannot_be_imported_is_a_sentence(plugin):
    plugin("ORI", "plugged:nowhere")
    assert finding.entry("ORI") is finding.ENTRIES["ORI"]  # no plug-in takes a name of ours
    plugin("theirs", "plugged:nowhere")
    with pytest.raises(ValueError, match=r"plug-in 'theirs' cannot be imported \(Attr.*; repair"):
        finding.entry("theirs")


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("Method", "the estimator 'plugged:Method' is a class of entries.*make one of it"),
        ("lost", r"cannot say what its settings .*\(KeyError: 'colour'\); correct it"),
        ("misspelt", r"but not 'alhpa'; leave it out. Did you mean 'alpha'\?"),
    ],
)
def test_code_that_is_no_method_is_refused_before_anything_runs(spec, method, words):
    with pytest.raises(SpecError, match=words):
        cells_of(spec(methods=[{"name": "x", "estimator": f"plugged:{method}"}]))


@pytest.mark.parametrize("text", ["def half(:", "raise RuntimeError('blue')"])
def test_a_module_that_cannot_be_imported_is_a_sentence(plugin_folder, monkeypatch, text):
    monkeypatch.setattr(sys, "path", list(sys.path))
    (plugin_folder / "unimportable.py").write_text(text)
    with pytest.raises(ValueError, match=r"cannot be imported \((SyntaxError|RuntimeError): "):
        finding.own_entry("unimportable:x", plugin_folder)


def test_a_seed_that_the_spec_or_the_maker_sets_counts(parts):
    drawn = [
        ClassifierEntry(lambda: RandomForestClassifier(3), {"random_state": [7]}),
        ClassifierEntry(lambda: RandomForestClassifier(3, random_state=7)),
        ClassifierEntry(lambda: RandomForestClassifier(3)),
    ]
    one, two, seeded, again = (
        entry.answer(task(entry, parts, "paper")).values for entry in (*drawn, drawn[2])
    )
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(seeded, again)
    assert not np.array_equal(one, seeded)


def test_a_module_next_to_the_spec_is_found_and_hides_nothing(plugin_folder, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    (plugin_folder / "found_only.py").write_text((plugin_folder / "plugged.py").read_text())
    (plugin_folder / "json.py").write_text("raise RuntimeError")
    entry = finding.own_entry("found_only:ridge", plugin_folder)
    assert isinstance(entry, ClassifierEntry)
    assert sys.path[-1] == str(plugin_folder)
    finding.own_entry.cache_clear()
