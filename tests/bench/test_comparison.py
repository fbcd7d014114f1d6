"""Both protocols see the same folds, and the fair one never sees a test row before the end."""

import dataclasses
import itertools

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold

from compactlearn.bench import METRICS, PUBLISHED, QUICK, Grid, compare, comparison
from compactlearn.datasets import load
from compactlearn.decoding.linear import linear_numbers
from compactlearn.metrics import average_precision

DATA = load("emotions")
METHODS = ("ORI", "CMLL_y", "CMLL")
GRID = dataclasses.replace(QUICK, wide_alphas=(0.1, 1000.0), inner_folds=2)


@pytest.fixture(scope="module")
def result():
    return compare(DATA, n_folds=3, seed=1, grid=GRID)


def test_every_method_appears_under_both_protocols(result):
    rows = [(row.method, row.protocol) for row in result.rows]
    assert rows == list(itertools.product(METHODS, ("paper", "fair")))
    for row in result.rows:
        assert tuple(figure.metric for figure in row.figures) == METRICS
        assert all(len(figure.values) == 3 for figure in row.figures)
        assert all(0 <= value <= 1 for figure in row.figures for value in figure.values)


def test_same_seed_same_figures_and_another_seed_other_folds(result):
    again = compare(DATA, n_folds=3, seed=1, grid=GRID)
    other = compare(DATA, n_folds=3, seed=2, grid=GRID)
    figures = [[row.figures for row in each.rows] for each in (result, again, other)]
    assert figures[0] == figures[1]
    assert figures[0] != figures[2]


@pytest.mark.slow
def test_processes_change_no_figure(result):
    shared = compare(DATA, n_folds=3, seed=1, grid=GRID, n_jobs=2)
    for one, other in zip(result.rows, shared.rows, strict=True):
        for figure in one.figures:
            np.testing.assert_allclose(figure.values, other.figure(figure.metric).values, atol=1e-9)


def test_ori_is_ridge_on_the_same_folds(result):
    expected = []
    for train, test in KFold(3, shuffle=True, random_state=1).split(DATA.X):
        model = Ridge(alpha=GRID.alphas[0]).fit(DATA.X[train], DATA.Y[train])
        expected.append(average_precision(DATA.Y[test], model.predict(DATA.X[test])))
    figure = result.row("ORI", "paper").figure("average precision")
    np.testing.assert_allclose(figure.values, expected, atol=1e-9)
    assert figure.mean == pytest.approx(np.mean(expected))
    assert figure.std == pytest.approx(np.std(expected, ddof=1))


@pytest.mark.parametrize("metric", METRICS)
def test_a_paper_figure_is_the_best_setting_on_the_test_folds(metric):
    alphas = (1e-5, 1e3)

    def figure(grid: Grid) -> float:
        folds = compare(DATA, n_folds=2, grid=grid).row("ORI", "paper")
        return folds.figure(metric).mean

    single = [figure(dataclasses.replace(GRID, alphas=(alpha,))) for alpha in alphas]
    best = max if metric in {"average precision", "micro-F1"} else min
    assert figure(dataclasses.replace(GRID, alphas=alphas)) == pytest.approx(best(single))


@pytest.mark.parametrize("method", METHODS)
def test_the_fair_choice_does_not_depend_on_the_test_rows(method):
    train, test = DATA.X[:400], DATA.X[400:]
    truth, noise = DATA.Y[400:], 1 - DATA.Y[400:]
    grid = dataclasses.replace(GRID, wide_alphas=(0.1, 10.0, 1000.0, 1e5))
    settings = [
        comparison._fair_runs(method, comparison.Fold(train, DATA.Y[:400], X, Y), grid, 0)
        for X, Y in [(test, truth), (test * 0, noise)]
    ]
    assert settings[0][0].setting == settings[1][0].setting


def test_sizes_are_those_of_what_must_be_kept(result):
    D, M = DATA.X.shape[1], DATA.Y.shape[1]
    plain, labels_only, both = (result.row(method, "fair") for method in METHODS)
    assert (plain.n_features, plain.n_targets, plain.n_numbers) == (D, M, D * M + M)
    assert labels_only.n_features == D
    assert labels_only.n_numbers == linear_numbers(D, M, None, labels_only.n_targets)
    d, m = both.n_features, both.n_targets
    assert (d, m) == (24, M)  # few labels: all kept, with more features than labels
    assert both.n_numbers == linear_numbers(D, M, d, m) == D * M + M  # of few labels, no fewer


def test_the_published_figures_are_twelve():
    assert set(PUBLISHED) == set(itertools.product(METHODS, METRICS))
    assert all(0 < std < mean < 1 for mean, std in PUBLISHED.values())


def test_results_are_frozen(result):
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.seed = 3
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.rows[0].method = "other"


@pytest.mark.parametrize("protocol", ["paper", "fair"])
@pytest.mark.parametrize("method", ["ORI", "CMLL_y", "CMLL"])
def test_labels_are_read_off_at_one_half(method, protocol):
    """As the demo says of both protocols: nobody's threshold is tuned."""
    setting = {"alpha": 1.0, "beta": 1.0, "label_ratio": 0.5}
    assert comparison._model(method, protocol, setting).threshold == 0.5
