"""Checks of the related methods in model files: what is decoded must fit together."""

from __future__ import annotations

from functools import partial
from typing import Any

from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

from compactlearn.io._checks import is_number, is_sparse, matrix, numbers, require, size
from compactlearn.io._codec import attributes_codec
from compactlearn.io._models import check_labels
from compactlearn.related._sleec import LocalEmbedding, LocalLearner

#: Shapes of the arrays that a classifier predicts by, in letters that mean the same length within
#: a row: D features, M labels, others as they come. "sparse" goes before a sparse matrix, and
#: "D>k" is a network of layers from D to k numbers. The first one is there where a fit was.
SHAPES: dict[str, dict[str, str]] = {
    "LEML": {"projection_": "Dk", "decoder_": "kM", "intercept_": "M"},
    "SLRM": {"projection_": "Dk", "decoder_": "kM", "intercept_": "M"},
    "BooleanClassifier": {"coef_": "kD", "intercept_": "k", "basis_": "sparse kM"},
    "CompressedSensingClassifier": {"coef_": "kD", "intercept_": "k", "measurements_": "kM"},
    "OutputCodesClassifier": {
        "coef_": "kD",
        "intercept_": "k",
        "directions_": "Mk",
        "noise_": "k",
        "_mean": "k",
        "label_coef_": "MD",
        "label_intercept_": "M",
    },
    "TopicClassifier": {"topics_": "Mk", "coef_": "Dk", "intercept_": "k", "shapes_": "k"},
    "ManiacClassifier": {"coef_": "Dk", "intercept_": "k", "encoder_": "M>k", "decoder_": "k>M"},
    "DeepCMLLClassifier": {
        "projection_": "Dd",
        "_shift": "d",
        "layers_": "D>d",
        "coef_": "dk",
        "intercept_": "k",
        "decoder_": "kM",
        "offset_": "M",
    },
    "C2AEClassifier": {"encoder_": "D>k", "decoder_": "k>p"},
    "POPClassifier": {"coef_": "sparse MD", "intercept_": "M"},
    "ProjectionForestClassifier": {"frequency_": "M"},
}


def _check(classifier: Any) -> None:
    """Check the shapes of a classifier, and what else it needs to predict."""
    name = type(classifier).__name__
    shapes = SHAPES[name]
    if not hasattr(classifier, next(iter(shapes))):
        return  # one that is not fitted
    lengths = {"M": check_labels(classifier), "D": classifier.n_features_in_}
    for attribute, shape in shapes.items():
        _check_part(vars(classifier)[attribute], shape, lengths, attribute)
    if name in _MORE:
        _MORE[name](classifier, lengths)


def _check_part(value: Any, shape: str, lengths: dict[str, int], what: str) -> None:
    """Check one array or network; letters that are met first are added to ``lengths``."""
    if ">" in shape:
        first, last = shape.split(">")
        width = _width_after(value, lengths[first])
        require(lengths.setdefault(last, width) == width, "a network ends in another width")
        return
    letters = shape.removeprefix("sparse ")
    require(letters == shape or is_sparse(value), f"{what} is not sparse")
    expected: Any = tuple(lengths.get(letter) for letter in letters)
    found = (matrix if len(letters) == 2 else numbers)(value, expected, what)
    lengths.update(zip(letters, found.shape, strict=True))


def _width_after(stack: Any, width: int) -> int:
    """Return the width in which layers end that begin with this one."""
    require(isinstance(stack, tuple) and stack, "a network has no layer")
    for layer in stack:
        require(isinstance(layer, tuple) and len(layer) == 2, "a layer is none")
        width = numbers(layer[0], (width, None), "the weights of a layer").shape[1]
        numbers(layer[1], (width,), "the biases of a layer")
    return width


def _check_forest(classifier: Any, lengths: dict[str, int]) -> None:
    forest = classifier.forest_
    known = isinstance(forest, RandomForestRegressor | ExtraTreesRegressor)
    require(known and hasattr(forest, "estimators_"), "the forest is none")
    require(forest.n_outputs_ == lengths["M"], "the forest has other labels")
    require(forest.n_features_in_ == lengths["D"], "the forest has other features")


def _check_sensing(classifier: Any, lengths: dict[str, int]) -> None:
    require(0 < size(classifier.sparsity_, "the sparsity") <= lengths["k"], "it is too large")


def _check_boolean(classifier: Any, lengths: dict[str, int]) -> None:
    above = vars(classifier)["_used_above"]
    require(above is None or is_number(above), "the bound of a set is no number")


def _check_output_codes(classifier: Any, lengths: dict[str, int]) -> None:
    require(is_number(vars(classifier)["_weight"]), "the weight is no number")


def _check_c2ae(classifier: Any, lengths: dict[str, int]) -> None:
    columns = lengths["M"]
    require(lengths["p"] in (columns, columns + 1), "the networks have other labels")


_MORE = {
    "ProjectionForestClassifier": _check_forest,
    "CompressedSensingClassifier": _check_sensing,
    "BooleanClassifier": _check_boolean,
    "OutputCodesClassifier": _check_output_codes,
    "C2AEClassifier": _check_c2ae,
}


def _check_cluster(cluster: LocalEmbedding) -> None:
    lengths: dict[str, int] = {}
    for name, shape in {
        "coef": "Dk",
        "intercept": "k",
        "points": "nk",
        "labels": "sparse nM",
    }.items():
        _check_part(getattr(cluster, name), shape, lengths, name)
    require(lengths["D"] > 0, "a cluster has no features")


def _check_local(learner: LocalLearner) -> None:
    known = isinstance(learner.clusters, tuple) and all(
        isinstance(cluster, LocalEmbedding) for cluster in learner.clusters
    )
    require(known and learner.clusters, "there are no clusters")
    numbers(learner.centres, (len(learner.clusters), None), "the centres")


def _check_sleec(classifier: Any) -> None:
    if not hasattr(classifier, "learners_"):
        return
    n_labels = check_labels(classifier)
    count = vars(classifier)["_n_neighbors"]
    require(size(count, "the number of neighbours") > 0, "there are no neighbours")
    known = isinstance(classifier.learners_, tuple) and classifier.learners_
    require(known, "there are no learners")
    for learner in classifier.learners_:
        require(isinstance(learner, LocalLearner), "a learner is none")
        for cluster in learner.clusters:
            n_features = classifier.n_features_in_
            require(cluster.coef.shape[0] == n_features, "a cluster has other features")
            require(cluster.labels.shape[1] == n_labels, "a cluster has other labels")


CODECS = {
    **dict.fromkeys(SHAPES, partial(attributes_codec, check=_check)),
    "LocalEmbedding": partial(attributes_codec, check=_check_cluster),
    "LocalLearner": partial(attributes_codec, check=_check_local),
    "SLEECClassifier": partial(attributes_codec, check=_check_sleec),
}
