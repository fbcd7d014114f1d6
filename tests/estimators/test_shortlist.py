"""ShortlistClassifier: what is a candidate, who has seen what, and what comes out."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.special import expit
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from compactlearn import CMLLClassifier, ShortlistClassifier
from compactlearn.core.seeds import seeded
from compactlearn.datasets import load
from compactlearn.estimators.shortlist import _Sizes
from compactlearn.estimators.shortlisting.candidates import Candidates
from compactlearn.estimators.shortlisting.first_look import FirstLook
from compactlearn.estimators.shortlisting.neighbours import Neighbours
from compactlearn.estimators.shortlisting.second_look import SecondLook, with_likely_labels
from compactlearn.metrics import average_precision, precision_at_k


def texts(n=300, n_features=60, n_labels=40, seed=0):
    """Rows of a few words, which have the labels that their words ask for."""
    rng = np.random.default_rng(seed)
    X = sp.csr_array(sp.random(n, n_features, 0.1, random_state=seed, format="csr"))
    scores = X @ rng.normal(size=(n_features, n_labels)) + 0.1 * rng.normal(size=(n, n_labels))
    return X, sp.csr_array((scores > np.quantile(scores, 0.93)).astype(int))


X, Y = texts()


# ---- neighbours -----------------------------------------------------------------------------


def literal_votes(X, Z, labels, count, own):
    similar = (X @ Z.T).toarray()
    if own:
        np.fill_diagonal(similar, 0.0)
    votes = np.zeros((X.shape[0], labels.shape[1]))
    for i, row in enumerate(similar):
        best = np.argsort(-row, kind="stable")[:count]
        best = best[row[best] > 0]
        if best.size:
            votes[i] = row[best] ** 2 @ labels[best] / (row[best] ** 2).sum()
    return votes


@pytest.mark.parametrize("own", [True, False])
def test_votes_of_the_nearest_rows(own):
    rows = sp.csr_array(
        X.toarray() / np.maximum(1e-9, np.linalg.norm(X.toarray(), axis=1))[:, None]
    )
    asked = rows if own else rows[:50]
    found = Neighbours.of(rows, Y, 7).votes(asked, Y.shape[1], own=own)
    expected = literal_votes(asked, rows, Y.toarray(), 7, own)
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-5)


def test_only_the_labels_of_most_votes_are_named():
    rows = sp.csr_array(X)
    every = Neighbours.of(rows, Y, 7).votes(rows, Y.shape[1], own=True)
    few = Neighbours.of(rows, Y, 7).votes(rows, 3, own=True)
    assert np.diff(few.indptr).max() == 3
    for i in range(rows.shape[0]):
        best = np.sort(every[[i]].toarray()[0])[::-1][:3]
        np.testing.assert_allclose(np.sort(few[[i]].toarray()[0])[::-1][:3], best, atol=1e-6)


# ---- candidates and the first look ----------------------------------------------------------


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
    turned = found.taken(np.array([1, 0]))
    np.testing.assert_array_equal(turned.labels, [1, 3, 0, 2, 3])
    again = Candidates.stacked([found.taken(np.array([0])), found.taken(np.array([1]))])
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
        look = FirstLook.learn(candidates, present, np.ones(5), seeded(0))
        found.append(look.log_odds(candidates))
    np.testing.assert_allclose(found[0], found[1], atol=2e-3)
    assert np.corrcoef(found[0], scores.ravel())[0, 1] > 0.9


@pytest.mark.parametrize("C", [0.25, 4.0])
def test_likely_labels_stand_beside_the_features(C):
    """Their size makes up for C: the penalty of their weights is the same for all C."""
    named = np.tile(np.arange(3), (2, 1))
    candidates = Candidates.of((named, np.zeros((2, 3))), None, 3)
    p = np.array([0.9, 0.04, 0.3, 0.06, 0.01, 0.5])
    log_odds = np.log(p / (1 - p)).astype(np.float32)
    features = sp.csr_array(np.array([[1.0, 0.0], [0.0, 1.0]], dtype=np.float32))
    found = with_likely_labels(features, candidates, log_odds, C).toarray()
    expected = np.where(p < 0.05, 0.0, p / np.sqrt(C)).reshape(2, 3)
    np.testing.assert_allclose(found, np.hstack([np.eye(2), expected]), rtol=1e-5)


# ---- honesty --------------------------------------------------------------------------------


@pytest.mark.parametrize("n_neighbors", [0, 8])
def test_rows_of_a_fold_are_new_to_everything(n_neighbors):
    """Whatever labels they have: the others' start, their weights and these rows' scores stay."""
    model = ShortlistClassifier(n_neighbors=n_neighbors, n_candidates=12)
    model._unit_rows = True
    inside = np.arange(X.shape[0]) % 5 == 0
    other = Y.toarray()
    other[inside] = np.random.default_rng(1).random(other[inside].shape) < 0.3
    found = []
    for labels in (Y, sp.csr_array(other)):
        sizes = _Sizes(12, 6, 6) if n_neighbors else _Sizes(12, 12, 40)
        looks = model._look(X, model._rows(X), labels, inside, sizes, 1, seeded(0))
        weights = looks.solved(2.0, ~inside)
        held = looks.held_out(np.arange(0, 40, 3), inside, 2.0)
        found.append((held.margins.toarray(), weights.coefficients.toarray()))
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


def test_some_labels_judge_as_all_of_them_would(monkeypatch):
    """Of the labels that judge, margins are those of a fit of all."""
    model = ShortlistClassifier(n_neighbors=8, n_candidates=12)
    model._unit_rows = True
    inside = np.arange(X.shape[0]) % 5 == 0
    looks = model._look(X, model._rows(X), Y, inside, _Sizes(12, 6, 6), 1, seeded(0))
    every = looks.held_out(np.arange(40), inside, 2.0)
    monkeypatch.setattr("compactlearn.estimators.shortlist._JUDGING_PAIRS", 700)
    labels = looks.some_labels(seeded(1), 1)
    assert 0 < labels.size < 40
    assert looks.some_labels(seeded(1), 64).size == 40  # so few may all judge
    some = looks.held_out(labels, inside, 2.0)
    np.testing.assert_allclose(
        some.margins.toarray(), every.margins[:, labels].toarray(), atol=2e-2
    )
    places = np.flatnonzero(inside)
    for place, label in zip(*every.margins.nonzero(), strict=True):
        assert looks.candidates.matrix(looks.log_odds)[places[place], label] != 0
    assert every.present.sum() == (
        looks.candidates.taken(places).present(sp.csr_array(Y[places])).sum()
    )


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
    dense = clone(model).fit(X.toarray(), Y.toarray()).predict(X.toarray())
    np.testing.assert_array_equal(dense, predicted.toarray())


def test_more_labels_than_candidates(model):
    labels, scores = model.predict_topk(X[:9], Y.shape[1])
    assert all(len(set(row)) == Y.shape[1] for row in labels)
    few = model.predict_topk(X[:9], 3)[0]
    np.testing.assert_array_equal(labels[:, :3], few)
    assert np.isfinite(scores).all()


def test_it_learns(model):
    fresh, truth = texts(n=400, seed=0)
    fresh, truth = fresh[300:], truth[300:].toarray()
    alone = CMLLClassifier().fit(X, Y)
    ours = precision_at_k(truth, model.predict_topk(fresh, 3), 1)
    assert ours > precision_at_k(truth, alone.predict_topk(fresh, 3), 1) - 0.05
    assert ours > 0.3


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
    assert one.numbers_ > one.coef_.nnz > 0
    assert one.coef_.shape == (Y.shape[1], X.shape[1] + Y.shape[1])
    assert len(pickle.dumps(one)) < 1.3 * one.nbytes_ + 20_000


def test_frames_and_names():
    frame = pd.DataFrame(X.toarray()[:80], columns=[f"word {i}" for i in range(60)])
    labels = pd.DataFrame(Y.toarray()[:80], columns=[f"tag {i}" for i in range(40)])
    model = ShortlistClassifier(random_state=0).fit(frame, labels)
    assert model.label_names_ == list(labels.columns)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert model.n_candidates_ == 40
    found = model.evaluate(frame, labels)
    assert found["average_precision"] == pytest.approx(
        average_precision(labels, model.decision_function(frame).toarray())
    )


def test_thresholds():
    given = ShortlistClassifier(threshold=0.3, random_state=0).fit(X, Y)
    p, labels = given.predict_proba(X), given.predict(X)
    np.testing.assert_array_equal(labels.toarray(), p.toarray() > 0.3)
    many = ShortlistClassifier(threshold="cardinality", random_state=0).fit(X, Y)
    assert abs(many.predict(X).sum() / Y.sum() - 1) < 0.5
    each = ShortlistClassifier(threshold="per-label", random_state=0).fit(X, Y)
    assert each.threshold_.shape == (40,)


def test_the_threshold_is_in_the_units_of_the_scores(monkeypatch):
    """However margins are read, the same labels are predicted."""
    found = []
    for reading in ((1.0, 0.0), (2.0, 5.0)):
        monkeypatch.setattr(
            SecondLook, "calibrated", lambda self, *_, r=reading: replace(self, reading=r)
        )
        model = ShortlistClassifier(random_state=0).fit(X, Y)
        found.append((model.threshold_, model.predict(X).toarray()))
    (one, labels), (two, same) = found
    assert two == pytest.approx(2.0 * one + 5.0, abs=1e-4)
    np.testing.assert_array_equal(labels, same)


def test_any_retriever_with_topk():
    retriever = CMLLClassifier(n_label_components=5, decoder="logistic")
    model = ShortlistClassifier(retriever, n_candidates=10, random_state=0).fit(X, Y)
    assert type(model.retriever_) is CMLLClassifier
    assert model.retriever_.embedding_.n_label_components_ == 5
    assert not hasattr(retriever, "embedding_")


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


def test_one_label_and_two_classes():
    one = ShortlistClassifier(random_state=0).fit(X, sp.csr_array(Y[:, [0]]))
    assert one.predict(X).shape in {(300, 1), (300,)}
    y = np.where(Y[:, [0]].toarray()[:, 0] > 0, "yes", "no")
    two = ShortlistClassifier(random_state=0).fit(X, y)
    assert two.decision_function(X).shape == (300,)
    np.testing.assert_allclose(two.predict_proba(X).sum(axis=1), 1)
    several = ShortlistClassifier(random_state=0).fit(X, Y[:, :3].argmax(axis=1))
    assert several.decision_function(X).shape == (300, len(several.classes_))


MISTAKES = {
    "k": (lambda m: m.predict_topk(X, 41), "between 1 and the number of labels \\(40\\)"),
    "too many candidates": (
        lambda _: ShortlistClassifier(n_candidates=41).fit(X, Y),
        "at most the number of labels, 40, and is 41",
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
def test_sklearn_contract(estimator, check):
    check(estimator)


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
