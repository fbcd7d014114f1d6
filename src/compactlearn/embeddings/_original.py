"""ORI: both spaces as they are; with a ridge learner this is plain multi-output ridge."""

from __future__ import annotations

import numpy as np

from compactlearn.embeddings._base import Embedded, Embedding, Plan
from compactlearn.linalg._pairs import Pair


class Original(Embedding):
    """Keep features and labels as they are (the paper's ORI).

    The codes are the labels, the decoder is the identity, nothing is projected. It exists so
    that "no compression" is a method like any other: ``CompactClassifier(Original())`` is ridge
    regression with a free intercept, for sparse labels too.

    Attributes
    ----------
    projection_ : None
    decoder_ : sparse identity of shape (n_labels, n_labels)
    offset_ : ndarray of shape (n_labels,), zeros
    codes_ : the labels, or None inside a classifier
    n_feature_components_, n_label_components_ : int
    solver_ : str
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from compactlearn import Original
    >>> X, Y = np.eye(3), np.array([[0, 1], [1, 1], [1, 0]])
    >>> Original().fit(X, Y).transform(X).shape
    (3, 3)
    """

    def plan(self, n_features: int, n_labels: int, given_features: int) -> Plan:
        return Plan(components=0, keeps_features=True, n_codes=n_labels, problem="right")

    def solve(self, pair: Pair) -> Embedded:
        return Embedded(
            codes=pair.right_codes(),
            projection=None,
            decoder=None,
            offset=np.zeros(pair.n_right),
            solver=f"identity-{pair.solver}",
        )
