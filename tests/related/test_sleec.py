"""SLEEC: codes keep inner products of near label vectors; neighbours of codes vote."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import NearestNeighbors

from compactlearn.related import SLEECClassifier
from compactlearn.related import _sleec as sleec_codes
from tests.makers import labelled, modest


def csr(matrix):
    return scipy.sparse.csr_array(np.asarray(matrix, dtype=float))


def normalised(Y):
    lengths = np.linalg.norm(Y, axis=1, keepdims=True)
    return Y / np.where(lengths > 0, lengths, 1.0)


def literal_omega(S, count):
    """A pair is kept where either row is among the other's nearest; equals go by their place."""
    n = len(S)
    kept = np.zeros((n, n), dtype=bool)
    for i in range(n):
        nearest = sorted(range(n), key=lambda j: (-S[i, j], j))[:count]
        kept[i, nearest] = True
    return kept | kept.T


def literal_projection(S, kept, Z, rounds):
    """Singular value projection with everything formed."""
    m = Z.shape[1]
    losses = [np.sum((kept * (S - Z @ Z.T)) ** 2)]
    for _ in range(rounds):
        values, vectors = np.linalg.eigh(Z @ Z.T + kept * (S - Z @ Z.T))
        values, vectors = values[::-1][:m], vectors[:, ::-1][:, :m]
        Z = vectors[:, values > 0] * np.sqrt(values[values > 0])
        losses.append(np.sum((kept * (S - Z @ Z.T)) ** 2))
    return Z, losses


@pytest.mark.parametrize("n_similar", [None, 30, 40])
def test_with_all_neighbours_codes_are_the_truncated_eigendecomposition(n_similar):
    Y = labelled(30, 5, 6, 0)[1]
    unit = normalised(Y)
    values, vectors = np.linalg.eigh(unit @ unit.T)
    best = (vectors[:, -3:] * values[-3:]) @ vectors[:, -3:].T
    model = SLEECClassifier(3, n_similar=n_similar)
    Z = model._codes(csr(Y), 3).Z
    np.testing.assert_allclose(Z @ Z.T, best, atol=1e-8)


@modest
@given(
    n=st.integers(3, 20),
    n_labels=st.integers(1, 7),
    count=st.integers(1, 20),
    seed=st.integers(0, 1000),
)
def test_near_pairs_are_the_literal_ones(n, n_labels, count, seed):
    Y = normalised((np.random.default_rng(seed).random((n, n_labels)) < 0.4).astype(float))
    S = Y @ Y.T
    exact = csr(Y) @ csr(Y).T  # the sums that are compared, to the last digit
    kept = literal_omega(exact.toarray(), count)
    pairs = sleec_codes.near_pairs(csr(Y), count)
    found = np.zeros((n, n), dtype=bool)
    found[np.repeat(np.arange(n), np.diff(pairs.indptr)), pairs.indices] = True
    np.testing.assert_array_equal(found, kept)
    np.testing.assert_allclose(pairs.toarray(), kept * S, atol=1e-12)


def test_projection_is_the_literal_one_and_never_rises():
    Y = normalised(labelled(30, 5, 8, 1)[1])
    S = Y @ Y.T
    kept = literal_omega((csr(Y) @ csr(Y).T).toarray(), 6)
    start = sleec_codes.eigen_codes(csr(Y), 3)
    pairs = sleec_codes.near_pairs(csr(Y), 6)
    found = sleec_codes.codes_by_projection(pairs, start, max_iter=15, tol=0.0)
    Z, losses = literal_projection(S, kept, start, 15)
    np.testing.assert_allclose(found.losses, losses, rtol=1e-8)
    np.testing.assert_allclose(found.Z @ found.Z.T, Z @ Z.T, atol=1e-8)
    assert (np.diff(found.losses) <= 1e-12).all()
    assert found.losses[-1] < 0.9 * found.losses[0]


def test_regression_and_votes_are_the_literal_ones():
    X, Y = labelled(40, 5, 6, 0)
    model = SLEECClassifier(3, n_neighbors=4, alpha=0.7).fit(X, Y)
    Z = model._codes(csr(Y), 3).Z
    Xc, Zc = X - X.mean(axis=0), Z - Z.mean(axis=0)
    B = np.linalg.solve(Xc.T @ Xc + 0.7 * np.eye(5), Xc.T @ Zc)
    embedded = Xc @ B
    new = labelled(15, 5, 6, 3)[0]
    near = (
        NearestNeighbors(n_neighbors=4)
        .fit(embedded)
        .kneighbors((new - X.mean(axis=0)) @ B, return_distance=False)
    )
    literal = np.array([Y[rows].mean(axis=0) for rows in near])
    np.testing.assert_allclose(model.decision_function(new), literal, atol=1e-12)


def test_clusters_are_models_of_their_rows_and_learners_are_averaged():
    X, Y = labelled(60, 4, 5, 0)
    X[:30] += 50.0
    own = {"n_components": 3, "n_neighbors": 5}
    both = SLEECClassifier(n_clusters=2, n_learners=3, random_state=0, **own).fit(X, Y)
    assert both.n_clusters_ == 2
    assert len(both.learners_) == 3
    parts = [SLEECClassifier(**own).fit(X[rows], Y[rows]) for rows in (slice(30), slice(30, 60))]
    alone = np.vstack([parts[0].decision_function(X[:30]), parts[1].decision_function(X[30:])])
    np.testing.assert_allclose(both.decision_function(X), alone, atol=1e-12)


def test_rows_without_labels_are_rows():
    X = labelled(20, 4, 3, 0)[0]
    model = SLEECClassifier().fit(X, np.zeros((20, 3), dtype=int))
    assert not model.decision_function(X).any()
