"""Evidence of features: log-odds of labels among the rows with a feature, less the usual ones."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit

from compactlearn import ShortlistClassifier
from compactlearn.core._unknown_labels import expected_counts
from compactlearn.shortlist import _evidence as evidence
from compactlearn.shortlist import _sparse as sparse
from compactlearn.shortlist._candidates import Candidates
from compactlearn.shortlist._evidence import Evidence

N, FEATURES, LABELS = 60, 25, 9


def rows_and_labels(seed=0):
    """Return rows with some values below 0, one row empty, and labels, of which one is nowhere."""
    rng = np.random.default_rng(seed)
    X = rng.normal(0.5, 1, size=(N, FEATURES)) * (rng.random((N, FEATURES)) < 0.2)
    X[3] = 0.0
    Y = (rng.random((N, LABELS)) < 0.2).astype(float)
    Y[:, 4] = 0.0
    return sp.csr_array(X.astype(np.float32)), sp.csr_array(Y)


def literal(rows, Y, weights=None, unknown=None, least=0.03):
    """Return the evidence of each feature for each label by counting, and the usual log-odds."""
    X, Y = rows.toarray() > 0, Y.toarray()
    w = np.ones(len(X)) if weights is None else weights
    known = np.ones(Y.shape, bool) if unknown is None else unknown.toarray() == 0
    often = expected_counts(sp.csr_array(Y), unknown, w)
    usual = (often + 1) / (w.sum() + 2)
    found = np.zeros((X.shape[1], Y.shape[1]))
    for f, j in np.ndindex(found.shape):
        counted = X[:, f] & known[:, j]
        share = (w[counted] @ Y[counted, j] + usual[j]) / (w[counted].sum() + 1)
        if share >= least and Y[counted, j].any():
            found[f, j] = max(0.0, logit(share) - logit(usual[j]))
    return found, logit(usual)


def some_unknown(Y, seed=1):
    there = np.random.default_rng(seed).random(Y.shape) < 0.3
    return sp.csr_array(Y.multiply(~there)), sp.csr_array(there.astype(float))


@pytest.mark.parametrize("entries", [1, 40, 4_000_000])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("partly", [False, True])
@pytest.mark.parametrize("least", [0.0, 0.03, 0.4])
def test_evidence_is_counted(monkeypatch, entries, weighted, partly, least):
    monkeypatch.setattr(evidence, "_ENTRIES", entries)
    monkeypatch.setattr(evidence, "_LEAST_SHARE", least)
    rows, Y = rows_and_labels()
    Y, unknown = some_unknown(Y) if partly else (Y, None)
    weights = 1.0 + np.arange(N) % 3 if weighted else None
    found = Evidence.of(rows, Y, weights, unknown)
    expected, usual = literal(rows, Y, weights, unknown, least)
    np.testing.assert_allclose(found.columns.toarray(), expected, atol=1e-5)
    np.testing.assert_allclose(found.usual, usual, rtol=1e-6)
    assert found.columns.dtype == found.usual.dtype == np.float32
    assert found.columns.has_sorted_indices
    assert found.columns.nnz > 0


def test_a_row_of_weight_two_is_there_twice():
    rows, Y = rows_and_labels()
    weights = 1.0 + (np.arange(N) < 20)
    twice = np.concatenate([np.arange(N), np.arange(20)])
    found, expected = Evidence.of(rows, Y, weights), Evidence.of(rows[twice], Y[twice])
    np.testing.assert_allclose(found.columns.toarray(), expected.columns.toarray(), atol=1e-5)
    np.testing.assert_allclose(found.usual, expected.usual, rtol=1e-6)


def test_lengths_of_rows_do_not_matter():
    rows, Y = rows_and_labels()
    longer = sp.csr_array(rows * (1.0 + np.arange(N))[:, None])
    found, expected = Evidence.of(longer, Y), Evidence.of(rows, Y)
    np.testing.assert_array_equal(found.columns.toarray(), expected.columns.toarray())


@given(seed=st.integers(0, 1000))
@settings(max_examples=10, deadline=None)
def test_orders_of_rows_labels_and_features_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    rows, Y = rows_and_labels(seed)
    row, feature, label = rng.permutation(N), rng.permutation(FEATURES), rng.permutation(LABELS)
    found = Evidence.of(rows[row][:, feature], Y[row][:, label]).columns.toarray()
    expected = Evidence.of(rows, Y).columns.toarray()[feature][:, label]
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_rows_that_know_nothing_of_a_label_do_not_count_for_its_features():
    """They may have each other's features."""
    rows, Y = rows_and_labels()
    silent = np.zeros((N, LABELS))
    silent[30:, 2] = 1.0
    Y = sp.csr_array(Y.multiply(silent == 0))
    one = Evidence.of(rows, Y, None, sp.csr_array(silent))
    order = np.concatenate([np.arange(30), np.random.default_rng(0).permutation(np.arange(30, N))])
    other = Evidence.of(rows[order], Y, None, sp.csr_array(silent))
    np.testing.assert_array_equal(one.columns.toarray()[:, 2], other.columns.toarray()[:, 2])
    assert (one.columns != other.columns).nnz > 0


