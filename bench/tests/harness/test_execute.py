"""One cell: the rows it sees, what it draws from, and what it refuses to call an answer."""

import os
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import sklearn
from scipy import sparse
from threadpoolctl import threadpool_info, threadpool_limits

from compactlearn.datasets import load
from compactlearn_bench.harness.execute import execute, fold_rows
from compactlearn_bench.harness.job import Job
from compactlearn_bench.methods.entry import Answer
from compactlearn_bench.methods.finding import entry_of
from compactlearn_bench.records import Cell, Record


@pytest.fixture
def asked(helpers):
    """A function that makes the cell of a plugged method."""

    def make(method="method", selection="paper", fold=1, **keys):
        settings = {"estimator": f"plugged:{method}", "metrics": ["one_error"], "pause": 0.0}
        return Cell("emotions", method, selection, fold, 3, settings=settings, **keys)

    return make


@pytest.fixture
def seen(helpers, monkeypatch):
    """The tasks that the plugged method was given."""
    import plugged

    tasks = []

    def answer(task):
        tasks.append(task)
        return Answer([{}], np.zeros((1, 1)), [1], 0.0, 0.0)

    monkeypatch.setattr(plugged.method, "answer", answer, raising=False)
    return tasks


@pytest.mark.parametrize("rows", [None, 100])
@pytest.mark.parametrize("selection", ["paper", "nested"])
def test_a_method_is_fitted_on_the_training_rows_and_judged_on_the_others(
    asked, seen, rows, selection
):
    cell, data = asked(selection=selection, rows=rows, seed=4), load("emotions")
    assert execute(Job(cell)).status == "done"
    used, train, test = fold_rows(cell, len(data.X))
    assert not set(train) & set(test)
    (task,) = seen
    Y = sparse.csr_array(data.Y).toarray()
    np.testing.assert_array_equal(task.X_train, data.X[used[train]])
    np.testing.assert_array_equal(task.X_test, data.X[used[test]])
    np.testing.assert_array_equal(task.Y_train.toarray(), Y[used[train]])
    np.testing.assert_array_equal(task.Y_test.toarray(), Y[used[test]])
    assert (task.seed, task.inner_seed) == (cell.method_seed, cell.inner_seed)
    assert (task.metrics, task.selection) == (("one_error",), selection)


def test_generators_and_threads_are_the_cells_alone(asked):
    with threadpool_limits(2):
        if all(pool["num_threads"] == 1 for pool in threadpool_info()):
            pytest.skip("there is no second thread to be had here")
        first, other, again = (
            execute(Job(asked("drawing", fold=fold))).answer() for fold in (0, 1, 0)
        )
    assert first == again
    assert first["values"] != other["values"]
    assert first["axes"] == {"threads": [1]}


def test_what_a_method_changes_is_put_back(asked, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cell, before = asked("careless"), (np.geterr(), sklearn.get_config())
    record = execute(Job(cell))
    assert record.status == "done"
    assert os.getcwd() == str(tmp_path)
    assert (np.geterr(), sklearn.get_config()) == before
    # Else the record would not be found again under the name of its cell.
    assert Record.from_json(record.to_json()).cell.name == asked("careless").name
    said = record.circumstances["warnings"]
    assert said == [f"UserWarning: number {k}" for k in range(5)]


@pytest.mark.parametrize(
    ("method", "selection", "words"),
    [
        ("odd_none", "paper", "at least one configuration, .* got 0 for 'paper'"),
        ("odd_two", "nested", "the chosen one alone; got 2 for 'nested'"),
        ("odd_number", "paper", r"tables of finite numbers.*int64.*got \{'a': "),
        ("odd_infinite", "paper", "must be finite, or NaN"),
        ("odd_sizes", "paper", r"got \(1, 1\) and 2 sizes"),
    ],
)
def test_what_no_record_can_hold_is_a_failure_with_its_reason(asked, method, selection, words):
    record = execute(Job(asked(method, selection)))
    assert record.status == "failed"
    assert record.reason.startswith(("ValueError: ", "TypeError: "))
    with pytest.raises(ValueError, match=words):
        raise ValueError(record.reason)
    assert set(record.versions) >= {"python", "numpy"}
    Record.from_json(record.to_json())


def test_a_record_names_the_device_on_which_its_cell_used_memory(asked, seen, monkeypatch):
    """And not one that an earlier cell of the process had used."""

    class Cuda:
        def __init__(self):
            self.peak = 7  # of an earlier cell

        def is_initialized(self):
            return True

        def max_memory_allocated(self):
            return self.peak

        def reset_peak_memory_stats(self):
            self.peak = 0

        def get_device_name(self):
            return "Some Device"

    cuda = Cuda()
    torch = SimpleNamespace(cuda=cuda, manual_seed=lambda seed: None)
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert "device" not in execute(Job(asked())).circumstances["host"]

    def answer(task):
        cuda.peak = 1
        return Answer([{}], np.zeros((1, 1)), [1], 0.0, 0.0)

    import plugged

    monkeypatch.setattr(plugged.method, "answer", answer, raising=False)
    assert execute(Job(asked())).circumstances["host"]["device"] == "Some Device"


def test_a_grid_may_be_solved_on_a_device():
    """The scores are the same, and the cell does not know."""
    settings = {"alphas": [0.1, 1.0], "label_ratios": [0.5, 1.0], "metrics": ["average_precision"]}
    entry = entry_of("k-CPLST", {"metrics": ["average_precision"]}, None)
    given = {k: v for k, v in settings.items() if k != "metrics"}
    cell = Cell(
        "emotions",
        "k-CPLST",
        "paper",
        0,
        3,
        settings=entry.settings(given) | {"metrics": settings["metrics"]},
    )
    here, there = (execute(Job(cell, device=device)) for device in (None, "cpu"))
    assert here.cell == there.cell
    np.testing.assert_allclose(here.values, there.values, atol=1e-9)
    lost = execute(Job(cell, device="nowhere"))
    assert (lost.status, "what PyTorch calls one" in lost.reason) == ("failed", True)
