"""ShortlistClassifier: what is a candidate, who has seen what, and what comes out."""

import pickle
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import Normalizer
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from compactlearn import CMLLClassifier, ShortlistClassifier
from compactlearn.compact._unit_rows import UnitRows
from compactlearn.core._seeds import seeded
from compactlearn.datasets import load, make_compact
from compactlearn.linalg._many_logistic import margins_of
from compactlearn.shortlist import _cooccurrence_reranking as reranking
from compactlearn.shortlist import _fitting as fitting
from compactlearn.shortlist import _generation as generation
from compactlearn.shortlist import _label_reranking as label_reranking
from compactlearn.shortlist._candidates import Candidates
from compactlearn.shortlist._cooccurrence_reranking import Cooccurrence, CooccurrenceReranking
from compactlearn.shortlist._fitting import FoldFit
from compactlearn.shortlist._generation import GeneratorSettings, Sizes, sparse_rows
from compactlearn.shortlist._label_reranking import LabelProblems, with_likely_labels
from compactlearn.shortlist._prior import CandidatePrior
from compactlearn.shortlist._rows import ShortlistRows


def texts(n=300, n_features=60, n_labels=40, seed=0):
    """Rows of a few words, which have the labels that their words ask for."""
    rng = np.random.default_rng(seed)
    X = sp.csr_array(sp.random(n, n_features, 0.1, random_state=seed, format="csr"))
    scores = X @ rng.normal(size=(n_features, n_labels)) + 0.1 * rng.normal(size=(n, n_labels))
    return X, sp.csr_array((scores > np.quantile(scores, 0.93)).astype(int))


X, Y = texts()
INSIDE = np.arange(X.shape[0]) % 5 == 0


def fold_fit(X, Y, inside=INSIDE, sizes=(12, 6, 6), n_neighbors=8, unknown=None):
    """Return candidates, prior and regressions without the rows inside a fold."""
    settings = GeneratorSettings(None, n_neighbors, True, Sizes(*sizes), 1)
    data = ShortlistRows(X, sp.csr_array(Y), None, unknown)
    return FoldFit.of(data, sparse_rows(X, unit=True), inside, settings, seeded(0))


# ---- neighbours -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_unit_rows_are_those_of_scikit_learn(kind):
    rows = sp.csr_array(X, dtype=kind, copy=True)
    rows.data[: rows.indptr[2]] = 0.0
    for form in (rows, rows.toarray()):
        found = UnitRows().fit(form).transform(form)
        expected = Normalizer().fit_transform(form)
        assert found.dtype == kind
        if sp.issparse(found):
            found, expected = found.toarray(), expected.toarray()
        np.testing.assert_allclose(found, expected, rtol=1e-5)


# ---- candidates and their prior -------------------------------------------------------------


def test_candidates_are_those_of_either_source():
    named = np.array([[2, 0], [1, 3]])
    scores = np.array([[0.9, 0.1], [0.8, 0.2]])
    votes = sp.csr_array(np.array([[0.5, 0.0, 0.0, 0.25], [0.0, 0.0, 0.0, 0.0]]))
    found = Candidates.of((named, scores), votes, 4)
    np.testing.assert_array_equal(found.rows, [0, 0, 0, 1, 1])
    np.testing.assert_array_equal(found.labels, [0, 2, 3, 1, 3])
    np.testing.assert_allclose(found.retrieved, [0.1, 0.9, np.nan, 0.8, 0.2])
    np.testing.assert_allclose(found.votes, [0.5, 0.0, 0.25, 0.0, 0.0])
    truth = sp.csr_array(np.array([[0, 1, 1, 0], [0, 1, 0, 0]]))
    np.testing.assert_array_equal(found.present(truth), [False, True, False, True, False])
    missed = found.missed(truth)
    assert (missed.rows.tolist(), missed.labels.tolist()) == ([0], [1])
    turned = found.of_rows(np.array([1, 0]))
    np.testing.assert_array_equal(turned.labels, [1, 3, 0, 2, 3])
    again = Candidates.stacked([found.of_rows(np.array([0])), found.of_rows(np.array([1]))])
    np.testing.assert_array_equal(again.labels, found.labels)
    np.testing.assert_array_equal(again.starts, found.starts)


