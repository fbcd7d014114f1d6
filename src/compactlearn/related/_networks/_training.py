"""Training on a CPU or a CUDA device, a batch at a time.

Phi aligns the codes of features, A = Fx(X), with those of labels, E = Fe(Y), and asks both to be
uncorrelated and of unit norm over the batch; Gamma is the label loss of the decoded codes,
P = Fd(E). Sums run over the batch and are not divided by its size:

    Phi   = |A - E|^2 + lam (|A'A - I|^2 + |E'E - I|^2)
    Gamma = sum over rows of  1/(|R||I|) sum_{r in R, i in I} exp(-rate (p_r - p_i))

with R the present and I the absent labels of a row. The double sum is a product of two sums, so
it costs O(M). Fx is trained by Phi alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._optional import require
from compactlearn.core._warn import warn_user
from compactlearn.related._networks._layers import CENTRE, SLOPE, Layers, Layout

Indices = NDArray[np.intp]

_EPSILON = 1e-8  # the authors' program has none and sets the NaN of 0/0 to 0


def torch_module(owner: str = "C2AEClassifier") -> ModuleType:
    """PyTorch, or the sentence that says how to get it."""
    return require("torch", extra="deep", purpose=f"training a {owner}")


def choose_device(asked: str, owner: str = "C2AEClassifier") -> str:
    """ "cpu" or "cuda"; "auto" is the latter where there is one."""
    available = torch_module(owner).cuda.is_available()
    if asked == "cuda" and not available:
        raise ValueError(
            "device='cuda' was asked for, but PyTorch finds no CUDA device here; use "
            "device='auto' or 'cpu'."
        )
    return "cpu" if asked == "cpu" or not available else "cuda"


@contextmanager
def undisturbed(device: str) -> Iterator[None]:
    """Whatever the caller is within: there are gradients, and numbers are of the type asked for."""
    torch = torch_module()
    own_types = torch.autocast(device, enabled=False)
    with torch.inference_mode(False), torch.enable_grad(), own_types:
        yield


# ---- the objective ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Objective:
    """Phi + weight * Gamma; the printed objective and the program's differ in two numbers."""

    lam: float
    weight: float  # of Gamma
    rate: float  # in the exponent

    @classmethod
    def of(cls, mode: str, alpha: float, lam: float) -> Objective:
        """The program divides by alpha, has a factor 5 in the exponent, and leaves it out of the
        chain rule, which comes to the same as dividing the loss by it."""
        if mode == "code":
            return cls(lam, 1.0 / (5.0 * alpha), 5.0)
        return cls(lam, alpha, 1.0)

    def value(
        self, networks: tuple[Layers, Layers, Layers], X: Any, Y: Any, known: Any, given: Any
    ) -> Any:
        """The objective of a batch.

        ``known`` is 1 where a label is known, or None if all are; ``given`` is what Fe reads:
        Y, with unknown labels filled.
        """
        fx, fe, fd = networks
        A, E = output(fx, X) - CENTRE, output(fe, given) - CENTRE
        loss = label_loss(output(fd, E), Y, known, self.rate)
        return alignment(A, E, self.lam) + self.weight * loss

    def answers(self, networks: tuple[Layers, Layers, Layers], X: Any) -> Any:
        """Fd(Fx(X))."""
        fx, _, fd = networks
        return output(fd, output(fx, X) - CENTRE)


def output(layers: Layers, X: Any) -> Any:
    """What a network answers: a sigmoid of the last layer."""
    torch = torch_module()
    for place, (W, b) in enumerate(layers):
        X = torch.addmm(b, X, W)
        if place < len(layers) - 1:
            X = torch.nn.functional.leaky_relu(X, SLOPE)
    return torch.sigmoid(X)


def alignment(A: Any, E: Any, lam: float) -> Any:
    """Phi."""
    loss = (A - E).square().sum()
    for C in (A, E):
        # |C'C - I|^2 without I.
        gram = C.T @ C
        loss = loss + lam * (gram.square().sum() - 2.0 * C.square().sum() + C.shape[1])
    return loss


def label_loss(P: Any, Y: Any, known: Any, rate: float) -> Any:
    """Gamma; rows without a known present, or a known absent, label add nothing."""
    absent = (1.0 if known is None else known) - Y
    up = ((-rate * P).exp() * Y).sum(dim=1)
    down = ((rate * P).exp() * absent).sum(dim=1)
    pairs = (Y.sum(dim=1) * absent.sum(dim=1)).clamp(min=1.0)
    return (up * down / pairs).sum()


