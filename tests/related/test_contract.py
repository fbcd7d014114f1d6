"""Promises of every related method, and the errors raised for what it does not support."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import compactlearn.related
from compactlearn import CompactClassifier, explain, load_model, method, to_onnx
from compactlearn.related import (
    CCA,
    CSSP,
    LEML,
    LPP,
    MIFS,
    MLSI,
    NPE,
    OPLS,
    PCA,
    SLRM,
    BooleanClassifier,
    C2AEClassifier,
    CompressedSensingClassifier,
    DeepCMLLClassifier,
    GroPLE,
    KernelLabelSpace,
    ManiacClassifier,
    OutputCodesClassifier,
    POPClassifier,
    ProjectionForestClassifier,
    Rembrandt,
    SLEECClassifier,
    TopicClassifier,
)
from tests.contract.state import Unchanged
from tests.devices.places import PLACES
from tests.makers import labelled
from tests.sklearn_checks import checks_that_run, run_check


class Canonical(CCA):
    """scikit-learn hands its own targets, which are no labels, to every class of the name CCA."""


EMBEDDINGS = {
    "CSSP": CSSP(),
    "Rembrandt": Rembrandt(random_state=0),
    "GroPLE": GroPLE(tol=1e-3),
    "KLST": KernelLabelSpace(),
    "CCA": CCA(),
    "OPLS": OPLS(),
    "MLSI": MLSI(),
    "PCA": PCA(),
    "LPP": LPP(),
    "NPE": NPE(),
    "MIFS": MIFS(max_iter=5),
}
NETWORKS = {"device": "cpu", "random_state": 0}
CLASSIFIERS = {
    "LEML": LEML(random_state=0),
    "SLRM": SLRM(),
    "MLC-BMaD": BooleanClassifier(),
    "CS": CompressedSensingClassifier(random_state=0),
    "CCA-OC": OutputCodesClassifier(),
    "Projection forest": ProjectionForestClassifier(10, random_state=0),
    "BMLPL": TopicClassifier(max_iter=20, random_state=0),
    "SLEEC": SLEECClassifier(n_similar=20, n_neighbors=5, n_clusters=2, random_state=0),
    "MANIAC": ManiacClassifier(n_levels=1, max_epochs=15, learning_rate=5e-3, **NETWORKS),
    "DeepCMLL": DeepCMLLClassifier(
        feature_hidden=(8,), label_hidden=(4,), max_epochs=3, **NETWORKS
    ),
    "C2AE": C2AEClassifier(
        8,
        feature_hidden=(32,),
        label_hidden=(16,),
        batch_size=32,
        max_epochs=30,
        learning_rate=1e-3,
        **NETWORKS,
    ),
    "POP": POPClassifier(min_kept=3, random_state=0),
}
TAKE_UNKNOWN_LABELS = ("LEML", "SLRM")

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
every_embedding = pytest.mark.parametrize("name", EMBEDDINGS)
every_classifier = pytest.mark.parametrize("name", CLASSIFIERS)
CHECKED = [*EMBEDDINGS.values(), *CLASSIFIERS.values()]


def test_none_is_left_out():
    public = {getattr(compactlearn.related, name) for name in compactlearn.related.__all__}
    assert public == {type(one) for one in CHECKED}


@parametrize_with_checks([Canonical() if type(one) is CCA else one for one in CHECKED])
def test_scikit_learns_checks(estimator, check):
    run_check(check, estimator)


@pytest.mark.parametrize("estimator", CHECKED, ids=repr)
def test_the_checks_are_many(estimator):
    assert len(checks_that_run(estimator)) >= (50 if is_classifier(estimator) else 35)
    tags = get_tags(estimator)
    assert tags.input_tags.sparse
    assert tags.target_tags.required
    assert not tags.no_validation
    assert tags.classifier_tags is None or tags.classifier_tags.multi_label


@pytest.mark.parametrize("name", [*EMBEDDINGS, *CLASSIFIERS])
def test_it_is_made_by_its_name(name):
    made, own = method(name), (EMBEDDINGS | CLASSIFIERS)[name]
    assert type(made.embedding if name in EMBEDDINGS else made) is type(own)


# ---- fit, predict, files ------------------------------------------------------------------------


@every_classifier
@pytest.mark.parametrize("kind", ["matrix", "two classes", "three classes"])
def test_classifiers_are_stored(name, kind, tmp_path):
    X, Y = labelled(40, 6, 5, 0)
    y = {"matrix": Y, "two classes": Y[:, 0], "three classes": Y[:, :2].sum(axis=1)}[kind]
    model = clone(CLASSIFIERS[name]).fit(X, y)
    model.save(tmp_path / "one.model")
    loaded = load_model(tmp_path / "one.model")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    if hasattr(model, "predict_proba"):
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
        sums = model.predict_proba(X).sum(axis=1)
        assert kind == "matrix" or np.allclose(sums, 1.0)


@every_embedding
def test_embeddings_are_stored(name, tmp_path):
    X, Y = labelled(40, 6, 5, 0)
    model = CompactClassifier(clone(EMBEDDINGS[name])).fit(X, Y)
    model.save(tmp_path / "one.model")
    loaded = load_model(tmp_path / "one.model")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


@every_classifier
def test_sparse_rows_are_dense_rows(name):
    X, Y = labelled(40, 6, 5, 0, density=0.5)
    model = clone(CLASSIFIERS[name])
    if name == "Projection forest":
        model.set_params(max_depth=2)  # deep trees part equal rows by rounding
    here, there = clone(model).fit(X, Y), model.fit(sp.csr_array(X), sp.csr_matrix(Y))
    found = there.decision_function(sp.csr_array(X))
    np.testing.assert_allclose(found, here.decision_function(X), atol=1e-5)


@every_classifier
def test_names_in_names_out(name):
    X, Y = labelled(40, 6, 3, 0)
    names = np.array(["blues", "jazz", "soul"])
    model = clone(CLASSIFIERS[name]).fit(X, [list(names[row > 0]) for row in Y])
    assert model.label_names_ == list(names)
    scores = model.decision_function(X)
    best = model.predict_topk(X, 1, names=True)[0][:, 0]
    np.testing.assert_array_equal(best, names[scores.argmax(axis=1)])
    for row, pairs in zip(model.predict(X), model.predict_labels(X), strict=True):
        assert {label for label, _ in pairs} == set(names[row > 0])


# ---- where it stops -----------------------------------------------------------------------------


@every_classifier
def test_the_products_capabilities_are_refused(name):
    X, Y = labelled(40, 6, 5, 0)
    model = clone(CLASSIFIERS[name]).fit(X, Y)
    assert not {"explain", "label_neighbours", "to_onnx", "compress"} & set(dir(model))
    with pytest.raises(ValueError, match="to_onnx writes"):
        to_onnx(model)
    if name != "POP":  # which is linear, and explained as any linear model
        with pytest.raises((ValueError, TypeError)):
            explain(model, X)


@pytest.mark.parametrize("name", [*EMBEDDINGS, *CLASSIFIERS])
def test_device_arrays_are_refused(name, monkeypatch):
    X, Y = labelled(40, 6, 5, 0)
    place = next(place for place in PLACES if place.name == "torch")
    model = clone((EMBEDDINGS | CLASSIFIERS)[name])
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    with config_context(array_api_dispatch=True):
        for own in (model, CompactClassifier(model)) if name in EMBEDDINGS else (model,):
            assert not get_tags(own).array_api_support
            own.fit(X, Y)
            with Unchanged(own, X), pytest.raises(ValueError, match=r"works \w+ NumPy arrays"):
                own.fit(place.make(X[:20]), place.make(Y[:20]))


@pytest.mark.parametrize("name", [name for name in CLASSIFIERS if name not in TAKE_UNKNOWN_LABELS])
def test_unknown_labels_are_refused(name):
    X, Y = labelled(40, 6, 5, 0)
    with pytest.raises(ValueError, match="unknown label; fill the unknown labels, drop their rows"):
        clone(CLASSIFIERS[name]).fit(X, np.where(np.eye(40, 5), np.nan, Y))


@every_classifier
def test_a_refused_fit_leaves_the_model_as_it_was(name):
    X, Y = labelled(40, 6, 5, 0)
    model = clone(CLASSIFIERS[name]).fit(X, Y)
    scores = model.decision_function(X)
    model.set_params(threshold=[0.5, 0.5])
    with pytest.raises((ValueError, TypeError), match="threshold"):
        model.fit(X[:20], Y[:20])
    np.testing.assert_array_equal(model.decision_function(X), scores)


@pytest.mark.parametrize("name", ["LPP", "NPE", "MIFS", "KLST"])
def test_methods_of_all_rows_refuse_sums(name):
    X, Y = labelled(40, 6, 5, 0)
    model = CompactClassifier(clone(EMBEDDINGS[name]), threshold=0.5)
    for fit in (lambda: model.partial_fit(X, Y), lambda: model.fit_blocks([(X, Y)])):
        with pytest.raises(ValueError, match="needs all rows at once, and sums"):
            fit()
