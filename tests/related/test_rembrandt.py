"""Rembrandt: uncentred CPLST, exactly where its block is full and nearly where it is not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlearn import CPLST, CompactClassifier, KernelMap, Original
from compactlearn.related import Rembrandt
from tests.makers import make_data, maker, modest, ridge_scores

wide = maker(200, 30, 60, noise=2.0)


def literal_hat(X, ridge):
    return X @ np.linalg.solve(X.T @ X + ridge * np.eye(X.shape[1]), X.T)


def leading(S, m):
    return np.linalg.eigh((S + S.T) / 2)[1][:, ::-1][:, :m]


@pytest.mark.parametrize("solver", ["moments", "dual", "krylov"])
def test_a_full_block_is_the_exact_decomposition(solver):
    X, Y = make_data(50, 8, 7, seed=1)
    X_new = make_data(9, 8, 7, seed=2)[0]
    embedding = Rembrandt(3, ridge=4.0, solver=solver, random_state=0)
    model = CompactClassifier(embedding, alpha=2.0).fit(X, Y)
    S = Y.T @ literal_hat(X, 4.0) @ Y
    O = leading(S, 3)
    lost = Y.mean(axis=0) @ (np.eye(7) - O @ O.T)
    expected = ridge_scores(X, Y @ O, 2.0, X_new) @ O.T + lost
    np.testing.assert_allclose(model.decision_function(X_new), expected, atol=1e-8)
    values = np.linalg.eigvalsh((S + S.T) / 2)[::-1][:3]
    np.testing.assert_allclose(model.embedding_.eigenvalues_, values, rtol=1e-9)
    assert model.embedding_.ridge_ == 4.0


def test_with_centred_labels_it_is_cplst():
    X, Y = make_data(50, 8, 7, seed=3)
    ours = Rembrandt(3, ridge=4.0, centre=True, random_state=0)
    theirs = CPLST(3, ridge=4.0)
    found, expected = (
        CompactClassifier(e, alpha=2.0).fit(X, Y).decision_function(X) for e in (ours, theirs)
    )
    np.testing.assert_allclose(found, expected, atol=1e-8)


def best_sum(X, Y, m, ridge):
    return np.linalg.eigvalsh(Y.T @ literal_hat(X, ridge) @ Y)[::-1][:m].sum()


@pytest.mark.parametrize(
    ("oversampling", "n_power", "share"), [(20, 0, 0.85), (20, 1, 0.99), (20, 3, 0.9999)]
)
def test_a_small_block_has_a_share_of_the_objective(oversampling, n_power, share):
    X, Y = wide(seed=4)
    for seed in range(5):
        settings = {"oversampling": oversampling, "n_power": n_power, "random_state": seed}
        found = Rembrandt(8, ridge=10.0, **settings).fit(X, Y)
        best = best_sum(X, Y, 8, 10.0)
        assert share * best <= found.objective_ <= best * (1 + 1e-9)
        O = found.decoder_.T
        np.testing.assert_allclose(O.T @ O, np.eye(8), atol=1e-10)


@modest
@given(
    n=st.integers(2, 25),
    n_features=st.integers(1, 30),
    n_labels=st.integers(2, 6),
    centre=st.booleans(),
    seed=st.integers(0, 99),
)
@pytest.mark.filterwarnings("ignore:.*label components were asked for")
def test_regimes_agree_on_any_shape(n, n_features, n_labels, centre, seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(n, n_features)) + 1, (rng.random((n, n_labels)) < 0.5).astype(float)
    Y[0] = 1.0
    scores = [
        CompactClassifier(Rembrandt(1.0, centre=centre, solver=solver, random_state=0), alpha=1.0)
        .fit(X, Y)
        .embedding_.objective_
        for solver in ("moments", "dual", "krylov")
    ]
    assert scores[1:] == pytest.approx(scores[:1] * 2, rel=1e-8, abs=1e-8)


def test_the_penalty_is_in_units_of_the_features():
    X, Y = make_data(30, 5, 4)
    found = Rembrandt(2, lam=0.5, random_state=0).fit(X, Y)
    assert found.ridge_ == pytest.approx(0.5 * np.sum(X**2) / 5)
    centred = Rembrandt(2, lam=0.5, centre=True, random_state=0).fit(X, Y)
    assert centred.ridge_ == pytest.approx(0.5 * np.sum((X - X.mean(axis=0)) ** 2) / 5)
    shared = CompactClassifier(Rembrandt(2, ridge="shared"), alpha=7.0).fit(X, Y)
    assert shared.embedding_.ridge_ == 7.0


def test_all_directions_are_plain_ridge():
    X, Y = make_data(50, 8, 7, seed=5)
    found = CompactClassifier(Rembrandt(1.0, offset="none"), alpha=0.7).fit(X, Y)
    expected = CompactClassifier(Original(), alpha=0.7).fit(X, Y)
    np.testing.assert_allclose(found.decision_function(X), expected.decision_function(X), atol=1e-8)


@pytest.mark.parametrize("centre", [False, True])
@pytest.mark.parametrize("ridge", [2.0, None])
def test_a_linear_kernel_is_the_features(centre, ridge):
    X, Y = make_data(40, 6, 5)
    embedding = Rembrandt(3, centre=centre, ridge=ridge, random_state=0)
    here = CompactClassifier(embedding, alpha=1.0).fit(X, Y).decision_function(X)
    kernel = CompactClassifier(embedding, alpha=1.0, feature_map=KernelMap("linear"))
    np.testing.assert_allclose(kernel.fit(X, Y).decision_function(X), here, atol=1e-7)
