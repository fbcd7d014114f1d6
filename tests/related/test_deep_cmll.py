"""DeepCMLL: it begins as CMLL's closed form, and what is kept is never below it."""

import numpy as np
import pytest
import scipy.sparse

from compactlearn import CMLL, CMLLClassifier
from compactlearn.related import DeepCMLLClassifier
from compactlearn.related import _deep_cmll as deep
from tests.makers import labelled

torch = pytest.importorskip("torch", reason="DeepCMLL is trained by PyTorch")

SMALL = {
    "n_label_components": 3,
    "feature_hidden": (8,),
    "label_hidden": (6,),
    "max_epochs": 5,
    "device": "cpu",
    "random_state": 0,
    "validation_fraction": 0.0,
}


def bent(n=120, seed=0):
    """Labels that no linear function of the features gives."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    Y = np.column_stack(
        [X[:, 0] * X[:, 1] > 0, X[:, 0] ** 2 > 1, X[:, 2] > 0, X[:, 3] ** 2 > 0.5, X[:, 1] > 0.3]
    )
    return X, Y.astype(int)


@pytest.mark.parametrize("shape", [(60, 5, 6), (30, 40, 8)])
@pytest.mark.parametrize("beta", ["auto", 0.3])
def test_the_beginning_is_the_linear_solution(shape, beta):
    """Where no step does any good, scores are those of CMLLClassifier."""
    X, Y = labelled(*shape, 0)
    own = {"n_label_components": 4, "beta": beta, "alpha": 2.0}
    # A step of so large a rate ends far below.
    deep = DeepCMLLClassifier(**SMALL | own | {"learning_rate": 1e3, "max_epochs": 1}).fit(X, Y)
    assert deep.best_epoch_ == 0
    linear = CMLLClassifier(threshold=0.5, **own).fit(X, Y)
    np.testing.assert_allclose(deep.decision_function(X), linear.decision_function(X), atol=1e-8)
    np.testing.assert_allclose(deep.objective_, linear.embedding_.objective_, rtol=1e-8)
    assert deep.objective_ == deep.linear_objective_
    np.testing.assert_allclose(deep.dependence_, linear.embedding_.dependence_, rtol=1e-8)
    np.testing.assert_allclose(deep.recovery_, linear.embedding_.recovery_, rtol=1e-8)


@pytest.mark.parametrize("fraction", [0.0, 0.2])
@pytest.mark.parametrize("rate", [1e-4, 1e-2, 10.0])
def test_it_is_never_below_the_linear_objective(rate, fraction):
    X, Y = labelled(60, 5, 6, 1)
    own = {"learning_rate": rate, "validation_fraction": fraction}
    model = DeepCMLLClassifier(**SMALL | own).fit(X, Y)
    assert model.objective_ >= model.linear_objective_


def test_training_raises_the_objective():
    X, Y = bent()
    model = DeepCMLLClassifier(**SMALL | {"max_epochs": 60, "learning_rate": 1e-3}).fit(X, Y)
    assert model.best_epoch_ > 0
    assert model.objective_ > 1.02 * model.linear_objective_
    scores = np.array(model.history_["score"])
    assert scores.max() == pytest.approx(model.objective_)
    # U is as large as the linear projection, and its ridge and decoder keep the labels' means.
    linear = (X - X.mean(axis=0)) @ CMLL(n_label_components=3).fit(X, Y).projection_
    U = model._encoded(X)
    assert np.sum((U - U.mean(axis=0)) ** 2) == pytest.approx(np.sum(linear**2))
    np.testing.assert_allclose(model.decision_function(X).mean(axis=0), Y.mean(axis=0), atol=1e-8)


def test_the_objective_is_the_stated_one():
    """Networks drawn at random, compared with dense formulas and with one batch of all rows."""
    X, Y = labelled(40, 5, 6, 0)
    sparse = scipy.sparse.csr_array(Y.astype(float))
    embedding = CMLL(n_label_components=3, beta=0.4).fit(X, Y)
    start = deep.Start.of(X, sparse, embedding)
    layout = deep.residual_layout(start, (7,), (4,))
    flat = np.random.default_rng(0).normal(size=sum(layout.sizes))
    fx, fe = layout.of_flat(flat)

    def network(layers, A):
        (W, b), (W2, b2) = layers
        H = A @ W + b
        return np.where(H > 0, H, 0.1 * H) @ W2 + b2

    rms = np.sqrt(np.mean(X**2, axis=0))
    d = embedding.projection_.shape[1]
    Xc = X - X.mean(axis=0)
    out = network(fx, X / rms)
    XcP = Xc @ embedding.projection_
    U = XcP + np.sqrt(np.sum(XcP**2) / XcP.size) * out[:, :d]
    V = embedding.codes_ + (out[:, d:] + network(fe, Y)) / np.sqrt(40)
    Q = np.linalg.qr(V)[0]
    Uc = U - U.mean(axis=0)
    dependence = np.sum((Uc.T @ Q) ** 2) * np.sum(XcP**2) / np.sum(Uc**2)
    literal = 0.4 * dependence + np.sum((Y.T @ Q) ** 2)
    found = deep.encoded(start, layout, flat, X, sparse)
    assert found.objective == pytest.approx(literal, rel=1e-8)
    np.testing.assert_allclose(found.V.T @ found.V, np.eye(3), atol=1e-8)
    batch = deep.DeepObjective(start, "cpu", "float64")
    parts = layout.networks(torch.from_numpy(flat).split(layout.sizes))
    value = batch.value(parts, torch.from_numpy(X), torch.from_numpy(Y.astype(float)))
    assert -float(value) == pytest.approx(literal, rel=1e-4)


def test_validation_rows_choose_among_epochs():
    X, Y = bent(200)
    own = {"validation_fraction": 0.25, "learning_rate": 1e-3, "max_epochs": 30}
    model = DeepCMLLClassifier(**SMALL | own).fit(X, Y)
    scores = np.array(model.history_["score"])
    assert scores[model.best_epoch_ - 1] == scores.max() <= 1.0


def test_patience_ends_the_training():
    X, Y = labelled(60, 5, 6, 0)
    own = {"learning_rate": 100.0, "patience": 2, "max_epochs": 500}
    model = DeepCMLLClassifier(**SMALL | own).fit(X, Y)
    assert model.n_epochs_ == np.argmax(model.history_["score"]) + 3 < 500


def test_a_batch_must_be_larger_than_the_codes():
    X, Y = labelled(50, 8, 6, 0)
    with pytest.raises(ValueError, match="batch_size=3 must be above the number of codes, 3"):
        DeepCMLLClassifier(**SMALL | {"batch_size": 3}).fit(X, Y)
