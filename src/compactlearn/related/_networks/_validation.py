"""How good the networks are on rows they are not trained on."""

from __future__ import annotations

from typing import Any

import numpy as np

from compactlearn.core._warn import quiet
from compactlearn.metrics._scoring import training_options
from compactlearn.metrics._table import get_metric
from compactlearn.related._networks._training import Examples, Trainer


class Validation:
    """A metric of some rows, as often as it is asked for; more is better."""

    def __init__(
        self,
        trainer: Trainer,
        held: Examples,
        metric: str,
        threshold: Any,
        kind: str,
        *,
        single: bool,
        learnt_labels: Any,
    ) -> None:
        self.trainer, self.kind = trainer, kind
        self.metric = get_metric(metric)
        self.options = training_options(self.metric, learnt_labels)
        self.rows = trainer.rows(held.X)
        self.Y = held.Y
        self.mask = None if held.unknown is None else ~held.unknown.astype(bool).toarray()
        self.threshold = threshold
        # One label is trained as two; its labels, not its ranks, are those of predict.
        self.single = single and self.metric.needs == "labels"
        if self.single:
            self.Y = self.Y[:, 1:]
            self.mask = None if self.mask is None else self.mask[:, 1:]
        self._value(np.zeros(held.Y.shape))  # a metric that cannot be had is refused at once

    def score(self) -> float | None:
        """The metric of the networks as they are now; NaN where it is not defined, and None
        where the networks answer no numbers."""
        scores = self.trainer.scores(self.rows)
        return self._value(scores) if np.isfinite(scores).all() else None

    def _value(self, scores: np.ndarray) -> float:
        answer: Any = scores
        if self.metric.needs == "labels":
            answer = self._labels(scores)
        with quiet():
            value = float(self.metric.function(self.Y, answer, mask=self.mask, **self.options))
        return value if self.metric.greater_is_better else -value

    def _labels(self, scores: np.ndarray) -> np.ndarray:
        if self.single:
            return 0.5 * (1.0 + scores[:, 1:] - scores[:, :1]) > self.threshold
        if self.kind == "multilabel":
            return scores > self.threshold
        return np.arange(scores.shape[1]) == scores.argmax(axis=1)[:, None]
