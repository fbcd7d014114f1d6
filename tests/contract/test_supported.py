"""One row for each supported estimator: what README promises of all of them, in little time."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from compactlearn import (
    CPLST,
    DMLR,
    MDDM,
    PLST,
    AutoCompactClassifier,
    CMLLClassifier,
    CMLLClassifierCV,
    CompactClassifier,
    FaIE,
    KernelMap,
    Original,
    ShortlistClassifier,
    ThresholdTuner,
    load_model,
)
from tests.contract.state import Unchanged
from tests.makers import as_dense, make_data

X, Y = make_data(60, 9, 5)
X_new, _ = make_data(15, 9, 5, seed=1)
NAMES = np.array(["ant", "bee", "cat", "dog", "eel"])
TAGS = [list(NAMES[row == 1]) for row in Y]

SUPPORTED = {
    "CMLLClassifier": CMLLClassifier(),
    "logistic decoder": CMLLClassifier(decoder="logistic"),
    "kernel": CompactClassifier(feature_map=KernelMap()),
    "PLST": CompactClassifier(PLST()),
    "CPLST": CompactClassifier(CPLST()),
    "DMLR": CompactClassifier(DMLR()),
    "FaIE": CompactClassifier(FaIE()),
    "MDDM": CompactClassifier(MDDM()),
    "Original": CompactClassifier(Original()),
    "CMLLClassifierCV": CMLLClassifierCV(alphas=[1.0], cv=2, random_state=0),
    "ThresholdTuner": ThresholdTuner(CMLLClassifier(), cv=2),
    "ShortlistClassifier": ShortlistClassifier(random_state=0),
    "AutoCompactClassifier": AutoCompactClassifier(time_budget=0.01),
}


@pytest.fixture(scope="module", params=SUPPORTED)
def fitted(request):
    """The fitted estimator of a row."""
    return clone(SUPPORTED[request.param]).fit(X, TAGS)


def scores(model, rows=X_new):
    """Return the scores of rows, dense ones also of a shortlist."""
    return as_dense(model.decision_function(rows))


def test_parameters_are_stored_untouched(fitted):
    for name, value in fitted.get_params(deep=False).items():
        again = clone(fitted).get_params(deep=False)[name]
        assert again is value or repr(again) == repr(value)


def test_names_of_labels_come_back(fitted):
    assert list(fitted.classes_) == list(NAMES)
    predicted = fitted.predict(X_new)
    by_name = fitted.predict_labels(X_new)
    assert [len(row) for row in by_name] == list(predicted.sum(axis=1))


def test_the_same_fit_gives_the_same_scores(fitted):
    np.testing.assert_array_equal(scores(clone(fitted).fit(X, Y)), scores(fitted))


def test_sparse_rows_have_the_scores_of_dense_ones(fitted):
    np.testing.assert_allclose(scores(fitted, sp.csr_array(X_new)), scores(fitted), atol=1e-5)


def test_pickles_and_model_files_keep_every_score(fitted, tmp_path):
    fitted.save(tmp_path / "a.model")
    for other in (pickle.loads(pickle.dumps(fitted)), load_model(tmp_path / "a.model")):
        np.testing.assert_array_equal(scores(other), scores(fitted))


def test_terms_of_an_explanation_add_up_to_the_score(fitted):
    found = fitted.explain(X_new[:1], labels=list(NAMES), k=None)
    given = [reason.score for reason in found]
    np.testing.assert_allclose(given, scores(fitted, X_new[:1])[0], atol=1e-8)
    for reason in found:
        total = reason.base + reason.rest + sum(term.contribution for term in reason.terms)
        assert total == pytest.approx(reason.score, abs=1e-8)


@pytest.mark.parametrize("bad", [np.full_like(X, np.nan), X[:-1], X[:, :0]])
def test_refused_data_change_nothing(fitted, bad):
    with Unchanged(fitted, X_new), pytest.raises(ValueError):  # noqa: PT011
        fitted.fit(bad, Y)


def test_unfitted_estimators_raise(fitted):
    with pytest.raises(NotFittedError):
        clone(fitted).predict(X_new)
