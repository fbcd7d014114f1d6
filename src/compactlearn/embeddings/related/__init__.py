"""Embeddings of the paper's related work, one file each; `compactlearn.related` is their door."""

from compactlearn.embeddings.related.cca import CCA
from compactlearn.embeddings.related.cssp import CSSP
from compactlearn.embeddings.related.grople import GroPLE
from compactlearn.embeddings.related.kernel_labels import KernelLabelSpace
from compactlearn.embeddings.related.lpp import LPP
from compactlearn.embeddings.related.mifs import MIFS
from compactlearn.embeddings.related.mlsi import MLSI
from compactlearn.embeddings.related.npe import NPE
from compactlearn.embeddings.related.opls import OPLS
from compactlearn.embeddings.related.pca import PCA
from compactlearn.embeddings.related.rembrandt import Rembrandt

__all__ = [
    "CCA",
    "CSSP",
    "LPP",
    "MIFS",
    "MLSI",
    "NPE",
    "OPLS",
    "PCA",
    "GroPLE",
    "KernelLabelSpace",
    "Rembrandt",
]
