"""Labels by name: the same model as by their matrix, and the names come back."""

import pickle
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import compactlearn
from compactlearn import (
    AutoCompactClassifier,
    C2AEClassifier,
    CMLLClassifier,
    CMLLClassifierCV,
    CompactClassifier,
    Original,
    POPClassifier,
    ShortlistClassifier,
    ThresholdTuner,
    evaluate,
    predict_labels,
    predict_topk,
)
from compactlearn.metrics import scorer
from compactlearn.model_selection import GridSearchMoments, IterativeStratification
from tests.makers import as_dense, make_data

from .state import Unchanged

X, Y = make_data(60)
Y = Y.astype(np.int64)
NAMES = ["é, with a comma", "blues", "jazz", "rock 'n' roll", "zydeco"]
ORDER = np.argsort(NAMES)  # of the columns that names in order have
SORTED = sorted(NAMES)
LISTS = [[NAMES[j] for j in np.flatnonzero(row)] for row in Y]
MATRIX = Y[:, ORDER]
TINY = {"feature_hidden": (4,), "label_hidden": (4,), "max_epochs": 2}

MODELS = {
    "CMLLClassifier": CMLLClassifier(),
    "logistic": CMLLClassifier(decoder="logistic"),
    "per label": CompactClassifier(Original(), threshold="per-label"),
    "Shortlist": ShortlistClassifier(n_candidates=3, n_neighbors=4, random_state=0),
    "Shortlist, all": ShortlistClassifier(random_state=0),
    "POP": POPClassifier(random_state=0),
    "C2AE": C2AEClassifier(4, random_state=0, **TINY),
    "tuner": ThresholdTuner(POPClassifier(random_state=0), cv=2, random_state=0),
    "tuner of others": ThresholdTuner(
        MultiOutputClassifier(LogisticRegression()), strategy="top-k", k=2
    ),
    "CV": CMLLClassifierCV(alphas=[1.0, 10.0], decoders=["linear"], cv=2),
    "grid": GridSearchMoments(
        CMLLClassifier(), {"alpha": [1.0, 9.0]}, cv=IterativeStratification(2, random_state=0)
    ),
    "Auto": AutoCompactClassifier(time_budget=0.01),
}
every_model = pytest.mark.parametrize("name", MODELS)


def scores_of(model, X):
    if hasattr(model, "decision_function"):
        return as_dense(model.decision_function(X))
    return np.column_stack([part[:, 1] for part in model.predict_proba(X)])


FORMS = {
    "lists": (LISTS, {}),
    "joined": ([" ; ".join(names) for names in LISTS], {"sep": ";"}),
    "matrix": (MATRIX, {}),
    "pandas": (pd.DataFrame(Y, columns=NAMES), {}),
    "polars": (pl.DataFrame(dict(zip(NAMES, Y.T, strict=True))), {}),
}


@cache
def fitted(name, form="lists"):
    """A model of one form of labels; no test changes it."""
    labels, how = FORMS[form]
    return clone(MODELS[name]).fit(X, labels, **how)


@every_model
@pytest.mark.parametrize("form", ["lists", "joined"])
def test_names_make_the_model_that_their_matrix_makes(name, form):
    """To the bit."""
    model, (labels, how) = MODELS[name], FORMS[form]
    expected, found = fitted(name, "matrix"), fitted(name, form)
    np.testing.assert_array_equal(scores_of(found, X), scores_of(expected, X))
    np.testing.assert_array_equal(as_dense(found.predict(X)), as_dense(expected.predict(X)))
    assert found.label_names_ == SORTED
    assert not hasattr(expected, "label_names_")
    if name != "tuner of others":
        assert found.classes_.tolist() == SORTED
    inner = getattr(found, "best_estimator_", getattr(found, "estimator_", found))
    if type(inner).__module__.startswith("compactlearn") and not isinstance(
        model, AutoCompactClassifier
    ):
        assert inner.label_names_ == SORTED
    assert found.score(X, LISTS) == expected.score(X, MATRIX)
    by_name = found.evaluate(X, labels, **how)
    assert by_name == pytest.approx(expected.evaluate(X, MATRIX), nan_ok=True, abs=0)
    assert by_name == pytest.approx(found.evaluate(X, MATRIX), nan_ok=True, abs=0)


