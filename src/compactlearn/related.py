"""The methods of the paper's related work, which are compared with compact learning.

``compactlearn.method`` makes each of them by its name; the classes are here. docs/RELATED.md says
what each is good for.
"""

from __future__ import annotations

from compactlearn.estimators.related.bmlpl import TopicClassifier
from compactlearn.estimators.related.deep_cmll import DeepCMLLClassifier
from compactlearn.estimators.related.maniac import ManiacClassifier
from compactlearn.estimators.related.sleec import SLEECClassifier

__all__: list[str] = [
    "DeepCMLLClassifier",
    "ManiacClassifier",
    "SLEECClassifier",
    "TopicClassifier",
]
