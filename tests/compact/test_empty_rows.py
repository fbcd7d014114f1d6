"""Rows without any feature: after a fit to sparse rows they get the frequencies of the labels."""

import numpy as np
import pytest
import scipy.sparse as sp

from compactlearn import AutoCompactClassifier, ShortlistClassifier, explain, load_model, save_model
from compactlearn.compact._empty_rows import rows_of_zeros

SHORTLISTS = {
    "all candidates": {},
    "some candidates": {"n_candidates": 4},
    "no neighbours": {"n_candidates": 4, "n_neighbors": 0},
}


def texts_like(seed, n=60, n_features=40, n_labels=7):
    """Sparse rows of unit length, some of them empty, with labels of different frequencies."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, n_features), density=0.1, rng=rng).toarray()
    X[rng.permutation(n)[:3]] = 0.0
    X = sp.csr_array(X)
    Y = (rng.random((n, n_labels)) < np.linspace(0.1, 0.6, n_labels)).astype(int)
    Y[0], Y[1] = 0, 1
    return X, Y


def probabilities(model, X):
    found = model.predict_proba(X)
    return found.toarray() if sp.issparse(found) else found


def assert_frequencies(model, frequency, n_features):
    """Check the probabilities of a row of zeros: alone, among others, dense, with stored zeros."""
    empty = sp.csr_array((1, n_features))
    stored = sp.csr_array(([0.0], ([0], [1])), shape=(1, n_features))
    other = sp.csr_array(np.eye(n_features)[:2])
    for X in (empty, stored, empty.toarray(), sp.vstack([empty, other], format="csr")):
        found = probabilities(model, X)[0]
        given = found > 0  # a shortlist scores its candidates only
        np.testing.assert_allclose(found[given], frequency[given], rtol=1e-5)
        assert frequency[given].min() >= frequency[~given].max(initial=0.0)
        best, scores = model.predict_topk(X, 2)
        np.testing.assert_array_equal(frequency[best[0]], np.sort(frequency)[:-3:-1])
        assert (np.diff(scores[0]) <= 0).all()
    alone = probabilities(model, other)
    among = probabilities(model, sp.vstack([empty, other, empty], format="csr"))
    np.testing.assert_allclose(among[1:3], alone, rtol=1e-6)
    decided = model.predict(empty)
    decided = decided.toarray() if sp.issparse(decided) else decided
    above = probabilities(model, empty) > 1 / (1 + np.exp(-np.asarray(model.threshold_)))
    np.testing.assert_array_equal(decided.astype(bool), above)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("settings", SHORTLISTS.values(), ids=SHORTLISTS.keys())
def test_shortlist(settings, seed, tmp_path):
    X, Y = texts_like(seed)
    model = ShortlistClassifier(**settings, random_state=0).fit(X, Y)
    assert_frequencies(model, Y.mean(axis=0), X.shape[1])
    save_model(model, tmp_path / "model")
    assert_frequencies(load_model(tmp_path / "model"), Y.mean(axis=0), X.shape[1])


def test_the_search(tmp_path):
    X, Y = texts_like(0)
    model = AutoCompactClassifier(random_state=0).fit(X, Y)
    assert_frequencies(model, Y.mean(axis=0), X.shape[1])
    save_model(model, tmp_path / "model")
    assert_frequencies(load_model(tmp_path / "model"), Y.mean(axis=0), X.shape[1])


@pytest.mark.parametrize("seed", range(3))
def test_rows_count_by_their_weights(seed):
    X, Y = texts_like(seed)
    weights = np.random.default_rng(seed).integers(1, 4, len(Y))
    model = ShortlistClassifier(random_state=0).fit(X, Y, sample_weight=weights)
    assert_frequencies(model, np.average(Y, axis=0, weights=weights), X.shape[1])


def test_labels_that_no_row_or_every_row_has():
    X, Y = texts_like(0)
    Y[:, 0], Y[:, 1] = 0, 1
    found = probabilities(ShortlistClassifier(random_state=0).fit(X, Y), X[:1] * 0)[0]
    assert 0.0 < found[0] < 0.01
    assert 0.99 < found[1] < 1.0


@pytest.mark.parametrize("names", [["a", "b"], ["a", "b", "c"]])
def test_classes(names):
    X, _ = texts_like(0)
    y = np.random.default_rng(0).choice(names, size=X.shape[0], p=[0.6, 0.4, 0.0][: len(names)])
    y[:5] = names[-1]
    model = ShortlistClassifier(random_state=0).fit(X, y)
    frequency = np.array([np.mean(y == name) for name in names])
    np.testing.assert_allclose(model.predict_proba(X[:1] * 0)[0], frequency, rtol=1e-5)
    assert model.predict(X[:1] * 0)[0] == names[int(frequency.argmax())]


def test_dense_rows_of_zeros_are_rows_like_others():
    X, Y = texts_like(0)
    model = ShortlistClassifier(random_state=0).fit(X.toarray(), Y)
    found = probabilities(model, np.zeros((1, X.shape[1])))
    assert np.abs(found - Y.mean(axis=0)).max() > 0.01


@pytest.mark.parametrize(
    "model", [ShortlistClassifier(random_state=0), AutoCompactClassifier(random_state=0)]
)
def test_reasons_add_up_to_the_scores(model):
    """A row of zeros has a base and no other reason."""
    X, Y = texts_like(0)
    model.fit(X, Y)
    empty = np.flatnonzero(rows_of_zeros(X))[0]
    rows = [int(empty), (int(empty) + 1) % len(Y)]
    for one in explain(model, X[rows], labels=[0, 6]):
        assert abs(one.rest) < 1e-5 or one.n_rest
        assert bool(one.terms) == (one.row == 1)
        if one.row == 0:
            assert one.base == pytest.approx(one.score, abs=1e-5)


def test_which_rows_are_zeros():
    X = np.array([[0.0, 1.0], [0.0, 0.0], [-1.0, 1.0]])
    stored = sp.csr_array(([0.0, 1.0], ([0, 1], [0, 0])), shape=(3, 2))
    assert rows_of_zeros(X).tolist() == [False, True, False]
    for kind in (sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix):
        assert rows_of_zeros(kind(X)).tolist() == [False, True, False]
    assert rows_of_zeros(stored).tolist() == [True, False, True]
    assert rows_of_zeros(sp.csr_array((0, 2))).tolist() == []
