"""Every kind of model that a file can hold, small, and the rows that it is asked about."""

import copy
import functools

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, Normalizer, OneHotEncoder, StandardScaler

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
    method,
    text_classifier,
)
from compactlearn.auto._blend import Blend, Member, Reading
from compactlearn.auto._forest import LabelForest
from compactlearn.compact._pruned import KeptFeatures, KeptWeights
from compactlearn.compact._quick_svm import QuickSVM
from compactlearn.metrics import scorer
from compactlearn.model_selection import GridSearchMoments, IterativeStratification
from tests.makers import maker

make_data = maker(70, 12, 6, mean=1, noise=3, share=0.7, dtype=int)
X, Y = make_data()
X_new, Y_new = make_data(25, seed=1)
SPARSE = sp.csr_array(np.where(X > 1, X, 0.0))
CLASSES = np.array(["a", "bcd", "ef"])
FRAME = pd.DataFrame(X, columns=[f"column {k}" for k in range(X.shape[1])])
NAMED = pd.DataFrame(Y, columns=["ä", "b", "c", "d", "e", "f"])
WORDS = np.array([f"word{letter}" for letter in "abcdefghijkl"])
TEXTS = [" ".join(WORDS[row > 1]) for row in X]
FIELDS = [{"title": text[:5], "body": text} for text in TEXTS]
TEXTS_NEW = [" ".join(WORDS[row > 1]) for row in X_new]


def _classes(count):
    return CLASSES[np.argmax(X[:, :count], axis=1)]


# name: the model, and what it is fitted to where that is not X and Y
MODELS = {
    "linear": (CMLLClassifier(),),
    "few features": (CMLLClassifier(2, 6),),
    "multiplied out": (CMLLClassifier(3, 3, completion="krylov"),),
    "logistic": (CMLLClassifier(decoder="logistic", threshold="per-label"),),
    "scaled": (CMLLClassifier(scale=True, alpha="auto"),),
    "thresholds": (CMLLClassifier(threshold=np.linspace(0.2, 0.8, 6)),),
    "CMLL": (CompactClassifier(CMLL(4, 3), decoder="logistic"),),
    "PLST": (CompactClassifier(PLST(3)),),
    "CPLST": (CompactClassifier(CPLST(2)),),
    "DMLR": (CompactClassifier(DMLR(2)),),
    "FaIE": (CompactClassifier(FaIE(2)),),
    "MDDM": (CompactClassifier(MDDM(3)),),
    "Original": (CompactClassifier(Original(), alpha=10.0),),
    "exact kernel": (CMLLClassifier(feature_map=KernelMap()),),
    "poly kernel": (CMLLClassifier(feature_map=KernelMap("poly")),),
    "cosine kernel, features kept": (
        CompactClassifier(Original(), feature_map=KernelMap("cosine")),
    ),
    "sparse kernel": (CMLLClassifier(feature_map=KernelMap()), SPARSE, Y),
    "nystroem": (
        CMLLClassifier(feature_map=KernelMap(algorithm="nystroem", n_components=9, random_state=0)),
    ),
    "foreign map": (CMLLClassifier(feature_map=StandardScaler()),),
    "foreign learner": (CompactClassifier(CMLL(None, 4), regressor=Ridge()),),
    "forest as learner": (CompactClassifier(regressor=RandomForestRegressor(3, random_state=0)),),
    "two classes": (CMLLClassifier(), X, _classes(2)),
    "three classes": (CMLLClassifier(decoder="logistic"), X, _classes(3)),
    "classes of objects": (CMLLClassifier(), X, _classes(3).astype(object)),
    "frames": (CMLLClassifier(), FRAME, NAMED),
    "method": (method("CMLL"),),
    "POP": (POPClassifier(random_state=0),),
    "POP of given": (POPClassifier(LogisticRegression(C=0.5), random_state=0), SPARSE, Y),
    "Shortlist": (ShortlistClassifier(random_state=0),),
    "Shortlist of few": (ShortlistClassifier(n_candidates=4, random_state=0), SPARSE, Y),
    "Shortlist of unknown labels": (
        ShortlistClassifier(random_state=0),
        X,
        np.where(np.random.default_rng(0).random(Y.shape) < 0.2, np.nan, Y),
    ),
    "Shortlist of two classes": (ShortlistClassifier(random_state=0), X, _classes(2)),
    "C2AE": (
        C2AEClassifier(4, feature_hidden=(8,), label_hidden=(6,), max_epochs=2, random_state=0),
    ),
    "C2AE, of two classes": (
        C2AEClassifier(2, feature_hidden=(4,), label_hidden=(), max_epochs=1, random_state=0),
        X,
        _classes(2),
    ),
    "ThresholdTuner": (ThresholdTuner(CMLLClassifier(), strategy="per-label", random_state=0),),
    "ThresholdTuner of others": (
        ThresholdTuner(OneVsRestClassifier(LogisticRegression()), strategy="top-k"),
    ),
    "CMLLClassifierCV": (CMLLClassifierCV(alphas=(1.0, 10.0), cv=2),),
    "GridSearchMoments": (
        GridSearchMoments(
            CMLLClassifier(),
            {"alpha": [1.0, 9.0], "decoder": ["linear", "logistic"]},
            cv=IterativeStratification(2, random_state=0),
            scoring=scorer("precision_at_k", k=2),
        ),
    ),
    "embedding": (CMLL(3, 3),),
    "scaler first": (make_pipeline(StandardScaler(), CMLLClassifier()),),
    "scalers first": (make_pipeline(MaxAbsScaler(), Normalizer(), CMLLClassifier()), SPARSE, Y),
    "texts": (make_pipeline(TfidfVectorizer(), CMLLClassifier()), TEXTS, NAMED),
    "fields": (
        text_classifier(CMLLClassifier(), fields={"title": 2, "body": 0.5}),
        FIELDS,
        NAMED,
    ),
    "counts": (
        make_pipeline(
            CountVectorizer(ngram_range=(1, 2), stop_words=["worda"], dtype=np.float32),
            TfidfTransformer(sublinear_tf=True),
            ShortlistClassifier(random_state=0),
        ),
        TEXTS,
        Y,
    ),
    "columns": (
        make_pipeline(
            ColumnTransformer(
                [
                    ("names", OneHotEncoder(handle_unknown="ignore", drop="first"), [0, 1]),
                    ("rare", OneHotEncoder(handle_unknown="ignore", min_frequency=9), [2]),
                    ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), slice(3, 9)),
                    ("gone", "drop", [9]),
                ],
                remainder="passthrough",
            ),
            CMLLClassifier(),
        ),
        np.round(X),
        Y,
    ),
    "Auto": (AutoCompactClassifier(random_state=0),),
    "small Auto": (AutoCompactClassifier(size_budget="1 kB", random_state=0),),
    "Auto with trees": (AutoCompactClassifier(random_state=0),),
    "Auto of few features and weights": (AutoCompactClassifier(size_budget="1 kB"),),
}
SLOW = {"Auto", "Auto with trees"}


