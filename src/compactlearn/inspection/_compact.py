"""Scores of ``CompactClassifier`` as sums: rows are mapped, scaled, projected, coded, decoded.

With the built-in ridge, or a linear regressor, all of that is one matrix, of which the columns of
the asked labels are multiplied out. Kernels are brought back to the features by mean slopes
(``_kernels.py``). A forest's answers are sums along the ways through its trees.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import OneToOneFeatureMixin

from compactlearn.compact._classifier import CompactClassifier
from compactlearn.compact._fitted import FittedModel
from compactlearn.compact._kernel_map import KernelMap
from compactlearn.compact._pruned import KeptFeatures, KeptWeights
from compactlearn.inspection._decomposition import (
    NotExplained,
    Places,
    label_vectors_of,
    linear_part,
    linear_parts,
    parts_of,
    refusal,
    says_so,
)
from compactlearn.inspection._kernels import mean_slopes
from compactlearn.inspection._terms import Parts, Terms, products
from compactlearn.inspection._trees import is_forest, way_terms

Array = NDArray[np.float64]


@parts_of.register
def _(model: CompactClassifier, X: Any, labels: Places) -> Parts:
    """Value times effective weight, of the columns that the model multiplies."""
    row_map = model.parts_.row_map
    kept, place = np.unique(labels, return_inverse=True)
    linear = _linear_columns(model.parts_, X, kept)
    if linear is None:
        return _forest_parts(model, X, kept, place)
    weights, base = linear[0], linear[1][place]
    if not isinstance(row_map.feature_map, KernelMap):
        mapped = row_map.mapped(X)
        return Parts(base, (_column_terms(model, X, mapped, products(mapped, weights.T, place)),))
    if not row_map.as_kernel:
        weights = row_map.feature_map.coefficients_ @ weights
    at_zero, slopes = mean_slopes(row_map.feature_map, X, weights.T[place])
    terms = products(X, slopes, np.arange(place.size))
    return Parts(base + at_zero, (Terms("feature", terms),))


def _linear_columns(model: FittedModel, X: Any, labels: Places) -> tuple[Array, Array] | None:
    """Return (n_columns, n) weights of mapped columns, and intercepts; None if it is not linear."""
    if model.linear is not None:
        return model.linear.columns(labels), model.linear.intercept[labels]
    own = linear_part(model.regressor)
    if own is None:
        return None
    U = _seen(model, X)
    if not says_so(own, U, model.regressor.predict(U)):
        return None
    coef, intercept = own
    decoding, constant = _decoding(model, labels)
    weights = coef.T @ decoding
    if model.projection is not None:
        weights = model.projection @ weights
    if model.row_map.scale is not None:
        weights = weights / model.row_map.scale[:, None]
    return weights, constant + intercept @ decoding


def _seen(model: FittedModel, X: Any) -> Any:
    """Return checked rows as the regressor sees them."""
    scaled = model.row_map.rows(X)
    return scaled if model.projection is None else scaled @ model.projection


def _decoding(model: FittedModel, labels: Places) -> tuple[Array, Array]:
    """Return what a foreign regressor's answers are multiplied by, and what is added."""
    decoder = model.decoder[:, labels]
    decoder = decoder.toarray() if scipy.sparse.issparse(decoder) else np.asarray(decoder)
    back = model.back
    weights = back @ decoder if isinstance(back, np.ndarray) else back * decoder
    return weights, model.offset[labels] - model.boundary


def _forest_parts(classifier: CompactClassifier, X: Any, kept: Places, place: Places) -> Parts:
    model = classifier.parts_
    if not is_forest(model.regressor):
        name = type(model.regressor).__name__
        raise refusal(classifier, f"the regressor {name} is neither linear nor a forest")
    U = _seen(model, X)
    decoding, constant = _decoding(model, kept)
    base, terms = way_terms(model.regressor, U, decoding, place)
    base = base + constant[place]
    if model.projection is None and not isinstance(model.row_map.feature_map, KernelMap):
        mapped = model.row_map.mapped(X)
        return Parts(base, (_column_terms(classifier, X, mapped, terms),))
    names = [f"direction {number}" for number in range(U.shape[1])]
    return Parts(base, (Terms("direction", terms, U, names),))


def _column_terms(model: CompactClassifier, X: Any, mapped: Any, terms: Any) -> Terms:
    """Return terms of mapped columns, which are those of X where the map keeps them apart."""
    feature_map = model.parts_.row_map.feature_map
    if feature_map is None or isinstance(feature_map, OneToOneFeatureMixin):
        return Terms("feature", terms)
    known = getattr(model, "feature_names_in_", None)
    inputs = [f"x{number}" for number in range(X.shape[1])] if known is None else known
    names = [f"column {number}" for number in range(mapped.shape[1])]
    if hasattr(feature_map, "get_feature_names_out"):
        names = [str(name) for name in feature_map.get_feature_names_out(inputs)]
    return Terms("column", terms, mapped, names)


@label_vectors_of.register
def _(model: CompactClassifier) -> Any:
    """The labels' columns of the decoder; their weights where labels are their own codes."""
    fitted = model.parts_
    if not scipy.sparse.issparse(fitted.decoder):
        return fitted.decoder.T
    own = linear_part(fitted.regressor)
    if own is None or fitted.row_map.as_kernel:
        raise NotExplained(
            "Neighbours of labels need codes, or weights of features, and this model predicts "
            "the labels themselves by a kernel or a regressor that has none; use an embedding "
            "of the labels, as CMLL(n_label_components=...)."
        )
    return own[0]


# ---- some features, some weights ----------------------------------------------------------------


@parts_of.register
def _(model: KeptFeatures, X: Any, labels: Places) -> Parts:
    """The parts of the classifier, at the places that its features have among all."""
    parts = parts_of(model.classifier_, X[:, model.features_], labels)
    groups = []
    for group in parts.groups:
        if group.kind == "feature":
            terms = group.contributions
            placed = (terms.data, model.features_[terms.indices], terms.indptr)
            wide = scipy.sparse.csr_array(placed, shape=(terms.shape[0], X.shape[1]))
            group = replace(group, contributions=wide)
        groups.append(group)
    return replace(parts, groups=tuple(groups))


@label_vectors_of.register
def _(model: KeptFeatures) -> Any:
    return label_vectors_of(model.classifier_)


@parts_of.register
def _(model: KeptWeights, X: Any, labels: Places) -> Parts:
    return linear_parts(model.weights_, model.intercept_, X, labels)


@label_vectors_of.register
def _(model: KeptWeights) -> Any:
    return model.weights_
