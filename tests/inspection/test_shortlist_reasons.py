"""Scores of ShortlistClassifier: its stages one after the other, with nothing left over."""

import numpy as np
import pytest
import scipy.sparse
from scipy.special import expit

from compactlearn import CMLLClassifier, ShortlistClassifier
from compactlearn.datasets import load
from compactlearn.inspection._shortlist import _by_features
from compactlearn.shortlist._candidates import Candidates
from compactlearn.shortlist._label_reranking import OFFSET
from tests.makers import make_data

SINGLE = 5e-6  # the stages are in single precision


@pytest.fixture(scope="module")
def enron():
    return load("enron")


@pytest.fixture(scope="module", params=["all", "few", "no neighbours"])
def model(request, enron):
    settings = {"all": {}, "few": {"n_candidates": 12}, "no neighbours": {"n_neighbors": 0}}
    model = ShortlistClassifier(random_state=0, C=1.0, **settings[request.param])
    return model.fit(enron.X[:200], enron.Y[:200])


def total(one):
    return one.base + sum(term.contribution for term in one.terms)


def of_kind(one, kind):
    return {term.name: term for term in one.terms if term.kind == kind}


def test_terms_add_up_to_the_score(model, enron):
    X = enron.X[300:320]
    scores = model.decision_function(X)
    why = model.explain(X, k=None)
    given = model.predict(X)
    assert [(one.row, int(one.label)) for one in why if one.predicted] == list(
        zip(*given.nonzero(), strict=True)
    )
    for one in why:
        assert one.score == scores[one.row, int(one.label)]
        assert total(one) == pytest.approx(one.score, abs=SINGLE)
        assert abs(one.rest) < SINGLE
    for one in model.explain(X, k=4):
        assert total(one) + one.rest == pytest.approx(one.score, abs=1e-9)


def test_all_labels_and_those_that_are_no_candidates(model, enron):
    X = enron.X[300:306]
    stored = model.decision_function(X)
    order = np.argsort(-model._scores_to_rank(X), axis=1, kind="stable")
    why = model.explain(X, range(53), k=None)
    absent = [one for one in why if stored[one.row, int(one.label)] == 0]
    assert bool(absent) == (model.n_candidates_ < 53)
    for one in why:
        assert total(one) == pytest.approx(one.score, abs=SINGLE)
        if one in absent:
            (term,) = one.terms
            assert (term.name, one.base) == ("no candidate", 0.0)
    for row in range(6):  # what is explained ranks the labels as predict_topk does
        scores = {int(one.label): one.score for one in why if one.row == row}
        assert sorted(scores, key=lambda j: -scores[j]) == order[row].tolist()


def test_features_and_likely_labels_share_one_slope(model, enron):
    """All terms of the margin, of the similarity and of the evidence have one slope each.

    The largest share is due to one feature.
    """
    n_features = enron.X.shape[1]
    names = enron.feature_names
    centroids = model.stages_.centroids.columns.toarray().astype(float)
    evidence = model.stages_.evidence.columns.toarray().astype(float)
    for one in model.explain(enron.X[300:310], k=None, feature_names=names):
        weights = model.coef_[[int(one.label)]].toarray()[0].astype(float)
        x = enron.X[[300 + one.row]].toarray()[0]
        x = x / np.linalg.norm(x)
        summands, found = [], []
        for word, term in of_kind(one, "feature").items():
            k = names.index(word)
            own = evidence[:, int(one.label)] * (x > 0)
            most = own.any() and k == own.argmax()
            by_counts = [centroids[k, int(one.label)], evidence[k, int(one.label)]]
            summands.append([x[k] * weights[k], *(x[k] * np.array(by_counts)), most])
            found.append(term.contribution)
        for label, term in of_kind(one, "label").items():
            weight = weights[n_features + int(label)]
            summands.append([term.value * weight / np.sqrt(model.C_), 0.0, 0.0, 0.0])
            found.append(term.contribution)
        assert len(found) > 6
        slopes = np.linalg.lstsq(np.array(summands), np.array(found), rcond=None)[0]
        np.testing.assert_allclose(summands @ slopes, found, rtol=1e-4, atol=1e-6)


def test_the_largest_share_is_due_to_the_feature_of_most_evidence_however_small_its_value():
    rng = np.random.default_rng(0)
    X, Y = (rng.random((200, 12)) < 0.3).astype(float), np.zeros((200, 4), dtype=int)
    X[:, 0] = rng.random(200) < 0.2
    Y[:, 0] = X[:, 0]  # the first word is the label; the others have no part in it
    Y[:, 1:] = rng.random((200, 3)) < 0.3
    model = ShortlistClassifier(random_state=0, C=1.0).fit(scipy.sparse.csr_array(X), Y)
    row = np.zeros((1, 12))
    row[0, 0], row[0, 1:] = 0.01, 1.0
    ranked = model.stages_.rank(scipy.sparse.csr_array(row))
    *_, share = _by_features(model.stages_, ranked, np.array([0]), np.array([0.7]))
    assert share.toarray().ravel().tolist() == [0.7] + 11 * [0.0]


