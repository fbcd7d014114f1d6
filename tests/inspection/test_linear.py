"""Linear models: a score is the sum of values times effective weights, and a base."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cross_decomposition import PLSRegression
from sklearn.ensemble import (
    ExtraTreesRegressor,
    RandomForestRegressor,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC

from compactlearn import (
    CMLL,
    CPLST,
    DMLR,
    MDDM,
    PLST,
    CMLLClassifier,
    CMLLClassifierCV,
    CompactClassifier,
    FaIE,
    Original,
    ThresholdTuner,
    explain,
)
from compactlearn.compact._pruned import KeptFeatures, KeptWeights
from compactlearn.compact._quick_svm import QuickSVM
from compactlearn.decoding._linear import LinearScorer
from compactlearn.inspection._decomposition import NotExplained, label_vectors_of, parts_of
from tests.makers import make_data, modest

EMBEDDINGS = (CMLL(3, 2), PLST(2), CPLST(2), FaIE(2), DMLR(2), MDDM(3), Original(), CMLL(None, 3))


def summed(one):
    return one.base + sum(term.contribution for term in one.terms)


def assert_sums(model, X, tolerance=1e-9):
    """All terms and the base are the score, label by label; nothing is left over."""
    labels = list(model.classes_)
    why = model.explain(X, labels, k=None)
    scores = np.asarray(model.decision_function(X))
    if scores.ndim == 1:
        scores = np.column_stack([-scores, scores])
    assert len(why) == scores.size
    for one, score in zip(why, scores.ravel(), strict=True):
        assert one.score == score
        assert summed(one) == pytest.approx(score, abs=tolerance)
        assert abs(one.rest) < tolerance
        assert one.n_rest == 0
    return why


@pytest.mark.parametrize("embedding", EMBEDDINGS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("decoder", ["linear", "logistic"])
def test_terms_are_values_times_coefficients(embedding, decoder):
    X, Y = make_data(60)
    model = CompactClassifier(embedding, decoder=decoder, scale=True, threshold=0.5)
    model.fit(X[:40], Y[:40])
    why = assert_sums(model, X[40:45])
    terms = {(one.row, one.label, term.name): term for one in why for term in one.terms}
    for i, j, label in [(0, 0, 0), (3, 6, 2), (4, 2, 4)]:
        term = terms[i, str(label), f"x{j}"]
        assert term.value == X[40 + i, j]
        assert term.weight == pytest.approx(model.coef_[j, label])
        assert term.kind == "feature"
    np.testing.assert_allclose([one.base for one in why[:5]], model.intercept_)


@modest
@given(st.integers(1, 12), st.integers(2, 6), st.integers(0, 5), st.booleans())
def test_any_shape_sums(n_features, n_labels, seed, sparse):
    X, Y = make_data(30, n_features, n_labels, seed=seed, density=0.5)
    rows = scipy.sparse.csr_array(X) if sparse else X
    model = CompactClassifier(CMLL(n_label_components=2), threshold=0.5).fit(rows, Y)
    assert_sums(model, rows[:4])


@pytest.mark.parametrize("decoder", ["linear", "logistic"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_of_a_vector(decoder, n_classes):
    X, Y = make_data(60)
    y = np.array(["fish", "meat", "rice"])[np.minimum(Y[:, 0] + Y[:, 1], n_classes - 1).astype(int)]
    model = CMLLClassifier(decoder=decoder, threshold=0.3).fit(X, y)
    assert_sums(model, X[:5])
    why = model.explain(X)
    assert [one.label for one in why] == list(model.predict(X))
    assert all(one.predicted for one in why)
    if n_classes == 2:
        assert all(one.score >= 0 for one in why)  # each class relative to its own boundary
        both = model.explain(X[:1], ["fish", "meat"], k=None)
        for one, other in zip(both[0].terms, both[1].terms, strict=True):
            assert one.contribution == -other.contribution


def test_only_columns_of_asked_labels_are_multiplied_out(monkeypatch):
    X, Y = make_data(60, n_labels=8)
    model = CMLLClassifier(3, 2).fit(X, Y)
    made, columns = [], LinearScorer.columns

    def watched(scorer, labels):
        made.append(list(labels))
        return columns(scorer, labels)

    monkeypatch.setattr(LinearScorer, "columns", watched)
    monkeypatch.setattr(LinearScorer, "coefficients", property(lambda _: pytest.fail("all")))
    model.explain(X, [5, 1])
    assert made == [[1, 5]]
    full = model.fit(X, Y).parts_.linear
    np.testing.assert_allclose(columns(full, [5, 1]), np.linalg.multi_dot(full.factors)[:, [5, 1]])


def test_pairs_are_worked_on_a_few_at_a_time(monkeypatch):
    X, Y = make_data(60)
    model = CMLLClassifier().fit(X, Y)
    whole = model.explain(X)
    monkeypatch.setattr("compactlearn.inspection._explain._ENTRIES", 30)
    assert model.explain(X) == whole


# ---- which labels, how many terms ----------------------------------------------------------------


def test_without_labels_they_are_those_predicted_or_the_best():
    X, Y = make_data(60, share=0.8)
    model = CMLLClassifier().fit(X[:40], Y[:40])
    labels, scores = model.predict(X), model.decision_function(X)
    assert (labels.sum(axis=1) == 0).any()
    assert (labels.sum(axis=1) > 1).any()
    why = model.explain(X)
    for row in range(60):
        given = [one for one in why if one.row == row]
        if labels[row].any():
            assert [int(one.label) for one in given] == np.flatnonzero(labels[row]).tolist()
            assert all(one.predicted for one in given)
        else:
            assert [int(one.label) for one in given] == [scores[row].argmax()]
            assert not given[0].predicted


@pytest.mark.parametrize("k", [1, 3, 7, 100])
def test_the_strongest_terms_are_kept_and_the_others_are_one_number(k):
    X, Y = make_data(60)
    model = CMLLClassifier().fit(X, Y)
    for some, every in zip(model.explain(X, k=k), model.explain(X, k=None), strict=True):
        assert some.terms == every.terms[:k]
        assert some.n_rest == max(0, 7 - k)
        assert some.rest == pytest.approx(sum(t.contribution for t in every.terms[k:]), abs=1e-9)
        assert summed(some) + some.rest == pytest.approx(some.score, abs=1e-9)
        sizes = [abs(term.contribution) for term in every.terms]
        assert sizes == sorted(sizes, reverse=True)
        assert {*some.speaks_for, *some.speaks_against} == set(some.terms)
        assert all(term.contribution > 0 for term in some.speaks_for)


def test_labels_by_name_or_number():
    X, Y = make_data(40)
    names = ["animals", "boats", "cities", "dances", "engines"]
    model = CMLLClassifier().fit(X, pd.DataFrame(Y, columns=names))
    by_name, by_number = model.explain(X[:2], ["cities", "boats"]), model.explain(X[:2], [2, 1])
    assert by_name == by_number
    assert [one.label for one in by_name] == ["cities", "boats"] * 2
    assert model.explain(X[:2], np.int64(2)) == model.explain(X[:2], "cities")
    with pytest.raises(ValueError, match=r"this model has 5 \('animals', .* Did you mean 'boats'"):
        model.explain(X, "boast")
    with pytest.raises(ValueError, match=r"by name or number, .* and 5 is none of them; pass one"):
        model.explain(X, 5)


@pytest.mark.parametrize("k", [0, 2.5])
def test_numbers_of_terms_that_mean_nothing_are_refused(k):
    X, Y = make_data(40)
    model = CMLLClassifier().fit(X, Y)
    with pytest.raises(ValueError, match=r"how many terms are kept, to be at least 1, .* given"):
        model.explain(X, k=k)


# ---- names ---------------------------------------------------------------------------------------


def test_given_names():
    X, Y = make_data(40)
    model = CMLLClassifier().fit(X, Y)
    assert model.explain(X[:1], 0, feature_names=list("tuvwxyz"))[0].terms[0].name in "tuvwxyz"
    with pytest.raises(ValueError, match=r"each of the 7 columns .* and holds 2; pass"):
        model.explain(X, feature_names=["a", "b"])


TEXTS = ["the ship sails the sea", "bread and butter", "a boat at sea", "a recipe for bread"] * 8
TEXTS += ["the ship brings bread", "butter in the recipe"] * 4
TAGS = np.array([[1, 0], [0, 1]] * 16 + [[1, 1], [0, 1]] * 4)


def test_words_through_a_pipeline():
    pipe = make_pipeline(TfidfVectorizer(), CMLLClassifier(decoder="logistic")).fit(TEXTS, TAGS)
    why = explain(pipe, ["the ship is at sea", "bread with butter"], k=None)
    strongest = {one.label: one.speaks_for[0].name for one in why}
    assert strongest["0"] in {"ship", "sea"}
    assert strongest["1"] in {"bread", "butter"}
    scores = pipe.decision_function(["the ship is at sea", "bread with butter"])
    for one in why:
        assert one.score == scores[one.row, int(one.label)]
        assert summed(one) == pytest.approx(one.score, abs=1e-9)
        assert {term.name for term in one.terms} <= {"the", "ship", "at", "sea", "bread", "butter"}


def test_steps_that_keep_columns_keep_their_names():
    X, Y = make_data(40)
    frame = pd.DataFrame(X, columns=list("abcdefg"))
    model = CMLLClassifier().fit(StandardScaler().fit_transform(X), Y)
    expected = model.explain(StandardScaler().fit(X).transform(X[:3]), [0, 3], k=None)
    for form, names in ((frame, list("abcdefg")), (X, [f"x{j}" for j in range(7)])):
        pipe = make_pipeline(StandardScaler(), CMLLClassifier()).fit(form, Y)
        found = explain(pipe, form[:3], [0, 3], k=None)
        for one, other in zip(found, expected, strict=True):
            for term, same in zip(one.terms, other.terms, strict=True):
                assert term.name == names[int(same.name[1:])]
                assert term.contribution == pytest.approx(same.contribution)
                assert term.value == pytest.approx(same.value)


def test_through_a_search_of_scikit_learn():
    pipe = make_pipeline(TfidfVectorizer(), CMLLClassifier(threshold=0.5))
    search = GridSearchCV(pipe, {"cmllclassifier__alpha": [0.1, 1.0]}, cv=2).fit(TEXTS, TAGS)
    best = search.best_estimator_
    assert explain(search, TEXTS[:2]) == explain(best, TEXTS[:2])
    assert explain(make_pipeline(best), TEXTS[:2]) == explain(best, TEXTS[:2])


# ---- other models that are linear ----------------------------------------------------------------

REGRESSORS = [Ridge(), Lasso(0.01), ExtraTreesRegressor(3, random_state=0)]


@pytest.mark.parametrize("regressor", REGRESSORS, ids=lambda r: type(r).__name__)
@pytest.mark.parametrize("embedding", [CMLL(3, 2), Original(), FaIE(2)], ids=lambda e: repr(e)[:6])
def test_regressors_of_scikit_learn(regressor, embedding):
    X, Y = make_data(50)
    model = CompactClassifier(embedding, regressor=regressor, scale=True).fit(X, Y)
    why = assert_sums(model, X[:4])
    projected = isinstance(regressor, ExtraTreesRegressor) and isinstance(embedding, CMLL)
    kinds = {term.kind for one in why for term in one.terms}
    assert kinds == {"direction" if projected else "feature"}


@pytest.mark.parametrize("regressor", [KNeighborsRegressor(), PLSRegression(2)])
def test_other_regressors_are_refused_in_words(regressor):
    """The second has weights, but of centred columns: they do not say what it says."""
    X, Y = make_data(50)
    model = CompactClassifier(regressor=regressor).fit(X, Y)
    name = type(regressor).__name__
    with pytest.raises(
        NotExplained, match=f"{name} is neither linear nor a forest. Explain a CMLL"
    ):
        model.explain(X)


def test_maps_before_a_linear_model():
    X, Y = make_data(50)
    model = CMLLClassifier(feature_map=Normalizer()).fit(X, Y)
    why = assert_sums(model, X[:3])
    for term in why[0].terms:
        j = int(term.name[1:])
        assert term.value == X[0, j]
        assert term.contribution == pytest.approx(
            X[0, j] / np.linalg.norm(X[0]) * model.parts_.linear.coefficients[j, 0]
        )
    model = CMLLClassifier(feature_map=PolynomialFeatures(2)).fit(X, Y)
    why = assert_sums(model, X[:3])
    named = {term.name: term for term in why[0].terms}
    assert named["x0 x3"].value == pytest.approx(X[0, 0] * X[0, 3])
    assert named["x0 x3"].kind == "column"


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("scale", [False, True])
def test_few_features_or_weights_are_terms_at_their_places(form, scale):
    X, Y = make_data(60)
    rows, Y, labels = form(X), scipy.sparse.csr_array(Y), np.array([0, 3, 4, 1, 3])
    inner = CompactClassifier(CPLST(2), scale=scale, decoder="logistic", threshold=0.5)
    few = KeptFeatures(inner, 3, scale=scale).fit(rows, Y)
    dense = np.zeros((7, 5))
    dense[few.features_] = few.classifier_.coef_
    assert list(few.features_) != [0, 1, 2]
    assert few.features_.size == 3
    sparse = KeptWeights(11, scale=scale).fit(rows, Y)
    quick = QuickSVM(20).fit(rows, Y)
    sparse_weights = [(one, one.weights_.toarray().T) for one in (sparse, quick)]
    for model, weights in ((few, dense), *sparse_weights):
        parts = parts_of(model, rows[:5], labels)
        (terms,) = parts.groups
        assert (terms.kind, terms.names) == ("feature", None)
        expected = X[:5] * weights[:, labels].T
        np.testing.assert_allclose(terms.contributions.toarray(), expected, atol=1e-12)
        scores = model.decision_function(rows[:5])[np.arange(5), labels]
        np.testing.assert_allclose(parts.total, scores, atol=1e-9)
    decoder = few.classifier_.parts_.decoder
    np.testing.assert_array_equal(label_vectors_of(few), decoder.T)
    assert label_vectors_of(sparse) is sparse.weights_


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_smaller_numbers_add_up_to_their_own_precision(dtype):
    X, Y = make_data(60)
    model = CMLLClassifier(decoder="logistic").fit(X, Y).compress(dtype)
    assert_sums(model, X[:5], tolerance=2e-5 if dtype == "float32" else 0.05)
    for one in model.explain(X, k=2):
        assert summed(one) + one.rest == pytest.approx(one.score, abs=1e-9)


def test_tuned_thresholds_and_searches_explain_what_they_hold():
    X, Y = make_data(60)
    search = CMLLClassifierCV(cv=2, alphas=[1.0, 10.0], n_label_components=(2,)).fit(X, Y)
    assert search.explain(X[:4]) == search.best_estimator_.explain(X[:4])
    base = OneVsRestClassifier(LogisticRegression())
    tuner = ThresholdTuner(base, random_state=0).fit(X, Y)
    scores, labels = tuner.decision_function(X), tuner.predict(X)
    for one in tuner.explain(X, range(5), k=None):
        assert one.score == scores[one.row, int(one.label)]
        assert one.predicted == labels[one.row, int(one.label)]
        assert summed(one) == pytest.approx(one.score, abs=1e-9)
    alone = explain(base.fit(X, Y), X, range(5), k=None)
    for one, other in zip(alone, tuner.explain(X, range(5), k=None), strict=True):
        assert (one.terms, one.base) == (other.terms, other.base)


def test_a_pipeline_inside_a_tuner():
    tuner = ThresholdTuner(make_pipeline(TfidfVectorizer(), CMLLClassifier()), cv=2, random_state=0)
    tuner.fit(TEXTS, TAGS)
    (one,) = tuner.explain(["the ship"], 0, k=None)
    assert {term.name for term in one.terms} == {"the", "ship"}
    assert summed(one) == pytest.approx(one.score, abs=1e-9)
    assert all(0 < term.value < 1 for term in one.terms)


class Squared(LogisticRegression):
    """It has weights, and answers something else."""

    def decision_function(self, X):
        return super().decision_function(X) ** 2


@pytest.mark.parametrize("model", [Squared(), RandomForestRegressor(3), SVC()])
def test_foreign_models_that_are_not_linear_are_refused(model):
    X, Y = make_data(40)
    model.fit(X, Y[:, 0])
    name = type(model).__name__
    with pytest.raises(
        NotExplained, match=f"explain splits a score .* for {name}: i.*Explain a CM"
    ):
        explain(model, X)


def test_what_is_no_model_is_refused():
    with pytest.raises(TypeError, match=r"a fitted classifier or a Pipeline .* pass the model"):
        explain(StandardScaler(), [[0.0]])
