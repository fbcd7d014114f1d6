"""Planted subspaces exist, are found, and are hidden by noise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlearn import CMLL
from compactlearn.datasets import Dataset, make_compact


def largest_angle(A, B):
    """Return the sine of the largest principal angle between two spans."""
    cosines = np.linalg.svd(np.linalg.qr(A)[0].T @ np.linalg.qr(B)[0], compute_uv=False)
    return float(np.sqrt(max(0.0, 1 - cosines[-1] ** 2)))


@given(
    n=st.integers(1, 60),
    D=st.integers(1, 15),
    M=st.integers(1, 12),
    k=st.integers(1, 12),
    share=st.floats(0.05, 1.0),
    imbalance=st.floats(0, 3),
    seed=st.integers(0, 1000),
)
def test_shapes_cardinality_and_orthonormality(n, D, M, k, share, imbalance, seed):
    k = min(k, D, M)
    data = make_compact(
        n,
        D,
        M,
        n_directions=k,
        cardinality=share * M,
        imbalance=imbalance,
        random_state=seed,
    )
    assert isinstance(data, Dataset)
    assert data.X.shape == (n, D)
    assert data.Y.shape == (n, M)
    assert set(np.unique(data.Y)) <= {0, 1}
    # Each label's count is rounded, so the total may be off by half a row per label.
    assert abs(data.cardinality - share * M) <= 0.5 * M / n + 1e-9
    for basis, size in ((data.feature_subspace, D), (data.label_subspace, M)):
        assert basis.shape == (size, k)
        np.testing.assert_allclose(basis.T @ basis, np.eye(k), atol=1e-10)


def test_without_noise_the_features_lie_in_their_subspace():
    data = make_compact(200, 30, 10, n_directions=4, noise=0.0, random_state=0)
    P = data.feature_subspace
    np.testing.assert_allclose(data.X, data.X @ P @ P.T, atol=1e-10)
    assert np.linalg.matrix_rank(data.X) == 4


def test_compact_learning_finds_the_planted_subspaces():
    data = make_compact(20_000, 40, 30, n_directions=3, noise=0.5, label_noise=0.2, random_state=1)
    found = CMLL(3, 3).fit(data.X, data.Y)
    assert largest_angle(found.projection_, data.feature_subspace) < 0.1
    random = np.random.default_rng(0).normal(size=(40, 3))
    assert largest_angle(random, data.feature_subspace) > 0.9


def test_imbalance_zero_makes_all_labels_equally_frequent():
    counts = make_compact(1_000, 10, 8, imbalance=0, n_directions=2, random_state=4).Y.sum(axis=0)
    assert np.ptp(counts) == 0


def test_a_seed_decides_everything():
    one, two, other = (make_compact(50, 8, 6, random_state=s) for s in (5, 5, 6))
    np.testing.assert_array_equal(one.X, two.X)
    np.testing.assert_array_equal(one.Y, two.Y)
    assert not np.array_equal(one.X, other.X)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_directions": 9}, "at most 6"),
        ({"cardinality": 7.0}, "lower cardinality"),
        ({"noise": -1.0}, "noise"),
        ({"n_samples": 0}, "n_samples"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(ValueError, match=message):
        make_compact(**{"n_samples": 50, "n_features": 8, "n_labels": 6, **options})
