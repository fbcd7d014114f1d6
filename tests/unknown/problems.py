"""Small problems with unknown labels, shared by the tests of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse


def problem(
    n_rows: int = 60,
    n_features: int = 7,
    n_labels: int = 5,
    hidden: float = 0.3,
    seed: int = 0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, labels, and a mask of those that are unknown; every row and label knows some."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    shared = rng.normal(size=(n_rows, 2)) @ rng.normal(size=(2, n_labels))
    scores = X @ rng.normal(size=(n_features, n_labels)) + shared
    Y = (scores > np.quantile(scores, 0.6, axis=0)).astype(float)
    unknown = rng.random(Y.shape) < hidden
    unknown[np.arange(n_rows), rng.integers(n_labels, size=n_rows)] = False
    unknown[: 2 * n_labels, :][np.arange(2 * n_labels), np.arange(2 * n_labels) % n_labels] = False
    return X, Y, unknown


def with_nan(Y: np.ndarray, unknown: np.ndarray) -> np.ndarray:
    """Labels with NaN where they are not known."""
    return np.where(unknown, np.nan, Y)


def sparse(matrix: Any) -> scipy.sparse.csr_array:
    """A matrix of numbers in CSR form."""
    return scipy.sparse.csr_array(np.asarray(matrix, dtype=float))
