"""Checks of scores, labels and options of metrics, and their blocks of rows."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from compactlearn.core._compress import with_cells_once
from compactlearn.core._forms import refuse_unread
from compactlearn.core._params import Integer
from compactlearn.core._warn import warn_user

# Cells per block: small enough for the processor's cache, large enough to keep NumPy busy.
BLOCK_CELLS = 1 << 18

Matrix = np.ndarray | sparse.csr_array


def check_labels(labels: Any, shape: tuple[int, int]) -> Matrix:
    """Return predicted labels as an ndarray or csr_array of 0 and 1, of the shape of the truth."""
    L = as_matrix(labels, "labels")
    check_shape("labels", L.shape, shape)
    if L.dtype == bool:
        return L
    for values in pieces(L):
        wrong = (values != 0) & (values != 1)
        if wrong.any():
            raise ValueError(
                "labels must hold 0 (absent) and 1 (present) only, but hold "
                f"{values[wrong].flat[0]:g}; turn scores into labels first, for instance by "
                "scores > 0.5."
            )
    return L


def check_scores(scores: Any, shape: tuple[int, int]) -> np.ndarray:
    """Return scores as an ndarray of the shape of the truth; the sort checks for finite values."""
    if sparse.issparse(scores):
        raise TypeError(
            "scores must be a dense array, since every label of every row has one, but a sparse "
            "matrix was given; pass scores.toarray()."
        )
    S = as_matrix(scores, "scores")
    check_shape("scores", S.shape, shape)
    if _are_labels(S):
        warn_user(
            "Rankings need scores, and every value given is 0 or 1, so that the order of a row's "
            "labels is a matter of ties; pass scores such as model.decision_function(X) (and to "
            "evaluate also labels=model.predict(X)), or call model.evaluate(X, Y)."
        )
    return S


def _are_labels(scores: np.ndarray) -> bool:
    """Return whether all values are 0 or 1 and both occur; the first block mostly decides.

    Scores that are all 0, or all 1, are those of a model that has learnt nothing.
    """
    if scores.dtype == bool:
        return scores.size > 0
    if not all(((values == 0) | (values == 1)).all() for values in pieces(scores)):
        return False
    return bool(0 < np.count_nonzero(scores) < scores.size)


def check_finite(scores: Matrix) -> None:
    """Raise ValueError for scores that cannot be ranked."""
    for values in pieces(scores):
        if not np.isfinite(values).all():
            raise ValueError(
                "scores must be finite to be ranked, but hold NaN or infinity; check the model "
                "that made them."
            )


def check_shape(name: str, given: tuple[int, ...], expected: tuple[int, ...]) -> None:
    """Raise ValueError for an array of another shape than the truth."""
    if tuple(given) != tuple(expected):
        raise ValueError(
            f"{name} must have the shape of Y_true, {tuple(expected)}, but have {tuple(given)}; "
            "pass the same rows and labels in both."
        )


# ---- options ------------------------------------------------------------------------------------


def check_k(k: Any, n_labels: int) -> int:
    """Return k as an int between 1 and the number of labels."""
    _require(Integer(1, n_labels), "k", k, f" (the number of labels is {n_labels})")
    return int(k)


def check_bins(bins: Any, n_labels: int) -> int:
    """Return a number of bins."""
    _require(Integer(1), "bins", bins)
    return int(bins)


def _require(constraint: Integer, name: str, value: Any, reason: str = "") -> None:
    if not constraint.accepts(value):
        raise ValueError(
            f"{name} must be {constraint.describe()}{reason}; got {value!r}. Pass such a number."
        )


def check_threshold(threshold: Any, n_labels: int) -> np.ndarray:
    """Return one threshold for all labels, or one for each."""
    bounds = np.asarray(threshold)
    shape_fits = bounds.shape in ((), (n_labels,))
    if bounds.dtype.kind not in "iuf" or not shape_fits or not np.isfinite(bounds).all():
        raise ValueError(
            f"threshold must be a finite number or one for each of the {n_labels} labels; got "
            f"{threshold!r}. Pass such a number or array."
        )
    return bounds


def check_weights(weights: Any, n_labels: int) -> np.ndarray:
    """Return the weights of the labels as float64."""
    values = np.asarray(weights)
    right = values.dtype.kind in "iuf" and values.shape == (n_labels,)
    if not right or not (np.isfinite(values) & (values > 0)).all():
        raise ValueError(
            f"weights must be finite numbers above 0, one for each of the {n_labels} labels; got "
            f"{weights!r:.80}. Pass what inverse_propensities returns."
        )
    return values.astype(np.float64)


CHECKS: dict[str, Callable[[Any, int], Any]] = {
    "k": check_k,
    "bins": check_bins,
    "threshold": check_threshold,
    "weights": check_weights,
}


# ---- blocks -------------------------------------------------------------------------------------


def row_blocks(shape: tuple[int, int]) -> Iterator[slice]:
    """Return slices of consecutive rows, each of about `BLOCK_CELLS` cells.

    >>> [(rows.start, rows.stop) for rows in row_blocks((5, BLOCK_CELLS // 2))]
    [(0, 2), (2, 4), (4, 6)]
    """
    n_rows, n_columns = shape
    step = max(1, BLOCK_CELLS // max(1, n_columns))
    return (slice(start, start + step) for start in range(0, n_rows, step))


def as_matrix(values: Any, name: str) -> Matrix:
    """Return a 2-D ndarray of numbers or booleans, or a csr_array without repeated cells."""
    refuse_unread(values, name)
    if sparse.issparse(values):
        matrix = with_cells_once(sparse.csr_array(values))
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


def pieces(matrix: Matrix) -> Iterator[np.ndarray]:
    """Yield the stored values in blocks that fit into the cache."""
    if sparse.issparse(matrix):
        yield matrix.data
    else:
        yield from (matrix[rows] for rows in row_blocks(matrix.shape))
