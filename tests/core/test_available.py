"""A method that is not there says why in the message itself, and is not there for hasattr."""

import inspect
import pickle

import numpy as np
import pytest
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.svm import LinearSVC

from compactlearn import (
    CMLLClassifier,
    CMLLClassifierCV,
    CompactClassifier,
    POPClassifier,
    ThresholdTuner,
)
from compactlearn.core._available import available_if
from compactlearn.model_selection import GridSearchMoments

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 5))
Y = (X @ rng.normal(size=(5, 4)) > 0).astype(int)

MISSING = {
    "linear": (CMLLClassifier(), "predict_proba", "decoder='logistic'"),
    "logistic": (CMLLClassifier(decoder="logistic"), "partial_fit", "decoder='linear'"),
    "foreign": (CompactClassifier(regressor=Ridge()), "fit_moments", "got regressor=Ridge()"),
    "tuned": (CMLLClassifier(threshold="f1"), "partial_fit", "use fit"),
    "margins": (POPClassifier(LinearSVC()), "predict_proba", "use decision_function"),
    "tuner": (ThresholdTuner(CMLLClassifier()), "predict_proba", "decoder='logistic'"),
    "tuner of ridges": (ThresholdTuner(RidgeClassifier()), "predict_proba", "RidgeClassifier"),
    "grid": (GridSearchMoments(CMLLClassifier(), {"alpha": [1.0]}), "predict_proba", "fit with"),
    "CV": (CMLLClassifierCV(alphas=[1.0]), "predict_proba", "decoders=('logistic',)"),
}


@pytest.mark.parametrize(("model", "name", "remedy"), MISSING.values(), ids=MISSING.keys())
@pytest.mark.parametrize("fitted", [False, True])
def test_the_last_line_has_the_reason(model, name, remedy, fitted):
    if fitted:
        model.fit(X, Y)
    assert not hasattr(model, name)
    assert getattr(model, name, None) is None
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'") as caught:
        getattr(model, name)
    text = str(caught.value)
    assert remedy in text
    assert "\n" not in text
    assert text.count("has no attribute") == 1
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
        getattr(type(model), name)(model, X)


def test_an_available_method_is_a_method():
    model = CMLLClassifier(decoder="logistic").fit(X, Y)
    np.testing.assert_array_equal(CMLLClassifier.predict_proba(model, X), model.predict_proba(X))
    assert model.predict_proba.__doc__ == CMLLClassifier.predict_proba.__doc__
    assert list(inspect.signature(CMLLClassifier.predict_proba).parameters) == ["self", "X"]
    assert list(inspect.signature(model.predict_proba).parameters) == ["X"]
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_other_errors_of_a_check_are_not_swallowed():
    class Broken:
        @available_if(lambda self: 1 / 0)
        def method(self):
            return None

    with pytest.raises(ZeroDivisionError):
        _ = Broken().method