@pytest.mark.parametrize("unit", [1e-3, 1e4])
def test_the_units_of_the_retriever_do_not_matter(unit):
    rng = np.random.default_rng(0)
    named = np.tile(np.arange(5), (200, 1))
    scores = rng.normal(size=named.shape)
    present = (scores + rng.normal(size=scores.shape) > 1).ravel()
    found = []
    for values in (scores, unit * scores - 3 * unit):
        candidates = Candidates.of((named, values), None, 5)
        look = CandidatePrior.learn(candidates, present, np.ones(5), seeded(0))
        found.append(look.log_odds(candidates))
    np.testing.assert_allclose(found[0], found[1], atol=2e-3)
    assert np.corrcoef(found[0], scores.ravel())[0, 1] > 0.9


def test_the_prior_is_the_regression_that_was_fitted():
    """Also where the retriever or the neighbours did not name a label."""
    rng = np.random.default_rng(2)
    named = np.array([rng.choice(9, 4, replace=False) for _ in range(100)])
    votes = sp.csr_array(sp.random(100, 9, 0.4, random_state=0, format="csr"))
    candidates = Candidates.of((named, rng.normal(size=named.shape)), votes, 9)
    present = rng.random(candidates.labels.size) < 0.3
    look = CandidatePrior.learn(candidates, present, np.arange(9.0), seeded(0))
    columns = look.columns(candidates, np.arange(present.size))
    expected = columns @ look.coefficients + look.intercept
    np.testing.assert_allclose(look.log_odds(candidates), expected, atol=1e-5)
    assert np.isnan(candidates.retrieved).any()


@pytest.mark.parametrize("C", [0.25, 4.0])
def test_likely_labels_are_further_features(C):
    """Their size makes up for C: the penalty of their weights is the same for all C."""
    named = np.tile(np.arange(3), (2, 1))
    candidates = Candidates.of((named, np.zeros((2, 3))), None, 3)
    p = np.array([0.9, 0.04, 0.3, 0.06, 0.01, 0.5])
    log_odds = np.log(p / (1 - p)).astype(np.float32)
    features = sp.csr_array(np.array([[1.0, 0.0], [0.0, 1.0]], dtype=np.float32))
    found = with_likely_labels(features, candidates, log_odds, C).toarray()
    expected = np.where(p < 0.05, 0.0, p / np.sqrt(C)).reshape(2, 3)
    np.testing.assert_allclose(found, np.hstack([np.eye(2), expected]), rtol=1e-5)


# ---- held-out rows ---------------------------------------------------------------------------


@pytest.mark.parametrize(("n_neighbors", "hidden"), [(0, False), (8, False), (8, True)])
def test_rows_of_a_fold_are_new_to_everything(n_neighbors, hidden):
    """Whatever labels they have and know: candidates, weights and these rows' scores stay."""
    rng = np.random.default_rng(1)
    marks = (rng.random(Y.shape) < 0.3) & hidden
    labels = Y.toarray() * ~marks
    others, other_marks = labels.copy(), marks.copy()
    others[INSIDE] = (rng.random(others[INSIDE].shape) < 0.3) & ~marks[INSIDE]
    if hidden:
        other_marks[INSIDE] &= rng.random(others[INSIDE].shape) < 0.5
    found = []
    for own, unknown in ((labels, marks), (others, other_marks)):
        sizes = (12, 6, 6) if n_neighbors else (12, 12, 40)
        given = sp.csr_array(unknown.astype(float)) if hidden else None
        fold = fold_fit(X, own, sizes=sizes, n_neighbors=n_neighbors, unknown=given)
        weights, problems = fold.problems.solve(2.0, ~INSIDE), fold.problems
        found.append((problems.candidates.labels, problems.candidates.votes, problems.log_odds))
        found[-1] += (weights.coefficients.toarray(),)
        if not hidden:  # only known pairs are judged
            found[-1] += (fold.held_out(weights, 2.0).inputs,)
    for one, another in zip(*found, strict=True):
        np.testing.assert_array_equal(one, another)


