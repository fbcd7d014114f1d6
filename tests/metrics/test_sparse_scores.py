"""Sparse scores and pairs of labels and scores give the metrics of the full matrix."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from compactlearn.metrics import (
    f1_at_k,
    ndcg_at_k,
    precision_at_k,
    psndcg_at_k,
    psp_at_k,
    r_precision_at_k,
)

from . import literal
from .data import problems, same, steady

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")


def values(truth, scores, k):
    """Return all metrics that take predictions of a few labels."""
    weights = np.linspace(1, 3, truth.shape[1])
    return [
        precision_at_k(truth, scores, k),
        ndcg_at_k(truth, scores, k),
        psp_at_k(truth, scores, k, weights=weights),
        psndcg_at_k(truth, scores, k, weights=weights),
        f1_at_k(truth, scores, k),
        r_precision_at_k(truth, scores, k),
    ]


def full_matrix(scores):
    """Return a sparse matrix that stores every cell, zeros too."""
    n, m = scores.shape
    indices = np.tile(np.arange(m), n)
    return sparse.csr_array((scores.ravel(), indices, np.arange(n + 1) * m), shape=(n, m))


def best(scores, k):
    """Return the labels and scores of predict_topk; of equal scores the lowest index is first."""
    labels = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return labels, np.take_along_axis(scores, labels, axis=1)


@pytest.mark.parametrize("unknown", [False, True], ids=["known", "unknown"])
@steady
@given(data=st.data())
def test_a_matrix_that_stores_everything_is_a_dense_one(unknown, data):
    truth, scores = data.draw(problems(unknown=unknown))
    k = data.draw(st.integers(1, truth.shape[1]))
    expected = values(truth, scores, k)
    for Y in (truth, sparse.csr_array(truth)):
        assert same(values(Y, full_matrix(scores), k), expected)
        assert same(values(Y, best(scores, truth.shape[1]), k), expected)


@steady
@given(problems(), st.data())
def test_the_k_best_are_enough(problem, data):
    truth, scores = problem
    k = data.draw(st.integers(1, truth.shape[1]))
    expected = values(truth, scores, k)
    labels, chosen = best(scores, k)
    order = np.random.default_rng(k).permutation(k)  # the pairs are ranked by their scores
    for pair in ((labels, chosen), (labels[:, order], chosen[:, order])):
        assert same(values(truth, pair, k), expected)


@steady
@given(problems(unknown=True), st.integers(0, 999))
def test_labels_that_are_not_stored_are_never_right(problem, seed):
    truth, scores = problem
    kept = np.random.default_rng(seed).random(truth.shape) < 0.3
    stored = sparse.csr_array((scores[kept], np.nonzero(kept)), shape=truth.shape)
    k = min(3, truth.shape[1])
    found_at_most = np.where(kept | np.isnan(truth), truth, 0)
    expected = literal.precision_at_k(found_at_most, np.where(kept, scores, -1e9), k)
    assert same(precision_at_k(truth, stored, k), expected)


def test_a_billion_labels_take_no_billion_columns():
    """Any dense block would be refused by the memory."""
    width = 10**9
    columns, indptr = np.array([5, width - 1, 7, 9, 0, 1, 2, 3]), np.arange(0, 9, 2)
    truth = sparse.csr_array((np.ones(8), columns, indptr), shape=(4, width))
    scores = sparse.csr_array((np.tile([0.1, 0.5], 4), columns, indptr), shape=(4, width))
    assert precision_at_k(truth, scores, 2) == 1
    assert ndcg_at_k(truth, scores, 1) == 1
    labels = np.array([[5, 6], [7, 8], [10, 11], [12, width - 1]])
    assert precision_at_k(truth, (labels, np.ones((4, 2))), 2) == 2 / 8


def test_repeated_cells_mean_their_sum_and_inputs_stay():
    doubled = sparse.csr_array(
        (np.array([0.3, 0.3, 0.5]), np.array([0, 0, 1]), np.array([0, 3])), shape=(1, 3)
    )
    assert precision_at_k([[1, 0, 0]], doubled, 1) == 1
    assert doubled.nnz == 3
    labels, scores = np.array([[2, 0]]), np.array([[0.1, 0.7]])
    assert precision_at_k([[1, 0, 0]], (labels, scores), 1) == 1
    np.testing.assert_array_equal(labels, [[2, 0]])
