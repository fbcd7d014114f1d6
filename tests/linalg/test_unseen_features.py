"""Held-out rows lose the features that no training row has, as new texts do."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from compactlearn.linalg._unseen_features import (
    confined_scaling,
    drop_confined_features,
    drop_unseen_features,
    keep_features,
)
from tests.makers import long_tailed_rows


@pytest.mark.parametrize("unit", [True, False])
@given(seed=st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_held_out_rows_have_features_of_training_rows_alone(unit, seed):
    X = long_tailed_rows(seed, unit=unit)
    train, test = X[:40], X[40:]
    found = drop_unseen_features(train, test).toarray()
    seen = (train.toarray() != 0).any(axis=0)
    expected = np.where(seen, test.toarray(), 0.0)
    if unit:
        lengths = np.linalg.norm(expected, axis=1, keepdims=True)
        expected /= np.where(lengths > 0, lengths, 1)
    assert found == pytest.approx(expected, rel=1e-12)


@given(seed=st.integers(0, 10_000), n_folds=st.integers(2, 60), unit=st.booleans())
@settings(max_examples=30, deadline=None)
def test_all_folds_at_once_are_each_fold_alone(seed, n_folds, unit):
    X = long_tailed_rows(seed, unit=unit)
    folds = np.random.default_rng(seed).integers(n_folds, size=X.shape[0])
    found = drop_confined_features(X, folds).toarray()
    for fold in np.unique(folds):
        alone = drop_unseen_features(X[folds != fold], X[folds == fold]).toarray()
        assert found[folds == fold] == pytest.approx(alone, rel=1e-12, abs=0)
    factors = confined_scaling(X, folds)
    changed = drop_confined_features(X, folds) is not X
    assert (factors is not None) == (unit and changed)
    if factors is not None:
        dropped = np.where(found != 0, X.toarray(), 0.0)
        assert factors[:, None] * dropped == pytest.approx(found, rel=1e-12)


def test_rows_are_those_of_a_vectoriser_that_has_not_seen_them():
    rng = np.random.default_rng(3)
    words = np.array([f"w{n}" for n in range(400)])
    probabilities = 1 / np.arange(1, 401)
    probabilities /= probabilities.sum()
    texts = [" ".join(rng.choice(words, size=12, p=probabilities)) for _ in range(80)]
    whole = TfidfVectorizer(use_idf=False).fit(texts)
    alone = TfidfVectorizer(use_idf=False).fit(texts[:60])
    kept = [whole.vocabulary_[word] for word in alone.get_feature_names_out()]
    found = drop_unseen_features(whole.transform(texts[:60]), whole.transform(texts[60:]))
    assert len(kept) < len(whole.vocabulary_)
    expected = alone.transform(texts[60:]).toarray()
    assert found.toarray()[:, kept] == pytest.approx(expected, rel=1e-12)
    assert found.sum() == pytest.approx(expected.sum())


def test_what_needs_no_change_is_returned_itself():
    X = long_tailed_rows(1)
    dense = X.toarray()
    assert drop_unseen_features(X, X[:3]).toarray() == pytest.approx(dense[:3], abs=0)
    some = X[:3]
    assert drop_unseen_features(X, some) is some
    assert drop_unseen_features(dense[:40], dense) is dense
    assert drop_confined_features(dense, np.arange(len(dense))) is dense


def test_given_rows_are_not_changed_and_keep_their_type():
    X = scipy.sparse.csr_matrix(long_tailed_rows(2), dtype=np.float32)
    before = X.copy()
    found = drop_unseen_features(X[:30], X)
    assert (X != before).nnz == 0
    assert isinstance(found, scipy.sparse.csr_matrix)
    assert found.dtype == np.float32
    lengths = np.sqrt(found.multiply(found).sum(axis=1)).A1
    assert lengths[lengths > 0] == pytest.approx(1, rel=1e-6)


def test_stored_zeros_are_no_features():
    train = scipy.sparse.csr_array(np.eye(2, 3))
    stored_zero = scipy.sparse.csr_array(
        (np.array([1.0, 0.0]), np.array([0, 2]), np.array([0, 2])), shape=(1, 3)
    )
    held_out = scipy.sparse.csr_array([[0.6, 0.0, 0.8]])
    both = scipy.sparse.vstack([train, stored_zero], format="csr")
    assert drop_unseen_features(both, held_out).toarray().tolist() == [[1.0, 0.0, 0.0]]


def test_features_that_sums_of_training_rows_name():
    X = long_tailed_rows(4)
    train, held_out = X[:40], X[40:]
    seen = train.sum(axis=0) != 0
    found, expected = keep_features(held_out, seen), drop_unseen_features(train, held_out)
    assert found.toarray() == pytest.approx(expected.toarray(), abs=0)
    assert keep_features(held_out.toarray(), seen) == pytest.approx(held_out.toarray(), abs=0)
