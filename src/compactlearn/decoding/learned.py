"""A linear decoder learnt from predicted codes.

W = V'Y decodes perfect codes. The learner's are shrunken and noisy, so labels are regressed on
codes predicted for rows the learner had not seen, with a ridge that pulls towards the method's own
decoder:

    minimise  ||Yc - Uc W||^2 + penalty ||W - W0||^2

    U (N, m) honest codes, Y (N, M) labels, both centred, W0 (m, M) the method's decoder.

A large penalty is the linear decoder, a small one least squares on the honest codes. The penalty is
chosen by generalised cross-validation (Golub, Heath and Wahba 1979), from one decomposition of U'U.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.linalg.dense import self_product
from compactlearn.linalg.moments import Moments
from compactlearn.linalg.ridge import RidgePath

Array = NDArray[np.float64]

# Shares of the mean eigenvalue of U'U that are tried as penalties.
SHARES = np.logspace(-6, 4, 41)


@dataclass(frozen=True)
class CodeSums:
    """What the ridge needs to know of codes U and labels Y."""

    count: float  # total weight
    mean_codes: Array  # (m,)
    mean_labels: Array  # (M,)
    gram: Array  # (m, m)  Uc'Uc
    cross: Array  # (m, M)  Uc'Y
    energy: float  # ||Yc||^2

    @classmethod
    def of_rows(cls, codes: Array, Y: Any, weights: Array | None) -> CodeSums:
        """``Y`` is a sparse (N, M) matrix of ones; nothing of that size is formed."""
        w = np.ones(len(codes)) if weights is None else weights
        count = float(w.sum())
        mean, ybar = (w @ codes) / count, np.asarray(Y.T @ w).ravel() / count
        Uc = (codes - mean) * np.sqrt(w)[:, None]
        cross = np.asarray(Y.T @ (Uc * np.sqrt(w)[:, None])).T
        energy = float(_square_sum(Y, w) - count * (ybar @ ybar))
        return cls(count, mean, ybar, self_product(Uc.T), cross, energy)

    @classmethod
    def of_moments(cls, moments: Moments) -> CodeSums:
        """Codes on the left, labels on the right."""
        energy = float(np.trace(moments.scatter) - np.trace(moments.left_left))
        means = moments.mean_left, moments.mean_right
        return cls(moments.count, *means, moments.left_left, moments.left_right, energy)


@dataclass(frozen=True)
class CodeDecoder:
    """Scores from codes: ``codes @ coefficients + intercept``."""

    coefficients: Array  # (m, M)
    intercept: Array  # (M,)
    penalty: float


def learn_linear_decoder(sums: CodeSums, prior: Array) -> CodeDecoder:
    """Ridge of the labels on honest codes, shrunken towards ``prior``; penalty by GCV.

    >>> import scipy.sparse
    >>> codes = np.array([[2.0], [-2.0], [2.0], [-2.0]])
    >>> Y = scipy.sparse.csr_array(np.array([[1.0], [0.0], [1.0], [0.0]]))
    >>> decoder = learn_linear_decoder(CodeSums.of_rows(codes, Y, None), np.array([[1.0]]))
    >>> np.round(decoder.coefficients, 2), decoder.intercept
    (array([[0.25]]), array([0.5]))
    """
    path = RidgePath.from_gram(sums.gram)
    inside = path.vectors.T @ sums.cross  # E'U'Y
    start = path.vectors.T @ prior
    gap = inside - path.values[:, None] * start  # E'(U'Y - U'U W0)
    # What the prior leaves, ||Yc - Uc W0||^2, and what a penalty takes off it.
    left = float(path.values @ np.sum(start**2, axis=1)) - 2 * np.vdot(start, inside) + sums.energy
    squares = np.sum(gap**2, axis=1)
    scale = path.values.mean() if path.values.size and path.values.mean() > 0 else 1.0
    best, chosen = np.inf, float(scale * SHARES[-1])
    for penalty in scale * SHARES:
        inverse = path.inverse(penalty)
        residual = left - float(squares @ (2 * inverse - path.values * inverse**2))
        freedom = 1.0 + float(path.values @ inverse)
        score = residual / max(sums.count - freedom, 1e-9) ** 2
        if score < best:
            best, chosen = score, float(penalty)
    W = path.vectors @ (start + path.inverse(chosen)[:, None] * gap)
    return CodeDecoder(W, sums.mean_labels - sums.mean_codes @ W, chosen)


def _square_sum(Y: Any, weights: Array) -> float:
    return float(np.repeat(weights, np.diff(Y.indptr)) @ (Y.data * Y.data))