def test_a_row_never_counts_for_itself():
    """Labels without any relation to the features are not found again in their own rows."""
    rng = np.random.default_rng(3)
    noise = sp.csr_array((rng.random((300, 20)) < 0.2).astype(int))
    model = ShortlistClassifier(random_state=0).fit(X, noise)
    fresh = texts(seed=9)[0]
    p = model.predict_proba(fresh).toarray()
    assert abs(p.mean() - 0.2) < 0.04  # on average as frequent as they are
    assert p.std() < 0.1


# ---- co-occurrence re-ranking ----------------------------------------------------------------


def literal_inputs(Y, labels, p):
    """Return support, weakest need, mean, any need and strongest, by loops over a row."""
    counts = Y.T @ Y
    share = counts / (np.diag(counts)[:, None] + 1.0)
    found = []
    for j in labels:
        others = [k for k in labels if k != j]
        support = [p[k] * share[k, j] for k in others if share[k, j] >= 0.1 and p[k] >= 0.01]
        together = [k for k in others if share[j, k] >= 0.1]
        needed = [p[k] for k in together if share[j, k] >= 0.8]
        total = sum(share[j, k] * np.log(max(p[k], 1e-4)) for k in together)
        mean = total / max(1.0, sum(share[j, k] for k in together))
        weakest = min(needed, default=p[j])
        found.append([max(support, default=0.0), weakest, mean, bool(needed), max(p.values())])
    return np.array(found, dtype=float)


@pytest.mark.parametrize("block", [1, 1 << 21])
def test_what_the_candidates_of_a_row_say_about_each_other(monkeypatch, block):
    monkeypatch.setattr(reranking, "_BLOCK", block)
    rng = np.random.default_rng(0)
    truth = (rng.random((60, 8)) < rng.uniform(0.3, 0.9, 8)).astype(float)
    truth[:, 1] = 1.0  # no other is there without it
    candidates = Candidates.of(
        (np.array([rng.choice(8, 5, replace=False) for _ in range(7)]), np.zeros((7, 5))), None, 8
    )
    margins = rng.normal(scale=4.0, size=35)
    inputs = Cooccurrence.of(sp.csr_array(truth)).inputs(candidates, margins, -margins)
    np.testing.assert_allclose(inputs[:, 0], margins)
    np.testing.assert_allclose(inputs[:, 1], -margins)
    frequency = np.log((truth.sum(axis=0) + 1) / 61)
    np.testing.assert_allclose(inputs[:, 2], frequency[candidates.labels])
    for i in range(7):
        pairs = slice(candidates.starts[i], candidates.starts[i + 1])
        p = dict(zip(candidates.labels[pairs], expit(margins[pairs]), strict=True))
        expected = literal_inputs(truth, candidates.labels[pairs], p)
        as_odds = [0, 1, 4]
        expected[:, as_odds] = logit(np.clip(expected[:, as_odds], 1e-4, 1 - 1e-4))
        np.testing.assert_allclose(inputs[pairs, 3:], expected, rtol=1e-5)
    assert inputs[:, 6].any()


# ---- the penalty -----------------------------------------------------------------------------

PENALTIES = {
    "between": ({0.25: 1.0, 0.5: 0.95, 1.0: 0.9, 2.0: 0.905, 4.0: 0.95}, 2.0),
    "the best": ({0.25: 1.0, 0.5: 0.95, 1.0: 0.9, 2.0: 0.912, 4.0: 0.95}, 1.0),
    "below": ({0.125: 0.9, 0.25: 0.95, 0.5: 1.1, 1.0: 1.2}, 0.125),
    "nearly as good": ({0.125: 0.995, 0.25: 1.0, 0.5: 1.1, 1.0: 1.2}, 0.25),
    "all alike": ({0.125: 1.0, 0.25: 1.0, 0.5: 1.0, 1.0: 1.0, 4.0: 1.0, 16.0: 1.0}, 16.0),
    "beyond": ({0.25: 1.0, 1.0: 0.9, 4.0: 0.8, 8.0: 0.75, 16.0: 0.7, 32.0: 0.6}, 32.0),
}


