"""Embeddings of features and labels, one file for each method.

Besides the methods it has what a method of one's own is made of (docs/contributing/own-method.md).
"""

from compactlearn.embeddings._base import Embedded, Embedding, Plan, Traits
from compactlearn.embeddings._cmll import CMLL
from compactlearn.embeddings._completion import CompletedEmbedding
from compactlearn.embeddings._components import COUNTS, label_count
from compactlearn.embeddings._cplst import CPLST
from compactlearn.embeddings._dmlr import DMLR
from compactlearn.embeddings._encoders import ROUTES
from compactlearn.embeddings._faie import FaIE
from compactlearn.embeddings._mddm import MDDM
from compactlearn.embeddings._original import Original
from compactlearn.embeddings._plst import PLST

__all__ = [
    "CMLL",
    "COUNTS",
    "CPLST",
    "DMLR",
    "MDDM",
    "PLST",
    "ROUTES",
    "CompletedEmbedding",
    "Embedded",
    "Embedding",
    "FaIE",
    "Original",
    "Plan",
    "Traits",
    "label_count",
]
