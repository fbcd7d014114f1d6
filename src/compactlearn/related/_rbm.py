"""Restricted Boltzmann machines by contrastive divergence: where a stacked autoencoder begins.

Visible units v and hidden units h, all in [0, 1], with weights W and biases b and c: the mean of h
given v is sigmoid(vW + c), that of v given h is sigmoid(hW' + b). A step raises the correlations
v'h of the data and lowers those of what the machine makes of them after k turns (CD-k).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.special import expit

from compactlearn.related._networks._training import batches

Array = NDArray[np.float64]

# As in the authors' package: its momentum, turns, penalty and first numbers. When it goes from the
# first momentum and number of turns to the second was not read; here it is half way.
MOMENTA = (0.5, 0.875)
TURNS = (1, 2)
PENALTY = 1e-5
FIRST_WEIGHTS = 1e-3
FIRST_BIAS = 1e-2


@dataclass(frozen=True)
class Machine:
    """Weights and biases."""

    W: Array  # (visible, hidden)
    b: Array  # (visible,)
    c: Array  # (hidden,)


def trained(
    data: Any, n_hidden: int, *, epochs: int, rate: float, batch_size: int, rng: Any
) -> Machine:
    """A machine of these rows, dense or sparse, with entries in [0, 1]."""
    n_rows, n_visible = data.shape
    machine = Machine(
        FIRST_WEIGHTS * rng.standard_normal((n_visible, n_hidden)),
        np.full(n_visible, FIRST_BIAS),
        np.full(n_hidden, FIRST_BIAS),
    )
    speed = [np.zeros_like(part) for part in (machine.W, machine.b, machine.c)]
    for epoch in range(epochs):
        second = 2 * epoch >= epochs
        for rows in batches(rng.permutation(n_rows), min(batch_size, n_rows)):
            block = data[rows]
            v = block.toarray() if scipy.sparse.issparse(block) else block
            slopes = divergence(machine, v, TURNS[second], rng)
            moved = []
            for place, (part, slope) in enumerate(
                zip((machine.W, machine.b, machine.c), slopes, strict=True)
            ):
                speed[place] = MOMENTA[second] * speed[place] + rate * slope
                moved.append(part + speed[place])
            machine = Machine(*moved)
    return machine


def divergence(machine: Machine, v: Array, turns: int, rng: Any) -> tuple[Array, Array, Array]:
    """The direction of CD-k for weights and biases, the mean over the rows of a batch."""
    h = first = expit(v @ machine.W + machine.c)
    seen = v
    for _ in range(turns):
        drawn = (rng.random(h.shape) < h).astype(np.float64)
        seen = expit(drawn @ machine.W.T + machine.b)
        h = expit(seen @ machine.W + machine.c)
    n = len(v)
    return (
        (v.T @ first - seen.T @ h) / n - PENALTY * machine.W,
        (v - seen).mean(axis=0),
        (first - h).mean(axis=0),
    )
