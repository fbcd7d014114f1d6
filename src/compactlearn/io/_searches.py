"""The searches in model files, and what AutoCompactClassifier is made of."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from compactlearn.auto._blend import Blend, Member, Reading
from compactlearn.auto._classifier import AutoCompactClassifier
from compactlearn.auto._forest import LabelForest
from compactlearn.compact._compression import Half
from compactlearn.compact._pruned import KeptFeatures, KeptWeights
from compactlearn.io._checks import is_number, matrix, numbers, require, size
from compactlearn.io._codec import Codec, attributes_codec
from compactlearn.io._models import check_labels
from compactlearn.model_selection._search import Search


def _check_search(search: Search) -> None:
    best = getattr(search, "best_estimator_", None)
    if best is not None:
        same = getattr(best, "n_labels_", None) == search.n_labels_
        require(same, "the best model of a search has other labels")


def _check_auto(classifier: AutoCompactClassifier) -> None:
    if not hasattr(classifier, "best_estimator_"):
        return  # one that is not fitted
    n_labels, blend = check_labels(classifier), vars(classifier)["blend_"]
    base = vars(classifier)["base_scores_"]
    if base is not None:
        numbers(base, (n_labels,), "the scores of a row of zeros")
    require(isinstance(blend, Blend) and is_number(blend.intercept), "the blend is missing")
    require(isinstance(blend.members, tuple) and blend.members, "the blend has no members")
    for member in blend.members:
        require(isinstance(member, Member) and is_number(member.weight), "a member is none")
        reading = member.reading
        require(isinstance(reading, Reading), "the scores of a member cannot be read")
        require(is_number(reading.slope) and is_number(reading.intercept), "a reading is none")
        if isinstance(member.model, LabelForest):
            numbers(member.model.frequency_, (n_labels,), "the frequency of labels")
        last = member.model[-1] if hasattr(member.model, "steps") else member.model
        if isinstance(last, KeptWeights):
            matrix(last.weights_, (n_labels, classifier.n_features_in_), "the weights of a member")
        if isinstance(last, KeptFeatures):
            known = last.features_[-1] < classifier.n_features_in_
            require(known, "a member sees features that there are not")
            last = last.classifier_
        require(getattr(last, "n_labels_", n_labels) == n_labels, "a member has other labels")


def _check_forest(forest: LabelForest) -> None:
    if hasattr(forest, "forest_"):
        n_labels = numbers(forest.frequency_, (None,), "the frequency of labels").size
        require(forest.forest_.n_outputs_ == n_labels, "a forest has other labels")
        require(size(forest.n_trees, "the number of trees") > 0, "there are no trees")
        frequency: Any = forest.frequency_  # in half precision until all parts are there
        shares = frequency.array() if isinstance(frequency, Half) else frequency
        require(((shares > 0) & (shares < 1)).all(), "frequencies are none")
        require(np.isfinite(shares).all(), "frequencies are not finite")


CODECS: dict[str, Callable[[type], Codec]] = {
    **dict.fromkeys(
        ("GridSearchMoments", "CMLLClassifierCV"),
        partial(attributes_codec, check=_check_search),
    ),
    "AutoCompactClassifier": partial(attributes_codec, check=_check_auto),
    "LabelForest": partial(attributes_codec, check=_check_forest),
}