@every_model
def test_predicted_names_are_the_predicted_columns(name):
    model = fitted(name)
    labels, scores = as_dense(model.predict(X)), scores_of(model, X)
    shown = scores
    if hasattr(model, "predict_proba"):
        shown = model.predict_proba(X)
        if isinstance(shown, list):
            shown = np.column_stack([part[:, 1] for part in shown])
        shown = as_dense(shown)
    found = model.predict_labels(X)
    assert [sorted(name for name, _ in row) for row in found] == [
        [SORTED[j] for j in np.flatnonzero(row)] for row in labels
    ]
    for number, row in enumerate(found):
        values = [score for _, score in row]
        assert values == [shown[number, SORTED.index(name)] for name, _ in row]
        assert values == sorted(values, reverse=True)
        assert all(type(name) is str and type(score) is float for name, score in row)


@every_model
@pytest.mark.parametrize("k", [1, 2, 5])
def test_the_best_by_name_are_the_best_by_index(name, k):
    model = fitted(name)
    indices, scores = model.predict_topk(X, k)
    names, same = model.predict_topk(X, k, names=True)
    np.testing.assert_array_equal(scores, same)
    assert names.tolist() == [[SORTED[j] for j in row] for row in indices]
    assert [[name for name, _ in row] for row in model.predict_labels(X, k)] == names.tolist()
    assert predict_labels(model, X, k) == model.predict_labels(X, k)
    np.testing.assert_array_equal(predict_topk(model, X, k, names=True)[0], names)


@every_model
def test_column_numbers_replace_missing_names(name):
    model = fitted(name, "matrix")
    labels = as_dense(model.predict(X))
    found = model.predict_labels(X)
    assert [sorted(name for name, _ in row) for row in found] == [
        [str(j) for j in np.flatnonzero(row)] for row in labels
    ]


@every_model
def test_names_outlive_a_pickle_and_end_with_the_next_fit(name):
    model = fitted(name)
    again = pickle.loads(pickle.dumps(model))
    assert again.predict_labels(X) == model.predict_labels(X)
    assert again.label_names_ == SORTED
    again.fit(X, MATRIX)
    assert not hasattr(again, "label_names_")
    assert again.predict_labels(X) == fitted(name, "matrix").predict_labels(X)


@every_model
@pytest.mark.parametrize("form", ["pandas", "polars"])
def test_columns_of_a_frame_keep_their_order(name, form):
    model, (columns, _) = fitted(name, form), FORMS[form]
    assert list(model.label_names_) == NAMES
    if name != "tuner of others":
        np.testing.assert_array_equal(model.classes_, np.arange(5))
    labels = as_dense(model.predict(X))
    assert [{name for name, _ in row} for row in model.predict_labels(X)] == [
        {NAMES[j] for j in np.flatnonzero(row)} for row in labels
    ]
    assert model.evaluate(X, LISTS) == pytest.approx(model.evaluate(X, columns), nan_ok=True, abs=0)


@every_model
@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ([*LISTS[:-1], "jazz"], "row 59 is 'jazz'"),
        ([*LISTS[:-1], None], "row 59 is None"),
        ([*LISTS[:-1], [None]], "row 59 holds None"),
        ([*LISTS[:-1], [3]], "all strings or all whole numbers"),
        (LISTS[:-1], "have 60 and 59"),
    ],
    ids=["string", "None", "None inside", "number", "too few"],
)
def test_refused_labels_change_nothing(name, labels, said):
    model = fitted(name)
    names, before = list(model.label_names_), scores_of(model, X)
    with pytest.raises(ValueError, match=said):
        model.fit(X, labels)
    assert model.label_names_ == names
    np.testing.assert_array_equal(scores_of(model, X), before)


@every_model
@pytest.mark.parametrize("k", [0, 6, 1.0, "all"])
def test_numbers_of_labels_that_there_are_not(name, k):
    model = fitted(name)
    with pytest.raises(ValueError, match=r"needs k between 1 and the number of labels \(5\)"):
        model.predict_labels(X, k)


# --- judging -------------------------------------------------------------------------------------


@every_model
def test_names_that_fit_did_not_have(name):
    model = fitted(name)
    strange = [[*LISTS[0], "polka", "ska"], *LISTS[1:]]
    for method in (model.evaluate, model.score):
        with pytest.raises(ValueError, match=r"knows the 5 labels.*'polka', 'ska'; leave these"):
            method(X, strange)


