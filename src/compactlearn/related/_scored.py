"""Base of the related classifiers: checks before, labels, names and thresholds after.

They fit, predict, score and are stored. What the product's classifiers do beyond that
(explanations, ONNX, compression, Dask, device arrays) is not theirs.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.special import expit, log_expit, softmax
from sklearn.utils.validation import check_is_fitted

from compactlearn.compact._any_classifier import RanksScores
from compactlearn.compact._inputs import TrainingData, check_training
from compactlearn.compact._label_output import DenseScores
from compactlearn.core._model_methods import Storable
from compactlearn.core._params import Constraint, check_parameters
from compactlearn.core._threads import blas_threads
from compactlearn.core._validation import check_features, unchanged_on_error
from compactlearn.core._weight import n_parameters_in
from compactlearn.decoding._label_space import LabelSpace
from compactlearn.linalg._build import require_finite_squares
from compactlearn.linalg._learning import learn
from compactlearn.linalg._rows_pair import RowsPair
from compactlearn.metrics._checks import row_blocks

Array = NDArray[np.float64]


class ScoredClassifier(RanksScores, Storable, DenseScores):
    """Base of classifiers that learn from checked rows (``_learn``) and give scores (``_scored``).

    Labels are read off the scores by ``threshold``.
    """

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {}
    _kept: ClassVar[tuple[str, ...]] = ()  # attributes of what predicting needs
    threshold: Any
    threshold_: float | Array
    classes_: NDArray[Any]
    label_names_: list[str]

    @abstractmethod
    def _learn(self, data: TrainingData) -> None:
        """Learn from rows; labels are a CSR matrix of ones, with one column for two classes."""

    @abstractmethod
    def _scored(self, X: Any) -> Array:
        """Return scores (n, M) of some rows."""

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
        return self._fitted(X, y, sep=sep)

    def _fitted(self, X: Any, y: Any, **given: Any) -> Self:
        with unchanged_on_error(self), blas_threads():
            check_parameters(self, self._constraints)
            data = self._checked(X, y, **given)
            require_finite_squares(data.X)
            self._describe(LabelSpace.of(data.targets))
            self._learn(data)
        return self

    def _checked(self, X: Any, y: Any, **given: Any) -> TrainingData:
        """Return what ``fit`` was given, checked; a method with unknown labels has its own."""
        return check_training(self, X, y, **given)

    def _describe(self, labels: LabelSpace) -> None:
        """Keep what predictions need to know of the labels and their threshold."""
        self.label_space_ = labels
        self.classes_, self.n_labels_ = labels.classes, labels.n_labels
        self.__dict__.pop("label_names_", None)
        if labels.names is not None:
            self.label_names_ = labels.names
        self.threshold_, self.boundary_ = labels.placed(self._level(labels))

    def _level(self, labels: LabelSpace) -> float | Array:
        """Return the threshold in the units of the scores."""
        return labels.checked_threshold(self.threshold)

    @property
    def n_parameters_(self) -> int:
        """Number of parameters kept to predict; of a sparse array the stored ones."""
        check_is_fitted(self, "threshold_")
        return n_parameters_in([getattr(self, name) for name in self._kept])

    # ---- predicting ---------------------------------------------------------------------------

    def _prepare(self, X: Any) -> Any:
        check_is_fitted(self, "threshold_")
        return check_features(self, X, reset=False)

    def _score_blocks(self, X: Any) -> Iterator[tuple[slice, Array]]:
        for rows in row_blocks((X.shape[0], self.n_labels_)):
            yield rows, self._scored(X[rows]) - self.boundary_

    def predict(self, X: Any) -> NDArray[Any]:
        """Return 0/1 labels of shape (n_samples, n_labels), or classes for a vector y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows with the features of ``fit``.
        """
        X = self._prepare(X)
        return self.label_space_.decided(self._score_blocks(X), X.shape[0], self.threshold_)

    def _sigmoids(self, margins: Array) -> Array:
        """Return probabilities from log-odds; those of classes sum to 1."""
        if self.label_space_.kind == "binary":
            return expit(np.hstack([-margins, margins]))
        if self.label_space_.kind == "multiclass":
            # p_j / sum of p, from logarithms: no row can divide zero by zero.
            return softmax(log_expit(margins), axis=1)
        return expit(margins)


class ProbableClassifier(ScoredClassifier):
    """Base of those whose scores are probabilities."""

    def predict_proba(self, X: Any) -> Array:
        """Return probabilities of shape (n_samples, n_labels), or (n_samples, n_classes).

        Each label has its own; those of the classes of a vector y sum to 1.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows with the features of ``fit``.
        """
        return self._of_classes(self._scores(self._prepare(X)) + self.boundary_)

    def _of_classes(self, scores: Array) -> Array:
        p = self._probabilities(scores)
        if self.label_space_.kind == "binary":
            return np.hstack([1.0 - p, p])
        return p / p.sum(axis=1, keepdims=True) if self.label_space_.kind == "multiclass" else p

    def _probabilities(self, scores: Array) -> Array:
        """Return the probabilities of labels by their scores."""
        return scores


class FactoredClassifier(ScoredClassifier):
    """Base of those whose scores are a product of two thin matrices: X P W + b.

    They learn from rows of which some labels, or all, are unknown.
    """

    _kept: ClassVar[tuple[str, ...]] = ("projection_", "decoder_", "intercept_")
    projection_: Array  # (D, k) P
    decoder_: Array  # (k, M) W
    intercept_: Array  # (M,) b

    def fit(self, X: Any, y: Any = None, *, sep: str | None = None, unknown: Any = None) -> Self:
        """Learn from rows and their labels, as far as these are known.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : lists of names, matrix or frame of shape (n_samples, n_labels), or (n_samples,)
            A list, tuple or set of names for each row; or labels, 0 or 1, or NaN where unknown; a
            vector is read as one class per row.
        sep : str or None, default=None
            The sign between names where y is a column of joined names, such as "jazz;blues".
        unknown : Boolean array or sparse matrix of shape (n_samples, n_labels), optional
            True where the label is not known, in place of NaN.
        """
        return self._fitted(X, y, sep=sep, unknown=unknown)

    def _checked(self, X: Any, y: Any, **given: Any) -> TrainingData:
        return check_training(self, X, y, partial=True, **given)

    def _scored(self, X: Any) -> Array:
        return (X @ self.projection_) @ self.decoder_ + self.intercept_


def ridge(X: Any, Z: Array, alpha: float) -> tuple[Array, Array]:
    """Return coefficients (D, m) and intercepts (m,) of a ridge of codes Z (n, m) on rows."""
    pair = RowsPair.of_rows(X, scipy.sparse.csr_array((X.shape[0], 0)))
    learned = learn(pair, None, pair.codes_of(Z), alpha)
    return learned.coefficients, learned.intercept


def predicted_codes(X: Any, coef: Array, intercept: Array) -> Array:
    """Return codes (n, m) of some rows; sparse rows stay sparse."""
    return np.asarray(X @ coef.T) + intercept
