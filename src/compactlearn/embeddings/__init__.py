"""Which subspaces: one file per method, each a function of a pair of blocks."""

from compactlearn.embeddings.cmll import CMLL
from compactlearn.embeddings.original import Original

__all__ = ["CMLL", "Original"]