def test_no_labels_no_rows_and_no_entries():
    rows, Y = rows_and_labels()
    assert Evidence.of(rows, Y[:, :0]).columns.shape == (FEATURES, 0)
    assert Evidence.of(rows[:0], Y[:0]).columns.nnz == 0
    nothing = Evidence.of(sp.csr_array((N, FEATURES), dtype=np.float32), Y)
    assert nothing.columns.shape == (FEATURES, LABELS)
    assert nothing.columns.nnz == 0


@pytest.mark.parametrize("partly", [False, True])
def test_a_model_has_the_counts_of_all_rows(partly):
    rng = np.random.default_rng(0)
    X = sp.csr_array((rng.random((80, 20)) < 0.3).astype(float))
    Y, unknown = (rng.random((80, 5)) < 0.4).astype(float), np.zeros((80, 5))
    if partly:
        unknown = (rng.random((80, 5)) < 0.2).astype(float)
        Y *= unknown == 0
    weights, given = 1.0 + np.arange(80) % 3, np.where(unknown > 0, np.nan, Y)
    model = ShortlistClassifier(C=1.0, random_state=0).fit(X, given, weights)
    hidden = sp.csr_array(unknown) if partly else None
    expected, usual = literal(X, sp.csr_array(Y), weights, hidden)
    np.testing.assert_allclose(model.stages_.evidence.columns.toarray(), expected, atol=1e-5)
    np.testing.assert_allclose(model.stages_.evidence.usual, usual, rtol=1e-5)


def test_a_label_of_all_rows_and_one_of_none_have_no_evidence():
    rows, Y = rows_and_labels()
    Y = sp.csr_array(np.hstack([Y.toarray()[:, 4:5], np.ones((N, 1))]))
    found = Evidence.of(rows, Y)
    assert np.isfinite(found.usual).all()
    assert np.abs(found.columns.toarray()[:, 0]).max() == 0
    assert (expit(found.columns.toarray()[:, 1] + found.usual[1]) <= 1.0).all()


@pytest.mark.parametrize("block", [1, 30, 1 << 21])
def test_inputs_are_those_of_dense_rows(monkeypatch, block):
    """In blocks of rows, also where rows have no candidates, and where values are below 0."""
    monkeypatch.setattr(sparse, "_BLOCK", block)
    monkeypatch.setattr(sparse, "_PRODUCTS", block)
    rng = np.random.default_rng(0)
    rows, Y = rows_and_labels()
    labels = [np.sort(rng.choice(LABELS, size, replace=False)) for size in rng.integers(0, 6, N)]
    labels[0] = labels[-1] = labels[10] = np.zeros(0, int)
    starts = np.concatenate([[0], np.cumsum([one.size for one in labels])])
    flat = np.concatenate(labels)
    candidates = Candidates(starts, flat, np.zeros(flat.size), np.zeros(flat.size), LABELS)
    found = Evidence.of(rows, Y)
    given = found.inputs(rows, candidates)
    columns, x = found.columns.toarray().astype(float), np.maximum(rows.toarray(), 0)
    total = np.concatenate([(x @ columns)[i, one] for i, one in enumerate(labels)])
    np.testing.assert_allclose(given[:, 0], total, rtol=1e-5, atol=1e-6)
    most = ((x > 0)[:, :, None] * columns).max(axis=1)
    most = np.concatenate([most[i, one] for i, one in enumerate(labels)])
    share = np.where(most > 0, expit(most + found.usual[flat]), 0.0)
    np.testing.assert_allclose(given[:, 1], share, rtol=1e-5, atol=1e-6)
    assert 0 < np.count_nonzero(share) < share.size
    none = found.inputs(rows[:0], candidates.of_rows(np.zeros(0, int)))
    assert none.shape == (0, 2)
