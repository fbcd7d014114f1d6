"""The classifiers and embeddings of this package in model files."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from compactlearn.compact._classifier import CompactClassifier
from compactlearn.compact._compression import Half, HalfSparse
from compactlearn.compact._fitted import FittedModel
from compactlearn.compact._kernel_map import KernelMap
from compactlearn.compact._kernels import NAMED, Kernel
from compactlearn.compact._preparation import RowMap
from compactlearn.compact._pruned import KeptFeatures, KeptWeights
from compactlearn.compact._running_sums import RunningSums
from compactlearn.compact._threshold_tuner import ThresholdTuner
from compactlearn.core._tensor_file import ModelFileError
from compactlearn.crossfit._learner import CodeRidge
from compactlearn.decoding._label_space import LabelSpace
from compactlearn.decoding._linear import LinearScorer
from compactlearn.io._checks import is_number, is_sparse, matrix, numbers, require, size, threshold
from compactlearn.io._codec import Codec, State, attributes, attributes_codec
from compactlearn.io._sparse import SPARSE, checked_parts
from compactlearn.linalg._moments import Moments

_KINDS = ("multilabel", "binary", "multiclass")


# ---- labels -----------------------------------------------------------------------------------


def check_labels(classifier: Any) -> int:
    """What every classifier knows of its labels; returns how many columns its scores have."""
    state = vars(classifier)
    labels = state["label_space_"]
    require(isinstance(labels, LabelSpace), "a classifier does not know its labels")
    require(labels.kind in _KINDS, "the labels are of no known kind")
    n_labels = size(labels.n_labels, "the number of labels")
    require(n_labels > 0, "there are no labels")
    require(classifier.n_labels_ == n_labels, "the numbers of labels differ")
    numeric = isinstance(labels.dtype, np.dtype) and labels.dtype.kind in "biuf"
    require(numeric or labels.kind != "multilabel", "the labels have no type")
    names = getattr(classifier, "label_names_", labels.names)
    for known in (names, labels.names):
        if known is not None:
            listed = isinstance(known, list) and all(isinstance(name, str) for name in known)
            require(listed and len(known) == n_labels, "the names are not those of the labels")
    for classes in (labels.classes, classifier.classes_):
        counted = isinstance(classes, np.ndarray) and classes.ndim == 1
        least = 2 if labels.kind == "binary" else n_labels
        require(counted and classes.size >= least, "the classes are not those of the labels")
    left = state.get("excluded_labels_", [])
    listed = isinstance(left, list) and all(isinstance(name, str | int) for name in left)
    require(listed, "the labels that were left out are no names")
    threshold(classifier.threshold_, n_labels)
    require(is_number(state.get("boundary_", 0.0)), "the boundary is no number")
    size(classifier.n_features_in_, "the number of features")
    return n_labels


def _encode_labels(labels: LabelSpace) -> dict[str, Any]:
    """Return the fields; names of labels are shown and written wherever the model is used."""
    for name in (*(labels.names or ()), *labels.classes.tolist()):
        if isinstance(name, str) and any("\ud800" <= letter <= "\udfff" for letter in name):
            raise ModelFileError(
                f"the label name {name!r:.60} has half of a surrogate pair, which is no text that "
                "can be written; rename the label, and fit the model again"
            )
    return attributes(labels)


# ---- compact models ---------------------------------------------------------------------------


def _encode_fitted(model: FittedModel) -> dict[str, Any]:
    """Its fields, and what it multiplies out: nothing has to be multiplied, nor anything of a file
    be read that no row needs, when the first row is scored."""
    state: dict[str, Any] = attributes(model)
    ready = None
    ridge = model.regressor
    if isinstance(ridge, CodeRidge) and isinstance(ridge.coef_, np.ndarray):
        assert model.linear is not None
        ready = (model.linear.factors, model.linear.intercept)
    return {**state, "multiplied": ready}


def _decode_fitted(type_: type[FittedModel], state: State) -> FittedModel:
    ready = state.pop("multiplied")
    model = attributes_codec(type_).decode(state)
    if ready is not None:
        _check_fitted(model)
        factors, intercept = ready
        linear = LinearScorer(model.steps, intercept, model.row_map.scale)
        require(isinstance(factors, tuple), "its factors are none")
        widths = [linear.chain.widths[stop] for stop in linear.chain.stops]
        require(len(factors) == len(widths) - 1, "its factors are too many or too few")
        for factor, low, high in zip(factors, widths[:-1], widths[1:], strict=True):
            matrix(factor, (low, high), "a factor")
        numbers(intercept, (widths[-1],), "the intercept")
        vars(linear)["factors"] = factors
        vars(model)["linear"] = linear
    return model


def _check_fitted(model: FittedModel) -> None:
    """Matrices that are multiplied with each other must fit."""
    width = size(model.n_columns, "the number of columns")
    row_map = model.row_map
    require(isinstance(row_map, RowMap), "a model does not know how rows are prepared")
    if row_map.scale is not None:
        numbers(row_map.scale, (width,), "the scale")
    if row_map.as_kernel:
        kernel = row_map.feature_map
        known = isinstance(kernel, KernelMap) and hasattr(kernel, "landmarks_")
        require(known and kernel.landmarks_.shape[0] == width, "a kernel has other landmarks")
    if model.projection is not None:
        width = numbers(model.projection, (width, None), "the projection").shape[1]
    m, n_labels = matrix(model.decoder, (None, None), "the decoder").shape
    if isinstance(model.regressor, CodeRidge):
        numbers(model.regressor.coef_, (m, width), "the coefficients")
        numbers(model.regressor.intercept_, (m,), "the intercept")
    if not is_number(model.back):
        numbers(model.back, (m, m), "the way back to codes")
    numbers(model.offset, (n_labels,), "the offset")
    threshold(model.threshold, n_labels)
    require(isinstance(model.labels, LabelSpace), "a model does not know its labels")
    require(model.labels.n_labels == n_labels, "the decoder has other labels")
    require(isinstance(model.multiplied_out, frozenset), "what is multiplied out is unknown")


def _check_compact(classifier: CompactClassifier) -> None:
    if not hasattr(classifier, "embedding_"):
        return  # one that is not fitted
    n_labels, model = check_labels(classifier), vars(classifier)["parts_"]
    require(isinstance(model, FittedModel), "a classifier has no model")
    _check_fitted(model)
    require(model.labels.n_labels == n_labels, "the model has other labels")
    if model.row_map.feature_map is None:
        same = model.n_columns == classifier.n_features_in_
        require(same, "the model has other features")


# ---- kernels ----------------------------------------------------------------------------------


def _check_kernel(kernel: Kernel) -> None:
    require(isinstance(kernel.function, str) and kernel.function in NAMED, "a kernel is unknown")
    numbered = is_number(kernel.degree) and is_number(kernel.coef0)
    require(numbered, "a kernel has no constants")
    require(kernel.gamma is None or is_number(kernel.gamma), "a kernel has no width")
    if kernel.origin is not None:
        numbers(kernel.origin, (None,), "the origin of a kernel")


def _check_kernel_map(mapping: KernelMap) -> None:
    state = vars(mapping)
    if "gamma_" not in state:
        return
    n_features = size(mapping.n_features_in_, "the number of features")
    n = matrix(mapping.landmarks_, (None, n_features), "the landmarks").shape[0]
    kernel, roots = state["_kernel"], state["_roots"]
    require(isinstance(kernel, Kernel), "a kernel map has no kernel")
    if kernel.origin is not None:
        require(not is_sparse(mapping.landmarks_), "sparse landmarks have no origin")
        numbers(kernel.origin, (n_features,), "the origin")
    size(state["_count"], "the number of directions")
    if roots is not None:
        numbers(roots, (n,), "the weights of landmarks")
    if "_coefficients" in state:
        numbers(state["_coefficients"], (n, None), "the features of a kernel")


# ---- others -----------------------------------------------------------------------------------


def _check_moments(moments: Moments) -> None:
    width = numbers(moments.mean, (None,), "a mean").size
    numbers(moments.scatter, (width, width), "a scatter")
    require(size(moments.n_left, "a number of columns") <= width, "a block is too wide")
    require(is_number(moments.count), "a count is no number")


def _check_sums(sums: RunningSums) -> None:
    require(sums.moments is None or isinstance(sums.moments, Moments), "the sums are none")


def _check_half(half: Half) -> None:
    values, exponents = half.values, half.exponents
    require(isinstance(values, np.ndarray) and values.dtype == np.float16, "a half is none")
    require(isinstance(exponents, np.ndarray) and exponents.dtype == np.int16, "a half is none")
    fits = exponents.shape == values.shape[1:] if values.size else exponents.size <= 1
    require(fits, "the units of a half do not fit it")


def _encode_half_sparse(half: HalfSparse) -> dict[str, Any]:
    shape = tuple(int(n) for n in half.shape)
    return {**vars(half), "kind": SPARSE[half.kind], "shape": shape}


def _decode_half_sparse(state: State) -> HalfSparse:
    kinds = {name: type_ for type_, name in SPARSE.items()}
    half = HalfSparse(**{**state, "kind": kinds[state["kind"]]})
    require(isinstance(half.data, Half) and half.data.values.ndim == 1, "halves are none")
    checked_parts(half.kind, half.shape, half.data.values.size, half.indices, half.indptr)
    return half


def _check_kept_features(model: KeptFeatures) -> None:
    if not hasattr(model, "classifier_"):
        return
    features, inner = numbers(model.features_, (None,), "the kept features"), model.classifier_
    require(features.dtype.kind == "i" and features.size, "the kept features are no places")
    ordered = features[0] >= 0 and (features[1:] > features[:-1]).all()
    require(ordered, "the kept features do not follow one another")
    fitted = isinstance(inner, CompactClassifier) and hasattr(inner, "embedding_")
    require(fitted, "the classifier of kept features is none")
    require(inner.n_features_in_ == features.size, "the classifier has other features")


def _check_kept_weights(model: KeptWeights) -> None:
    if not hasattr(model, "weights_"):
        return
    require(is_sparse(model.weights_), "the weights are not sparse")
    numbers(model.intercept_, model.weights_.shape[:1], "the intercepts")


def _check_tuner(tuner: ThresholdTuner) -> None:
    if not hasattr(tuner, "estimator_"):
        return
    n_labels = size(tuner.n_labels_, "the number of labels")
    require(hasattr(tuner.estimator_, "predict"), "the estimator is none")
    if tuner.threshold_ is not None:
        threshold(tuner.threshold_, n_labels)
    else:
        require(0 < size(tuner.k_, "the number of labels") <= n_labels, "k is no such number")


def _checked(check: Callable[[Any], None]) -> Callable[[type], Codec]:
    return partial(attributes_codec, check=check)


CODECS: dict[str, Callable[[type], Codec]] = {
    **dict.fromkeys(
        ("CompactClassifier", "CMLLClassifier", "PaperClassifier"), _checked(_check_compact)
    ),
    "KeptFeatures": _checked(_check_kept_features),
    "KeptWeights": _checked(_check_kept_weights),
    "ThresholdTuner": _checked(_check_tuner),
    "KernelMap": _checked(_check_kernel_map),
    "Kernel": _checked(_check_kernel),
    "LabelSpace": lambda type_: Codec(_encode_labels, attributes_codec(type_).decode),
    "FittedModel": lambda type_: Codec(_encode_fitted, partial(_decode_fitted, type_)),
    "Moments": _checked(_check_moments),
    "RunningSums": _checked(_check_sums),
    "Half": _checked(_check_half),
    "HalfSparse": lambda _: Codec(_encode_half_sparse, _decode_half_sparse),
}
