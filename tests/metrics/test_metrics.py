import math
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import f1_score, label_ranking_average_precision_score, label_ranking_loss

from compactlearn.metrics import (
    _checks as checks,
)
from compactlearn.metrics import (
    average_precision,
    evaluate,
    get_metric,
    micro_f1,
    one_error,
    rankable_rows,
    ranking_loss,
)

RANKING = [average_precision, ranking_loss, one_error]

# Six rows, four labels: a tie above and one below, an empty row, a full one, negative scores.
TRUTH = np.array(
    [[1, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 1, 0]]
)
SCORES = np.array(
    [
        [0.9, 0.8, 0.7, 0.1],
        [0.5, 0.5, 0.2, 0.1],
        [0.5, 0.5, 0.2, 0.1],
        [0.3, 0.2, 0.1, 0.0],
        [0.3, 0.2, 0.1, -0.4],
        [-0.1, -0.3, -0.2, -0.4],
    ]
)


def literal(truth, scores):
    """The definitions, row by row and pair by pair."""
    found = {"average_precision": [], "ranking_loss": [], "one_error": []}
    for y, f in zip(truth, scores, strict=True):
        known = [j for j in range(len(y)) if not np.isnan(y[j])]
        present = [j for j in known if y[j] == 1]
        absent = [j for j in known if y[j] == 0]
        if not present or not absent:
            continue
        ranked = sorted(known, key=lambda j: (f[j], j), reverse=True)
        rank = {j: place for place, j in enumerate(ranked, start=1)}
        found["average_precision"].append(
            np.mean([sum(rank[s] <= rank[r] for s in present) / rank[r] for r in present])
        )
        found["ranking_loss"].append(np.mean([f[r] <= f[s] for r in present for s in absent]))
        best = max(f[j] for j in known)
        found["one_error"].append(not any(f[r] == best for r in present))
    return {name: float(np.mean(values)) for name, values in found.items() if values}


@st.composite
def problems(draw, unknown=False, ties=True):
    shape = draw(st.tuples(st.integers(1, 6), st.integers(1, 7)))
    cells = [0.0, 1.0, np.nan] if unknown else [0.0, 1.0]
    truth = draw(hnp.arrays(float, shape, elements=st.sampled_from(cells)))
    if ties:
        scores = draw(hnp.arrays(float, shape, elements=st.sampled_from([-1.0, -0.5, 0.0, 2.0])))
    else:
        scores = draw(hnp.arrays(float, shape, elements=st.floats(-1e6, 1e6), unique=True))
    return truth, scores


def test_oracle():
    assert average_precision(TRUTH, SCORES) == pytest.approx(0.729167, abs=1e-6)
    assert ranking_loss(TRUTH, SCORES) == pytest.approx(0.354167, abs=1e-6)
    assert one_error(TRUTH, SCORES) == 0.25
    assert micro_f1(TRUTH, SCORES > 0.5) == pytest.approx(0.307692, abs=1e-6)
    assert micro_f1(TRUTH, SCORES >= 0.5) == pytest.approx(0.470588, abs=1e-6)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        (average_precision, [0.833333, 1, 0.5, None, None, 0.583333]),
        (ranking_loss, [0.25, 0.333333, 0.333333, None, None, 0.5]),
        (one_error, [0, 0, 0, None, None, 1]),
    ],
)
def test_oracle_row_by_row(metric, expected):
    for truth, scores, value in zip(TRUTH, SCORES, expected, strict=True):
        if value is not None:
            assert metric([truth], [scores]) == pytest.approx(value, abs=1e-6)


def test_rows_without_a_present_or_an_absent_label_do_not_count():
    np.testing.assert_array_equal(rankable_rows(TRUTH), [True, True, True, False, False, True])
    kept = rankable_rows(TRUTH)
    for metric in RANKING:
        assert metric(TRUTH, SCORES) == metric(TRUTH[kept], SCORES[kept])


@given(problems())
def test_agreement_with_the_definitions(problem):
    truth, scores = problem
    expected = literal(truth, scores)
    assume(expected)
    for metric in RANKING:
        assert metric(truth, scores) == pytest.approx(expected[metric.__name__], abs=1e-12)


@given(problems(unknown=True))
def test_unknown_labels_are_left_out_of_the_ranking(problem):
    truth, scores = problem
    expected = literal(truth, scores)
    assume(expected)
    for metric in RANKING:
        for Y in (truth, sparse.csr_array(truth)):
            assert metric(Y, scores) == pytest.approx(expected[metric.__name__], abs=1e-12)


