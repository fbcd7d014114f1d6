"""Which subspaces: one file per method, each a function of a pair of blocks."""

from compactlearn.embeddings.cmll import CMLL
from compactlearn.embeddings.cplst import CPLST
from compactlearn.embeddings.dmlr import DMLR
from compactlearn.embeddings.faie import FaIE
from compactlearn.embeddings.mddm import MDDM
from compactlearn.embeddings.original import Original
from compactlearn.embeddings.plst import PLST

__all__ = ["CMLL", "CPLST", "DMLR", "MDDM", "PLST", "FaIE", "Original"]
