"""`compactlearn demo --paper` is two specs of the benchmark: its folds, its sizes, its figures."""

import itertools
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge

from compactlearn import CMLLClassifier
from compactlearn.datasets import load
from compactlearn.metrics import average_precision
from compactlearn_bench import Task, cells_of, paper_demo, run
from compactlearn_bench.harness.execute import fold_rows
from compactlearn_bench.methods.finding import entry
from compactlearn_bench.methods.grids import configurations
from compactlearn_bench.methods.model_numbers import linear_parameters
from compactlearn_bench.paper_demo import demonstrate, specs
from compactlearn_bench.records import Store, aggregate, open_records

METHODS = ["ORI", "CMLL_y", "CMLL"]
METRICS = ("average_precision", "micro_f1", "ranking_loss", "one_error")
PROTOCOLS = ("paper", "fair")
HELPERS = Path(__file__).parent / "helpers"
RECORDS = Path(__file__).resolve().parents[2] / "paper" / "records.jsonl.xz"


@pytest.fixture(scope="module")
def of_seed(tmp_path_factory):
    """A quick demo on two folds, by seed; the store is called after it."""
    folder, found = tmp_path_factory.mktemp("demo"), {}

    def make(seed, name=None):
        if (seed, name) not in found:
            store = Store(folder / f"{seed} {name}")
            with pytest.MonkeyPatch.context() as patch:
                patch.syspath_prepend(HELPERS)
                from forked import fork_worker

                patch.setattr(paper_demo, "run", partial(run, launcher=fork_worker))
                found[seed, name] = demonstrate(specs(2, seed, quick=True), store, workers=2)
        return found[seed, name]

    return make


@pytest.fixture(scope="module")
def result(of_seed):
    return of_seed(1)


def every_figure(result):
    asked = itertools.product(result.methods, PROTOCOLS, METRICS)
    return {key: result.figure(*key) for key in asked}


def test_every_method_appears_under_both_protocols(result):
    assert result.methods == METHODS
    for figure in every_figure(result).values():
        assert len(figure.values) == 2
        assert all(0 <= value <= 1 for value in figure.values)


def test_the_same_seed_has_the_same_figures_in_any_store(result, of_seed):
    assert every_figure(of_seed(1, "elsewhere")) == every_figure(result)


def test_ori_is_ridge_on_the_folds_of_the_benchmark(result):
    data, expected = load("enron"), []
    for cell in cells_of(result.specs["paper"]):
        if cell.method == "ORI":
            _, train, test = fold_rows(cell, data.n_samples)
            model = Ridge(alpha=0.1).fit(data.X[train].toarray(), data.Y[train].toarray())
            scores = model.predict(data.X[test].toarray())
            expected.append(average_precision(data.Y[test], scores))
    figure = result.figure("ORI", "paper", "average_precision")
    np.testing.assert_allclose(figure.values, expected, atol=1e-6)
    assert figure.mean == pytest.approx(np.mean(expected), abs=1e-6)
    assert figure.std == pytest.approx(np.std(expected, ddof=1), abs=1e-6)


def test_sizes_are_those_of_what_must_be_kept(result):
    D, M = 1001, 53
    for method, (d, m) in {"ORI": (D, M), "CMLL_y": (D, 27), "CMLL": (27, 27)}.items():
        assert result.components(method, "fair") == (d, m)
        numbers = linear_parameters(D, M, None if d == D else d, None if m == M else m)
        assert result.figure(method, "fair", "average_precision").sizes == (numbers,) * 2


def test_the_fair_protocol_is_the_library_s_defaults():
    data = load("enron")
    model = CMLLClassifier(threshold=0.5).fit(data.X, data.Y)
    settings = [cell.settings for cell in cells_of(specs()["fair"]) if cell.method == "CMLL"]
    embedding = model.embedding_
    assert settings[0]["label_ratios"] == [embedding.n_label_components_]
    assert settings[0]["feature_ratios"] == [embedding.n_feature_components_]
    own = entry("CMLL").make(settings[0], 0).make_embedding()
    left = {k: v for k, v in own.get_params().items() if k != "random_state"}
    assert left.items() <= model.make_embedding().get_params().items()


def test_the_grid_holds_what_the_whole_of_the_papers_has_for_its_best():
    """So that the demo prints the figures of the benchmark, which has all configurations."""
    enron = [
        record
        for record in open_records(RECORDS)
        if record.cell.dataset == "enron" and record.cell.method in METHODS
    ]
    whole = aggregate(enron, "paper")
    for cell in cells_of(specs()["paper"]):
        assert cell.split_seed == enron[0].cell.split_seed
        grid = configurations(cell.settings, entry(cell.method).axes)
        for metric in METRICS:
            (best,) = whole.figure("enron", cell.method, metric).configurations
            assert best in grid, (cell.method, metric)


@pytest.mark.parametrize("method", METHODS)
def test_the_fair_choice_does_not_depend_on_the_test_rows(method):
    data = load("emotions")
    asked = next(c for c in cells_of(specs()["fair"]) if c.method == method).settings
    settings = {**asked, "label_ratios": [0.5], "feature_ratios": [0.5]}  # of fewer labels
    Y = sparse.csr_array(data.Y)
    test, noise = data.X[400:], sparse.csr_array(1 - data.Y[400:])
    chosen = [
        entry(method).answer(Task(data.X[:400], Y[:400], *rows, METRICS, "nested", settings, 0))
        for rows in ((test, Y[400:]), (test * 0, noise))
    ]
    assert chosen[0].configurations == chosen[1].configurations
    assert (chosen[0].values != chosen[1].values).any()
