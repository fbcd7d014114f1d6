"""Checks of single blocks of rows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from compactlearn.core._compress import with_cells_once
from compactlearn.core._targets import check_targets, column_names
from compactlearn.core._validation import check_weights, refuse_not_finite
from compactlearn.linalg._row_source import Block

Array = NDArray[np.float64]

_SAMPLED = 64  # rows of a block that its digest is made of


@dataclass(frozen=True)
class Columns:
    """Columns of the first block, which every block must have."""

    n_features: int
    n_labels: int
    feature_names: tuple[str, ...] | None = None
    label_names: tuple[str, ...] | None = None
    is_sparse: bool = False

    @classmethod
    def of(cls, given: Any, index: int = 0) -> Columns:
        """Return the columns of a block as passed."""
        X, Y, _ = parts_of(given, index)
        return cls(
            _n_columns(X, index, "X"),
            _n_columns(Y, index, "Y"),
            column_names(X),
            column_names(Y),
            scipy.sparse.issparse(X),
        )

    def check(self, given: Any, index: int, start: int) -> Block:
        """Check a block ``(X, Y)`` or ``(X, Y, sample_weight)`` as passed, and return it.

        Errors name the block by its ``index``; ``start`` is the number of rows before it.
        """
        X, Y, weights = parts_of(given, index)
        with block_named(index, start):
            self._same_columns("features", X, self.n_features, self.feature_names)
            self._same_columns("labels", Y, self.n_labels, self.label_names)
            X = _features(X)
            refuse_not_finite(X)
            return Block(
                X, _labels(Y, X.shape[0]), block_weights(weights, X.shape[0]), index, start
            )

    def _same_columns(
        self, what: str, matrix: Any, count: int, names: tuple[str, ...] | None
    ) -> None:
        found, shape = column_names(matrix), np.shape(matrix)
        other_count = len(shape) == 2 and shape[1] != count
        other_names = found is not None and names is not None and found != names
        if other_count or other_names:
            has = f"has {shape[1]}" if other_count else f"has {found!r:.120}"
            raise ValueError(
                f"every block must have the {count} {what} of the first one in the same order, and "
                f"this one {has}; pass blocks of the same columns."
            )


def parts_of(given: Any, index: int) -> tuple[Any, Any, Any]:
    """Return X, Y and weights of a block as passed."""
    if not isinstance(given, tuple | list) or len(given) not in (2, 3):
        size = f" of {len(given)}" if isinstance(given, tuple | list) else ""
        raise TypeError(
            f"Blocks are tuples (X, Y) or (X, Y, sample_weight), and block {index} is a "
            f"{type(given).__name__}{size}; yield such tuples."
        )
    X, Y = given[0], given[1]
    return X, Y, given[2] if len(given) == 3 else None


def n_rows_of(given: Any, index: int) -> int:
    """Return the number of rows of a block, by its shape or length."""
    X = parts_of(given, index)[0]
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def digest_of(given: Any, index: int) -> int:
    """Return a digest of a block's shape and of some of its rows."""
    X, Y, weights = parts_of(given, index)
    digest = hashlib.blake2b(digest_size=8)
    for matrix in (X, Y, weights):
        if matrix is None:
            continue
        digest.update(repr(np.shape(matrix)).encode())
        n_rows = np.shape(matrix)[0] if np.ndim(matrix) or scipy.sparse.issparse(matrix) else 0
        rows = np.linspace(0, n_rows - 1, min(n_rows, _SAMPLED)).astype(np.intp)
        for array in _numbers(matrix, rows):
            digest.update(np.ascontiguousarray(array).tobytes())
    return int.from_bytes(digest.digest(), "little", signed=True)


def _numbers(matrix: Any, rows: Any) -> tuple[Any, ...]:
    """Return some rows as arrays of numbers."""
    if scipy.sparse.issparse(matrix):
        some = scipy.sparse.csr_array(matrix)[rows]
        return some.data.astype(np.float64), some.indices.astype(np.int64), some.indptr
    array = np.asarray(matrix.iloc[rows] if hasattr(matrix, "iloc") else np.asarray(matrix)[rows])
    return (array.astype(np.float64) if array.dtype.kind in "biuf" else array.astype(str),)


@contextmanager
def block_named(index: int, start: int | None) -> Iterator[None]:
    """Name the block in the message of an error, whose row numbers are those within it."""
    begins = "" if start is None else f", whose first row is row {start} of all"
    try:
        yield
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"Block {index}{begins}: {error}") from error


def _n_columns(matrix: Any, index: int, what: str) -> int:
    shape = np.shape(matrix)
    if len(shape) != 2 or shape[1] == 0:
        raise ValueError(
            f"Block {index}: {what} must be a matrix with one row per sample and one column or "
            f"more, and has the shape {shape}; pass rows of numbers, and labels as 0 and 1: "
            "binarise classes and names first."
        )
    return int(shape[1])


def _features(X: Any) -> Any:
    kinds = (np.float64, np.float32)
    X = check_array(
        X, accept_sparse="csr", dtype=kinds, ensure_all_finite=False, ensure_min_samples=0
    )
    return with_cells_once(scipy.sparse.csr_array(X)) if scipy.sparse.issparse(X) else X


def _labels(Y: Any, n_rows: int) -> Any:
    if np.ndim(Y) == 2 and np.shape(Y)[1] == 1 and not scipy.sparse.issparse(Y):
        Y = scipy.sparse.csr_array(np.asarray(Y))  # one label, and no vector of classes
    targets = check_targets(Y, n_rows, owner="fit_blocks")
    if targets.kind != "multilabel" or targets.by_name:
        raise ValueError(
            "labels of blocks must be a matrix of 0 and 1, since no block knows the classes or "
            "names of all; binarise them first, for example with sklearn's MultiLabelBinarizer."
        )
    return targets.matrix


def block_weights(given: Any, n_rows: int) -> Array | None:
    """Return checked weights; in a single block all weights may be 0."""
    if given is None:
        return None
    weights = np.asarray(given, dtype=np.float64)
    if weights.shape == (n_rows,) and not weights.any():
        return weights
    return check_weights(weights, n_rows)
