"""Embeddings of the paper's related work, one file each; `compactlearn.related` is their door."""

from compactlearn.embeddings.related.cssp import CSSP
from compactlearn.embeddings.related.grople import GroPLE
from compactlearn.embeddings.related.rembrandt import Rembrandt

__all__ = ["CSSP", "GroPLE", "Rembrandt"]
