"""Searches of AutoCompactClassifier for preprocessing, width and penalty."""

import numpy as np
import pytest
import scipy.sparse

from compactlearn.auto import _searches as searches
from compactlearn.auto._preprocessing import UNIT_ROWS, UNIT_VARIANCE
from compactlearn.auto._searches import best_preprocessing, search_kernel
from tests.auto.problems import problem_of


def waves(n, length, seed=0):
    """Labels that change along a line: only kernels narrower than the waves can follow."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 1, size=(n, 1))
    phase = X * 2 * np.pi / length + np.array([0.0, 2.0, 4.0])
    return X, (np.sin(phase) > 0.2).astype(float)


def test_a_kernel_is_as_narrow_as_the_labels_ask():
    wide = search_kernel(problem_of(*waves(300, 2.0)))
    narrow = search_kernel(problem_of(*waves(300, 0.4)))
    assert narrow.params["gamma"] > 2 * wide.params["gamma"]
    assert narrow.score > 0.9


@pytest.mark.parametrize(("sign", "most"), [(-1.0, 3 + 2), (1.0, 3 + searches.MOST_WIDTHS + 1)])
def test_widths_end(monkeypatch, sign, most):
    """The first width in every preprocessing, and the next widths while they are better."""
    asked = []

    def penalty(part, truth, K, *others):
        asked.append(K[0, 1])
        return sign * len(asked), 1.0

    monkeypatch.setattr(searches, "_best_penalty", penalty)
    search_kernel(problem_of(*waves(60, 0.5)))
    assert 3 < len(asked) <= most


def test_columns_in_odd_units_are_scaled():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 6))
    Y = (X[:, :4] + 0.3 * rng.normal(size=(200, 4)) > 0).astype(float)
    assert best_preprocessing(problem_of(X * np.array([1, 1, 1, 1, 1e4, 1e4]), Y)) is UNIT_VARIANCE


def test_counts_of_long_and_short_rows_are_made_unit_rows():
    rng = np.random.default_rng(4)
    topics = rng.integers(0, 4, size=300)
    words = np.zeros((300, 40))
    for row, topic in enumerate(topics):
        length = int(rng.choice([3, 300]))
        probabilities = np.full(40, 1.0)
        probabilities[topic * 10 : topic * 10 + 10] = 4.0
        words[row] = rng.multinomial(length, probabilities / probabilities.sum())
    X = scipy.sparse.csr_array(words)
    Y = (topics[:, None] == np.arange(4)).astype(float)
    assert best_preprocessing(problem_of(X, Y)) is UNIT_ROWS


def test_sparse_rows_are_searched_as_dense_ones():
    X, Y = waves(80, 0.5)
    X = np.hstack([X, X**2, np.zeros_like(X)])
    dense = search_kernel(problem_of(X, Y))
    other = search_kernel(problem_of(scipy.sparse.csr_array(X), Y))
    assert other.preprocessing is dense.preprocessing
    assert other.params == pytest.approx(dense.params)
    assert other.score == pytest.approx(dense.score)


def test_labels_that_are_wanted_as_such_are_still_searched_by_rankings():
    X, Y = waves(100, 0.5)
    by_labels = search_kernel(problem_of(X, Y, scoring="micro_f1"))
    by_rankings = search_kernel(problem_of(X, Y))
    assert by_labels.params == by_rankings.params


def test_landmarks_leave_their_own_columns_and_no_more_than_there_was():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 3))
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    left = searches._by_landmarks(K, np.random.default_rng(0))
    chosen = np.sort(np.random.default_rng(0).choice(40, 20, replace=False))
    np.testing.assert_allclose(left[:, chosen], K[:, chosen], atol=1e-6)
    assert np.linalg.eigvalsh(K - left).min() > -1e-7  # the rest is a kernel matrix as well
