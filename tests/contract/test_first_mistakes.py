"""Common first mistakes: the last line of the error message states the remedy."""

import functools

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer, StandardScaler

from compactlearn import (
    CMLL,
    AutoCompactClassifier,
    C2AEClassifier,
    CMLLClassifier,
    CMLLClassifierCV,
    CompactClassifier,
    Original,
    POPClassifier,
    ShortlistClassifier,
    ThresholdTuner,
)
from compactlearn.core._params import Regressor
from compactlearn.datasets import load
from compactlearn.metrics import evaluate
from compactlearn.model_selection import GridSearchMoments
from tests.makers import make_data

from .state import Unchanged

X, Y = make_data()
Y = Y.astype(int)
TEXTS = [f"a small text about thing {number}" for number in range(len(X))]
TINY = {"feature_hidden": (4,), "label_hidden": (4,), "max_epochs": 1, "random_state": 0}

MODELS = {
    "CMLLClassifier": CMLLClassifier(),
    "CompactClassifier": CompactClassifier(Original()),
    "CMLL": CMLL(),
    "POP": POPClassifier(),
    "Shortlist": ShortlistClassifier(),
    "Auto": AutoCompactClassifier(time_budget=0.01),
    "C2AE": C2AEClassifier(4, **TINY),
    "CV": CMLLClassifierCV(alphas=[1.0], cv=2),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())


def refused(model, X, Y, *parts, error=ValueError, method="fit"):
    """The last line of the message has every part; returns the whole."""
    with pytest.raises(error, match=r".") as caught:
        getattr(clone(model) if method == "fit" else model, method)(X, *Y)
    last = str(caught.value).splitlines()[-1]
    for part in parts:
        assert part in last, last
    return last


def answer(model):
    found = getattr(model, "decision_function", None) or model.transform
    found = found(X)
    return found.toarray() if sp.issparse(found) else found


# --- features ------------------------------------------------------------------------------------

TEXT_FORMS = {
    "list": TEXTS,
    "object array": np.array(TEXTS, dtype=object),
    "string array": np.array(TEXTS),
    "column": np.array(TEXTS)[:, None],
    "pandas Series": pd.Series(TEXTS),
    "pandas column": pd.DataFrame({"text": TEXTS}),
    "polars Series": pl.Series(TEXTS),
    "polars column": pl.DataFrame({"text": TEXTS}),
    "lists of words": [text.split() for text in TEXTS],
    "bytes": [text.encode() for text in TEXTS],
}


@every_model
@pytest.mark.parametrize("texts", TEXT_FORMS.values(), ids=TEXT_FORMS.keys())
def test_texts_are_to_be_vectorised(model, texts):
    last = refused(model, texts, (Y,), "X must hold numbers", "TfidfVectorizer().fit_transform")
    assert "np.str_" not in last
    assert TEXTS[0].split()[0] in last


def test_the_remedy_for_texts_works():
    assert CMLLClassifier().fit(TfidfVectorizer().fit_transform(TEXTS), Y).n_labels_ == 5


def test_texts_at_predict():
    refused(CMLLClassifier().fit(X, Y), TEXTS, (), "TfidfVectorizer", method="predict")


@every_model
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_column_of_words_among_numbers_is_named(model, frame):
    mixed = frame({"size": X[:, 0], "colour": ["red", "blue"] * 20})
    refused(model, mixed, (Y,), "'red'", "'colour'", "OneHotEncoder", "drop it")


@every_model
def test_dictionaries_are_to_be_vectorised(model):
    refused(model, [{"a": 1.0}] * 40, (Y,), "DictVectorizer", error=TypeError)


@every_model
def test_a_whole_data_set(model):
    refused(model, load("emotions"), (), "Dataset", "fit(data.X, data.Y)", error=TypeError)
    refused(model, load_iris(), (), "Bunch", "fit(data.data, data.target)", error=TypeError)
    refused(model, {"a": X[:, 0]}, (Y,), "dict", "pandas.DataFrame(X)", error=TypeError)


@every_model
def test_what_is_no_matrix_at_all(model):
    refused(model, "train.csv", (Y,), "'train.csv'", "compactlearn.datasets.read")
    refused(model, (row for row in X), (Y,), "generator", "list(X)", error=TypeError)
    refused(model, X + 0j, (Y,), "Complex data not supported", "complex128", "X.real")


def test_columns_in_another_order():
    frame = pd.DataFrame(X, columns=list("abcdefg"))
    model = CMLLClassifier().fit(frame, Y)
    refused(model, frame[list("gfedcba")], (), "X[model.feature_names_in_]", method="predict")
    model.predict(frame[list("gfedcba")][model.feature_names_in_])


@every_model
def test_a_query_that_has_not_been_run(model):
    refused(model, pl.DataFrame(X).lazy(), (Y,), "LazyFrame", "X.collect()", error=TypeError)
    refused(model, X, (pl.DataFrame(Y).lazy(),), "LazyFrame", "Y.collect()", error=TypeError)