@pytest.mark.parametrize("name", PENALTIES)
def test_the_smallest_penalty_that_is_nearly_as_good_is_selected(monkeypatch, name):
    """Losses are given; no others are asked for."""
    losses, expected = PENALTIES[name]

    def margins_of(_, problems, C):
        return np.where(problems.positive, -1, 1) * np.log(np.expm1(losses.pop(C)))

    losses = dict(losses)
    monkeypatch.setattr(label_reranking, "margins_of", margins_of)
    starts = []
    monkeypatch.setattr(
        LabelProblems,
        "_solve",
        lambda self, features, problems, C, start: starts.append(start) or C,
    )
    assert fold_fit(X, Y).problems.best_C(INSIDE, seeded(0)) == expected
    assert not losses
    assert starts[0] is None  # the others begin with what was solved last
    assert None not in starts[1:]


def test_rows_are_equal_only_if_they_know_the_same_labels():
    rows = sp.csr_array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    labels = sp.csr_array([[0, 1], [0, 1], [1, 0], [0, 1]])
    unknown = sp.csr_array([[1, 0], [0, 0], [0, 0], [1, 0]])
    merged = ShortlistRows.merged(rows, labels, None, unknown, None)
    assert sorted(merged.weights) == [1.0, 1.0, 2.0]
    assert merged.unknown[merged.weights == 2].toarray().tolist() == [[1, 0]]
    assert ShortlistRows.merged(rows, labels, None, None, None).X.shape[0] == 2


@pytest.mark.parametrize("n_rows", [5_000, 28_573, 29_005, 30_001, 31_570, 60_000])
def test_everything_is_fitted_again_where_more_than_a_tenth_of_the_rows_is_held_out(n_rows):
    """By the number of folds, not by the rounded share of one."""
    n_folds, _ = fitting.fold_counts(n_rows)
    assert fitting.refits(n_rows) == (n_folds < 10)


# ---- rare labels, copies, and words that one row has alone ----------------------------------


def long_tail(seed, n_rows=900, n_labels=300, n_topics=12, n_features=700):
    """Rows of one label each, a few frequent and most of one to five rows."""
    rng = np.random.default_rng(seed)
    frequency = 1 / np.arange(1, n_labels + 1) ** 1.1
    labels = rng.choice(n_labels, size=n_rows, p=frequency / frequency.sum())
    topics = rng.integers(n_features, size=(n_topics, 20))
    own = rng.integers(n_features, size=(n_labels, 4))
    words = [
        np.concatenate(
            [
                rng.choice(topics[j % n_topics], 8),
                rng.choice(own[j], 2),
                rng.integers(n_features, size=4),
            ]
        )
        for j in labels
    ]
    rows = np.repeat(np.arange(n_rows), 14)
    X = sp.csr_array((np.ones(rows.size), (rows, np.concatenate(words))), (n_rows, n_features))
    Y = sp.csr_array((np.ones(n_rows, int), (np.arange(n_rows), labels)), (n_rows, n_labels))
    return X, Y


def test_rare_labels_are_suggested_no_more_often_than_they_are_right():
    X, Y = long_tail(0)
    train = np.arange(X.shape[0]) % 3 > 0
    model = ShortlistClassifier(n_candidates=60, random_state=0).fit(X[train], Y[train])
    top = model.predict_topk(X[~train], 1)[0][:, 0]
    p = model.predict_proba(X[~train]).max(axis=1).toarray().ravel()
    right = np.asarray(Y[~train][np.arange(top.size), top]).ravel() > 0
    rare = np.asarray(Y[train].sum(axis=0)).ravel()[top] <= 3
    assert p[rare].mean() <= right[rare].mean() + 0.1
    assert p.mean() <= right.mean() + 0.05


