"""Scores of rows under a ridge learner, for every penalty and for nested projections.

The learner's prediction is linear in its targets, so codes need not be predicted first: with the
targets T = VW, products Xc'T in place of Xc'V, the same path gives (v - mean v)W at once.

For projections that grow, P_k = [H, Q_k] where H spans the range of Xc'V and Q_k are the k leading
principal directions of what H leaves over, Q'Xc'V = 0 and Q'Xc'XcQ = diag(s). The normal equations

    [A + aI   C_k     ] [B1]   [R]
    [C_k'     s_k + aI] [B2] = [0]      A = H'Xc'XcH,  C = H'Xc'XcQ,  R = H'Xc'T

then need, for every k and every penalty a, one system of the order of H:
(A + aI - C_k (s_k + a)^-1 C_k') B1 = R and B2 = -(s_k + a)^-1 C_k' B1.

Without an intercept the mean c of the rows takes part, as a rank-one term of the matrix, and
Q'c is not 0. With g = (S + aI)^-1 c for the S of the centred rows, what such a ridge leaves over of
the constant 1 is (1 - n (u - c)'g) / (1 + n c'g) for a row u; the same elimination finds g, with a
right side of two parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.linalg._codes import Codes
from compactlearn.linalg._dense import solve
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._ridge import LearnedPath, PenaltyPath, solve_ridge

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RowsOnPath:
    """Rows in the coordinates of a :class:`LearnedPath`, less the mean of the training rows."""

    spectrum: PenaltyPath
    inside: Array  # (r, k) products of the targets
    rows: Array  # (n, r)

    @classmethod
    def of(cls, path: LearnedPath, rows: Any) -> RowsOnPath:
        if path.outside is None:
            coordinates = _dense(rows) - path.mean_left
        else:
            coordinates = rows @ path.outside - path.mean_left @ path.outside
        return cls(path.spectrum, path.inside, coordinates)

    def codes(self, alpha: float) -> Array:
        """(n, k) predicted codes, less their mean in training."""
        return self.rows @ self.spectrum.shrunk(self.inside, alpha)

    def with_inside(self, inside: Array) -> RowsOnPath:
        """Return these rows for other targets, given by their products."""
        return replace(self, inside=inside)


@dataclass(frozen=True)
class NestedRows:
    """Rows in the coordinates of a head and of principal directions orthogonal to it."""

    gram: Array  # (r, r) A
    cross: Array  # (r, K) C
    variances: Array  # (K,) s
    head: Array  # (n, r) coordinates of the rows, less the training mean
    tail: Array  # (n, K)
    means: tuple[Array, Array]  # (r,) and (K,) coordinates of that mean
    total: float  # n, the weight of all training rows

    @classmethod
    def of(cls, pair: Pair, head: Array, extra: int, rows: Any) -> NestedRows:
        """Return the rows for a head and up to ``extra`` principal directions, as many as exist."""
        Q, variances = pair.left.principal_directions(extra, head)
        images = pair.left.gram @ head
        parts = [pair.left.expressed(part) for part in (head, Q)]
        means = (pair.mean_left @ parts[0], pair.mean_left @ parts[1])
        inside = [rows @ part - mean for part, mean in zip(parts, means, strict=True)]
        gram, cross = pair.left.inner(head, images), pair.left.inner(images, Q)
        gram = (gram + gram.T) / 2
        return cls(gram, cross, variances, inside[0], inside[1], means, pair.count)

    def constant_left_over(self, alpha: float, counts: Sequence[int]) -> Iterator[Array]:
        """Yield the residuals (n, 1) of the constant 1 in a ridge without an intercept."""
        c, e = (mean[:, None] for mean in self.means)
        origin = replace(self, head=-c.T, tail=-e.T)
        for seen, none in zip(
            self.scores(c, alpha, counts, e), origin.scores(c, alpha, counts, e), strict=True
        ):
            yield (1.0 - self.total * seen) / (1.0 - self.total * none)

    def scores(
        self, target: Array, alpha: float, counts: Sequence[int], tail_target: Array | None = None
    ) -> Iterator[Array]:
        """Yield the predictions (n, k) less their training mean for each number of directions.

        ``target`` is R (r, k); ``tail_target`` (K, k) are the targets of the extra directions, 0 if
        None. ``counts`` ascend.
        """
        r = self.gram.shape[0]
        inverse = 1.0 / (self.variances + alpha)
        schur, coordinates, done = self.gram.copy(), self.head.copy(), 0
        for count in counts:
            if count > done:
                block = slice(done, count)
                C = self.cross[:, block]
                scaled = C * inverse[block]
                schur -= scaled @ C.T
                coordinates -= self.tail[:, block] @ scaled.T
                done = count
            right, tail = target, 0.0
            if tail_target is not None:
                shrunk = inverse[:done, None] * tail_target[:done]
                right, tail = target - self.cross[:, :done] @ shrunk, self.tail[:, :done] @ shrunk
            if alpha > 0:
                B = solve(schur + alpha * np.eye(r), right)
            else:
                B = solve_ridge((schur + schur.T) / 2, right, 0.0, float(np.trace(self.gram)))
            yield coordinates @ B + tail


def _dense(rows: Any) -> Array:
    return rows.toarray() if scipy.sparse.issparse(rows) else rows


def projected_target(pair: Pair, head: Array, codes: Codes, decoder: Array | None) -> Array:
    """``H'Xc'VW``; W is the identity where ``decoder`` is None."""
    target = pair.left.inner(head, codes.left)
    return target if decoder is None else target @ decoder
