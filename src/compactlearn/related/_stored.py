"""Checks of the related methods in model files: what is decoded must fit together."""

from __future__ import annotations

from functools import partial
from typing import Any

from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

from compactlearn.io._checks import is_number, is_sparse, matrix, numbers, require, size
from compactlearn.io._codec import attributes_codec
from compactlearn.io._models import check_labels
from compactlearn.related._networks._layers import Layout, Networks
from compactlearn.related._sleec import LocalEmbedding, LocalLearner


def _columns(classifier: Any) -> int:
    """Return how many label columns were learnt: two classes have one."""
    n_labels = check_labels(classifier)
    return 1 if vars(classifier)["label_space_"].kind == "binary" else n_labels


def _check_factored(classifier: Any) -> None:
    if not hasattr(classifier, "projection_"):
        return  # one that is not fitted
    n_labels = check_labels(classifier)
    n_features = classifier.n_features_in_
    rank = numbers(classifier.projection_, (n_features, None), "the projection").shape[1]
    columns = classifier.intercept_.size
    numbers(classifier.decoder_, (rank, columns), "the decoder")
    numbers(classifier.intercept_, (n_labels,), "the intercepts")


def _check_forest(classifier: Any) -> None:
    if not hasattr(classifier, "forest_"):
        return
    n_labels, forest = check_labels(classifier), classifier.forest_
    known = isinstance(forest, RandomForestRegressor | ExtraTreesRegressor)
    require(known and hasattr(forest, "estimators_"), "the forest is none")
    numbers(classifier.frequency_, (n_labels,), "the frequencies")
    require(forest.n_outputs_ == n_labels, "the forest has other labels")
    require(forest.n_features_in_ == classifier.n_features_in_, "the forest has other features")


def _check_codes(classifier: Any, n_codes: int) -> None:
    """Coefficients and intercepts of a ridge on codes."""
    numbers(classifier.coef_, (n_codes, classifier.n_features_in_), "the coefficients")
    numbers(classifier.intercept_, (n_codes,), "the intercepts")


def _check_sensing(classifier: Any) -> None:
    if not hasattr(classifier, "coef_"):
        return
    n_labels = check_labels(classifier)
    m = size(classifier.n_components_, "the number of measurements")
    numbers(classifier.measurements_, (m, n_labels), "the measurements")
    _check_codes(classifier, m)
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
    _check_codes(classifier, m)


def _check_output_codes(classifier: Any) -> None:
    if not hasattr(classifier, "label_coef_"):
        return
    n_labels = check_labels(classifier)
    m = size(classifier.n_components_, "the number of variates")
    numbers(classifier.directions_, (n_labels, m), "the directions")
    numbers(classifier.noise_, (m,), "the noise")
    numbers(vars(classifier)["_mean"], (m,), "the mean of the variates")
    require(is_number(vars(classifier)["_weight"]), "the weight is no number")
    _check_codes(classifier, m)
    numbers(classifier.label_coef_, (n_labels, classifier.n_features_in_), "the weights")
    numbers(classifier.label_intercept_, (n_labels,), "the intercepts of labels")


def _check_topics(classifier: Any) -> None:
    if not hasattr(classifier, "topics_"):
        return
    columns = _columns(classifier)
    n_topics = size(classifier.n_components_, "the number of topics")
    numbers(classifier.topics_, (columns, n_topics), "the topics")
    numbers(classifier.coef_, (classifier.n_features_in_, n_topics), "the weights")
    numbers(classifier.intercept_, (n_topics,), "the intercepts")
    numbers(classifier.shapes_, (n_topics,), "the shapes")


def _check_cluster(cluster: LocalEmbedding) -> None:
    n_features, n_codes = numbers(cluster.coef, (None, None), "the weights").shape
    require(n_features > 0, "a cluster has no features")
    numbers(cluster.intercept, (n_codes,), "the intercepts")
    n_rows = numbers(cluster.points, (None, n_codes), "the embedded rows").shape[0]
    require(is_sparse(cluster.labels), "the labels of a cluster are not sparse")
    matrix(cluster.labels, (n_rows, None), "the labels of a cluster")


def _check_local(learner: LocalLearner) -> None:
    known = isinstance(learner.clusters, tuple) and all(
        isinstance(cluster, LocalEmbedding) for cluster in learner.clusters
    )
    require(known and learner.clusters, "there are no clusters")
    numbers(learner.centres, (len(learner.clusters), None), "the centres")