def test_a_label_of_few_rows_is_learnt_from_all_of_them():
    """Candidates of every row come from others, so that most pairs of a rare label are absent."""
    X, Y = long_tail(1)
    problems = fold_fit(X, Y, np.zeros(X.shape[0], dtype=bool), sizes=(60, 30, 30)).problems
    pairs = problems.problems
    problem = np.repeat(np.arange(pairs.count), np.diff(pairs.starts))
    present = np.bincount(problem, pairs.positive, pairs.count)
    np.testing.assert_array_equal(present, np.asarray(Y.sum(axis=0)).ravel())
    absent = np.diff(pairs.starts) - present
    rare = (present > 0) & (present < 5)
    assert rare.sum() > 50
    assert absent[rare].mean() > 5 * present[rare].mean()


def test_weights_to_begin_with_change_no_result():
    rng = np.random.default_rng(0)
    X, Y = sp.csr_array((rng.random((120, 30)) < 0.2).astype(float)), rng.random((120, 3)) < 0.3
    everything = np.ones(120, dtype=bool)
    problems = fold_fit(X, Y.astype(int), ~everything, sizes=(3, 2, 1)).problems
    cold = problems.solve(1.0, everything)
    warm = problems.solve(1.0, everything, problems.solve(4.0, everything))
    sign = np.where(problems.problems.positive, 1.0, -1.0)

    def objective(found):
        margins = margins_of(problems._features(1.0), problems.problems, found)
        squares = (found.coefficients.data**2).sum() + (found.intercepts**2).sum()
        return np.logaddexp(0.0, -sign * margins).sum() + squares / 2

    assert (warm.coefficients != cold.coefficients).nnz > 0
    assert objective(warm) == pytest.approx(objective(cold), rel=1e-4)


def test_copies_of_a_row_are_in_one_fold_and_do_not_vote_for_each_other():
    """Labels that are noise stay noise where each row has copies with other labels."""
    found = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        groups = np.repeat(np.arange(100), 3)
        X = texts(seed=20 + seed)[0][:100][groups]
        Y = (rng.random((100, 8)) < 0.2)[groups]
        Y[np.arange(300), rng.integers(8, size=300)] ^= True
        model = ShortlistClassifier(random_state=seed).fit(X, sp.csr_array(Y.astype(int)))
        found.append(model.predict_proba(texts(seed=40 + seed)[0]).toarray())
    assert np.mean(np.array(found) > 0.5) < 0.02  # .04 where copies judge each other
    assert max(p.std() for p in found) < 0.1


@given(seed=st.integers(0, 1000), weight=st.floats(0.1, 3.0))
@settings(max_examples=4, deadline=None)
def test_regressions_do_not_see_words_that_one_row_has_alone(seed, weight):
    """A word of its own in every row changes no row that a regression learns from or judges."""
    rng = np.random.default_rng(seed)
    X, Y = (rng.random((60, 12)) < 0.4).astype(float), rng.random((60, 3)) < 0.4
    X[:, 0] += X.sum(axis=1) == 0
    X = sp.csr_array(X)
    own = sp.csr_array(sp.hstack([X, weight * sp.eye_array(60)], format="csr"))
    inside = np.arange(60) % 5 == 0
    found = [
        fold_fit(rows, Y.astype(int), inside, sizes=(3, 3, 3), n_neighbors=5).problems.rows
        for rows in (X, own)
    ]
    np.testing.assert_allclose(found[1][:, :12].toarray(), found[0].toarray(), atol=1e-6)
    assert found[1][:, 12:].nnz == 0


