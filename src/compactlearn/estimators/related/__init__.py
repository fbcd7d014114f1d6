"""Classifiers of the paper's related work, one file each; `compactlearn.related` is their door."""

from compactlearn.estimators.related.bmlpl import TopicClassifier
from compactlearn.estimators.related.boolean import BooleanClassifier
from compactlearn.estimators.related.compressed_sensing import CompressedSensingClassifier
from compactlearn.estimators.related.deep_cmll import DeepCMLLClassifier
from compactlearn.estimators.related.leml import LEML
from compactlearn.estimators.related.maniac import ManiacClassifier
from compactlearn.estimators.related.output_codes import OutputCodesClassifier
from compactlearn.estimators.related.projection_forest import ProjectionForestClassifier
from compactlearn.estimators.related.sleec import SLEECClassifier
from compactlearn.estimators.related.slrm import SLRM

__all__ = [
    "LEML",
    "SLRM",
    "BooleanClassifier",
    "CompressedSensingClassifier",
    "DeepCMLLClassifier",
    "ManiacClassifier",
    "OutputCodesClassifier",
    "ProjectionForestClassifier",
    "SLEECClassifier",
    "TopicClassifier",
]
