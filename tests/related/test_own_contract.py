"""What every classifier of the related work that is a model of its own keeps to."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from compactlearn import load_model, method
from compactlearn.related import (
    DeepCMLLClassifier,
    ManiacClassifier,
    SLEECClassifier,
    TopicClassifier,
)
from tests.makers import labelled

CLASSIFIERS = {
    "BMLPL": TopicClassifier(max_iter=20, random_state=0),
    "SLEEC": SLEECClassifier(n_similar=20, n_neighbors=5, n_clusters=2, random_state=0),
    "MANIAC": ManiacClassifier(
        n_levels=1, max_epochs=15, learning_rate=5e-3, device="cpu", random_state=0
    ),
    "DeepCMLL": DeepCMLLClassifier(
        feature_hidden=(8,), label_hidden=(4,), max_epochs=3, device="cpu", random_state=0
    ),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks(list(CLASSIFIERS.values()))
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_it_is_made_by_its_name(name):
    assert type(method(name)) is type(CLASSIFIERS[name])


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", ["matrix", "two classes", "three classes"])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_it_is_saved_and_loaded(name, kind, tmp_path):
    X, Y = labelled(40, 6, 5, 0)
    y = {"matrix": Y, "two classes": Y[:, 0], "three classes": Y[:, :2].sum(axis=1)}[kind]
    model = clone(CLASSIFIERS[name]).fit(X, y)
    model.save(tmp_path / "one.model")
    loaded = load_model(tmp_path / "one.model")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.numbers_ == model.numbers_ > 0


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_there_is_no_graph_of_it(name):
    X, Y = labelled(40, 6, 5, 0)
    model = clone(CLASSIFIERS[name]).fit(X, Y)
    with pytest.raises(ValueError, match=f"{type(model).__name__} is none of them; save it"):
        model.to_onnx()


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_refused_fit_leaves_the_model_as_it_was(name):
    X, Y = labelled(40, 6, 5, 0)
    model = clone(CLASSIFIERS[name]).fit(X, Y)
    scores = model.decision_function(X)
    model.set_params(threshold=[0.5, 0.5])
    with pytest.raises(ValueError, match="one for each of the 5 labels"):
        model.fit(X[:20], Y[:20])
    np.testing.assert_array_equal(model.decision_function(X), scores)
