"""Training parts and validation rows of a cross-validation, prepared for the engine.

Where everything follows from second moments, the moments of each fold are summed in one pass over
the rows, and those of a training part are the sum of the other folds'. Otherwise each training part
is stored as its rows, or as its kernel matrix.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from compactlearn.compact._classifier import CompactClassifier
from compactlearn.compact._completing import completed
from compactlearn.compact._preparation import prepare, prepare_moments
from compactlearn.core import _memory as memory
from compactlearn.core._unknown_labels import known_somewhere
from compactlearn.crossfit._folds import Folds, Split
from compactlearn.crossfit._training_rows import TrainingRows, undivided
from compactlearn.embeddings._base import Embedding, refuse_sums
from compactlearn.linalg._arrays import scale_columns, working_form, zeros_on_device_of
from compactlearn.linalg._build import require_usable_squares
from compactlearn.linalg._learning import constant_left_over
from compactlearn.linalg._moments import Moments, without_each
from compactlearn.linalg._nested import RowsOnPath
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._ridge import LearnedPath
from compactlearn.linalg._routes import Shape, seconds_of_folds
from compactlearn.linalg._unseen_features import drop_unseen_features, keep_features

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Data:
    """Checked data: rows of features, a sparse label matrix, weights or None."""

    X: Any
    Y: Any
    weights: Array | None
    unknown: Any = None  # a one for each label that is not known
    units: Array | None = None  # what columns of X were divided by before

    @cached_property
    def counted_rows(self) -> Indices | None:
        """Return the rows of positive weight with a known label; None if these are all rows."""
        counts = np.ones(self.X.shape[0], dtype=bool) if self.weights is None else self.weights > 0
        if self.unknown is not None:
            counts &= np.diff(self.unknown.indptr) < self.unknown.shape[1]
        return None if counts.all() else np.flatnonzero(counts)

    def counted(self) -> tuple[Any, Any, Array | None]:
        """Return features, labels and weights of the rows that count."""
        rows = self.counted_rows
        if rows is None:
            return self.X, self.Y, self.weights
        return self.X[rows], self.Y[rows], None if self.weights is None else self.weights[rows]

    def part(self, rows: Indices) -> Data:
        weights = None if self.weights is None else self.weights[rows]
        unknown = None if self.unknown is None else self.unknown[rows]
        return Data(self.X[rows], self.Y[rows], weights, unknown)

    def held_out_rows(self, train: Indices, test: Indices) -> Any:
        """Return the features of validation rows, without those that no training row has."""
        rows = self.X[test]
        if not sparse.issparse(rows):
            return rows
        if self.counted_rows is not None:
            train = np.intersect1d(train, self.counted_rows)
        own, units = undivided(rows, self.units), self.units
        reduced = drop_unseen_features(undivided(self.X[train], units), own)
        if reduced is own:
            return rows
        return reduced if units is None else scale_columns(reduced, 1 / units)

    def counted_unknown(self) -> Any:
        """Return the marks of unknown labels in the rows that count, or None."""
        if self.unknown is None:
            return None
        rows = self.counted_rows
        return known_somewhere(self.unknown if rows is None else self.unknown[rows])


@dataclass(frozen=True)
class SummedData(Data):
    """Validation rows in memory, and sums over the training rows, which are stored elsewhere.

    A split has the positions of its validation rows in ``X``, and no training rows.
    """

    training: tuple[Moments, ...] = field(kw_only=True)  # of each split
    total: Moments = field(kw_only=True)  # of all rows


class Fold:
    """Training part as a pair of blocks, and the validation rows in the features of the pair."""

    def __init__(self, number: int, pair: Pair, rows: Any) -> None:
        self.number, self.pair, self.rows = number, pair, rows
        self._coordinates: Array | None = None
        self._left_over: dict[float, Array] = {}

    @cached_property
    def with_origin(self) -> Fold:
        """Return the fold with a last row of zeros added, whose score is the constant part."""
        origin = zeros_on_device_of((1, self.rows.shape[1]), self.rows)
        if sparse.issparse(self.rows):
            rows = sparse.vstack([self.rows, sparse.csr_array(origin)], format="csr")
        else:
            rows = np.concatenate([self.rows, origin])
        return Fold(self.number, self.pair, rows)

    def constant_left_over(self, alpha: float) -> Array:
        """Return the residual of the constant 1 after a ridge without intercept on all features.

        It is the same for every method of the fold.
        """
        if alpha not in self._left_over:
            self._left_over[alpha] = constant_left_over(self.pair, None, alpha, self.rows)
        return self._left_over[alpha]

    def on_path(self, path: LearnedPath) -> RowsOnPath:
        """Return the validation rows on a path over all the features.

        Their coordinates depend on the features alone, so all codes share them.
        """
        if self._coordinates is None:
            self._coordinates = RowsOnPath.of(path, self.rows).rows
        return RowsOnPath(path.spectrum, path.inside, self._coordinates)


def prepare_folds(
    model: CompactClassifier,
    embedding: Embedding,
    data: Data,
    splits: Sequence[Split],
    n_solutions: int = 1,
) -> Iterator[Fold]:
    """Yield the folds in turn, for an embedding with the largest sizes of all settings.

    ``n_solutions`` is the number of eigenproblems to solve on each.
    """
    if isinstance(data, SummedData):
        _refuse_without_rows(model, embedding)
        for number, (_, test) in enumerate(splits):
            moments = data.training[number]
            seen = (moments.mean_left != 0) | (np.diag(moments.left_left) > 0)
            yield _fold(number, prepare_moments(model, moments), keep_features(data.X[test], seen))
        return
    if _from_moments(model, embedding, data, len(splits), n_solutions):
        for number, moments in enumerate(_training_moments(data, splits)):
            training = prepare_moments(model, moments)
            yield _fold(number, training, data.held_out_rows(*splits[number]))
        return
    for number, (train, test) in enumerate(splits):
        part = data.part(train)
        training = prepare(model, clone(embedding), *part.counted())
        unknown = part.counted_unknown()
        if unknown is not None:
            asked = model.alpha, model.bias, model.regressor
            training = completed(training, embedding, unknown, *asked)
        yield _fold(number, training, data.held_out_rows(train, test))


def prepare_split(
    model: CompactClassifier, embedding: Embedding, train: Data, rows: Any, n_solutions: int = 1
) -> Fold:
    """Return the fold of one training part and other ``rows`` of features to be scored."""
    if _from_moments(model, embedding, train, 1, n_solutions):
        return _fold(0, prepare_moments(model, _moments(train)), rows)
    return _fold(0, prepare(model, clone(embedding), *train.counted()), rows)


def _refuse_without_rows(model: CompactClassifier, embedding: Embedding) -> None:
    """Raise ValueError for what cannot be learnt from sums of training rows."""
    refuse_sums(embedding)
    if model.feature_map is not None:
        raise ValueError(
            f"A search on Dask learns from sums of rows as they are, and feature_map="
            f"{model.feature_map!r} was given; set feature_map=None."
        )
    if embedding.traits.solver not in ("auto", "moments"):
        raise ValueError(
            f"A search on Dask learns from moments, and solver={embedding.traits.solver!r} needs "
            "rows; use solver='auto' or 'moments'."
        )


def _fold(number: int, training: TrainingRows, rows: Any) -> Fold:
    return Fold(number, training.pair, training.row_map.rows(rows))


def _from_moments(
    model: CompactClassifier,
    embedding: Embedding,
    data: Data,
    n_folds: int,
    n_solutions: int,
) -> bool:
    """Return whether to use moments: on request, or if fastest for so many solutions.

    Unknown labels are completed from rows, for each training part separately.
    """
    rows = model.feature_map is not None or data.unknown is not None
    if rows or embedding.traits.needs_rows:
        return False
    asked = embedding.traits.solver
    if asked != "auto":
        return asked == "moments"
    n_features, n_labels = data.X.shape[1], data.Y.shape[1]
    free = memory.available_bytes()
    if free is not None and 8 * (n_folds + 5) * (n_features + n_labels) ** 2 > 0.7 * free:
        return False
    demand = embedding.plan(n_features, n_labels, n_features)
    costs = seconds_of_folds(Shape.of(data.X, data.Y), demand, n_folds, n_solutions)
    return costs["moments"] <= min(costs.values())


def _training_moments(data: Data, splits: Sequence[Split]) -> Iterator[Moments]:
    folds = Folds.of_splits(splits, data.X.shape[0])
    if folds is not None and folds.covers_all:
        yield from without_each([_moments(data.part(test)) for _, test in splits])
    else:
        for train, _ in splits:
            yield _moments(data.part(train))


def _moments(data: Data) -> Moments:
    with np.errstate(over="ignore", invalid="ignore"):
        moments = Moments.from_arrays(working_form(data.X), data.Y, data.weights)
    require_usable_squares(float(np.trace(moments.left_left)), data.X)
    return moments
