"""The scikit-learn shell: classifiers made of an embedding, a learner and a decoder."""

import compactlearn.estimators.stored.foreign
import compactlearn.estimators.stored.models
import compactlearn.estimators.stored.related_features
import compactlearn.estimators.stored.related_label_side
import compactlearn.estimators.stored.related_own
import compactlearn.estimators.stored.shortlists
import compactlearn.estimators.stored.tables
import compactlearn.estimators.stored.trees  # noqa: F401, all of them add to a table
from compactlearn.estimators.any_classifier import evaluate, predict_labels, predict_topk
from compactlearn.estimators.c2ae import C2AEClassifier
from compactlearn.estimators.cmll import CMLLClassifier
from compactlearn.estimators.compact import CompactClassifier
from compactlearn.estimators.explaining.asking import explain, label_neighbours
from compactlearn.estimators.kernel_map import KernelMap
from compactlearn.estimators.kernel_regressor import KernelRegressor
from compactlearn.estimators.methods import METHODS, method
from compactlearn.estimators.path import fit_path
from compactlearn.estimators.pop import POPClassifier
from compactlearn.estimators.shortlist import ShortlistClassifier
from compactlearn.estimators.storable import load_model, save_model
from compactlearn.estimators.threshold_tuner import ThresholdTuner

__all__ = [
    "METHODS",
    "C2AEClassifier",
    "CMLLClassifier",
    "CompactClassifier",
    "KernelMap",
    "KernelRegressor",
    "POPClassifier",
    "ShortlistClassifier",
    "ThresholdTuner",
    "evaluate",
    "explain",
    "fit_path",
    "label_neighbours",
    "load_model",
    "method",
    "predict_labels",
    "predict_topk",
    "save_model",
]
