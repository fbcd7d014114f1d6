"""The methods of the paper's related work, which are compared with compact learning.

``compactlearn.method`` makes each of them by its name; the classes are here. docs/RELATED.md says
what each is good for.
"""

from __future__ import annotations

from compactlearn.embeddings.related import CCA, LPP, MIFS, MLSI, NPE, OPLS, PCA
from compactlearn.estimators.related import LEML, SLRM, ProjectionForestClassifier

__all__ = [
    "CCA",
    "LEML",
    "LPP",
    "MIFS",
    "MLSI",
    "NPE",
    "OPLS",
    "PCA",
    "SLRM",
    "ProjectionForestClassifier",
]
