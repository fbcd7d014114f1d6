"""Random matrices A (M, m) by which labels are projected before a tree looks at them.

Distances of projected label vectors are those of the vectors themselves on average, E AA' = I, so
that the variance within a node is estimated from m outputs in place of M.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

Array = NDArray[np.float64]

PROJECTIONS = ("gaussian", "rademacher", "achlioptas", "subsample", "identity")


def label_projection(kind: str, n_labels: int, m: int, rng: np.random.Generator) -> Any:
    """(M, m), sparse where most of it is zero; "identity" takes no notice of m."""
    if kind == "identity":
        return scipy.sparse.eye_array(n_labels, format="csr")
    if kind == "gaussian":
        return rng.standard_normal((n_labels, m)) / np.sqrt(m)
    if kind == "rademacher":
        return rng.choice([-1.0, 1.0], size=(n_labels, m)) / np.sqrt(m)
    if kind == "achlioptas":
        size = np.sqrt(3.0 / m)
        drawn = rng.choice([-size, 0.0, size], p=[1 / 6, 2 / 3, 1 / 6], size=(n_labels, m))
        return scipy.sparse.csr_array(drawn)
    labels = rng.integers(0, n_labels, size=m)
    parts = (np.full(m, np.sqrt(n_labels / m)), (labels, np.arange(m)))
    return scipy.sparse.csr_array(parts, shape=(n_labels, m))
