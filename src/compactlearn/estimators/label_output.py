"""What classifiers of many labels know of them, and the best of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.core.params import Integer
from compactlearn.core.validation import Targets
from compactlearn.decoding.topk import as_stored, top_labels
from compactlearn.estimators.any_classifier import Evaluated
from compactlearn.estimators.sizes import Weighed

Array = NDArray[np.float64]


class RanksLabels(Evaluated, Weighed):
    """``predict_topk`` from blocks of scores, what describes labels, checked thresholds,
    ``evaluate`` and ``nbytes_``."""

    classes_: NDArray[Any]
    n_labels_: int
    _kind: str
    _dtype: np.dtype[Any]

    @abstractmethod
    def _prepare(self, X: Any) -> Any:
        """X, checked."""

    @abstractmethod
    def _score_blocks(self, X: Any) -> Iterator[tuple[slice, Array]]:
        """The scores of a few rows at a time."""

    def _describe(self, targets: Targets) -> None:
        """Keep what predictions need to know about the labels."""
        self._kind, self._dtype = targets.kind, targets.dtype
        self.classes_, self.n_labels_ = targets.classes, targets.n_labels
        self.__dict__.pop("label_names_", None)
        if targets.names is not None:
            self.label_names_ = targets.names

    def _checked_threshold(self, given: Any) -> float | Array:
        """A threshold in numbers, held to the labels: one, or one for each."""
        threshold = np.array(given, dtype=np.float64)  # a copy: the user's array may change
        if threshold.ndim and self._kind != "multilabel":
            raise ValueError(
                f"threshold must be a single number when y is a vector of classes, and has "
                f"{threshold.size} entries; pass a float."
            )
        if threshold.ndim and threshold.size != self.n_labels_:
            raise ValueError(
                f"threshold must be a number or hold one for each of the {self.n_labels_} labels, "
                f"and has {threshold.size} entries; pass an array of {self.n_labels_}."
            )
        return threshold if threshold.ndim else float(threshold)

    def predict_topk(self, X: Any, k: int, *, sparse: bool = False) -> Any:
        """Return the k best labels of each row and their scores, best first.

        A few rows at a time: the (n_samples, n_labels) scores are never held at once.

        Parameters
        ----------
        X : as in ``fit``
        k : int
        sparse : bool, default=False
            Whether to return one CSR matrix of shape (n_samples, n_labels) with the k scores of
            each row stored, instead of the pair (indices, scores), both of shape (n_samples, k).
        """
        X = self._prepare(X)
        if self._kind == "binary":
            raise ValueError(
                "predict_topk ranks labels, and two classes have a single score; use predict or "
                "decision_function."
            )
        if not Integer(1, self.n_labels_).accepts(k):
            raise ValueError(
                f"predict_topk needs k between 1 and the number of labels ({self.n_labels_}), and "
                f"was given {k!r}; pass such an integer."
            )
        indices = np.empty((X.shape[0], k), dtype=np.intp)
        best = np.empty((X.shape[0], k))
        for rows, scores in self._score_blocks(X):
            indices[rows], best[rows] = top_labels(scores, k)
        return as_stored(indices, best, self.n_labels_) if sparse else (indices, best)
