"""How good the networks are on rows they are not trained on."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from compactlearn.estimators.autoencoder.examples import Examples
from compactlearn.estimators.autoencoder.training import Trainer
from compactlearn.metrics.registry import get_metric


class Validation:
    """A metric of some rows, as often as it is asked for; more is better."""

    def __init__(
        self, trainer: Trainer, held: Examples, metric: str, threshold: Any, kind: str
    ) -> None:
        self.trainer, self.kind = trainer, kind
        self.metric = get_metric(metric)
        self.rows = trainer.rows(held.X)
        self.Y = held.Y
        self.mask = None if held.unknown is None else ~held.unknown.astype(bool).toarray()
        self.threshold = threshold

    def score(self) -> float:
        """The metric of the networks as they are now; NaN where it is not defined."""
        scores = self.trainer.scores(self.rows)
        answer: Any = scores
        if self.metric.needs == "labels":
            answer = self._labels(scores)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            value = float(self.metric.function(self.Y, answer, mask=self.mask))
        return value if self.metric.greater_is_better else -value

    def _labels(self, scores: np.ndarray) -> np.ndarray:
        if self.kind == "multilabel" and np.size(self.threshold) in (1, scores.shape[1]):
            return scores > self.threshold
        return np.arange(scores.shape[1]) == scores.argmax(axis=1)[:, None]
