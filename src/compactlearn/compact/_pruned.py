"""Small linear models: few features, or few weights, of a ridge on all of them.

Which weights matter is read off a ridge regression of all labels on all features, by the deviation
that each brings into its label's score: ``|b_jl| sd_j``. Kept are the features that bring most into
all labels together (:class:`KeptFeatures`), on which a compact model is then learnt, or single
weights (:class:`KeptWeights`), which are then learnt anew. The index of a weight counts
as a parameter.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from compactlearn.compact._classifier import CompactClassifier
from compactlearn.decoding._linear import linear_parameters
from compactlearn.embeddings._original import Original
from compactlearn.linalg._arrays import working_form
from compactlearn.linalg._pruned_ridge import largest_places, refit_kept
from compactlearn.linalg._row_sums import column_moments

Array = NDArray[np.float64]


class KeptFeatures(BaseEstimator):
    """A clone of ``classifier`` on the features that a ridge on all of them gives most weight.

    >>> from compactlearn import CMLLClassifier
    >>> from compactlearn.datasets import load
    >>> data = load("enron")
    >>> X, Y = scipy.sparse.csr_array(data.X), scipy.sparse.csr_array(data.Y)
    >>> model = KeptFeatures(CMLLClassifier(5, 5, threshold=0.5), 200, alpha=10.0).fit(X, Y)
    >>> model.n_parameters_  # 5 (200 + 53) + 53, and the 200 indices
    1518
    """

    def __init__(
        self, classifier: Any, n_features: int, *, alpha: float = 1.0, scale: bool = False
    ) -> None:
        self.classifier = classifier
        self.n_features = n_features
        self.alpha = alpha
        self.scale = scale

    def fit(self, X: Any, Y: Any, sample_weight: Array | None = None) -> Self:
        """Choose features and fit the classifier to them; X and Y are checked already."""
        _, moved = _ridge(X, Y, sample_weight, self.alpha, scale=self.scale)
        places = largest_places(np.linalg.norm(moved, axis=1), self.n_features)
        # Where no weight is above 0 any feature is as good as another.
        self.features_ = (places if places.size else np.arange(1)).astype(np.int32)
        model = clone(self.classifier)
        self.classifier_ = model.fit(X[:, self.features_], Y, sample_weight=sample_weight)
        return self

    def decision_function(self, X: Any) -> Array:
        """Return (N, M) scores of the classifier."""
        return self.classifier_.decision_function(X[:, self.features_]).reshape(X.shape[0], -1)

    @property
    def n_parameters_(self) -> int:
        """Number of parameters of the classifier, and of indices of its features."""
        return self.classifier_.n_parameters_ + self.features_.size


class KeptWeights(BaseEstimator):
    """A ridge regression of each label on the features that matter for it.

    ``alpha`` is the penalty of the ridge on all features, which chooses the weights, of all labels
    together, and ``refit_alpha`` that of the kept ones.

    >>> from compactlearn.datasets import load
    >>> data = load("enron")
    >>> X, Y = scipy.sparse.csr_array(data.X), scipy.sparse.csr_array(data.Y)
    >>> model = KeptWeights(700, alpha=10.0, refit_alpha=3.0).fit(X, Y)
    >>> model.n_parameters_  # 700 weights and indices, 53 intercepts, 54 bounds between labels
    1507
    """

    def __init__(
        self, n_weights: int, *, alpha: float = 1.0, refit_alpha: float = 1.0, scale: bool = False
    ) -> None:
        self.n_weights = n_weights
        self.alpha = alpha
        self.refit_alpha = refit_alpha
        self.scale = scale

    def fit(self, X: Any, Y: Any, sample_weight: Array | None = None) -> Self:
        """Choose weights and learn them anew; X and Y are checked already."""
        ridge, moved = _ridge(X, Y, sample_weight, self.alpha, scale=self.scale)
        labels, features = np.divmod(largest_places(moved.T, self.n_weights), X.shape[1])
        starts = np.searchsorted(labels, np.arange(Y.shape[1] + 1))
        kept = scipy.sparse.csr_array(
            (np.ones(features.size), features.astype(np.int32), starts.astype(np.int32)),
            shape=(Y.shape[1], X.shape[1]),
        )
        unit = ridge.scale_ if self.scale else np.ones(X.shape[1])
        penalties = self.refit_alpha * unit**2
        self.weights_, self.intercept_ = refit_kept(X, Y, kept, penalties, sample_weight)
        return self

    def decision_function(self, X: Any) -> Array:
        """Return (N, M) scores, which lie about 0 and 1."""
        weights = self.weights_
        small = weights.dtype.itemsize < X.dtype.itemsize
        scores = (X.astype(weights.dtype) if small else X) @ weights.T
        dense = scores.toarray() if scipy.sparse.issparse(scores) else scores
        return dense.astype(np.float64, copy=False) + self.intercept_

    @property
    def n_parameters_(self) -> int:
        """Weights, their features, where each label's begin and end, and intercepts."""
        weights = self.weights_
        return int(weights.nnz + weights.indices.size + weights.indptr.size + self.intercept_.size)


def kept_weights_within(budget: int, n_labels: int) -> int:
    """Return how many weights :class:`KeptWeights` may keep within a size budget.

    >>> kept_weights_within(1507, 53)
    700
    """
    return max(0, (budget - 2 * n_labels - 1) // 2)


def codes_of_kept_features(budget: int, n_features: int, n_labels: int) -> int:
    """Return how many codes :class:`KeptFeatures` may have; 0: not even one.

    >>> codes_of_kept_features(1518, 200, 53)
    5
    """
    left = budget - n_features
    if linear_parameters(n_features, n_labels, None, None) <= left:
        return min(n_features, n_labels)
    return max(0, min((left - n_labels) // (n_features + n_labels), n_features, n_labels))


def _ridge(
    X: Any, Y: Any, weights: Array | None, alpha: float, *, scale: bool
) -> tuple[CompactClassifier, Array]:
    """Return a ridge on all features, and how far each moves each label's score."""
    ridge = CompactClassifier(Original(), alpha=alpha, scale=scale, threshold=0.5)
    ridge.fit(X, Y, sample_weight=weights)
    _, variances, _ = column_moments(working_form(X), weights)
    return ridge, np.abs(ridge.coef_) * np.sqrt(variances)[:, None]
