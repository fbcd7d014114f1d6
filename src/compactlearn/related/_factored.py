"""Classifiers whose scores are a product of two thin matrices: X P W + b."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from compactlearn.compact._inputs import taken, without_zero_weights
from compactlearn.compact._label_output import DenseScores, LabelSpace, describe
from compactlearn.core._params import Constraint, check_parameters
from compactlearn.core._threads import blas_threads
from compactlearn.core._unknown_labels import check_labels, rows_that_count, with_absent
from compactlearn.core._validation import check_features, check_weights, unchanged_on_error
from compactlearn.inspection._decomposition import LinearInside
from compactlearn.linalg._build import require_finite_squares
from compactlearn.metrics._checks import row_blocks

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Rows:
    """What is learnt from: checked, and without rows that have no weight."""

    X: Any  # (N, D), sparse or dense
    Y: Any  # (N, M) csr_array of ones; an unknown label is absent
    weights: Array | None
    unknown: Any | None  # (N, M) csr_array of ones where a label is not known


class FactoredClassifier(DenseScores):
    """Base: checks on the way in, scores on the way out. A subclass has ``_learn``."""

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {}
    _takes_rows_without_labels: ClassVar[bool] = False  # whether these tell it something

    projection_: Array  # (D, k) P
    decoder_: Array  # (k, M) W
    intercept_: Array  # (M,) b
    threshold: Any

    @abstractmethod
    def _learn(self, rows: Rows) -> None:
        """Set the three, and what else the model shows."""

    def _boundary_of(self, threshold: float | Array) -> float | Array:
        """The threshold in the units of scores."""
        return threshold

    def _fitted(
        self, X: Any, given: Any, sample_weight: Any, sep: str | None, unknown: Any
    ) -> Self:
        with unchanged_on_error(self), blas_threads():
            check_parameters(self, self._constraints)
            X = check_features(self, X, reset=True)
            require_finite_squares(X)
            owner = f"{type(self).__name__}.fit"
            targets = check_labels(
                given, X.shape[0], unknown=unknown, sep=sep, owner=owner, features=X
            )
            weights = check_weights(sample_weight, X.shape[0])
            if self._takes_rows_without_labels:
                X, targets, weights = without_zero_weights(X, targets, weights)
            else:
                X, targets, weights = taken(X, targets, weights, rows_that_count(targets, weights))
                targets = with_absent(targets)
            labels = LabelSpace.of(targets)
            describe(self, labels)
            threshold = labels.checked_threshold(self.threshold)
            self.threshold_, self._boundary = labels.placed(self._boundary_of(threshold))
            X = X.astype(np.float64, copy=False)
            self._learn(Rows(X, targets.matrix.astype(np.float64), weights, targets.unknown))
        return self

    @property
    def numbers_(self) -> int:
        """How many numbers must be kept to predict: both matrices and the intercepts."""
        check_is_fitted(self, "projection_")
        return int(self.projection_.size + self.decoder_.size + self.intercept_.size)

    def _prepare(self, X: Any) -> Any:
        check_is_fitted(self, "projection_")
        return check_features(self, X, reset=False)

    def _score_blocks(self, X: Any) -> Iterator[tuple[slice, Array]]:
        for rows in row_blocks((X.shape[0], self.n_labels_)):
            scores = (X[rows] @ self.projection_) @ self.decoder_ + self.intercept_
            yield rows, scores - self._boundary if self._boundary else scores

    def _inside(self) -> LinearInside:
        check_is_fitted(self, "projection_")
        coefficients = (self.projection_ @ self.decoder_).T
        return LinearInside(self, coefficients, self.intercept_ - self._boundary)
