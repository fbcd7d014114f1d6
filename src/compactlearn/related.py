"""The methods of the paper's related work, which are compared with compact learning.

``compactlearn.method`` makes each of them by its name; the classes are here. docs/RELATED.md says
what each is good for.
"""

from __future__ import annotations

from compactlearn.embeddings.related import (
    CCA,
    CSSP,
    LPP,
    MIFS,
    MLSI,
    NPE,
    OPLS,
    PCA,
    GroPLE,
    KernelLabelSpace,
    Rembrandt,
)
from compactlearn.estimators.related import (
    LEML,
    SLRM,
    BooleanClassifier,
    CompressedSensingClassifier,
    DeepCMLLClassifier,
    ManiacClassifier,
    OutputCodesClassifier,
    ProjectionForestClassifier,
    SLEECClassifier,
    TopicClassifier,
)

__all__ = [
    "CCA",
    "CSSP",
    "LEML",
    "LPP",
    "MIFS",
    "MLSI",
    "NPE",
    "OPLS",
    "PCA",
    "SLRM",
    "BooleanClassifier",
    "CompressedSensingClassifier",
    "DeepCMLLClassifier",
    "GroPLE",
    "KernelLabelSpace",
    "ManiacClassifier",
    "OutputCodesClassifier",
    "ProjectionForestClassifier",
    "Rembrandt",
    "SLEECClassifier",
    "TopicClassifier",
]
