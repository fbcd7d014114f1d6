"""MANIAC: Boltzmann machines level by level, then networks that reproduce labels no worse."""

import numpy as np
import pytest
from scipy.special import expit

from compactlearn.related import ManiacClassifier
from compactlearn.related import _maniac as maniac
from tests.makers import labelled

torch = pytest.importorskip("torch", reason="MANIAC is trained by PyTorch")

SMALL = {
    "n_levels": 2,
    "max_epochs": 4,
    "pretraining_epochs": 4,
    "device": "cpu",
    "random_state": 0,
}


def test_a_step_of_contrastive_divergence_is_the_literal_one():
    rng = np.random.default_rng(0)
    machine = maniac.Machine(rng.normal(size=(4, 3)), rng.normal(size=4), rng.normal(size=3))
    v = (rng.random((6, 4)) < 0.5).astype(float)
    found = maniac.divergence(machine, v, 2, np.random.default_rng(1))
    draw = np.random.default_rng(1)
    h0 = expit(v @ machine.W + machine.c)
    h, seen = h0, v
    for _ in range(2):
        sample = (draw.random(h.shape) < h).astype(float)
        seen = expit(sample @ machine.W.T + machine.b)
        h = expit(seen @ machine.W + machine.c)
    W = np.zeros((4, 3))
    for i in range(6):
        W += (np.outer(v[i], h0[i]) - np.outer(seen[i], h[i])) / 6
    np.testing.assert_allclose(found[0], W - 1e-5 * machine.W)
    np.testing.assert_allclose(found[1], (v - seen).mean(axis=0))
    np.testing.assert_allclose(found[2], (h0 - h).mean(axis=0))


def test_a_machine_learns_what_goes_together():
    """Two halves of the units that are on or off together: one hidden unit says which."""
    rng = np.random.default_rng(0)
    side = rng.random(300) < 0.5
    data = np.where(side[:, None], [1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0])
    machine = maniac.trained(data, 1, epochs=200, rate=0.1, batch_size=16, rng=rng)
    code = expit(data @ machine.W + machine.c)[:, 0]
    assert abs(code[side].mean() - code[~side].mean()) > 0.8


def test_no_level_reproduces_worse_after_its_training():
    X, Y = labelled(80, 5, 8, 0)
    harmed = ManiacClassifier(**SMALL | {"learning_rate": 10.0}).fit(X, Y)
    assert (harmed.errors_[:, 1] <= harmed.errors_[:, 0]).all()
    model = ManiacClassifier(**SMALL | {"max_epochs": 20, "n_levels": 3}).fit(X, Y)
    assert model.errors_.shape == (3, 2)
    assert (model.errors_[:, 1] <= model.errors_[:, 0]).all()
    assert model.errors_[0, 1] < 0.9 * model.errors_[0, 0]
    reproduced = maniac.forward((*model.encoder_, *model.decoder_), Y)
    np.testing.assert_allclose(np.mean((reproduced - Y) ** 2), model.errors_[-1, 1], rtol=1e-6)


def test_codes_are_regressed_and_decoded_as_stated():
    X, Y = labelled(50, 5, 8, 0)
    model = ManiacClassifier(alpha=0.7, **SMALL).fit(X, Y)
    V = maniac.forward(model.encoder_, Y)
    assert V.shape == (50, model.n_components_)
    Xc = X - X.mean(axis=0)
    B = np.linalg.solve(Xc.T @ Xc + 0.7 * np.eye(5), Xc.T @ V)
    codes = Xc @ B + V.mean(axis=0)
    for W, b in model.decoder_:
        codes = 1 / (1 + np.exp(-(codes @ W + b)))
    np.testing.assert_allclose(model.decision_function(X), codes, atol=1e-8)
    assert ((codes > 0) & (codes < 1)).all()
