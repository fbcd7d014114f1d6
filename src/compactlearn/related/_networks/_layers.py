"""The three networks: which layers they have, how they begin, what they answer. NumPy only.

All weights and biases lie in one flat vector, so that an optimiser, a checkpoint and a fitted
model each deal with one array. A network is a list of layers (W, b), and each layer but the last
is followed by a leaky rectifier, x -> max(x, 0.1 x).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

SLOPE = 0.1  # of the rectifier below zero, as in the authors' program
CENTRE = 0.5  # taken off the latent sigmoid: codes lie in (-0.5, 0.5)

Layers = list[tuple[Any, Any]]


@dataclass(frozen=True)
class Layout:
    """The widths of the networks, from input to output.

    Parameters
    ----------
    features : (D, hidden..., K), from features to codes: Fx
    labels : (M, hidden..., K), from labels to codes: Fe
    decoder : (K, hidden..., M), from codes to scores: Fd
    """

    features: tuple[int, ...]
    labels: tuple[int, ...]
    decoder: tuple[int, ...]

    @classmethod
    def of(
        cls,
        n_features: int,
        n_labels: int,
        n_codes: int,
        feature_hidden: Sequence[int],
        label_hidden: Sequence[int],
    ) -> Layout:
        """The decoder mirrors the network of the labels."""
        hidden = tuple(int(width) for width in label_hidden)
        return cls(
            (n_features, *(int(width) for width in feature_hidden), n_codes),
            (n_labels, *hidden, n_codes),
            (n_codes, *reversed(hidden), n_labels),
        )

    @property
    def _networks(self) -> tuple[tuple[int, ...], ...]:
        return self.features, self.labels, self.decoder

    @property
    def n_inputs(self) -> int:
        """Columns of what the first network reads."""
        return self.features[0]

    @property
    def n_labels(self) -> int:
        """Columns of the labels, wherever a network meets them."""
        return self.labels[0] if self.labels else self.decoder[-1]

    @property
    def sizes(self) -> list[int]:
        """Entries of each part of the flat vector: weights, then biases, layer by layer."""
        every = (pair for widths in self._networks for pair in pairwise(widths))
        return [size for low, high in every for size in (low * high, high)]

    @property
    def total(self) -> int:
        """Entries of the flat vector."""
        return sum(self.sizes)

    def networks(self, parts: Sequence[Any]) -> tuple[Layers, Layers, Layers]:
        """(Fx, Fe, Fd) from the parts of a flat vector, of NumPy or of PyTorch."""
        waiting = iter(parts)
        fx, fe, fd = (
            [(next(waiting).reshape(low, high), next(waiting)) for low, high in pairwise(widths)]
            for widths in self._networks
        )
        return fx, fe, fd

    def split(self, flat: NDArray[Any]) -> list[NDArray[Any]]:
        """The parts of a flat NumPy vector."""
        return np.split(flat, list(accumulate(self.sizes))[:-1])

    def weights(self) -> NDArray[np.float64]:
        """1 where the flat vector has a weight and 0 where a bias, which is never penalised."""
        kinds = (np.ones, np.zeros)
        return np.concatenate([kinds[k % 2](size) for k, size in enumerate(self.sizes)])

    def initial(self, rng: np.random.RandomState) -> NDArray[np.float64]:
        """Where training begins, as the authors draw it."""
        parts = []
        for widths in self._networks:
            for place, (low, high) in enumerate(pairwise(widths)):
                if place == len(widths) - 2:  # before a sigmoid
                    bound = 4.0 * np.sqrt(6.0 / (low + high))
                    parts += [rng.uniform(-bound, bound, low * high), np.zeros(high)]
                else:
                    parts += [rng.uniform(-0.01, 0.01, low * high), rng.uniform(0.0, 0.1, high)]
        return np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class Networks:
    """Fitted networks; what they answer is float64, whatever they were trained in."""

    layout: Layout
    flat: NDArray[Any]

    def layers(self, which: int) -> Layers:
        """Weights and biases of a network, one layer after the other: 0 is Fx, 1 Fe, 2 Fd."""
        parts = self.layout.split(self.flat.astype(np.float64, copy=False))
        return self.layout.networks(parts)[which]

    @property
    def size(self) -> int:
        """How many numbers a prediction needs: those of Fx and Fd."""
        fx, _, fd = self.layout.networks(self.layout.split(self.flat))
        return sum(W.size + b.size for W, b in [*fx, *fd])

    def codes_of_labels(self, Y: Any) -> NDArray[np.float64]:
        """Fe: (N, M) -> (N, K)."""
        return _output(self.layers(1), Y) - CENTRE

    def decoded(self, codes: Any) -> NDArray[np.float64]:
        """Fd: (N, K) -> (N, M)."""
        return _output(self.layers(2), codes)

    def latent(self, X: Any) -> NDArray[np.float64]:
        """Fx: (N, D) -> (N, K)."""
        return _output(self.layers(0), X) - CENTRE


def _output(layers: Layers, X: Any) -> NDArray[np.float64]:
    for place, (W, b) in enumerate(layers):
        X = np.asarray(X @ W) + b
        if place < len(layers) - 1:
            np.maximum(X, SLOPE * X, out=X)
    return expit(X)
