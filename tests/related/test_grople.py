"""GroPLE: the proximal step, the alternation and the groups."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlearn import PLST, CompactClassifier
from compactlearn.related import GroPLE
from compactlearn.related._grople import GroupProblem, label_groups
from tests.makers import maker, modest, ridge_scores

wide = maker(80, 6, 9)
GROUPS = np.array([0, 0, 1, 1, 1, 2, 2, 0, 1])


def objective(Z, U, T, groups, l1, l2):
    parts = sum(np.linalg.norm(T[k, groups == g]) for k in range(len(T)) for g in np.unique(groups))
    return np.sum((Z - U @ T) ** 2) + l1 * np.sum(U**2) + l2 * parts


def literal_alternation(Z, m, groups, l1, l2, max_iter, tol):
    """With the codes of every row; returns decoder, codes and path."""

    def codes(T):
        return Z @ T.T @ np.linalg.pinv(T @ T.T + l1 * np.eye(m))

    T = np.linalg.svd(Z, full_matrices=False)[2][:m]
    path = [objective(Z, codes(T), T, groups, l1, l2)]
    for _ in range(max_iter):
        U = codes(T)
        L = 2 * np.linalg.norm(U, 2) ** 2
        for _ in range(5):
            step = T - 2 * U.T @ (U @ T - Z) / L
            T = np.zeros_like(T)
            for k in range(m):
                for g in np.unique(groups):
                    part = step[k, groups == g]
                    size = np.linalg.norm(part)
                    T[k, groups == g] = part * max(0.0, 1 - l2 / L / size)
        for k in range(m):
            parts = sum(np.linalg.norm(T[k, groups == g]) for g in np.unique(groups))
            if l1 * l2 * parts > 0:
                T[k] /= (l2 * parts / (2 * l1 * np.sum(U[:, k] ** 2))) ** (1 / 3)
        path.append(objective(Z, codes(T), T, groups, l1, l2))
        if path[-2] - path[-1] <= tol * path[-2]:
            break
    return T, codes(T), path


@pytest.mark.parametrize("l1", [0.0, 0.5])
@pytest.mark.parametrize("l2", [0.0, 1e-3, 0.05])
def test_the_alternation_is_the_literal_one(l1, l2):
    Y = wide(seed=3)[1]
    Z = Y - Y.mean(axis=0)
    problem = GroupProblem(Z.T @ Z, GROUPS, l1, len(Z) * l2)
    start = np.linalg.svd(Z, full_matrices=False)[2][:4]
    T, path = problem.alternated(start, 20, 1e-9)
    expected, U, values = literal_alternation(Z, 4, GROUPS, l1, len(Z) * l2, 20, 1e-9)
    np.testing.assert_allclose(T, expected, atol=1e-8)
    np.testing.assert_allclose(Z @ problem.encoder(T), U, atol=1e-8)
    np.testing.assert_allclose(path, values, rtol=1e-9)
    assert np.all(np.diff(path) <= 1e-9 * path[0])


def test_a_balanced_decoder_has_the_best_factor_for_every_code():
    Z = np.sign(np.random.default_rng(0).normal(size=(30, 9)))
    problem = GroupProblem(Z.T @ Z, GROUPS, 0.7, 3.0)
    T = np.random.default_rng(1).normal(size=(3, 9))
    R = problem.encoder(T)
    balanced = problem.balanced(R, T)
    factors = T[:, 0] / balanced[:, 0]
    best = problem.value(R * factors, balanced)
    for k in range(3):
        for wrong in (0.9, 1.1):
            other = np.where(np.arange(3) == k, wrong, 1.0) * factors
            assert problem.value(R * other, T / other[:, None]) > best
    assert best < problem.value(R, T)


@modest
@given(
    n=st.integers(3, 25),
    n_labels=st.integers(2, 7),
    m=st.integers(1, 7),
    l1=st.sampled_from([0.0, 0.1, 10.0]),
    l2=st.sampled_from([0.0, 1e-3, 1.0]),
    seed=st.integers(0, 999),
)
def test_no_round_raises_the_objective(n, n_labels, m, l1, l2, seed):
    rng = np.random.default_rng(seed)
    Z = np.sign(rng.normal(size=(n, n_labels)))
    groups = np.sort(rng.integers(0, 2, n_labels))
    problem = GroupProblem(Z.T @ Z, groups - groups.min(), l1, n * l2)
    start = np.linalg.qr(rng.normal(size=(n_labels, min(m, n_labels))))[0].T
    path = problem.alternated(start, 15, 0.0)[1]
    assert np.all(np.diff(path) <= 1e-9 * path[0])


def test_scores_are_those_of_the_formula():
    X, Y = wide(seed=5)
    embedding = GroPLE(4, n_groups=3, l2=5e-3).fit(X, Y)
    Z = Y - Y.mean(axis=0)
    groups = label_groups(Y.T @ Y, 3)
    T, U, path = literal_alternation(Z, 4, groups, 1.0, len(Z) * 5e-3, 200, 1e-5)
    model = CompactClassifier(GroPLE(4, n_groups=3, l2=5e-3), alpha=2.0).fit(X, Y)
    expected = ridge_scores(X, U, 2.0, X) @ T + Y.mean(axis=0)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-7)
    assert embedding.objective_ == pytest.approx(path[-1], rel=1e-8)
    assert embedding.n_iter_ == len(path) - 1
    zero = np.abs(embedding.decoder_) == 0
    for g in range(3):  # a group uses a code as a whole or not at all
        assert np.array_equal(zero[:, groups == g].all(axis=1), zero[:, groups == g].any(axis=1))
    assert zero.any()


def test_without_penalties_it_is_plst():
    X, Y = wide(seed=6)
    free = CompactClassifier(GroPLE(4, l1=0.0, l2=0.0), alpha=2.0).fit(X, Y)
    expected = CompactClassifier(PLST(4), alpha=2.0).fit(X, Y)
    np.testing.assert_allclose(free.decision_function(X), expected.decision_function(X), atol=1e-8)


def test_groups_are_labels_that_occur_together():
    blocks = np.kron(np.eye(3), np.ones((5, 3)))[:, [0, 3, 6, 1, 4, 7, 2, 5, 8]]
    np.testing.assert_array_equal(label_groups(blocks.T @ blocks, 3), [0, 1, 2] * 3)
    assert set(label_groups(blocks.T @ blocks, 1)) == {0}
    empty = np.column_stack([blocks, np.zeros(15)])
    assert label_groups(empty.T @ empty, 3).shape == (10,)
