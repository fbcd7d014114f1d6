"""Baselines in the benchmark: their scores are those of their usual code."""

import builtins
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from compactlearn import CMLLClassifier, method
from compactlearn.datasets import load
from compactlearn.metrics import (
    average_precision,
    calibration_error,
    log_loss,
    micro_f1,
    ranking_loss,
)
from compactlearn_bench import ClassifierEntry, cells_of, parse_spec
from compactlearn_bench.harness.execute import execute, fold_rows
from compactlearn_bench.harness.job import Job
from compactlearn_bench.methods import baselines
from compactlearn_bench.methods.baselines import ChainEnsemble
from compactlearn_bench.methods.controls import one_vs_rest
from compactlearn_bench.methods.entry import Task
from compactlearn_bench.methods.library_entries import ENTRIES

from .baseline_helpers import AutoStandIn
from .tasks import INNER, SEED, make_task

METRICS = ("average_precision", "micro_f1", "ranking_loss", "log_loss", "calibration_error")
Cs = [1e-4, 0.1, 10.0]


def expected(task, scores, labels, probabilities=None):
    found = [
        average_precision(task.Y_test, scores),
        micro_f1(task.Y_test, labels),
        ranking_loss(task.Y_test, scores),
    ]
    if probabilities is None:
        return [*found, np.nan, np.nan]
    losses = (log_loss, calibration_error)
    return [*found, *(loss(task.Y_test, probabilities) for loss in losses)]


def answer(name, settings=None, form=False, selection="nested", task=None):
    task = task or make_task(selection, settings or {}, METRICS, sparse=form)
    return ENTRIES[name].answer(task), task


def best_of(task, make, score):
    """The penalty that a plain loop over inner folds prefers."""
    X, Y, means = task.X_train, task.Y_train, []
    for C in Cs:
        folds = KFold(3, shuffle=True, random_state=INNER).split(np.empty((X.shape[0], 1)))
        means.append(
            np.mean(
                [
                    average_precision(Y[b], score(make(C).fit(X[a], Y[a].toarray()), X[b]))
                    for a, b in folds
                ]
            )
        )
    return Cs[int(np.argmax(means))]


both_forms = pytest.mark.parametrize("form", [False, True], ids=["dense", "sparse"])


@both_forms
def test_linear_svm_is_tuned_by_inner_folds_and_cut_at_zero(form):
    found, task = answer("Linear SVM", {"Cs": Cs}, form)

    def make(C):
        return OneVsRestClassifier(LinearSVC(C=C, random_state=SEED))

    C = best_of(task, make, lambda model, X: model.decision_function(X))
    assert found.configurations == [{"C": C}]
    model = make(C).fit(task.X_train, task.Y_train.toarray())
    scores = model.decision_function(task.X_test)
    np.testing.assert_allclose(found.values[0], expected(task, scores, scores > 0))
    assert found.sizes == [14 * 7 + 7]


@pytest.mark.parametrize("always", [0, 1])
@pytest.mark.parametrize("name", ["Linear SVM", "Chains", "LightGBM", "ML-kNN", "Random forest"])
def test_a_label_that_does_not_vary_is_ranked_where_it_belongs(name, always):
    """First where every training row has it, last where none has; and nothing fails."""
    if name in ("LightGBM", "ML-kNN"):
        pytest.importorskip({"LightGBM": "lightgbm", "ML-kNN": "skmultilearn"}[name])
    task = make_task("paper", {"Cs": [1.0], "trees": 20, "neighbours": [5]}, METRICS)
    Y = task.Y_train.toarray()
    Y[:, 3] = always
    entry = ENTRIES[name]
    own = entry.settings(task.settings)
    configuration = {"C": 1.0, "k": 5}
    model = entry.make(own, configuration, SEED).fit(task.X_train, sparse.csr_array(Y))
    scores = entry.reading.scores(model, task.X_test)
    others = np.delete(scores, 3, axis=1)
    if always:
        assert (scores[:, [3]] >= others).all()
    else:
        assert (scores[:, [3]] <= others).all()
    labels = model.predict(task.X_test)  # sparse, where the labels were
    labels = labels.toarray() if sparse.issparse(labels) else labels
    assert (labels[:, 3] == always).all()


