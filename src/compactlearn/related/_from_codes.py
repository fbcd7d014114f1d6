"""What classifiers share that predict codes of labels by a ridge."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.compact._inputs import TrainingData
from compactlearn.compact._paper import PaperClassifier
from compactlearn.embeddings._base import Embedding

Array = NDArray[np.float64]


def ridge_on_codes(
    embedding: Embedding, data: TrainingData, alpha: Any, bias: str
) -> tuple[Embedding, Array, Array]:
    """The fitted embedding, and coefficients (m, D) and intercepts (m,) of a ridge on its codes."""
    model = PaperClassifier(embedding, alpha=alpha, bias=bias, threshold=0.5)
    model.fit(data.X, data.targets.matrix, data.weights)
    return model.embedding_, model.regressor_.coef_, model.regressor_.intercept_


def predicted_codes(X: Any, coef: Array, intercept: Array) -> Array:
    """Codes (n, m) of some rows; sparse rows stay sparse."""
    return np.asarray(X @ coef.T) + intercept
