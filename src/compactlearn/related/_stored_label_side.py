"""Classifiers of the related work that decode codes of labels, in model files."""

from __future__ import annotations

from functools import partial
from typing import Any

from compactlearn.io._checks import is_number, is_sparse, matrix, numbers, require, size
from compactlearn.io._codec import attributes_codec
from compactlearn.io._models import check_labels


def check_codes(classifier: Any, n_codes: int) -> None:
    """Coefficients and intercepts of a ridge on codes."""
    numbers(classifier.coef_, (n_codes, classifier.n_features_in_), "the coefficients")
    numbers(classifier.intercept_, (n_codes,), "the intercepts")


def _check_sensing(classifier: Any) -> None:
    if not hasattr(classifier, "coef_"):
        return
    n_labels = check_labels(classifier)
    m = size(classifier.n_components_, "the number of measurements")
    numbers(classifier.measurements_, (m, n_labels), "the measurements")
    check_codes(classifier, m)
    require(0 < size(classifier.sparsity_, "the sparsity") <= m, "the sparsity is too large")


def _check_boolean(classifier: Any) -> None:
    if not hasattr(classifier, "coef_"):
        return
    n_labels = check_labels(classifier)
    m = size(classifier.n_components_, "the number of sets")
    require(is_sparse(classifier.basis_), "the sets are not sparse")
    matrix(classifier.basis_, (m, n_labels), "the sets")
    above = vars(classifier)["_used_above"]
    require(above is None or is_number(above), "the bound of a set is no number")
    check_codes(classifier, m)


def _check_output_codes(classifier: Any) -> None:
    if not hasattr(classifier, "label_coef_"):
        return
    n_labels = check_labels(classifier)
    m = size(classifier.n_components_, "the number of variates")
    numbers(classifier.directions_, (n_labels, m), "the directions")
    numbers(classifier.noise_, (m,), "the noise")
    numbers(vars(classifier)["_mean"], (m,), "the mean of the variates")
    require(is_number(vars(classifier)["_weight"]), "the weight is no number")
    check_codes(classifier, m)
    numbers(classifier.label_coef_, (n_labels, classifier.n_features_in_), "the weights")
    numbers(classifier.label_intercept_, (n_labels,), "the intercepts of labels")


CODECS = {
    "BooleanClassifier": partial(attributes_codec, check=_check_boolean),
    "CompressedSensingClassifier": partial(attributes_codec, check=_check_sensing),
    "OutputCodesClassifier": partial(attributes_codec, check=_check_output_codes),
}