def test_as_many_labels_are_expected_of_new_texts_as_they_have():
    """Also where a third of the words of a new text were not there at fit."""
    rng = np.random.default_rng(0)
    drawn = rng.zipf(1.3, size=(1500, 12)) % 20_000
    topic = rng.integers(10, size=1500)
    drawn[:, :4] = 20_000 + 12 * topic[:, None] + rng.integers(12, size=(1500, 4))
    text = [" ".join(f"w{k}" for k in row) for row in drawn]
    Y = sp.csr_array(
        np.eye(10, dtype=int)[np.where(rng.random(1500) < 0.3, rng.integers(10, size=1500), topic)]
    )
    vectorizer = TfidfVectorizer().fit(text[:500])
    old, new = vectorizer.transform(text[:500]), vectorizer.transform(text[500:])
    models = [ShortlistClassifier(random_state=seed).fit(old, Y[:500]) for seed in range(3)]
    found = [model.predict_proba(new).sum() for model in models]
    assert np.mean(found) == pytest.approx(1000, rel=0.06)
    assert np.ptp(found) < 160


# ---- the classifier -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model():
    return ShortlistClassifier(n_candidates=12, n_neighbors=10, random_state=0).fit(X, Y)


def test_methods_agree_with_each_other(model):
    scores = model.decision_function(X)
    assert sp.issparse(scores)
    assert scores.shape == Y.shape
    assert np.diff(scores.indptr).max() <= 12
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.data, expit(scores.data))
    labels, best = model.predict_topk(X, 4)
    assert (np.diff(best, axis=1) <= 0).all()
    for i in range(20):
        stored = dict(zip(scores[[i]].indices, scores[[i]].data, strict=True))
        np.testing.assert_allclose([stored[j] for j in labels[i]], best[i], atol=1e-5)
        np.testing.assert_allclose(best[i], sorted(stored.values())[::-1][:4], atol=1e-5)
    predicted = model.predict(X)
    assert sp.issparse(predicted)
    assert (
        predicted.toarray() == ((scores.toarray() > model.threshold_) & (p.toarray() > 0))
    ).all()


def test_dense_rows_are_those_of_sparse_ones(model):
    other = clone(model).fit(X.toarray(), Y.toarray())
    there = X.sum(axis=1) > 0  # a row of zeros is one like others among dense rows only
    one, two = (m.stages_.rank(rows[there]) for m, rows in ((model, X), (other, X.toarray())))
    np.testing.assert_array_equal(two.candidates.labels, one.candidates.labels)
    # Sums of sparse and of dense rows are rounded differently, and regressions stop near a minimum.
    np.testing.assert_allclose(two.inputs, one.inputs, atol=0.05)
    assert np.abs(two.inputs - one.inputs).mean() < 1e-3
    # Networks that are trained with such inputs differ less than those of other random numbers.
    others = clone(model).set_params(random_state=1).fit(X, Y).stages_.final.scores(one.inputs)
    gap = np.abs(two.scores - one.scores)
    assert gap.mean() < 0.05 < np.abs(others - one.scores).mean()
    assert gap.max() < 0.5


def test_seeds_threads_copies_and_lengths():
    asked = {"n_candidates": 12, "random_state": 3}
    one = ShortlistClassifier(n_jobs=1, **asked).fit(X, Y)
    expected = one.decision_function(X).toarray()
    two = ShortlistClassifier(n_jobs=2, **asked).fit(X, Y)
    np.testing.assert_array_equal(two.decision_function(X).toarray(), expected)
    again = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(again.decision_function(X).toarray(), expected)
    lengths = sp.diags_array(np.random.default_rng(0).uniform(0.1, 10, X.shape[0]))
    np.testing.assert_allclose(
        one.decision_function(sp.csr_array(lengths @ X)).toarray(), expected, atol=1e-4
    )
    assert one.n_parameters_ > one.coef_.nnz > 0
    assert one.coef_.shape == (Y.shape[1], X.shape[1] + Y.shape[1])
    assert len(pickle.dumps(one)) < 1.3 * one.nbytes_ + 20_000


