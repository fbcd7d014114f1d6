"""Classifiers of the related work, which are models of their own, in model files."""

from __future__ import annotations

from compactlearn.estimators.related.bmlpl import TopicClassifier
from compactlearn.estimators.stored.checks import numbers, size
from compactlearn.estimators.stored.models import check_labels
from compactlearn.storing.kinds import allow, whole


def _check_topics(classifier: TopicClassifier) -> None:
    if not hasattr(classifier, "topics_"):
        return
    n_labels = check_labels(classifier)
    columns = 1 if vars(classifier)["_labels"].kind == "binary" else n_labels
    n_topics = size(classifier.n_components_, "the number of topics")
    numbers(classifier.topics_, (columns, n_topics), "the topics")
    numbers(classifier.coef_, (classifier.n_features_in_, n_topics), "the weights")
    numbers(classifier.intercept_, (n_topics,), "the intercepts")
    numbers(classifier.shapes_, (n_topics,), "the shapes")


allow(
    whole(TopicClassifier, _check_topics),
)
