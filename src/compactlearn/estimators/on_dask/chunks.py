"""Dask collections as blocks of rows: what can be checked before any of them is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse

from compactlearn.core.chunked import is_dask, is_dask_array, is_dask_frame
from compactlearn.estimators.on_dask.running import call, computed


def check_features_unread(X: Any) -> Any:
    """X as a Dask array whose blocks are whole rows, or as a Dask frame."""
    _refuse_other_collections(X, "X")
    if X.ndim != 2:
        raise ValueError(
            f"X must be a matrix with one row for each sample, and is a Dask {type(X).__name__} "
            f"with {X.ndim} dimension(s); pass one row per sample and one column per feature."
        )
    if is_dask_frame(X):
        _refuse_words(X)
        return X
    _refuse_unknown_sizes(X, "X")
    if X.dtype.kind not in "biuf":
        raise ValueError(
            f"X must hold real numbers, and its type is {X.dtype}; turn it into numbers first."
        )
    for axis, what in enumerate(("row", "column")):
        if X.shape[axis] == 0:
            raise ValueError(
                f"X needs at least one {what}, and is a Dask array of shape {X.shape}; pass data."
            )
    return X.rechunk({1: -1}) if len(X.chunks[1]) > 1 else X


def one_row_of_zeros(X: Any) -> Any:
    """What a block of a checked collection looks like."""
    if is_dask_frame(X):
        return type(X._meta)(np.zeros((1, X.shape[1])), columns=X.columns)
    zeros = np.zeros((1, X.shape[1]), dtype=X.dtype)
    return scipy.sparse.csr_array(zeros) if scipy.sparse.issparse(X._meta) else zeros


def row_counts(X: Any) -> tuple[int, ...]:
    """How many rows each block has; of a frame, the workers have to count them."""
    if is_dask_array(X):
        return tuple(X.chunks[0])
    return computed(*[call(len, block, what="length") for block in X.to_delayed()])


def _refuse_other_collections(data: Any, name: str) -> None:
    if not is_dask_array(data) and not is_dask_frame(data):
        raise TypeError(
            f"{name} must be a Dask array or a Dask DataFrame, and is a Dask "
            f"{type(data).__name__}; make one of it, for example with dask.array.from_delayed or "
            "dask.dataframe.from_delayed."
        )


def _refuse_unknown_sizes(data: Any, name: str) -> None:
    if any(np.isnan(size) for axis in data.chunks for size in axis):
        raise ValueError(
            f"The rows of each block of {name} must be counted, and this Dask array has blocks of "
            f"unknown sizes; call {name}.compute_chunk_sizes() first, or pass the Dask DataFrame "
            "that it was made of."
        )


def _refuse_words(X: Any) -> None:
    for name, kind in zip(X.columns, X._meta.dtypes, strict=True):
        if getattr(kind, "kind", "O") not in "biuf":
            raise ValueError(
                f"X must hold numbers, and the type of its column {name!r} is {kind}; encode that "
                "column as numbers, or drop it."
            )
    if X.shape[1] == 0:
        raise ValueError("X needs at least one column, and is a Dask DataFrame without; pass data.")