def test_thresholds():
    asked = {"n_candidates": 12, "C": 1.0, "random_state": 0}
    given = ShortlistClassifier(threshold=0.3, **asked).fit(X, Y)
    p, labels = given.predict_proba(X), given.predict(X)
    np.testing.assert_array_equal(labels.toarray(), p.toarray() > 0.3)
    many = ShortlistClassifier(threshold="cardinality", **asked).fit(X, Y)
    assert abs(many.predict(X).sum() / Y.sum() - 1) < 0.5
    each = ShortlistClassifier(threshold="per-label", **asked).fit(X, Y)
    assert each.threshold_.shape == (40,)
    expected = each.predict_proba(X).toarray() > expit(each.threshold_)
    np.testing.assert_array_equal(each.predict(X).toarray(), expected)


def test_the_threshold_is_in_the_units_of_the_scores(monkeypatch):
    """However numbers are read, the same labels are predicted."""
    found = []
    for a, b in ((1.0, 0.0), (2.0, 5.0)):
        monkeypatch.setattr(
            CooccurrenceReranking,
            "scores",
            lambda _, n, a=a, b=b: (a * n[:, 0] + b).astype(np.float32),
        )
        model = ShortlistClassifier(n_candidates=12, C=1.0, random_state=0).fit(X, Y)
        found.append((model.threshold_, model.predict(X).toarray()))
    (one, labels), (two, same) = found
    assert two == pytest.approx(2.0 * one + 5.0, abs=1e-4)
    np.testing.assert_array_equal(labels, same)


def test_only_a_retriever_of_its_own_with_codes_works_in_one_blas_thread(monkeypatch):
    limits, limited = [], generation.blas_threads
    monkeypatch.setattr(generation, "blas_threads", lambda n: limits.append(n) or limited(n))
    settings = {"n_candidates": 10, "C": 1.0, "random_state": 0}
    ShortlistClassifier(CMLLClassifier(), **settings).fit(X, Y)
    assert limits == []
    ShortlistClassifier(**settings).fit(X, Y)
    assert set(limits) == {None}
    limits.clear()
    monkeypatch.setattr(generation, "_CODES", 100)  # so that it compresses
    ShortlistClassifier(**settings).fit(X, Y)
    assert set(limits) == {1}


def test_the_retriever_of_its_own_is_small_and_another_is_left_as_it_is(monkeypatch):
    monkeypatch.setattr(generation, "_CODES", 100)  # so that it compresses
    own = ShortlistClassifier(n_candidates=10, C=1.0, random_state=0).fit(X, Y).retriever_
    assert own.compression_["dtype"] == "float32"
    assert own.embedding_.solver_ == "closed-randomized"
    given = CMLLClassifier(n_label_components=5)
    fitted = ShortlistClassifier(given, n_candidates=10, C=1.0, random_state=0).fit(X, Y).retriever_
    assert type(fitted) is CMLLClassifier
    assert fitted.embedding_.n_label_components_ == 5
    assert not hasattr(fitted, "compression_")
    assert not hasattr(given, "embedding_")


def test_rows_without_features_and_labels_without_rows():
    A, B = X.toarray(), Y.toarray()
    A[::7] = 0.0
    B[:, 3] = 0
    B[:, 5] = 1
    model = ShortlistClassifier(random_state=0).fit(sp.csr_array(A), B)
    scores = model.decision_function(np.zeros((2, 60)))
    assert np.isfinite(scores.data).all()
    p = model.predict_proba(X).toarray()
    assert p[:, 3].max() < 0.2
    assert p[:, 5].min() > 0.8