def test_a_query_for_a_tuner():
    tuner = ThresholdTuner(CMLLClassifier())
    refused(tuner, pl.DataFrame(X).lazy(), (Y,), "LazyFrame", "X.collect()", error=TypeError)


# --- labels --------------------------------------------------------------------------------------

NAMES = [{"jazz", "blues"} if number % 2 else {"folk"} for number in range(len(X))]
LISTS = [sorted(names) for names in NAMES]
COLLECTIONS = {
    "sets": NAMES,
    "frozensets": [frozenset(names) for names in NAMES],
    "Series of sets": pd.Series(NAMES),
    "lists": LISTS,
    "lists, one of them empty": [[], *LISTS[1:]],
    "tuples": [tuple(names) for names in LISTS],
    "equal lists": [["jazz", "blues"], ["folk", "jazz"]] * 20,
    "Series of lists": pd.Series(LISTS),
    "polars lists": pl.Series(LISTS),
    "lists of numbers": [[1, 2] if number % 2 else [3] for number in range(len(X))],
    "one column of a frame": pd.DataFrame({"tags": LISTS}),
}


def seeded(name):
    model = clone(MODELS[name])
    return model.set_params(random_state=0) if "random_state" in model.get_params() else model


@functools.cache  # most collections stand for the same matrix
def answer_to_matrix(name, matrix, n_labels):
    return answer(seeded(name).fit(X, np.frombuffer(matrix, int).reshape(-1, n_labels)))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("labels", COLLECTIONS.values(), ids=COLLECTIONS.keys())
def test_collections_of_labels_are_what_their_matrix_is(name, labels):
    rows = labels["tags"] if isinstance(labels, pd.DataFrame) else labels
    matrix = MultiLabelBinarizer().fit_transform(rows)
    expected = answer_to_matrix(name, matrix.tobytes(), matrix.shape[1])
    np.testing.assert_array_equal(answer(seeded(name).fit(X, labels)), expected)


@every_model
def test_equal_lists_of_numbers_are_a_matrix(model):
    labels = [[1, 2], [3, 4]] * 20
    refused(model, X, (labels,), "0 or 1", "[set(row) for row in Y]")
    clone(model).fit(X, [set(row) for row in labels])


@every_model
def test_labels_that_are_no_array(model):
    refused(model, X, ({"jazz": [0, 1]},), "dict", "an array")


@pytest.mark.parametrize("model", [CMLLClassifier(), POPClassifier(), C2AEClassifier(4, **TINY)])
def test_numbers_that_are_no_classes(model):
    refused(model, X, (X[:, 0],), "one class for each row", f"{X[0, 0]:g}", "numpy.digitize")


@every_model
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, pd.DataFrame])
def test_swapped_features_and_labels(model, container):
    refused(model, container(Y), (container(X),), "must be 0 or 1", "swapped pass X first")


@pytest.mark.parametrize("model", [CMLL(), POPClassifier()])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, pd.DataFrame])
def test_unknown_labels_have_a_home(model, container):
    partial = Y.astype(float)
    partial[3, 2] = np.nan
    refused(model, X, (container(partial),), "NaN", "fill", "CMLLClassifier")
    CMLLClassifier().fit(X, container(partial))


