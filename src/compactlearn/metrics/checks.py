"""What the metrics accept as truth, scores and labels, and the blocks of rows they work on."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["check_labels", "check_scores", "check_truth", "dense_rows", "row_blocks"]

# Cells per block: small enough for the processor's cache, large enough to keep NumPy busy.
BLOCK_CELLS = 1 << 18

Matrix = np.ndarray | sparse.csr_array


def check_truth(Y_true: Any) -> Matrix:
    """The truth as an ndarray or csr_array of 0, 1 and NaN (unknown)."""
    Y = _matrix(Y_true, "Y_true")
    values = _stored(Y)
    wrong = (values != 0) & (values != 1) & ~np.isnan(values)
    if wrong.any():
        raise ValueError(
            "Y_true must hold 0 (absent), 1 (present) or NaN (unknown) only, but holds "
            f"{values[wrong].flat[0]:g}; pass a 0/1 indicator matrix."
        )
    return Y


def check_labels(labels: Any, shape: tuple[int, int]) -> Matrix:
    """Predicted labels as an ndarray or csr_array of 0 and 1, of the shape of the truth."""
    L = _matrix(labels, "labels")
    _check_shape("labels", L.shape, shape)
    values = _stored(L)
    wrong = (values != 0) & (values != 1)
    if wrong.any():
        raise ValueError(
            "labels must hold 0 (absent) and 1 (present) only, but hold "
            f"{values[wrong].flat[0]:g}; turn scores into labels first, for instance by "
            "scores > 0.5."
        )
    return L


def check_scores(scores: Any, shape: tuple[int, int]) -> np.ndarray:
    """Scores as a finite ndarray of the shape of the truth."""
    if sparse.issparse(scores):
        raise TypeError(
            "scores must be a dense array, since every label of every row has one, but a sparse "
            "matrix was given; pass scores.toarray()."
        )
    S = _matrix(scores, "scores")
    _check_shape("scores", S.shape, shape)
    if not np.isfinite(S).all():
        raise ValueError(
            "scores must be finite to be ranked, but hold NaN or infinity; check the model that "
            "made them."
        )
    return S


def row_blocks(shape: tuple[int, int]) -> Iterator[slice]:
    """Slices of consecutive rows, each of about `BLOCK_CELLS` cells.

    >>> [(rows.start, rows.stop) for rows in row_blocks((5, BLOCK_CELLS // 2))]
    [(0, 2), (2, 4), (4, 6)]
    """
    n_rows, n_columns = shape
    step = max(1, BLOCK_CELLS // max(1, n_columns))
    return (slice(start, start + step) for start in range(0, n_rows, step))


def dense_rows(matrix: Matrix, rows: slice) -> np.ndarray:
    """A block of rows as an ndarray."""
    block = matrix[rows]
    return block.toarray() if sparse.issparse(block) else block


def _stored(matrix: Matrix) -> np.ndarray:
    return matrix.data if sparse.issparse(matrix) else matrix


def _matrix(values: Any, name: str) -> Matrix:
    if sparse.issparse(values):
        matrix = sparse.csr_array(values)
        if not matrix.has_canonical_format:  # a cell stored twice means the sum
            matrix = matrix.copy()
            matrix.sum_duplicates()
    else:
        matrix = np.asarray(values)
    if matrix.ndim != 2:
        raise ValueError(
            f"{name} must have two dimensions, one row per example and one column per label, but "
            f"has the shape {matrix.shape}; reshape it to (n_samples, n_labels)."
        )
    if matrix.dtype.kind in "biuf":
        return matrix
    try:
        return matrix.astype(np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            f"{name} must hold real numbers or booleans, but its type is {matrix.dtype}; convert "
            "it first."
        ) from None


def _check_shape(name: str, given: tuple[int, ...], expected: tuple[int, int]) -> None:
    if tuple(given) != tuple(expected):
        raise ValueError(
            f"{name} must have the shape of Y_true, {tuple(expected)}, but have {tuple(given)}; "
            "pass the same rows and labels in both."
        )
