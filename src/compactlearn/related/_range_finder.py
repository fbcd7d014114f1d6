"""Leading eigenvectors of a positive semi-definite matrix from a few products with a random block.

The block is multiplied, made orthonormal and multiplied again (Halko, Martinsson and Tropp 2011).
With as many columns as the matrix has it is the exact decomposition.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.linalg import _dense as dense
from compactlearn.linalg._eigen import numerical_rank

Array = NDArray[np.float64]


def leading_range(
    matrix: Any, size: int, width: int, n_power: int, rng: np.random.RandomState
) -> Array:
    """Orthonormal columns (n, r) that span about the leading ``size`` eigenvectors, r <= size.

    ``width`` columns are multiplied ``n_power + 1`` times; the left singular vectors of the last
    product come back, on the host, as many as are more than rounding.

    >>> leading_range(np.diag([1.0, 0.0, 3.0]), 3, 3, 1, np.random.RandomState(0)).shape
    (3, 2)
    """
    block = rng.standard_normal((matrix.shape[0], width))
    for _ in range(n_power):
        block = dense.qr(np.asarray(matrix @ block))[0]
    images = np.asarray(matrix @ block)
    vectors, lengths, _ = dense.svd(images)
    return vectors[:, : min(size, numerical_rank(lengths, matrix.shape[0]))]
