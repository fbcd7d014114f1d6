"""Sparse scores and pairs of labels and scores give what the same scores give in full."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from compactlearn import metrics
from compactlearn.metrics import (
    _checks as checks,
)
from compactlearn.metrics import (
    f1_at_k,
    ndcg_at_k,
    precision_at_k,
    psndcg_at_k,
    psp_at_k,
)

from . import literal
from .data import problems, random_problem, steady

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")


def values(truth, scores, k, **options):
    """All metrics that take predictions of a few labels."""
    weights = np.linspace(1, 3, truth.shape[1])
    return [
        precision_at_k(truth, scores, k, **options),
        ndcg_at_k(truth, scores, k, **options),
        psp_at_k(truth, scores, k, weights=weights, **options),
        psndcg_at_k(truth, scores, k, weights=weights, **options),
        f1_at_k(truth, scores, k, **options),
    ]


def same(found, expected):
    return found == pytest.approx(expected, abs=1e-12, nan_ok=True)


def full_matrix(scores):
    """Every cell stored, zeros too."""
    n, m = scores.shape
    indices = np.tile(np.arange(m), n)
    return sparse.csr_array((scores.ravel(), indices, np.arange(n + 1) * m), shape=(n, m))


def best(scores, k):
    """What predict_topk returns: of equal scores the lowest index first."""
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
    rows, columns = np.nonzero(kept)
    stored = sparse.csr_array((scores[kept], (rows, columns)), shape=truth.shape)
    # Far below the others, and absent where they are not stored: as if they were not there.
    dense = np.where(kept, scores, -99.0)
    k = min(3, truth.shape[1])
    for Y, row, line in zip(truth, stored.toarray(), kept, strict=True):
        known = line & ~np.isnan(Y)
        order = sorted(np.flatnonzero(known), key=lambda j: (-row[j], j))[:k]
        expected = sum(Y[j] == 1 for j in order) / k
        if not np.isnan(Y).all():
            one = sparse.csr_array(
                (row[line], np.flatnonzero(line), [0, line.sum()]), shape=(1, len(Y))
            )
            assert precision_at_k([Y], one, k) == pytest.approx(expected, abs=1e-12)
    hidden = np.where(kept | np.isnan(truth), truth, 0.0)
    value = precision_at_k(truth, stored, k)
    expected = literal.precision_at_k(hidden, dense, k)
    assert value == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_an_empty_matrix_of_scores_finds_nothing():
    truth, _ = random_problem(0)
    nothing = sparse.csr_array(truth.shape)
    assert values(truth, nothing, 3) == [0.0] * 5


@pytest.mark.parametrize("cells", [1, 7, 60, 400])
def test_blocks_change_nothing(monkeypatch, cells):
    truth, scores = random_problem(1, unknown=0.2)
    expected = values(truth, scores, 4)
    monkeypatch.setattr(checks, "BLOCK_CELLS", cells)
    for Y in (truth, sparse.csc_array(truth)):
        assert same(values(Y, scores, 4), expected)
        assert same(values(Y, full_matrix(scores), 4), expected)


def test_mask():
    truth, scores = random_problem(2, unknown=0.3)
    mask, filled = ~np.isnan(truth), np.nan_to_num(truth, nan=1.0)
    for S in (full_matrix(scores), best(scores, 12)):
        for Y in (filled, sparse.csr_array(filled)):
            assert same(values(Y, S, 4, mask=mask), values(truth, scores, 4))


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


Y1 = [[1, 0, 0]]
REFUSALS = {
    "k 0": (lambda: precision_at_k(Y1, [[1, 2, 3]], 0), "number of labels, 3, but is 0; pass"),
    "k 4": (lambda: ndcg_at_k(Y1, [[1, 2, 3]], 4), "between 1 and the number of labels, 3, but"),
    "k 1.0": (lambda: ndcg_at_k(Y1, [[1, 2, 3]], 1.0), "but is 1.0"),
    "k psp": (lambda: psp_at_k(Y1, [[1, 2, 3]], 9, weights=[1, 1, 1]), "but is 9"),
    "k psndcg": (lambda: psndcg_at_k(Y1, [[1, 2, 3]], 9, weights=[1, 1, 1]), "but is 9"),
    "shape": (
        lambda: precision_at_k(Y1, sparse.csr_array((2, 3)), 1),
        "scores must have the shape of Y_true, (1, 3), but have (2, 3)",
    ),
    "nan": (
        lambda: precision_at_k(Y1, sparse.csr_array([[0, np.nan, 1]]), 1),
        "scores must be finite",
    ),
    "dense nan": (lambda: precision_at_k(Y1, [[0, np.nan, 1]], 1), "scores must be finite"),
    "pair nan": (lambda: precision_at_k(Y1, ([[0]], [[np.nan]]), 1), "scores must be finite"),
    "pair shapes": (
        lambda: precision_at_k(Y1, ([[0, 1]], [[0.5]]), 1),
        "with the 1 rows of Y_true, but they have the shapes (1, 2) and (1, 1); pass what predict",
    ),
    "pair rows": (
        lambda: precision_at_k(Y1, ([[0], [1]], [[0.5], [0.5]]), 1),
        "but they have the shapes (2, 1) and (2, 1)",
    ),
    "pair too short": (
        lambda: precision_at_k(Y1, ([[0]], [[0.5]]), 2),
        "labels predicted for each row, 1, but is 2; predict more labels or lower k",
    ),
    "pair range": (
        lambda: precision_at_k(Y1, ([[3]], [[0.5]]), 1),
        "must be integers from 0 to 2, but are of type int64 and run from 3 to 3; pass the",
    ),
    "pair negative": (lambda: precision_at_k(Y1, ([[-1]], [[0.5]]), 1), "run from -1 to -1"),
    "pair swapped": (
        lambda: precision_at_k(Y1, ([[0.5]], [[0]]), 1),
        "must be integers from 0 to 2, but are of type float64",
    ),
    "pair twice": (
        lambda: precision_at_k(Y1, ([[1, 1]], [[0.5, 0.4]]), 1),
        "must differ within each row, but a row names one twice",
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals(case):
    call, message = REFUSALS[case]
    with pytest.raises(ValueError, match=re.escape(message)):
        call()


def test_all_scores_are_needed_where_all_labels_are_ranked():
    with pytest.raises(TypeError, match="scores must be a dense array"):
        metrics.evaluate(Y1, sparse.csr_array([[1, 2, 3]]))
