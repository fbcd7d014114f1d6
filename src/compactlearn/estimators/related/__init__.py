"""Classifiers of the paper's related work, one file each; `compactlearn.related` is their door."""

from compactlearn.estimators.related.boolean import BooleanClassifier
from compactlearn.estimators.related.compressed_sensing import CompressedSensingClassifier
from compactlearn.estimators.related.output_codes import OutputCodesClassifier

__all__ = ["BooleanClassifier", "CompressedSensingClassifier", "OutputCodesClassifier"]
