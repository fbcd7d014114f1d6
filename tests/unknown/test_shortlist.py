"""ShortlistClassifier with unknown labels: who votes, what is learnt from, what is counted."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from compactlearn import (
    CompactClassifier,
    ShortlistClassifier,
    load_model,
)
from compactlearn.core._seeds import seeded
from compactlearn.core._unknown_labels import expected_counts
from compactlearn.datasets import load
from compactlearn.decoding._held_out import known_alone
from compactlearn.decoding._thresholds import STRATEGIES, tune
from compactlearn.shortlist import _classifier as shortlist
from compactlearn.shortlist import _generation
from compactlearn.shortlist import _generation as generation
from compactlearn.shortlist import _neighbours as neighbours
from compactlearn.shortlist._centroids import Centroids
from compactlearn.shortlist._cooccurrence_reranking import Cooccurrence, CooccurrenceReranking
from compactlearn.shortlist._evidence import Evidence
from compactlearn.shortlist._fitting import FoldFit, tuned_threshold
from compactlearn.shortlist._generation import GeneratorSettings, Sizes, sparse_rows
from compactlearn.shortlist._neighbours import Neighbours
from compactlearn.shortlist._prior import CandidatePrior
from compactlearn.shortlist._rows import ShortlistRows
from tests.unknown.problems import sparse, with_nan


def texts(n=200, n_features=40, n_labels=12, hidden=0.3, seed=0):
    """Rows of a few words, the labels that their words ask for, and marks of unknown ones."""
    rng = np.random.default_rng(seed)
    X = sp.csr_array(sp.random(n, n_features, 0.15, random_state=seed, format="csr"))
    scores = X @ rng.normal(size=(n_features, n_labels)) + 0.1 * rng.normal(size=(n, n_labels))
    Y = (scores > np.quantile(scores, 0.8)).astype(float)
    unknown = rng.random(Y.shape) < hidden
    unknown[np.arange(n), rng.integers(n_labels, size=n)] = False
    return X, Y, unknown


X, Y, UNKNOWN = texts()
KNOWN = np.where(UNKNOWN, 0.0, Y)
INSIDE = np.arange(X.shape[0]) % 5 == 0


def fold_fit(labels, unknown, sizes, weights=None):
    """Return candidates, prior and regressions without the rows inside a fold."""
    settings = GeneratorSettings(None, 8, True, sizes, 1)
    data = ShortlistRows(X, sparse(labels), weights, sparse(unknown))
    return FoldFit.of(data, sparse_rows(X, unit=True), INSIDE, settings, seeded(0))


# ---- neighbours ---------------------------------------------------------------------------------


def literal_votes(new, rows, labels, unknown, count, weights, own):
    similar = (new @ rows.T).toarray()
    if own:
        np.fill_diagonal(similar, 0.0)
    votes = np.zeros((new.shape[0], labels.shape[1]))
    for i, row in enumerate(similar):
        best = np.argsort(-row, kind="stable")[:count]
        best = best[row[best] > 0]
        power = row[best] ** 2 * weights[best]
        if not best.size:
            continue
        for j in range(labels.shape[1]):
            total, knows = power.sum(), power[~unknown[best, j]].sum()
            share, one = power @ labels[best, j] / total, power.mean()
            votes[i, j] = share * (total + one) / (knows + one)
    return votes


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize(("block", "hidden"), [(30, True), (4_000_000, True), (30, False)])
def test_neighbours_vote_on_what_they_know(monkeypatch, own, block, hidden):
    monkeypatch.setattr(neighbours, "_BLOCK_WORK", block)
    weights = np.random.default_rng(1).uniform(0.2, 1.0, X.shape[0])
    new, groups = X if own else X[:50], np.arange(X.shape[0]) if own else None
    marks = UNKNOWN if hidden else np.zeros_like(UNKNOWN)
    asked = Neighbours.of(X, sparse(KNOWN), 7, weights, sparse(UNKNOWN) if hidden else None)
    found = asked.votes(new, Y.shape[1], groups=groups).toarray()
    expected = literal_votes(new, X, KNOWN, marks, 7, weights, own)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert found.max() < 1.0 + 1e-6
    few = asked.votes(new, 3, groups=groups).toarray()
    np.testing.assert_allclose(np.sort(few)[:, -3:], np.sort(expected)[:, -3:], atol=1e-5)
    assert (few > 0).sum(axis=1).max() == 3


# ---- counts -------------------------------------------------------------------------------------


@given(st.integers(0, 10_000), st.booleans())
@settings(max_examples=30, deadline=None)
def test_labels_are_counted_among_rows_that_know_them(seed, weighted):
    rng = np.random.default_rng(seed)
    unknown = rng.random((20, 5)) < 0.4
    labels = np.where(unknown, 0.0, rng.random((20, 5)) < 0.5)
    w = rng.integers(1, 4, 20).astype(float) if weighted else np.ones(20)
    given_weights = w if weighted else None
    often = (w @ labels) * (w.sum() + 1) / (w @ ~unknown + 1)
    counts = expected_counts(sparse(labels), sparse(unknown), given_weights)
    np.testing.assert_allclose(counts, often)
    found = Cooccurrence.of(sparse(labels), given_weights, sparse(unknown))
    np.testing.assert_allclose(found.frequency, np.log((often + 1) / (w.sum() + 1)))
    shares = np.zeros((5, 5))
    for j in range(5):
        for k in set(range(5)) - {j}:
            both = ~unknown[:, k] & (labels[:, j] > 0)  # and so j is known as well
            share = (w * both) @ labels[:, k] / ((w * both).sum() + 1)
            shares[j, k] = share if share >= 0.1 else 0.0
    np.testing.assert_allclose(found.shares.toarray(), shares, rtol=1e-5)


def test_hidden_labels_do_not_shrink_the_shortlist(monkeypatch):
    """As many candidates as with all labels, about; not as with hidden ones absent."""
    monkeypatch.setattr(generation, "_PAIRS", 0)
    monkeypatch.setattr(generation, "_CANDIDATES", 1)
    monkeypatch.setattr(generation, "_PER_PRESENT_LABEL", 3)
    marks = np.random.default_rng(2).random(Y.shape) < 0.6
    marks[:, 0] = False
    asked = {"random_state": 0, "C": 1.0, "n_neighbors": 5}
    whole, some, absent = (
        ShortlistClassifier(**asked).fit(X, labels).n_candidates_
        for labels in (Y, with_nan(Y, marks), np.where(marks, 0.0, Y))
    )
    assert abs(some - whole) <= 1
    assert absent < whole - 2


# ---- what is learnt from ------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [Sizes(12, 12, 12), Sizes(6, 3, 3)])
def test_unknown_pairs_have_no_part_in_any_stage(monkeypatch, sizes):
    taught = {}
    learn = CandidatePrior.learn.__func__

    def spy(cls, candidates, present, counts, rng, weights=None):
        taught["prior"] = candidates.labels.size, present.copy(), weights, counts
        return learn(cls, candidates, present, counts, rng, weights)

    monkeypatch.setattr(CandidatePrior, "learn", classmethod(spy))
    weights, inside = np.random.default_rng(0).uniform(1, 2, X.shape[0]), INSIDE
    fold = fold_fit(KNOWN, UNKNOWN, sizes, weights)
    candidates = fold.problems.candidates
    row, label = candidates.rows, candidates.labels
    known = ~UNKNOWN[row, label]
    assert not known.all()

    count, present, own, counts = taught["prior"]
    outside = known & ~inside[row]
    assert count == outside.sum()
    np.testing.assert_array_equal(present, Y[row, label][outside] > 0)
    np.testing.assert_array_equal(own, weights[row][outside])
    others = sparse(KNOWN[~inside]), weights[~inside], sparse(UNKNOWN[~inside])
    often = expected_counts(others[0], others[2], others[1])
    np.testing.assert_allclose(counts, often)

    problems = fold.problems.problems
    problem = np.repeat(np.arange(problems.count), np.diff(problems.starts))
    pairs = set(zip(problems.rows.tolist(), problem.tolist(), strict=True))
    expected = set(zip(row[known].tolist(), label[known].tolist(), strict=True))
    expected |= set(zip(*(part.tolist() for part in np.nonzero(KNOWN)), strict=True))
    assert pairs == expected
    np.testing.assert_array_equal(problems.positive, Y[problems.rows, problem] > 0)

    shares = fold.cooccurrence.shares.toarray()
    np.testing.assert_allclose(shares, Cooccurrence.of(*others).shares.toarray())
    centroids = Centroids.of(sparse_rows(X, unit=True)[~inside], *others[:2])
    found = fold.centroids.columns.toarray()
    np.testing.assert_allclose(found, centroids.columns.toarray())
    evidence = Evidence.of(sparse_rows(X, unit=True)[~inside], *others)
    np.testing.assert_allclose(fold.evidence.columns.toarray(), evidence.columns.toarray())
    part = fold.held_out(fold.problems.solve(1.0, ~inside), 1.0)
    new = known & inside[row]
    assert part.inputs.shape == (new.sum(), 13)
    np.testing.assert_array_equal(part.rows[part.candidates.rows], row[new])
    np.testing.assert_array_equal(part.candidates.labels, label[new])
    np.testing.assert_array_equal(part.present, Y[row, label][new] > 0)
    np.testing.assert_array_equal(part.weights, weights[row][new])


def test_the_last_stage_and_the_threshold_are_learnt_from_known_pairs(monkeypatch):
    taught, tuned = [], []
    learn = CooccurrenceReranking.learn.__func__

    def spy(cls, inputs, present, weights, rng):
        taught.append(present.size)
        return learn(cls, inputs, present, weights, rng)

    def tune_spy(strategy, scores, labels, weights, unknown=None):
        tuned.extend([scores.nnz, labels.nnz, unknown.nnz, labels.multiply(unknown).nnz])
        return tuned_threshold(strategy, scores, labels, weights, unknown)

    monkeypatch.setattr(CooccurrenceReranking, "learn", classmethod(spy))
    monkeypatch.setattr(shortlist, "tuned_threshold", tune_spy)
    ShortlistClassifier(random_state=0).fit(X, with_nan(Y, UNKNOWN))
    known = (~UNKNOWN).sum()  # all rows are part out once, and all labels are candidates
    assert taught == [known]
    assert tuned == [known, KNOWN.sum(), UNKNOWN.sum(), 0]


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(st.integers(0, 10_000), st.booleans())
@settings(max_examples=30, deadline=None)
def test_a_threshold_is_that_of_the_known_part_of_the_whole_matrix(strategy, seed, weighted):
    rng = np.random.default_rng(seed)
    scores = np.round(rng.standard_normal((25, 9)), 1)
    unknown = rng.random(scores.shape) < rng.choice([0.0, 0.3])
    named = (rng.random(scores.shape) < 0.4) & ~unknown
    row, label = np.nonzero(named)
    stored = sp.coo_array((scores[named], (row, label)), shape=scores.shape).tocsc()
    labels = sparse((rng.random(scores.shape) < 0.3) & ~unknown)
    weights = rng.integers(1, 4, 25).astype(float) if weighted else None
    whole = np.where(named, scores, stored.data.min(initial=0.0) - 1.0)
    columns = known_alone(lambda some: whole[:, some], sparse(unknown))
    asked = tune(strategy, columns, labels, weights)
    found = tuned_threshold(strategy, stored, labels, weights, sparse(unknown))
    assert np.array_equal(named & (whole > found), named & (whole > asked))


# ---- rows ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("form", "hidden"), [(np.asarray, 0.3), (sp.csr_array, 0.0)])
def test_weights_are_repetitions(form, hidden):
    """Rows are the same where features, labels and what is known of them are."""
    rng = np.random.default_rng(5)
    A = (rng.random((120, 8)) < 0.4).astype(float)
    B = (A @ rng.normal(size=(8, 9)) + rng.normal(size=(120, 9)) > 1.0).astype(float)
    B[rng.random(B.shape) < hidden] = np.nan
    B[np.isnan(B).all(axis=1), 0] = 0.0
    weights = rng.integers(0, 4, size=120)
    repeated = rng.permutation(np.repeat(np.arange(120), weights))
    asked = {"n_candidates": 6, "random_state": 0, "n_neighbors": 7}
    many = ShortlistClassifier(**asked).fit(form(A[repeated]), B[repeated])
    weighed = ShortlistClassifier(**asked).fit(form(A), B, sample_weight=weights)
    expected = many.decision_function(A).toarray()
    np.testing.assert_allclose(weighed.decision_function(A).toarray(), expected, atol=1e-4)
    np.testing.assert_allclose(weighed.threshold_, many.threshold_, atol=1e-4)
    alike = ShortlistClassifier(**asked).fit(form(A), B).decision_function(A).toarray()
    assert np.abs(alike - expected).max() > 0.1  # they do count


# ---- the whole ----------------------------------------------------------------------------------


def test_a_model_is_kept_with_what_its_neighbours_do_not_know(tmp_path):
    model = ShortlistClassifier(random_state=0).fit(X, with_nan(Y, UNKNOWN))
    scores = model.decision_function(X).toarray()
    model.save(tmp_path / "model")
    kept = load_model(tmp_path / "model")
    np.testing.assert_array_equal(kept.decision_function(X).toarray(), scores)
    small = model.compress("float16").decision_function(X).toarray()
    assert np.abs(small - scores).max() < 0.1
    assert model.n_parameters_ == kept.n_parameters_
    neighbours_ = model.stages_.generator.neighbours
    others = neighbours_.columns.nnz + neighbours_.labels.nnz + UNKNOWN.sum()
    others += model.stages_.centroids.columns.nnz
    others += model.stages_.evidence.columns.nnz + Y.shape[1]
    assert model.n_parameters_ - others == (
        model.coef_.nnz + 2 * Y.shape[1] + model.retriever_.n_parameters_
    )


def test_the_number_of_threads_changes_nothing(monkeypatch):
    """Nor the blocks of rows: in others, single-precision products are rounded differently."""
    monkeypatch.setattr(_generation, "_ROWS_AT_ONCE", 20)
    predict_topk, blocks = CompactClassifier.predict_topk, []

    def noted(model, rows, k, **options):
        blocks[-1].append(rows.shape[0])
        return predict_topk(model, rows, k, **options)

    monkeypatch.setattr(CompactClassifier, "predict_topk", noted)
    scores = []
    for n_jobs in (1, 2, 3):
        blocks.append([])
        model = ShortlistClassifier(random_state=0, C=1.0, n_jobs=n_jobs)
        model.fit(X.toarray(), with_nan(Y, UNKNOWN))
        scores.append(model.decision_function(X).toarray())
    assert len(blocks[0]) > 3
    assert sorted(blocks[0]) == sorted(blocks[1]) == sorted(blocks[2])
    np.testing.assert_array_equal(scores[1], scores[0])
    np.testing.assert_array_equal(scores[2], scores[0])


@pytest.mark.slow
def test_what_is_known_serves_better_than_zeros():
    """Hide half of the labels of some rows of enron."""
    data = load("enron")
    order = np.random.default_rng(100).permutation(data.X.shape[0])
    train, test = order[:400], order[400:]
    labels = sp.csr_array(data.Y).toarray().astype(float)
    marks = np.random.default_rng(0).random(labels[train].shape) < 0.5
    some, zeros = (
        ShortlistClassifier(random_state=0, C=1.0)
        .fit(data.X[train], np.where(marks, value, labels[train]))
        .evaluate(data.X[test], labels[test])
        for value in (np.nan, 0.0)
    )
    assert some["average_precision"] > zeros["average_precision"] + 0.005
    assert some["micro_f1"] > zeros["micro_f1"] + 0.005