@functools.cache
def fitted(name):
    if name == "Auto with trees":
        return _with(fitted("Auto"), _trees())
    if name == "Auto of few features and weights":
        return _with(fitted("small Auto"), _pruned())
    model, *data = MODELS[name]
    return copy.deepcopy(model).fit(*(data or (X, Y)))


def _trees():
    """Both kinds."""
    for best_splits in (False, True):
        forest = LabelForest(4, best_splits=best_splits, random_state=0)
        forest.fit_scored(X, sp.csr_array(Y), None)
        yield forest


def _pruned():
    """All kinds, and one of them after a step."""
    inner = CompactClassifier(CPLST(2), decoder="logistic", threshold=0.5)
    few_features = make_pipeline(Normalizer(), KeptFeatures(inner, 5))
    few_weights = KeptWeights(20, scale=True)
    for model in (few_features, few_weights, QuickSVM(20)):
        yield model.fit(X, sp.csr_array(Y))


def _with(auto, models):
    """The same with these in its blend, whatever it has chosen."""
    members = list(auto.blend_.members)
    members += [Member("other", model, Reading(0.5, -0.1), 0.3) for model in models]
    changed = copy.deepcopy(auto)
    changed.blend_ = Blend(tuple(members), 0.2)
    changed.best_estimator_ = [member.model for member in members]
    return changed


def new_rows(name):
    """Rows for `predict`, in the form that the model had in `fit`."""
    given = MODELS[name][1] if len(MODELS[name]) > 1 else X
    if name == "fields":
        return [{"title": text[:5], "body": text} for text in TEXTS_NEW]
    if isinstance(given, list):
        return TEXTS_NEW
    if isinstance(given, pd.DataFrame):
        return pd.DataFrame(X_new, columns=FRAME.columns)
    if name == "columns":
        return np.round(X_new)
    return sp.csr_array(np.where(X_new > 1, X_new, 0.0)) if sp.issparse(given) else X_new


def training_data(name):
    return MODELS[name][1:] or (X, Y)
