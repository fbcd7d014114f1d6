"""The scikit-learn shell: classifiers made of an embedding, a learner and a decoder."""

from compactlearn.estimators.cmll import CMLLClassifier
from compactlearn.estimators.compact import CompactClassifier

__all__ = ["CMLLClassifier", "CompactClassifier"]
