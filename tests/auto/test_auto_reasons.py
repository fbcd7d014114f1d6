"""Reasons of a blend are those of its members, weighed, in terms of the same features."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from compactlearn import AutoCompactClassifier, CMLLClassifier, ShortlistClassifier, explain
from compactlearn.auto._blend import Blend, Member, Reading
from compactlearn.auto._forest import LabelForest
from compactlearn.compact._pruned import KeptFeatures, KeptWeights
from compactlearn.datasets import load
from compactlearn.inspection._explain import neighbours_of, parts_of
from tests.makers import make_data


def total(one):
    return one.base + sum(term.contribution for term in one.terms)


def forest_of(X, Y):
    forest = LabelForest(20, random_state=0)
    forest.fit_scored(X, scipy.sparse.csr_array(Y), None)
    return forest


def test_a_forest_is_read_as_log_odds():
    X, Y = make_data(60)
    forest = forest_of(X[:40], Y[:40])
    labels = np.array([0, 3, 4, 1])
    parts = parts_of(forest, X[40:44], labels)
    scores = forest.decision_function(X[40:44])[np.arange(4), labels]
    np.testing.assert_allclose(parts.total, scores, atol=1e-9)
    roots = np.mean([tree.tree_.value[0, :, 0] for tree in forest.forest_.estimators_], axis=0)
    p = (20 * roots + forest.frequency_) / 21
    np.testing.assert_allclose(parts.base, np.log(p / (1 - p))[labels], atol=1e-9)
    with pytest.raises(TypeError, match="needs a fitted classifier or a Pipeline"):
        explain(forest, X)


def test_a_blend_is_the_weighted_sum_of_its_members():
    X, Y = make_data(60)
    models = [CMLLClassifier().fit(X, Y), CMLLClassifier(2, 2, decoder="logistic").fit(X, Y)]
    readings = Reading(4.0, -2.0), Reading(0.5, 0.25)
    members = tuple(
        Member(name, model, reading, weight)
        for name, model, reading, weight in zip("ab", models, readings, (0.3, 0.6), strict=True)
    )
    labels = np.arange(5)
    parts = parts_of(Blend(members, 0.1), X[:5], labels)
    expected = sum(
        weight * reading.slope * X[:5] * model.coef_[:, labels].T
        for model, reading, weight in zip(models, readings, (0.3, 0.6), strict=True)
    )
    np.testing.assert_allclose(parts.groups[0].contributions.toarray(), expected, atol=1e-9)
    np.testing.assert_allclose(parts.total, Blend(members, 0.1).log_odds(X[:5]).diagonal())


def test_few_features_and_few_weights_speak_of_the_same_features():
    X, Y = make_data(60)
    auto = AutoCompactClassifier(time_budget=0.01, cv=2, random_state=0).fit(X, Y)
    labels = scipy.sparse.csr_array(Y)
    inner = CMLLClassifier(2, 2, threshold=0.5)
    few = make_pipeline(Normalizer(), KeptFeatures(inner, 3)).fit(X, labels)
    sparse = KeptWeights(9).fit(X, labels)
    members = [
        Member("few", few, Reading(4.0, -2.0), 0.3),
        Member("sparse", sparse, Reading(3.0), 0.6),
    ]
    lengths = np.linalg.norm(X, axis=1)
    weights = np.zeros((7, 5))
    weights[few[-1].features_] = few[-1].classifier_.coef_
    for chosen in (members[:1], members[1:], members):
        auto.blend_ = Blend(tuple(chosen), 0.1)
        scores = auto.decision_function(X)
        for one in explain(auto, X[:5], range(5), k=None):
            assert one.score == scores[one.row, int(one.label)]
            assert total(one) == pytest.approx(one.score, abs=1e-9)
            assert one.n_rest == 0
            expected = np.zeros(7)
            if members[0] in chosen:
                expected += 0.3 * 4.0 * X[one.row] / lengths[one.row] * weights[:, int(one.label)]
            if members[1] in chosen:
                expected += 0.6 * 3.0 * X[one.row] * sparse.weights_.toarray()[int(one.label)]
            found = np.zeros(7)
            for term in one.terms:
                found[int(term.name[1:])] = term.contribution
                assert term.value == X[one.row, int(term.name[1:])]
            np.testing.assert_allclose(found, expected, atol=1e-9)
    # Neighbours are those of the member of larger weight.
    cosines = cosine_similarity(sparse.weights_)
    for label, near in auto.label_neighbours(k=4).items():
        for name, cosine in near:
            assert cosine == pytest.approx(cosines[int(label), int(name)], abs=1e-9)


def test_members_that_speak_of_other_things_say_who_they_are():
    data = load("enron")
    X, Y = data.X[:100], data.Y[:100]
    models = [ShortlistClassifier(random_state=0, C=1.0).fit(X, Y), CMLLClassifier().fit(X, Y)]
    blend = Blend(tuple(Member(f"m{k}", one, Reading(), 0.5) for k, one in enumerate(models)))
    labels = np.arange(5)
    parts = parts_of(blend, X[95:], labels)
    np.testing.assert_allclose(parts.total, blend.log_odds(X[95:])[labels, labels], atol=5e-6)
    names = [name for group in parts.groups for name in group.names or ()]
    assert "m0: the retriever" in names
    assert sum(group.kind == "feature" for group in parts.groups) == 1


def test_neighbours_of_a_blend_are_those_of_its_shortlist():
    X, Y = make_data(60)
    short = ShortlistClassifier(random_state=0).fit(X, Y)
    members = tuple(
        Member(name, model, Reading(1.0, 0.0), 0.5)
        for name, model in (("ridge", CMLLClassifier().fit(X, Y)), ("shortlist", short))
    )
    labels = np.arange(5)
    blended = neighbours_of(Blend(members), X[:5], labels, 3)
    assert blended == neighbours_of(short, X[:5], labels, 3)
    assert any(blended)
    assert neighbours_of(Blend(members[:1]), X[:5], labels, 3) == [()] * 5
