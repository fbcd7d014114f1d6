"""Neighbours of labels: largest cosines, whatever the model calls a label's place."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from compactlearn import (
    CMLLClassifier,
    CMLLClassifierCV,
    CompactClassifier,
    KernelMap,
    Original,
    ShortlistClassifier,
    ThresholdTuner,
    label_neighbours,
)
from compactlearn.inspection import _labels as near_labels
from compactlearn.inspection._decomposition import NotExplained
from compactlearn.inspection._labels import nearest_labels
from tests.makers import make_data

NAMES = ["animals", "boats", "cities", "dances", "engines"]


def literal(vectors):
    """Cosines of all pairs, one at a time."""
    V = np.asarray(vectors.toarray() if scipy.sparse.issparse(vectors) else vectors)
    units = [v / (np.linalg.norm(v) or 1.0) for v in V]
    return np.array([[a @ b for b in units] for a in units])


@pytest.fixture(scope="module")
def data():
    X, Y = make_data(60)
    return X, pd.DataFrame(Y, columns=NAMES)


def test_neighbours_are_those_of_largest_cosine(data):
    X, Y = data
    model = CMLLClassifier(n_label_components=3).fit(X, Y)
    cosines = literal(model.embedding_.decoder_.T)
    np.fill_diagonal(cosines, -np.inf)
    every = model.label_neighbours(k=4)
    assert list(every) == NAMES
    for j, name in enumerate(NAMES):
        order = np.argsort(-cosines[j])[:4]
        assert [near for near, _ in every[name]] == [NAMES[i] for i in order]
        np.testing.assert_allclose([c for _, c in every[name]], cosines[j, order])
        for asked, k in ((name, 2), (j, 100)):
            alone = model.label_neighbours(asked, k=k)
            assert [near for near, _ in alone] == [near for near, _ in every[name]][:k]
            np.testing.assert_allclose([c for _, c in alone], cosines[j, order][:k])


MODELS = {
    "logistic": (CMLLClassifier(3, 2, decoder="logistic"), lambda m: m.decoding_.coefficients.T),
    "weights": (CompactClassifier(Original()), lambda m: m.coef_.T),
    "shortlist": (
        ShortlistClassifier(random_state=0, C=1.0),
        lambda m: m.retriever_.regressor_.coef_,
    ),
    "kernel": (CMLLClassifier(feature_map=KernelMap()), lambda m: m.embedding_.decoder_.T),
    "search": (
        CMLLClassifierCV(cv=2, alphas=[1.0], n_label_components=(2,), decoders=("linear",)),
        lambda m: m.best_estimator_.embedding_.decoder_.T,
    ),
    "tuner": (
        ThresholdTuner(CMLLClassifier(), cv=2, random_state=0),
        lambda m: m.estimator_.embedding_.decoder_.T,
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_every_model_says_where_its_labels_lie(data, name):
    X, Y = data
    model, vectors = MODELS[name]
    model.fit(X, Y)
    cosines = literal(vectors(model))
    np.fill_diagonal(cosines, -np.inf)
    for j, (label, near) in enumerate(model.label_neighbours(k=4).items()):
        assert label == NAMES[j]
        np.testing.assert_allclose([c for _, c in near], -np.sort(-cosines[j])[:4], atol=1e-7)


def test_through_a_pipeline(data):
    X, Y = data
    pipe = make_pipeline(StandardScaler(), CMLLClassifier()).fit(X, Y)
    assert label_neighbours(pipe) == pipe[-1].label_neighbours()


def test_some_labels_at_a_time(monkeypatch):
    vectors = np.random.default_rng(0).normal(size=(13, 4))
    whole = nearest_labels(vectors, range(13), 5)
    monkeypatch.setattr(near_labels, "_COSINES", 30)
    for form in (vectors, scipy.sparse.csr_array(vectors)):
        near, cosines = nearest_labels(form, range(13), 5)
        np.testing.assert_array_equal(near, whole[0])
        np.testing.assert_allclose(cosines, whole[1])


def test_a_label_without_weights_is_near_to_none():
    _, cosines = nearest_labels(np.array([[0.0, 0.0], [1.0, 0.0]]), [0, 1], 1)
    assert cosines.tolist() == [[0.0], [0.0]]
    assert nearest_labels(np.ones((1, 2)), [0], 3)[0].shape == (1, 0)


def test_refusals(data):
    X, Y = data
    model = CMLLClassifier().fit(X, Y)
    with pytest.raises(ValueError, match="how many neighbours, to be at least 1, and was given 0"):
        model.label_neighbours(k=0)
    with pytest.raises(ValueError, match="needs one label, or None for all, and was given 2; ask"):
        model.label_neighbours(["boats", "cities"])
    two = CMLLClassifier().fit(X, np.ravel(Y["boats"]))
    with pytest.raises(NotExplained, match="fitted to two classes, which have one score"):
        two.label_neighbours()
    plain = CompactClassifier(Original(), feature_map=KernelMap()).fit(X, Y)
    with pytest.raises(NotExplained, match=r"codes, or weights of features, .* use an embedding"):
        plain.label_neighbours()
    with pytest.raises(NotExplained, match="StandardScaler has none; use CMLLClassifier"):
        label_neighbours(StandardScaler())
