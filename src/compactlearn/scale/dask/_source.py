"""Rows on a Dask cluster as the source of a fit: each worker sums its own blocks."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, TypeVar

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, clone

from compactlearn.core._chunked import is_dask, is_dask_frame
from compactlearn.core._targets import Targets, check_targets
from compactlearn.core._threads import blas_threads
from compactlearn.core._validation import check_features, check_weights
from compactlearn.decoding._label_space import LabelSpace
from compactlearn.linalg._moments import Moments
from compactlearn.linalg._row_source import Block
from compactlearn.scale._checking import block_named, block_weights
from compactlearn.scale._fitting import block_moments, refuse_no_weight
from compactlearn.scale.dask._chunks import (
    aligned,
    check_features_unread,
    counted_array,
    filled_blocks,
    has_sparse_blocks,
    one_row_of_zeros,
)
from compactlearn.scale.dask._running import call, total, value

T = TypeVar("T")


@dataclass(eq=False)
class DaskSource:
    """Aligned blocks of rows of Dask collections, none of them in this process."""

    n_features: int
    labels: LabelSpace
    feature_names: tuple[str, ...] | None
    is_sparse: bool
    sizes: tuple[int, ...]  # rows of each block
    _blocks: tuple[tuple[Any, ...], ...]  # X, Y, weights, index and first row of each, unread
    _reader: _Reader
    again: bool = True
    n_passes: int = 0  # that have been made

    @property
    def n_labels(self) -> int:
        return self.labels.n_labels

    @property
    def label_names(self) -> tuple[str, ...] | None:
        return None if self.labels.names is None else tuple(self.labels.names)

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return sum(self.sizes)

    def total(self, part: Callable[[Block], T], add: Callable[[T, T], T], *, what: str) -> T:
        """Return the sum of ``part`` over all blocks, computed and added by the workers."""
        self.n_passes += 1
        shared, reader = value(part, "part"), value(self._reader, "reader")
        key = "-".join(what.split())
        return total([call(_part_of, shared, reader, *b, what=key) for b in self._blocks], add)

    def moments(self) -> Moments:
        """Return the first and second moments of all rows, from one pass."""
        found = self.total(block_moments, operator.add, what="moments")
        refuse_no_weight(found.count)
        return found


@dataclass(frozen=True, eq=False)
class _Reader:
    """Checks of a block on a worker: the columns of X, and the labels."""

    columns: BaseEstimator  # knows n_features_in_ and feature_names_in_, and is not fitted
    labels: LabelSpace

    def read(self, X: Any, Y: Any, weights: Any, index: int, start: int) -> Block:
        """Check a block and return it."""
        with block_named(index, start):
            X = check_features(self.columns, X, reset=False)
            if isinstance(Y, Targets):
                matrix = check_targets(Y, X.shape[0]).matrix
            else:
                matrix = self._targets(Y, X.shape[0])
            return Block(X, matrix, block_weights(weights, X.shape[0]), index, start)

    def _targets(self, Y: Any, n_rows: int) -> Any:
        targets = check_targets(Y, n_rows, classes=self.labels.vector_classes)
        if targets.n_labels != self.labels.n_labels:
            raise ValueError(
                f"Y must have the same columns in every block, {self.labels.n_labels} of them, "
                f"and has {targets.n_labels} here; repair the function that makes its blocks."
            )
        return targets.matrix


def _part_of(part: Callable[[Block], T], reader: _Reader, *given: Any) -> T:
    """Return ``part`` of one block, on a worker, whose tasks have one thread each."""
    with blas_threads(1):
        return part(reader.read(*given))


def source_of(
    classifier: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    reset: bool = True,
    groups: Any = None,
    classes: Any = None,
    names: Sequence[str] | None = None,
    sep: str | None = None,
    owner: str = "fit",
) -> DaskSource:
    """Check the arguments of ``fit`` without reading rows, and return them as a source.

    Labels and weights may be in memory. The classifier stores the names of the features; without
    ``reset`` they are compared with those it has.
    """
    if groups is not None:
        raise ValueError(
            "groups must be None with Dask collections, whose rows are held out by their position; "
            "groups was given. Leave it out, or pass rows in memory."
        )
    X = check_features_unread(X)
    sample = one_row_of_zeros(X)
    check_features(classifier, sample, reset=reset)
    columns = clone(classifier)
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(classifier, name):
            setattr(columns, name, getattr(classifier, name))
    sizes, blocks = filled_blocks(X)
    labels, Y = _labels(y, sizes, classes, names, sep, owner)
    weights: list[Any] = [None] * len(sizes)
    if sample_weight is not None:
        weights = aligned(_vector_of_weights(sample_weight, sum(sizes)), sizes, "sample_weight")
    starts = [*accumulate(sizes, initial=0)][:-1]
    feature_names = getattr(classifier, "feature_names_in_", None)
    return DaskSource(
        sample.shape[1],
        labels,
        None if feature_names is None else tuple(feature_names),
        scipy.sparse.issparse(sample),
        sizes,
        tuple(zip(blocks, Y, weights, range(len(sizes)), starts, strict=True)),
        _Reader(columns, labels),
    )


def _vector_of_weights(given: Any, n_rows: int) -> Any:
    """Return weights with known block sizes; those in memory are checked."""
    return counted_array(given, "sample_weight") if is_dask(given) else check_weights(given, n_rows)


def _labels(
    y: Any,
    sizes: Sequence[int],
    classes: Any,
    names: Sequence[str] | None,
    sep: str | None,
    owner: str,
) -> tuple[LabelSpace, list[Any]]:
    """Return the label space, and the blocks of labels."""
    if not is_dask(y):  # in any form that fit knows
        targets = check_targets(y, sum(sizes), classes=classes, names=names, sep=sep, owner=owner)
        rows = aligned(targets.matrix, sizes, "Y")
        return LabelSpace.of(targets), [replace(targets, matrix=matrix) for matrix in rows]
    if sep is not None:
        raise ValueError(
            f"sep={sep!r} splits joined names, and labels in a Dask collection must be 0 and 1, or "
            "a vector of classes; pass the names in memory, or a 0/1 matrix."
        )
    Y = counted_array(y, "Y")
    if Y.ndim == 2 and Y.shape[1] == 1 and not has_sparse_blocks(Y):
        Y = Y[:, 0]  # as everywhere: one class for each row
    if Y.ndim not in (1, 2):
        raise ValueError(
            f"Labels must be a matrix with one row per sample or a vector of classes, and Y is a "
            f"Dask array of shape {Y.shape}; reshape it."
        )
    blocks = aligned(Y, sizes, "Y")
    if Y.ndim == 1 and classes is None:
        found = [call(np.unique, block, what="classes") for block in blocks]
        classes = total(found, np.union1d)
    # A few rows suffice to find the names and the type of the labels.
    few = np.asarray(classes) if Y.ndim == 1 else np.zeros((1, Y.shape[1]), Y.dtype)
    if Y.ndim == 2:
        few = scipy.sparse.csr_array(few)
    space = LabelSpace.of(check_targets(few, few.shape[0], classes=classes, owner=owner))
    if is_dask_frame(y) and Y.ndim == 2:
        space = LabelSpace(
            space.kind, space.classes, space.n_labels, space.dtype, [str(c) for c in y.columns]
        )
    return space, blocks
