"""The inside of ``CompactClassifier``: rows are mapped and scaled, projected, coded and decoded.

With the built-in ridge, or a linear regressor, all of that is one matrix, of which the columns of
the asked labels are multiplied out. Kernels with a name are brought back to the features by mean
slopes (``kernel_slopes.py``); of a kernel function there are the training rows, by similarity and
weight. A forest's answers are sums along the ways through its trees.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import OneToOneFeatureMixin

from compactlearn.compact._kernel_map import KernelMap
from compactlearn.inspection._decomposition import Inside, NotExplained, Places
from compactlearn.inspection._foreign import linear_part, says_so
from compactlearn.inspection._terms import Parts, Terms, products
from compactlearn.inspection._trees import is_forest, way_terms

Array = NDArray[np.float64]


@dataclass(frozen=True)
class CompactInside(Inside):
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
        if hasattr(feature_map, "landmarks_") and not self.fitted.row_map.as_kernel:
            weights = feature_map.weights_of_landmarks(weights)
        if feature_map.has_slopes:
            at_zero, slopes = feature_map.mean_slopes(X, weights.T[place])
            terms = products(X, slopes, np.arange(place.size))
            return Parts(base + at_zero, (Terms("feature", terms),))
        similar = feature_map.rows(X)
        what = "training row" if self.fitted.row_map.as_kernel else "landmark"
        names = [f"{what} {number}" for number in range(similar.shape[1])]
        terms = products(similar, weights.T, place)
        return Parts(base, (Terms("row", terms, similar, names),))

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
