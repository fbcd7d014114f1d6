"""What classifiers of the related work share: checks before, labels and thresholds after."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from compactlearn.compact._inputs import TrainingData, check_training
from compactlearn.compact._label_output import DenseScores, LabelSpace, describe
from compactlearn.core._params import Constraint, check_parameters
from compactlearn.core._threads import blas_threads
from compactlearn.core._validation import check_features, unchanged_on_error
from compactlearn.linalg._build import require_finite_squares
from compactlearn.metrics._checks import row_blocks

Array = NDArray[np.float64]


class ScoredClassifier(DenseScores):
    """Base of classifiers that learn from checked rows (``_learn``) and give scores (``_scored``).

    Labels are read off the scores by ``threshold``.
    """

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {}
    threshold: Any

    @abstractmethod
    def _learn(self, data: TrainingData) -> None:
        """Learn from rows; labels are a CSR matrix of ones, with one column for two classes."""

    @abstractmethod
    def _scored(self, X: Any) -> Array:
        """Scores (n, M) of some rows."""

    def fit(self, X: Any, y: Any = None, *, sep: str | None = None) -> Self:
        """Learn from rows and their labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : lists of names, matrix or frame of shape (n_samples, n_labels), or (n_samples,)
            A list, tuple or set of names for each row; or labels, 0 or 1; a vector is read as one
            class per row.
        sep : str or None, default=None
            The sign between names where y is a column of joined names, such as "jazz;blues".
        """
        return self._fitted(X, y, None, sep)

    def _fitted(self, X: Any, y: Any, sample_weight: Any, sep: str | None) -> Self:
        with unchanged_on_error(self), blas_threads():
            check_parameters(self, self._constraints)
            data = check_training(self, X, y, sample_weight, sep=sep)
            require_finite_squares(data.X)
            labels = LabelSpace.of(data.targets)
            describe(self, labels)
            self.threshold_, self._boundary = labels.placed(self._level(labels))
            self._learn(data)
        return self

    def _level(self, labels: LabelSpace) -> float | Array:
        """The threshold in the units of the scores."""
        return labels.checked_threshold(self.threshold)

    def _prepare(self, X: Any) -> Any:
        check_is_fitted(self, "threshold_")
        return check_features(self, X, reset=False)

    def _score_blocks(self, X: Any) -> Iterator[tuple[slice, Array]]:
        for rows in row_blocks((X.shape[0], self.n_labels_)):
            yield rows, self._scored(X[rows]) - self._boundary

    def to_onnx(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        topk: int | None = None,
        dtype: str = "float32",
        check: Any = None,
    ) -> Any:
        """Refuse: there is no graph of this model.

        Parameters
        ----------
        path, topk, dtype, check
            As in :func:`compactlearn.to_onnx`.
        """
        raise ValueError(
            f"to_onnx writes the linear, kernel and C2AE models of this package, and "
            f"{type(self).__name__} is none of them; save it with model.save(path), or export a "
            "CMLLClassifier."
        )


class WeightedClassifier(ScoredClassifier):
    """Base of those whose formula has a place for weights."""

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        sep: str | None = None,
    ) -> Self:
        """Learn from rows and their labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : lists of names, matrix or frame of shape (n_samples, n_labels), or (n_samples,)
            A list, tuple or set of names for each row; or labels, 0 or 1; a vector is read as one
            class per row.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 2 is a row twice, and one of weight 0 is absent.
        sep : str or None, default=None
            The sign between names where y is a column of joined names, such as "jazz;blues".
        """
        return self._fitted(X, y, sample_weight, sep)
