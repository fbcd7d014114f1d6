"""Networks and their training by PyTorch, on a CPU or a CUDA device, a batch at a time.

A network is a list of layers (W, b). All weights and biases of the networks that are trained
together lie in one flat vector, so that the optimiser deals with one array.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from compactlearn.core._optional import require
from compactlearn.core._params import (
    Choice,
    Constraint,
    Integer,
    Nothing,
    Numbers,
    Real,
    Seed,
    Widths,
)
from compactlearn.core._warn import warn_user

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Layers = Sequence[tuple[Any, Any]]

SLOPE = 0.1  # of the rectifier below zero, as in the program of C2AE's authors
# Of the optimiser: gradients are divided by a running root mean square, then there is momentum.
_MOMENTUM = 0.99
_MEMORY = 0.9  # of the running mean square
_EPSILON = 1e-8  # the authors' program has none and sets the NaN of 0/0 to 0


def torch_module(owner: str) -> ModuleType:
    """Return PyTorch, or raise ImportError with the way to install it."""
    return require("torch", extra="deep", purpose=f"training a {owner}")


def choose_device(asked: str, owner: str) -> str:
    """Return "cpu" or "cuda"; "auto" is the latter where there is one."""
    available = torch_module(owner).cuda.is_available()
    if asked == "cuda" and not available:
        raise ValueError(
            "device='cuda' needs a CUDA device, and PyTorch finds none here; use device='auto' or "
            "'cpu'."
        )
    return "cpu" if asked == "cpu" or not available else "cuda"


@dataclass(frozen=True)
class Layout:
    """Widths of the layers of each network, from input to output."""

    widths: tuple[tuple[int, ...], ...]

    @property
    def sizes(self) -> list[int]:
        """Entries of each part of the flat vector: weights, then biases, layer by layer."""
        every = (pair for widths in self.widths for pair in pairwise(widths))
        return [size for low, high in every for size in (low * high, high)]

    def networks(self, parts: Sequence[Any]) -> list[Layers]:
        """Return the networks of the parts of a flat vector, of NumPy or of PyTorch."""
        waiting = iter(parts)
        return [
            [(next(waiting).reshape(low, high), next(waiting)) for low, high in pairwise(widths)]
            for widths in self.widths
        ]

    def of_flat(self, flat: NDArray[Any]) -> list[Layers]:
        """Return the networks of a flat NumPy vector."""
        return self.networks(np.split(flat, list(accumulate(self.sizes))[:-1]))

    def weights(self) -> Array:
        """Return 1 where the flat vector has a weight and 0 where a bias, which has no penalty."""
        kinds = (np.ones, np.zeros)
        return np.concatenate([kinds[k % 2](size) for k, size in enumerate(self.sizes)])


def rectified(layers: Layers, X: Any) -> Array:
    """Return the last layer's sums for rows; layers before it end in a leaky rectifier."""
    for place, (W, b) in enumerate(layers):
        X = np.asarray(X @ W) + b
        if place < len(layers) - 1:
            np.maximum(X, SLOPE * X, out=X)
    return X


def rectified_tensor(torch: Any, layers: Layers, X: Any) -> Any:
    """Return the same for a tensor."""
    for place, (W, b) in enumerate(layers):
        X = torch.addmm(b, X, W)
        if place < len(layers) - 1:
            X = torch.nn.functional.leaky_relu(X, SLOPE)
    return X


#: Constraints of the parameters that all classifiers have whose networks are trained.
TRAINED: dict[str, tuple[Constraint, ...]] = {
    "batch_size": (Integer(1),),
    "max_epochs": (Integer(1),),
    "learning_rate": (Real(0, open_low=True),),
    "l2": (Real(0),),
    "threshold": (Real(), Numbers()),
    "device": (Choice("auto", "cpu", "cuda"),),
    "dtype": (Choice("float32", "float64"),),
    "random_state": (Seed(),),
}
#: And of those with networks of features and of labels, which are chosen by held-out rows.
VALIDATED: dict[str, tuple[Constraint, ...]] = {
    **TRAINED,
    "feature_hidden": (Widths(),),
    "label_hidden": (Widths(),),
    "decay": (Real(0, 1, open_low=True),),
    "validation_fraction": (Real(0, 1, open_high=True),),
    "patience": (Integer(1), Nothing()),
}


