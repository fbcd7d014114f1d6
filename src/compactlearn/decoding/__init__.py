"""Codes to scores to labels."""

from compactlearn.decoding.linear import LinearScorer
from compactlearn.decoding.topk import top_labels

__all__ = ["LinearScorer", "top_labels"]
