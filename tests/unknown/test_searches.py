"""Searches with unknown labels: what judges, what is completed, and labels known in few rows."""

import numpy as np
import pytest
from sklearn.base import clone

from compactlearn import CMLLClassifier, CMLLClassifierCV, CompactClassifier, ThresholdTuner
from compactlearn.compact import _completing as completing
from compactlearn.embeddings import PLST, Original
from compactlearn.linalg import _filling as filling
from compactlearn.linalg._rows_pair import RowsPair
from compactlearn.metrics import average_precision
from compactlearn.model_selection import GridSearchMoments
from tests.unknown.problems import problem, sparse, with_nan


def three_splits(n_rows):
    folds = np.arange(n_rows) % 3
    return [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(3)]


@pytest.fixture(scope="module")
def searched():
    X, Y, unknown = problem(90, 6, 5)
    given, splits = with_nan(Y, unknown), three_splits(90)
    search = CMLLClassifierCV(
        alphas=[0.5, 20.0],
        n_label_components=[2, 4],
        decoders=("linear", "logistic"),
        racing=False,
        cv=splits,
    )
    return X, Y, unknown, splits, search.fit(X, given)


def test_scores_of_folds_are_those_of_separate_fits_on_the_known_cells(searched):
    X, Y, unknown, splits, search = searched
    given = with_nan(Y, unknown)
    assert {params["decoder"] for params in search.cv_results_["params"]} == {
        *("linear", "logistic")
    }
    for place, params in enumerate(search.cv_results_["params"]):
        for number, (train, test) in enumerate(splits):
            own = CMLLClassifier(threshold=0.5).set_params(**params).fit(X[train], given[train])
            scores = own.decision_function(X[test])
            found = search.cv_results_[f"split{number}_test_score"][place]
            assert found == pytest.approx(average_precision(given[test], scores), abs=1e-8)
            # A metric that counted unknown cells as absent would be another.
            absent = average_precision(np.where(unknown, 0.0, Y)[test], scores)
            assert abs(found - absent) > 1e-6


def test_no_completion_of_a_search_raises_its_objective(monkeypatch):
    X, Y, unknown = problem(90, 6, 5)
    paths = []

    def noted(*given, **options):
        F, objectives = complete(*given, **options)
        paths.append(np.array(objectives))
        return F, objectives

    complete = filling.complete
    monkeypatch.setattr(filling, "complete", noted)
    monkeypatch.setattr(completing, "complete", noted)
    CMLLClassifierCV(cv=2).fit(X, with_nan(Y, unknown))
    assert len(paths) > 10
    assert max(path.size for path in paths) > 3
    for path in paths:
        assert (np.diff(path) <= 1e-10 * path[:-1]).all()


@pytest.mark.parametrize(
    "model",
    [
        CMLLClassifierCV(cv=three_splits(90), alphas=[1.0], n_label_components=[3]),
        GridSearchMoments(
            CompactClassifier(PLST(3), decoder="logistic"), {"alpha": [1.0]}, cv=three_splits(90)
        ),
        CMLLClassifier(decoder="logistic", threshold="f1"),
        CMLLClassifier(decoder="logistic", threshold="per-label"),
        ThresholdTuner(CMLLClassifier(decoder="logistic"), cv=three_splits(90)),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore:1 of the 5 labels are unknown:UserWarning")
def test_a_label_that_one_fold_alone_knows_is_no_obstacle(model):
    """Without that fold the label is absent, and the label's other rows are left out there."""
    X, Y, unknown = problem(90, 6, 5)
    unknown[:, 3] = np.arange(90) % 3 > 0
    unknown[3:, 3] |= np.arange(3, 90) > 30
    Y[:, 3] = np.arange(90) % 2
    fitted = clone(model).fit(X, with_nan(Y, unknown))
    assert np.isfinite(np.asarray(fitted.decision_function(X))).all()
    if hasattr(fitted, "cv_results_"):
        assert np.isfinite(fitted.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("embedding", [PLST(3), Original()], ids=lambda one: type(one).__name__)
def test_out_of_fold_scores_of_that_fold_say_that_it_is_absent(embedding):
    X, Y, unknown = problem(90, 6, 5)
    groups = np.arange(90) % 3
    unknown[:, 3] = groups > 0
    model = CompactClassifier(embedding, decoder="logistic", threshold="f1")
    held_out = model.fit_scored(X, with_nan(Y, unknown), groups=groups)
    scores = held_out.columns(np.array([3]))[:, 0]
    assert scores[groups[held_out.rows] == 0].max() < -3.0  # half a row of sixty has it


def test_a_training_part_of_which_nothing_is_known_is_refused():
    X, Y, unknown = problem(90, 6, 5)
    unknown[:45] = True
    splits = [(np.arange(45), np.arange(45, 90)), (np.arange(45, 90), np.arange(45))]
    search = CMLLClassifierCV(cv=splits)
    with pytest.raises(ValueError, match=r"no label is known.*use other splits"):
        search.fit(X, with_nan(Y, unknown))


# ---- the cells that judge the completion ----


@pytest.mark.parametrize("seed", [0, 1, completing.SEED])
def test_cells_that_judge_are_known_whatever_the_hiding_was_drawn_from(seed, monkeypatch):
    """Hidden by the very stream of random numbers, too, that these cells are drawn from."""
    X, Y, _ = problem(90, 6, 5)
    unknown = np.random.default_rng(seed).random(Y.shape) < 0.3
    seen = []

    def noted(pair, hidden, judges, unit):
        seen.append((hidden, judges))
        return loss_of(pair, hidden, judges, unit)

    loss_of = completing._loss_of
    monkeypatch.setattr(completing, "_loss_of", noted)
    pair = RowsPair.of_rows(X, sparse(np.where(unknown, 0.0, Y)))
    monkeypatch.setattr(completing, "FEWEST_CELLS", 20)
    completing.choose_completion(pair, sparse(unknown))
    ((hidden, judges),) = seen
    np.testing.assert_array_equal(hidden, unknown)
    assert not (judges & unknown).any()
    assert judges.sum() == int(0.1 * (~unknown).sum())
