"""What model files may hold of the related work that is linear: embeddings that project the
features, and classifiers of low rank."""

from __future__ import annotations

from compactlearn.embeddings.related import CCA, LPP, MIFS, MLSI, NPE, OPLS, PCA
from compactlearn.estimators.related.factored import FactoredClassifier
from compactlearn.estimators.related.leml import LEML
from compactlearn.estimators.related.slrm import SLRM
from compactlearn.estimators.stored.checks import numbers
from compactlearn.estimators.stored.models import check_labels
from compactlearn.storing.kinds import allow, whole


def _check_factored(classifier: FactoredClassifier) -> None:
    if not hasattr(classifier, "projection_"):
        return  # one that is not fitted
    n_labels = check_labels(classifier)
    n_features = classifier.n_features_in_
    rank = numbers(classifier.projection_, (n_features, None), "the projection").shape[1]
    columns = classifier.intercept_.size
    numbers(classifier.decoder_, (rank, columns), "the decoder")
    numbers(classifier.intercept_, (n_labels,), "the intercepts")


allow(
    *(whole(method) for method in (CCA, LPP, MIFS, MLSI, NPE, OPLS, PCA)),
    whole(LEML, _check_factored),
    whole(SLRM, _check_factored),
)
