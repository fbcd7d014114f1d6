"""What a loaded part has to fulfil, in words that end a sentence about its file."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from compactlearn.compact._compression import Half, HalfSparse
from compactlearn.core._tensor_file import ModelFileError

ADVICE = (
    "use parts of compactlearn, or those of scikit-learn that docs/guide/storing.md lists, or keep "
    "the model with skops or joblib"
)


def require(condition: Any, what: str) -> None:
    """Refuse the file unless the condition holds."""
    if not condition:
        raise ModelFileError(what)


def is_number(value: Any) -> bool:
    """A plain or NumPy number that is no truth value."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def size(value: Any, what: str) -> int:
    """An integer of at least 0."""
    require(isinstance(value, int | np.integer) and not isinstance(value, bool), f"{what} is none")
    require(value >= 0, f"{what} is negative")
    return int(value)


def numbers(value: Any, shape: tuple[int | None, ...], what: str) -> Any:
    """A dense array of real numbers of this shape; None stands for any length.

    An array in half precision counts as what will be made of it.
    """
    value = unpacked(value)
    good = isinstance(value, np.ndarray) and value.dtype.kind in "fiu"
    require(good, f"{what} is no array of numbers")
    fits = len(shape) == value.ndim and all(
        known in (None, there) for known, there in zip(shape, value.shape, strict=False)
    )
    require(fits, f"{what} has the shape {value.shape}, which does not fit the other parts")
    return value


def unpacked(value: Any) -> Any:
    """Return the numbers of an array in half precision, and any other value as it is."""
    return value.values if isinstance(value, Half) else value


def is_sparse(value: Any) -> bool:
    """A sparse matrix, in half precision too."""
    return scipy.sparse.issparse(value) or isinstance(value, HalfSparse)


def matrix(value: Any, shape: tuple[int | None, int | None], what: str) -> Any:
    """A dense or sparse matrix of this shape."""
    if not is_sparse(value):
        return numbers(value, shape, what)
    fits = all(known in (None, there) for known, there in zip(shape, value.shape, strict=True))
    require(fits, f"{what} has the shape {value.shape}, which does not fit the other parts")
    return value


def threshold(value: Any, n_labels: int) -> None:
    """One number, or one for each label."""
    if not is_number(value):
        numbers(value, (n_labels,), "the threshold")
