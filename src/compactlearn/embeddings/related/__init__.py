"""Linear methods of the related work: one file each, in the same protocol as the paper's own."""

from compactlearn.embeddings.related.cca import CCA
from compactlearn.embeddings.related.lpp import LPP
from compactlearn.embeddings.related.mifs import MIFS
from compactlearn.embeddings.related.mlsi import MLSI
from compactlearn.embeddings.related.npe import NPE
from compactlearn.embeddings.related.opls import OPLS
from compactlearn.embeddings.related.pca import PCA

__all__ = ["CCA", "LPP", "MIFS", "MLSI", "NPE", "OPLS", "PCA"]
