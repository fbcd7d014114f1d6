"""Fits from blocks of this process: an iterable of them, or a memory map, with a checkpoint."""

from __future__ import annotations

import hashlib
import mmap
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from compactlearn.core._row_blocks import RowBlocks
from compactlearn.decoding._label_space import LabelSpace
from compactlearn.linalg._row_source import RowSource
from compactlearn.scale._checkpoint import Checkpoint
from compactlearn.scale._fitting import fits_in_blocks
from compactlearn.scale._local import LocalSource

# A memory map that takes more than this as float64 is fitted in blocks, and not read whole.
MAPPED_ABOVE = 1 << 28  # bytes

_BLOCK_BYTES = 1 << 24  # of a block of a memory map
_IGNORED = ("verbose", "n_jobs")  # parameters that change nothing of the sums


def local_source(
    classifier: Any, blocks: Any, checkpoint: str | os.PathLike[str] | None = None
) -> LocalSource:
    """Return blocks as the source of a classifier's fit, with a folder to resume from."""
    owner = type(classifier).__name__
    source = LocalSource(blocks, owner=owner, verbose=classifier.verbose)
    if checkpoint is not None:
        source.checkpoint = Checkpoint(checkpoint, job_of(classifier, source))
    return source


def job_of(classifier: Any, source: LocalSource) -> dict[str, str]:
    """Return the description of a fit: the parameters, the columns and the first block.

    A checkpoint is resumed only by a fit with the same description.
    """
    parameters = {
        f"parameter {name}": _described(value)
        for name, value in classifier.get_params(deep=True).items()
        if name not in _IGNORED
    }
    columns = source.columns
    names = repr((columns.feature_names, columns.label_names)).encode()
    return {
        "estimator": type(classifier).__name__,
        **parameters,
        "number of features": str(columns.n_features),
        "number of labels": str(columns.n_labels),
        "names of the columns": hashlib.sha256(names).hexdigest()[:16],
        "first block": f"{source.first_digest & (2**64 - 1):016x}",
    }


def _described(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array {hashlib.sha256(value.tobytes()).hexdigest()[:16]}"
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return type(value).__name__
    return type(value).__name__ if hasattr(value, "get_params") else repr(value)


def take_columns(classifier: Any, source: RowSource) -> LabelSpace:
    """Store the features of a source in a classifier, and return the labels of the source."""
    classifier.__dict__.pop("feature_names_in_", None)
    classifier.n_features_in_ = source.n_features
    if source.feature_names is not None:
        classifier.feature_names_in_ = np.array(source.feature_names, dtype=object)
    names = None if source.label_names is None else list(source.label_names)
    numbered = LabelSpace.numbered(source.n_labels)
    classes = numbered.classes if names is None else np.array(names, dtype=object)
    return LabelSpace("multilabel", classes, source.n_labels, numbered.dtype, names)


@dataclass(frozen=True, eq=False)
class ArrayBlocks(RowBlocks):
    """Blocks of rows of arrays; pages of a memory map are released after they were read."""

    X: Any
    Y: Any
    weights: Any = None

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """Return the number of rows."""
        return self.X.shape[0]

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        step = max(1, _BLOCK_BYTES // (8 * max(1, self.X.shape[1])))
        Y = self.Y.tocsr() if scipy.sparse.issparse(self.Y) else self.Y
        for start in range(0, self.n_rows, step):
            rows = slice(start, min(start + step, self.n_rows))
            part = np.array(self.X[rows])  # read here, where it is read ahead
            _release(self.X, rows)
            labels = Y.iloc[rows] if hasattr(Y, "iloc") else Y[rows]
            yield part, labels, None if self.weights is None else self.weights[rows]


def as_blocks(
    classifier: Any, X: Any, y: Any, weights: Any, *, groups: Any, sep: Any, unknown: Any
) -> Any:
    """Return the arguments of ``fit`` as blocks; None for rows that are read whole."""
    given = {"y": y, "sample_weight": weights, "groups": groups, "sep": sep, "unknown": unknown}
    if isinstance(X, RowBlocks):
        for name, value in given.items():
            if value is not None:
                raise ValueError(
                    f"Blocks of rows contain their labels and weights, so {name} must be None; it "
                    f"was given as well. Leave {name} out."
                )
        return X
    corrected = classifier.positive_unlabelled or classifier.label_noise is not None
    whole = groups is not None or unknown is not None or corrected
    if is_large_map(X) and np.ndim(y) == 2 and not whole and fits_in_blocks(classifier):
        return ArrayBlocks(X, y, weights)
    return None


def is_large_map(X: Any) -> bool:
    """Return whether X is a memory map that is too large to be read whole."""
    mapped = isinstance(X, np.memmap) and X.ndim == 2 and X.dtype.kind in "biuf"
    return mapped and 8 * X.size > MAPPED_ABOVE


def _release(X: Any, rows: slice) -> None:
    """Release the pages of some rows, which the system can read again from the file."""
    mapped = getattr(X, "_mmap", None)
    shared = getattr(X, "mode", "") in ("r", "r+")  # in other modes written values would be lost
    if mapped is None or not shared or not X.flags.c_contiguous:
        return
    if not hasattr(mmap, "MADV_DONTNEED"):  # Windows
        return
    base = np.frombuffer(mapped, dtype=np.uint8).__array_interface__["data"][0]
    start = X[rows].__array_interface__["data"][0] - base
    stop = start + X[rows].nbytes
    first = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE  # pages that other rows share stay
    last = stop // mmap.PAGESIZE * mmap.PAGESIZE
    if 0 <= first < last <= len(mapped):
        mapped.madvise(mmap.MADV_DONTNEED, first, last - first)