MISTAKES = {
    "k": (lambda m: m.predict_topk(X, 41), "between 1 and the number of labels \\(40\\)"),
    "too many candidates": (
        lambda _: ShortlistClassifier(n_candidates=41).fit(X, Y),
        "at most the number of labels \\(40\\); got 41",
    ),
    "no candidates": (lambda _: ShortlistClassifier(n_candidates=0).fit(X, Y), "n_candidates"),
    "no top k": (
        lambda _: ShortlistClassifier(KNeighborsClassifier()).fit(X, Y),
        "retriever.*predict_topk",
    ),
    "few rows": (lambda _: ShortlistClassifier().fit(X[:3], Y[:3]), "rows at least"),
    "penalty": (lambda _: ShortlistClassifier(C=0.0).fit(X, Y), "finite number > 0"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_get_a_sentence(model, name):
    call, words = MISTAKES[name]
    with pytest.raises(ValueError, match=words):
        call(model)


@parametrize_with_checks(
    [ShortlistClassifier(random_state=0)],
    expected_failed_checks=lambda _: {
        f"check_classifiers_multilabel_output_format_{method}": "scores of candidates are sparse"
        for method in ("predict_proba", "decision_function")
    },
)
def test_sklearn_contract(estimator, check, monkeypatch):
    """Scores are made in single precision, and scikit-learn compares those to 1e-4."""
    compare = partial(estimator_checks.assert_allclose, rtol=1e-4)
    monkeypatch.setattr(estimator_checks, "assert_allclose", compare)
    check(estimator)


def test_a_single_candidate_is_the_retrievers():
    model = ShortlistClassifier(n_candidates=1, C=1.0, random_state=0).fit(X, Y)
    scores = model.decision_function(X)
    np.testing.assert_array_equal(np.diff(scores.indptr)[np.diff(X.indptr) > 0], 1)


def test_functions_are_not_steep_between_votes_that_differ_by_rounding():
    """A label of every row has all votes, up to the seventh digit, and the same prior anywhere."""
    Z = np.column_stack([Y.toarray(), np.ones(X.shape[0], dtype=int)])
    stages = ShortlistClassifier(n_candidates=12, C=1.0, random_state=0).fit(X, Z).stages_
    found = stages.rank(X).candidates
    nudged = replace(found, votes=found.votes * np.float32(1 - 3e-7))
    gap = stages.prior.log_odds(nudged) - stages.prior.log_odds(found)
    assert np.abs(gap).max() < 0.05


def test_enron_is_ranked_better_than_by_ridge():
    data = load("enron")
    order = np.random.default_rng(0).permutation(data.X.shape[0])
    train, test = order[:1200], order[1200:]
    ours = ShortlistClassifier(random_state=0).fit(data.X[train], data.Y[train])
    ridge = CMLLClassifier(None, None, alpha=100.0).fit(data.X[train], data.Y[train])
    one, other = (m.evaluate(data.X[test], data.Y[test]) for m in (ours, ridge))
    assert one["average_precision"] > other["average_precision"] - 0.01
    assert one["micro_f1"] > other["micro_f1"] - 0.01
    assert one["macro_f1"] > other["macro_f1"]


def test_a_large_fit_keeps_what_was_fitted_without_few_rows(monkeypatch):
    """Three retrievers instead of six, and the regressions of the fold, from 30,000 rows on."""
    data = make_compact(300, 40, 12, random_state=0)
    X, fits = sp.csr_array(data.X), []
    plain, solve = GeneratorSettings._fitted, LabelProblems.solve
    monkeypatch.setattr(
        GeneratorSettings, "_fitted", lambda *given: fits.append("retriever") or plain(*given)
    )
    monkeypatch.setattr(
        LabelProblems, "solve", lambda *given: fits.append("solve") or solve(*given)
    )
    found = {}
    for few in (0.0, 1.0):
        fits.clear()
        monkeypatch.setattr(fitting, "FEW_HELD_OUT", few)
        monkeypatch.setattr(fitting, "held_out_folds", one_fold_of_five)
        model = ShortlistClassifier(random_state=0, C=1.0).fit(X, data.Y)
        found[few] = model.evaluate(X, data.Y)["average_precision"]
        assert fits.count("retriever") == (3 if few else 6)
        assert fits.count("solve") == (1 if few else 2)
    assert abs(found[0.0] - found[1.0]) < 0.05


def one_fold_of_five(groups, rng):
    return [rng.permutation(groups.size) < groups.size // 5]
