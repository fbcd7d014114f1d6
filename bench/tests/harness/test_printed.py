"""The protocol "as printed" in the benchmark: settings, rows, and what counts."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from compactlearn import METHODS, KernelMap, method
from compactlearn.datasets import load
from compactlearn_bench import cells_of, read_spec
from compactlearn_bench.harness.execute import execute, fold_rows
from compactlearn_bench.harness.job import Job
from compactlearn_bench.methods.kernel_regressor import KernelRegressor
from compactlearn_bench.methods.library_entries import ENTRIES
from compactlearn_bench.methods.printed import as_printed
from compactlearn_bench.methods.table import ROWS
from compactlearn_bench.records import Cell
from tests.makers import make_data

from .tasks import judged, make_task

FOLDER = Path(__file__).resolve().parents[2] / "paper"
PRINTED = {"protocol": "as printed"}
COMPACT = [name for name in METHODS[:17] if name not in ("POP", "C2AE")]


# --- settings -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ORI", "CMLL", "k-MDDM"])
def test_the_penalty_of_the_protocol_is_the_grid(name):
    entry = ENTRIES[name]
    assert entry.settings({**PRINTED, "ridge": "paper"})["alphas"] == [0.1]
    assert entry.settings({**PRINTED, "alphas": [1.0, 2.0]})["alphas"] == [1.0, 2.0]
    found = entry.settings(PRINTED)
    assert entry.settings(found) == found


@pytest.mark.parametrize("name", ["ORI", "FaIE", "MDDM", "k-ORI"])
def test_a_record_has_the_values_of_separate_fits(name):
    entry = ENTRIES[name]
    settings = entry.settings({**PRINTED, "betas": [1.0], "label_ratios": [0.5, 1.0]})
    task = make_task(settings=settings)
    answer = entry.answer(task)
    for configuration, values in zip(answer.configurations, answer.values, strict=True):
        model = entry.make(settings, task.seed)
        assert (model.bias, configuration["alpha"]) == ("none", 0.1)
        known = model.get_params(deep=False)
        model.set_params(
            **{k if k in known else f"embedding__{k}": v for k, v in configuration.items()}
        )
        model.fit(task.X_train, task.Y_train)
        np.testing.assert_allclose(values, judged(model, task), atol=1e-9)


# --- rows -----------------------------------------------------------------------------------------


def test_a_cell_sees_the_rows_and_labels_that_its_settings_ask_for(monkeypatch):
    seen, entry = [], ENTRIES["ORI"]
    real = type(entry).answer

    def answer(self, task):
        seen.append(task)
        return real(self, task)

    monkeypatch.setattr(type(entry), "answer", answer)
    data = load("enron")
    left_out = list(data.label_names[4:])
    metrics = ["ranking_loss", "average_precision", "one_error"]
    common = {"metrics": metrics, **entry.settings(PRINTED)}
    cell = Cell("enron", "ORI", "paper", 1, 3, settings=common)
    cut = {"train_rows": 200, "left_out_labels": left_out, "empty_rows": "counted"}
    other = Cell("enron", "ORI", "paper", 1, 3, settings={**common, **cut})
    records = [execute(Job(one)) for one in (cell, other)]
    assert [record.status for record in records] == ["done", "done"]
    whole, part = seen[:2]
    train = fold_rows(cell, data.X.shape[0])[1]
    assert whole.X_train.shape[0] == len(train)
    assert part.X_train.shape[0] == part.Y_train.shape[0] == 200
    assert part.X_test.shape == whole.X_test.shape
    np.testing.assert_array_equal(part.Y_test.toarray(), whole.Y_test.toarray()[:, :4])
    empty = np.mean(part.Y_test.toarray().sum(axis=1) == 0)
    assert empty > 0, "otherwise nothing is tested"
    raw = entry.answer(part)
    np.testing.assert_allclose(records[1].values[0, 0], (1 - empty) * raw.values[0, 0])
    np.testing.assert_allclose(records[1].values[0, 1], raw.values[0, 1])
    wrong_first = (1 - empty) * raw.values[0, 2] + empty
    np.testing.assert_allclose(records[1].values[0, 2], wrong_first)
    wrong = Cell("enron", "ORI", "paper", 0, 3, settings={**common, "left_out_labels": ["x"]})
    assert "'x' is none of its 53" in execute(Job(wrong)).reason


# --- the specs ------------------------------------------------------------------------------------


def test_the_specs_are_as_printed_on_every_published_cell():
    cells = [
        cell
        for name in ("printed", "printed_kernel")
        for cell in cells_of(read_spec(FOLDER / f"{name}.toml"))
    ]
    methods = {name for name, row in ROWS.items() if row.family in ("linear", "kernel")} - {"C2AE"}
    sets = {cell.dataset for cell in cells_of(read_spec(FOLDER / "linear.toml"))}
    assert {(c.dataset, c.method, c.fold) for c in cells} == {
        (data, method, fold) for data in sets for method in methods for fold in range(5)
    }
    for cell in cells:
        settings = cell.settings
        if cell.method != "POP":
            assert settings["protocol"] == "as printed"
            assert settings["alphas"] == [0.1]
        assert ("Humor" in settings.get("left_out_labels", [])) == (cell.dataset == "llog")
        assert (settings.get("base_loss") == "hinge") == (
            (cell.dataset, cell.method) == ("delicious", "POP")
        )
        few = cell.dataset == "mediamill" or (
            cell.dataset == "delicious" and cell.method.startswith("k-")
        )
        assert settings.get("train_rows") == (4000 if few else None)


# --- what it means --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["PLST", "CPLST", "DMLR"])
def test_with_all_codes_a_linear_encoder_is_ridge(name):
    X, Y = make_data(50, 8, 6)
    found, ridge = (
        as_printed(one, **size).fit(X, Y).decision_function(X)
        for one, size in [(name, {"n_label_components": 6}), ("ORI", {})]
    )
    np.testing.assert_allclose(found, ridge, atol=1e-8)


def test_cplst_looks_at_what_its_own_learner_can_predict():
    """Its hat matrix is that of a ridge without an intercept."""
    X, Y = make_data(50, 8, 6)
    model = as_printed("CPLST", n_label_components=3).fit(X, Y)
    gram = X.T @ X + 0.1 * np.eye(8)
    values = np.linalg.eigvalsh(Y.T @ X @ np.linalg.solve(gram, X.T @ Y))[::-1][:3]
    np.testing.assert_allclose(model.embedding_.eigenvalues_, values, rtol=1e-8)


@pytest.mark.parametrize("name", COMPACT)
def test_the_protocol_as_printed(name):
    """The paper's, without an intercept, with a penalty of 0.1, and with FaIE's small one; labels
    are not centred, and where rows are projected a kernel ridge learns from them."""
    paper, printed = method(name), as_printed(name)
    assert (printed.bias, printed.alpha) == ("none", 0.1)
    given, known = (model.make_embedding().get_params() for model in (printed, paper))
    if name.removeprefix("k-") == "FaIE":
        assert given.pop("ridge") == 1e-6
        known.pop("ridge")
    if name.removeprefix("k-") in ("PLST", "CPLST"):
        known["offset"] = "none"
    assert given == known
    outer = [
        {
            key: repr(value)
            for key, value in model.get_params(deep=False).items()
            if key not in ("embedding", "bias", "alpha", "regressor")
        }
        for model in (printed, paper)
    ]
    assert outer[0] == outer[1]
    learner = "KernelRegressor(alpha=0.1)" if name in ("k-MDDM", "k-CMLL") else "None"
    assert (repr(printed.regressor), paper.regressor) == (learner, None)
    assert as_printed(name, alpha=3.0).alpha == 3.0


@pytest.mark.parametrize("name", [name for name in COMPACT if not name.startswith("k-")])
def test_as_printed_a_row_of_zeros_has_scores_of_zero(name):
    """No constant enters, neither by an intercept nor by the labels' mean."""
    X, Y = make_data()
    model = as_printed(name).fit(X + 1.0, Y)
    scores = model.decision_function(np.zeros((1, X.shape[1])))
    np.testing.assert_allclose(scores[0], 0.0, atol=1e-12)
    free = method(name).fit(X + 1.0, Y).decision_function(np.zeros((1, X.shape[1])))
    assert np.abs(free[0]).max() > 1e-3


def test_the_kernel_ridge_learns_from_projected_rows():
    X, Y = make_data(40, 6, 5)
    model = as_printed("k-MDDM", n_feature_components=3, random_state=0).fit(X, Y)
    U = KernelMap().fit(X).rows(X) @ model.embedding_.projection_
    expected = KernelRidge(alpha=0.1, kernel="rbf", gamma=KernelMap().fit(U).gamma_)
    expected = expected.fit(U, Y).predict(U)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-7)
    assert isinstance(model.regressor_, KernelRegressor), "all targets at once"
