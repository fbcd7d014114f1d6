"""Embeddings of the related work that project the features: their attributes, as for the others."""

from __future__ import annotations

from compactlearn.embeddings.related import CCA, LPP, MLSI, NPE, OPLS, PCA
from compactlearn.storing.kinds import allow, whole

allow(*(whole(method) for method in (CCA, LPP, MLSI, NPE, OPLS, PCA)))