@both_forms
def test_chains_are_averaged_and_have_one_vs_rests_penalty(form):
    found, task = answer("Chains", {"Cs": Cs, "chains": 3}, form)
    C = best_of(task, one_vs_rest, lambda model, X: model.predict_proba(X))
    assert found.configurations == [{"C": C}]
    ensemble = ChainEnsemble(C, 3, SEED).fit(task.X_train, task.Y_train)
    orders = [chain.order_.tolist() for chain in ensemble.chains_]
    assert len({tuple(order) for order in orders}) == 3
    X, X_test = task.X_train, task.X_test
    if form:
        X, X_test = sparse.csr_matrix(X), sparse.csr_matrix(X_test)
    parts = []
    for order in orders:
        chain = ClassifierChain(LogisticRegression(solver="liblinear", C=C), order=order)
        parts.append(chain.fit(X, task.Y_train.toarray()).predict_proba(X_test))
    probabilities = np.mean(parts, axis=0)
    wanted = expected(task, probabilities, probabilities > 0.5, probabilities)
    np.testing.assert_allclose(found.values[0], wanted, rtol=1e-6)
    assert found.sizes == [3 * sum(14 + k + 1 for k in range(7))]


@both_forms
@pytest.mark.parametrize(
    ("name", "kind"),
    [("Random forest", RandomForestClassifier), ("Extra trees", ExtraTreesClassifier)],
)
def test_forests_are_scikit_learns(name, kind, form):
    found, task = answer(name, {"trees": 12}, form)
    model = kind(12, random_state=SEED).fit(task.X_train, task.Y_train.toarray())
    probabilities = np.array([part[:, 1] for part in model.predict_proba(task.X_test)]).T
    wanted = expected(task, probabilities, model.predict(task.X_test), probabilities)
    np.testing.assert_allclose(found.values[0], wanted)
    leaves = [one.tree_.n_leaves for one in model.estimators_]
    assert found.sizes == [sum(4 * (n - 1) + 7 * n for n in leaves)]
    assert ENTRIES[name].settings({})["trees"] == 500


@both_forms
def test_lightgbm_has_its_defaults(form):
    lightgbm = pytest.importorskip("lightgbm", reason="the extra 'baselines' brings it")
    found, task = answer("LightGBM", {}, form)
    one = lightgbm.LGBMClassifier(random_state=SEED, verbosity=-1, n_jobs=1)
    model = OneVsRestClassifier(one).fit(task.X_train, task.Y_train.toarray())
    probabilities = model.predict_proba(task.X_test)
    wanted = expected(task, probabilities, probabilities > 0.5, probabilities)
    np.testing.assert_allclose(found.values[0], wanted, rtol=1e-12)
    frames = [e.booster_.trees_to_dataframe() for e in model.estimators_]
    splits = sum(int(frame["split_feature"].notna().sum()) for frame in frames)
    leaves = sum(int(frame["split_feature"].isna().sum()) for frame in frames)
    assert found.sizes == [4 * splits + leaves]


@both_forms
def test_ml_knn_is_that_of_scikit_multilearn(form):
    adapt = pytest.importorskip("skmultilearn.adapt", reason="the extra 'baselines' brings it")
    found, task = answer("ML-kNN", {"neighbours": [3, 9]}, form)
    (k,) = found.configurations[0].values()
    assert k in (3, 9)
    X, X_test = (sparse.csr_matrix(part) for part in (task.X_train, task.X_test))
    model = adapt.MLkNN(k=k).fit(X, sparse.csr_matrix(task.Y_train))
    probabilities, labels = (f(X_test).toarray() for f in (model.predict_proba, model.predict))
    wanted = expected(task, probabilities, labels, probabilities)
    np.testing.assert_allclose(found.values[0], wanted)


# ---- what chooses by itself ----------------------------------------------------------------------


def test_auto_is_asked_by_its_name_and_says_what_it_chose(monkeypatch):
    monkeypatch.setattr(baselines, "AutoCompactClassifier", AutoStandIn)
    found, task = answer("Auto")
    own = CMLLClassifier(decoder="logistic", threshold="f1", random_state=SEED)
    own.fit(task.X_train, task.Y_train)
    wanted = expected(
        task,
        own.decision_function(task.X_test),
        own.predict(task.X_test),
        own.predict_proba(task.X_test),
    )
    np.testing.assert_allclose(found.values[0], wanted)
    assert found.details["chosen"].startswith("CMLLClassifier(decoder='logistic'")
    assert found.sizes == [own.n_parameters_]
    entry = ENTRIES["Auto"]
    assert "size_budget" not in entry.settings({})
    model = entry.make(entry.settings({"size_budget": 0.05, "time_budget": 9}), {}, 3)
    assert (model.size_budget, model.time_budget, model.random_state) == (0.05, 9, 3)


