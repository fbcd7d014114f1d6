"""Containers, types and sizes of the inputs of metrics, and the errors of wrong ones."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from compactlearn import C2AEClassifier, CMLLClassifier
from compactlearn.metrics import (
    Judges,
    average_precision,
    calibration_error,
    evaluate,
    get_metric,
    inverse_propensities,
    log_loss,
    micro_f1,
    ndcg_at_k,
    one_error,
    precision_at_k,
    propensities,
    psp_at_k,
    reliability_table,
)
from compactlearn.metrics import _checks as checks
from compactlearn.model_selection import GridSearchMoments

from .data import SCORES, TRUTH, probabilities, random_problem, same

CONTAINERS = {
    "bool": lambda Y: Y.astype(bool),
    "int8": lambda Y: Y.astype(np.int8),
    "list": lambda Y: Y.tolist(),
    "frame": pd.DataFrame,
    "csc_matrix": sparse.csc_matrix,
    "coo bool": lambda Y: sparse.coo_array(Y.astype(bool)),
}


@pytest.mark.parametrize("kind", CONTAINERS)
def test_every_container_gives_the_same(kind):
    container = CONTAINERS[kind]
    assert evaluate(container(TRUTH), pd.DataFrame(SCORES)) == evaluate(TRUTH, SCORES)
    predicted = (SCORES > 0.2).astype(int)
    assert micro_f1(container(TRUTH), container(predicted)) == micro_f1(TRUTH, predicted)


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


def test_inputs_are_left_as_they_were_and_their_layout_does_not_matter():
    Y, S = random_problem(8, 50, 40, unknown=0.1)
    expected = evaluate(Y, S, labels=S > 0)
    padded = np.full((100, 80), 9.0)
    padded[::2, ::2] = S
    for scores in (S, np.asfortranarray(S), padded[::2, ::2]):
        before, labels = scores.copy(), scores > 0
        Y.flags.writeable = scores.flags.writeable = labels.flags.writeable = False
        assert evaluate(Y, scores, labels=labels) == expected
        np.testing.assert_array_equal(scores, before)


@pytest.mark.parametrize("cells", [1, 12, 40, 130])
def test_blocks_change_nothing(monkeypatch, cells):
    truth, scores = random_problem(4, unknown=0.2)
    train = (np.random.default_rng(0).random((50, 12)) < 0.3).astype(int)
    P = probabilities(scores)

    def found():
        for Y in (truth, sparse.csr_array(truth)):
            yield evaluate(Y, scores, threshold=0.0, probabilities=P, train_labels=train)
            few = evaluate(Y, scores, probabilities=sparse.csr_array(P), labels=scores > 0)
            stored = sparse.csr_array(scores)
            yield few | {"precision": precision_at_k(Y, stored), "ndcg": ndcg_at_k(Y, stored)}

    whole = list(found())
    monkeypatch.setattr(checks, "BLOCK_CELLS", cells)
    for expected, again in zip(whole, found(), strict=True):
        assert same(again, expected)


Y1, S1, P1 = [[1, 0, 0]], [[0.9, 0.5, 0.2]], [[0.3, 0.2, 0.1]]
COUNTS = np.tri(5, 3)
REFUSALS = {
    "1-d": (lambda: one_error([1, 0], [0.5, 0.2]), "Y_true must have two dimensions"),
    "truth": (lambda: one_error([[2, 0]], [[0.5, 0.2]]), "NaN (unknown) only, but holds 2;"),
    "sparse truth": (lambda: evaluate(sparse.csr_array([[0, -1, 0]]), S1), "but holds -1;"),
    "late truth": (lambda: evaluate(np.diag([1, 1, 0.5]), np.eye(3)), "but holds 0.5;"),
    "shape": (
        lambda: one_error(Y1, [[0.5, 0.2]]),
        "scores must have the shape of Y_true, (1, 3), but have (1, 2)",
    ),
    "nan": (lambda: one_error(Y1, [[0.5, np.nan, 0]]), "scores must be finite"),
    "inf": (lambda: precision_at_k(Y1, [[0.5, np.inf, 0]], 1), "scores must be finite"),
    "sparse nan": (
        lambda: precision_at_k(Y1, sparse.csr_array([[0, np.nan, 1]]), 1),
        "scores must be finite",
    ),
    "sparse shape": (
        lambda: precision_at_k(Y1, sparse.csr_array((2, 3)), 1),
        "scores must have the shape of Y_true, (1, 3), but have (2, 3)",
    ),
    "labels": (lambda: micro_f1(Y1, [[0.7, 0.1, 0]]), "but hold 0.7; turn scores into labels"),
    "labels shape": (lambda: evaluate(Y1, S1, labels=[[1]]), "labels must have the shape of"),
    "threshold": (lambda: evaluate(Y1, S1, threshold=[0.5] * 2), "got [0.5, 0.5]. Pass such"),
    "threshold text": (lambda: evaluate(Y1, S1, threshold="f1"), "threshold must be a finite"),
    "k": (lambda: ndcg_at_k(Y1, S1, 4), "(the number of labels is 3); got 4. Pass such"),
    "k 0": (lambda: psp_at_k(Y1, S1, 0, weights=[1, 1, 1]), "an integer >= 1 and <= 3"),
    "k table": (lambda: reliability_table(Y1, P1, k=4), "the number of labels is 3); got 4"),
    "k judge": (
        lambda: Judges(["precision_at_9"], TRUTH),
        "the number of labels is 4); got 9",
    ),
    "ks": (lambda: evaluate(Y1, S1, k=3), "k must be integers >= 1, but is 3; pass such"),
    "train": (lambda: evaluate(Y1, S1, train_labels=[1, 1, 1]), "have the shape (3,)"),
    "pair shapes": (
        lambda: precision_at_k(Y1, ([[0, 1]], [[0.5]]), 1),
        "with the 1 rows of Y_true, but they have the shapes (1, 2) and (1, 1); pass what predict",
    ),
    "pair short": (lambda: precision_at_k(Y1, ([[0]], [[0.5]]), 2), "row, 1, but is 2; predict"),
    "pair range": (lambda: precision_at_k(Y1, ([[3]], [[0.5]]), 1), "from 0 to 2; got 3. Pass"),
    "pair negative": (lambda: precision_at_k(Y1, ([[-1]], [[0.5]]), 1), "got -1. Pass"),
    "pair swapped": (lambda: precision_at_k(Y1, ([[0.5]], [[0]]), 1), "got 0.5. Pass"),
    "pair twice": (lambda: precision_at_k(Y1, ([[1, 1]], [[0.5, 0.4]]), 1), "names one twice"),
    "negative p": (lambda: log_loss(Y1, [[0.3, -0.2, 0.1]]), "between 0 and 1; got -0.2. Pass"),
    "nan p": (lambda: evaluate(Y1, S1, probabilities=[[0, np.nan, 1]]), "got nan. Pass"),
    "sparse p": (
        lambda: reliability_table(Y1, sparse.csr_array([[0.3, 2.0, 0.1]]), k=1),
        "between 0 and 1; got 2. Pass what predict_proba returns, not scores",
    ),
    "bins": (lambda: calibration_error(Y1, P1, bins=0), "bins must be an integer >= 1; got 0"),
    "few rows": (lambda: inverse_propensities(COUNTS[:2]), "at least 3 training rows"),
    "no number": (lambda: inverse_propensities([1, 2]), "Counts of labels need n_samples"),
    "two numbers": (lambda: inverse_propensities(COUNTS, n_samples=5), "own number of rows, 5"),
    "counts": (lambda: inverse_propensities([1, 9], n_samples=8), "but are [1, 9]; pass the"),
    "B": (lambda: propensities(COUNTS, B=-1), "B must be a finite number > 0, but is -1;"),
    "weights": (
        lambda: psp_at_k(Y1, S1, 1, weights=[1.0]),
        "one for each of the 3 labels; got [1.0]. Pass what inverse_propensities returns",
    ),
    "zero weight": (lambda: psp_at_k(Y1, S1, 1, weights=[0, 1, 1]), "above 0, one for each"),
    "name": (lambda: get_metric("oneerror"), "Did you mean 'one_error'?"),
    "no name": (lambda: get_metric(3), "average_precision, micro_f1, ranking_loss"),
    "search": (
        lambda: GridSearchMoments(CMLLClassifier(), {"alpha": [1.0]}, scoring="log_loss").fit(
            np.eye(6), np.eye(6)[:, :3]
        ),
        "The metric 'log_loss' needs probabilities, and here there are scores and labels alone;",
    ),
    "C2AE": (
        lambda: C2AEClassifier(scoring="log_loss").fit(np.eye(6), np.eye(6)[:, :3]),
        "The metric 'log_loss' needs probabilities",
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals(case):
    call, message = REFUSALS[case]
    with pytest.raises(ValueError, match=re.escape(message)):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: one_error([["a", "b"]], [[1, 2]]), "must hold real numbers"),
        (lambda: one_error(Y1, sparse.csr_array(S1)), "scores must be a dense array"),
        (lambda: evaluate(Y1, sparse.csr_array(S1)), "scores must be a dense array"),
        (lambda: log_loss(Y1, sparse.csr_array(P1)), "Pass probabilities.toarray()"),
    ],
    ids=["words", "scores", "evaluate", "probabilities"],
)
def test_types_that_are_refused(call, message):
    with pytest.raises(TypeError, match=re.escape(message)):
        call()
