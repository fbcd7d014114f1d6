"""A fit on a device is the fit of NumPy arrays, and what it answers stays there."""

import numpy as np
import pytest
import scipy.sparse
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_array_api_input_and_values

from compactlearn import (
    CMLL,
    CPLST,
    DMLR,
    MDDM,
    PLST,
    CMLLClassifier,
    CompactClassifier,
    FaIE,
    KernelMap,
    Original,
    ThresholdTuner,
    evaluate,
    predict_topk,
)
from compactlearn.compact import PaperClassifier
from compactlearn.core._devices import host
from tests.devices.places import PLACES, difference
from tests.makers import make_data, modest

pytestmark = pytest.mark.usefixtures("switched_on")

X, Y = make_data(n=60)
X[40:50], Y[40:50] = X[:10], Y[:10]  # equal rows are held out together
WEIGHTS = np.where(np.arange(60) % 7 == 0, 0.0, 1.0 + np.arange(60) % 3)
CLOSE = 1e-10

EMBEDDINGS = [CMLL(), Original(), PLST(), CPLST(), DMLR(), FaIE(), MDDM()]
CLASSIFIERS = [
    *(CompactClassifier(embedding) for embedding in EMBEDDINGS),
    *(CMLLClassifier(solver=name) for name in ("moments", "dual", "krylov", "randomized")),
    CMLLClassifier(n_feature_components=2, n_label_components=3),
    CMLLClassifier(n_feature_components=2, n_label_components=4, completion="krylov"),
    CMLLClassifier(scale=True, alpha=0.0),
    PaperClassifier(),
    CMLLClassifier(decoder="logistic", threshold="per-label"),
    CompactClassifier(Original(), decoder="logistic", threshold="cardinality"),
    *(
        CompactClassifier(CMLL(), feature_map=KernelMap(kernel))
        for kernel in ("rbf", "linear", "poly", "cosine")
    ),
    CompactClassifier(CMLL(), feature_map=KernelMap(algorithm="nystroem", n_components=20)),
    CompactClassifier(CMLL(), feature_map=KernelMap(), scale=True),
]


@pytest.mark.parametrize(
    "classifier", CLASSIFIERS, ids=[str(c).split(" at ")[0] for c in CLASSIFIERS]
)
def test_classifiers_agree_with_numpy(classifier, place):
    weights = WEIGHTS if place.name == "torch" else None
    here = clone(classifier).set_params(random_state=0).fit(X, Y, weights)
    there = clone(classifier).set_params(random_state=0)
    there.fit(place.make(X), place.make(Y), None if weights is None else place.make(weights))
    new = X[::2] + 0.25
    rows = place.make(new)
    for name in ("decision_function", "predict_codes", "predict_proba"):
        if hasattr(here, name):
            found = getattr(there, name)(rows)
            assert place.has(found)
            assert difference(found, getattr(here, name)(new)) < CLOSE
    found = there.transform(rows)
    assert place.has(found)
    # Directions have signs of their own, and those of a kernel lose digits to the longest.
    assert difference(np.abs(host(found)), np.abs(here.transform(new))) < 1e-7
    assert difference(there.threshold_, here.threshold_) < CLOSE
    labels = there.predict(rows)
    assert place.has(labels)
    np.testing.assert_array_equal(host(labels), here.predict(new))
    for found, expected in zip(there.predict_topk(rows, 3), here.predict_topk(new, 3), strict=True):
        assert place.has(found)
        assert difference(found, expected) < CLOSE
    if hasattr(here, "coef_"):
        assert place.has(there.coef_)
        assert place.has(there.intercept_)
        assert difference(there.coef_, here.coef_) < CLOSE


@pytest.mark.parametrize("embedding", EMBEDDINGS, ids=str)
def test_embeddings_agree_with_numpy(embedding, place):
    here, there = clone(embedding).fit(X, Y), clone(embedding).fit(place.make(X), place.make(Y))
    found = there.transform(place.make(X))
    assert place.has(found)
    assert difference(found, here.transform(X)) < CLOSE
    codes = here.codes_.toarray() if scipy.sparse.issparse(here.codes_) else here.codes_
    assert difference(there.decode(place.make(codes)), here.decode(codes)) < CLOSE


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
@modest
@given(
    n=st.integers(2, 40),
    n_features=st.integers(1, 12),
    n_labels=st.integers(2, 6),
    constant=st.booleans(),
    kernel=st.booleans(),
    seed=st.integers(0, 99),
)
def test_any_shape(place, n, n_features, n_labels, constant, kernel, seed):
    rows, labels = make_data(n, n_features, n_labels, seed)
    if constant:
        rows[:, 0], labels[:, 0] = 3.0, 1
    classifier = CompactClassifier(CMLL(), feature_map=KernelMap() if kernel else None)
    here = clone(classifier).fit(rows, labels)
    there = classifier.fit(place.make(rows), place.make(labels))
    found = there.decision_function(place.make(rows))
    assert difference(found, here.decision_function(rows)) < 1e-7
    assert there.embedding_.n_label_components_ == here.embedding_.n_label_components_


