"""What model files may hold of the related work: embeddings that project the features, classifiers
of low rank, forests on projected labels."""

from __future__ import annotations

from functools import partial
from typing import Any

from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

from compactlearn.io._checks import numbers, require
from compactlearn.io._codec import attributes_codec
from compactlearn.io._models import check_labels


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


CODECS = {
    **dict.fromkeys(("LEML", "SLRM"), partial(attributes_codec, check=_check_factored)),
    "ProjectionForestClassifier": partial(attributes_codec, check=_check_forest),
}
