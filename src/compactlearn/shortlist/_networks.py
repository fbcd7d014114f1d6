"""Small networks that are trained side by side, so that their mean can be used.

A step of one network is a product of some hundred rows with some dozen columns, which takes less
time than the calls around it. Networks that see the same batches share the calls.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from compactlearn.core._deadline import checkpoint

Floats = NDArray[np.float32]

_NETWORKS, _UNITS = 4, 32
_RATE = 1e-2  # of the first step; it falls to zero linearly
_DECAYS = 0.9, 0.999  # of the running means of the gradient and its square
_TINY = 1e-8


def trained(
    inputs: Floats,
    present: Floats,
    weights: Floats,
    *,
    penalty: float,
    batch: int,
    n_steps: int,
    rng: np.random.RandomState,
) -> tuple[Floats, Floats, Floats, float]:
    """Return the weights and biases of both layers of a network that is the mean of some.

    Each has one layer of rectified units and the logistic loss. Steps are Adam's (Kingma and Ba,
    ICLR 2015), first weights are drawn as by Glorot and Bengio (AISTATS 2010). Half of ``penalty``
    times the squared weights is added to the mean loss of a batch.
    """
    n, n_inputs = inputs.shape
    n_units = _NETWORKS * _UNITS
    parameters = np.empty(n_inputs * n_units + 2 * n_units + _NETWORKS, dtype=np.float32)
    gradient, penalties = np.zeros_like(parameters), np.zeros_like(parameters)
    first, biases, second, intercepts = _layers(parameters, n_inputs)
    for layers, n_ends in (
        ((first, biases), n_inputs + _UNITS),
        ((second, intercepts), _UNITS + 1),
    ):
        for layer in layers:
            bound = np.sqrt(6.0 / n_ends)
            layer[:] = rng.uniform(-bound, bound, layer.shape)
    by_first, by_biases, by_second, by_intercepts = _layers(gradient, n_inputs)
    for layer in _layers(penalties, n_inputs)[::2]:
        layer[:] = penalty
    mean, square = np.zeros_like(parameters), np.zeros_like(parameters)
    order, at = rng.permutation(n), 0
    for step in range(1, n_steps + 1):
        checkpoint()
        if at + batch > n:
            order, at = rng.permutation(n), 0
        rows = order[at : at + batch]
        at += batch
        x = inputs[rows]
        units = np.maximum(x @ first + biases, 0.0).reshape(-1, _NETWORKS, _UNITS)
        scores = (units * second).sum(axis=2) + intercepts
        slopes = (expit(scores) - present[rows, None]) * (weights[rows, None] / batch)
        by_second[:] = np.einsum("ik,iku->ku", slopes, units)
        by_intercepts[:] = slopes.sum(axis=0)
        by_units = ((slopes[:, :, None] * second) * (units > 0)).reshape(-1, n_units)
        by_first[:] = x.T @ by_units
        by_biases[:] = by_units.sum(axis=0)
        gradient += penalties * parameters
        mean += (1.0 - _DECAYS[0]) * (gradient - mean)
        square += (1.0 - _DECAYS[1]) * (gradient**2 - square)
        usual = np.sqrt(square / (1.0 - _DECAYS[1] ** step)) + _TINY
        rate = _RATE * (1.0 - (step - 1) / n_steps) / (1.0 - _DECAYS[0] ** step)
        parameters -= np.float32(rate) * mean / usual
    return first, biases, second.ravel() / _NETWORKS, float(intercepts.mean())


def _layers(parameters: Floats, n_inputs: int) -> tuple[Any, ...]:
    """Return views of all parameters: weights and biases of the first and of the second layer."""
    n_units = _NETWORKS * _UNITS
    ends = np.cumsum([n_inputs * n_units, n_units, n_units])
    first, biases, second, intercepts = np.split(parameters, ends)
    return (
        first.reshape(n_inputs, n_units),
        biases,
        second.reshape(_NETWORKS, _UNITS),
        intercepts,
    )