class Trainer:
    """Networks of a classifier on its device, and the state of the optimiser.

    ``loss(networks, *blocks)`` is the objective of a batch, a row block of each of the matrices.
    The learning rate is multiplied by ``decay`` after each epoch; ``l2`` penalises weights.
    """

    def __init__(
        self,
        classifier: Any,
        layout: Layout,
        first: NDArray[Any],
        loss: Callable[..., Any],
        matrices: Sequence[Any],
        *,
        n_rows: int,
        decay: float,
    ) -> None:
        self.owner, self.device = type(classifier).__name__, classifier.device_
        self.torch = torch_module(self.owner)
        self.layout, self.loss, self.matrices = layout, loss, matrices
        self.batch_size = min(classifier.batch_size, n_rows)
        self.learning_rate, self.decay = float(classifier.learning_rate), float(decay)
        self.parameters = self.torch.from_numpy(first.astype(classifier.dtype)).to(self.device)
        self.penalty = self.tensor(2.0 * float(classifier.l2) * layout.weights())
        self.squares = self.torch.zeros_like(self.parameters)
        self.velocity = self.torch.zeros_like(self.parameters)

    def tensor(self, block: Any) -> Any:
        """Return rows on the device; what came sparse is dense a batch at a time."""
        block = block.toarray() if scipy.sparse.issparse(block) else np.ascontiguousarray(block)
        return self.torch.from_numpy(block).to(self.device, self.parameters.dtype)

    def flat(self) -> NDArray[Any]:
        """Return a copy of the parameters."""
        return self.parameters.cpu().numpy().copy()

    def epoch(self, number: int, order: Indices) -> float:
        """Go once through rows in an order; return the sum of the batches' objectives.

        It is not finite where the parameters end up so.
        """
        total = self.torch.zeros((), dtype=self.parameters.dtype, device=self.device)
        for place, rows in enumerate(batches(order, self.batch_size)):
            # The mean square begins as the first square.
            fresh = 1.0 if number == place == 0 else 1.0 - _MEMORY
            total += self._step(rows, self.learning_rate * self.decay**number, fresh)
        return float(total + 0.0 * self.parameters.sum())

    def _step(self, rows: Indices, rate: float, fresh: float) -> Any:
        flat = self.parameters.detach().requires_grad_()  # the same memory
        networks = self.layout.networks(flat.split(self.layout.sizes))
        loss = self.loss(networks, *(self.tensor(matrix[rows]) for matrix in self.matrices))
        (g,) = self.torch.autograd.grad(loss, flat)
        with self.torch.no_grad():
            g.addcmul_(self.penalty, self.parameters)
            self.squares.lerp_(g.square(), fresh)
            g.div_(self.squares.sqrt().add_(_EPSILON))
            self.velocity.mul_(_MOMENTUM).add_(g.mul_(rate))
            self.parameters.sub_(self.velocity)
        return loss.detach()


@dataclass(frozen=True)
class Trained:
    """The parameters that are kept, and how training went."""

    flat: NDArray[Any]
    losses: list[float]  # one an epoch
    scores: list[float]  # likewise; more is better
    best_epoch: int  # from 1: that of the parameters; 0 before the first

    @property
    def history(self) -> dict[str, list[float]]:
        return {"loss": self.losses, "score": self.scores}


def train(
    trainer: Trainer,
    rows: Indices,
    seed: int,
    *,
    max_epochs: int,
    patience: int | None = None,
    score: Callable[[NDArray[Any]], float | None] | None = None,
) -> Trained:
    """Train on rows to the last epoch, or until patience or numbers end.

    ``score`` returns how good parameters are, and None where networks of them return no numbers.
    The first epoch of the best score is kept; the last one without a score, or where none is
    defined.
    """
    flat, best, best_epoch = trainer.flat(), math.nan, 0
    losses: list[float] = []
    scores: list[float] = []
    for epoch in range(max_epochs):
        if patience is not None and epoch - best_epoch >= patience:
            break
        loss = trainer.epoch(epoch, np.random.default_rng([seed, 1, epoch]).permutation(rows))
        found, reached = trainer.flat(), None
        if math.isfinite(loss):
            reached = math.nan if score is None else score(found)
        if reached is None:
            _complain(trainer.owner, epoch)
            break
        losses.append(loss)
        scores.append(reached)
        if math.isnan(best) or reached > best:
            flat, best, best_epoch = found, reached, epoch + 1
    return Trained(flat, losses, [] if score is None else scores, best_epoch)


def _complain(owner: str, epoch: int) -> None:
    advice = "lower learning_rate, or bring the features to order one, as a StandardScaler does."
    if epoch == 0:
        raise ValueError(
            f"The training of {owner} diverged in its first epoch: the objective is not finite; "
            f"{advice}"
        )
    warn_user(
        f"The training of {owner} diverged in epoch {epoch + 1}: the objective is not finite. The "
        f"best epoch before it is kept; {advice}",
        ConvergenceWarning,
    )


def batches(order: Indices, size: int) -> Iterator[Indices]:
    """Return batches of one size; the last is filled up from the start of the order.

    >>> [rows.tolist() for rows in batches(np.arange(5), 2)]
    [[0, 1], [2, 3], [4, 0]]
    """
    count = -(-len(order) // size)
    whole = np.resize(order, count * size)
    return (whole[start : start + size] for start in range(0, count * size, size))