def _check_sleec(classifier: Any) -> None:
    if not hasattr(classifier, "learners_"):
        return
    columns = _columns(classifier)
    count = vars(classifier)["_n_neighbors"]
    require(size(count, "the number of neighbours") > 0, "there are no neighbours")
    known = isinstance(classifier.learners_, tuple) and classifier.learners_
    require(known, "there are no learners")
    for learner in classifier.learners_:
        require(isinstance(learner, LocalLearner), "a learner is none")
        for cluster in learner.clusters:
            n_features = classifier.n_features_in_
            require(cluster.coef.shape[0] == n_features, "a cluster has other features")
            require(cluster.labels.shape[1] == columns, "a cluster has other labels")


def _check_maniac(classifier: Any) -> None:
    if not hasattr(classifier, "coef_"):
        return
    columns = _columns(classifier)
    n_codes = size(classifier.n_components_, "the number of codes")
    numbers(classifier.coef_, (classifier.n_features_in_, n_codes), "the weights")
    numbers(classifier.intercept_, (n_codes,), "the intercepts")
    _check_layers(classifier.encoder_, columns, n_codes)
    _check_layers(classifier.decoder_, n_codes, columns)


def _check_layers(stack: Any, first: int, last: int) -> None:
    require(isinstance(stack, tuple) and stack, "a network has no layer")
    width = first
    for layer in stack:
        require(isinstance(layer, tuple) and len(layer) == 2, "a layer is none")
        width = numbers(layer[0], (width, None), "the weights of a layer").shape[1]
        numbers(layer[1], (width,), "the biases of a layer")
    require(width == last, "a network ends in another width")


def _check_deep(classifier: Any) -> None:
    if not hasattr(classifier, "coef_"):
        return
    columns = _columns(classifier)
    d = size(classifier.n_feature_components_, "the number of features")
    m = size(classifier.n_label_components_, "the number of codes")
    numbers(classifier.projection_, (classifier.n_features_in_, d), "the projection")
    numbers(vars(classifier)["_shift"], (d,), "the shift")
    numbers(classifier.coef_, (d, m), "the weights")
    numbers(classifier.intercept_, (m,), "the intercepts")
    numbers(classifier.decoder_, (m, columns), "the decoder")
    numbers(classifier.offset_, (columns,), "the offset")
    _check_layers(classifier.layers_, classifier.n_features_in_, d)


def _check_layout(layout: Layout) -> None:
    for widths in (layout.features, layout.labels, layout.decoder):
        require(isinstance(widths, tuple), "a network has no widths")
        for width in widths:
            require(size(width, "a width") > 0, "a layer is empty")


def _check_c2ae(classifier: Any) -> None:
    if not hasattr(classifier, "networks_"):
        return
    networks = classifier.networks_
    known = isinstance(networks, Networks) and isinstance(networks.layout, Layout)
    require(known, "there are no networks")
    layout = networks.layout
    numbers(networks.flat, (layout.total,), "the weights of the networks")
    require(len(layout.features) > 1 and len(layout.decoder) > 1, "a network has no layer")
    n_codes = size(classifier.n_components_, "the number of codes")
    columns = _columns(classifier)
    require(layout.features[0] == classifier.n_features_in_, "the networks have other features")
    require(layout.features[-1] == layout.decoder[0] == n_codes, "the networks have other codes")
    require(layout.decoder[-1] in (columns, columns + 1), "the networks have other labels")
    if hasattr(classifier, "scale_"):
        numbers(classifier.scale_, (classifier.n_features_in_,), "the scale")


def _check_pop(classifier: Any) -> None:
    if not hasattr(classifier, "coef_"):
        return
    n_labels = check_labels(classifier)
    require(is_sparse(classifier.coef_), "the weights are not sparse")
    matrix(classifier.coef_, (n_labels, classifier.n_features_in_), "the weights")
    numbers(classifier.intercept_, (n_labels,), "the intercepts")


CODECS = {
    **dict.fromkeys(("LEML", "SLRM"), partial(attributes_codec, check=_check_factored)),
    "ProjectionForestClassifier": partial(attributes_codec, check=_check_forest),
    "BooleanClassifier": partial(attributes_codec, check=_check_boolean),
    "CompressedSensingClassifier": partial(attributes_codec, check=_check_sensing),
    "OutputCodesClassifier": partial(attributes_codec, check=_check_output_codes),
    "C2AEClassifier": partial(attributes_codec, check=_check_c2ae, paths=("checkpoint",)),
    "DeepCMLLClassifier": partial(attributes_codec, check=_check_deep, paths=("checkpoint",)),
    "Layout": partial(attributes_codec, check=_check_layout),
    "LocalEmbedding": partial(attributes_codec, check=_check_cluster),
    "LocalLearner": partial(attributes_codec, check=_check_local),
    "ManiacClassifier": partial(attributes_codec, check=_check_maniac),
    "POPClassifier": partial(attributes_codec, check=_check_pop),
    "SLEECClassifier": partial(attributes_codec, check=_check_sleec),
    "TopicClassifier": partial(attributes_codec, check=_check_topics),
}