GAPS = {
    "None in a list": (["jazz", None] * 20, "None in row 1"),
    "NaN in a list": (["jazz", float("nan")] * 20, "nan in row 1"),
    "NaN in a tuple": (("jazz", float("nan")) * 20, "nan in row 1"),
    "array": (np.array(["jazz", "folk", None, "jazz"] * 10, dtype=object), "None in row 2"),
    "Series": (pd.Series(["jazz", "folk", np.nan, "jazz"] * 10, dtype=object), "nan in row 2"),
    "nullable": (pd.Series(["jazz", "folk", None] * 14, dtype="string")[:40], "in row 2"),
    "polars": (pl.Series(["jazz", "folk", None, "jazz"] * 10), "None in row 2"),
    "frame": (pd.DataFrame({"genre": ["jazz", "folk", None, "jazz"] * 10}), "in row 2"),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@every_model
@pytest.mark.parametrize(("classes", "where"), GAPS.values(), ids=GAPS.keys())
def test_a_missing_class_is_no_class(model, classes, where):
    """In a list of words, NumPy would turn it into the word "nan"."""
    refused(model, X, (classes,), "one class for each row", where, "drop the rows")


@every_model
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_labels_that_lie_on_their_side(model, container):
    refused(model, X, (container(Y.T),), "40 and 5", "pass Y.T")
    assert "Y.T" not in refused(model, X, (container(Y[:30]),), "40 and 30")


# --- masks ---------------------------------------------------------------------------------------


@every_model
def test_masked_features(model):
    masked = np.ma.masked_array(X, X > 1)
    n_masked = str(int((X > 1).sum()))
    refused(model, masked, (Y,), f"{n_masked} masked", "X.filled", "drop")
    clone(model).fit(masked.filled(0), Y)


@every_model
def test_masked_labels(model):
    hidden = np.zeros(Y.shape, dtype=bool)
    hidden[3, 2] = True
    masked = np.ma.masked_array(Y, hidden)
    refused(model, X, (masked,), "1 masked", "Y.filled", "CMLLClassifier", "filled(numpy.nan)")
    remedy = CMLLClassifier().fit(X, masked.astype(float).filled(np.nan))
    expected = CMLLClassifier().fit(X, Y, unknown=hidden)
    np.testing.assert_array_equal(remedy.decision_function(X), expected.decision_function(X))


def test_masked_truth():
    hidden = np.arange(len(Y))[:, None] < [3, 0, 0, 0, 0]
    masked = np.ma.masked_array(Y, hidden)
    for arguments in ((masked, X[:, :5]), (Y, np.ma.masked_array(X[:, :5], hidden))):
        with pytest.raises(ValueError, match=r"3 masked cells.*filled"):
            evaluate(*arguments)
    evaluate(masked.astype(float).filled(np.nan), X[:, :5])


def test_masked_rows_at_predict():
    model = CMLLClassifier().fit(X, Y)
    refused(model, np.ma.masked_array(X, X > 1), (), "masked", method="predict")


@every_model
def test_a_mask_that_hides_nothing_is_none(model):
    clone(model).fit(np.ma.masked_array(X, False), np.ma.masked_array(Y, False))


# --- parameters ----------------------------------------------------------------------------------

NO_REGRESSORS = {
    "classifier": LogisticRegression(),
    "forest": RandomForestClassifier(),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
    "search": GridSearchCV(LogisticRegression(), {"C": [1.0]}),
    "several": MultiOutputClassifier(LogisticRegression()),
}


@pytest.mark.parametrize("regressor", NO_REGRESSORS.values(), ids=NO_REGRESSORS.keys())
def test_a_classifier_is_no_regressor(regressor):
    model = CompactClassifier(regressor=regressor)
    refused(model, X, (Y,), "'regressor'", "classifier", "Ridge()")
    model = CompactClassifier().fit(X, Y).set_params(regressor=regressor)
    with Unchanged(model, X), pytest.raises(ValueError, match="regressor"):
        model.fit(X, Y)


def test_neither_is_a_clustering():
    refused(CompactClassifier(regressor=KMeans()), X, (Y,), "'regressor'", "must be a regressor")


class Plain:
    """A learner that says nothing about itself."""

    def fit(self, U, V):
        self.mean = V.mean(axis=0)
        return self

    def predict(self, U):
        return np.tile(self.mean, (len(U), 1))


@pytest.mark.parametrize(
    "regressor", [Ridge(), make_pipeline(StandardScaler(), Ridge()), GridSearchCV(Ridge(), {})]
)
def test_regressors_of_all_kinds_are(regressor):
    CompactClassifier(regressor=regressor).fit(X, Y)


def test_what_says_nothing_of_its_kind_may_be_one():
    assert Regressor().accepts(Plain())


# --- searches and tuners -------------------------------------------------------------------------


def test_grids_of_other_embeddings_are_grids():
    grid = {"embedding": [CMLL(), Original()], "embedding__random_state": [0]}
    with pytest.raises(
        ValueError, match="Invalid parameter 'random_state'"
    ):  # Original's, not ours
        GridSearchMoments(CompactClassifier(), grid, cv=2).fit(X, Y)
    one = {"embedding": [CMLL()], "embedding__n_label_components": [2, 3]}
    GridSearchMoments(CompactClassifier(), one, cv=2).fit(X, Y)


@pytest.mark.parametrize("cv", ["5", 1, 0, 41])
@pytest.mark.parametrize(
    "model", [ThresholdTuner(CMLLClassifier()), CMLLClassifierCV(alphas=[1.0])], ids=["tuner", "CV"]
)
def test_folds_that_are_none(model, cv):
    refused(clone(model).set_params(cv=cv), X, (Y,), "cv must be", repr(cv), "pass")


@pytest.mark.parametrize("strategy", ["f1", "top-k"])
@pytest.mark.parametrize("weights", [(), (np.ones(len(X)),)], ids=["plain", "weighted"])
def test_a_classifier_of_one_label_in_a_tuner(strategy, weights):
    model = ThresholdTuner(LogisticRegression(), strategy=strategy)
    remedy = "OneVsRestClassifier(LogisticRegression())"
    refused(model, X, (Y, *weights), "several labels", ", 5) instead", remedy)
    ThresholdTuner(OneVsRestClassifier(LogisticRegression()), strategy=strategy).fit(X, Y)


def test_other_refusals_within_a_tuner_keep_their_own_words():
    refused(ThresholdTuner(CMLLClassifier(alpha=-1.0)), X, (Y,), "alpha", "-1.0")
