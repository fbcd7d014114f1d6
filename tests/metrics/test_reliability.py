"""Reliability of suggested labels, compared with its definition and its properties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from compactlearn.metrics import ReliabilityTable, reliability_table

from . import literal
from .data import probabilities, problems, random_problem, steady


def stored(P, kept):
    """Return the kept entries as a sparse matrix, and as an array with NaN elsewhere."""
    matrix = sparse.csr_array(kept.astype(float))
    matrix.data = P[kept]
    return matrix, np.where(kept, P, np.nan)


def columns(table):
    return np.stack([table.count, table.mean_probability, table.precision], axis=1)


@pytest.mark.parametrize("unknown", [False, True], ids=["known", "unknown"])
@steady
@given(data=st.data())
def test_the_table_is_that_of_its_definition(unknown, data):
    truth, scores = data.draw(problems(unknown=unknown))
    n_labels = truth.shape[1]
    # Sixteenths hit the boundaries of 8 bins, and 0 and 1 themselves.
    sixteenths = np.round(16 * probabilities(scores, 9)) / 16
    P = data.draw(st.sampled_from([probabilities(scores), sixteenths]))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    k = data.draw(st.sampled_from([None, 1, min(3, n_labels), n_labels]))
    threshold = data.draw(st.sampled_from([None, 0.5, rng.random(n_labels)]))
    labels = data.draw(st.sampled_from([None, rng.random(truth.shape) < 0.3]))
    bins = data.draw(st.sampled_from([1, 8, 10]))
    few, gaps = stored(P, rng.random(P.shape) < 0.6)
    each = None if threshold is None else np.broadcast_to(threshold, n_labels)
    for given_, as_array in ((P, P), (few, gaps), (P.astype(np.float32), P.astype(np.float32))):
        bounds = each if labels is None else None  # labels replace the threshold
        cells = literal.suggested_cells(truth, as_array, k, bounds, labels)
        expected = np.array(literal.reliability(cells, bins))
        for Y in (truth, sparse.csr_array(truth)):
            for L in (labels, None if labels is None else sparse.csr_array(labels)):
                found = reliability_table(Y, given_, k=k, threshold=threshold, labels=L, bins=bins)
                np.testing.assert_allclose(columns(found), expected, atol=1e-12)
                assert found.total == len(cells)


def test_a_pair_of_labels_and_probabilities_is_the_matrix_that_stores_them():
    truth, scores = random_problem(3, unknown=0.1)
    P = probabilities(scores)
    best = np.argsort(-P, axis=1, kind="stable")[:, :4]
    pair = best, np.take_along_axis(P, best, axis=1)
    kept = np.zeros(P.shape, dtype=bool)
    np.put_along_axis(kept, best, True, axis=1)
    for choice in ({"k": 4}, {"k": 2}, {"threshold": 0.5}, {}):
        found = reliability_table(truth, pair, **choice)
        expected = reliability_table(truth, stored(P, kept)[0], **choice)
        np.testing.assert_array_equal(columns(found), columns(expected))


def test_what_is_derived_follows_from_the_bins():
    truth, scores = random_problem(6)
    table = reliability_table(truth, probabilities(scores), k=4, bins=7)
    there = table.count > 0
    share = table.count[there] / table.total
    gap = table.mean_probability[there] - table.precision[there]
    assert table.expected_calibration_error == pytest.approx(share @ np.abs(gap))
    assert table.overconfidence == pytest.approx(share @ gap)
    assert table.largest_gap() == pytest.approx(np.abs(gap).max())
    uneven = ReliabilityTable(np.array([2, 10]), np.array([1.8, 9.0]), np.array([0, 8]))
    assert (uneven.largest_gap(2), uneven.largest_gap(3)) == pytest.approx((0.9, 0.1))
    assert uneven.overconfidence == pytest.approx(2.8 / 12)
    np.testing.assert_allclose(table.edges, np.arange(8) / 7)
    assert len(str(table).splitlines()) == 1 + there.sum()


def test_without_a_suggestion_the_table_is_empty():
    table = reliability_table([[1, 0]], [[0.3, 0.2]], threshold=0.5)
    assert table.total == 0
    assert np.isnan(
        [table.expected_calibration_error, table.overconfidence, table.largest_gap()]
    ).all()
    assert np.isnan(table.gap).all()


def test_sparse_probabilities_of_many_labels_are_not_made_dense():
    n_rows, n_labels = 200_000, 3_000_000  # 4.8 terabytes
    rng = np.random.default_rng(0)
    labels = np.sort(rng.integers(0, n_labels // 2, (n_rows, 2)) * 2 + [0, 1], axis=1)
    p = rng.random(labels.shape)
    shape, starts = (n_rows, n_labels), np.arange(n_rows + 1) * 2
    P = sparse.csr_array((p.ravel(), labels.ravel(), starts), shape=shape)
    Y = sparse.csr_array((np.ones(n_rows), labels[:, 0], np.arange(n_rows + 1)), shape=shape)
    table = reliability_table(Y, P, k=1)
    assert table.total == n_rows
    assert table.present.sum() == (p[:, 0] >= p[:, 1]).sum()
