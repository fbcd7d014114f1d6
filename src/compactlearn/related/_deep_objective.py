"""CMLL's objective of encoders that are a linear solution plus a network each.

    U = (X - mean) P + Fx(X)_u,     V = (X - mean) A + Y B + Fx(X)_v + Fe(Y)

P (D, d) is CMLL's projection, and A (D, m) and B (M, m) are what its codes are made by: from
V L = (beta XcXc' + YY') V follow A = beta Xc'V / L and B = Y'V / L with the eigenvalues L. Networks
whose last layer is zero leave it at that. What is maximised is

    Gamma = beta |U'Q|^2 |XcP|^2 / |U|^2 + |Y'Q|^2,    Q an orthonormal basis of the columns of V

with U centred: the orthonormal P of CMLL becomes a bound on the size of U, as large as that of the
linear one, so that Gamma of the beginning is CMLL's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.embeddings._cmll import CMLL
from compactlearn.linalg._dense import self_product
from compactlearn.linalg._eigen import symmetric_roots
from compactlearn.linalg._row_sums import column_moments, weighted_sum
from compactlearn.metrics._checks import row_blocks
from compactlearn.related._networks._layers import SLOPE, Layers, Layout
from compactlearn.related._networks._training import torch_module

Array = NDArray[np.float64]

_EPSILON = 1e-6  # of the mean diagonal of V'V, added to it within a batch


@dataclass(frozen=True, eq=False)
class Start:
    """The linear solution, and the units that networks count in."""

    mean: Array  # (D,) of the features
    inverse: Array  # (D,) what features are multiplied by before a network reads them
    P: Array  # (D, d)
    A: Array  # (D, m)
    B: Array  # (M, m)
    energy: float  # |XcP|^2
    beta: float
    unit_u: float  # of a network's answers
    unit_v: float

    @property
    def sizes(self) -> tuple[int, int]:
        """d and m."""
        return self.P.shape[1], self.A.shape[1]

    @classmethod
    def of(cls, X: Any, Y: Any, embedding: CMLL) -> Start:
        """From a fitted CMLL in closed form."""
        V, values = embedding.codes_, embedding.eigenvalues_
        P, beta = embedding.projection_, embedding.beta_
        assert P is not None  # "auto" always projects
        n_rows = X.shape[0]
        mean = weighted_sum(X, None) / n_rows
        left = X.T @ V - np.outer(mean, V.sum(axis=0))
        rows = X @ P - mean @ P
        energy = float(np.sum(rows**2))
        means, variances = column_moments(X)[:2]
        sizes = np.sqrt(variances + means**2)
        return cls(
            mean=mean,
            inverse=np.where(sizes > 0, 1.0 / np.where(sizes > 0, sizes, 1.0), 0.0),
            P=P,
            A=beta * left / values,
            B=(Y.T @ V) / values,
            energy=energy,
            beta=float(beta),
            unit_u=float(np.sqrt(energy / rows.size)) if energy > 0 else 1.0,
            unit_v=float(1.0 / np.sqrt(n_rows)),
        )


def residual_layout(start: Start, feature_hidden: Sequence[int], label_hidden: Any) -> Layout:
    """Networks of the features, to U and V, and of the labels, to V."""
    d, m = start.sizes
    wide, narrow = (tuple(int(w) for w in widths) for widths in (feature_hidden, label_hidden))
    return Layout((start.P.shape[0], *wide, d + m), (start.B.shape[0], *narrow, m), ())


def residual_first(layout: Layout, rng: Any) -> Array:
    """Parameters to begin with: the last layer of each network is zero."""
    parts = []
    for widths in (layout.features, layout.labels):
        for place in range(len(widths) - 1):
            low, high = widths[place : place + 2]
            size = 0.0 if place == len(widths) - 2 else np.sqrt(2.0 / low)
            parts += [size * rng.standard_normal(low * high), np.zeros(high)]
    return np.concatenate(parts)


class DeepObjective:
    """-Gamma of a batch, for a `Trainer`."""

    def __init__(self, start: Start, device: str, dtype: str) -> None:
        torch = torch_module("DeepCMLLClassifier")
        kind = getattr(torch, dtype)
        self.start = start
        self.mean, self.inverse, self.P, self.A, self.B = (
            torch.from_numpy(np.ascontiguousarray(part)).to(device, kind)
            for part in (start.mean, start.inverse, start.P, start.A, start.B)
        )

    def value(
        self, networks: tuple[Layers, Layers, Layers], X: Any, Y: Any, known: Any, given: Any
    ) -> Any:
        """-Gamma, with orthonormality and size over the batch."""
        torch = torch_module("DeepCMLLClassifier")
        d = self.start.sizes[0]
        out = _network(networks[0], X * self.inverse)
        Xc = X - self.mean
        linear = Xc @ self.P
        U = linear + self.start.unit_u * out[:, :d]
        answer = out[:, d:] + _network(networks[1], Y)
        V = Xc @ self.A + Y @ self.B + self.start.unit_v * answer
        U = U - U.mean(dim=0)
        energy = (linear - linear.mean(dim=0)).square().sum()
        gram = V.T @ V
        ridge = _EPSILON * gram.diagonal().mean() + 1e-30
        one = torch.eye(len(gram), dtype=gram.dtype, device=gram.device)  # made where it is used
        root = torch.linalg.cholesky_ex(gram + ridge * one)[0]
        Q = torch.linalg.solve_triangular(root, V.T, upper=False)
        share = energy / (U.square().sum() + 1e-30)
        return -(self.start.beta * share * (Q @ U).square().sum() + (Q @ Y).square().sum())

    def answers(self, networks: tuple[Layers, Layers, Layers], X: Any) -> Any:
        """U, before it is centred."""
        out = _network(networks[0], X * self.inverse)
        return (X - self.mean) @ self.P + self.start.unit_u * out[:, : self.start.sizes[0]]


def _network(layers: Layers, X: Any) -> Any:
    torch = torch_module("DeepCMLLClassifier")
    for place, (W, b) in enumerate(layers):
        X = torch.addmm(b, X, W)
        if place < len(layers) - 1:
            X = torch.nn.functional.leaky_relu(X, SLOPE)
    return X


# ---- all rows, in NumPy -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Encoded:
    """U, scaled to its size, and the orthonormal codes of all rows, with both terms."""

    U: Array  # (N, d)
    factor: float  # that U was scaled by
    V: Array  # (N, m) orthonormal columns
    dependence: float
    recovery: float
    objective: float


def answered(layers: Sequence[tuple[Array, Array]], X: Any) -> Array:
    """What a network answers; the last layer is linear."""
    for place, (W, b) in enumerate(layers):
        X = np.asarray(X @ W) + b
        if place < len(layers) - 1:
            np.maximum(X, SLOPE * X, out=X)
    return X


def feature_layers(start: Start, layout: Layout, flat: NDArray[Any]) -> list[tuple[Array, Array]]:
    """Fx in float64, reading features as they come."""
    layers = layout.networks(layout.split(flat.astype(np.float64)))[0]
    (W, b), *others = layers
    return [(start.inverse[:, None] * W, b), *others]


def encoded(start: Start, layout: Layout, flat: NDArray[Any], X: Any, Y: Any) -> Encoded:
    """The objective of all rows, as the module's docstring has it."""
    d, m = start.sizes
    fx = feature_layers(start, layout, flat)
    fe = layout.networks(layout.split(flat.astype(np.float64)))[1]
    U, V = np.empty((X.shape[0], d)), np.empty((X.shape[0], m))
    for rows in row_blocks((X.shape[0], max(X.shape[1], Y.shape[1]))):
        out = answered(fx, X[rows])
        U[rows] = X[rows] @ start.P - start.mean @ start.P + start.unit_u * out[:, :d]
        linear = X[rows] @ start.A - start.mean @ start.A + Y[rows] @ start.B
        V[rows] = linear + start.unit_v * (out[:, d:] + answered(fe, Y[rows]))
    Q = V @ symmetric_roots(self_product(V.T))[1]
    size = float(np.sum((U - U.mean(axis=0)) ** 2))
    factor = float(np.sqrt(start.energy / size)) if size > 0 else 1.0
    U *= factor
    dependence = float(np.sum(((U - U.mean(axis=0)).T @ Q) ** 2))
    recovery = float(np.sum((Y.T @ Q) ** 2))
    return Encoded(U, factor, Q, dependence, recovery, start.beta * dependence + recovery)
