"""Weights of labels from training counts, and what is refused as such."""

import re

import numpy as np
import pytest
from scipy import sparse

from compactlearn.metrics import inverse_propensities, propensities, psndcg_at_k, psp_at_k

from .data import random_problem

LABELS = (np.arange(20)[:, None] < [18, 10, 6, 2, 0]).astype(int)


def test_a_matrix_and_its_counts_give_the_same():
    w = inverse_propensities(LABELS)
    np.testing.assert_array_equal(w, inverse_propensities(LABELS.sum(axis=0), n_samples=20))
    np.testing.assert_array_equal(w, inverse_propensities(sparse.csc_matrix(LABELS)))
    np.testing.assert_allclose(propensities(LABELS, A=0.6, B=2.6) * inverse_propensities(
        LABELS, A=0.6, B=2.6), 1)  # fmt: skip
    assert (w > 1).all()
    assert (np.diff(w[np.argsort(-LABELS.sum(axis=0))]) > 0).all(), "the rarer the heavier"


def test_equal_weights_leave_only_the_hits():
    """With one weight for all, the quotient is hits over the most that could be hit."""
    truth, scores = random_problem(0, levels=0)
    order = np.argsort(-scores, axis=1)[:, :4]
    hits = np.take_along_axis(truth, order, axis=1).sum()
    expected = hits / np.minimum(truth.sum(axis=1), 4).sum()
    for scale in (1, 7.5):
        value = psp_at_k(truth, scores, 4, weights=np.full(12, scale))
        assert value == pytest.approx(expected)


@pytest.mark.parametrize("metric", [psp_at_k, psndcg_at_k])
def test_a_perfect_ranking_is_one_and_rows_without_labels_are_nothing(metric):
    truth, scores = random_problem(1)
    w = np.linspace(1, 2, 12)
    assert metric(truth, truth * w, 3, weights=w) == pytest.approx(1)
    kept = truth.any(axis=1)
    assert metric(truth, scores, 3, weights=w) == metric(truth[kept], scores[kept], 3, weights=w)


Y1, S1 = [[1, 0]], [[0.3, 0.2]]
REFUSALS = {
    "two rows": (lambda: inverse_propensities(LABELS[:2]), "at least 3 training rows"),
    "two samples": (lambda: inverse_propensities([1], n_samples=2), "but there are 2; pass"),
    "no number": (
        lambda: inverse_propensities([1, 2]),
        "Counts of labels need n_samples, the number of training rows, as an integer >= 1, but it "
        "is None; pass it, or",
    ),
    "two numbers": (lambda: inverse_propensities(LABELS, n_samples=20), "own number of rows, 20"),
    "too many": (
        lambda: inverse_propensities([1, 9], n_samples=8),
        "numbers from 0 to n_samples, 8, but are [1 9]; pass the column sums",
    ),
    "negative": (lambda: inverse_propensities([-1, 2], n_samples=8), "but are [-1  2]"),
    "text": (lambda: inverse_propensities(["a"], n_samples=8), "an array of type <U1 and shape"),
    "A": (lambda: inverse_propensities(LABELS, A=0), "A must be a finite number > 0, but is 0;"),
    "B": (lambda: propensities(LABELS, B=-1), "B must be a finite number > 0, but is -1;"),
    "labels": (lambda: inverse_propensities(LABELS * 2), "but holds 2; pass a 0/1 indicator"),
    "few weights": (
        lambda: psp_at_k(Y1, S1, 1, weights=[1.0]),
        "one for each of the 2 labels, but are [1.]; pass what inverse_propensities returns",
    ),
    "zero weight": (lambda: psndcg_at_k(Y1, S1, 1, weights=[0, 1]), "above 0, one for each"),
    "nan weight": (lambda: psp_at_k(Y1, S1, 1, weights=[np.nan, 1]), "but are [nan  1.]"),
    "matrix": (lambda: psp_at_k(Y1, S1, 1, weights=LABELS), "and shape (20, 5); pass what"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals(case):
    call, message = REFUSALS[case]
    with pytest.raises(ValueError, match=re.escape(message)):
        call()
