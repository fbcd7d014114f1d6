"""Small networks trained side by side: gradients, and what they learn."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.neural_network import MLPClassifier

from compactlearn.core._seeds import seeded
from compactlearn.shortlist import _networks as networks
from compactlearn.shortlist._networks import trained


def data_of(n, seed=0):
    """Return three inputs, whether a label is present, which bends with them, and weights."""
    rng = np.random.default_rng(seed)
    inputs = rng.normal(size=(n, 3)).astype(np.float32)
    score = 2 * np.abs(inputs[:, 0]) - 1 + inputs[:, 1] * (inputs[:, 2] > 0)
    present = (rng.random(n) < expit(score)).astype(np.float32)
    return inputs, present, (1 + np.arange(n) % 2).astype(np.float32) / 1.5


def loss(layers, inputs, present, weights, penalty):
    """Return the sum over all networks of the mean loss and the penalty, in double precision."""
    first, biases, second, intercepts = layers
    units = np.maximum(inputs @ first + biases, 0).reshape(len(inputs), *second.shape)
    scores = (units * second).sum(axis=2) + intercepts
    sign = np.where(present > 0, -1.0, 1.0)[:, None]
    losses = (weights[:, None] * np.logaddexp(0, sign * scores)).mean(axis=0)
    return losses.sum() + penalty / 2 * ((first**2).sum() + (second**2).sum())


@pytest.mark.parametrize("penalty", [0.0, 0.3])
def test_the_first_step_goes_down_the_gradient_of_every_parameter(monkeypatch, penalty):
    """Adam's first step has the size of the rate and the sign of the derivative."""
    given, found = data_of(50), []
    monkeypatch.setattr(networks, "_NETWORKS", 1)
    monkeypatch.setattr(networks, "_UNITS", 5)
    for rate in (0.0, 1e-3):
        monkeypatch.setattr(networks, "_RATE", rate)
        first, biases, second, intercept = trained(
            *given, penalty=penalty, batch=50, n_steps=1, rng=seeded(0)
        )
        found.append([first, biases, second[None], np.array([intercept])])
    before = [layer.astype(float) for layer in found[0]]
    given = [part.astype(float) for part in given]
    checked = 0
    for layer, old, new in zip(before, *found, strict=True):
        for place in np.ndindex(layer.shape):
            value, ends = layer[place], []
            for step in (-1e-5, 1e-5):
                layer[place] = value + step
                ends.append(loss(before, *given, penalty))
            layer[place] = value
            slope = (ends[1] - ends[0]) / 2e-5
            if abs(slope) > 1e-4:
                assert new[place] - old[place] == pytest.approx(-1e-3 * np.sign(slope), rel=1e-2)
                checked += 1
    assert checked > 20


def test_they_learn_what_networks_of_scikit_learn_learn():
    inputs, present, weights = data_of(4_000)
    new, truth, _ = data_of(4_000, seed=1)
    sign = np.where(truth > 0, -1.0, 1.0)
    first, biases, second, intercept = trained(
        inputs, present, weights, penalty=1e-3, batch=64, n_steps=1_500, rng=seeded(0)
    )
    scores = np.maximum(new @ first + biases, 0) @ second + intercept
    own = np.logaddexp(0, sign * scores).mean()
    other = MLPClassifier((32,), alpha=4.0, batch_size=64, max_iter=25, tol=0, random_state=0)
    with pytest.warns(UserWarning, match="converge"):
        other.fit(inputs, present)
    p = other.predict_proba(new)[np.arange(4_000), truth.astype(int)]
    assert own < -np.log(p).mean() + 0.005
    straight = np.full(4_000, present.mean())
    assert own < -np.log(np.where(truth > 0, straight, 1 - straight)).mean() - 0.05


def test_every_epoch_has_batches_of_its_own():
    orders = []

    class Noted(np.random.RandomState):
        def permutation(self, n):
            orders.append(super().permutation(n))
            return orders[-1]

    trained(*data_of(60), penalty=0.0, batch=20, n_steps=9, rng=Noted(0))
    assert len(orders) == 3  # of three batches each
    assert (orders[0] != orders[1]).any()


def test_the_mean_is_that_of_all_networks(monkeypatch):
    """Scores of the layers that are returned are means of the scores of each network."""
    given = data_of(60)
    settings = {"penalty": 0.0, "batch": 20, "n_steps": 40}
    first, biases, second, intercept = trained(*given, rng=seeded(3), **settings)
    units = np.maximum(given[0] @ first + biases, 0)
    count, width = networks._NETWORKS, networks._UNITS
    parts = (units * second * count).reshape(60, count, width).sum(axis=2)
    assert np.ptp(parts, axis=1).max() > 0.01
    np.testing.assert_allclose(units @ second, parts.mean(axis=1), rtol=1e-4, atol=1e-5)
    again = trained(*given, rng=seeded(3), **settings)
    np.testing.assert_array_equal(again[0], first)
    assert again[3] == intercept