@given(problems(ties=False))
def test_agreement_with_scikit_learn_where_the_conventions_coincide(problem):
    truth, scores = problem
    kept = rankable_rows(truth)
    assume(kept.any())
    Y, S = truth[kept].astype(int), scores[kept]
    # Scores of scikit-learn's metrics are only read row by row; ranks avoid its float tolerance.
    ranks = S.argsort(axis=1).argsort(axis=1)
    assert average_precision(truth, scores) == pytest.approx(
        label_ranking_average_precision_score(Y, ranks)
    )
    assert ranking_loss(truth, scores) == pytest.approx(label_ranking_loss(Y, ranks))


@given(problems())
def test_only_the_order_within_a_row_matters(problem):
    truth, scores = problem
    assume(rankable_rows(truth).any())
    shift = np.arange(len(scores))[:, None]
    for metric in RANKING:
        assert metric(truth, scores) == metric(truth, np.exp(scores) * 3 - 1)
        assert metric(truth, scores) == metric(truth, 2 * scores + shift)


@given(problems(), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(problem, random):
    truth, scores = problem
    assume(rankable_rows(truth).any())
    order = random.sample(range(len(truth)), len(truth))
    for metric in RANKING:
        assert metric(truth[order], scores[order]) == pytest.approx(metric(truth, scores))


@given(problems(ties=False), st.randoms(use_true_random=False))
def test_without_ties_the_order_of_the_labels_does_not_matter(problem, random):
    truth, scores = problem
    assume(rankable_rows(truth).any())
    order = random.sample(range(truth.shape[1]), truth.shape[1])
    for metric in RANKING:
        assert metric(truth[:, order], scores[:, order]) == pytest.approx(metric(truth, scores))


@pytest.mark.parametrize("cells", [1, 4, 8, 12])
def test_blocks_change_nothing(monkeypatch, cells):
    whole = evaluate(TRUTH, SCORES)
    monkeypatch.setattr(checks, "BLOCK_CELLS", cells)
    for Y in (TRUTH, sparse.csr_array(TRUTH)):
        assert evaluate(Y, SCORES) == pytest.approx(whole)
        np.testing.assert_array_equal(rankable_rows(Y), rankable_rows(TRUTH))


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


@given(problems(), st.floats(-1, 2))
def test_micro_f1_agrees_with_scikit_learn(problem, threshold):
    truth, scores = problem
    predicted = scores > threshold
    assume(truth.any() or predicted.any())
    expected = f1_score(truth.astype(int), predicted, average="micro", zero_division=0)
    if truth.shape[1] == 1:  # scikit-learn takes one column for two classes
        hits, marks = (truth * predicted).sum(), truth.sum() + predicted.sum()
        expected = 2 * hits / marks
    assert micro_f1(truth, predicted) == pytest.approx(expected)


def test_micro_f1_does_not_count_unknown_cells():
    truth = np.array([[1, np.nan, 0], [np.nan, 1, 0]])
    predicted = np.array([[1, 1, 0], [0, 1, 1]])
    expected = 2 * 2 / (2 * 2 + 1)
    assert micro_f1(truth, predicted) == expected
    assert micro_f1(sparse.csr_array(truth), sparse.csr_array(predicted)) == expected


@pytest.mark.parametrize("truth", [np.zeros((3, 4)), np.ones((3, 4)), np.full((3, 4), np.nan)])
@pytest.mark.parametrize("metric", RANKING)
def test_without_a_row_to_rank_the_answer_is_nan_and_a_warning(metric, truth):
    message = f"{metric.__name__} need.* none of the 3 rows has both; the result is NaN"
    with pytest.warns(UndefinedMetricWarning, match=message) as caught:
        assert math.isnan(metric(truth, SCORES[:3]))
    assert caught[0].filename == __file__, "the warning points at the caller"


def test_without_any_label_micro_f1_is_zero_and_a_warning():
    with pytest.warns(UndefinedMetricWarning, match="a present or a predicted label") as caught:
        assert micro_f1(np.zeros((2, 3)), np.zeros((2, 3))) == 0
    assert caught[0].filename == __file__


def test_threshold_is_strict_and_may_differ_by_label():
    assert evaluate(TRUTH, SCORES)["micro_f1"] == micro_f1(TRUTH, SCORES > 0.5)
    bounds = np.array([0.5, 0.4, 0.1, 0.0])
    assert evaluate(TRUTH, SCORES, bounds)["micro_f1"] == micro_f1(TRUTH, SCORES > bounds)


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
            lambda: evaluate([[1, 0]], [[1, 0]], [0.5] * 3),
            ValueError,
            "one for each of the 2 labels, but is [0.5, 0.5, 0.5]",
        ),
        (lambda: evaluate([[1, 0]], [[1, 0]], "f1"), ValueError, "threshold must be a finite"),
        (lambda: evaluate([[1, 0]], [[1, 0]], np.nan), ValueError, "threshold must be a finite"),
        (lambda: get_metric("oneerror"), ValueError, "Did you mean 'one_error'?"),
        (lambda: get_metric(3), ValueError, "average_precision, micro_f1, ranking_loss"),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=re.escape(message)):
        call()
