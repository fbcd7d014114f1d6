"""Answers of a fitted model do not change when its parameters are set afterwards."""

import copy

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import compactlearn
from compactlearn import (
    CMLL,
    CPLST,
    DMLR,
    MDDM,
    PLST,
    AutoCompactClassifier,
    C2AEClassifier,
    CMLLClassifier,
    CMLLClassifierCV,
    CompactClassifier,
    FaIE,
    KernelMap,
    Original,
    POPClassifier,
    ShortlistClassifier,
    ThresholdTuner,
    related,
)
from compactlearn.core._params import Choice, Flag, Integer, Nothing, Numbers, Real
from compactlearn.embeddings._base import Embedding
from compactlearn.model_selection import GridSearchMoments
from compactlearn.related import (
    LEML,
    SLRM,
    BooleanClassifier,
    CompressedSensingClassifier,
    DeepCMLLClassifier,
    ManiacClassifier,
    OutputCodesClassifier,
    ProjectionForestClassifier,
    SLEECClassifier,
    TopicClassifier,
)
from tests.contract.every_classifier import public
from tests.makers import as_dense, make_data

ANSWERS = ("predict", "decision_function", "predict_proba", "transform", "predict_codes", "rows")
X, Y = make_data()
VECTOR = np.array(["a", "b", "c"])[np.arange(len(X)) % 3]
PAIR = np.array(["no", "yes"])[np.arange(len(X)) % 2]
TINY = {"feature_hidden": (4,), "label_hidden": (4,), "max_epochs": 2, "random_state": 0}

FITTED = {
    "linear": (CMLLClassifier(n_label_components=3), Y),
    "logistic": (CMLLClassifier(decoder="logistic", threshold="f1"), Y),
    "logistic, classes": (CMLLClassifier(decoder="logistic"), VECTOR),
    "logistic, two classes": (CMLLClassifier(decoder="logistic", threshold=0.3), PAIR),
    "classes": (CMLLClassifier(scale=True), VECTOR),
    "two classes": (CMLLClassifier(threshold=0.3), PAIR),
    "scaled": (CMLLClassifier(scale=True, threshold="per-label"), Y),
    "kernel": (CompactClassifier(CMLL(), feature_map=KernelMap(gamma=0.1)), Y),
    "mapped": (CompactClassifier(PLST(), feature_map=StandardScaler()), Y),
    "regressor": (CompactClassifier(CMLL(), regressor=Ridge(2.0)), Y),
    "POP": (POPClassifier(random_state=0), Y),
    "Shortlist": (ShortlistClassifier(random_state=0), Y),
    "Auto": (AutoCompactClassifier(time_budget=0.01), Y),
    "Auto, two classes": (AutoCompactClassifier(time_budget=0.01), PAIR),
    "POP, margins": (POPClassifier(LinearSVC(), random_state=0), Y),
    "POP, two classes": (POPClassifier(threshold=0.3, random_state=0), PAIR),
    "C2AE": (C2AEClassifier(4, **TINY), Y),
    "C2AE, two classes": (C2AEClassifier(4, threshold=0.3, **TINY), PAIR),
    "tuner": (ThresholdTuner(KNeighborsClassifier(5), cv=2, random_state=0), Y),
    "tuner, both": (ThresholdTuner(OneVsRestClassifier(LogisticRegression()), cv=2), Y),
    "tuner, cardinality": (ThresholdTuner(RidgeClassifier(), strategy="cardinality"), Y),
    "tuner, best": (ThresholdTuner(KNeighborsClassifier(5), strategy="top-k"), Y),
    "grid": (GridSearchMoments(CMLLClassifier(), {"alpha": [1.0, 9.0]}, cv=2), Y),
    "CV": (CMLLClassifierCV(alphas=[1.0], cv=2, decoders=("logistic",)), Y),
    "CMLL": (CMLL(), Y),
    "FaIE": (FaIE(), Y),
    "DMLR": (DMLR(), Y),
    "CPLST": (CPLST(), Y),
    "MDDM": (MDDM(), Y),
    "PLST": (PLST(), Y),
    "Original": (Original(), Y),
    "KernelMap": (KernelMap(gamma=0.1), None),
    "Nystroem": (KernelMap(algorithm="nystroem", n_components=5, random_state=0), None),
    "SLEEC": (SLEECClassifier(n_similar=20, n_clusters=2, n_learners=2, random_state=0), Y),
    "MANIAC": (ManiacClassifier(n_levels=1, max_epochs=3, random_state=0), Y),
    "DeepCMLL": (DeepCMLLClassifier(**TINY), Y),
    "BMLPL": (TopicClassifier(max_iter=5, random_state=0), Y),
    "MLC-CCA": (OutputCodesClassifier(), Y),
    "LEML": (LEML(), Y),
    "LEML, logistic": (LEML(max_iter=3), Y),
    "SLRM": (SLRM(), Y),
    "Boolean": (BooleanClassifier(), Y),
    "CS": (CompressedSensingClassifier(random_state=0), Y),
    "forest": (ProjectionForestClassifier(5, random_state=0), Y),
} | {
    name: (getattr(related, name)(), Y)
    for name in sorted(related.__all__)
    if issubclass(getattr(related, name), Embedding)
}

