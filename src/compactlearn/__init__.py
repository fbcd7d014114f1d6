"""Compact learning for multi-label classification."""

from compactlearn.embeddings import CMLL, Original
from compactlearn.estimators import CMLLClassifier, CompactClassifier
from compactlearn.linalg import Moments

__version__ = "0.1.0"

__all__ = ["CMLL", "CMLLClassifier", "CompactClassifier", "Moments", "Original", "__version__"]
