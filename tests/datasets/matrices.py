"""Matrices as arrays, for comparisons."""

import numpy as np
from scipy import sparse


def dense(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)
