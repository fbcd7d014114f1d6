"""ManiacClassifier (MANIAC): labels compressed by a stacked autoencoder, codes by regression.

Restricted Boltzmann machines by contrastive divergence: where a stacked autoencoder begins.

Visible units v and hidden units h, all in [0, 1], with weights W and biases b and c: the mean of h
given v is sigmoid(vW + c), that of v given h is sigmoid(hW' + b). A step raises the correlations
v'h of the data and lowers those of what the machine makes of them after k turns (CD-k).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.special import expit

from compactlearn.compact._inputs import TrainingData
from compactlearn.core._params import Constraint, Integer, Real
from compactlearn.core._seeds import seeded
from compactlearn.metrics._checks import row_blocks
from compactlearn.related._networks import (
    TRAINED,
    Layers,
    Layout,
    Trainer,
    batches,
    choose_device,
    torch_module,
    train,
)
from compactlearn.related._scored import ScoredClassifier, ridge

Array = NDArray[np.float64]

Stack = tuple[tuple[Array, Array], ...]  # weights and biases of layers, first to last

_DECAY = 0.98  # of the learning rate, per epoch


class ManiacClassifier(ScoredClassifier):
    """Label compression by a stacked autoencoder (MANIAC).

    A network of sigmoid layers, each smaller than the last by ``compression``, takes label vectors
    to codes, and its mirror image takes codes back. It grows level by level: a new central layer
    begins as a restricted Boltzmann machine of the codes so far, and then the whole network is
    trained to reproduce the labels. A linear regression for each code leads there from the
    features. Scores are what the decoder makes of predicted codes: real numbers between 0 and 1.

    It suits labels that depend on each other in ways that no linear code has. It needs PyTorch
    (extra ``deep``) for training; predictions do not.

    Parameters
    ----------
    compression : float in (0, 1], default=0.85
        Each level has so many times as many units as the one before it, at least one.
    n_levels : int, default=4
    alpha : float, default=1.0
        Ridge penalty of the regressions, whose intercepts are free.
    pretraining_epochs : int, default=20
        Of each Boltzmann machine; the program has 128.
    pretraining_rate : float, default=0.01
        Its learning rate.
    batch_size : int, default=32
        The program has 8.
    max_epochs : int, default=50
        Of training the network of each level.
    learning_rate : float, default=1e-3
    l2 : float, default=1e-5
        Penalty on the squares of weights.
    threshold : float or array-like of shape (n_labels,), default=0.5
        A label is predicted where its score is strictly above.
    device : {"auto", "cpu", "cuda"}, default="auto"
    dtype : {"float32", "float64"}, default="float32"
        Of the training; predictions are computed in float64.
    random_state : int, RandomState, Generator or None, default=None
        Draws initial weights and batches.

    Attributes
    ----------
    encoder_, decoder_ : tuples of pairs (weights, biases), one for each layer
    coef_ : ndarray of shape (n_features, n_components_)
    intercept_ : ndarray of shape (n_components_,)
    n_components_ : int
        Units of the central layer.
    errors_ : ndarray of shape (n_levels, 2)
        Mean squared error of reproduced labels, before and after the network of each level was
        trained; the second is never larger.
    device_ : str
    threshold_, classes_, n_labels_, label_names_, n_parameters_, nbytes_
        As in :class:`CompactClassifier`.
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    The program can choose the number of levels by accuracy on a third of the rows; here a search
    over ``n_levels`` does. Its minimiser of the reproduction error was not read; here it is that of
    `C2AEClassifier`, with the networks of the best epoch kept.

    References
    ----------
    J. Wicker, A. Tyukin, S. Kramer. A nonlinear label compression and transformation method for
    multi-label classification using autoencoders. PAKDD 2016, pp. 328-340.

    Examples
    --------
    >>> from compactlearn.datasets import load
    >>> from compactlearn.related import ManiacClassifier
    >>> data = load("emotions")
    >>> model = ManiacClassifier(n_levels=2, max_epochs=2, pretraining_epochs=2, random_state=0)
    >>> model.fit(data.X, data.Y).predict(data.X).shape, model.n_components_
    ((593, 6), 4)
    """

    _kept: ClassVar[tuple[str, ...]] = ("coef_", "intercept_", "decoder_")
    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "compression": (Real(0, 1, open_low=True),),
        "n_levels": (Integer(1),),
        "alpha": (Real(0),),
        "pretraining_epochs": (Integer(0),),
        "pretraining_rate": (Real(0, open_low=True),),
        **TRAINED,
    }

    def __init__(
        self,
        compression: float = 0.85,
        n_levels: int = 4,
        *,
        alpha: float = 1.0,
        pretraining_epochs: int = 20,
        pretraining_rate: float = 0.01,
        batch_size: int = 32,
        max_epochs: int = 50,
        learning_rate: float = 1e-3,
        l2: float = 1e-5,
        threshold: Any = 0.5,
        device: str = "auto",
        dtype: str = "float32",
        random_state: Any = None,
    ) -> None:
        self.compression = compression
        self.n_levels = n_levels
        self.alpha = alpha
        self.pretraining_epochs = pretraining_epochs
        self.pretraining_rate = pretraining_rate
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.learning_rate = learning_rate
        self.l2 = l2
        self.threshold = threshold
        self.device = device
        self.dtype = dtype
        self.random_state = random_state

    def _learn(self, data: TrainingData) -> None:
        self.device_ = choose_device(self.device, "ManiacClassifier")
        Y = scipy.sparse.csr_array(data.targets.matrix, dtype=np.float64)
        self._stack(Y)
        codes = forward(self.encoder_, Y)
        self.coef_, self.intercept_ = ridge(data.X, codes, float(self.alpha))
        self.n_components_ = codes.shape[1]

    def _stack(self, Y: Any) -> None:
        """Grow the network level by level."""
        rng = seeded(self.random_state)
        draw = np.random.default_rng(int(rng.randint(2**31 - 1)))
        stack: Stack = ()
        codes, errors = Y, []
        for width in level_widths(Y.shape[1], float(self.compression), self.n_levels):
            machine = trained(
                codes,
                width,
                epochs=self.pretraining_epochs,
                rate=float(self.pretraining_rate),
                batch_size=self.batch_size,
                rng=draw,
            )
            half = len(stack) // 2
            middle = ((machine.W, machine.c), (machine.W.T.copy(), machine.b))
            stack = (*stack[:half], *middle, *stack[half:])
            before = reproduction_error(stack, Y)
            stack = self._trained(stack, Y, int(draw.integers(2**31 - 1)), before)
            errors.append((before, reproduction_error(stack, Y)))
            codes = forward(stack[: half + 1], Y)
        half = len(stack) // 2
        self.encoder_, self.decoder_ = stack[:half], stack[half:]
        self.errors_ = np.array(errors)

    def _trained(self, stack: Stack, Y: Any, seed: int, before: float) -> Stack:
        """Return the network of the best epoch, or as it was where no epoch is better."""
        layout = Layout(((Y.shape[1], *(b.size for _, b in stack)),))
        first = np.concatenate([part.ravel() for layer in stack for part in layer])
        trainer = Trainer(self, layout, first, squared_error, (Y,), n_rows=Y.shape[0], decay=_DECAY)

        def score(flat: NDArray[Any]) -> float | None:
            error = reproduction_error(layers_of(layout, flat), Y)
            return -error if np.isfinite(error) else None

        rows = np.arange(Y.shape[0])
        found = train(trainer, rows, seed, max_epochs=self.max_epochs, score=score)
        if max(found.scores, default=-np.inf) < -before:
            return stack
        return layers_of(layout, found.flat)

    def _scored(self, X: Any) -> Array:
        return forward(self.decoder_, X @ self.coef_ + self.intercept_)


def squared_error(networks: Sequence[Layers], Y: Any) -> Any:
    """Return the squared error of labels that have gone through the network, for a `Trainer`."""
    torch, found = torch_module("ManiacClassifier"), Y
    for W, b in networks[0]:
        found = torch.sigmoid(torch.addmm(b, found, W))
    return (found - Y).square().sum()


def level_widths(n_labels: int, compression: float, n_levels: int) -> list[int]:
    """Return the units of each level, at least one.

    >>> level_widths(53, 0.85, 4)
    [45, 38, 33, 28]
    """
    return [max(1, round(n_labels * compression**level)) for level in range(1, n_levels + 1)]


def layers_of(layout: Layout, flat: NDArray[Any]) -> Stack:
    """Return the layers of a flat vector, in double precision."""
    return tuple((W.copy(), b.copy()) for W, b in layout.of_flat(flat.astype(np.float64))[0])


def forward(stack: Sequence[tuple[Array, Array]], block: Any) -> Array:
    """Return the output of sigmoid layers for rows."""
    for W, b in stack:
        block = expit(np.asarray(block @ W) + b)
    return block


def reproduction_error(stack: Sequence[tuple[Array, Array]], Y: Any) -> float:
    """Return the mean squared error of reproduced labels, some rows at a time."""
    total = 0.0
    for rows in row_blocks(Y.shape):
        total += float(np.sum((forward(stack, Y[rows]) - Y[rows].toarray()) ** 2))
    return total / max(1, Y.shape[0] * Y.shape[1])


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
    """Return a machine of these rows, dense or sparse, with entries in [0, 1]."""
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
    """Return the direction of CD-k for weights and biases, the mean over the rows of a batch."""
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
