"""Kernel models as sums over features: mean slopes on the straight way from zeros to a row.

A kernel model is f(x) = sum over landmarks z of a_z k(x, z). On the way t x, t from 0 to 1, feature
j adds x_j times the mean of df/dx_j, and all of them add f(x) - f(0): Aumann and Shapley's rule,
also called integrated gradients. The mean has a closed form.

* "linear", "poly", "cosine" are functions g(x . z) on that way, with df/dx_j = z_j g': the mean of
  g' is the slope of g between 0 and x . z. (The length of the row is taken as it is.)
* "rbf": with s = |x|², p = x . z / s and k(t) the kernel of t x and z,

      mean of df/dx_j = -2 gamma (x_j I1 - z_j I0),
      I0 = mean of k(t), which is exp(-gamma (|z|² - s p²)) times that of exp(-gamma s (t - p)²),
      I1 = mean of t k(t) = p I0 + (k(0) - k(1)) / (2 gamma s).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.special import erf
from sklearn.utils.extmath import row_norms

from compactlearn.compact._kernel_map import KernelMap
from compactlearn.compact._kernels import Kernel, alike, double
from compactlearn.core._validation import check_features
from compactlearn.inspection._terms import mean_slope

Array = NDArray[np.float64]


def mean_slopes(mapping: KernelMap, X: Any, weights: Array) -> tuple[Array, Array]:
    """Return a weighted sum of kernel values for zeros, and what each column of X adds.

    The sum of row i is ``mapping.rows(X)[i] @ weights[i]``; it is the first of what is returned,
    (n_samples,), plus the product of the row with its slopes, (n_samples, n_features).
    """
    X = double(check_features(mapping, X, reset=False))
    landmarks = mapping.landmarks_
    return kernel_slopes(mapping.kernel_, alike(X, landmarks), landmarks, weights)


def kernel_slopes(kernel: Kernel, X: Any, landmarks: Any, weights: Array) -> tuple[Array, Array]:
    """Return f(0) (n,), and slopes (n, D) whose product with row i of X is f_i(x_i) - f_i(0).

    ``weights`` (n, L) are those of the landmarks (L, D) in f_i.

    >>> X, Z = np.array([[1.0, 2.0]]), np.array([[0.5, 0.0], [3.0, 1.0]])
    >>> base, slopes = kernel_slopes(Kernel("rbf", gamma=0.3), X, Z, np.array([[1.0, -2.0]]))
    >>> there = Kernel("rbf", gamma=0.3).values(X, Z) @ np.array([1.0, -2.0])
    >>> np.allclose(base + (X * slopes).sum(axis=1), there)
    True
    """
    inner = X @ landmarks.T
    inner = inner.toarray() if scipy.sparse.issparse(inner) else np.asarray(inner)
    if kernel.function == "rbf":
        assert kernel.gamma is not None
        return _of_distances(kernel.gamma, X, landmarks, weights, inner)
    if kernel.function == "linear":
        at_zero, slopes = 0.0, np.ones_like(inner)
    elif kernel.function == "cosine":
        lengths = np.outer(row_norms(X), row_norms(landmarks))
        at_zero, slopes = 0.0, np.divide(1.0, lengths, out=np.zeros_like(inner), where=lengths > 0)
    else:
        assert kernel.gamma is not None
        gamma = kernel.gamma

        def power(product: Array) -> Array:
            return (gamma * product + kernel.coef0) ** kernel.degree

        at_zero = kernel.coef0**kernel.degree
        slopes = mean_slope(power, np.zeros_like(inner), inner)
    return at_zero * weights.sum(axis=1), (weights * slopes) @ landmarks


def _of_distances(
    gamma: float, X: Any, landmarks: Any, weights: Array, inner: Array
) -> tuple[Array, Array]:
    squares = row_norms(landmarks, squared=True)
    tiny = np.finfo(np.float64).tiny  # a row of zeros adds nothing
    s = np.maximum(row_norms(X, squared=True), tiny)[:, None]
    p, root = inner / s, np.sqrt(gamma * s)
    across = np.exp(-gamma * np.maximum(squares - s * p * p, 0.0))
    along = (erf(root * (1.0 - p)) + erf(root * p)) * (np.sqrt(np.pi) / (2.0 * root))
    before = np.exp(-gamma * squares)
    after = np.exp(-gamma * np.maximum(squares - 2.0 * inner + s, 0.0))
    I0 = across * along
    own = (weights * p * I0).sum(axis=1)
    own = own + (weights * (before - after) / (2.0 * gamma * s)).sum(axis=1)
    rows = X.toarray() if scipy.sparse.issparse(X) else X
    slopes = -2.0 * gamma * (rows * own[:, None] - (weights * I0) @ landmarks)
    return weights @ before, slopes
