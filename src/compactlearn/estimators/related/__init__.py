"""Classifiers of the paper's related work, one file each; `compactlearn.related` is their door."""

from compactlearn.estimators.related.compressed_sensing import CompressedSensingClassifier

__all__ = ["CompressedSensingClassifier"]
