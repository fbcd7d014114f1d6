"""Scores from codes, and labels from scores."""

from compactlearn.decoding._linear import LinearScorer
from compactlearn.decoding._topk import top_labels

__all__ = ["LinearScorer", "top_labels"]
