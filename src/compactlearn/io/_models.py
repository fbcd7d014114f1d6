"""Codecs of sparse matrices, and of classes of this package that are more than their attributes."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.compact._compression import Half, HalfSparse
from compactlearn.compact._fitted import FittedModel
from compactlearn.core._lazy import load
from compactlearn.core._tensor_file import ModelFileError
from compactlearn.crossfit._learner import CodeRidge
from compactlearn.decoding._label_space import LabelSpace
from compactlearn.decoding._linear import LinearScorer
from compactlearn.io._codec import Codec, State, attributes, attributes_codec, require
from compactlearn.io._rules import OWN
from compactlearn.io._types import class_named

# ---- sparse matrices --------------------------------------------------------------------------

_SPARSE = ("csc_array", "csc_matrix", "csr_array", "csr_matrix")


def checked_shape(kind: str, shape: Any, n_stored: int, indices: Any, indptr: Any) -> Any:
    """Return the shape of a sparse matrix if the indices that compiled code will believe fit it.

    >>> checked_shape("csr_array", (2, 3), 2, np.array([0, 2]), np.array([0, 1, 2]))
    (2, 3)
    """
    known = isinstance(shape, tuple) and len(shape) == 2
    sized = known and all(type(n) is int and 0 <= n < 2**62 for n in shape)
    require(sized, "a sparse matrix has no shape")
    n_major, n_minor = shape if kind.startswith("csr") else shape[::-1]
    for array in (indices, indptr):
        integers = isinstance(array, np.ndarray) and array.dtype in (np.int32, np.int64)
        require(integers, "the indices of a sparse matrix are not integers")
    wide = indices.dtype == indptr.dtype and max(shape) <= np.iinfo(indices.dtype).max
    require(wide, "the indices of a sparse matrix are of the wrong type")
    fits = indices.shape == (n_stored,) and indptr.shape == (n_major + 1,)
    require(fits, "the parts of a sparse matrix are of different lengths")
    rising = indptr[0] == 0 and indptr[-1] == n_stored and (np.diff(indptr) >= 0).all()
    require(rising, "the row pointers of a sparse matrix are not sorted")
    inside = not n_stored or (indices.min() >= 0 and indices.max() < n_minor)
    require(inside, "an index of a sparse matrix is out of range")
    return shape


def _encode_sparse(matrix: Any) -> State:
    shape = tuple(int(n) for n in matrix.shape)
    parts = {name: getattr(matrix, name) for name in ("data", "indices", "indptr")}
    return {"shape": shape, **parts}


def _sparse_codec(type_: Any) -> Codec:
    def decode(state: State) -> Any:
        data: NDArray[Any] = state["data"]
        numeric = isinstance(data, np.ndarray) and data.ndim == 1 and data.dtype.kind in "biuf"
        require(numeric, "the entries of a sparse matrix are not numbers")
        indices, indptr = state["indices"], state["indptr"]
        shape = checked_shape(type_.__name__, state["shape"], data.size, indices, indptr)
        matrix = type_(shape, dtype=data.dtype)  # neither copies nor converts what is set now
        matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
        return matrix

    return Codec(_encode_sparse, decode)


# ---- halves -----------------------------------------------------------------------------------


def _check_half(half: Half) -> None:
    values, exponents = half.values, half.exponents
    require(
        values.dtype == np.float16 and exponents.dtype == np.int16,
        "half-precision values have the wrong type",
    )
    fits = exponents.shape == values.shape[1:] if values.size else exponents.size <= 1
    require(fits, "half-precision values and their exponents differ in shape")


def _encode_half_sparse(half: HalfSparse) -> State:
    return {**vars(half), **_encode_sparse(half), "kind": half.kind.__name__}


def _decode_half_sparse(state: State) -> HalfSparse:
    require(state["kind"] in _SPARSE, "a sparse matrix has an unknown format")
    type_: Any = class_named(state["kind"])
    half = HalfSparse(**{**state, "kind": type_})
    require(
        isinstance(half.data, Half) and half.data.values.ndim == 1,
        "the half-precision values of a sparse matrix are invalid",
    )
    stored = half.data.values.size
    checked_shape(state["kind"], half.shape, stored, half.indices, half.indptr)
    return half


# ---- models -----------------------------------------------------------------------------------


def _check_labels(labels: LabelSpace) -> None:
    known = labels.kind in ("multilabel", "binary", "multiclass") and labels.n_labels > 0
    require(known, "the labels have an unknown kind")
    least = 2 if labels.kind == "binary" else labels.n_labels
    listed = labels.classes.ndim == 1 and labels.classes.size >= least
    require(listed, "the number of classes is not that of the labels")
    named = labels.names is None or len(labels.names) == labels.n_labels
    require(named, "the number of names is not that of the labels")
    for name in (*(labels.names or ()), *labels.classes.tolist()):
        if isinstance(name, str) and any("\ud800" <= letter <= "\udfff" for letter in name):
            raise ModelFileError(
                f"the label name {name!a:.60} has half of a surrogate pair, which is no text that "
                "can be written; rename the label, and fit the model again"
            )


def _encode_fitted(model: FittedModel) -> State:
    """Return the fields, and the product of matrices that scoring a row needs: the first row then
    multiplies nothing, and reads nothing of a mapped file that no row needs."""
    ready = None
    if isinstance(model.regressor, CodeRidge) and isinstance(model.regressor.coef_, np.ndarray):
        assert model.linear is not None
        ready = (model.linear.factors, model.linear.intercept)
    return {**attributes(model), "multiplied": ready}


def _decode_fitted(type_: type, state: State) -> FittedModel:
    ready, rule = state.pop("multiplied"), OWN["FittedModel"]
    if isinstance(state["regressor"], CodeRidge):
        width = "d" if state["projection"] is None else "k"
        rule = {**rule, "regressor.coef_": f"m {width}", "regressor.intercept_": "m"}
    model = attributes_codec(type_, rule).decode(state)
    if ready is not None:
        factors, intercept = ready
        linear = LinearScorer(model.steps, intercept, model.row_map.scale)
        widths = [linear.chain.widths[stop] for stop in linear.chain.stops]
        fits = [factor.shape for factor in factors] == list(pairwise(widths))
        require(
            isinstance(factors, tuple) and fits, "the stored matrices of a model have other shapes"
        )
        require(
            intercept.shape == (widths[-1],), "the stored intercept of a model has another shape"
        )
        vars(linear)["factors"] = factors
        vars(model)["linear"] = linear
    return model


def _check_kept_features(model: Any) -> None:
    features = model.features_
    rising = features.size and features[0] >= 0 and (np.diff(features) > 0).all()
    require(
        rising and features.dtype.kind == "i", "the kept features are not sorted or out of range"
    )


def _check_fields(vectorizer: Any) -> None:
    weights = load("compactlearn.auto._fields").check_fields(vectorizer.fields_)
    known = [type(one).__name__ == "TextVectorizer" for one in vectorizer.vectorizers_]
    require(len(known) == len(weights), "there must be one vectoriser for each field")
    require(all(known), "a field has something other than a vectoriser")


def _check_shortlist(classifier: Any) -> None:
    n_labels, n_features = classifier.n_labels_, classifier.n_features_in_
    generator, labels = classifier.stages_.generator, classifier.stages_.labels
    sizes, near, retriever = generator.sizes, generator.neighbours, generator.retriever
    most = max(sizes.n_candidates, sizes.retrieved, sizes.voted)
    require(most <= n_labels, "there are more candidates than labels")
    seen = labels.columns.shape[0] == n_features + n_labels
    require(seen, "the label re-ranking has the wrong number of features")
    if near is not None:
        fits = near.columns.shape[0] == n_features and near.labels.shape[1] == n_labels
        require(
            fits and near.count > 0, "the neighbours have the wrong number of features or labels"
        )
    own = getattr(retriever, "n_labels_", n_labels)
    require(
        own == n_labels and (retriever or n_labels == 1),
        "the retriever has the wrong number of labels",
    )


def _checked(check: Any) -> Any:
    return lambda type_: attributes_codec(type_, OWN[type_.__name__], check)


CODECS: dict[str, Any] = {
    **dict.fromkeys(_SPARSE, _sparse_codec),
    "Half": lambda type_: attributes_codec(
        type_, {"values": "array", "exponents": "array"}, _check_half
    ),
    "HalfSparse": lambda _: Codec(_encode_half_sparse, _decode_half_sparse),
    "LabelSpace": _checked(_check_labels),
    "FieldVectorizer": _checked(_check_fields),
    "FittedModel": lambda type_: Codec(_encode_fitted, partial(_decode_fitted, type_)),
    "KeptFeatures": _checked(_check_kept_features),
    "ShortlistClassifier": _checked(_check_shortlist),
}
