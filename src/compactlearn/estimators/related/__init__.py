"""Classifiers of the paper's related work that are no embedding with a learner beside it."""

from compactlearn.estimators.related.leml import LEML
from compactlearn.estimators.related.projection_forest import ProjectionForestClassifier
from compactlearn.estimators.related.slrm import SLRM

__all__ = ["LEML", "SLRM", "ProjectionForestClassifier"]
