"""Scores of rows under a ridge learner, for every penalty and for nested projections.

The learner's prediction is linear in its targets, so codes need not be predicted first: with the
targets T = VW, products Xc'T in place of Xc'V, the same path gives (v - mean v)W at once.

For projections that grow, P_k = [H, Q_k] where H spans the range of Xc'V and Q_k are the k leading
principal directions of what H leaves over, Q'Xc'V = 0 and Q'Xc'XcQ = diag(s). The normal equations

    [A + aI   C_k     ] [B1]   [R]
    [C_k'     s_k + aI] [B2] = [0]      A = H'Xc'XcH,  C = H'Xc'XcQ,  R = H'Xc'T

then need, for every k and every penalty a, one system of the order of H:
(A + aI - C_k (s_k + a)^-1 C_k') B1 = R and B2 = -(s_k + a)^-1 C_k' B1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.linalg.codes import Codes
from compactlearn.linalg.dense import solve
from compactlearn.linalg.pairs import Pair
from compactlearn.linalg.ridge import LearnedPath, PenaltyPath, solve_ridge

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
            coordinates = np.asarray(rows @ path.outside) - path.mean_left @ path.outside
        return cls(path.spectrum, path.inside, coordinates)

    def codes(self, alpha: float) -> Array:
        """(n, k) predicted codes, less their mean in training."""
        return self.rows @ self.spectrum.shrunk(self.inside, alpha)

    def with_inside(self, inside: Array) -> RowsOnPath:
        """The same rows and spectrum for other targets, given by their products."""
        return replace(self, inside=inside)


@dataclass(frozen=True)
class NestedRows:
    """Rows in the coordinates of a head and of principal directions beside it."""

    gram: Array  # (r, r) A
    cross: Array  # (r, K) C
    variances: Array  # (K,) s
    head: Array  # (n, r) coordinates of the rows, less the training mean
    tail: Array  # (n, K)

    @classmethod
    def of(cls, pair: Pair, head: Array, extra: int, rows: Any) -> NestedRows:
        """For projections of up to ``extra`` columns beside ``head``; fewer where none are left."""
        Q, variances = pair.principal_directions(extra, head, fill=False)
        images = pair.left_gram() @ head
        parts = [pair.expressed(part) for part in (head, Q)]
        inside = [np.asarray(rows @ part) - pair.mean_left @ part for part in parts]
        gram = pair.inner(head, images)
        return cls((gram + gram.T) / 2, pair.inner(images, Q), variances, inside[0], inside[1])

    def scores(self, target: Array, alpha: float, counts: Sequence[int]) -> Iterator[Array]:
        """(n, k) predictions, less their mean in training, for each number of extra directions.

        ``target`` is R (r, k); ``counts`` ascend.
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
            if alpha > 0:
                B = solve(schur + alpha * np.eye(r), target)
            else:
                B = solve_ridge((schur + schur.T) / 2, target, 0.0, float(np.trace(self.gram)))
            yield coordinates @ B


def _dense(rows: Any) -> Array:
    return rows.toarray() if scipy.sparse.issparse(rows) else rows


def projected_target(pair: Pair, head: Array, codes: Codes, decoder: Array | None) -> Array:
    """``H'Xc'VW``; W is the identity where ``decoder`` is None."""
    target = pair.inner(head, codes.left)
    return target if decoder is None else target @ decoder