@pytest.mark.parametrize("alpha", [1.0, 1e-8, 0.0])
@pytest.mark.parametrize("n_features", [7, 70])
@pytest.mark.parametrize("embedding", [CMLL(), CMLL(solver="dual"), Original(), CPLST()], ids=str)
def test_columns_in_very_different_units(embedding, n_features, alpha, place):
    """Pivoting is done on the host, and agrees to the same digits."""
    rows, labels = make_data(40, n_features)
    rows = rows * 10.0 ** (np.arange(n_features) % 11 - 5)
    classifier = CompactClassifier(embedding, alpha=alpha)
    expected = clone(classifier).fit(rows, labels).decision_function(rows)
    there = classifier.fit(place.make(rows), place.make(labels))
    found = there.decision_function(place.make(rows))
    assert place.has(found)
    assert difference(found, expected) < 1e-8


@pytest.mark.parametrize(
    "estimator", [CMLLClassifier(), CompactClassifier(CPLST()), KernelMap()], ids=str
)
@pytest.mark.parametrize("library", ["torch", "array_api_strict"])
def test_what_scikit_learn_asks_of_such_estimators(estimator, library):
    device = "device1" if library == "array_api_strict" else None
    check_array_api_input_and_values(type(estimator).__name__, estimator, library, device)


# ---- forms of input ---------------------------------------------------------------------------


def scores_of(rows, labels, **given):
    return CMLLClassifier(**given).fit(rows, labels).decision_function(rows)


@pytest.mark.parametrize(
    "change",
    [
        lambda a: a.T.contiguous().T,
        lambda a: a.clone().requires_grad_(),
        lambda a: torch.cat([a, a])[::2].reshape(-1, 2, a.shape[1]).transpose(0, 1).flatten(0, 1),
    ],
    ids=["transposed", "requires_grad", "strided"],
)
def test_tensors_of_any_layout(change):
    rows = change(torch.asarray(X))
    found = scores_of(rows, torch.asarray(Y))
    assert not found.requires_grad
    assert difference(found, scores_of(rows.detach().numpy().copy(), Y)) < CLOSE


def test_x_decides_the_place_and_the_others_follow(place):
    expected = scores_of(X, Y)
    rows = place.make(X)
    names = [{f"l{j}" for j in np.flatnonzero(row)} for row in Y]
    others = [Y, scipy.sparse.csr_array(Y), torch.asarray(Y), torch.asarray(Y).to_sparse(), names]
    others += [torch.asarray(Y).to_sparse_csr(), place.make(Y.astype(bool))]
    for labels in others:
        found = scores_of(rows, labels)
        assert place.has(found)
        assert difference(found, expected) < CLOSE
    assert isinstance(scores_of(X, place.make(Y)), np.ndarray)


def test_vectors_of_classes(place):
    rows = place.make(X)
    for y in (Y[:, 0], Y[:, :3].sum(axis=1)):
        labels = CMLLClassifier().fit(rows, place.make(y)).predict(rows)
        assert place.has(labels)
        np.testing.assert_array_equal(host(labels), CMLLClassifier().fit(X, y).predict(X))
    words = np.array(["no", "yes"])[Y[:, 0].astype(int)]
    assert set(CMLLClassifier().fit(rows, words).predict(rows)) == {"no", "yes"}


def test_groups_and_partial_fits(place):
    rows, labels = place.make(X), place.make(Y)
    groups = np.arange(60) // 4
    here = CMLLClassifier().fit(X, Y, groups=groups)
    there = CMLLClassifier().fit(rows, labels, groups=place.make(groups))
    assert difference(there.threshold_, here.threshold_) < CLOSE
    here, there = CMLLClassifier(), CMLLClassifier()
    for part in (slice(0, 25), slice(25, 60)):
        here.partial_fit(X[part], Y[part])
        there.partial_fit(rows[part, :], labels[part, :])
    assert difference(there.decision_function(rows), here.decision_function(X)) < CLOSE


def test_tools_around_a_classifier(place):
    """Pipelines keep the rows where they are; metrics are numbers of the host."""
    rows, labels = place.make(X), place.make(Y.astype(int))
    # A scaler rounds otherwise there, and thresholds are tuned on folds by the rows' last digits.
    asked = make_pipeline(StandardScaler(), CMLLClassifier(threshold=0.5))
    here, there = clone(asked).fit(X, Y), clone(asked).fit(rows, labels)
    assert place.has(there.predict(rows))
    expected = evaluate(here, X, Y)
    assert evaluate(there, rows, labels) == pytest.approx(expected, abs=CLOSE)
    assert there[-1].evaluate(there[0].transform(rows), labels) == pytest.approx(expected)
    np.testing.assert_array_equal(
        host(predict_topk(there, rows, 2)[0]), predict_topk(here, X, 2)[0]
    )
    np.testing.assert_allclose(
        cross_val_score(CMLLClassifier(), rows, labels, cv=3),
        cross_val_score(CMLLClassifier(), X, Y, cv=3),
        rtol=1e-6,
    )
    tuned = ThresholdTuner(CMLLClassifier(threshold=0.5), random_state=0)
    np.testing.assert_array_equal(
        clone(tuned).fit(rows, labels).predict(rows), clone(tuned).fit(X, Y).predict(X)
    )
