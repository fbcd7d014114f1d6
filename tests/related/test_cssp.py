"""CSSP: the choice of columns and what follows from them, against literal versions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlearn import CompactClassifier, Original
from compactlearn.related import CSSP
from compactlearn.related._cssp import drawn, greedy, leverages
from tests.makers import make_data, modest, ridge_scores

CODINGS = ["centred", "binary", "signed"]
SELECTIONS = ["greedy", "sampled"]


def coded(Y, coding):
    return {"centred": Y - Y.mean(axis=0), "binary": Y, "signed": 2 * Y - 1}[coding]


def recovered(T, chosen):
    """Return the squared norm that least squares from some columns recovers of all."""
    C = T[:, list(chosen)]
    return float(np.sum((C @ np.linalg.lstsq(C, T, rcond=None)[0]) ** 2))


def literal_greedy(T, m):
    chosen = []
    for _ in range(m):
        gains = [recovered(T, [*chosen, j]) for j in range(T.shape[1])]
        chosen.append(int(np.argmax(np.array(gains) > max(gains) * (1 - 1e-9))))
    return chosen


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("selection", SELECTIONS)
def test_scores_are_those_of_the_formula(coding, selection):
    X, Y = make_data(50, 6, 7, seed=2)
    X_new = make_data(9, 6, 7, seed=3)[0]
    embedding = CSSP(4, selection=selection, coding=coding, random_state=1)
    model = CompactClassifier(embedding, alpha=2.0).fit(X, Y)
    T, chosen = coded(Y, coding), model.embedding_.selected_
    W = np.linalg.pinv(T[:, chosen]) @ T
    decoded = ridge_scores(X, T[:, chosen], 2.0, X_new) @ W
    back = {
        "centred": decoded + Y.mean(axis=0),
        "binary": decoded,
        "signed": (decoded + 1) / 2,
    }
    np.testing.assert_allclose(model.decision_function(X_new), back[coding], atol=1e-8)
    assert model.embedding_.objective_ == pytest.approx(recovered(T, chosen), rel=1e-9)


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.filterwarnings("ignore:7 label components were asked for")
def test_all_columns_are_plain_ridge(selection, coding):
    X, Y = make_data(50, 6, 7, seed=4)
    Y[:, 6] = 1 - Y[:, 0]  # dependent, once there is a constant
    embedding = CSSP(1.0, selection=selection, coding=coding, random_state=0)
    found = CompactClassifier(embedding, alpha=0.7).fit(X, Y).decision_function(X)
    expected = CompactClassifier(Original(), alpha=0.7).fit(X, Y).decision_function(X)
    np.testing.assert_allclose(found, expected, atol=1e-8)


@modest
@given(
    n=st.integers(3, 30),
    n_labels=st.integers(1, 7),
    coding=st.sampled_from(CODINGS),
    copies=st.booleans(),
    seed=st.integers(0, 99),
)
def test_the_greedy_choice_is_greedy(n, n_labels, coding, copies, seed):
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, n_labels)) < 0.4).astype(float)
    if copies:
        Y[:, -1] = Y[:, 0]
    T = coded(Y, coding)
    m = max(1, min(3, n_labels))
    found, expected = greedy(T.T @ T, m), literal_greedy(T, m)
    rank = np.linalg.matrix_rank(T)
    assert len(found) == min(m, rank)
    assert len(set(found)) == len(found)
    assert list(found) == expected[: len(found)]


@modest
@given(n_labels=st.integers(2, 9), rank=st.integers(1, 9), seed=st.integers(0, 99))
def test_leverages_are_those_of_the_singular_vectors(n_labels, rank, seed):
    T = np.random.default_rng(seed).normal(size=(12, n_labels))
    rank = min(rank, n_labels)
    rows = np.linalg.svd(T)[2][:rank]
    found = leverages(T.T @ T, rank)
    np.testing.assert_allclose(found, (rows**2).sum(axis=0), atol=1e-9)
    assert found.sum() == pytest.approx(rank)


def test_draws_have_the_probabilities_of_one_after_the_other():
    """The pair (2, 1) of the scores 1, 2 and 5 has the probability 5/8 * 2/3."""
    rng, scores = np.random.RandomState(0), np.array([1.0, 2.0, 5.0])
    pairs = [tuple(drawn(scores, 2, rng)) for _ in range(20_000)]
    share = np.mean([pair == (2, 1) for pair in pairs])
    assert share == pytest.approx(5 / 8 * 2 / 3, abs=4 * np.sqrt(0.25 / 20_000))


def test_the_greedy_choice_for_fewer_is_the_beginning_of_that_for_more():
    X, Y = make_data(60, 5, 8)
    more = CSSP(6).fit(X, Y).selected_
    np.testing.assert_array_equal(CSSP(3).fit(X, Y).selected_, more[:3])


def test_dependent_labels_are_cut_in_words():
    X, Y = make_data(40, 5, 4)
    Y[:, 3] = Y[:, 1]
    with pytest.warns(UserWarning, match="4 label components were asked for, but only 3"):
        found = CSSP(4).fit(X, Y)
    assert found.selected_.size == 3