# ---- rows -------------------------------------------------------------------------------------


class Rows:
    """A matrix whose rows are copied into a batch; what came sparse is dense a batch at a time."""

    def __init__(self, matrix: Any, device: str, dtype: Any) -> None:
        self.matrix, self.device, self.dtype = matrix, device, dtype

    def fill(self, rows: Indices, out: Any) -> None:
        """Copy some rows into a dense (n, width) tensor."""
        torch = torch_module()
        if scipy.sparse.issparse(self.matrix):
            part = self.matrix[rows]
            across = np.repeat(np.arange(len(rows)) * part.shape[1], np.diff(part.indptr))
            place = torch.from_numpy(across + part.indices).to(self.device)
            data = torch.from_numpy(part.data).to(self.device, self.dtype)
            out.zero_()
            out.view(-1).scatter_(0, place, data)
        else:
            out.copy_(torch.from_numpy(np.take(self.matrix, rows, axis=0)))


@dataclass(frozen=True, eq=False)
class Examples:
    """Features, labels, and which labels are not known."""

    X: Any
    Y: Any  # csr_array of ones
    unknown: Any = None  # csr_array of ones, or None if all are known
    frequencies: NDArray[np.float64] | None = None  # what an unknown label is filled with

    def take(self, rows: NDArray[np.intp]) -> Examples:
        """Some of the rows."""
        unknown = None if self.unknown is None else self.unknown[rows]
        return Examples(self.X[rows], self.Y[rows], unknown, self.frequencies)

    @classmethod
    def of(cls, X: Any, Y: Any, unknown: Any) -> Examples:
        """Rows with a known label, and two columns where there is one label."""
        if unknown is None:
            return cls(X, with_complement(Y))
        n_labels = Y.shape[1]
        missing = np.diff(unknown.indptr)
        if (missing == n_labels).all():
            raise ValueError(
                "Every label of every row is unknown, so there is nothing to learn from; pass rows "
                "with known labels."
            )
        if (missing == n_labels).any():
            rows = np.flatnonzero(missing < n_labels)
            X, Y, unknown = X[rows], Y[rows], unknown[rows]
        n_known = Y.shape[0] - unknown.sum(axis=0)
        never = int((n_known == 0).sum())
        if never:
            warn_user(
                f"{never} of the {n_labels} labels are unknown in every row: nothing is learnt "
                "about them. Leave out such columns."
            )
        frequencies = np.asarray(Y.sum(axis=0) / np.maximum(n_known, 1.0))
        if n_labels == 1:  # the rows that are left are known
            return cls(X, with_complement(Y))
        return cls(X, Y, unknown, frequencies)


def with_complement(Y: Any) -> Any:
    """The labels; a single one with its complement before it, so that there are pairs to rank."""
    if Y.shape[1] > 1:
        return Y
    column = Y.toarray()
    return scipy.sparse.csr_array(np.hstack([1.0 - column, column]))


# ---- training ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Descent:
    """The authors' way downhill: gradients divided by a running root mean square, then momentum.

    ``decay`` of the learning rate is per epoch, ``l2`` the penalty on the squares of weights.
    """

    learning_rate: float
    decay: float
    l2: float
    momentum: float = 0.99
    memory: float = 0.9  # of the running mean square

    def rate(self, epoch: int) -> float:
        """The learning rate of an epoch, counted from 0."""
        return self.learning_rate * self.decay**epoch


STATE = ("parameters", "squares", "velocity")


