"""Which subspaces: one file per method, each a function of a pair of blocks."""

from compactlearn.embeddings._cmll import CMLL
from compactlearn.embeddings._cplst import CPLST
from compactlearn.embeddings._dmlr import DMLR
from compactlearn.embeddings._faie import FaIE
from compactlearn.embeddings._mddm import MDDM
from compactlearn.embeddings._original import Original
from compactlearn.embeddings._plst import PLST

__all__ = ["CMLL", "CPLST", "DMLR", "MDDM", "PLST", "FaIE", "Original"]
