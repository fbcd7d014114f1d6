"""Centroids of labels, and products of rows with those of their candidates."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from compactlearn.shortlist import _centroids as centroids
from compactlearn.shortlist import _sparse as sparse
from compactlearn.shortlist._candidates import Candidates
from compactlearn.shortlist._centroids import Centroids
from compactlearn.shortlist._generation import sparse_rows


def rows_and_labels(seed=0, n=60, n_features=25, n_labels=9):
    """Return unit rows, of which one is empty, and labels, of which one is nowhere."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features)) * (rng.random((n, n_features)) < 0.2)
    X[3] = 0.0
    Y = (rng.random((n, n_labels)) < 0.2).astype(float)
    Y[:, 4] = 0.0
    return sparse_rows(sp.csr_array(X), unit=True), sp.csr_array(Y)


def literal(rows, Y, weights=None, smallest=centroids._SMALLEST):
    """Return the centroids of dense rows, label by label."""
    X, columns = rows.toarray().astype(float), []
    for j in range(Y.shape[1]):
        own = Y.toarray()[:, j] * (1.0 if weights is None else weights)
        total = own @ X
        length = np.linalg.norm(total)
        mean = total / length if length else total
        columns.append(np.where(np.abs(mean) >= smallest, mean, 0.0))
    return np.column_stack(columns)


@pytest.mark.parametrize("entries", [1, 40, 4_000_000])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("smallest", [0.0, 0.06, 0.3])
def test_centroids_are_those_of_dense_rows(monkeypatch, entries, weighted, smallest):
    monkeypatch.setattr(centroids, "_ENTRIES", entries)
    monkeypatch.setattr(centroids, "_SMALLEST", smallest)
    rows, Y = rows_and_labels()
    weights = 1.0 + np.arange(60) % 3 if weighted else None
    found = Centroids.of(rows, Y, weights).columns
    expected = literal(rows, Y, weights, smallest)
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-6)
    assert found.dtype == np.float32
    assert found.has_sorted_indices
    if smallest:
        assert (np.abs(found.data) >= smallest).all()
        assert 0 < found.nnz < (literal(rows, Y, weights, 0.0) != 0).sum()


def test_blocks_have_as_many_entries_as_they_may(monkeypatch):
    """More only where a single label has them."""
    rows, Y = rows_and_labels()
    work = np.diff(rows.indptr) @ (Y.toarray() > 0)
    blocks, kept_entries = [], centroids.kept_entries
    monkeypatch.setattr(centroids, "_ENTRIES", 130)
    monkeypatch.setattr(
        centroids,
        "kept_entries",
        lambda sums, kept: blocks.append(sums.shape[0]) or kept_entries(sums, kept),
    )
    Centroids.of(rows, Y)
    parts = np.split(work, np.cumsum(blocks)[:-1])
    assert sum(blocks) == Y.shape[1]
    assert 1 < len(blocks) < Y.shape[1]
    assert all(part.sum() <= 130 or part.size == 1 for part in parts)


def test_a_row_of_weight_two_is_there_twice():
    rows, Y = rows_and_labels()
    weights = 1.0 + (np.arange(60) < 20)
    twice = np.concatenate([np.arange(60), np.arange(20)])
    found = Centroids.of(rows, Y, weights).columns.toarray()
    np.testing.assert_allclose(found, Centroids.of(rows[twice], Y[twice]).columns.toarray(), 1e-5)


@pytest.mark.parametrize("unit", [1e-300, 1e-30, 1e30, 1e300])
def test_units_of_weights_do_not_matter(unit):
    rows, Y = rows_and_labels()
    weights = 1.0 + np.arange(60) % 3
    found = Centroids.of(rows, Y, unit * weights).columns.toarray()
    np.testing.assert_allclose(found, Centroids.of(rows, Y, weights).columns.toarray(), 1e-5)


def test_no_labels_no_rows_and_no_entries():
    rows, Y = rows_and_labels()
    assert Centroids.of(rows, Y[:, :0]).columns.shape == (25, 0)
    assert Centroids.of(rows[:0], Y[:0]).columns.nnz == 0
    nothing = Centroids.of(sp.csr_array((60, 25), dtype=np.float32), Y).columns
    assert nothing.shape == (25, 9)
    assert nothing.nnz == 0


@given(seed=st.integers(0, 1000))
@settings(max_examples=10, deadline=None)
def test_orders_of_rows_labels_and_features_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    rows, Y = rows_and_labels(seed)
    row, feature, label = rng.permutation(60), rng.permutation(25), rng.permutation(9)
    found = Centroids.of(rows[row][:, feature], Y[row][:, label]).columns.toarray()
    expected = Centroids.of(rows, Y).columns.toarray()[feature][:, label]
    near = np.abs(np.abs(expected) - 0.06) < 1e-6  # may be rounded to either side of the limit
    near |= np.abs(np.abs(found) - 0.06) < 1e-6
    np.testing.assert_allclose(found[~near], expected[~near], atol=1e-6)


@pytest.mark.parametrize("block", [1, 30, 1 << 22])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_products_are_those_of_dense_matrices(monkeypatch, block, kind):
    """In blocks of rows, also where rows have no candidates; and the largest products likewise."""
    monkeypatch.setattr(sparse, "_BLOCK", block)
    monkeypatch.setattr(sparse, "_PRODUCTS", block)
    rng = np.random.default_rng(0)
    rows, Y = rows_and_labels()
    columns = Centroids.of(rows, Y).columns.astype(kind)
    labels = [np.sort(rng.choice(9, size, replace=False)) for size in rng.integers(0, 6, 60)]
    labels[0] = labels[-1] = labels[10] = np.zeros(0, int)
    starts = np.concatenate([[0], np.cumsum([one.size for one in labels])])
    found = sparse.products_at(rows, columns, starts, np.concatenate(labels))
    dense = rows.toarray() @ columns.toarray()
    expected = np.concatenate([dense[i, one] for i, one in enumerate(labels)])
    np.testing.assert_allclose(found, expected, atol=1e-6)
    largest = sparse.maxima_at(rows, columns, starts, np.concatenate(labels))
    single = (rows.toarray()[:, :, None] * columns.toarray()).max(axis=1)
    expected = np.concatenate([np.maximum(single[i, one], 0) for i, one in enumerate(labels)])
    np.testing.assert_allclose(largest, expected, atol=1e-6)
    none = sparse.products_at(rows[:0], columns, np.zeros(1, int), np.zeros(0, int))
    assert none.shape == (0,)


def test_similarities_are_cosines_up_to_the_entries_left_out(monkeypatch):
    monkeypatch.setattr(centroids, "_SMALLEST", 0.0)
    rows, Y = rows_and_labels()
    everything = Candidates.of((np.tile(np.arange(9), (60, 1)), np.zeros((60, 9))), None, 9)
    found = Centroids.of(rows, Y).similarities(rows, everything).reshape(60, 9)
    np.testing.assert_allclose(found, rows.toarray() @ literal(rows, Y, None, 0.0), atol=1e-6)
    assert np.abs(found).max() <= 1.0 + 1e-6
    assert (found[3] == 0).all()  # the row has no features
    assert (found[:, 4] == 0).all()  # the label has no rows
