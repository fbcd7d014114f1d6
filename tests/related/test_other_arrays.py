"""Arrays of PyTorch, or of a device that NumPy cannot read: every method of the related work fits
them where they are, with NumPy's results, or refuses them in words and stays as it was."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone, is_classifier
from sklearn.utils import get_tags

import compactlearn.related
from compactlearn import CompactClassifier, KernelMap
from compactlearn.core._devices import host
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
    CompressedSensingClassifier,
    DeepCMLLClassifier,
    GroPLE,
    KernelLabelSpace,
    ManiacClassifier,
    OutputCodesClassifier,
    ProjectionForestClassifier,
    Rembrandt,
    SLEECClassifier,
    TopicClassifier,
)
from compactlearn.related._random_codes import RandomCodes
from tests.contract.state import Unchanged, assert_same_state, snapshot
from tests.devices.places import PLACES, difference
from tests.makers import labelled

CLOSE = 1e-8

TAKING = {
    "CSSP": CSSP(3),
    "CSSP, sampled": CSSP(3, selection="sampled", coding="signed", random_state=0),
    "CSSP, leverage": CSSP(3, selection="leverage", coding="binary"),
    "Rembrandt": Rembrandt(3, random_state=0),
    "Rembrandt, small block": Rembrandt(3, centre=True, oversampling=1, random_state=0),
    "GroPLE": GroPLE(3, n_groups=2, tol=1e-3),
    "GroPLE, signed": GroPLE(3, coding="signed", l1=0.0, tol=1e-3),
    "KLST": KernelLabelSpace(3),
    "KLST, joined": KernelLabelSpace(3, joined=True),
    "KLST, linear": KernelLabelSpace(3, "linear", label_penalty=0.0),
    "CCA": CCA(3),
    "CCA, unit columns": CCA(3, ridge=0.5, unit_columns=True),
    "OPLS": OPLS(3),
    "MLSI": MLSI(3),
    "PCA": PCA(3),
    "random codes": RandomCodes(3, random_state=0),
}
REFUSING = {"LPP": LPP(3, n_neighbors=4), "NPE": NPE(3, n_neighbors=4), "MIFS": MIFS(3)}
CLASSIFIERS = {
    "LEML": LEML(2, max_iter=5),
    "SLRM": SLRM(max_iter=5),
    "MLC-BMaD": BooleanClassifier(),
    "CS": CompressedSensingClassifier(random_state=0),
    "CCA-OC": OutputCodesClassifier(),
    "Projection forest": ProjectionForestClassifier(3, random_state=0),
    "BMLPL": TopicClassifier(max_iter=3, random_state=0),
    "SLEEC": SLEECClassifier(n_similar=20, n_neighbors=5, n_clusters=2, random_state=0),
    "MANIAC": ManiacClassifier(n_levels=1, max_epochs=2, device="cpu", random_state=0),
    "DeepCMLL": DeepCMLLClassifier(
        feature_hidden=(8,), label_hidden=(4,), max_epochs=2, device="cpu", random_state=0
    ),
}

every_place = pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
every_shape = pytest.mark.parametrize("shape", [(50, 7, 5), (24, 30, 5)], ids=str)


def each(methods):
    return pytest.mark.parametrize("name", methods)


@pytest.fixture
def switched_on(monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    with config_context(array_api_dispatch=True):
        yield


def test_none_is_left_out():
    covered = {type(one) for one in (*TAKING.values(), *REFUSING.values(), *CLASSIFIERS.values())}
    public = {getattr(compactlearn.related, name) for name in compactlearn.related.__all__}
    assert public <= covered
    assert all(is_classifier(one) for one in CLASSIFIERS.values())


@pytest.mark.parametrize(
    ("methods", "support"), [(TAKING, True), (REFUSING, False), (CLASSIFIERS, False)]
)
def test_the_tag_says_which_take_them(methods, support):
    """By it scikit-learn decides whether its own checks of such arrays are run."""
    for one in methods.values():
        assert get_tags(one).array_api_support is support
        if not is_classifier(one):
            assert get_tags(CompactClassifier(one)).array_api_support is support


@each(TAKING)
@every_shape
@every_place
@pytest.mark.usefixtures("switched_on")
@pytest.mark.filterwarnings("ignore:.*label components were asked for")
def test_embeddings_agree_with_numpy(name, shape, place):
    X, Y = labelled(*shape, seed=1)
    here = clone(TAKING[name]).fit(X, Y)
    there = clone(TAKING[name]).fit(place.make(X), place.make(Y))
    rows = place.make(X)
    assert place.has(there.transform(rows))
    assert difference(there.transform(rows), here.transform(X)) < CLOSE
    codes = here.codes_.toarray() if sp.issparse(here.codes_) else here.codes_
    assert place.has(there.decode(place.make(codes)))
    assert difference(there.decode(place.make(codes)), here.decode(codes)) < CLOSE
    for attribute in ("eigenvalues_", "offset_", "selected_"):
        if hasattr(here, attribute):
            assert place.has(getattr(there, attribute))
            assert difference(getattr(there, attribute), getattr(here, attribute)) < CLOSE
    if hasattr(here, "encode"):
        found = there.encode(Y)
        assert place.has(found)
        assert difference(found, here.encode(Y)) < CLOSE
        back = there.to_numpy()
        assert isinstance(back.encode(Y), np.ndarray)
        assert difference(back.encode(Y), here.encode(Y)) < CLOSE


@each(TAKING)
@every_place
@pytest.mark.usefixtures("switched_on")
def test_classifiers_of_them_agree_with_numpy(name, place):
    X, Y = labelled(50, 7, 5, seed=2)
    weights = 1.0 + np.arange(50) % 3
    feature_maps = [None] if name == "Rembrandt" else [None, KernelMap()]  # its hat has no kernel
    for feature_map in feature_maps:
        model = CompactClassifier(TAKING[name], alpha=2.0, feature_map=feature_map, random_state=0)
        here = clone(model).fit(X, Y, weights)
        there = clone(model).fit(place.make(X), place.make(Y), place.make(weights))
        found = there.decision_function(place.make(X))
        assert place.has(found)
        assert difference(found, here.decision_function(X)) < CLOSE
        np.testing.assert_array_equal(host(there.predict(place.make(X))), here.predict(X))


@each(REFUSING)
@every_place
@pytest.mark.usefixtures("switched_on")
def test_embeddings_that_need_a_graph_refuse_and_stay_as_they_were(name, place):
    X, Y = labelled(30, 5, 4, seed=3)
    for model in (clone(REFUSING[name]), CompactClassifier(clone(REFUSING[name]))):
        before = snapshot(model)
        for fitted in (False, True):
            if fitted:
                before = snapshot(model.fit(X, Y))
            with pytest.raises(ValueError, match=SENTENCE):
                model.fit(place.make(X[:20]), place.make(Y[:20]))
            assert_same_state(snapshot(model), before)
        with pytest.raises(ValueError, match="must use the same namespace and the same device"):
            model.transform(place.make(X))


@each(CLASSIFIERS)
@every_place
@pytest.mark.usefixtures("switched_on")
@pytest.mark.filterwarnings("ignore")
def test_classifiers_of_their_own_refuse_and_stay_as_they_were(name, place):
    X, Y = labelled(40, 6, 5, seed=4)
    model = clone(CLASSIFIERS[name])
    before = snapshot(model)
    with pytest.raises(ValueError, match=SENTENCE):
        model.fit(place.make(X), place.make(Y))
    assert_same_state(snapshot(model), before)
    model.fit(X, Y)
    with Unchanged(model, X):
        with pytest.raises(ValueError, match=SENTENCE):
            model.fit(place.make(X[:20]), place.make(Y[:20]))
        for ask in (model.predict, model.decision_function):
            with pytest.raises(ValueError, match=SENTENCE):
                ask(place.make(X))


SENTENCE = (
    r"^\w+ works (on|with) NumPy arrays and SciPy('s sparse)? matrices, and (X is|was given) "
    r".*; (convert it|pass it as a NumPy array).*\.$"
)


def test_outside_of_the_switch_tensors_of_the_cpu_are_read_as_numpy():
    X, Y = labelled(30, 5, 4, seed=5)
    torch = next(place for place in PLACES if place.name == "torch")
    for model in (LPP(3), LEML(2, tol=0.1, random_state=0), KernelLabelSpace(3)):
        here, there = clone(model).fit(X, Y), clone(model).fit(torch.make(X), Y)
        ask = "transform" if hasattr(here, "transform") else "decision_function"
        np.testing.assert_array_equal(getattr(there, ask)(torch.make(X)), getattr(here, ask)(X))