def test_base_is_what_is_said_of_a_row_that_says_nothing(model, enron):
    """It depends on the label alone, and is what all stages make of the base's numbers."""
    bases = {}
    for one in model.explain(enron.X[300:330], k=None):
        bases.setdefault(one.label, []).append(one.base)
    assert max(len(values) for values in bases.values()) > 3
    for label, values in bases.items():
        np.testing.assert_allclose(values, values[0], atol=1e-9)
        j = np.array([int(label)])
        usual = Candidates(
            np.array([0, 1]), j, model.stages_.prior.centres[j], np.zeros(1, np.float32), 53
        )
        first = model.stages_.prior.log_odds(usual).astype(float)
        margin = model.stages_.labels.intercepts[j] + OFFSET * first
        inputs = model.stages_.cooccurrence.inputs(usual, margin, first)
        inputs = np.hstack(
            [inputs, np.zeros((1, 5))]
        )  # no votes, not named, not similar, nothing said
        # Without co-occurring candidates, the label that a candidate needs is itself.
        assert values[0] == pytest.approx(float(model.stages_.final.scores(inputs)[0]), abs=1e-5)


def test_labels_without_votes_owe_nothing_to_the_neighbours(model, enron):
    rows = enron.X[300:310]
    votes = model.stages_.rank(rows).candidates
    votes = votes.matrix(votes.votes)
    silent = [
        one for one in model.explain(rows, range(53), k=None) if not votes[one.row, int(one.label)]
    ]
    sources = [of_kind(one, "prior") for one in silent]
    assert any("the retriever" in source for source in sources)
    for source in sources:
        term = source.get("the neighbours")
        assert term is None or term.contribution == 0.0


def test_cooccurrence_is_what_other_candidates_change(model, enron):
    rows = enron.X[300:310]
    ranked = model.stages_.rank(rows)
    p = expit(ranked.margins.astype(float))
    shares = model.stages_.cooccurrence.shares.toarray()
    named = 0
    for one in model.explain(rows, k=None):
        start, stop = ranked.candidates.starts[one.row : one.row + 2]
        labels = ranked.candidates.labels[start:stop]
        own = start + int(np.flatnonzero(labels == int(one.label))[0])
        inputs = ranked.inputs[[own]]
        alone = inputs.copy()
        alone[:, 3:8] = model.stages_.cooccurrence.alone(ranked.margins[[own]])
        change = float(model.stages_.final.scores(inputs)[0]) - float(
            model.stages_.final.scores(alone)[0]
        )
        cooccurring = [of_kind(one, kind) for kind in ("support", "need", "co-occurrence")]
        added = sum(term.contribution for kind in cooccurring for term in kind.values())
        assert added == pytest.approx(change, abs=1e-5)
        for label in cooccurring[0]:
            gives = p[start:stop] * shares[labels, int(one.label)]
            assert int(label) == labels[gives.argmax()]
            named += 1
        for label in cooccurring[1]:
            needed = shares[int(one.label), labels] >= 0.8
            assert p[start:stop][labels == int(label)] == p[start:stop][needed].min()
    assert named


def test_without_any_cooccurrence_there_are_no_such_terms():
    rng = np.random.default_rng(0)
    X = scipy.sparse.csr_array(np.eye(6)[rng.integers(0, 6, 60)] + 0.1)
    Y = (X.toarray()[:, :3] > 0.5).astype(int)  # never two labels of a row
    model = ShortlistClassifier(random_state=0).fit(X, Y)
    why = model.explain(X[:10], range(3), k=None)
    assert all(not of_kind(one, kind) for one in why for kind in ("support", "need"))
    assert max(abs(one.rest) for one in why) < SINGLE


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_of_a_vector(n_classes):
    X, Y = make_data(60, density=0.7)
    y = np.minimum(Y[:, 0] + Y[:, 1], n_classes - 1)
    model = ShortlistClassifier(random_state=0, threshold=0.4).fit(X, y)
    scores = model.decision_function(X)
    for one in model.explain(X, k=None):
        column = scores if n_classes == 2 else scores[:, int(float(one.label))]
        sign = -1 if n_classes == 2 and float(one.label) == 0 else 1
        assert one.score == pytest.approx(sign * column[one.row], abs=1e-6)
        assert total(one) == pytest.approx(one.score, abs=SINGLE)


def test_the_retriever_explains_itself(enron):
    model = ShortlistClassifier(CMLLClassifier(n_label_components=10), random_state=0, C=1.0)
    model.fit(enron.X[:100], enron.Y[:100])
    (one,) = model.explain(enron.X[300:301], 12, k=None)
    (own,) = model.retriever_.explain(enron.X[300:301], 12, k=None)
    assert of_kind(one, "prior")["the retriever"].value == pytest.approx(own.score, rel=1e-6)
