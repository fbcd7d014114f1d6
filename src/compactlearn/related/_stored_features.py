"""What model files may hold of the related work: embeddings that project the features, classifiers
of low rank, forests on projected labels."""

from __future__ import annotations

from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

from compactlearn.io._checks import numbers, require
from compactlearn.io._kinds import allow, whole
from compactlearn.io._models import check_labels
from compactlearn.related._cca import CCA
from compactlearn.related._factored import FactoredClassifier
from compactlearn.related._leml import LEML
from compactlearn.related._lpp import LPP
from compactlearn.related._mifs import MIFS
from compactlearn.related._mlsi import MLSI
from compactlearn.related._npe import NPE
from compactlearn.related._opls import OPLS
from compactlearn.related._pca import PCA
from compactlearn.related._projection_forest import ProjectionForestClassifier
from compactlearn.related._row_graph import RowGraphCMLL
from compactlearn.related._slrm import SLRM


def _check_factored(classifier: FactoredClassifier) -> None:
    if not hasattr(classifier, "projection_"):
        return  # one that is not fitted
    n_labels = check_labels(classifier)
    n_features = classifier.n_features_in_
    rank = numbers(classifier.projection_, (n_features, None), "the projection").shape[1]
    columns = classifier.intercept_.size
    numbers(classifier.decoder_, (rank, columns), "the decoder")
    numbers(classifier.intercept_, (n_labels,), "the intercepts")


def _check_forest(classifier: ProjectionForestClassifier) -> None:
    if not hasattr(classifier, "forest_"):
        return
    n_labels, forest = check_labels(classifier), classifier.forest_
    known = isinstance(forest, RandomForestRegressor | ExtraTreesRegressor)
    require(known and hasattr(forest, "estimators_"), "the forest is none")
    numbers(classifier.frequency_, (n_labels,), "the frequencies")
    require(forest.n_outputs_ == n_labels, "the forest has other labels")
    require(forest.n_features_in_ == classifier.n_features_in_, "the forest has other features")


allow(
    *(whole(method) for method in (CCA, LPP, MIFS, MLSI, NPE, OPLS, PCA, RowGraphCMLL)),
    whole(LEML, _check_factored),
    whole(SLRM, _check_factored),
    whole(ProjectionForestClassifier, _check_forest),
)
