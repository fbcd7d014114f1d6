"""Leading pairs by few wide products, and what a pass sums up."""

import numpy as np
import pytest
import scipy.sparse

from compactlearn.linalg import _few_passes as few_passes
from compactlearn.linalg._few_passes import search, together
from compactlearn.linalg._passes import (
    GramOf,
    ImagesOf,
    Scaled,
    Several,
    add_several,
    column_sums,
)
from compactlearn.linalg._row_source import Block


def spectrum(n, decay, seed=0):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    return (Q * decay ** np.arange(n)) @ Q.T


def few_pairs(matrix, count, share):
    """Return the pairs of one matrix, and the number of products."""
    products = []

    def multiply(asked):
        products.append(asked)
        return {0: matrix @ asked[0]}

    return together([search(len(matrix), count, share)], multiply)[0], len(products)


@pytest.mark.parametrize("decay", [0.9, 0.98, 0.995])
def test_the_share_stated_is_reached(decay):
    A = spectrum(300, decay)
    found, products = few_pairs(A, 20, 0.9999)
    best = np.linalg.eigvalsh(A)[::-1][:20].sum()
    assert found.share <= found.values.sum() / best + 1e-12
    assert found.values.sum() <= best * (1 + 1e-12)
    assert found.share > 0.97
    assert products <= few_passes.MOST_PRODUCTS
    assert np.allclose(found.vectors.T @ found.vectors, np.eye(20), atol=1e-10)
    assert found.images is not None
    assert np.allclose(A @ found.vectors, found.images, atol=1e-8)


def test_a_repeated_eigenvalue_is_found_as_often_as_it_is_there():
    A = np.diag([5.0] * 12 + [1.0] * 388)
    found = few_pairs(A, 14, 0.9999)[0]
    assert np.allclose(found.values[:12], 5.0)


def test_a_small_matrix_is_multiplied_out_in_one_product():
    A = spectrum(40, 0.9)
    found, products = few_pairs(A, 10, 0.9999)
    assert products == 1
    assert np.allclose(found.values, np.linalg.eigvalsh(A)[::-1][:10])


def test_searches_side_by_side_find_what_each_finds_alone():
    matrices = [spectrum(300, 0.9), spectrum(300, 0.98, seed=1)]
    asked = []

    def multiply(blocks):
        asked.append(sorted(blocks))
        return {place: matrices[place] @ block for place, block in blocks.items()}

    both = together([search(300, 10, 0.9999), search(300, 10, 0.9999)], multiply)
    for found, A in zip(both, matrices, strict=True):
        assert np.array_equal(found.values, few_pairs(A, 10, 0.9999)[0].values)
    assert asked[0] == [0, 1]
    assert asked[-1] == [1]  # the easier one has ended before


# ---- what a pass sums up ------------------------------------------------------------------------


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_of_a_block_are_what_they_are_called(sparse, weighted, monkeypatch):
    monkeypatch.setattr("compactlearn.linalg._passes.SPARSE_BYTES", 8 * 3 * 7)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 6)) * (rng.random((50, 6)) < 0.5) + (0 if sparse else 3)
    Y = (rng.random((50, 4)) < 0.3).astype(float)
    w = rng.uniform(0, 2, 50) if weighted else None
    rows = scipy.sparse.csr_array(X) if sparse else X
    block = Block(rows, scipy.sparse.csr_array(Y), w, 0, 100)
    skip = np.array([3, 99, 100, 120, 149, 150])
    kept = np.ones(50) if w is None else w.copy()
    kept[[0, 20, 49]] = 0.0
    mean = rng.normal(size=6)
    Xc, Yr = (X - mean) * np.sqrt(kept)[:, None], Y * np.sqrt(kept)[:, None]
    Z = np.hstack([0.7 * Xc, Yr])
    Q, C = rng.normal(size=(10, 3)), rng.normal(size=(6, 2))
    assert np.allclose(ImagesOf(Q, mean, skip, 0.7)(block), Z.T @ Z @ Q)
    assert np.allclose(ImagesOf(C, mean, skip)(block), Xc.T @ Xc @ C)
    assert np.allclose(GramOf(C, mean, skip)(block), C.T @ Xc.T @ Xc @ C)
    factors = rng.uniform(0.5, 2, 6)
    scaled = Scaled(GramOf(C, mean), factors)(block)
    v = np.ones(50) if w is None else w
    Xs = (X * factors - mean) * np.sqrt(v)[:, None]
    assert np.allclose(scaled, C.T @ Xs.T @ Xs @ C)
    both = Several((GramOf(C, mean, skip), ImagesOf(C, mean, skip)))
    twice = add_several(both(block), both(block))
    assert np.allclose(twice[0], 2 * both(block)[0])


def test_column_sums_add_up():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(30, 3)) + 1e6, (rng.random((30, 2)) < 0.5).astype(float)
    Y = scipy.sparse.csr_array(Y)
    w = rng.uniform(0, 2, 30)
    parts = [Block(X[a:b], Y[a:b], w[a:b], 0, a) for a, b in ((0, 4), (4, 4), (4, 30))]
    one, two, three = map(column_sums, parts)
    total, whole = one + two + three, column_sums(Block(X, Y, w, 0, 0))
    assert total.count == pytest.approx(whole.count)
    assert np.allclose(total.mean_left, whole.mean_left, rtol=1e-14)
    assert np.allclose(total.deviations, whole.deviations, rtol=1e-6)
    assert np.allclose(total.sum_right, Y.T @ w)
    assert total.right_energy == pytest.approx(whole.right_energy)
    factors = np.array([1.0, 2.0, 0.5])
    again = column_sums(Block(X * factors, Y, w, 0, 0))
    assert np.allclose(whole.rescaled(factors).deviations, again.deviations)