def test_metrics_of_probabilities_are_gaps_for_who_has_none():
    for name in ("ORI", "Linear SVM"):
        found, _ = answer(name, {"alphas": [1.0], "Cs": [1.0]})
        assert np.isnan(found.values[0, 3:]).all()
        assert np.isfinite(found.values[0, :3]).all()
    found, task = answer("CMLL+logistic", {"alphas": [1.0], "label_ratios": [1.0]})
    assert np.isfinite(found.values).all()
    entry = ClassifierEntry(RidgeClassifier)
    settings = entry.settings({})
    own = Task(task.X_train, task.Y_train, task.X_test, task.Y_test, METRICS, "nested", settings, 0)
    np.testing.assert_array_equal(np.isnan(entry.answer(own).values), [[0, 0, 0, 1, 1]])


# ---- what a record has ---------------------------------------------------------------------------


def one_cell(method, **keys):
    spec = {"name": "x", "folds": 2, "inner_folds": 2, "selections": ["nested"]}
    spec |= {"datasets": [{"name": "emotions", "rows": 120}], "methods": [method]}
    return cells_of(parse_spec(spec | keys))[0]


def test_a_record_has_the_seconds_of_the_search_and_the_bytes_of_the_model():
    record = execute(Job(one_cell({"name": "BR-logistic", "Cs": [0.1, 1.0], "threshold": 0.5})))
    assert record.status == "done"
    seconds = record.circumstances["seconds"]
    assert list(seconds) == ["search", "fit", "predict", "total"]
    assert 0 < seconds["fit"] < seconds["search"] < seconds["total"]
    assert 8 * record.sizes[0] < record.circumstances["model_bytes"] < 16 * record.sizes[0] + 9000


@pytest.mark.parametrize(
    ("method", "module"), [("LightGBM", "lightgbm"), ("ML-kNN", "skmultilearn")]
)
def test_an_absent_package_is_reported_in_a_sentence_and_is_no_failure(method, module, monkeypatch):
    there = builtins.__import__

    def without(name, *given, **more):
        if name.partition(".")[0] == module:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return there(name, *given, **more)

    for name in [name for name in sys.modules if name.partition(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr("importlib.import_module", lambda name: without(name))
    record = execute(Job(one_cell(method)))
    assert record.status == "absent"
    assert f"needs the package {module!r}, which is not installed" in record.reason
    assert "pip install 'compactlearn-bench[baselines]'" in record.reason


# ---- scaling, folds ------------------------------------------------------------------------------


def test_a_spec_asks_for_scaling_and_the_method_sees_it():
    found = {}
    for given in ({}, {"scaling": "standard"}):
        cell = one_cell({"name": "ORI", "alphas": [10.0], **given})
        assert cell.settings.get("scaling") == given.get("scaling")
        assert "scaling" in cell.settings or not given
        found[bool(given)] = execute(Job(cell)).value("average_precision")
        if given:
            own = cell
    data = load("emotions")
    used, train, test = fold_rows(own, data.n_samples)
    X, Y = np.asarray(data.X)[used], sparse.csr_array(data.Y)[used]
    scaler = StandardScaler().fit(X[train])
    model = method("ORI", alpha=10.0).fit(scaler.transform(X[train]), Y[train])
    scores = model.decision_function(scaler.transform(X[test]))
    assert found[True] == pytest.approx(average_precision(Y[test], scores), rel=1e-6)
    assert found[True] != found[False]


def test_a_data_set_may_have_folds_of_its_own():
    spec = {"name": "x", "folds": 4, "selections": ["nested"], "methods": ["ORI"]}
    spec["datasets"] = ["enron", {"name": "emotions", "folds": 2, "rows": 100}]
    cells = cells_of(parse_spec(spec))
    assert [(c.dataset, c.fold, c.n_folds, c.rows) for c in cells] == [
        *(("enron", k, 4, None) for k in range(4)),
        *(("emotions", k, 2, 100) for k in range(2)),
    ]
    spec["datasets"] = [{"name": "emotions", "folds": 30, "rows": 20}]
    with pytest.raises(ValueError, match=r"at most as many as rows, and emotions has 20; got 30"):
        cells_of(parse_spec(spec))
