"""Scores of ``CompactClassifier`` as sums: rows are mapped, scaled, projected, coded, decoded.

With the built-in ridge, or a linear regressor, all of that is one matrix, of which the columns of
the asked labels are multiplied out. Kernels with a name are brought back to the features by mean
slopes (``_kernels.py``); of a kernel function there are the training rows, by similarity and
weight. A forest's answers are sums along the ways through its trees.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils.validation import check_is_fitted

from compactlearn.compact._classifier import CompactClassifier
from compactlearn.compact._kernel_map import KernelMap
from compactlearn.compact._pruned import KeptFeatures, KeptWeights
from compactlearn.compact._threshold_tuner import ThresholdTuner
from compactlearn.inspection._decomposition import (
    LinearDecomposition,
    NotExplained,
    Places,
    ScoreDecomposition,
    decomposition_of,
    linear_part,
    says_so,
)
from compactlearn.inspection._kernels import mean_slopes
from compactlearn.inspection._terms import Parts, Terms, products
from compactlearn.inspection._trees import is_forest, way_terms

Array = NDArray[np.float64]


@dataclass(frozen=True)
class CompactDecomposition(ScoreDecomposition):
    """``fitted`` is the model's ``FittedModel``."""

    fitted: Any

    def width(self, X: Any) -> int:
        """As many as a row is mapped to."""
        return max(super().width(X), self.fitted.n_columns)

    def parts(self, X: Any, labels: Places) -> Parts:
        """Value times effective weight, of the columns that the model multiplies."""
        kept, place = np.unique(labels, return_inverse=True)
        linear = self._linear_columns(X, kept)
        if linear is None:
            return self._forest_parts(X, kept, place)
        weights, base = linear[0], linear[1][place]
        feature_map = self.fitted.row_map.feature_map
        if not isinstance(feature_map, KernelMap):
            mapped = self.fitted.row_map.mapped(X)
            terms = products(mapped, weights.T, place)
            return Parts(base, (self._column_terms(terms, mapped, X.shape[1]),))
        if not self.fitted.row_map.as_kernel:
            weights = feature_map.coefficients_ @ weights
        at_zero, slopes = mean_slopes(feature_map, X, weights.T[place])
        terms = products(X, slopes, np.arange(place.size))
        return Parts(base + at_zero, (Terms("feature", terms),))

    def _linear_columns(self, X: Any, labels: Places) -> tuple[Array, Array] | None:
        """(n_columns, n) weights of mapped columns, and intercepts; None where it is not linear."""
        model = self.fitted
        if model.linear is not None:
            return model.linear.columns(labels), model.linear.intercept[labels]
        own = linear_part(model.regressor)
        if own is None:
            return None
        U = self._seen(X)
        if not says_so(own, U, model.regressor.predict(U)):
            return None
        coef, intercept = own
        decoding, constant = self._decoding(labels)
        weights = coef.T @ decoding
        if model.projection is not None:
            weights = model.projection @ weights
        if model.row_map.scale is not None:
            weights = weights / model.row_map.scale[:, None]
        return weights, constant + intercept @ decoding

    def _seen(self, X: Any) -> Any:
        """What the regressor sees of checked rows."""
        scaled = self.fitted.row_map.rows(X)
        return scaled if self.fitted.projection is None else scaled @ self.fitted.projection

    def _decoding(self, labels: Places) -> tuple[Array, Array]:
        """What a foreign regressor's answers are multiplied by, and what is added."""
        model = self.fitted
        decoder = model.decoder[:, labels]
        decoder = decoder.toarray() if scipy.sparse.issparse(decoder) else np.asarray(decoder)
        back = model.back
        weights = back @ decoder if isinstance(back, np.ndarray) else back * decoder
        return weights, model.offset[labels] - model.boundary

    def _forest_parts(self, X: Any, kept: Places, place: Places) -> Parts:
        model = self.fitted
        if not is_forest(model.regressor):
            raise self.refusal(
                f"the regressor {type(model.regressor).__name__} is neither linear nor a forest"
            )
        U = self._seen(X)
        decoding, constant = self._decoding(kept)
        base, terms = way_terms(model.regressor, U, decoding, place)
        base = base + constant[place]
        kernel = isinstance(model.row_map.feature_map, KernelMap)
        if model.projection is None and not kernel:
            mapped = model.row_map.mapped(X)
            return Parts(base, (self._column_terms(terms, mapped, X.shape[1]),))
        names = [f"direction {number}" for number in range(U.shape[1])]
        return Parts(base, (Terms("direction", terms, U, names),))

    def _column_terms(self, terms: Any, mapped: Any, n_features: int) -> Terms:
        """Terms of mapped columns, which are those of X where the map keeps them apart."""
        feature_map = self.fitted.row_map.feature_map
        if feature_map is None or isinstance(feature_map, OneToOneFeatureMixin):
            return Terms("feature", terms)
        known = getattr(self.model, "feature_names_in_", None)
        inputs = [f"x{number}" for number in range(n_features)] if known is None else known
        names = [f"column {number}" for number in range(mapped.shape[1])]
        if hasattr(feature_map, "get_feature_names_out"):
            names = [str(name) for name in feature_map.get_feature_names_out(inputs)]
        return Terms("column", terms, mapped, names)

    def label_vectors(self) -> Any:
        """The labels' columns of the decoder; their weights where labels are their own codes."""
        model = self.fitted
        if not scipy.sparse.issparse(model.decoder):
            return model.decoder.T
        own = linear_part(model.regressor)
        if own is None or model.row_map.as_kernel:
            raise NotExplained(
                "Neighbours of labels need codes, or weights of features, and this model predicts "
                "the labels themselves by a kernel or a regressor that has none; use an embedding "
                "of the labels, as CMLL(n_label_components=...)."
            )
        return own[0]


@dataclass(frozen=True)
class _FeaturesDecomposition(ScoreDecomposition):
    """A classifier that sees some of the features; ``seeing`` is its decomposition."""

    features: Places
    seeing: ScoreDecomposition

    def parts(self, X: Any, labels: Places) -> Parts:
        """Return those of the classifier, at the places that its features have among all."""
        parts = self.seeing.parts(X[:, self.features], labels)
        groups = (self._placed(group, X.shape[1]) for group in parts.groups)
        return replace(parts, groups=tuple(groups))

    def _placed(self, group: Terms, n_features: int) -> Terms:
        if group.kind != "feature":
            return group
        terms = group.contributions
        placed = (terms.data, self.features[terms.indices], terms.indptr)
        shape = (terms.shape[0], n_features)
        return replace(group, contributions=scipy.sparse.csr_array(placed, shape=shape))

    def label_vectors(self) -> Any:
        return self.seeing.label_vectors()


@decomposition_of.register
def _(model: CompactClassifier) -> ScoreDecomposition:
    return CompactDecomposition(model, model.parts_)


@decomposition_of.register
def _(model: KeptFeatures) -> ScoreDecomposition:
    return _FeaturesDecomposition(model, model.features_, decomposition_of(model.classifier_))


@decomposition_of.register
def _(model: KeptWeights) -> ScoreDecomposition:
    return LinearDecomposition(model, model.weights_, model.intercept_)


@decomposition_of.register
def _(model: ThresholdTuner) -> ScoreDecomposition:
    check_is_fitted(model, "estimator_")
    return decomposition_of(model.estimator_)
