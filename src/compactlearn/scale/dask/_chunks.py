"""Dask collections as blocks of rows, and checks that read none of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse

from compactlearn.core._chunked import is_dask_array, is_dask_frame
from compactlearn.core._optional import require
from compactlearn.scale.dask._running import call, computed, dask


def check_features_unread(X: Any, *, counted: bool = True) -> Any:
    """Return X as a Dask array whose blocks are whole rows, or as a Dask frame.

    To predict, the rows of its blocks need not be ``counted``.
    """
    _refuse_other_collections(X, "X")
    if X.ndim != 2:
        raise ValueError(
            f"X must be a matrix with one row for each sample, and is a Dask {type(X).__name__} "
            f"with {X.ndim} dimension(s); pass one row per sample and one column per feature."
        )
    if is_dask_frame(X):
        _refuse_words(X)
        return X
    if counted:
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
    """Return a sample block of a checked collection, with one row of zeros."""
    if is_dask_frame(X):
        pandas = require("pandas", extra="dask", purpose="reading Dask DataFrames")
        return pandas.DataFrame(np.zeros((1, X.shape[1])), columns=X.columns)
    zeros = np.zeros((1, X.shape[1]), dtype=X.dtype)
    return scipy.sparse.csr_array(zeros) if has_sparse_blocks(X) else zeros


def has_sparse_blocks(data: Any) -> bool:
    """Return whether the blocks of a Dask array are sparse by its metadata."""
    return scipy.sparse.issparse(dask("array.utils").meta_from_array(data))


def filled_blocks(X: Any) -> tuple[tuple[int, ...], list[Any]]:
    """Return the numbers of rows of the blocks that are not empty, and these blocks."""
    counts = row_counts(X)
    blocks = X.to_delayed().ravel().tolist() if is_dask_array(X) else X.to_delayed()
    filled = [place for place, count in enumerate(counts) if count]
    if not filled:
        raise ValueError("X needs at least one row, and its Dask collection has none; pass data.")
    return tuple(int(counts[place]) for place in filled), [blocks[place] for place in filled]


def row_counts(X: Any) -> tuple[int, ...]:
    """Return the number of rows of each block; the workers count those of a frame."""
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
    for name, kind in zip(X.columns, X.dtypes, strict=True):
        if getattr(kind, "kind", "O") not in "biuf":
            raise ValueError(
                f"X must hold numbers, and the type of its column {name!r} is {kind}; encode that "
                "column as numbers, or drop it."
            )
    if X.shape[1] == 0:
        raise ValueError("X needs at least one column, and is a Dask DataFrame without; pass data.")


def aligned(data: Any, sizes: Sequence[int], name: str) -> list[Any]:
    """Return ``data`` in blocks of ``sizes`` rows, delayed if it is a Dask collection."""
    n_rows, given = sum(sizes), data.shape[0]
    if given != n_rows:
        raise ValueError(
            f"X and {name} must have as many rows as each other, and have {n_rows} and {given} "
            f"(inconsistent numbers of samples); pass those of exactly the rows of X."
        )
    if is_dask_array(data):
        whole = {0: tuple(sizes)} if data.ndim == 1 else {0: tuple(sizes), 1: -1}
        return data.rechunk(whole).to_delayed().ravel().tolist()
    stops = np.cumsum(sizes)
    return [data[stop - size : stop] for size, stop in zip(sizes, stops, strict=True)]


def counted_array(data: Any, name: str) -> Any:
    """Return a Dask collection of labels or weights as an array with known block sizes."""
    _refuse_other_collections(data, name)
    if is_dask_frame(data):
        return data.to_dask_array(lengths=list(row_counts(data)))
    _refuse_unknown_sizes(data, name)
    return data
