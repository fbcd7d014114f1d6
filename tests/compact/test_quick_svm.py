"""Linear support vector machines by few steps: the loss, the weights that are kept, the start."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from compactlearn import CompactClassifier, Original
from compactlearn.compact import _quick_svm as quick_svm
from compactlearn.compact._penalty import penalty_of_rows
from compactlearn.compact._quick_svm import QuickSVM


def unit_rows(n_rows=300, n_features=40, n_labels=9, seed=0):
    """Sparse rows of unit length with frequent and rare features, of which two make a label."""
    draw = np.random.default_rng(seed)
    frequency = np.minimum(0.5, 3.0 / (1 + np.arange(n_features)))
    counts = (draw.random((n_rows, n_features)) < frequency).astype(float)
    labels = np.column_stack([counts[:, k] + counts[:, k + 3] > 0.5 for k in range(n_labels)])
    labels ^= draw.random(labels.shape) < 0.05
    return sp.csr_array(normalize(counts)), sp.csr_array(labels.astype(float))


@pytest.fixture
def many_steps(monkeypatch):
    monkeypatch.setattr(quick_svm, "ROUNDS", 30)
    monkeypatch.setattr(quick_svm, "STEPS", 30)
    monkeypatch.setattr(quick_svm, "_BLOCK_ENTRIES", 1_200)  # 4 labels at a time


def test_many_steps_reach_the_support_vector_machine(many_steps):
    """The targets of scikit-learn are 1 and -1; its constant has nearly no penalty."""
    rows, labels = unit_rows()
    model = QuickSVM(10_000).fit(rows, labels)
    alpha, truth = penalty_of_rows(rows), labels.toarray()
    for k in range(labels.shape[1]):
        reference = LinearSVC(C=0.5 / alpha, intercept_scaling=1e3, tol=1e-9, dual=False)
        scores = (reference.fit(rows, truth[:, k]).decision_function(rows) + 1.0) / 2.0
        np.testing.assert_allclose(model.decision_function(rows)[:, k], scores, atol=2e-3)


def test_a_single_newton_step_is_the_ridge(monkeypatch):
    monkeypatch.setattr(quick_svm, "ROUNDS", 1)
    monkeypatch.setattr(quick_svm, "STEPS", 60)
    rows, labels = unit_rows()
    ridge = CompactClassifier(Original(), alpha="auto", threshold=0.5).fit(rows, labels)
    model = QuickSVM(10_000).fit(rows, labels)
    np.testing.assert_allclose(model.weights_.toarray().T, ridge.coef_, atol=1e-5)
    np.testing.assert_allclose(
        model.decision_function(rows), ridge.decision_function(rows), atol=1e-5
    )


def test_a_row_of_weight_two_is_two_rows():
    rows, labels = unit_rows()
    weights = np.random.default_rng(1).integers(1, 4, rows.shape[0])
    repeated = np.repeat(np.arange(rows.shape[0]), weights)
    weighted = QuickSVM(10_000).fit(rows, labels, weights.astype(float))
    copied = QuickSVM(10_000).fit(rows[repeated], labels[repeated])
    np.testing.assert_allclose(
        weighted.decision_function(rows), copied.decision_function(rows), atol=1e-4
    )


def test_weights_that_move_scores_most_are_kept():
    rows, labels = unit_rows()
    every = QuickSVM(10_000).fit(rows, labels).weights_.toarray()
    moved = np.abs(every) * rows.toarray().std(axis=0)
    kept = QuickSVM(50).fit(rows, labels).weights_.toarray()
    assert np.count_nonzero(kept) == 50
    np.testing.assert_array_equal(kept[kept != 0], every[kept != 0])
    assert moved[kept != 0].min() >= moved[kept == 0].max()


def test_labels_that_are_solved_in_turns_share_the_number_of_weights(monkeypatch):
    rows, labels = unit_rows()
    monkeypatch.setattr(quick_svm, "_BLOCK_ENTRIES", 1_200)
    assert 40 < QuickSVM(50).fit(rows, labels).weights_.nnz <= 50


def test_a_fit_continues_from_its_start(many_steps, monkeypatch):
    """From the solution of the same rows nothing changes; from another it comes closer."""
    rows, labels = unit_rows()
    solved = QuickSVM(10_000).fit(rows, labels)
    again = QuickSVM(10_000).fit(rows, labels, start=solved)
    solution = solved.decision_function(rows)
    np.testing.assert_allclose(again.decision_function(rows), solution, atol=1e-4)
    monkeypatch.setattr(quick_svm, "STEPS", 3)
    half = QuickSVM(10_000).fit(rows[:200], labels[:200])
    whole = QuickSVM(10_000).fit(rows, labels, start=half)
    distances = [np.linalg.norm(one.decision_function(rows) - solution) for one in (half, whole)]
    assert distances[1] < 0.7 * distances[0]


def test_labels_without_rows_have_no_weights():
    rows, labels = unit_rows()
    dense = labels.toarray()
    dense[:, 2], dense[:, 5] = 0.0, 1.0
    model = QuickSVM(10_000).fit(rows, sp.csr_array(dense))
    assert not model.weights_[[2, 5]].toarray().any()
    np.testing.assert_array_equal(model.intercept_[[2, 5]], [0.0, 1.0])
