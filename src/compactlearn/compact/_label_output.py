"""Bases of classifiers that read labels off blocks of scores."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags

from compactlearn.compact._any_classifier import (
    RanksScores,
    check_k,
    named_classes,
    named_topk,
    names_of,
)
from compactlearn.compact._compression import Compressible, forget_compression
from compactlearn.compact._fitted import FittedModel, sigmoids_of
from compactlearn.core._chunked import lazy_on_dask
from compactlearn.core._devices import host, unwrap_like
from compactlearn.core._model_methods import Explainable, Exportable, Storable
from compactlearn.decoding._label_space import LabelSpace
from compactlearn.decoding._picked import Pairs, Picked
from compactlearn.decoding._topk import top_labels
from compactlearn.linalg._arrays import zeros_on_device_of

Array = NDArray[np.float64]
Blocks = Iterable[tuple[slice, Array]]  # some rows, and their scores


class BlockScores:
    """Scores of a few rows at a time."""

    n_labels_: int
    label_space_: LabelSpace  # matrix or vector, classes, names
    boundary_: float  # subtracted from the scores of two classes, whose boundary is 0; else 0

    @abstractmethod
    def _prepare(self, X: Any) -> Any:
        """Return X, checked."""

    @abstractmethod
    def _score_blocks(self, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield the scores of a few rows at a time, with 0 as the boundary of two classes."""


class RanksLabels(BlockScores, RanksScores, Explainable, Compressible, Storable, Exportable):
    """Labels, and the best of them, from blocks of scores."""

    classes_: NDArray[Any]
    label_names_: list[str]
    excluded_labels_: list[Any]
    threshold_: Any

    @lazy_on_dask
    def predict(self, X: Any) -> NDArray[Any]:
        """Return 0/1 labels of shape (n_samples, n_labels), or classes for a vector y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows with the features of ``fit``.
        """
        X = self._prepare(X)
        return self.label_space_.decided(self._score_blocks(X), X.shape[0], self.threshold_)

    # As in the base class, but without all (n_samples, n_labels) scores in memory at once.

    @lazy_on_dask
    def predict_topk(self, X: Any, k: int, *, sparse: bool = False, names: bool = False) -> Any:
        X = self._prepare(X)
        found = best_labels(self.label_space_, self._score_blocks(X), X, k)
        return named_topk(self, unwrap_like(found, X), sparse=sparse, names=names)

    def predict_labels(self, X: Any, k: int | None = None) -> Pairs:
        X = self._prepare(X)
        if self.label_space_.kind != "multilabel":
            return named_classes(self, X, k)
        if k is not None:
            check_k(k, self.n_labels_, "predict_labels")
        names, has_probabilities = names_of(self), hasattr(self, "predict_proba")
        # The function that predict_proba uses: one for arrays on devices, too, is rounded its way.
        own = isinstance(getattr(self, "parts_", None), FittedModel)
        sigmoid = sigmoids_of if own else expit
        found: Pairs = []
        for _, scores in self._score_blocks(X):
            if k is None:
                picked = Picked.above(host(scores), host(self.threshold_))
            else:
                picked = Picked.best(*map(host, top_labels(scores, k)))
            shown = sigmoid(picked.scores) if has_probabilities else picked.scores
            found += picked.named(names, shown)
        return found


def best_labels(
    labels: LabelSpace, blocks: Blocks, X: Any, k: int
) -> tuple[NDArray[np.intp], Array]:
    """Return labels and scores of checked rows, both of shape (n_rows, k), best first."""
    if labels.kind == "binary":
        raise ValueError(
            "predict_topk ranks labels, and two classes have a single score; use predict or "
            "decision_function."
        )
    check_k(k, labels.n_labels, "predict_topk")
    indices = zeros_on_device_of((X.shape[0], k), X, dtype=np.intp)
    best = zeros_on_device_of((X.shape[0], k), X)
    for rows, scores in blocks:
        indices[rows], best[rows] = top_labels(scores, k)
    return indices, best


class DenseScores(BlockScores, ClassifierMixin, BaseEstimator):
    """Base of classifiers of dense or sparse rows whose scores are an array."""

    def _scores(self, X: Any) -> Array:
        """Return the scores of checked rows; two classes have one column."""
        scores = np.empty((X.shape[0], self.n_labels_))
        for rows, block in self._score_blocks(X):
            scores[rows] = block
        return scores

    def decision_function(self, X: Any) -> Array:
        """Return scores of shape (n_samples, n_labels); (n_samples,) for two classes, with 0 as
        the boundary.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows with the features of ``fit``.
        """
        scores = self._scores(self._prepare(X))
        return scores[:, 0] if self.label_space_.kind == "binary" else scores

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        assert tags.classifier_tags is not None
        tags.classifier_tags.multi_label = True
        return tags


def describe(classifier: RanksLabels, labels: LabelSpace, left_out: Sequence[Any] = ()) -> None:
    """Set the fitted attributes that describe the labels."""
    forget_compression(classifier)
    classifier.label_space_ = labels
    if hasattr(classifier, "min_label_count"):
        classifier.excluded_labels_ = list(left_out)
    classifier.classes_, classifier.n_labels_ = labels.classes, labels.n_labels
    vars(classifier).pop("label_names_", None)
    if labels.names is not None:
        classifier.label_names_ = labels.names