def test_names_that_rows_lack_are_no_matter():
    model = CMLLClassifier().fit(X, LISTS)
    some = [k for k, names in enumerate(LISTS) if "jazz" not in names]
    assert model.evaluate(X[some], [LISTS[k] for k in some]) == pytest.approx(
        model.evaluate(X[some], MATRIX[some]), nan_ok=True
    )


def test_names_for_a_model_without():
    model = CMLLClassifier().fit(X, MATRIX)
    for method in (model.evaluate, model.score):
        with pytest.raises(ValueError, match=r"columns without names; pass a 0/1 matrix"):
            method(X, LISTS)


def test_training_labels_by_name():
    model = CMLLClassifier().fit(X, LISTS)
    assert model.evaluate(X, LISTS, train_labels=LISTS) == pytest.approx(
        model.evaluate(X, MATRIX, train_labels=MATRIX), nan_ok=True
    )


def test_compression_is_judged_by_name():
    model = CMLLClassifier(decoder="logistic").fit(X, LISTS)
    small = model.compress("float16", X, LISTS)
    assert small.compression_ == model.compress("float16", X, MATRIX).compression_
    assert small.label_names_ == SORTED
    assert {name for row in small.predict_labels(X) for name, _ in row} <= set(SORTED)


def test_a_separator_is_for_labels_and_not_for_classes():
    model = CMLLClassifier().fit(X, np.array(["a", "b", "c"])[np.arange(60) % 3])
    with pytest.raises(ValueError, match=r"sep=';' splits joined names.*leave sep out"):
        model.evaluate(X, ["a", "b", "c"] * 20, sep=";")


# --- classes -------------------------------------------------------------------------------------

VECTORS = {
    "three words": np.array(["a", "b", "c"])[np.argsort(np.argsort(X[:, 0])) % 3],
    "two numbers": (X[:, 0] > np.median(X[:, 0])).astype(int) + 7,
}
OF_CLASSES = ["CMLLClassifier", "logistic", "Shortlist", "POP", "C2AE", "CV", "Auto"]


@pytest.mark.parametrize("y", VECTORS.values(), ids=VECTORS.keys())
@pytest.mark.parametrize("name", OF_CLASSES)
def test_a_class_and_its_probability(name, y):
    model = clone(MODELS[name])
    if name == "Shortlist":
        model.set_params(n_candidates="auto")
    if name == "CV":
        model.set_params(threshold=0.5)
    model.fit(X, y)
    found = model.predict_labels(X)
    assert [row[0][0] for row in found] == [str(one) for one in model.predict(X)]
    assert {len(row) for row in found} == {1}
    classes = [str(one) for one in model.classes_]
    if hasattr(model, "predict_proba"):
        P = model.predict_proba(X)
    else:
        P = model.decision_function(X)
        P = np.column_stack([-P, P]) if P.ndim == 1 else P
    assert [row[0][1] for row in found] == [
        P[k, classes.index(row[0][0])] for k, row in enumerate(found)
    ]
    both = model.predict_labels(X, len(classes))
    assert [row[0][0] for row in both] == [row[0][0] for row in found]
    assert all({name for name, _ in row} == set(classes) for row in both)
    with pytest.raises(ValueError, match=r"k between 1 and the number of labels"):
        model.predict_labels(X, len(classes) + 1)