OTHERS = {
    "embedding": [None, Original(), CMLL(n_label_components=1)],
    "feature_map": [None, StandardScaler(), KernelMap()],
    "regressor": [None, Ridge(100.0)],
    "estimator": [None, LinearSVC(), LogisticRegression(), KNeighborsClassifier(1)],
    "param_grid": [{"alpha": [3.0]}],
    "cv": [3],
    "threshold": [0.01, 0.99, -5.0, np.full(5, 0.9)],
}


def other_values(model, name):
    """Values of every kind that the parameter may take, by its constraints, and some by hand."""
    values = list(OTHERS.get(name.rpartition("__")[2], ()))
    for constraint in getattr(model, "_constraints", {}).get(name, ()):
        if isinstance(constraint, Choice):
            values += constraint.options
        elif isinstance(constraint, Flag):
            values += [True, False]
        elif isinstance(constraint, Nothing):
            values.append(None)
        elif isinstance(constraint, Integer | Real):
            values += [v for v in (1, 3, 0.01, 0.7) if constraint.accepts(v)]
        elif isinstance(constraint, Numbers):
            values.append(np.full(5, 0.01))
    if name.endswith("estimator") and not isinstance(model, POPClassifier):
        values = values[1:]  # a tuner or a search cannot do without
    return values or [object()]  # whoever looks at it is found out


def answers(model):
    """Whatever the model offers and says."""
    found = {name: as_dense(getattr(model, name)(X)) for name in ANSWERS if hasattr(model, name)}
    scores = found.get("decision_function", X)
    if hasattr(model, "predict_topk") and scores.ndim == 2:
        found["predict_topk"] = np.hstack(model.predict_topk(X, 2))
    if hasattr(model, "get_feature_names_out"):
        found["names"] = model.get_feature_names_out()
    return found


def test_no_estimator_is_left_out():
    """Every estimator that the package and compactlearn.related export is tested."""
    assert set(public(compactlearn, related)) <= {type(model) for model, _ in FITTED.values()}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("case", FITTED)
def test_predictions_are_those_of_the_fit(case):
    model, labels = copy.deepcopy(FITTED[case])
    model.fit(X, labels)
    before = answers(model)
    assert before
    for name, own in model.get_params(deep=True).items():
        for value in other_values(model, name):
            after = answers(model.set_params(**{name: value}))
            assert after.keys() == before.keys(), f"{name}={value!r}"
            for answer in before:
                np.testing.assert_array_equal(
                    after[answer], before[answer], err_msg=f"{answer} after {name}={value!r}"
                )
        model.set_params(**{name: own})


def test_before_the_fit_the_parameters_decide():
    assert hasattr(CMLLClassifier(decoder="logistic"), "predict_proba")
    assert not hasattr(CMLLClassifier(), "predict_proba")


def test_a_new_fit_follows_the_new_parameters():
    model = CMLLClassifier().fit(X, Y).set_params(decoder="logistic").fit(X, Y)
    assert ((model.predict_proba(X) > 0) & (model.predict_proba(X) < 1)).all()
    assert not hasattr(model.set_params(decoder="linear").fit(X, Y), "predict_proba")
