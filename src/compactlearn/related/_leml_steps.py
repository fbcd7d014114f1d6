"""The alternating steps of LEML.

minimise  sum_ij w_i l(y_ij, z_ij) + alpha/2 (||P||^2 + ||W||^2),    Z = X P W + 1 b'

over the labels that are known; X (N, D) features, Y (N, M) labels, w weights of rows, P (D, k),
W (k, M), b (M,) free. l is (y - z)^2 / 2, or log(1 + e^z) - y z. For squares P, and W with b, are
found exactly in turn. Every step lowers the objective or leaves it as it is.

With squares and no label unknown the intercept is gone once both sides are centred. The step of P
is Xc'Xc P WW' + alpha P = Xc'Yc W', which the eigenvectors of WW' and of the smaller of Xc'Xc and
XcXc' turn into one division; where both are large, conjugate gradients solve it by products.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.optimize
import scipy.sparse
from numpy.typing import NDArray
from scipy.special import expit

from compactlearn.compact._inputs import TrainingData
from compactlearn.linalg import _dense as dense
from compactlearn.linalg._eigen import all_eigenpairs
from compactlearn.linalg._moments import Moments
from compactlearn.linalg._operators import Operator, centred
from compactlearn.linalg._row_sums import weighted_sum

Array = NDArray[np.float64]

DENSE_SIDE = 4_000  # up to this order the smaller Gram matrix is decomposed
_CG_STEPS = 100
_CG_ENOUGH = 1e-9  # of the residual at P = 0
_INNER = 30  # steps of L-BFGS in each round


@dataclass(frozen=True)
class Rows:
    """What is learnt from."""

    X: Any  # (N, D), sparse or dense
    Y: Any  # (N, M) csr_array of ones; an unknown label is absent
    weights: Array | None
    unknown: Any | None  # (N, M) csr_array of ones where a label is not known

    @classmethod
    def of(cls, data: TrainingData) -> Rows:
        X, Y = data.X.astype(np.float64, copy=False), data.targets.matrix.astype(np.float64)
        return cls(X, Y, data.weights, data.targets.unknown)


@dataclass(frozen=True)
class Factors:
    """P, W and b."""

    P: Array  # (D, k)
    W: Array  # (k, M)
    b: Array  # (M,)

    @property
    def flat(self) -> Array:
        return np.concatenate([self.P.ravel(), self.W.ravel(), self.b])

    def shaped(self, flat: Array) -> Factors:
        """Numbers like those of ``flat`` in the shapes of these."""
        P, W, b = np.split(flat, np.cumsum([self.P.size, self.W.size]))
        return Factors(P.reshape(self.P.shape), W.reshape(self.W.shape), b)

    def penalty(self, alpha: float) -> float:
        return alpha / 2 * float(np.vdot(self.P, self.P) + np.vdot(self.W, self.W))


class SquaredSteps:
    """Squares, with every label known."""

    def __init__(self, rows: Rows, alpha: float) -> None:
        self.alpha = alpha
        roots = None if rows.weights is None else np.sqrt(rows.weights)
        count = rows.X.shape[0] if rows.weights is None else rows.weights.sum()
        self.mean_left = weighted_sum(rows.X, rows.weights) / count
        self.mean_right = weighted_sum(rows.Y, rows.weights) / count
        self.X: Operator = centred(rows.X, self.mean_left, roots)
        self.Y: Operator = centred(rows.Y, self.mean_right, roots)
        squares = weighted_sum(rows.Y.multiply(rows.Y).tocsr(), rows.weights)
        self.energy = float(squares.sum() - count * self.mean_right @ self.mean_right)
        self.narrow = rows.X.shape[1] <= rows.X.shape[0]
        self.spectrum = self._decomposed(rows) if min(rows.X.shape) <= DENSE_SIDE else None

    def _decomposed(self, rows: Rows) -> tuple[Array, Array]:
        """Eigenvalues and vectors of the smaller of Xc'Xc and XcXc'."""
        if self.narrow:
            nothing = scipy.sparse.csr_array((rows.X.shape[0], 0))
            gram = Moments.from_arrays(rows.X, nothing, rows.weights).left_left
        else:
            gram = self.X @ (self.X.T @ np.eye(rows.X.shape[0]))
        values, vectors = all_eigenpairs((gram + gram.T) / 2)
        return np.maximum(values, 0.0), vectors

    def objective(self, found: Factors) -> float:
        U = self.X @ found.P
        inner = np.vdot(self.Y.T @ U, found.W.T)
        fitted = np.vdot(dense.self_product(U.T), dense.self_product(found.W))
        return 0.5 * float(self.energy - 2 * inner + fitted) + found.penalty(self.alpha)

    def round(self, found: Factors) -> Factors:
        return self._labels(self._features(found))

    def _features(self, found: Factors) -> Factors:
        """The best P for this W."""
        s, Q = all_eigenpairs(dense.self_product(found.W))
        s = np.maximum(s, 0.0)
        T = self.Y @ (found.W.T @ Q)
        if self.spectrum is None:
            P = self._by_products(T, s, found.P @ Q)
        else:
            e, E = self.spectrum
            shrunk = 1.0 / (np.outer(e, s) + self.alpha)
            inside = E.T @ (self.X.T @ T if self.narrow else T)
            P = E @ (shrunk * inside)
            P = P if self.narrow else self.X.T @ P
        P = P @ Q.T
        return Factors(P, found.W, self._intercept(P, found.W))

    def _by_products(self, T: Array, s: Array, start: Array) -> Array:
        def times(P: Array) -> Array:
            return (self.X.T @ (self.X @ P)) * s + self.alpha * P

        return conjugate_gradients(times, self.X.T @ T, start)

    def _labels(self, found: Factors) -> Factors:
        """The best W for this P."""
        U = self.X @ found.P
        gram = dense.self_product(U.T) + self.alpha * np.eye(U.shape[1])
        W = dense.solve(gram, (self.Y.T @ U).T)
        return Factors(found.P, W, self._intercept(found.P, W))

    def _intercept(self, P: Array, W: Array) -> Array:
        return self.mean_right - (self.mean_left @ P) @ W


class EntrySteps:
    """Labels that are not known, or another loss: with a matrix of all rows by all labels."""

    def __init__(self, rows: Rows, alpha: float) -> None:
        self.X, self.Y, self.alpha = rows.X, rows.Y.toarray(), alpha
        weights = np.ones(rows.X.shape[0]) if rows.weights is None else rows.weights
        self.counts = np.broadcast_to(weights[:, None], self.Y.shape)  # of each entry
        if rows.unknown is not None:
            self.counts = np.where(rows.unknown.toarray() > 0, 0.0, self.counts)

    def _scores(self, found: Factors) -> Array:
        return (self.X @ found.P) @ found.W + found.b


class PartlySquaredSteps(EntrySteps):
    """Squares, over the labels that are known."""

    def objective(self, found: Factors) -> float:
        missed = self.counts * (self._scores(found) - self.Y) ** 2
        return 0.5 * float(missed.sum()) + found.penalty(self.alpha)

    def round(self, found: Factors) -> Factors:
        return self._labels(self._features(found))

    def _features(self, found: Factors) -> Factors:
        W, b = found.W, found.b

        def times(P: Array) -> Array:
            return self.X.T @ ((self.counts * ((self.X @ P) @ W)) @ W.T) + self.alpha * P

        right = self.X.T @ ((self.counts * (self.Y - b)) @ W.T)
        return Factors(conjugate_gradients(times, right, found.P), W, b)

    def _labels(self, found: Factors) -> Factors:
        U = np.hstack([self.X @ found.P, np.ones((self.X.shape[0], 1))])
        shrink = np.append(np.full(found.P.shape[1], self.alpha), 0.0)
        both = np.array([self._label(U, shrink, j) for j in range(self.Y.shape[1])]).T
        return Factors(found.P, both[:-1], both[-1])

    def _label(self, U: Array, shrink: Array, j: int) -> Array:
        """The ridge of one label on its known rows; nothing where there are none."""
        known = self.counts[:, j]
        if not known.any():
            return np.zeros(U.shape[1])
        gram = U.T @ (known[:, None] * U) + np.diag(shrink)
        return dense.solve(gram, U.T @ (known * self.Y[:, j]))


class LogisticSteps(EntrySteps):
    """The logistic loss, over the labels that are known: some steps of L-BFGS in all of P, W and b,
    which get there in far fewer products than steps of one beside the others."""

    def objective(self, found: Factors) -> float:
        Z = self._scores(found)
        lost = self.counts * (np.logaddexp(0.0, Z) - self.Y * Z)
        return float(lost.sum()) + found.penalty(self.alpha)

    def round(self, found: Factors) -> Factors:
        start = found.flat

        def value(flat: Array) -> tuple[float, Array]:
            at = found.shaped(flat)
            U = self.X @ at.P
            miss = self.counts * (expit(U @ at.W + at.b) - self.Y)
            slope = Factors(
                self.X.T @ (miss @ at.W.T) + self.alpha * at.P,
                U.T @ miss + self.alpha * at.W,
                miss.sum(axis=0),
            )
            return self.objective(at), slope.flat

        lowered = scipy.optimize.minimize(
            value, start, jac=True, method="L-BFGS-B", options={"maxiter": _INNER}
        )
        return found.shaped(lowered.x) if lowered.fun <= value(start)[0] else found


def conjugate_gradients(times: Callable[[Array], Array], right: Array, start: Array) -> Array:
    """Solve ``times(P) = right`` from where one stands, so that what it minimises only falls."""
    P, residual = start, right - times(start)
    ahead, size = residual, float(np.vdot(residual, residual))
    enough = _CG_ENOUGH**2 * float(np.vdot(right, right))
    for _ in range(_CG_STEPS):
        if size <= enough:
            break
        image = times(ahead)
        length = size / float(np.vdot(ahead, image))
        P, residual = P + length * ahead, residual - length * image
        new = float(np.vdot(residual, residual))
        ahead, size = residual + (new / size) * ahead, new
    return P


def first_factors(rows: Rows, k: int, rng: np.random.RandomState) -> Factors:
    """W is a random basis near the labels' own directions; of P and b nothing is known yet."""
    drawn = rng.standard_normal((rows.Y.shape[1], k))
    basis = dense.qr(rows.Y.T @ (rows.Y @ drawn) + 1e-3 * drawn)[0]
    mean = weighted_sum(rows.Y, rows.weights)
    count = rows.Y.shape[0] if rows.weights is None else rows.weights.sum()
    return Factors(np.zeros((rows.X.shape[1], k)), basis.T, mean / count)