# --- other people's classifiers, and pipelines ---------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        OneVsRestClassifier(LogisticRegression()),
        MultiOutputClassifier(LogisticRegression()),
        RidgeClassifier(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_names_of_any_classifier_are_its_columns(model):
    model.fit(X, MATRIX)
    found = predict_labels(model, X)
    assert [sorted(name for name, _ in row) for row in found] == [
        [str(j) for j in np.flatnonzero(row)] for row in model.predict(X)
    ]
    best, _ = predict_topk(model, X, 2)
    assert [[name for name, _ in row] for row in predict_labels(model, X, 2)] == [
        [str(j) for j in row] for row in best
    ]


def test_classes_of_any_classifier():
    model = LogisticRegression().fit(X, VECTORS["three words"])
    found = predict_labels(model, X)
    assert [row[0][0] for row in found] == model.predict(X).tolist()
    np.testing.assert_array_equal([row[0][1] for row in found], model.predict_proba(X).max(axis=1))


@pytest.mark.parametrize("name", ["CMLLClassifier", "Shortlist", "tuner", "CV"])
def test_through_a_pipeline(name):
    pipeline = make_pipeline(StandardScaler(), clone(MODELS[name])).fit(X, LISTS)
    inside = StandardScaler().fit_transform(X)
    assert predict_labels(pipeline, X) == pipeline[-1].predict_labels(inside)
    assert predict_labels(pipeline, X, 2) == pipeline[-1].predict_labels(inside, 2)
    assert evaluate(pipeline, X, LISTS) == pipeline[-1].evaluate(inside, LISTS)
    assert pipeline.score(X, LISTS) == pipeline[-1].score(inside, LISTS)
    joined = [";".join(names) for names in LISTS]
    step = pipeline.steps[-1][0]
    again = clone(pipeline).fit(X, joined, **{f"{step}__sep": ";"})
    assert predict_labels(again, X) == predict_labels(pipeline, X)


def test_a_tuner_of_a_pipeline():
    tuner = ThresholdTuner(make_pipeline(StandardScaler(), CMLLClassifier()), random_state=0)
    expected = clone(tuner).fit(X, MATRIX)
    found = clone(tuner).fit(X, LISTS)
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))
    assert found.label_names_ == SORTED


# --- part by part, and many at once --------------------------------------------------------------


def test_parts_with_names():
    model = CMLLClassifier()
    model.partial_fit(X[:20], LISTS[:20], classes=NAMES)
    model.partial_fit(X[20:40], [";".join(names) for names in LISTS[20:40]], sep=";")
    model.partial_fit(X[40:], MATRIX[40:])
    whole = CMLLClassifier().partial_fit(X, MATRIX)
    np.testing.assert_allclose(model.decision_function(X), whole.decision_function(X), atol=1e-10)
    assert model.label_names_ == SORTED
    with Unchanged(model, X), pytest.raises(ValueError, match=r"'ska'; name all labels by classes"):
        model.partial_fit(X[:1], [["ska"]])
    model.partial_fit(X[:2], [[], []])


def test_parts_with_names_after_columns_without():
    model = CMLLClassifier().partial_fit(X, MATRIX)
    with Unchanged(model, X), pytest.raises(ValueError, match=r"columns without names"):
        model.partial_fit(X, LISTS)


# --- scikit-learn's tools ------------------------------------------------------------------------


def test_scikit_learns_search_with_names():
    """With folds that are given; a number of folds makes scikit-learn look at the labels itself."""
    folds = KFold(3, shuffle=True, random_state=0)
    grid = {"alpha": [1.0, 100.0]}
    for scoring in (None, scorer("average_precision")):
        search = GridSearchCV(CMLLClassifier(threshold=0.5), grid, cv=folds, scoring=scoring)
        by_name, by_matrix = clone(search).fit(X, LISTS), clone(search).fit(X, MATRIX)
        np.testing.assert_array_equal(
            by_name.cv_results_["mean_test_score"], by_matrix.cv_results_["mean_test_score"]
        )
        assert predict_labels(by_name, X) == by_name.best_estimator_.predict_labels(X)
        assert evaluate(by_name, X, LISTS) == evaluate(by_matrix, X, MATRIX)
    with pytest.raises(ValueError, match=r"(?s)multi-label.*MultiLabelBinarizer"):
        GridSearchCV(CMLLClassifier(), grid, cv=3).fit(X, LISTS)


def test_scikit_learns_tools_with_matrices_are_as_they_were():
    model = CMLLClassifier(threshold=0.5)
    scores = cross_val_predict(model, X, MATRIX, cv=3, method="decision_function")
    assert scores.shape == MATRIX.shape
    columns = pd.DataFrame(MATRIX, columns=SORTED)
    np.testing.assert_array_equal(
        cross_val_predict(model, X, columns, cv=3, method="decision_function"), scores
    )
    assert cross_val_score(model, X, MATRIX, cv=3).shape == (3,)


def test_names_and_a_sparse_matrix_exclude_each_other():
    model = CMLLClassifier().fit(X, LISTS)
    with pytest.raises(ValueError, match=r"names or a sparse matrix.*leave one"):
        model.predict_topk(X, 2, sparse=True, names=True)


def test_the_functions_need_a_model():
    with pytest.raises(TypeError, match=r"compactlearn\.predict_labels needs a fitted classifier"):
        compactlearn.predict_labels(X, X)