class Trainer:
    """The networks on a device, and what the next step needs."""

    def __init__(
        self,
        layout: Layout,
        objective: Any,  # what has the methods value and answers of an Objective
        descent: Descent,
        *,
        batch_size: int,
        device: str,
        dtype: str,
        masked: bool,
    ) -> None:
        torch = torch_module()
        self.layout, self.objective, self.descent = layout, objective, descent
        self.device, self.dtype = device, getattr(torch, dtype)
        self.parameters = self._zeros(layout.total)
        self.squares, self.velocity = self._zeros(layout.total), self._zeros(layout.total)
        self.previous = self._zeros(layout.total)  # parameters before the epoch
        self.penalty = torch.from_numpy(2.0 * descent.l2 * layout.weights()).to(device, self.dtype)
        self.X = self._zeros(batch_size, layout.n_inputs)
        self.Y = self._zeros(batch_size, layout.n_labels)
        self.unknown = self._zeros(batch_size, layout.n_labels) if masked else None
        self.filling = self._zeros(layout.n_labels) if masked else None
        self.rate, self.fresh, self.total = self._zeros(), self._zeros(), self._zeros()
        self.held: list[tuple[Rows, Any]] = []

    def hold(self, examples: Examples) -> None:
        """Take what is to be learnt from."""
        if self.filling is not None and examples.frequencies is not None:
            self.filling.copy_(torch_module().from_numpy(examples.frequencies))
        given = ((examples.X, self.X), (examples.Y, self.Y), (examples.unknown, self.unknown))
        self.held = [(self.rows(matrix), out) for matrix, out in given if out is not None]

    def rows(self, matrix: Any) -> Rows:
        """A matrix, ready to be copied to the device."""
        return Rows(matrix, self.device, self.dtype)

    def _zeros(self, *shape: int) -> Any:
        return torch_module().zeros(shape, dtype=self.dtype, device=self.device)

    def state(self) -> dict[str, NDArray[Any]]:
        """Copies of all that the next epoch depends on."""
        return {name: getattr(self, name).cpu().numpy().copy() for name in STATE}

    def load(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a state."""
        torch = torch_module()
        for name in STATE:
            getattr(self, name).copy_(torch.from_numpy(state[name]))

    def epoch(self, number: int, order: Indices) -> float:
        """Go once through held rows in an order; the sum of the batches' objectives.

        Where numbers end, in the objective or in the parameters, the answer is not finite and
        the parameters are again those of before.
        """
        self.total.zero_()
        self.previous.copy_(self.parameters)
        rate = self.descent.rate(number)
        # Beyond what the type can hold it is infinite, and the training diverges like any other.
        self.rate.fill_(rate if rate <= torch_module().finfo(self.dtype).max else math.inf)
        for place, rows in enumerate(batches(order, self.X.shape[0])):
            for block, out in self.held:
                block.fill(rows, out)
            # The mean square begins as the first square.
            self.fresh.fill_(1.0 if number == place == 0 else 1.0 - self.descent.memory)
            self._step()
        # The loss of a batch is that before its step: what the last step did, the scores tell.
        after = self._answers(self.X).sum() + self.parameters.sum()
        total = float(self.total + 0.0 * after)
        if not math.isfinite(total):
            self.back()
        return total

    def back(self) -> None:
        """Undo the epoch, as far as the networks go."""
        self.parameters.copy_(self.previous)

    def _step(self) -> None:
        torch = torch_module()
        flat = self.parameters.detach().requires_grad_()  # the same memory
        networks = self.layout.networks(flat.split(self.layout.sizes))
        known = None if self.unknown is None else 1.0 - self.unknown
        given = self.Y if self.unknown is None else self.Y + self.unknown * self.filling
        loss = self.objective.value(networks, self.X, self.Y, known, given)
        (g,) = torch.autograd.grad(loss, flat)
        with torch.no_grad():
            self.total += loss.detach()
            g.addcmul_(self.penalty, self.parameters)
            self.squares.lerp_(g.square(), self.fresh)
            g.div_(self.squares.sqrt().add_(_EPSILON))
            self.velocity.mul_(self.descent.momentum).add_(g.mul_(self.rate))
            self.parameters.sub_(self.velocity)

    def _answers(self, batch: Any) -> Any:
        with torch_module().no_grad():
            networks = self.layout.networks(self.parameters.split(self.layout.sizes))
            return self.objective.answers(networks, batch)

    def scores(self, X: Rows) -> NDArray[np.float64]:
        """Fd(Fx(X)), on the device, a batch at a time."""
        n_rows, step, found = X.matrix.shape[0], self.X.shape[0], []
        for start in range(0, n_rows, step):
            rows = np.arange(start, min(start + step, n_rows))
            batch = self.X[: len(rows)]
            X.fill(rows, batch)
            found.append(self._answers(batch).cpu().numpy())
        return np.concatenate(found).astype(np.float64)


def batches(order: Indices, size: int) -> Iterator[Indices]:
    """Batches of one size; the last is filled up from the start of the order.

    >>> [rows.tolist() for rows in batches(np.arange(5), 2)]
    [[0, 1], [2, 3], [4, 0]]
    """
    count = -(-len(order) // size)
    whole = np.resize(order, count * size)
    return (whole[start : start + size] for start in range(0, count * size, size))
