import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import UndefinedMetricWarning

from compactlearn.metrics import (
    average_precision,
    evaluate,
    get_metric,
    micro_f1,
    one_error,
    rankable_rows,
    ranking_loss,
)

from .data import SCORES, TRUTH, problems, random_problem, steady

RANKING = [average_precision, ranking_loss, one_error]


@steady
@given(problems())
def test_only_the_order_within_a_row_matters(problem):
    truth, scores = problem
    assume(rankable_rows(truth).any())
    shift = np.arange(len(scores))[:, None]
    for metric in RANKING:
        assert metric(truth, scores) == metric(truth, np.exp(scores / 16) * 3 - 1)
        assert metric(truth, scores) == metric(truth, 2 * scores + shift)


@steady
@given(problems(), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(problem, random):
    truth, scores = problem
    assume(rankable_rows(truth).any())
    order = random.sample(range(len(truth)), len(truth))
    for metric in RANKING:
        assert metric(truth[order], scores[order]) == pytest.approx(metric(truth, scores))


@pytest.mark.parametrize("seed", range(5))
def test_without_ties_the_order_of_the_labels_does_not_matter(seed):
    truth, scores = random_problem(seed, levels=0)
    order = np.random.default_rng(seed).permutation(truth.shape[1])
    for metric in RANKING:
        assert metric(truth[:, order], scores[:, order]) == pytest.approx(metric(truth, scores))


CONTAINERS = [
    pytest.param(lambda Y: Y.astype(bool), id="bool"),
    pytest.param(lambda Y: Y.astype(np.int8), id="int8"),
    pytest.param(lambda Y: Y.tolist(), id="list"),
    pytest.param(pd.DataFrame, id="frame"),
    pytest.param(sparse.csr_array, id="csr_array"),
    pytest.param(sparse.csc_matrix, id="csc_matrix"),
    pytest.param(lambda Y: sparse.coo_array(Y.astype(bool)), id="coo bool"),
]


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_gives_the_same(container):
    assert evaluate(container(TRUTH), pd.DataFrame(SCORES)) == evaluate(TRUTH, SCORES)
    predicted = (SCORES > 0.2).astype(int)
    expected = micro_f1(TRUTH, predicted)
    assert micro_f1(container(TRUTH), predicted) == expected
    assert micro_f1(TRUTH, container(predicted)) == expected
    assert micro_f1(container(TRUTH), container(predicted)) == expected


def test_stored_zeros_and_repeated_cells_of_sparse_truth():
    zeros = sparse.csr_array(TRUTH)
    zeros.data[0] = 0
    assert average_precision(zeros, SCORES) == average_precision(zeros.toarray(), SCORES)
    assert micro_f1(zeros, zeros) == 1
    doubled = sparse.csr_array(
        (np.array([0.0, 1.0, 1.0]), np.array([0, 0, 1]), np.array([0, 3])), shape=(1, 3)
    )
    assert micro_f1(doubled, [[1, 1, 0]]) == 1
    assert doubled.nnz == 3, "the caller's matrix is left as it was"


def test_inputs_are_left_as_they_were():
    Y, S = TRUTH.astype(float), SCORES.copy()
    Y[0, 0] = np.nan
    Y.flags.writeable = S.flags.writeable = False
    for scores in (S, S.astype(np.float32), np.asfortranarray(S)):
        before = scores.copy()
        scores.flags.writeable = False
        evaluate(Y, scores)
        np.testing.assert_array_equal(scores, before)


def test_without_any_label_micro_f1_is_zero_and_a_warning():
    with pytest.warns(UndefinedMetricWarning, match="a present or a predicted label") as caught:
        assert micro_f1(np.zeros((2, 3)), np.zeros((2, 3))) == 0
    assert caught[0].filename == __file__


def test_threshold_is_strict_and_may_differ_by_label():
    assert evaluate(TRUTH, SCORES)["micro_f1"] == micro_f1(TRUTH, SCORES > 0.5)
    bounds = np.array([0.5, 0.4, 0.1, 0.0])
    assert evaluate(TRUTH, SCORES, threshold=bounds)["micro_f1"] == micro_f1(TRUTH, SCORES > bounds)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: one_error([1, 0], [0.5, 0.2]), ValueError, "Y_true must have two dimensions"),
        (lambda: one_error([[2, 0]], [[0.5, 0.2]]), ValueError, "NaN (unknown) only, but holds 2;"),
        (lambda: one_error([["a", "b"]], [[1, 2]]), TypeError, "must hold real numbers"),
        (
            lambda: one_error([[1, 0]], [[0.5, 0.2, 0.1]]),
            ValueError,
            "scores must have the shape of Y_true, (1, 2), but have (1, 3)",
        ),
        (lambda: one_error([[1, 0]], [[0.5, np.nan]]), ValueError, "scores must be finite"),
        (lambda: one_error([[1, 0]], [[0.5, np.inf]]), ValueError, "scores must be finite"),
        (
            lambda: one_error([[1, 0]], sparse.csr_array([[0.5, 1]])),
            TypeError,
            "scores must be a dense array",
        ),
        (
            lambda: micro_f1([[1, 0]], [[0.7, 0.1]]),
            ValueError,
            "but hold 0.7; turn scores into labels first, for instance by scores > 0.5",
        ),
        (lambda: micro_f1([[1, 0]], [[1]]), ValueError, "labels must have the shape of Y_true"),
        (lambda: micro_f1([[1, 0]], [[1, np.nan]]), ValueError, "but hold nan"),
        (
            lambda: evaluate([[1, 0]], [[1, 0]], threshold=[0.5] * 3),
            ValueError,
            "one for each of the 2 labels, but is [0.5, 0.5, 0.5]",
        ),
        (
            lambda: evaluate([[1, 0]], [[1, 0]], threshold="f1"),
            ValueError,
            "threshold must be a finite",
        ),
        (
            lambda: evaluate([[1, 0]], [[1, 0]], threshold=np.nan),
            ValueError,
            "threshold must be a finite",
        ),
        (lambda: get_metric("oneerror"), ValueError, "Did you mean 'one_error'?"),
        (lambda: get_metric(3), ValueError, "average_precision, micro_f1, ranking_loss"),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=re.escape(message)):
        call()
